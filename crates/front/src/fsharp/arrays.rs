//! Arrays, their elements and parts, and records.

use super::Parser;
use crate::error::{Result, outside};
use crate::tree::{Collect, Expr, Generator, Kind, Operator, Over, Pattern, Sequence, Subscript};
use labrys_compiler::Span;

impl Parser {
    /// `i, j ]` behind the bracket.
    pub(super) fn subscripts(&mut self, value: Expr) -> Result<Expr> {
        let mut subscripts = vec![];
        loop {
            subscripts.push(self.subscript()?);
            if !self.takes(",") {
                break;
            }
        }
        self.expect("]", "after an index")?;
        let span = value.span.to(self.before());
        Ok(self.make(span, Kind::Index(Box::new(value), subscripts)))
    }

    /// `i`, `a .. b` with both ends in it, `*`.
    fn subscript(&mut self) -> Result<Subscript> {
        if self.takes("*") {
            return Ok(Subscript::Slice(None, None));
        }
        if self.takes("..") {
            return Ok(Subscript::Slice(None, self.last()?));
        }
        let first = self.item()?;
        if !self.takes("..") {
            return Ok(Subscript::At(first));
        }
        Ok(Subscript::Slice(Some(first), self.last()?))
    }

    /// The place after the end of a range.
    fn last(&mut self) -> Result<Option<Expr>> {
        if self.sees("]") || self.sees(",") {
            return Ok(None);
        }
        let last = self.item()?;
        Ok(Some(self.after(last)))
    }

    /// One more than a number.
    fn after(&mut self, last: Expr) -> Expr {
        let span = last.span;
        // `n - 1` and one more is n.
        if let Kind::Binary(Operator::Sub, _, right) = &last.kind
            && matches!(right.kind, Kind::Integer(1))
            && let Kind::Binary(_, left, _) = last.kind
        {
            return *left;
        }
        let one = self.make(span, Kind::Integer(1));
        self.make(span, Kind::Binary(Operator::Add, Box::new(last), Box::new(one)))
    }

    /// `[| a; b |]`, `[| for x in v -> e |]`, `[| 0 .. n |]`
    pub(super) fn array(&mut self, close: &str, start: Span) -> Result<Expr> {
        if self.takes(close) {
            return Ok(self.make(start, Kind::Elements(Sequence::Array, vec![])));
        }
        if self.takes_word("for") {
            return self.comprehension(close, start);
        }
        let (elements, over) = self.block_at_next(|parser| parser.elements(close))?;
        self.expect(close, "to close this array")?;
        let span = start.to(self.before());
        let Some(over) = over else { return Ok(self.make(span, Kind::Elements(Sequence::Array, elements))) };
        let name = self.unused_name("i");
        let value = self.make(start, Kind::Name(name.clone()));
        let each = Generator { pattern: Pattern::Name(name, start), over, conditions: vec![] };
        let kind = Kind::Collect(Collect::Sequence(Sequence::Array), Box::new(value), vec![each]);
        Ok(self.make(span, kind))
    }

    /// Elements with `;` or lines between them, or a range.
    fn elements(&mut self, close: &str) -> Result<(Vec<Expr>, Option<Over>)> {
        let mut elements = vec![];
        loop {
            self.start = self.at;
            let element = self.expr()?;
            if elements.is_empty() && self.takes("..") {
                return Ok((elements, Some(self.range(element)?)));
            }
            elements.push(element);
            let has_more = self.takes(";") || self.starts_line_of_block();
            if !has_more || self.sees(close) {
                return Ok((elements, None));
            }
        }
    }

    /// The rest of a range, behind its dots; its end is in it.
    fn range(&mut self, first: Expr) -> Result<Over> {
        let last = self.item()?;
        if self.sees("..") {
            return outside(self.here(), "ranges with a step are", "multiply the index");
        }
        let end = self.after(last);
        let is_zero = matches!(first.kind, Kind::Integer(0));
        Ok(Over::Range((!is_zero).then_some(first), end))
    }

    /// `x in v -> e` behind `for`.
    fn comprehension(&mut self, close: &str, start: Span) -> Result<Expr> {
        let pattern = self.typed_pattern()?.pattern;
        self.expect_word("in", "after what the loop binds")?;
        let first = self.item()?;
        let over = if self.takes("..") { self.range(first)? } else { Over::Elements(first) };
        if !self.takes("->") {
            self.expect_word("do", "or '->' after what the loop goes over")?;
            self.takes_word("yield");
        }
        let value = self.block()?;
        self.expect(close, "to close this array")?;
        let each = Generator { pattern, over, conditions: vec![] };
        let kind = Kind::Collect(Collect::Sequence(Sequence::Array), Box::new(value), vec![each]);
        Ok(self.make(start.to(self.before()), kind))
    }

    /// `{ x = 1.0; y = 2.0 }` behind its bracket.
    pub(super) fn record(&mut self, start: Span) -> Result<Expr> {
        let mut fields = vec![];
        while !self.takes("}") {
            let (name, span) = self.identifier("a field, or '}'")?;
            if self.sees_word("with") || self.sees(".") {
                return outside(span, "a copy of a record with changes is", "name each field");
            }
            self.expect("=", "after the name of a field")?;
            let value = self.block()?;
            fields.push((name, span, value));
            self.takes(";");
        }
        Ok(self.make(start.to(self.before()), Kind::Record(fields)))
    }
}
