//! Spaces: `(space Multinomial (Vec Float) sharp retract)`, and which parameters are of one.

use super::{Checker, Result};
use crate::error::{Error, ErrorKind};
use crate::ir::{FunId, Space, Spaced, TypeId};
use crate::source::Sources;
use crate::syntax::{Kind, SexpId};

pub(super) const SPACE: &str = "(space Name Type sharp retract), with sharp and retract functions of a T and a tangent";

impl Checker<'_> {
    /// A `space` form: a name for a type, with its metric and its way to move.
    pub(super) fn space_form(&mut self, name: SexpId, ty: SexpId, sharp: SexpId, retract: SexpId) -> Result<()> {
        let Some(symbol) = self.symbol(name) else { return self.expected(name, "the name of a space", SPACE) };
        let is_own = self.state.spaces.get(&symbol).is_some_and(|space| space.span.file != Sources::PRELUDE);
        if self.is_type_name(name) || self.state.data.contains_key(&symbol) || (is_own && !self.state.redefines) {
            let text = self.sources.text(self.tree.get(name).span).to_owned();
            return self.fail(name, ErrorKind::Duplicate(format!("the type {text}")));
        }
        let ty = self.ty(ty)?;
        let tangent = self.state.program.store.types.tangent(ty);
        let sharp = self.map_of_space(sharp, (ty, tangent), tangent)?;
        let retract = self.map_of_space(retract, (ty, tangent), ty)?;
        let space = Space { name: symbol, sharp, retract };
        let span = self.tree.get(name).span;
        self.state.spaces.insert(symbol, super::DeclaredSpace { ty, space, span });
        Ok(())
    }

    /// The function of a value and a tangent that gives something.
    fn map_of_space(&mut self, name: SexpId, (ty, tangent): (TypeId, TypeId), result: TypeId) -> Result<FunId> {
        let fun = self.fun_ref(name)?;
        let arg = self.state.program.store.types.tuple(&[ty, tangent]);
        let found = self.resolve(&fun, arg)?;
        let given = self.state.program.store.signature(found).map(|(_, result)| result);
        match given.filter(|given| *given != result) {
            Some(given) => {
                let (expected, found) = self.show_pair(result, given);
                let what = format!("the result of {}", self.show_ref(&fun));
                let span = self.tree.get(name).span;
                Err(Error::new(span, ErrorKind::Mismatch { what, expected, found }))
            }
            None => Ok(found),
        }
    }

    /// Which parts of the argument are of a space: as [`Checker::params`] reads it.
    pub(super) fn spaced_params(&self, id: SexpId) -> Spaced {
        let param = |param: SexpId| self.spaced_parts(self.parts(param).get(2..).unwrap_or_default());
        match self.parts(id) {
            [name, ..] if !self.is_list(*name) => param(id),
            [one] => param(*one),
            params => Spaced::tuple(params.iter().map(|one| param(*one)).collect()),
        }
    }

    /// Of a type without its own parentheses.
    fn spaced_parts(&self, parts: &[SexpId]) -> Spaced {
        let [head, args @ ..] = parts else { return Spaced::Flat };
        match (self.name(*head), args) {
            (Some("Tuple"), _) => Spaced::tuple(args.iter().map(|arg| self.spaced(*arg)).collect()),
            (Some("Vec"), [element]) => Spaced::tensor(1, self.spaced(*element)),
            (Some("Tensor"), [rank, element]) => match self.tree.get(*rank).kind {
                Kind::Integer(rank) => Spaced::tensor(rank as u32, self.spaced(*element)),
                _ => Spaced::Flat,
            },
            (_, []) => self.spaced(*head),
            _ => Spaced::Flat,
        }
    }

    fn spaced(&self, ty: SexpId) -> Spaced {
        let Some(name) = self.name(ty) else { return self.spaced_parts(self.parts(ty)) };
        let symbol = self.state.program.store.find_symbol(name).filter(|symbol| !self.state.data.contains_key(symbol));
        let space = symbol.and_then(|symbol| self.state.spaces.get(&symbol));
        space.map_or(Spaced::Flat, |declared| Spaced::Space(declared.space))
    }
}
