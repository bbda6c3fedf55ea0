//! What is known of a node from the whole expression, beyond the few edges that messages come over: how dear it is, how often the same stands elsewhere,
//! bound or not, and how far above the place is that is around all of these.

use super::kinds;
use serde::{Deserialize, Serialize};

/// Classes of the cost of a subtree.
const WORK: u16 = 16;
/// Classes of how often the same is computed, bound and mentioned: four, three and three.
const SHARING: u16 = 36;
/// Classes of the distance to the innermost place around all that is equal.
const CLIMB: u16 = 8;
/// Rows of the embedding of marks: those of each class, one after another.
pub const ROWS: usize = (WORK + SHARING + CLIMB) as usize;

/// Equal nodes of an expression, with what binds and mentions them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The node that was added last.
    pub(super) last: u32,
    /// The innermost node around all of them.
    pub(super) home: u32,
    computed: u16,
    bound: u16,
    mentioned: u16,
}

impl Group {
    /// A group of one node.
    pub(super) fn new(kind: u16, at: u32) -> Self {
        Self { last: at, home: at, computed: 0, bound: 0, mentioned: 0 }.counting(kind)
    }

    /// With one more node, in a new home.
    pub(super) fn with(self, kind: u16, at: u32, home: u32) -> Self {
        Self { last: at, home, ..self }.counting(kind)
    }

    fn counting(mut self, kind: u16) -> Self {
        match kind {
            kinds::BINDER => self.bound += 1,
            kinds::VAR => self.mentioned += 1,
            _ => self.computed += 1,
        }
        self
    }
}

/// The classes of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Marks {
    work: u16,
    sharing: u16,
    climb: u16,
}

impl Marks {
    /// Of a node of so much work, so many edges below the home of its group.
    pub(super) fn new(work: f32, group: &Group, climb: u32) -> Self {
        // Two classes for each doubling: 1, 2, 4 and 8 are apart.
        let work = (2.0 * (work.max(0.0) + 1.0).log2()).round().min(f32::from(WORK - 1)) as u16;
        if group.computed == 0 {
            // Variables that nothing is bound to: that they are equal does not matter.
            return Self { work, sharing: 0, climb: 0 };
        }
        let sharing = group.computed.min(3) + 4 * group.bound.min(2) + 12 * group.mentioned.min(2);
        Self { work, sharing, climb: climb.min(u32::from(CLIMB) - 1) as u16 }
    }

    /// As one number.
    pub fn code(self) -> u16 {
        self.work + WORK * (self.sharing + SHARING * self.climb)
    }

    /// From such a number, if it is one.
    pub fn from_code(code: u16) -> Option<Self> {
        let (work, rest) = (code % WORK, code / WORK);
        let (sharing, climb) = (rest % SHARING, rest / SHARING);
        (climb < CLIMB).then_some(Self { work, sharing, climb })
    }

    /// Its rows of the embedding.
    pub fn rows(self) -> [u32; 3] {
        [self.work, WORK + self.sharing, WORK + SHARING + self.climb].map(u32::from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::ExprGraph;
    use super::*;
    use crate::ir::{Prim, Store, TypeId};

    #[test]
    fn codes_come_back() {
        let codes = 0..WORK * SHARING * CLIMB;
        assert!(codes.clone().all(|code| Marks::from_code(code).is_some_and(|marks| marks.code() == code)));
        assert!(codes.clone().flat_map(|code| Marks::from_code(code).unwrap().rows()).all(|row| (row as usize) < ROWS));
        assert_eq!(Marks::from_code(codes.end), None);
    }

    /// `(mul (exp a) (let (x (exp a)) (add x a)))`
    #[test]
    fn a_value_knows_of_its_equals_and_of_the_place_around_them() {
        let mut store = Store::default();
        let a = store.fresh("a", TypeId::FLOAT);
        let a = store.var(a);
        let exp = store.prim(Prim::Exp, &[a]);
        let x = store.fresh("x", TypeId::FLOAT);
        let use_x = store.var(x);
        let sum = store.prim(Prim::Add, &[use_x, a]);
        let bound = store.let_(x, exp, sum);
        let expr = store.prim(Prim::Mul, &[exp, bound]);
        let graph = ExprGraph::new(&store, expr).unwrap();
        let marks: Vec<Marks> = graph.marks.iter().map(|code| Marks::from_code(*code).unwrap()).collect();
        // mul, exp, a, let, exp, a, binder, add, x, a
        let sharing = 2 + 4 + 12;
        assert_eq!(marks[1], Marks { work: 5, sharing, climb: 1 });
        assert_eq!(marks[4], Marks { work: 5, sharing, climb: 2 });
        assert_eq!((marks[6].sharing, marks[6].climb, marks[8].climb), (sharing, 2, 3));
        assert_eq!(marks[2], Marks { work: 0, sharing: 0, climb: 0 });
        assert_eq!((marks[0].sharing, marks[0].climb), (1, 0));
    }
}
