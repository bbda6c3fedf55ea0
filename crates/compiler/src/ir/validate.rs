//! Is a program what ARCHITECTURE.md says of programs? For tests of passes: it shares nothing with them but the vocabulary.

use super::expr::{ExprId, Node};
use super::prim_type;
use super::program::{Body, Def, Program};
use super::types::{Type, TypeId};

/// What is wrong with a program: a bug of the pass that made it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{def}: {what}: {expr}")]
pub struct Invalid {
    /// The definition.
    pub def: String,
    /// What does not hold.
    pub what: &'static str,
    /// The expression that it does not hold for.
    pub expr: String,
}

impl Program {
    /// Checks types and scopes of every definition anew.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&mut self) -> Result<(), Invalid> {
        let defs: Vec<Def> = self.defs().copied().collect();
        defs.iter().try_for_each(|def| self.validate_def(def))
    }

    fn validate_def(&mut self, def: &Def) -> Result<(), Invalid> {
        let Body::Expr(param, body) = def.body else { return Ok(()) };
        let wrong = |program: &Self, what, expr| {
            let (def, expr) = (program.store.show_fun(def.fun), program.store.show(expr));
            Err(Invalid { def, what, expr })
        };
        if self.store.signature(def.fun) != Some((self.store.var_type(param), self.store.ty(body))) {
            return wrong(self, "the signature is that of parameter and body", body);
        }
        if self.store.free_vars(body).iter().any(|var| *var != param) {
            return wrong(self, "only the parameter is free", body);
        }
        for part in self.store.post_order(body) {
            if !self.has_its_type(part) {
                return wrong(self, "the type is that of the parts", part);
            }
            if !self.has_lambdas_in_place(part) {
                return wrong(self, "lambdas are arguments of primitives or arms", part);
            }
        }
        Ok(())
    }

    /// Whether the type of an expression follows from its parts.
    fn has_its_type(&mut self, expr: ExprId) -> bool {
        let store = &self.store;
        let ty = |part: ExprId| store.ty(part);
        match store.node(expr) {
            Node::Integer(_) => ty(expr) == TypeId::INTEGER,
            Node::Float(_) => ty(expr) == TypeId::FLOAT,
            Node::Bool(_) => ty(expr) == TypeId::BOOL,
            Node::String(_) => ty(expr) == TypeId::STRING,
            Node::Var(var) => ty(expr) == store.var_type(var),
            Node::Tuple(parts) => {
                let parts: Vec<TypeId> = store.list(parts).iter().map(|part| ty(*part)).collect();
                store.types.fields(ty(expr)) == Some(&parts)
            }
            Node::Get(field, tuple) => {
                store.types.fields(ty(tuple)).and_then(|fields| fields.get(field as usize)) == Some(&ty(expr))
            }
            Node::Let(var, value, body) => store.var_type(var) == ty(value) && ty(body) == ty(expr),
            Node::If(condition, then, otherwise) => {
                ty(condition) == TypeId::BOOL && ty(then) == ty(expr) && ty(otherwise) == ty(expr)
            }
            Node::Assert(condition, body) => ty(condition) == TypeId::BOOL && ty(body) == ty(expr),
            Node::Lam(var, body) => store.types.get(ty(expr)) == Type::Lam(store.var_type(var), ty(body)),
            Node::Call(fun, arg) => store.signature(fun) == Some((ty(arg), ty(expr))),
            Node::Prim(prim, args) => {
                let args: Vec<TypeId> = store.list(args).iter().map(|arg| ty(*arg)).collect();
                let expected = ty(expr);
                prim_type::result(&mut self.store.types, prim, &args) == Some(expected)
            }
            Node::Construct(data, constructor, arg) => {
                let holds = store.types.data(data).constructors.get(constructor as usize).map(|(_, holds)| *holds);
                store.types.get(ty(expr)) == Type::Data(data) && holds == Some(ty(arg))
            }
            Node::Match(value, arms) => {
                let Type::Data(data) = store.types.get(ty(value)) else { return false };
                let holds = store.types.data(data).constructors.iter().map(|(_, holds)| *holds);
                let arms = store.list(arms).iter().map(|arm| store.types.get(ty(*arm)));
                arms.eq(holds.map(|holds| Type::Lam(holds, ty(expr))))
            }
        }
    }

    fn has_lambdas_in_place(&self, expr: ExprId) -> bool {
        let lams = self.store.children(expr).into_iter().filter(|part| self.is_lam(*part)).count();
        match self.store.node(expr) {
            Node::Prim(..) => true,
            Node::Match(_, arms) => lams == self.store.list(arms).len(),
            Node::Call(fun, _) => lams == 0 || self.is_external(fun),
            // The arguments of an external function are a tuple.
            Node::Tuple(_) => true,
            _ => lams == 0,
        }
    }
}
