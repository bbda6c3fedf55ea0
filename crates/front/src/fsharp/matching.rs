//! `match`: cases of unions, of tuples, and of constants.

use super::Parser;
use super::lex::{Placed, Token};
use crate::error::{Result, outside};
use crate::tree::{Arm, Comparison, Expr, Kind, Pattern, Statement};
use labrys_compiler::Span;

/// What a case looks like.
enum Case {
    Constructor(String, Vec<Pattern>),
    /// A constant, given as often as it is needed.
    Constant(Token),
    /// Anything: a name, a tuple of names, or `_`.
    Any(Pattern),
}

impl Parser {
    /// `match` behind its word.
    pub(super) fn matched(&mut self, start: Span) -> Result<Expr> {
        let value = self.expr()?;
        self.expect_word("with", "after the value that is matched")?;
        self.cases(value, start)
    }

    /// The cases of a match of a value.
    pub(super) fn cases(&mut self, value: Expr, start: Span) -> Result<Expr> {
        let mut cases: Vec<(Case, Span, Expr)> = vec![];
        self.takes("|");
        loop {
            let span = self.here();
            let case = self.case()?;
            if self.sees_word("when") {
                return outside(self.here(), "conditions of cases are", "write an if in the case");
            }
            if self.sees("|") {
                return outside(self.here(), "several patterns for one case are", "write a case for each");
            }
            self.expect("->", "after a pattern")?;
            let body = self.block()?;
            cases.push((case, span, body));
            if !self.takes("|") {
                break;
            }
        }
        let span = start.to(self.before());
        match cases.iter().any(|(case, ..)| matches!(case, Case::Constructor(..))) {
            true => self.by_constructor(value, cases, span),
            false => self.by_constant(value, cases, span),
        }
    }

    fn by_constructor(&mut self, value: Expr, cases: Vec<(Case, Span, Expr)>, span: Span) -> Result<Expr> {
        let mut arms = vec![];
        for (case, at, body) in cases {
            let constructor = match case {
                Case::Constructor(name, patterns) => Some((name, patterns)),
                Case::Any(Pattern::Wildcard(_)) => None,
                _ => return outside(at, "this pattern beside constructors is", "write a constructor, or _"),
            };
            arms.push(Arm { constructor, span: at, body });
        }
        Ok(self.make(span, Kind::Match(Box::new(value), arms)))
    }

    /// Constants become comparisons, and the last case must take anything.
    fn by_constant(&mut self, value: Expr, mut cases: Vec<(Case, Span, Expr)>, span: Span) -> Result<Expr> {
        let Some((Case::Any(pattern), _, mut result)) = cases.pop() else {
            return outside(span, "a match that does not end with a case for the rest is", "end it with | _ -> ...");
        };
        let name = self.unused_name("value");
        for (case, at, body) in cases.into_iter().rev() {
            let Case::Constant(token) = case else {
                return outside(at, "a case that takes anything, before others, is", "put it last");
            };
            let constant = self.constant(&token, at);
            let matched = self.make(at, Kind::Name(name.clone()));
            let test = self.make(at, Kind::Compare(Comparison::Eq, Box::new(matched), Box::new(constant)));
            result = self.make(at, Kind::If(Box::new(test), Box::new(body), Box::new(result)));
        }
        // The pattern of the last case may stand for the value everywhere: the other cases do not know its names.
        let whole = Pattern::Name(name.clone(), value.span);
        let matched = self.make(value.span, Kind::Name(name));
        let statements = vec![Statement::Let(whole, value), Statement::Let(pattern, matched)];
        Ok(self.make(span, Kind::Block(statements, Box::new(result))))
    }

    fn constant(&mut self, token: &Token, span: Span) -> Expr {
        let kind = match token {
            Token::Integer(value) => Kind::Integer(*value),
            Token::Float(value) => Kind::Float(*value),
            Token::Text(text) => Kind::Text(text.clone()),
            Token::Name(name) => Kind::Bool(name == "true"),
            Token::Symbol(_) => Kind::Tuple(vec![]),
        };
        self.make(span, kind)
    }

    fn case(&mut self) -> Result<Case> {
        let next = self.peek().cloned();
        match next.map(|placed| placed.token) {
            Some(token @ (Token::Integer(_) | Token::Float(_) | Token::Text(_))) => {
                self.at += 1;
                Ok(Case::Constant(token))
            }
            Some(Token::Symbol("-")) => {
                self.at += 1;
                match self.next() {
                    Some(Placed { token: Token::Integer(value), .. }) => Ok(Case::Constant(Token::Integer(-value))),
                    Some(Placed { token: Token::Float(value), .. }) => Ok(Case::Constant(Token::Float(-value))),
                    _ => self.fail(self.before(), "expected a number after '-'"),
                }
            }
            Some(Token::Name(name)) if name == "true" || name == "false" => {
                self.at += 1;
                Ok(Case::Constant(Token::Name(name)))
            }
            Some(Token::Name(name)) if self.constructors.contains_key(&name) => {
                self.at += 1;
                self.constructor(name)
            }
            _ => {
                let start = self.here();
                let param = self.typed_pattern()?;
                match &param.pattern {
                    // A capital letter is a constructor with a mistake in it.
                    Pattern::Name(name, _) if name.starts_with(char::is_uppercase) => {
                        let hint = crate::error::similar(name, self.constructors.keys().map(String::as_str));
                        Err(crate::error::Mistake::Unknown { what: "constructor", name: name.clone(), hint }.at(start))
                    }
                    _ => Ok(Case::Any(param.pattern)),
                }
            }
        }
    }

    /// What a constructor binds: `Node (l, r)`, `Leaf word`, `Node l` for all of its fields is outside.
    fn constructor(&mut self, name: String) -> Result<Case> {
        let count = self.constructors.get(&name).copied().unwrap_or(0);
        let span = self.before();
        if !self.sees_param() {
            let patterns = vec![Pattern::Wildcard(span); count];
            return match count {
                0 => Ok(Case::Constructor(name, patterns)),
                _ => outside(span, format!("'{name}' without its fields is"), format!("write {name} _")),
            };
        }
        let param = self.param()?;
        let patterns = match param.pattern {
            Pattern::Tuple(parts, _) if count != 1 => parts,
            Pattern::Wildcard(at) => vec![Pattern::Wildcard(at); count],
            one => vec![one],
        };
        Ok(Case::Constructor(name, patterns))
    }
}
