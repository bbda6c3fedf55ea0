//! Patterns of parameters and bindings.

use super::Parser;
use super::layout::is_keyword;
use super::lex::{Placed, Token};
use crate::error::{Result, outside};
use crate::stack;
use crate::tree::{Param, Pattern};
use crate::types::{HOLE, Type};

impl Parser {
    /// Whether a parameter can start here.
    pub(super) fn sees_param(&self) -> bool {
        match self.peek() {
            Some(Placed { token: Token::Name(name), .. }) => !is_keyword(name),
            Some(Placed { token: Token::Symbol(symbol), .. }) => *symbol == "(",
            _ => false,
        }
    }

    /// `x`, `_`, `(x : float)`, `(x, y)`, `()`
    pub(super) fn param(&mut self) -> Result<Param> {
        let start = self.here();
        if !self.takes("(") {
            let (name, span) = self.identifier("a parameter")?;
            let pattern = if name == "_" { Pattern::Wildcard(span) } else { Pattern::Name(name, span) };
            return Ok(Param { pattern, ty: None });
        }
        if self.takes(")") {
            return Ok(Param { pattern: Pattern::Wildcard(start), ty: Some(Type::unit()) });
        }
        let param = self.typed_pattern()?;
        self.expect(")", "after a parameter")?;
        Ok(param)
    }

    /// `x : float, y : int`: a tuple if there are several.
    pub(super) fn typed_pattern(&mut self) -> Result<Param> {
        let start = self.here();
        let mut parts = vec![self.part()?];
        while self.takes(",") {
            parts.push(self.part()?);
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        let is_written = parts.iter().any(|part| part.ty.is_some());
        let types = parts.iter().map(|part| part.ty.clone().unwrap_or(Type::Unknown(HOLE))).collect();
        let patterns = parts.into_iter().map(|part| part.pattern).collect();
        Ok(Param {
            pattern: Pattern::Tuple(patterns, start.to(self.before())),
            ty: is_written.then_some(Type::Tuple(types)),
        })
    }

    fn part(&mut self) -> Result<Param> {
        let param = stack::grow(|| self.param())?;
        if !self.takes(":") {
            return Ok(param);
        }
        let ty = self.ty()?;
        Ok(Param { ty: Some(ty), ..param })
    }

    /// What stands between `let` and `=` of a value.
    pub(super) fn binding_pattern(&mut self) -> Result<Param> {
        if self.sees_word("mutable") {
            return outside(self.here(), "mutable variables are", "bind a new name, or write a fold");
        }
        self.typed_pattern()
    }
}
