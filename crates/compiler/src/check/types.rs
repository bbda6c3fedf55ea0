//! Types.

use super::{Checker, Result};
use crate::error::ErrorKind;
use crate::ir::{Symbol, TypeId};
use crate::syntax::{Kind, SexpId};

/// Deepest nesting of types.
const DEEPEST: usize = 200;
/// Highest rank of a tensor.
const HIGHEST_RANK: i64 = 64;

impl Checker<'_> {
    /// A type in its place: `Float`, `(Vec Float)`, `(Float)`.
    pub(super) fn ty(&mut self, id: SexpId) -> Result<TypeId> {
        self.ty_below(id, DEEPEST)
    }

    fn ty_below(&mut self, id: SexpId, depth: usize) -> Result<TypeId> {
        match self.name(id) {
            Some("Float") => Ok(TypeId::FLOAT),
            Some("Integer") => Ok(TypeId::INTEGER),
            Some("Bool") => Ok(TypeId::BOOL),
            Some("String") => Ok(TypeId::STRING),
            Some("Any") if self.allows_any => Ok(TypeId::ANY),
            Some(name) => self.named_type(id, name),
            None if depth == 0 => self.fail(id, ErrorKind::DeepType(DEEPEST)),
            None if self.is_list(id) => self.applied(id, self.parts(id), depth - 1),
            None => self.expected(id, "a type", ""),
        }
    }

    fn named_type(&mut self, id: SexpId, name: &str) -> Result<TypeId> {
        let symbol = self.state.program.store.symbol(name);
        if let Some(data) = self.state.data.get(&symbol) {
            return Ok(self.state.program.store.types.data_type(*data));
        }
        if let Some(declared) = self.state.spaces.get(&symbol) {
            return Ok(declared.ty);
        }
        let own =
            self.state.data.keys().chain(self.state.spaces.keys()).map(|name| self.state.program.store.text(*name));
        let similar =
            super::names::similar(name, own.chain(["Float", "Integer", "Bool", "String", "Tuple", "Vec", "Tensor"]));
        self.fail(id, ErrorKind::UnknownType { name: name.to_owned(), similar })
    }

    /// A type without its own parentheses, as after a colon: `Vec Float`.
    pub(super) fn bare_type(&mut self, whole: SexpId, parts: &[SexpId]) -> Result<TypeId> {
        self.applied(whole, parts, DEEPEST)
    }

    fn applied(&mut self, whole: SexpId, parts: &[SexpId], depth: usize) -> Result<TypeId> {
        let [head, args @ ..] = parts else { return self.expected(whole, "a type", "the type of no value is (Tuple)") };
        match (self.name(*head), args) {
            (Some("Tuple"), _) => {
                let fields: Result<Vec<TypeId>> = args.iter().map(|arg| self.ty_below(*arg, depth)).collect();
                Ok(self.state.program.store.types.tuple(&fields?))
            }
            (Some("Vec"), [element]) => {
                let element = self.ty_below(*element, depth)?;
                Ok(self.state.program.store.types.vec(element))
            }
            (Some("Tensor"), [rank, element]) => {
                let rank = self.rank(*rank)?;
                let element = self.ty_below(*element, depth)?;
                Ok(self.state.program.store.types.tensor(rank, element))
            }
            (Some(name @ ("Lam" | "LM")), [from, to]) => {
                let (from, to) = (self.ty_below(*from, depth)?, self.ty_below(*to, depth)?);
                let types = &mut self.state.program.store.types;
                Ok(if name == "LM" { types.linear_map(from, to) } else { types.lam(from, to) })
            }
            (Some("Tangent"), [of]) => {
                let of = self.ty_below(*of, depth)?;
                Ok(self.state.program.store.types.tangent(of))
            }
            (Some("Vec"), _) => self.expected(whole, "(Vec T)", ""),
            (Some("Tensor"), _) => self.expected(whole, "(Tensor n T) with n the rank", ""),
            (Some("Lam"), _) => self.expected(whole, "(Lam S T)", ""),
            (Some("LM"), _) => self.expected(whole, "(LM S T)", ""),
            (_, []) => self.ty_below(*head, depth),
            (Some(name), _) => {
                self.named_type(*head, name)?;
                self.expected(whole, "a type", &format!("'{name}' takes no arguments"))
            }
            _ => self.expected(whole, "a type", ""),
        }
    }

    fn rank(&mut self, id: SexpId) -> Result<u32> {
        match self.tree.get(id).kind {
            Kind::Integer(rank @ 1..=HIGHEST_RANK) => Ok(rank as u32),
            _ => self.expected(id, "the rank of a tensor: 1, 2, ... 64", ""),
        }
    }

    /// `(x : T)`: a name, and the type that may lack its parentheses.
    pub(super) fn param(&mut self, id: SexpId) -> Result<(Symbol, TypeId)> {
        let parts = self.parts(id);
        let hint = "a parameter is written (name : Type)";
        let [name, colon, ty @ ..] = parts else { return self.expected(id, "a parameter", hint) };
        if self.name(*colon) != Some(":") {
            return self.expected(id, "a parameter", hint);
        }
        let Some(name) = self.symbol(*name) else { return self.expected(*name, "the name of a parameter", hint) };
        Ok((name, self.bare_type(id, ty)?))
    }

    /// `(x : T)`, `((x : T) ...)` or `()`.
    pub(super) fn params(&mut self, id: SexpId) -> Result<Vec<(Symbol, TypeId)>> {
        if !self.is_list(id) {
            return self.expected(id, "parameters", "parameters are written (x : T), ((x : T) (y : U)) or ()");
        }
        match self.parts(id) {
            [name, ..] if !self.is_list(*name) => Ok(vec![self.param(id)?]),
            params => params.iter().map(|param| self.param(*param)).collect(),
        }
    }

    /// The argument of an `edef`: one type, or a list of types.
    pub(super) fn argument_type(&mut self, id: SexpId) -> Result<TypeId> {
        let parts = self.parts(id);
        let is_list_of_types = match parts.first() {
            None => self.is_list(id),
            Some(head) => !matches!(self.name(*head), Some("Tuple" | "Vec" | "Tensor" | "Lam" | "LM" | "Tangent")),
        };
        if !is_list_of_types {
            return self.ty(id);
        }
        let types: Vec<TypeId> = parts.iter().map(|part| self.ty(*part)).collect::<Result<_>>()?;
        Ok(self.as_one(&types))
    }

    /// The type of one argument that stands for several.
    pub(super) fn as_one(&mut self, types: &[TypeId]) -> TypeId {
        match types {
            [one] => *one,
            _ => self.state.program.store.types.tuple(types),
        }
    }
}
