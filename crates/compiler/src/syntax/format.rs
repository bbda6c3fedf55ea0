//! The one layout of programs: `labrys fmt`. Formatting what is formatted changes nothing, and no comment is lost.

use super::tree::{Kind, SexpId, Tree};
use crate::error::Error;
use crate::source::{FileId, Sources, Span};
use crate::stack;

/// Longest line, where the program allows it.
const WIDTH: usize = 100;
/// Deepest indentation: deeper ones would make deep programs grow with the square.
const DEEPEST: usize = 60;
/// Longest head of a call whose arguments are aligned behind it.
const LONGEST_HEAD: usize = 12;

/// Formats a file.
///
/// # Errors
/// If it cannot be read.
pub fn format(sources: &Sources, file: FileId) -> Result<String, Error> {
    let tree = super::parse(file, &sources.file(file).text)?;
    let text = &sources.file(file).text;
    let widths = flat_widths(&tree, text);
    let mut formatter = Formatter { tree: &tree, text, widths, out: String::new(), column: 0 };
    let items = formatter.items(&tree.roots, 0, text.len() as u32);
    formatter.top(&items);
    Ok(formatter.out)
}

/// Something on a line: a tree or a comment.
#[derive(Clone, Copy)]
struct Item {
    /// None for a comment.
    sexp: Option<SexpId>,
    span: Span,
    /// Whether a blank line stands before it.
    is_apart: bool,
    /// Whether it is a comment that stands behind something.
    is_trailing: bool,
}

struct Formatter<'a> {
    tree: &'a Tree,
    text: &'a str,
    /// Characters of each node on one line; None if it holds a comment, which forbids that.
    widths: Vec<Option<usize>>,
    out: String,
    column: usize,
}

fn flat_widths(tree: &Tree, text: &str) -> Vec<Option<usize>> {
    let mut widths: Vec<Option<usize>> = vec![];
    for id in tree.ids() {
        let sexp = tree.get(id);
        let width = match sexp.kind {
            Kind::List(..) if holds_comment(tree, sexp.span) => None,
            Kind::List(..) => {
                let parts = tree.parts(id).iter().map(|part| widths[tree.index(*part)]);
                parts.map(|part| part.map(|width| width + 1)).sum::<Option<usize>>().map(|sum| sum.max(1) + 1)
            }
            _ => Some(text[sexp.span.start as usize..sexp.span.end as usize].chars().count()),
        };
        widths.push(width);
    }
    widths
}

fn holds_comment(tree: &Tree, span: Span) -> bool {
    let next = tree.comments.partition_point(|comment| comment.span.start < span.start);
    tree.comments.get(next).is_some_and(|comment| comment.span.start < span.end)
}

impl Formatter<'_> {
    /// The trees and the comments between two offsets, in order.
    fn items(&self, sexps: &[SexpId], from: u32, to: u32) -> Vec<Item> {
        let mut items = vec![];
        let mut at = from;
        for (sexp, end) in sexps.iter().map(|sexp| (Some(*sexp), self.tree.get(*sexp).span.start)).chain([(None, to)]) {
            self.comments(&mut items, &mut at, end);
            if let Some(sexp) = sexp {
                let span = self.tree.get(sexp).span;
                items.push(Item { sexp: Some(sexp), span, is_apart: self.newlines(at, end) > 1, is_trailing: false });
                at = span.end;
            }
        }
        if let Some(first) = items.first_mut() {
            first.is_apart = false;
        }
        items
    }

    fn comments(&self, items: &mut Vec<Item>, at: &mut u32, end: u32) {
        let first = self.tree.comments.partition_point(|comment| comment.span.start < *at);
        for comment in self.tree.comments[first..].iter().take_while(|comment| comment.span.start < end) {
            let newlines = self.newlines(*at, comment.span.start);
            let is_trailing = newlines == 0 && *at > 0;
            items.push(Item { sexp: None, span: comment.span, is_apart: newlines > 1, is_trailing });
            *at = comment.span.end;
        }
    }

    fn newlines(&self, from: u32, to: u32) -> usize {
        self.text[from as usize..to as usize].matches('\n').count()
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        match text.rfind('\n') {
            Some(newline) => self.column = text[newline + 1..].chars().count(),
            None => self.column += text.chars().count(),
        }
    }

    fn source(&mut self, span: Span) {
        let text = &self.text[span.start as usize..span.end as usize];
        self.write(text.trim_end());
    }

    fn line(&mut self, indent: usize, is_apart: bool) {
        self.out.push_str(if is_apart { "\n\n" } else { "\n" });
        self.column = indent;
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn top(&mut self, items: &[Item]) {
        for (number, item) in items.iter().enumerate() {
            match (number, item.is_trailing) {
                (0, _) => {}
                (_, true) => self.write(" "),
                (_, false) => self.line(0, item.is_apart),
            }
            self.item(item, 0);
        }
        if !items.is_empty() {
            self.out.push('\n');
        }
    }

    fn item(&mut self, item: &Item, indent: usize) {
        match item.sexp {
            Some(sexp) => stack::grow(|| self.sexp(sexp, indent)),
            None => self.source(item.span),
        }
    }

    fn fits(&self, sexp: SexpId, closing: usize) -> bool {
        self.widths[self.tree.index(sexp)].is_some_and(|width| self.column + width + closing <= WIDTH)
    }

    fn sexp(&mut self, sexp: SexpId, indent: usize) {
        let node = self.tree.get(sexp);
        let Kind::List(bracket, ..) = node.kind else { return self.source(node.span) };
        if self.fits(sexp, 0) {
            return self.flat(sexp);
        }
        self.write(&bracket.open().to_string());
        let items = self.items(self.tree.parts(sexp), node.span.start + 1, node.span.end - 1);
        self.broken(sexp, &items, indent);
        self.write(&bracket.close().to_string());
    }

    fn flat(&mut self, sexp: SexpId) {
        let node = self.tree.get(sexp);
        let Kind::List(bracket, ..) = node.kind else { return self.source(node.span) };
        self.write(&bracket.open().to_string());
        for (number, part) in self.tree.parts(sexp).iter().enumerate() {
            if number > 0 {
                self.write(" ");
            }
            self.flat(*part);
        }
        self.write(&bracket.close().to_string());
    }

    /// The parts of a list over several lines; `indent` is the column of its bracket.
    fn broken(&mut self, list: SexpId, items: &[Item], indent: usize) {
        let hugs = self.hugs(items);
        let (kept, inner) = if hugs { (items.len(), indent + 2) } else { self.layout(list, items, indent) };
        let mut after_line_comment = false;
        for (number, item) in items.iter().enumerate() {
            let stays = number < kept && self.may_stay(items, number);
            match (number, stays || item.is_trailing) {
                (0, _) => {}
                (_, true) if !after_line_comment => self.write(" "),
                _ => {
                    let column = if self.is_chained(list, items, number) { indent } else { inner };
                    self.line(column.min(DEEPEST), item.is_apart);
                }
            }
            let column = if hugs { indent } else { self.column };
            self.item(item, column);
            after_line_comment = item.sexp.is_none() && self.text[item.span.start as usize..].starts_with(';');
        }
        if after_line_comment {
            self.line(inner.min(DEEPEST), false);
        }
    }

    /// Whether an item of the first line stays there: it has room, and no comment before it ends the line.
    fn may_stay(&self, items: &[Item], number: usize) -> bool {
        let no_comment = items[..=number].iter().all(|item| item.sexp.is_some());
        let is_last_of_all = number + 1 == items.len();
        no_comment && items[number].sexp.is_some_and(|sexp| number == 1 || is_last_of_all || self.fits(sexp, 0))
    }

    /// Whether this is a call whose last argument is a lambda, such as `(build n (lam (i : Integer) ...))`, that can stay on the line:
    /// its body then stands below the call.
    fn hugs(&self, items: &[Item]) -> bool {
        let Some((Item { sexp: Some(last), .. }, others)) = items.split_last() else { return false };
        let lam = self.tree.parts(*last);
        let widths: Option<usize> = others.iter().map(|item| Some(self.widths[self.tree.index(item.sexp?)]? + 1)).sum();
        let is_lam = matches!(lam, [head, _, _] if self.is_word(*head, "lam")) && others.len() > 1;
        let head = lam.get(1).and_then(|param| self.widths[self.tree.index(*param)]);
        is_lam && widths.zip(head).is_some_and(|(others, param)| self.column + others + "(lam ".len() + param <= WIDTH)
    }

    fn is_word(&self, sexp: SexpId, word: &str) -> bool {
        let span = self.tree.get(sexp).span;
        &self.text[span.start as usize..span.end as usize] == word
    }

    /// How many items stay on the first line, and the column of the others.
    fn layout(&self, list: SexpId, items: &[Item], indent: usize) -> (usize, usize) {
        let head = self.tree.parts(list).first().map(|head| self.tree.get(*head));
        let Some(head) = head.filter(|head| head.kind == Kind::Name && items[0].sexp.is_some()) else {
            return (1, indent + 1);
        };
        let name = &self.text[head.span.start as usize..head.span.end as usize];
        match name {
            "def" => (4, indent + 2),
            "rule" => (3, indent + 2),
            "let" | "lam" | "assert" | "match" | "edef" | "gdef" | "data" => (2, indent + 2),
            "if" => (2, indent + 4),
            _ if name.len() <= LONGEST_HEAD && !name.starts_with(':') => (2, indent + 2 + name.chars().count()),
            _ => (1, indent + 2),
        }
    }

    /// Whether this item is a let or assert below another: such chains do not indent.
    fn is_chained(&self, list: SexpId, items: &[Item], number: usize) -> bool {
        let chains = |sexp: SexpId| {
            let head = self.tree.parts(sexp).first();
            head.is_some_and(|head| self.is_word(*head, "let") || self.is_word(*head, "assert"))
        };
        chains(list) && number + 1 == items.len() && items[number].sexp.is_some_and(chains)
    }
}

#[cfg(test)]
mod tests {
    use super::format;
    use crate::source::Sources;

    fn formatted(text: &str) -> String {
        let sources = Sources::with("x.ks", text).unwrap();
        let file = sources.ids().last().unwrap();
        format(&sources, file).unwrap()
    }

    #[test]
    fn layout() {
        let text = "; first\n(def   f Float (x : Float) ; why\n (let (y (add x 1.0)) (let (z y)\n  (if (gt z 0.0) #| positive |# z\n\n(neg z)))))\n\n\n(gdef rev [f Float])\n(gdef fwd [f Float]) ; last";
        let once = formatted(text);
        insta::assert_snapshot!(once);
        assert_eq!(formatted(&once), once);
    }

    #[test]
    fn lambdas_at_the_end() {
        let body = "(mul (index i (index j some_matrix)) (index j some_vector))";
        let text = format!(
            "(def f (Vec (Vec Float)) (n : Integer) (build n (lam (i : Integer) (build n (lam (j : Integer) {body})))))"
        );
        let once = formatted(&text);
        insta::assert_snapshot!(once);
        assert_eq!(formatted(&once), once);
    }

    #[test]
    fn the_prelude_is_formatted() {
        assert_eq!(formatted(crate::PRELUDE), crate::PRELUDE);
    }
}
