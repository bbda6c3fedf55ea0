//! The vocabulary of the network: what kind of step an expression is, and what kind of type it has.

use crate::cost::Weights;
use crate::ir::{Node, Prim, Store, Type, TypeId};
use std::sync::LazyLock;

/// Kinds of types: see [`type_kind`].
pub const TYPES: usize = 8;

/// A kind of node. Primitives follow, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
enum Kind {
    Other,
    Integer,
    Integer0,
    Integer1,
    Float,
    Float0,
    Float1,
    Bool,
    String,
    Var,
    Binder,
    Tuple,
    Get,
    Get1,
    Get2,
    Get3,
    Let,
    If,
    Assert,
    Lam,
    Call,
    Construct,
    Match,
    Function,
}

/// The name of each [`Kind`], as models keep it.
const NAMES: [&str; 24] = [
    "other",
    "integer",
    "integer 0",
    "integer 1",
    "float",
    "float 0",
    "float 1",
    "bool",
    "string",
    "var",
    "binder",
    "tuple",
    "get",
    "get 1",
    "get 2",
    "get 3",
    "let",
    "if",
    "assert",
    "lam",
    "call",
    "construct",
    "match",
    "function",
];

/// Whatever a model has no name for.
pub const OTHER: u16 = Kind::Other as u16;
/// A variable where it is bound.
pub const BINDER: u16 = Kind::Binder as u16;
/// A variable where it is mentioned.
pub const VAR: u16 = Kind::Var as u16;

/// Names of all kinds of this version of the program, in order. A model keeps its own, so that it serves later versions.
pub fn names() -> Vec<String> {
    let words = NAMES.iter().map(|&name| name.to_owned());
    words.chain(Prim::ALL.iter().map(|prim| format!("prim {}", prim.name()))).collect()
}

/// The kind of the outermost step of an expression.
pub fn node_kind(node: Node) -> u16 {
    let kind = match node {
        Node::Integer(0) => Kind::Integer0,
        Node::Integer(1) => Kind::Integer1,
        Node::Integer(_) => Kind::Integer,
        Node::Float(value) if value.get() == 0.0 => Kind::Float0,
        Node::Float(value) if value.get() == 1.0 => Kind::Float1,
        Node::Float(_) => Kind::Float,
        Node::Bool(_) => Kind::Bool,
        Node::String(_) => Kind::String,
        Node::Var(_) => Kind::Var,
        Node::Tuple(_) => Kind::Tuple,
        Node::Get(0, _) => Kind::Get1,
        Node::Get(1, _) => Kind::Get2,
        Node::Get(2, _) => Kind::Get3,
        Node::Get(..) => Kind::Get,
        Node::Let(..) => Kind::Let,
        Node::If(..) => Kind::If,
        Node::Assert(..) => Kind::Assert,
        Node::Lam(..) => Kind::Lam,
        Node::Call(..) => Kind::Call,
        Node::Prim(prim, _) if is_opaque(prim) => Kind::Function,
        // A sum is a sum, in lanes or not.
        Node::Prim(prim, _) if prim.lanes().is_some() => return NAMES.len() as u16 + Prim::Sumbuild as u16,
        Node::Prim(prim, _) => return NAMES.len() as u16 + prim as u16,
        Node::Construct(..) => Kind::Construct,
        Node::Match(..) => Kind::Match,
    };
    kind as u16
}

/// What a step of a kind costs by the table, roughly: loops count once.
pub fn work(kind: u16) -> f32 {
    static WORK: LazyLock<Vec<f32>> = LazyLock::new(|| {
        let weights = Weights::table();
        let of = |prim: &Prim| weights.prim(*prim) as f32;
        let mut work = vec![0.0; NAMES.len()];
        (work[Kind::Let as usize], work[Kind::Function as usize]) = (weights.bind as f32, of(&Prim::Sin));
        work.extend(Prim::ALL.iter().map(of));
        work
    });
    WORK.get(usize::from(kind)).copied().unwrap_or(0.0)
}

/// Whether no rule knows anything of a function, so that one is like the other: what was learned of one holds for those that training never saw.
fn is_opaque(prim: Prim) -> bool {
    use Prim::{Abs, Cos, Cosh, Erf, Lgamma, Sin, Sinh, Sqrt, Tanh};
    matches!(prim, Abs | Cos | Cosh | Erf | Lgamma | Sin | Sinh | Sqrt | Tanh)
}

/// The kind of a type, below [`TYPES`].
pub fn type_kind(store: &Store, ty: TypeId) -> u8 {
    match store.types.get(ty) {
        Type::Float => 0,
        Type::Integer => 1,
        Type::Bool => 2,
        Type::String | Type::Any => 3,
        Type::Tuple(_) => 4,
        Type::Tensor(..) => 5,
        Type::Lam(..) | Type::LinearMap(..) => 6,
        Type::Data(_) => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_dearer_than_sums() {
        let [sum, function] = [NAMES.len() as u16 + Prim::Add as u16, Kind::Function as u16].map(work);
        assert!(0.0 < sum && sum < function);
        assert_eq!(work(BINDER), 0.0);
    }

    #[test]
    fn every_kind_has_its_name() {
        let names = names();
        assert_eq!(NAMES[Kind::Match as usize], "match");
        assert_eq!(NAMES[BINDER as usize], "binder");
        assert_eq!(NAMES[Kind::Function as usize], "function");
        let mut store = Store::default();
        let (one, two) = (store.float(1.0), store.float(2.0));
        let sum = store.prim(Prim::Mul, &[one, two]);
        let sine = store.prim(Prim::Sin, &[two]);
        for (expr, name) in [(one, "float 1"), (two, "float"), (sum, "prim mul"), (sine, "function")] {
            assert_eq!(names[node_kind(store.node(expr)) as usize], name);
        }
        for (number, prim) in Prim::ALL.iter().enumerate() {
            assert_eq!(*prim as usize, number, "primitives are numbered in their order");
        }
    }
}
