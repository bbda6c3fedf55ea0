//! Expressions.

use super::Failure;
use super::function::{Dest, Emitted, Emitter};
use super::names;
use super::types;
use super::value::{self, Val};
use crate::ir::{Body as DefBody, ExprId, FunId, Node, Prim, Type, TypeId};
use crate::stack;

type Result<T> = std::result::Result<T, Failure>;

impl Emitter<'_> {
    /// The value of an expression, after the code that it needs.
    pub(super) fn value(&mut self, expr: ExprId) -> Result<Val> {
        self.value_named(expr, "t")
    }

    /// As [`Emitter::value`]; `hint` is a good name for it.
    pub(super) fn value_named(&mut self, expr: ExprId, hint: &str) -> Result<Val> {
        let value = stack::grow(|| self.value_here(expr, hint))?;
        let ty = self.ty(expr);
        Ok(self.short(value, ty))
    }

    /// The value by expressions that may be mentioned any number of times.
    pub(super) fn value_atom(&mut self, expr: ExprId, hint: &str) -> Result<Val> {
        let value = self.value_named(expr, hint)?;
        let ty = self.ty(expr);
        Ok(self.atom(value, ty, hint))
    }

    pub(super) fn values(&mut self, exprs: &[ExprId]) -> Result<Vec<Val>> {
        exprs.iter().map(|expr| self.value(*expr)).collect()
    }

    fn value_here(&mut self, expr: ExprId, hint: &str) -> Result<Val> {
        let ty = self.ty(expr);
        Ok(match self.program.store.node(expr) {
            Node::Integer(value) => Val::Text(names::integer(self.options.width.integer(value))),
            Node::Float(value) => Val::Text(names::float(value.get(), self.is_single())),
            Node::Bool(value) => Val::Text(value.to_string()),
            Node::String(text) => {
                let text = self.program.store.text(text);
                Val::Text(format!("ks::text{{{}, {}}}", names::literal(text), text.len()))
            }
            Node::Var(_) | Node::Get(..) | Node::Prim(Prim::Index, _) if self.is_accumulator(expr) => {
                self.read(expr, hint)?
            }
            Node::Var(var) => self.env.get(&var).cloned().unwrap_or_else(Val::unit),
            Node::Tuple(fields) => {
                let fields = self.program.store.list(fields).to_vec();
                Val::Tuple(self.values(&fields)?)
            }
            Node::Get(field, tuple) => {
                let of = self.ty(tuple);
                let tuple = self.value(tuple)?;
                let tuple = if let Val::Text(_) = tuple { self.atom(tuple, of, hint) } else { tuple };
                self.fields(&tuple, of)[field as usize].clone()
            }
            Node::Let(var, value, body) => {
                let outer = self.bind(var, value)?;
                let result = self.value_named(body, hint)?;
                self.unbind(var, outer);
                result
            }
            Node::Assert(condition, body) => {
                self.assert(condition, expr)?;
                self.value_named(body, hint)?
            }
            Node::If(condition, then, otherwise) if self.is_simple(expr) => {
                let is_saved =
                    ty == TypeId::FLOAT && matches!(self.program.store.node(condition), Node::Prim(Prim::Index, _));
                let condition = self.value(condition)?;
                let (then, otherwise) = (self.value(then)?, self.value(otherwise)?);
                let (condition, then, otherwise) = (condition.scalar(), then.scalar(), otherwise.scalar());
                // Which way a program went is hard to guess on the way back.
                Val::Text(match is_saved && value::is_atom(then) && value::is_atom(otherwise) {
                    true => format!("ks::choose({condition}, {then}, {otherwise})"),
                    false => format!("({condition} ? {then} : {otherwise})"),
                })
            }
            Node::If(..) | Node::Match(..) => {
                if ty == TypeId::UNIT {
                    self.emit(expr, &Dest::Drop)?;
                    return Ok(Val::unit());
                }
                let target = self.declare(ty, hint);
                self.emit(expr, &Dest::Set(&target))?;
                target
            }
            Node::Lam(..) => Val::unit(),
            Node::Call(fun, arg) => self.call(fun, arg, ty, hint)?,
            Node::Construct(_, constructor, arg) => {
                let held = self.ty(arg);
                let value = self.value(arg)?;
                let (whole, cpp) = (self.whole(&value, held), self.cpp(ty));
                let is_boxed = types::is_recursive(&self.program.store, ty);
                if is_boxed {
                    self.body.allocate();
                }
                let memory = if is_boxed { "memory, " } else { "" };
                self.pure(format!("{cpp}::make<{constructor}>({memory}{whole})"), ty, hint)
            }
            Node::Prim(prim, args) => {
                let args = self.program.store.list(args).to_vec();
                self.prim(prim, &args, expr, hint)?
            }
        })
    }

    fn call(&mut self, fun: FunId, arg: ExprId, ty: TypeId, hint: &str) -> Result<Val> {
        let of = self.ty(arg);
        let is_external = matches!(self.program.def(fun).map(|def| def.body), Some(DefBody::External));
        let Some(types) = self.field_types(of) else {
            let text = if is_external { self.argument(arg)? } else { self.value(arg)?.scalar().to_owned() };
            return Ok(self.call_text(fun, vec![text], ty, hint));
        };
        let texts: Vec<String> = match (self.program.store.node(arg), is_external) {
            (Node::Tuple(fields), true) => {
                let fields = self.program.store.list(fields).to_vec();
                fields.into_iter().map(|field| self.argument(field)).collect::<Result<_>>()?
            }
            _ => {
                let value = self.value(arg)?;
                let value = if let Val::Text(_) = value { self.atom(value, of, "arg") } else { value };
                let fields = self.fields(&value, of);
                fields.iter().zip(types).map(|(field, ty)| self.whole(field, ty)).collect()
            }
        };
        Ok(self.call_text(fun, texts, ty, hint))
    }

    fn call_text(&mut self, fun: FunId, mut args: Vec<String>, ty: TypeId, hint: &str) -> Val {
        if !self.functions.contains_key(&fun) {
            let name = self.body.names.unique(&self.program.store.show_fun(fun));
            let emitted = Emitted { name, takes_memory: true, head: String::new(), text: String::new() };
            self.functions.insert(fun, emitted);
        }
        let emitted = &self.functions[&fun];
        if emitted.takes_memory {
            self.body.allocate();
            args.insert(0, "memory".to_owned());
        }
        let text = format!("{}({})", emitted.name, args.join(", "));
        self.now(text, ty, hint)
    }

    /// An argument of an external function, which may be a lambda.
    fn argument(&mut self, expr: ExprId) -> Result<String> {
        if let Node::Lam(..) = self.program.store.node(expr) {
            return self.closure(expr);
        }
        let ty = self.ty(expr);
        let value = self.value(expr)?;
        Ok(self.whole(&value, ty))
    }

    /// A lambda as a C++ closure over a struct.
    pub(super) fn closure(&mut self, lam: ExprId) -> Result<String> {
        let Node::Lam(var, body) = self.program.store.node(lam) else { return Ok(String::new()) };
        let (from, to) = (self.program.store.var_type(var), self.ty(body));
        let (from_cpp, to_cpp) = (self.cpp(from), self.cpp(to));
        let hint = self.program.store.var_name(var).to_owned();
        let name = self.body.names.local("function");
        let param = self.body.names.local(&hint);
        self.body.open(format!("const auto {name} = [&](const {from_cpp}& {param}) -> {to_cpp} {{"));
        let outer = self.env.insert(var, Val::Text(param));
        self.depth += 1;
        let value = self.value(body)?;
        self.depth -= 1;
        let whole = self.whole(&value, to);
        self.body.code(format!("return {whole};"));
        self.unbind(var, outer);
        self.body.close_with(";");
        Ok(name)
    }

    /// Whether the expression neither fails nor acts, so that it may be computed when and where it is needed.
    pub(super) fn is_total(&mut self, expr: ExprId) -> bool {
        self.facts.is_total(self.program, expr)
    }

    /// Whether the expression is an accumulator or a part of one.
    fn is_accumulator(&self, expr: ExprId) -> bool {
        !self.accumulators.is_empty() && self.root(expr).is_some_and(|root| self.accumulators.contains(&root))
    }

    /// Whether an expression is a variable or a field of one.
    pub(super) fn is_path(&self, expr: ExprId) -> bool {
        match self.program.store.node(expr) {
            Node::Var(_) => true,
            Node::Get(_, whole) => self.is_path(whole),
            _ => false,
        }
    }

    /// Whether an `if` is a C++ expression: of numbers, and cheap.
    pub(super) fn is_simple(&self, expr: ExprId) -> bool {
        let store = &self.program.store;
        let is_scalar = |ty: TypeId| matches!(store.types.get(ty), Type::Float | Type::Integer | Type::Bool);
        if store.size(expr) > 24 || !is_scalar(store.ty(expr)) {
            return false;
        }
        store.post_order(expr).into_iter().all(|part| match store.node(part) {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::If(..) | Node::Get(..) => true,
            Node::Var(var) => !self.accumulators.contains(&var),
            Node::Tuple(_) => true,
            Node::Prim(Prim::Div, _) => store.ty(part) == TypeId::FLOAT,
            Node::Prim(Prim::Eq | Prim::Ne, args) => is_scalar(store.ty(store.list(args)[0])),
            Node::Prim(Prim::Index, args) => !self.options.debug_bounds && self.is_path(store.list(args)[1]),
            Node::Prim(prim, _) => prim.is_function(),
            _ => false,
        })
    }
}
