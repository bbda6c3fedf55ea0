//! Expressions as terms of an e-graph: a label, which is a step without its parts, and the parts.

use crate::ir::{DataId, ExprId, FunId, Node, Prim, Program, Store, VarId};
use crate::rewrite::pattern::Head;
use egg::{Id, Language, RecExpr};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// A step without its parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    /// What has no parts.
    Leaf(Node),
    Tuple,
    Get(u32),
    Let(VarId),
    If,
    Assert,
    Lam(VarId),
    Call(FunId),
    Prim(Prim),
    Construct(DataId, u32),
    Match,
}

impl Kind {
    pub(super) fn of(node: Node) -> Self {
        match node {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => Self::Leaf(node),
            Node::Tuple(_) => Self::Tuple,
            Node::Get(field, _) => Self::Get(field),
            Node::Let(var, ..) => Self::Let(var),
            Node::If(..) => Self::If,
            Node::Assert(..) => Self::Assert,
            Node::Lam(var, _) => Self::Lam(var),
            Node::Call(fun, _) => Self::Call(fun),
            Node::Prim(prim, _) => Self::Prim(prim),
            Node::Construct(data, constructor, _) => Self::Construct(data, constructor),
            Node::Match(..) => Self::Match,
        }
    }

    /// The step of a pattern; none if it binds a variable.
    pub(super) fn of_head(head: Head) -> Option<Self> {
        Some(match head {
            Head::Tuple => Self::Tuple,
            Head::Get(field) => Self::Get(field),
            Head::If => Self::If,
            Head::Assert => Self::Assert,
            Head::Call(fun) => Self::Call(fun),
            Head::Prim(prim) => Self::Prim(prim),
            Head::Construct(data, constructor) => Self::Construct(data, constructor),
            Head::Let | Head::Lam | Head::Match => return None,
        })
    }

    /// The expression that is this step over parts.
    pub(super) fn make(self, store: &mut Store, parts: &[ExprId]) -> ExprId {
        match (self, parts) {
            (Self::Leaf(node), _) => store.make(node),
            (Self::Get(field), [whole]) => store.get(field, *whole),
            (Self::Let(var), [value, body]) => store.let_(var, *value, *body),
            (Self::If, [condition, then, otherwise]) => store.if_(*condition, *then, *otherwise),
            (Self::Assert, [condition, body]) => store.assert(*condition, *body),
            (Self::Lam(var), [body]) => store.lam(var, *body),
            (Self::Call(fun), [arg]) => store.call(fun, *arg),
            (Self::Prim(prim), _) => store.prim(prim, parts),
            (Self::Construct(data, constructor), [held]) => store.construct(data, constructor, *held),
            (Self::Match, [over, arms @ ..]) => store.match_(*over, arms),
            // A tuple; no other step has another number of parts than its own.
            _ => store.tuple(parts),
        }
    }
}

/// A label, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Label(u32);

/// The labels of an e-graph.
#[derive(Default)]
pub(super) struct Labels {
    kinds: IndexSet<Kind, FxBuildHasher>,
}

impl Labels {
    pub(super) fn label(&mut self, kind: Kind) -> Label {
        Label(self.kinds.insert_full(kind).0 as u32)
    }

    pub(super) fn kind(&self, label: Label) -> Kind {
        self.kinds[label.0 as usize]
    }
}

/// A label over classes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Term {
    pub(super) label: Label,
    pub(super) parts: Vec<Id>,
}

impl Language for Term {
    type Discriminant = (Label, usize);

    fn discriminant(&self) -> Self::Discriminant {
        (self.label, self.parts.len())
    }

    fn matches(&self, other: &Self) -> bool {
        self.discriminant() == other.discriminant()
    }

    fn children(&self) -> &[Id] {
        &self.parts
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.parts
    }
}

/// An expression as a list of terms.
pub(super) fn terms(program: &Program, labels: &mut Labels, root: ExprId) -> RecExpr<Term> {
    let mut list = RecExpr::default();
    let mut ids: FxHashMap<ExprId, Id> = FxHashMap::default();
    for part in program.store.post_order(root) {
        let parts = program.store.children(part).into_iter().map(|child| ids[&child]).collect();
        let label = labels.label(Kind::of(program.store.node(part)));
        ids.insert(part, list.add(Term { label, parts }));
    }
    list
}
