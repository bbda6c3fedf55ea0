//! Trees of parentheses, built without recursion.

use super::lex::{Bracket, Lexer, Token};
use crate::error::{Error, ErrorKind};
use crate::source::{FileId, Span};

/// A node of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SexpId(u32);

/// A constant, a name, or a list, with its place.
#[derive(Clone, Debug)]
pub struct Sexp {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a [`Sexp`] is.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Float(f64),
    /// A text.
    String(Box<str>),
    /// A name; its text is that of the span.
    Name,
    /// `( ... )` or `[ ... ]`; the parts are a range of the pool of the tree.
    List(Bracket, u32, u32),
}

/// A comment: it counts for formatting only.
#[derive(Clone, Copy, Debug)]
pub struct Comment {
    /// Where it stands.
    pub span: Span,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Sexp>,
    /// The parts of all lists.
    pool: Vec<SexpId>,
    /// The outermost trees, in order.
    pub roots: Vec<SexpId>,
    /// Comments, in order.
    pub comments: Vec<Comment>,
}

impl Tree {
    /// A node.
    pub fn get(&self, id: SexpId) -> &Sexp {
        &self.nodes[id.0 as usize]
    }

    /// The parts of a list; none of anything else.
    pub fn parts(&self, id: SexpId) -> &[SexpId] {
        match self.get(id).kind {
            Kind::List(_, start, end) => &self.pool[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Every node, parts before the whole.
    pub fn ids(&self) -> impl Iterator<Item = SexpId> + use<> {
        (0..self.nodes.len() as u32).map(SexpId)
    }

    /// Position of a node in [`Tree::ids`].
    pub fn index(&self, id: SexpId) -> usize {
        id.0 as usize
    }

    fn push(&mut self, span: Span, kind: Kind) -> SexpId {
        self.nodes.push(Sexp { span, kind });
        SexpId(self.nodes.len() as u32 - 1)
    }
}

/// Reads the text of a file.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse(file: FileId, text: &str) -> Result<Tree, Error> {
    let mut tree = Tree::default();
    let mut lexer = Lexer::new(file, text);
    // Brackets that are open, each with the number of finished trees before it.
    let mut open: Vec<(Bracket, Span, usize)> = vec![];
    let mut finished: Vec<SexpId> = vec![];
    while let Some((token, span)) = lexer.next_token()? {
        let kind = match token {
            Token::Comment => {
                tree.comments.push(Comment { span });
                continue;
            }
            Token::Open(bracket) => {
                open.push((bracket, span, finished.len()));
                continue;
            }
            Token::Close(bracket) => {
                let (opened, start, from) = matching(open.pop(), bracket, span)?;
                let pool = tree.pool.len() as u32;
                tree.pool.extend(finished.drain(from..));
                let list = Kind::List(opened, pool, tree.pool.len() as u32);
                finished.push(tree.push(start.to(span), list));
                continue;
            }
            Token::Integer(value) => Kind::Integer(value),
            Token::Float(value) => Kind::Float(value),
            Token::String(value) => Kind::String(value),
            Token::Name => Kind::Name,
        };
        finished.push(tree.push(span, kind));
    }
    if let Some((bracket, span, _)) = open.pop() {
        return Err(Error::new(span, ErrorKind::Unclosed(bracket.open())));
    }
    tree.roots = finished;
    Ok(tree)
}

fn matching(open: Option<(Bracket, Span, usize)>, close: Bracket, span: Span) -> Result<(Bracket, Span, usize), Error> {
    match open {
        None => Err(Error::new(span, ErrorKind::StrayClose(close.close()))),
        Some((bracket, start, _)) if bracket != close => {
            let kind = ErrorKind::WrongClose { expected: bracket.close(), found: close.close() };
            Err(Error::new(span, kind).with_label(start, "opened here"))
        }
        Some(open) => Ok(open),
    }
}
