//! Expressions, by precedence.

use super::Parser;
use super::declare::Bound;
use super::layout::is_keyword;
use super::lex::{Placed, Token};
use crate::builtin::Builtin;
use crate::error::{Result, outside};
use crate::stack;
use crate::tree::{Call, Comparison, Expr, Kind, Logic, Operator, Param, Pattern, Statement};
use labrys_compiler::Span;

/// A function and the arguments that stand behind it, not yet put together: a pipe may add one more.
pub(super) struct Application {
    pub(super) head: Expr,
    pub(super) args: Vec<Expr>,
}

/// Operators of one precedence that associate to the left.
const SUMS: [(&str, Operator); 2] = [("+", Operator::Add), ("-", Operator::Sub)];
const PRODUCTS: [(&str, Operator); 5] = [
    ("*", Operator::Mul),
    ("/", Operator::Div),
    ("%", Operator::Mod),
    (".*", Operator::PointMul),
    ("./", Operator::PointDiv),
];
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::Lte),
    (">=", Comparison::Gte),
    ("<>", Comparison::Ne),
    ("<", Comparison::Lt),
    (">", Comparison::Gt),
    ("=", Comparison::Eq),
];

impl Parser {
    /// Bindings and effects, one line below the other, then a value.
    pub(super) fn block(&mut self) -> Result<Expr> {
        self.block_at_next(Self::lines)
    }

    fn lines(&mut self) -> Result<Expr> {
        let mut statements = vec![];
        loop {
            self.start = self.at;
            let start = self.here();
            if self.sees_word("let") {
                self.at += 1;
                let statement = self.local()?;
                statements.push(statement);
                let is_done = !self.takes_word("in") && !self.starts_line_of_block();
                if is_done && !self.peek().is_some_and(|placed| placed.is_first) {
                    return self.fail(start, "expected an expression below this, which is the value of the block");
                }
                if !self.starts_line_of_block() {
                    // `let x = e in b`
                    let result = stack::grow(|| self.lines())?;
                    return Ok(self.in_block(statements, result));
                }
                continue;
            }
            if self.takes_word("do") {
                let effect = self.expr()?;
                statements.push(Statement::Effect(effect));
            } else {
                let value = self.expr()?;
                if self.sees("<-") {
                    return outside(self.here(), "changing variables is", "bind a new name, or write a fold");
                }
                if !self.starts_line_of_block() && !self.sees(";") {
                    return Ok(self.in_block(statements, value));
                }
                self.takes(";");
                statements.push(Statement::Effect(value));
            }
            if !self.starts_line_of_block() && self.peek().is_none() {
                let unit = self.make(start, Kind::Tuple(vec![]));
                return Ok(self.in_block(statements, unit));
            }
        }
    }

    fn in_block(&mut self, statements: Vec<Statement>, result: Expr) -> Expr {
        if statements.is_empty() {
            return result;
        }
        let span = result.span;
        self.make(span, Kind::Block(statements, Box::new(result)))
    }

    fn local(&mut self) -> Result<Statement> {
        Ok(match self.binding(false, vec![])? {
            Bound::Function(function) => Statement::Function(function),
            Bound::Parts(pattern, value) => Statement::Let(pattern, value),
        })
    }

    /// An expression, or several with commas between them: a tuple.
    pub(super) fn expr(&mut self) -> Result<Expr> {
        let first = stack::grow(|| self.item())?;
        if !self.sees(",") {
            return Ok(first);
        }
        let start = first.span;
        let mut parts = vec![first];
        while self.takes(",") {
            parts.push(stack::grow(|| self.item())?);
        }
        Ok(self.make(start.to(self.before()), Kind::Tuple(parts)))
    }

    /// An expression without commas.
    pub(super) fn item(&mut self) -> Result<Expr> {
        let start = self.here();
        let Some(Placed { token: Token::Name(word), .. }) = self.peek().cloned() else { return self.any_of() };
        match word.as_str() {
            "if" => {
                self.at += 1;
                self.conditional(start)
            }
            "match" => {
                self.at += 1;
                self.matched(start)
            }
            "fun" => {
                self.at += 1;
                self.lambda(start)
            }
            "function" => {
                self.at += 1;
                let name = self.unused_name("it");
                let value = self.make(start, Kind::Name(name.clone()));
                let body = self.cases(value, start)?;
                let param = Param { pattern: Pattern::Name(name, start), ty: None };
                Ok(self.make(start, Kind::Lambda(vec![param], Box::new(body))))
            }
            "let" => self.lines(),
            "while" | "for" => {
                outside(start, "loops are", "write Array.fold, Array.init or a function that calls itself")
            }
            "try" => outside(start, "exceptions are", ""),
            "assert" => {
                self.at += 1;
                let condition = self.any_of()?;
                let unit = self.make(start, Kind::Tuple(vec![]));
                Ok(self.make(start, Kind::Assert(Box::new(condition), Box::new(unit))))
            }
            _ => self.any_of(),
        }
    }

    /// `if` behind its word.
    fn conditional(&mut self, start: Span) -> Result<Expr> {
        let condition = self.expr()?;
        self.expect_word("then", "after the condition")?;
        let then = self.block()?;
        let here = self.here();
        let otherwise = if self.takes_word("elif") {
            stack::grow(|| self.conditional(here))?
        } else if self.takes_word("else") {
            match self.sees_word("if") {
                true => stack::grow(|| self.item())?,
                false => self.block()?,
            }
        } else {
            self.make(start, Kind::Tuple(vec![]))
        };
        let span = start.to(self.before());
        Ok(self.make(span, Kind::If(Box::new(condition), Box::new(then), Box::new(otherwise))))
    }

    /// `fun` behind its word.
    fn lambda(&mut self, start: Span) -> Result<Expr> {
        let mut params = vec![];
        while self.sees_param() {
            params.push(self.param()?);
        }
        if params.is_empty() {
            return self.fail(self.here(), "expected a parameter after 'fun'");
        }
        self.expect("->", "after the parameters of a function")?;
        let body = self.block()?;
        Ok(self.make(start.to(self.before()), Kind::Lambda(params, Box::new(body))))
    }

    fn any_of(&mut self) -> Result<Expr> {
        let mut parts = vec![self.all_of()?];
        while self.takes("||") {
            parts.push(self.all_of()?);
        }
        self.logic(Logic::Or, parts)
    }

    fn all_of(&mut self) -> Result<Expr> {
        let mut parts = vec![self.compared()?];
        while self.takes("&&") {
            parts.push(self.compared()?);
        }
        self.logic(Logic::And, parts)
    }

    fn logic(&mut self, logic: Logic, mut parts: Vec<Expr>) -> Result<Expr> {
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        let span = parts[0].span.to(self.before());
        Ok(self.make(span, Kind::Logic(logic, parts)))
    }

    /// Comparisons and pipes.
    fn compared(&mut self) -> Result<Expr> {
        let mut left = self.sum()?;
        loop {
            if self.takes("|>") {
                left = self.piped(left)?;
                continue;
            }
            if self.sees("<|") || self.sees(">>") || self.sees("<<") || self.sees("::") {
                let hint = "calls are written f x, and functions without a name fun x -> e";
                return outside(self.here(), "this operator is, here,", hint);
            }
            let Some((_, comparison)) = COMPARISONS.iter().find(|(symbol, _)| self.sees(symbol)) else {
                return Ok(left);
            };
            self.at += 1;
            let right = self.sum()?;
            let span = left.span.to(right.span);
            left = self.make(span, Kind::Compare(*comparison, Box::new(left), Box::new(right)));
        }
    }

    /// `x |> f a` is `f a x`.
    fn piped(&mut self, value: Expr) -> Result<Expr> {
        let mut application = match self.sees_word("fun") {
            true => Application { head: self.item()?, args: vec![] },
            false => self.application()?,
        };
        application.args.push(value);
        self.applied(application)
    }

    fn sum(&mut self) -> Result<Expr> {
        self.left_to_right(&SUMS, Self::product)
    }

    fn product(&mut self) -> Result<Expr> {
        self.left_to_right(&PRODUCTS, Self::power)
    }

    fn left_to_right(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<Expr>,
    ) -> Result<Expr> {
        let mut left = operand(self)?;
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.sees(symbol)) {
            self.at += 1;
            let right = operand(self)?;
            let span = left.span.to(right.span);
            left = self.make(span, Kind::Binary(*operator, Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn power(&mut self) -> Result<Expr> {
        let base = self.signed()?;
        if !self.takes("**") {
            return Ok(base);
        }
        let exponent = stack::grow(|| self.power())?;
        let span = base.span.to(exponent.span);
        Ok(self.make(span, Kind::Binary(Operator::Pow, Box::new(base), Box::new(exponent))))
    }

    fn signed(&mut self) -> Result<Expr> {
        let start = self.here();
        if self.takes("+") {
            return stack::grow(|| self.signed());
        }
        if !self.takes("-") {
            // The right side of an operator may be a function or a choice.
            if ["if", "match", "fun"].iter().any(|word| self.sees_word(word)) {
                return stack::grow(|| self.item());
            }
            let application = self.application()?;
            return self.applied(application);
        }
        let value = stack::grow(|| self.signed())?;
        let span = start.to(value.span);
        Ok(self.builtin(Builtin::Neg, "-", vec![value], span))
    }

    /// A call of a built-in function.
    pub(super) fn builtin(&mut self, builtin: Builtin, name: &str, args: Vec<Expr>, span: Span) -> Expr {
        let call = Call { name: name.to_owned(), at: span, builtin: Some(builtin), args, named: vec![] };
        self.make(span, Kind::Call(call))
    }

    /// `f x y`
    fn application(&mut self) -> Result<Application> {
        let head = self.postfix()?;
        let mut args = vec![];
        if !matches!(head.kind, Kind::Name(_) | Kind::Lambda(..)) {
            return Ok(Application { head, args });
        }
        while self.sees_argument() {
            let start = self.here();
            let is_negative = self.takes("-");
            let arg = self.postfix()?;
            let span = start.to(arg.span);
            args.push(if is_negative { self.builtin(Builtin::Neg, "-", vec![arg], span) } else { arg });
        }
        Ok(Application { head, args })
    }

    /// Whether an argument of a call can start here; `f -x` is a call, `f - x` and `f-x` are differences.
    fn sees_argument(&self) -> bool {
        let Some(placed) = self.peek() else { return false };
        match &placed.token {
            Token::Name(name) => !is_keyword(name) || name == "true" || name == "false",
            Token::Symbol("-") => {
                let next = self.tokens.get(self.at + 1);
                !placed.is_first && !placed.is_adjacent && next.is_some_and(|next| next.is_adjacent)
            }
            Token::Symbol(symbol) => ["(", "[", "[|", "{"].contains(symbol),
            _ => true,
        }
    }

    /// An atom with what hangs on it: `.field`, `.[i]`, `[i]`, `(x)`.
    fn postfix(&mut self) -> Result<Expr> {
        let mut value = self.atom()?;
        while let Some(placed) = self.peek().cloned() {
            let span = value.span;
            match placed.token {
                Token::Symbol(".[") => {
                    self.at += 1;
                    value = self.subscripts(value)?;
                }
                Token::Symbol("[") if placed.is_adjacent => {
                    self.at += 1;
                    value = self.subscripts(value)?;
                }
                Token::Symbol("(") if placed.is_adjacent && matches!(value.kind, Kind::Name(_)) => {
                    let arg = self.atom()?;
                    value = self.applied(Application { head: value, args: vec![arg] })?;
                }
                Token::Symbol(".") if placed.is_adjacent => {
                    self.at += 1;
                    let (name, at) = self.identifier("a field or a function after '.'")?;
                    value = self.member(value, name, span.to(at))?;
                }
                _ => break,
            }
        }
        Ok(value)
    }

    /// `value.name`: a function of a module, a property, a method, or a field.
    fn member(&mut self, value: Expr, name: String, span: Span) -> Result<Expr> {
        if let Kind::Name(module) = &value.kind
            && super::apply::is_module(module)
        {
            return Ok(self.make(span, Kind::Name(format!("{module}.{name}"))));
        }
        if let Some(builtin) = super::apply::property(&name) {
            let takes_unit = self.sees("(")
                && matches!(self.tokens.get(self.at + 1), Some(Placed { token: Token::Symbol(")"), .. }));
            if takes_unit {
                self.at += 2;
            }
            return Ok(self.builtin(builtin, &name, vec![value], span));
        }
        Ok(self.make(span, Kind::Field(Box::new(value), name)))
    }

    fn atom(&mut self) -> Result<Expr> {
        let Some(Placed { token, span, .. }) = self.next() else {
            return self.fail(self.before(), "expected an expression after this");
        };
        let kind = match token {
            Token::Integer(value) => Kind::Integer(value),
            Token::Float(value) => Kind::Float(value),
            Token::Text(text) => Kind::Text(text),
            Token::Name(name) if name == "true" || name == "false" => Kind::Bool(name == "true"),
            Token::Name(name) if is_keyword(&name) => {
                self.at -= 1;
                return match name.as_str() {
                    "for" | "while" => outside(span, "loops are", "write Array.fold or Array.init"),
                    _ => self.fail(span, format!("expected an expression, found '{name}'")),
                };
            }
            Token::Name(name) => Kind::Name(name),
            Token::Symbol("(") => return self.parenthesised(span),
            Token::Symbol("[|") => return self.array("|]", span),
            Token::Symbol("[") => return self.array("]", span),
            Token::Symbol("{") => return self.record(span),
            Token::Symbol(symbol) => {
                self.at -= 1;
                return self.fail(span, format!("expected an expression, found '{symbol}'"));
            }
        };
        Ok(self.make(span, kind))
    }

    fn parenthesised(&mut self, start: Span) -> Result<Expr> {
        if self.takes(")") {
            return Ok(self.make(start.to(self.before()), Kind::Tuple(vec![])));
        }
        if let Some(function) = self.section(start) {
            return Ok(function);
        }
        // What is in brackets may go on further to the left than it starts.
        let mut value = if self.sees_word("let") { self.block()? } else { self.expr()? };
        if self.takes(":") {
            let ty = self.ty()?;
            value = self.make(value.span, Kind::Ascribed(Box::new(value), ty));
        }
        if self.sees("->") {
            return outside(self.here(), "a function without its word is", "write fun: (fun w -> loss w)");
        }
        self.expect(")", "to close this bracket")?;
        Ok(value)
    }

    /// `(+)`: a function of two.
    fn section(&mut self, start: Span) -> Option<Expr> {
        let Token::Symbol(symbol) = self.peek()?.token else { return None };
        let is_closed = matches!(self.tokens.get(self.at + 1)?.token, Token::Symbol(")"));
        let (_, operator) = SUMS.iter().chain(&PRODUCTS).find(|(known, _)| *known == symbol && is_closed)?;
        self.at += 2;
        let (x, y) = (self.unused_name("x"), self.unused_name("y"));
        let (left, right) = (self.make(start, Kind::Name(x.clone())), self.make(start, Kind::Name(y.clone())));
        let body = self.make(start, Kind::Binary(*operator, Box::new(left), Box::new(right)));
        let params = [x, y].map(|name| Param { pattern: Pattern::Name(name, start), ty: None });
        Some(self.make(start, Kind::Lambda(params.into(), Box::new(body))))
    }
}
