//! Calls: which function a name means, and how it takes its arguments.

use super::names::FunRef;
use super::{Checker, Result};
use crate::derive;
use crate::error::ErrorKind;
use crate::ir::prim::Arity;
use crate::ir::{Derivation, ExprId, FunId, Node, Prim, Symbol, TypeId, prim_type};
use crate::syntax::SexpId;

impl Checker<'_> {
    pub(super) fn is_function_name(&self, name: &str) -> bool {
        let store = &self.state.program.store;
        let is_defined = store.find_symbol(name).is_some_and(|name| {
            !self.state.program.overloads(&[], name).is_empty() || self.state.constructors.contains_key(&name)
        });
        is_defined || Prim::from_name(name).is_some() || matches!(name, "ifold" | "checkpoint")
    }

    /// A call, a primitive or a constructor.
    pub(super) fn call(&mut self, id: SexpId, head: SexpId, args: &[SexpId]) -> Result<ExprId> {
        let fun = self.constructor_ref(head)?;
        if let Some((data, constructor)) = fun {
            return self.construction(id, data, constructor, args);
        }
        let fun = self.fun_ref(head)?;
        let text = self.state.program.store.text(fun.name).to_owned();
        let is_plain = fun.derivations.is_empty();
        match Prim::from_name(&text) {
            Some(prim) if is_plain && !prim.is_function() => self.primitive(id, prim, args),
            None if is_plain && text == "ifold" && !self.is_defined(fun.name) => self.ifold(id, args),
            // Advice for reverse mode, which decides itself what it saves.
            None if is_plain && text == "checkpoint" && !self.is_defined(fun.name) => {
                self.primitive(id, Prim::Inline, args)
            }
            _ => self.function(id, &fun, args),
        }
    }

    fn is_defined(&self, name: Symbol) -> bool {
        !self.state.program.overloads(&[], name).is_empty()
    }

    /// A call of a function of the program or of scalars.
    fn function(&mut self, id: SexpId, fun: &FunRef, args: &[SexpId]) -> Result<ExprId> {
        let exprs: Vec<ExprId> = args.iter().map(|arg| self.argument(*arg)).collect::<Result<_>>()?;
        let types: Vec<TypeId> = exprs.iter().map(|arg| self.state.program.store.ty(*arg)).collect();
        let arg_type = self.as_one(&types);
        if let Some(prim) = self.resolves_to_builtin(fun, arg_type) {
            return self.apply(id, prim, exprs);
        }
        let target = self.resolve(fun, arg_type)?;
        let is_external = self.state.program.is_external(target);
        if let Some(lambda) = exprs.iter().position(|arg| self.state.program.is_lam(*arg)).filter(|_| !is_external) {
            return self.fail(args[lambda], ErrorKind::MisplacedLambda);
        }
        let arg = match exprs[..] {
            [one] => one,
            _ => self.state.program.store.tuple(&exprs),
        };
        Ok(self.state.program.store.call(target, arg))
    }

    /// The result of a function of scalars, if this is one.
    pub(super) fn builtin_result(&mut self, name: Symbol, arg: TypeId) -> Option<TypeId> {
        let prim = Prim::from_name(self.state.program.store.text(name)).filter(|prim| prim.is_function())?;
        let args = match (prim.arity(), self.state.program.store.types.fields(arg)) {
            (Arity::Exactly(count), Some(fields)) if fields.len() == count => fields.to_vec(),
            (Arity::One, _) => vec![arg],
            _ => return None,
        };
        prim_type::result(&mut self.state.program.store.types, prim, &args)
    }

    fn resolves_to_builtin(&mut self, fun: &FunRef, arg: TypeId) -> Option<Prim> {
        if !fun.derivations.is_empty() || fun.arg.is_some_and(|given| given != arg) {
            return None;
        }
        let is_redefined = self.overload(fun, arg).is_some();
        self.builtin_result(fun.name, arg).filter(|_| !is_redefined)?;
        Prim::from_name(self.state.program.store.text(fun.name))
    }

    /// The declared function of this name that takes such an argument.
    fn overload(&self, fun: &FunRef, arg: TypeId) -> Option<FunId> {
        let store = &self.state.program.store;
        let fits = |candidate: &&FunId| store.signature(**candidate).is_some_and(|(takes, _)| takes == arg);
        let named = |candidate: &&FunId| fun.arg.is_none_or(|given| store.parts(**candidate).2 == given);
        self.state.program.overloads(&fun.derivations, fun.name).iter().filter(fits).find(named).copied()
    }

    /// The function that is called, which may be a derivation that nobody has asked for yet.
    pub(super) fn resolve(&mut self, fun: &FunRef, arg: TypeId) -> Result<FunId> {
        self.declare_passes(fun)?;
        if let Some(found) = self.overload(fun, arg) {
            return Ok(found);
        }
        let base = fun.arg.or_else(|| self.base_argument(&fun.derivations, arg));
        if let (false, Some(base)) = (fun.derivations.is_empty(), base) {
            let plain = FunRef { derivations: vec![], arg: Some(base), ..*fun };
            if let Some(target) = self.find(&plain) {
                let target = self.derive_chain(fun, target)?;
                if self.state.program.store.signature(target).is_some_and(|(takes, _)| takes == arg) {
                    return Ok(target);
                }
            }
        }
        self.no_overload(fun, arg)
    }

    /// The passes of split mode have types that only their making tells.
    fn declare_passes(&mut self, fun: &FunRef) -> Result<()> {
        let passes = [Derivation::SufFwdPass, Derivation::SufRevPass];
        if !fun.derivations.iter().any(|derivation| passes.contains(derivation)) {
            return Ok(());
        }
        let overloads = self.state.program.overloads(&fun.derivations, fun.name);
        let unknown: Vec<FunId> =
            overloads.iter().copied().filter(|fun| self.state.program.store.signature(*fun).is_none()).collect();
        for pass in unknown {
            derive::make(&mut self.state.program, pass, self.tree.get(fun.at).span)?;
        }
        Ok(())
    }

    /// Declares the derivations of a function, from the inside out.
    fn derive_chain(&mut self, fun: &FunRef, mut target: FunId) -> Result<FunId> {
        for derivation in fun.derivations.iter().rev() {
            let next = self.state.program.store.derived(*derivation, target);
            if self.state.program.store.signature(next).is_none() {
                match derive::signature(&mut self.state.program.store, *derivation, target) {
                    Some((arg, result)) => self.state.program.store.declare(next, arg, result),
                    None => derive::make(&mut self.state.program, next, self.tree.get(fun.at).span)?,
                }
            }
            target = next;
        }
        Ok(target)
    }

    /// The function of a name with a type, or of a name that has only one.
    fn find(&mut self, fun: &FunRef) -> Option<FunId> {
        let overloads = self.state.program.overloads(&fun.derivations, fun.name);
        let store = &self.state.program.store;
        let found = overloads.iter().copied().find(|candidate| fun.arg == Some(store.parts(*candidate).2));
        match (found, fun.arg) {
            (Some(found), _) => Some(found),
            (None, None) if overloads.len() == 1 => Some(overloads[0]),
            (None, None) => None,
            (None, Some(arg)) if fun.derivations.is_empty() => {
                let result = self.builtin_result(fun.name, arg)?;
                let builtin = self.state.program.store.base(fun.name, arg);
                self.state.program.store.declare(builtin, arg, result);
                Some(builtin)
            }
            (None, Some(_)) => None,
        }
    }

    /// The function that a `gdef` names.
    pub(super) fn existing(&mut self, fun: &FunRef) -> Result<FunId> {
        if let Some(found) = self.find(fun) {
            return Ok(found);
        }
        let plain = FunRef { derivations: vec![], ..*fun };
        if let (false, Some(target)) = (fun.derivations.is_empty(), self.find(&plain)) {
            return self.derive_chain(fun, target);
        }
        match (fun.arg, self.candidates(fun)) {
            (None, candidates) if candidates.len() > 1 => {
                self.fail(fun.at, ErrorKind::Ambiguous { name: self.show_ref(fun), candidates })
            }
            (Some(arg), candidates) if !candidates.is_empty() => self.no_overload(fun, arg),
            _ => self.unknown_function(fun),
        }
    }

    /// Full names of the functions that a name may mean.
    fn candidates(&self, fun: &FunRef) -> Vec<String> {
        let overloads = self.state.program.overloads(&[], fun.name);
        overloads.iter().map(|candidate| self.state.program.store.show_fun(*candidate)).collect()
    }

    fn no_overload<T>(&mut self, fun: &FunRef, arg: TypeId) -> Result<T> {
        let store = &self.state.program.store;
        let signatures = self.state.program.overloads(&fun.derivations, fun.name).iter();
        let mut candidates: Vec<String> =
            signatures.filter_map(|fun| store.signature(*fun)).map(|(takes, _)| store.show_type(takes)).collect();
        let builtin = Prim::from_name(store.text(fun.name)).filter(|prim| prim.is_function());
        if let (Some(prim), true) = (builtin, fun.derivations.is_empty()) {
            candidates.push(prim.usage().to_owned());
        }
        if candidates.is_empty() {
            candidates = self.derived_candidates(fun);
        }
        let store = &self.state.program.store;
        if candidates.is_empty() {
            return self.unknown_function(fun);
        }
        let (name, found) = (self.show_ref(fun), store.show_type(arg));
        self.fail(fun.at, ErrorKind::NoOverload { name, found, candidates })
    }

    /// What a derivation takes that can be made of the functions of this name.
    fn derived_candidates(&mut self, fun: &FunRef) -> Vec<String> {
        let Some((outer, [])) = fun.derivations.split_first() else { return vec![] };
        let mut candidates = vec![];
        for of in self.state.program.overloads(&[], fun.name).to_vec() {
            let store = &mut self.state.program.store;
            let takes = derive::signature(store, *outer, of).map(|(takes, _)| takes);
            candidates
                .push(takes.map_or_else(|| "what the other pass gives".to_owned(), |takes| store.show_type(takes)));
        }
        candidates
    }

    fn unknown_function<T>(&mut self, fun: &FunRef) -> Result<T> {
        let store = &self.state.program.store;
        let text = store.text(fun.name);
        let known = self.state.program.function_names().chain(Prim::ALL.iter().map(|prim| prim.name()));
        let hint = match (self.defined_below(fun), super::names::similar(text, known)) {
            (true, _) => Some("it is defined further down: a form uses only what stands above it".to_owned()),
            (false, _) if text.contains('$') && !text.starts_with('$') => structured(text),
            (false, Some(near)) if near != text => Some(format!("did you mean {near}?")),
            _ => None,
        };
        self.fail(fun.at, ErrorKind::UnknownFunction { name: self.show_ref(fun), hint })
    }

    fn defined_below(&self, fun: &FunRef) -> bool {
        let name = self.state.program.store.text(fun.name);
        let defines = |form: &SexpId| {
            let parts = self.parts(*form);
            let is_def =
                parts.first().and_then(|head| self.name(*head)).is_some_and(|head| head == "def" || head == "edef");
            let is_below = self.tree.get(*form).span.start > self.tree.get(fun.at).span.start;
            is_def && is_below && parts.get(1).and_then(|defined| self.name(*defined)) == Some(name)
        };
        self.tree.roots.iter().any(defines)
    }

    /// A primitive of tensors, tangents, effects or linear maps.
    fn primitive(&mut self, id: SexpId, prim: Prim, args: &[SexpId]) -> Result<ExprId> {
        let mut exprs: Vec<ExprId> = args.iter().map(|arg| self.argument(*arg)).collect::<Result<_>>()?;
        if let (Prim::Check, &[f, reverse, at, ds, dt]) = (prim, &exprs[..]) {
            exprs = vec![f, reverse, at, at, ds, dt];
        }
        self.apply(id, prim, exprs)
    }

    fn apply(&mut self, id: SexpId, prim: Prim, args: Vec<ExprId>) -> Result<ExprId> {
        let mut lets = vec![];
        let args = self.arrange(prim, args, &mut lets);
        let result = match prim.arity() {
            Arity::Exactly(count) if args.len() != count => None,
            _ => self.state.program.store.try_prim(prim, &args),
        };
        match result {
            Some(expr) => Ok(self.state.program.store.lets(&lets, expr)),
            None => self.bad_primitive(id, prim, &args),
        }
    }

    /// The arguments as the primitive takes them: several become a tuple, or a tuple becomes several.
    fn arrange(&mut self, prim: Prim, args: Vec<ExprId>, lets: &mut Vec<(crate::ir::VarId, ExprId)>) -> Vec<ExprId> {
        let store = &mut self.state.program.store;
        match (prim.arity(), &args[..]) {
            (Arity::One, [_]) => args,
            (Arity::One, _) => vec![store.tuple(&args)],
            (_, &[one]) => {
                let is_mixed = prim == Prim::VecInit && !store.types.is_uniform_tuple(store.ty(one));
                if let (Node::Tuple(fields), false) = (store.node(one), is_mixed) {
                    return store.list(fields).to_vec();
                }
                let fields = store.types.fields(store.ty(one)).map_or(0, <[_]>::len);
                let is_spread = match prim.arity() {
                    Arity::Exactly(count) => fields == count,
                    Arity::Check => fields == 6,
                    // One value is printed as it is; a tuple of several types is one element.
                    _ => prim != Prim::Print && fields > 1 && !is_mixed,
                };
                if !is_spread {
                    return args;
                }
                let whole = self.as_variable(one, lets);
                (0..fields as u32).map(|field| self.state.program.store.get(field, whole)).collect()
            }
            _ => args,
        }
    }

    fn bad_primitive<T>(&mut self, id: SexpId, prim: Prim, args: &[ExprId]) -> Result<T> {
        let store = &self.state.program.store;
        let types: Vec<String> = args.iter().map(|arg| store.show_type(store.ty(*arg))).collect();
        let found = if types.is_empty() { "no arguments".to_owned() } else { types.join(" ") };
        self.fail(id, ErrorKind::BadPrimitive { name: prim.name(), found, usage: prim.usage() })
    }

    /// `(ifold n f s)` is `(fold f s (build n (lam (i : Integer) i)))`.
    fn ifold(&mut self, id: SexpId, args: &[SexpId]) -> Result<ExprId> {
        let &[count, body, init] = args else {
            return self.expected(id, "an ifold", "(ifold n (lam (s_i : (Tuple S Integer)) e) init)");
        };
        let (count, body, init) = (self.expr(count)?, self.argument(body)?, self.expr(init)?);
        let store = &mut self.state.program.store;
        let var = store.fresh("i", TypeId::INTEGER);
        let index = store.var(var);
        let identity = store.lam(var, index);
        let indices = self.apply(id, Prim::Build, vec![count, identity])?;
        self.apply(id, Prim::Fold, vec![body, init, indices])
    }
}

/// `fwd$f` as it is written now.
fn structured(name: &str) -> Option<String> {
    let (kind, of) = name.split_once('$')?;
    let derivation = Derivation::from_keyword(kind)?;
    Some(format!("derivations are written [{} {of}]", derivation.keyword()))
}
