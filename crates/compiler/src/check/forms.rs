//! What stands at the top: `def`, `edef`, `gdef`, `rule`, `data`.

use super::names::FunRef;
use super::{Checker, Result};
use crate::derive;
use crate::error::{Error, ErrorKind};
use crate::ir::{Body, Def, Derivation, ExprId, FunId, FunName, Gdef, Prim, Symbol, TypeId, VarId};
use crate::source::Sources;
use crate::syntax::SexpId;

const DEF: &str = "(def name ReturnType ((x : T) ...) body)";
const EDEF: &str = "(edef name ReturnType ArgumentType)";
const GDEF: &str = "(gdef fwd [f ArgumentType]); kinds are fwd, rev, suffwdpass, sufrevpass, sufrev, shape, CL and D";

/// Whether a name is a part of the grammar.
pub(super) fn is_special(name: &str) -> bool {
    matches!(name, "let" | "if" | "assert" | "lam" | "tuple" | "else" | ":" | "true" | "false")
        || name.starts_with("get$")
}

impl Checker<'_> {
    pub(super) fn form(&mut self, id: SexpId) -> Result<()> {
        self.scope.clear();
        let parts = self.parts(id);
        match (parts.first().and_then(|head| self.name(*head)), parts) {
            (Some("def"), [_, name, result, params, body]) => self.def(*name, *result, *params, *body),
            (Some("def"), _) => self.expected(id, "a definition", DEF),
            (Some("edef"), [_, name, result, arg]) => self.edef(*name, *result, *arg),
            (Some("edef"), _) => self.expected(id, "an external definition", EDEF),
            (Some("gdef"), [_, kind, name]) => self.gdef(*kind, *name),
            (Some("gdef"), _) => self.expected(id, "a derivation", GDEF),
            (Some("rule"), [_, parts @ ..]) => {
                self.allows_any = true;
                let done = self.rule(id, parts);
                self.allows_any = false;
                done
            }
            (Some("space"), [_, name, ty, sharp, retract]) => self.space_form(*name, *ty, *sharp, *retract),
            (Some("space"), _) => self.expected(id, "a space", super::spaces::SPACE),
            (Some("data"), [_, name, constructors @ ..]) => self.data_form(id, *name, constructors),
            _ => self.expected(
                id,
                "a form",
                "a program is a list of (def ...), (edef ...), (gdef ...), (rule ...), (data ...) and (space ...)",
            ),
        }
    }

    fn def(&mut self, name: SexpId, result: SexpId, params_at: SexpId, body: SexpId) -> Result<()> {
        let fun = self.fun_ref(name)?;
        let (result_type, params) = (self.ty(result)?, self.params(params_at)?);
        let types: Vec<TypeId> = params.iter().map(|(_, ty)| *ty).collect();
        let arg = self.as_one(&types);
        let fun = self.declare(&fun, arg, result_type)?;
        let spaced = self.spaced_params(params_at);
        self.state.program.set_spaced(fun, spaced);
        let (param, bindings) = self.bind_params(&params, arg);
        let body_expr = self.expr(body)?;
        let found = self.state.program.store.ty(body_expr);
        if found != result_type {
            let (expected, found) = self.show_pair(result_type, found);
            let what = format!("the result of {}", self.sources.text(self.tree.get(name).span));
            let error = Error::new(self.tree.get(body).span, ErrorKind::Mismatch { what, expected, found });
            return Err(error.with_label(self.tree.get(result).span, "declared here"));
        }
        let body = self.state.program.store.lets(&bindings, body_expr);
        let span = self.tree.get(name).span;
        self.state.program.define(Def { fun, body: Body::Expr(param, body), span });
        Ok(())
    }

    /// Brings the parameters into scope: one variable for the argument, and a let for each parameter where there are several.
    fn bind_params(&mut self, params: &[(Symbol, TypeId)], arg: TypeId) -> (VarId, Vec<(VarId, ExprId)>) {
        let store = &mut self.state.program.store;
        if let [(name, ty)] = params {
            let var = store.fresh_named(*name, *ty);
            self.scope.push(*name, var);
            return (var, vec![]);
        }
        let param = store.fresh("args", arg);
        let whole = store.var(param);
        let mut bindings = vec![];
        for (field, (name, ty)) in (0..).zip(params) {
            let var = store.fresh_named(*name, *ty);
            bindings.push((var, store.get(field, whole)));
            self.scope.push(*name, var);
        }
        (param, bindings)
    }

    /// Registers what a definition defines, so that it can call itself.
    fn declare(&mut self, name: &FunRef, arg: TypeId, result: TypeId) -> Result<FunId> {
        self.check_definable(name)?;
        let fun = self.fun_taking(name, arg)?;
        let span = self.tree.get(name.at).span;
        let may_replace = |old: &&Def| old.span.file == Sources::PRELUDE || self.state.redefines;
        if let Some(old) = self.state.program.def(fun).filter(|old| !may_replace(old)) {
            let error = Error::new(span, ErrorKind::Duplicate(self.state.program.store.show_fun(fun)));
            return Err(error.with_label(old.span, "first defined here"));
        }
        self.check_derivation(fun, (arg, result), name)?;
        self.state.program.store.declare(fun, arg, result);
        self.state.program.announce(fun);
        Ok(fun)
    }

    fn check_definable(&self, name: &FunRef) -> Result<()> {
        let text = self.state.program.store.text(name.name);
        let is_primitive = Prim::from_name(text).is_some_and(|prim| !prim.is_function());
        if is_special(text) || (is_primitive && name.derivations.is_empty()) {
            return self.fail(name.at, ErrorKind::Reserved(text.to_owned()));
        }
        Ok(())
    }

    /// A derivation that the program defines must have the type that a made one would have.
    fn check_derivation(&mut self, fun: FunId, found: (TypeId, TypeId), name: &FunRef) -> Result<()> {
        let FunName::Derived(derivation, of) = self.state.program.store.fun(fun) else { return Ok(()) };
        if derivation == Derivation::Shape {
            // Programs may have a shape of their own in mind.
            return Ok(());
        }
        let Some(expected) = derive::signature(&mut self.state.program.store, derivation, of) else { return Ok(()) };
        let pairs = [("the argument of", expected.0, found.0), ("the result of", expected.1, found.1)];
        for (what, expected, found) in pairs {
            if expected != found {
                let (expected, found) = self.show_pair(expected, found);
                let what = format!("{what} {}", self.show_ref(name));
                return self.fail(name.at, ErrorKind::Mismatch { what, expected, found });
            }
        }
        Ok(())
    }

    fn edef(&mut self, name: SexpId, result: SexpId, arg: SexpId) -> Result<()> {
        let fun_ref = self.fun_ref(name)?;
        let (result, arg) = (self.ty(result)?, self.argument_type(arg)?);
        let fun = self.fun_taking(&fun_ref, arg)?;
        if self.is_provided(fun, &fun_ref, (arg, result)) {
            return Ok(());
        }
        let fun = self.declare(&fun_ref, arg, result)?;
        self.state.program.define(Def { fun, body: Body::External, span: self.tree.get(name).span });
        Ok(())
    }

    /// Whether the prelude has what the program declares as external: older programs declare what the public prelude lacked.
    fn is_provided(&mut self, fun: FunId, name: &FunRef, declared: (TypeId, TypeId)) -> bool {
        let in_prelude = self.state.program.def(fun).is_some_and(|def| def.span.file == Sources::PRELUDE);
        if in_prelude {
            return self.state.program.store.signature(fun) == Some(declared);
        }
        name.derivations.is_empty() && self.builtin_result(name.name, declared.0) == Some(declared.1)
    }

    fn gdef(&mut self, kind: SexpId, name: SexpId) -> Result<()> {
        let Some(derivation) = self.name(kind).and_then(Derivation::from_keyword) else {
            return self.expected(kind, "a kind of derivation", GDEF);
        };
        let of = self.fun_ref(name)?;
        let of = self.existing(&of)?;
        let fun = self.state.program.store.derived(derivation, of);
        if self.state.program.def(fun).is_none() {
            if let Some((arg, result)) = derive::signature(&mut self.state.program.store, derivation, of) {
                self.state.program.store.declare(fun, arg, result);
            }
            self.state.program.announce(fun);
        }
        self.state.program.gdefs.push(Gdef { fun, span: self.tree.get(name).span });
        Ok(())
    }
}
