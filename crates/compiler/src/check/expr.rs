//! Expressions.

use super::{Checker, Result};
use crate::error::ErrorKind;
use crate::ir::{ExprId, Node, TypeId, VarId};
use crate::stack;
use crate::syntax::{Kind, SexpId};

const LET: &str = "(let (x e) body), (let ((x e) (y e2)) body) or (let ((x y) tuple) body)";

impl Checker<'_> {
    pub(super) fn expr(&mut self, id: SexpId) -> Result<ExprId> {
        let expr = stack::grow(|| self.any_expr(id))?;
        if self.state.program.is_lam(expr) {
            return self.fail(id, ErrorKind::MisplacedLambda);
        }
        Ok(expr)
    }

    /// An expression that may be a lambda.
    pub(super) fn argument(&mut self, id: SexpId) -> Result<ExprId> {
        stack::grow(|| self.any_expr(id))
    }

    fn any_expr(&mut self, id: SexpId) -> Result<ExprId> {
        let store = &mut self.state.program.store;
        match &self.tree.get(id).kind {
            Kind::Integer(value) => Ok(store.integer(*value)),
            Kind::Float(value) => Ok(store.float(*value)),
            Kind::String(value) => Ok(store.string(value)),
            Kind::Name => self.variable(id),
            Kind::List(..) => {
                let expr = self.form_or_call(id)?;
                self.state.program.store.set_origin(expr, self.tree.get(id).span);
                Ok(expr)
            }
        }
    }

    fn variable(&mut self, id: SexpId) -> Result<ExprId> {
        match self.name(id) {
            Some("true") => return Ok(self.state.program.store.bool(true)),
            Some("false") => return Ok(self.state.program.store.bool(false)),
            _ => {}
        }
        let var = self.symbol(id).and_then(|name| self.scope.get(name));
        match var {
            Some(var) => Ok(self.state.program.store.var(var)),
            None => self.unknown_variable(id),
        }
    }

    fn unknown_variable<T>(&mut self, id: SexpId) -> Result<T> {
        let name = self.name(id).unwrap_or_default().to_owned();
        let store = &self.state.program.store;
        let near = super::names::similar(&name, self.scope.names().map(|name| store.text(name)));
        let is_function = self.is_function_name(&name);
        let hint = match near {
            _ if is_function => Some(format!("'{name}' is a function: a call is written ({name} ...)")),
            near => near.map(|near| format!("did you mean {near}?")),
        };
        self.fail(id, ErrorKind::UnknownVariable { name, hint })
    }

    fn form_or_call(&mut self, id: SexpId) -> Result<ExprId> {
        let parts = self.parts(id);
        let Some((head, args)) = parts.split_first() else {
            return self.expected(id, "an expression", "the empty tuple is (tuple)");
        };
        match (self.name(*head), args) {
            (Some("let"), [bindings, body]) => self.let_form(*bindings, *body),
            (Some("let"), _) => self.expected(id, "a let", LET),
            (Some("if"), [condition, then, otherwise]) => self.if_form(*condition, *then, *otherwise),
            (Some("if"), _) => self.expected(id, "an if", "(if condition then else)"),
            (Some("assert"), [condition, body]) => self.assert_form(*condition, *body),
            (Some("assert"), _) => self.expected(id, "an assert", "(assert condition body)"),
            (Some("lam"), [param, body]) => self.lam_form(*param, *body),
            (Some("lam"), _) => self.expected(id, "a lambda", "(lam (x : T) body)"),
            (Some("tuple"), _) => {
                let fields: Vec<ExprId> = args.iter().map(|arg| self.expr(*arg)).collect::<Result<_>>()?;
                Ok(self.state.program.store.tuple(&fields))
            }
            (Some("match"), [value, arms @ ..]) if !self.is_function_name("match") => self.match_form(id, *value, arms),
            (Some(get), _) if get.starts_with("get$") => self.get_form(id, get, args),
            (Some(name), []) if self.is_variable(*head) && !self.is_function_name(name) => self.variable(*head),
            _ if self.is_fun_ref(*head) => self.call(id, *head, args),
            (None, []) => self.expr(*head),
            _ => self.expected(*head, "the name of a function", ""),
        }
    }

    fn is_variable(&mut self, id: SexpId) -> bool {
        self.symbol(id).is_some_and(|name| self.scope.get(name).is_some())
    }

    fn condition(&mut self, id: SexpId, of: &str) -> Result<ExprId> {
        let condition = self.expr(id)?;
        self.expect_type(id, condition, TypeId::BOOL, &format!("the condition of {of}"))?;
        Ok(condition)
    }

    pub(super) fn expect_type(&self, id: SexpId, expr: ExprId, expected: TypeId, what: &str) -> Result<()> {
        let found = self.state.program.store.ty(expr);
        if found == expected {
            return Ok(());
        }
        let (expected, found) = self.show_pair(expected, found);
        self.fail(id, ErrorKind::Mismatch { what: what.to_owned(), expected, found })
    }

    fn if_form(&mut self, condition: SexpId, then: SexpId, otherwise: SexpId) -> Result<ExprId> {
        let condition = self.condition(condition, "if")?;
        let (then_expr, else_expr) = (self.expr(then)?, self.expr(otherwise)?);
        let expected = self.state.program.store.ty(then_expr);
        self.expect_type(otherwise, else_expr, expected, "the second branch of if")?;
        Ok(self.state.program.store.if_(condition, then_expr, else_expr))
    }

    fn assert_form(&mut self, condition: SexpId, body: SexpId) -> Result<ExprId> {
        let condition = self.condition(condition, "assert")?;
        let body = self.expr(body)?;
        Ok(self.state.program.store.assert(condition, body))
    }

    fn lam_form(&mut self, param: SexpId, body: SexpId) -> Result<ExprId> {
        let (name, ty) = self.param(param)?;
        let var = self.state.program.store.fresh_named(name, ty);
        self.scope.push(name, var);
        let body = self.expr(body);
        self.scope.pop(name);
        Ok(self.state.program.store.lam(var, body?))
    }

    /// `get$i$n`, from 1.
    fn get_form(&mut self, id: SexpId, get: &str, args: &[SexpId]) -> Result<ExprId> {
        let numbers =
            get[4..].split_once('$').and_then(|(i, n)| Some((i.parse::<u32>().ok()?, n.parse::<u32>().ok()?)));
        let (Some((field @ 1.., size)), [tuple]) = (numbers, args) else {
            return self.expected(id, "a field of a tuple", "(get$i$n tuple) is field i of n, counted from 1");
        };
        let tuple_expr = self.expr(*tuple)?;
        let found = self.state.program.store.ty(tuple_expr);
        let fields = self.state.program.store.types.fields(found).map(<[_]>::len);
        if fields != Some(size as usize) || field > size {
            let (what, found) = (format!("the argument of {get}"), self.state.program.store.show_type(found));
            let expected = format!("a tuple of {}", size.max(field));
            return self.fail(*tuple, ErrorKind::Mismatch { what, expected, found });
        }
        Ok(self.state.program.store.get(field - 1, tuple_expr))
    }

    fn let_form(&mut self, bindings: SexpId, body: SexpId) -> Result<ExprId> {
        if !self.is_list(bindings) {
            return self.expected(bindings, "the bindings of a let", LET);
        }
        let parts = self.parts(bindings);
        let pairs: Vec<(SexpId, SexpId)> = match parts {
            [pattern, value] if self.is_single_binding(*pattern, *value) => vec![(*pattern, *value)],
            _ => parts.iter().map(|binding| self.binding(*binding)).collect::<Result<_>>()?,
        };
        let (mut lets, mut names) = (vec![], vec![]);
        let body = self.bind_all(&pairs, &mut lets, &mut names).and_then(|()| self.expr(body));
        names.into_iter().for_each(|name| self.scope.pop(name));
        Ok(self.state.program.store.lets(&lets, body?))
    }

    fn binding(&mut self, id: SexpId) -> Result<(SexpId, SexpId)> {
        match self.parts(id) {
            [pattern, value] => Ok((*pattern, *value)),
            _ => self.expected(id, "a binding", LET),
        }
    }

    /// Whether `(a b)` of `(let (a b) body)` is one binding. `((x y) e)` binds a tuple, `((x e) (y f))` is two bindings; where e is a
    /// variable, it is the latter only if `(y f)` cannot be a call.
    fn is_single_binding(&mut self, pattern: SexpId, value: SexpId) -> bool {
        if self.name(pattern).is_some() {
            return true;
        }
        let names = self.parts(pattern);
        if !names.iter().all(|name| self.name(*name).is_some()) {
            return false;
        }
        match (names, self.parts(value)) {
            ([_, old], [new, _]) => {
                let is_two = self.is_variable(*old) && self.name(*new).is_some_and(|name| !self.can_be_called(name));
                !is_two
            }
            _ => true,
        }
    }

    fn can_be_called(&self, name: &str) -> bool {
        let is_special =
            matches!(name, "let" | "if" | "assert" | "lam" | "tuple" | "match") || name.starts_with("get$");
        is_special || self.is_function_name(name)
    }

    fn bind_all(
        &mut self,
        pairs: &[(SexpId, SexpId)],
        lets: &mut Vec<(VarId, ExprId)>,
        names: &mut Vec<crate::ir::Symbol>,
    ) -> Result<()> {
        for (pattern, value) in pairs {
            let value_expr = self.expr(*value)?;
            let ty = self.state.program.store.ty(value_expr);
            if let Some(name) = self.symbol(*pattern) {
                let var = self.state.program.store.fresh_named(name, ty);
                lets.push((var, value_expr));
                self.scope.push(name, var);
                names.push(name);
                continue;
            }
            let fields = self.tuple_pattern(*pattern, ty)?;
            let whole = self.as_variable(value_expr, lets);
            for (field, (name, ty)) in (0..).zip(fields) {
                let store = &mut self.state.program.store;
                let var = store.fresh_named(name, ty);
                lets.push((var, store.get(field, whole)));
                self.scope.push(name, var);
                names.push(name);
            }
        }
        Ok(())
    }

    /// The expression itself if it is a variable, else a variable that is bound to it.
    pub(super) fn as_variable(&mut self, expr: ExprId, lets: &mut Vec<(VarId, ExprId)>) -> ExprId {
        let store = &mut self.state.program.store;
        if let Node::Var(_) = store.node(expr) {
            return expr;
        }
        let var = store.fresh("t", store.ty(expr));
        lets.push((var, expr));
        store.var(var)
    }

    /// The names of a tuple pattern with the types of the fields.
    fn tuple_pattern(&mut self, pattern: SexpId, ty: TypeId) -> Result<Vec<(crate::ir::Symbol, TypeId)>> {
        let parts = self.parts(pattern);
        let fields = self.state.program.store.types.fields(ty).map(<[_]>::to_vec);
        let Some(fields) = fields.filter(|fields| fields.len() == parts.len() && self.is_list(pattern)) else {
            if !self.is_list(pattern) {
                return self.expected(pattern, "a name or a tuple of names", LET);
            }
            let found = self.state.program.store.show_type(ty);
            let (what, expected) = ("the value of this pattern".to_owned(), format!("a tuple of {}", parts.len()));
            return self.fail(pattern, ErrorKind::Mismatch { what, expected, found });
        };
        let names = parts.iter().map(|part| match self.symbol(*part) {
            Some(name) => Ok(name),
            None => {
                self.expected(*part, "a name", "patterns do not nest: take the inner tuple apart in a second binding")
            }
        });
        Ok(names.collect::<Result<Vec<_>>>()?.into_iter().zip(fields).collect())
    }
}
