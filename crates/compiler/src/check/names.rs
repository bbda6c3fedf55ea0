//! Structured names of functions: `f`, `[f T]`, `[rev f]`, `[shape [rev [f T]]]`.

use super::{Checker, Result};
use crate::error::ErrorKind;
use crate::ir::{Derivation, FunId, Symbol, TypeId};
use crate::stack;
use crate::syntax::lex::Bracket;
use crate::syntax::{Kind, SexpId};

/// Derivations of derivations.
const MOST_DERIVATIONS: usize = 32;

/// A structured name as it is written.
pub(super) struct FunRef {
    /// Derivations from the outside in.
    pub(super) derivations: Vec<Derivation>,
    pub(super) name: Symbol,
    /// The argument type of what is derived from, if it is given.
    pub(super) arg: Option<TypeId>,
    /// Where it stands.
    pub(super) at: SexpId,
}

impl Checker<'_> {
    pub(super) fn is_fun_ref(&self, id: SexpId) -> bool {
        matches!(self.tree.get(id).kind, Kind::Name | Kind::List(Bracket::Square, ..))
    }

    /// Reads a structured name.
    pub(super) fn fun_ref(&mut self, id: SexpId) -> Result<FunRef> {
        if let Some(name) = self.symbol(id) {
            return Ok(FunRef { derivations: vec![], name, arg: None, at: id });
        }
        let hint = "names are written f, [f T], [rev f] or [rev [f T]]";
        let (Kind::List(Bracket::Square, ..), &[head, inner]) = (&self.tree.get(id).kind, self.parts(id)) else {
            return self.expected(id, "the name of a function", hint);
        };
        let Some(word) = self.name(head) else { return self.expected(head, "the name of a function", hint) };
        match Derivation::from_keyword(word).filter(|_| !self.looks_like_type(inner)) {
            Some(derivation) => {
                let mut fun = stack::grow(|| self.fun_ref(inner))?;
                if fun.derivations.len() == MOST_DERIVATIONS {
                    return self.expected(id, &format!("at most {MOST_DERIVATIONS} derivations"), "");
                }
                fun.derivations.insert(0, derivation);
                Ok(FunRef { at: id, ..fun })
            }
            None => {
                let name = self.state.program.store.symbol(word);
                let arg = Some(self.ty(inner)?);
                Ok(FunRef { derivations: vec![], name, arg, at: id })
            }
        }
    }

    fn looks_like_type(&self, id: SexpId) -> bool {
        match self.tree.get(id).kind {
            Kind::List(Bracket::Round, ..) => true,
            Kind::Name => matches!(self.name(id), Some("Float" | "Integer" | "Bool" | "String")),
            _ => false,
        }
    }

    /// As it is written.
    pub(super) fn show_ref(&self, fun: &FunRef) -> String {
        let store = &self.state.program.store;
        let mut text = match fun.arg {
            Some(arg) => format!("[{} {}]", store.text(fun.name), store.show_type(arg)),
            None => store.text(fun.name).to_owned(),
        };
        for derivation in fun.derivations.iter().rev() {
            text = format!("[{} {text}]", derivation.keyword());
        }
        text
    }

    /// The function that has this name and takes an argument of this type, whether it exists or not.
    pub(super) fn fun_taking(&mut self, fun: &FunRef, arg: TypeId) -> Result<FunId> {
        let base = match (fun.arg, self.base_argument(&fun.derivations, arg)) {
            (Some(given), Some(found)) if given != found => {
                let (expected, found) = self.show_pair(given, found);
                let what = format!("the type in the name {}", self.show_ref(fun));
                return self.fail(fun.at, ErrorKind::Mismatch { what, expected: found, found: expected });
            }
            (Some(base), _) | (None, Some(base)) => base,
            (None, None) if fun.derivations.contains(&Derivation::SufRevPass) => {
                let hint = "the type of f does not follow from the arguments: write [sufrevpass [f T]]";
                return self.expected(fun.at, "a name with a type", hint);
            }
            (None, None) => {
                let hint = "[fwd f], [rev f] and [sufrev f] take the argument of f and a tangent";
                return self.expected(fun.at, "two parameters for this derivation", hint);
            }
        };
        let store = &mut self.state.program.store;
        let base = store.base(fun.name, base);
        Ok(fun.derivations.iter().rev().fold(base, |of, derivation| store.derived(*derivation, of)))
    }

    /// The argument type of a function, given that of a derivation.
    pub(super) fn base_argument(&self, derivations: &[Derivation], mut arg: TypeId) -> Option<TypeId> {
        for derivation in derivations {
            arg = match derivation {
                Derivation::Fwd
                | Derivation::Fwdt
                | Derivation::Rev
                | Derivation::SufRev
                | Derivation::Nat
                | Derivation::Retract => {
                    let &[base, _] = self.state.program.store.types.fields(arg)? else { return None };
                    base
                }
                Derivation::SufRevPass => return None,
                _ => arg,
            };
        }
        Some(arg)
    }

    pub(super) fn show_pair(&self, a: TypeId, b: TypeId) -> (String, String) {
        let store = &self.state.program.store;
        (store.show_type(a), store.show_type(b))
    }
}

/// The candidate that is most like a name, if one is like it at all.
pub(super) fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let far = name.chars().count().div_ceil(3);
    let near =
        candidates.map(|other| (strsim::osa_distance(name, other), other)).filter(|(distance, _)| *distance <= far);
    near.min().map(|(_, other)| other.to_owned())
}
