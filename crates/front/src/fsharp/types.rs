//! Types as F# writes them.

use super::Parser;
use super::lex::{Placed, Token};
use crate::error::{Mistake, Result, outside, similar};
use crate::stack;
use crate::types::Type;

impl Parser {
    /// `float * int`, `float[]`, `Vector<float>`
    pub(super) fn ty(&mut self) -> Result<Type> {
        let mut fields = vec![self.applied_type()?];
        while self.takes("*") {
            fields.push(self.applied_type()?);
        }
        if self.sees("->") {
            return outside(self.here(), "functions as parameters and fields are", "give what the function is made of");
        }
        Ok(if fields.len() == 1 { fields.remove(0) } else { Type::Tuple(fields) })
    }

    /// A type without `*` outside of brackets.
    pub(super) fn applied_type(&mut self) -> Result<Type> {
        let mut ty = stack::grow(|| self.plain_type())?;
        loop {
            if self.sees("[") {
                self.next();
                let mut rank = 1;
                while self.takes(",") {
                    rank += 1;
                }
                self.expect("]", "in the type of an array")?;
                ty = Type::Array(rank, Box::new(ty));
            } else if self.takes_word("array") {
                ty = Type::Array(1, Box::new(ty));
            } else if self.sees_word("list") || self.sees_word("seq") || self.sees_word("option") {
                return outside(self.here(), "lists, sequences and options are", "write an array: float[]");
            } else {
                return Ok(ty);
            }
        }
    }

    fn plain_type(&mut self) -> Result<Type> {
        if self.takes("(") {
            let ty = self.ty()?;
            self.expect(")", "after a type")?;
            return Ok(ty);
        }
        let (mut name, mut span) = self.identifier("a type")?;
        while self.takes(".") {
            (name, span) = self.identifier("a type")?;
        }
        let own = self.types.get(&name).cloned();
        Ok(match name.as_str() {
            _ if own.is_some() => own.unwrap_or(Type::Float),
            "float" | "double" => Type::Float,
            "int" => Type::Int,
            "bool" => Type::Bool,
            "string" => Type::Text,
            "unit" => Type::unit(),
            "Vector" => Type::Array(1, Box::new(self.element()?)),
            "Matrix" => Type::Array(2, Box::new(self.element()?)),
            _ => {
                let known = self.types.keys().map(String::as_str);
                let known = known.chain(["float", "int", "bool", "string", "unit", "Vector", "Matrix"]);
                let hint = similar(&name, known).or_else(|| Some("types are float, int, bool, string, unit, T[], Vector<T>, Matrix<T>, tuples, and those of the program".to_owned()));
                return Err(Mistake::Unknown { what: "type", name, hint }.at(span));
            }
        })
    }

    /// `<float>`; float if it is not written.
    fn element(&mut self) -> Result<Type> {
        if !self.takes("<") {
            return Ok(Type::Float);
        }
        let ty = self.ty()?;
        // `>` and `=` may have no space between them.
        match self.peek() {
            Some(Placed { token: Token::Symbol(">="), .. }) => {
                self.tokens[self.at].token = Token::Symbol("=");
                Ok(ty)
            }
            _ => {
                self.expect(">", "after the type of elements")?;
                Ok(ty)
            }
        }
    }
}
