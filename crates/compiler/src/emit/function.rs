//! Functions and expressions.

use super::body::Body;
use super::names;
use super::places::Sums;
use super::types::{self, CppTypes};
use super::value::Val;
use super::{Failure, Options};
use crate::error::{Error, RunError};
use crate::interpret::Width;
use crate::ir::{Body as DefBody, Def, ExprId, FunId, Node, Prim, Program, Type, TypeId, VarId};
use crate::simplify::facts::Facts;
use crate::source::{Sources, Span};
use crate::stack;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write as _;

/// A function that is emitted.
pub(super) struct Emitted {
    pub(super) name: String,
    /// Whether it takes the memory.
    pub(super) takes_memory: bool,
    pub(super) head: String,
    pub(super) text: String,
}

/// Where the value of an expression goes.
pub(super) enum Dest<'a> {
    /// It is that of the function.
    Return,
    /// Variables.
    Set(&'a Val),
    /// It is added to variables, accumulators or parts of tensors.
    Add(&'a Val),
    /// It becomes the first term of a sum, or is added to those before. The second is the name of what says which.
    Sum(&'a Val, &'a str),
    /// Nobody wants it.
    Drop,
}

/// Writes the functions of a program.
pub(super) struct Emitter<'a> {
    pub(super) program: &'a mut Program,
    sources: &'a Sources,
    pub(super) options: &'a Options,
    pub(super) types: CppTypes,
    pub(super) functions: FxHashMap<FunId, Emitted>,
    pub(super) body: Body,
    pub(super) env: FxHashMap<VarId, Val>,
    /// Variables of `$accumulate`, whose values change.
    pub(super) accumulators: FxHashSet<VarId>,
    /// Elements of accumulators that are C++ variables for a while.
    pub(super) lent: FxHashMap<ExprId, String>,
    pub(super) facts: Facts,
    /// Variables that are sums of Integers, as they may be written in an index.
    pub(super) plain: FxHashMap<VarId, String>,
    /// The same, as expressions.
    pub(super) sums: Sums,
    /// The number of loops around what is being written.
    pub(super) depth: usize,
    current: Option<Current>,
}

/// The function that is being written.
struct Current {
    fun: FunId,
    params: Vec<(String, TypeId)>,
    /// Whether its last steps are calls of itself.
    loops: bool,
}

type Result<T> = std::result::Result<T, Failure>;

impl<'a> Emitter<'a> {
    pub(super) fn new(program: &'a mut Program, sources: &'a Sources, options: &'a Options) -> Self {
        Self {
            program,
            sources,
            options,
            types: CppTypes::default(),
            functions: FxHashMap::default(),
            body: Body::default(),
            env: FxHashMap::default(),
            accumulators: FxHashSet::default(),
            lent: FxHashMap::default(),
            facts: Facts::new(options.debug_bounds),
            plain: FxHashMap::default(),
            sums: Sums::default(),
            depth: 0,
            current: None,
        }
    }

    /// Writes a function. Those that it calls, except itself, must be written.
    pub(super) fn function(&mut self, def: &Def) -> Result<()> {
        let (arg, result) = self.program.store.signature(def.fun).unwrap_or((TypeId::UNIT, TypeId::UNIT));
        let base = names::function(&self.program.store, def.fun);
        let (param, expr) = match def.body {
            DefBody::Expr(param, expr) => (param, expr),
            DefBody::External => return self.external(def),
            DefBody::LinearMap { forward, reverse } => {
                self.derivative_map(def.fun, &base, (forward, reverse));
                return Ok(());
            }
        };
        // Functions that call each other are called before they are written.
        let known = self.functions.get(&def.fun).map(|emitted| emitted.name.clone());
        let is_recursive = known.is_some() || self.calls_itself(def.fun, expr);
        let name = known.unwrap_or_else(|| self.body.names.unique(&base));
        let emitted =
            Emitted { name: name.clone(), takes_memory: is_recursive, head: String::new(), text: String::new() };
        self.functions.insert(def.fun, emitted);
        self.body.start();
        let params = self.params(param, arg);
        self.current = Some(Current { fun: def.fun, params, loops: false });
        self.emit(expr, &Dest::Return)?;
        let current = self.current.take();
        let loops = current.as_ref().is_some_and(|current| current.loops);
        let takes_memory = is_recursive || self.body.allocated.any;
        let text = self.finish(def.fun, result, loops, is_recursive);
        let mut head: Vec<String> = if takes_memory { vec!["ks::arena& memory".to_owned()] } else { vec![] };
        for (name, ty) in current.map(|current| current.params).unwrap_or_default() {
            let cpp = self.cpp(ty);
            // A parameter that nobody needs has no name.
            let name = if super::body::mentions(&text, &name) { name } else { String::new() };
            let is_large = matches!(self.program.store.types.get(ty), Type::Tuple(_) | Type::Tensor(..)) && !loops;
            let param = if is_large { format!("const {cpp}& {name}") } else { format!("{cpp} {name}") };
            head.push(param.trim_end().to_owned());
        }
        if takes_memory && !super::body::mentions(&text, "memory") {
            head[0] = "ks::arena&".to_owned();
        }
        let head = format!("static {} {name}({})", self.cpp(result), head.join(", "));
        self.functions.insert(def.fun, Emitted { name, takes_memory, head, text });
        Ok(())
    }

    /// Names the parameters: a tuple is taken apart.
    fn params(&mut self, param: VarId, arg: TypeId) -> Vec<(String, TypeId)> {
        let hint = self.program.store.var_name(param).to_owned();
        let Some(fields) = self.field_types(arg) else {
            let name = self.body.names.local(&hint);
            self.env.insert(param, Val::Text(name.clone()));
            return vec![(name, arg)];
        };
        let named: Vec<(String, TypeId)> = fields.into_iter().map(|ty| (self.body.names.local(&hint), ty)).collect();
        self.env.insert(param, Val::Tuple(named.iter().map(|(name, _)| Val::Text(name.clone())).collect()));
        named
    }

    /// The text of the body, with what must be done when the function starts and ends.
    fn finish(&mut self, fun: FunId, result: TypeId, loops: bool, is_recursive: bool) -> String {
        let store = &self.program.store;
        let keeps = self.body.allocated.any && !types::has_maps(store, result) && !types::has_boxes(store, result);
        let place = self.place_of(self.program.def(fun).map_or_else(Sources::nowhere, |def| def.span));
        let mut at = String::new();
        if is_recursive {
            _ = writeln!(at, "  const ks::open_call call(memory, {place});");
        }
        if keeps {
            at += "  char* const mark = memory.mark();\n";
        }
        if loops {
            at += "  ks::sweeper sweeper(memory);\n  for (;;) {\n";
        }
        let finish = |value: &str| {
            if keeps { format!("ks::keep(memory, mark, {value})") } else { value.to_owned() }
        };
        at += &self.body.finish(1 + usize::from(loops), &finish);
        if loops {
            at += "  }\n";
        }
        at
    }

    fn calls_itself(&self, fun: FunId, expr: ExprId) -> bool {
        let store = &self.program.store;
        store.post_order(expr).into_iter().any(|part| matches!(store.node(part), Node::Call(of, _) if of == fun))
    }

    fn external(&mut self, def: &Def) -> Result<()> {
        let name = self.program.store.show_fun(def.fun);
        if self.options.includes.is_empty() {
            return Err(Failure(Error::new(def.span, RunError::External(name).into())));
        }
        let name = format!("::{}", names::function(&self.program.store, def.fun));
        let emitted = Emitted { name, takes_memory: true, head: String::new(), text: String::new() };
        self.functions.insert(def.fun, emitted);
        Ok(())
    }

    /// A function whose value is the derivative of another at its argument, by forward and reverse mode.
    fn derivative_map(&mut self, fun: FunId, base: &str, (forward, reverse): (FunId, FunId)) {
        let Some((arg, result)) = self.program.store.signature(fun) else { return };
        let Type::LinearMap(from, to) = self.program.store.types.get(result) else { return };
        let name = self.body.names.unique(base);
        let (s, t) = (self.cpp_tangent(from), self.cpp_tangent(to));
        let (at, map) = (self.cpp(arg), self.cpp(result));
        let types = self.field_types(arg);
        let params: Vec<String> =
            types.clone().unwrap_or_else(|| vec![arg]).into_iter().map(|ty| self.cpp(ty)).collect();
        let names: Vec<String> = (0..params.len()).map(|number| format!("x{number}")).collect();
        let whole = if types.is_some() { format!("{at}{{{}}}", names.join(", ")) } else { names.join(", ") };
        let call = |emitter: &Self, fun: FunId, other: &str| {
            let emitted = &emitter.functions[&fun];
            let memory = if emitted.takes_memory { "inner, " } else { "" };
            format!("{}({memory}at, {other})", emitted.name)
        };
        let (there, back) = (call(self, forward, "ds"), call(self, reverse, "dt"));
        let text = format!(
            "  struct derivative {{\n    {at} at;\n    \
             {t} forward([[maybe_unused]] ks::arena& inner, const {s}& ds) const {{ return {there}; }}\n    \
             {s} backward([[maybe_unused]] ks::arena& inner, const {t}& dt) const {{ return {back}; }}\n  }};\n  \
             return {map}::make(memory, derivative{{{whole}}});\n"
        );
        let params: String = params.iter().zip(&names).map(|(ty, name)| format!(", {ty} {name}")).collect();
        let head = format!("static {map} {name}(ks::arena& memory{params})");
        self.functions.insert(fun, Emitted { name, takes_memory: true, head, text });
    }

    /// Where an expression stands, as a string literal.
    pub(super) fn place(&self, expr: ExprId) -> String {
        let def = self.current.as_ref().and_then(|current| self.program.def(current.fun));
        let span = self.program.store.origin(expr).or(def.map(|def| def.span));
        self.place_of(span.unwrap_or_else(Sources::nowhere))
    }

    pub(super) fn place_of(&self, span: Span) -> String {
        let span = self.sources.written(span);
        let (line, column) = self.sources.position(span);
        names::literal(&format!("{}:{line}:{column}", self.sources.file(span.file).name))
    }

    pub(super) fn ty(&self, expr: ExprId) -> TypeId {
        self.program.store.ty(expr)
    }

    pub(super) fn is_single(&self) -> bool {
        self.options.width == Width::Bits32
    }

    /// Writes code that computes an expression and puts its value where it belongs.
    pub(super) fn emit(&mut self, expr: ExprId, dest: &Dest<'_>) -> Result<()> {
        stack::grow(|| self.emit_here(expr, dest))
    }

    fn emit_here(&mut self, expr: ExprId, dest: &Dest<'_>) -> Result<()> {
        match self.program.store.node(expr) {
            Node::Let(var, value, body) => {
                let outer = self.bind(var, value)?;
                self.emit(body, dest)?;
                self.unbind(var, outer);
                Ok(())
            }
            Node::Assert(condition, body) => {
                self.assert(condition, expr)?;
                self.emit(body, dest)
            }
            Node::If(condition, then, otherwise) if !self.is_simple(expr) => {
                let condition = self.value(condition)?;
                self.body.open(format!("if ({}) {{", condition_text(condition.scalar())));
                self.emit(then, dest)?;
                if let Dest::Return = dest {
                    self.body.close();
                    return self.emit(otherwise, dest);
                }
                self.body.otherwise();
                self.emit(otherwise, dest)?;
                self.body.close();
                Ok(())
            }
            Node::Match(over, arms) => {
                let arms = self.program.store.list(arms).to_vec();
                self.match_(over, &arms, dest)
            }
            Node::Call(fun, arg) if self.is_loop_step(fun, dest) => self.again(arg),
            _ => self.deliver(expr, dest),
        }
    }

    /// An expression that is no control flow.
    fn deliver(&mut self, expr: ExprId, dest: &Dest<'_>) -> Result<()> {
        let ty = self.ty(expr);
        match dest {
            Dest::Return => {
                let value = self.value(expr)?;
                let text = self.whole(&value, ty);
                self.body.give(text);
            }
            Dest::Set(target) => {
                let value = self.value(expr)?;
                self.set(target, &value, ty);
            }
            Dest::Add(target) => self.add_expr(expr, target)?,
            Dest::Sum(target, first) => self.sum_expr(expr, target, first)?,
            Dest::Drop => {
                self.value(expr)?;
            }
        }
        Ok(())
    }

    fn is_loop_step(&self, fun: FunId, dest: &Dest<'_>) -> bool {
        matches!(dest, Dest::Return) && self.current.as_ref().is_some_and(|current| current.fun == fun)
    }

    /// A call of the function itself that is its last step.
    fn again(&mut self, arg: ExprId) -> Result<()> {
        let ty = self.ty(arg);
        let value = self.value(arg)?;
        let Some(current) = &mut self.current else { return Ok(()) };
        current.loops = true;
        let names: Vec<Val> = current.params.iter().map(|(name, _)| Val::Text(name.clone())).collect();
        let target = match self.field_types(ty) {
            Some(_) => Val::Tuple(names),
            None => names[0].clone(),
        };
        self.sweep(&target, value, ty, "sweeper");
        self.body.code("continue;");
        Ok(())
    }

    /// Sets the state of a loop, and releases what its steps have left behind.
    pub(super) fn sweep(&mut self, target: &Val, value: Val, ty: TypeId, sweeper: &str) {
        let store = &self.program.store;
        if !types::points(store, ty) || types::has_maps(store, ty) {
            return self.set_together(target, value, ty);
        }
        let whole = self.whole(&value, ty);
        let cpp = self.cpp(ty);
        let kept = self.body.constant(&cpp, "next", format!("{sweeper}.sweep(memory, {whole})"), false);
        self.body.allocate();
        self.set(target, &Val::Text(kept), ty);
    }

    /// Binds a variable; gives what it was, to be handed to [`Emitter::unbind`].
    pub(super) fn bind(&mut self, var: VarId, value: ExprId) -> Result<Option<Val>> {
        if let Node::Prim(Prim::Size, _) = self.program.store.node(value) {
            self.facts.note_size(var);
        }
        let hint = self.program.store.var_name(var).to_owned();
        self.plain.remove(&var);
        self.sums.remove(&var);
        if let Some((sum, plain)) = self.sum_of_integers(value)? {
            let name = self.body.constant("ks::integer", &hint, sum, true);
            self.plain.insert(var, plain);
            self.sums.insert(var, value);
            return Ok(self.env.insert(var, Val::Text(name)));
        }
        let bound = self.value_named(value, &hint)?;
        let bound = self.atom(bound, self.program.store.var_type(var), &hint);
        Ok(self.env.insert(var, bound))
    }

    pub(super) fn unbind(&mut self, var: VarId, outer: Option<Val>) {
        match outer {
            Some(outer) => self.env.insert(var, outer),
            None => self.env.remove(&var),
        };
    }

    pub(super) fn assert(&mut self, condition: ExprId, at: ExprId) -> Result<()> {
        let condition = self.value(condition)?;
        let place = self.place(at);
        let condition = condition_text(condition.scalar());
        // One that the simplifier has made of a primitive that wants equal sizes.
        let is_own = self.program.store.origin(at).is_none_or(|span| self.sources.text(span).starts_with("(assert"));
        self.body.code(match is_own {
            true => format!("ks::check({condition}, {place});"),
            false => format!("if (!({condition})) ks::fail({place}, \"the sizes differ\");"),
        });
        Ok(())
    }

    fn match_(&mut self, over: ExprId, arms: &[ExprId], dest: &Dest<'_>) -> Result<()> {
        let ty = self.ty(over);
        let value = self.value(over)?;
        let value = self.atom(value, ty, "over");
        let last = arms.len() - 1;
        for (number, arm) in arms.iter().enumerate() {
            let Node::Lam(var, body) = self.program.store.node(*arm) else { continue };
            if number < last {
                self.body.open(format!("if ({}.tag == {number}) {{", value.scalar()));
            }
            let held = self.program.store.var_type(var);
            let cpp = self.cpp(held);
            let hint = self.program.store.var_name(var).to_owned();
            let text = format!("{}.held{number}()", value.scalar());
            let bound = if held == TypeId::UNIT {
                Val::unit()
            } else {
                Val::Text(self.body.constant(&format!("const {cpp}&"), &hint, text, true))
            };
            let outer = self.env.insert(var, bound);
            self.emit(body, dest)?;
            self.unbind(var, outer);
            match dest {
                Dest::Return if number < last => self.body.close(),
                Dest::Return => {}
                _ if number < last => self.body.otherwise(),
                _ => {}
            }
        }
        if !matches!(dest, Dest::Return) {
            (0..last).for_each(|_| self.body.close());
        }
        Ok(())
    }
}

/// A condition without its outer parentheses.
fn condition_text(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let Some(inner) = inner else { return text };
    let mut depth = 0i32;
    for c in inner.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text;
        }
    }
    inner
}
