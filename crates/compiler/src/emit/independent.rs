//! Loops whose steps do not touch each other's elements, so that the C++ compiler may take several steps at once without asking
//! when the program runs whether tensors overlap. Tensors that are being made and accumulators overlap nothing that is read.

use super::function::Emitter;
use super::places::never_equal;
use crate::ir::{ExprId, Node, Prim, Type, TypeId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bodies above this size, in nodes, are not looked at.
const LARGEST: u32 = 256;

/// The body of a loop.
struct Search<'a, 'b> {
    emitter: &'a Emitter<'b>,
    index: VarId,
    /// The number of the field of the index that the innermost C++ loop counts, if the index is a tuple.
    field: Option<u32>,
    /// Variables that are not the same in all steps.
    moving: FxHashSet<VarId>,
    values: FxHashMap<VarId, ExprId>,
    /// Tensors that elements are added to, with the places in each.
    places: FxHashMap<ExprId, Vec<ExprId>>,
}

impl<'b> Emitter<'b> {
    /// Whether the steps of the innermost C++ loop over an index compute numbers from values, and add to elements of their own.
    pub(super) fn is_independent(&self, index: VarId, body: ExprId) -> bool {
        self.search(index, body).is_some()
    }

    /// As [`Emitter::is_independent`], and something is added to.
    pub(super) fn adds_independently(&self, index: VarId, body: ExprId) -> bool {
        self.search(index, body).is_some_and(|found| !found.places.is_empty())
    }

    fn search(&self, index: VarId, body: ExprId) -> Option<Search<'_, 'b>> {
        let store = &self.program.store;
        if store.size(body) > LARGEST {
            return None;
        }
        let rank = store.types.fields(store.var_type(index)).map(<[_]>::len);
        let mut search = Search {
            emitter: self,
            index,
            field: rank.map(|rank| rank as u32 - 1),
            moving: FxHashSet::from_iter([index]),
            values: FxHashMap::default(),
            places: FxHashMap::default(),
        };
        search.is_fine(body).then_some(search)
    }
}

impl Search<'_, '_> {
    fn is_fine(&mut self, expr: ExprId) -> bool {
        let emitter = self.emitter;
        let store = &emitter.program.store;
        match store.node(expr) {
            Node::Let(var, value, body) => {
                if self.moves(value) {
                    self.moving.insert(var);
                }
                self.values.insert(var, value);
                self.is_fine(value) && self.is_fine(body)
            }
            // An accumulator that is read.
            Node::Var(var) => !self.emitter.accumulators.contains(&var),
            Node::Lam(..) | Node::Call(..) | Node::Match(..) | Node::Construct(..) => false,
            Node::Prim(Prim::AddTo, args) => {
                let (place, value) = (store.list(args)[0], store.list(args)[1]);
                self.is_own_place(place) && self.is_fine(value)
            }
            Node::Prim(Prim::Index | Prim::Size | Prim::Eq | Prim::Ne, _) => self.all_fine(expr),
            Node::Prim(prim, _) if !prim.is_function() => false,
            _ => self.all_fine(expr),
        }
    }

    fn all_fine(&mut self, expr: ExprId) -> bool {
        self.emitter.program.store.children(expr).into_iter().all(|child| self.is_fine(child))
    }

    /// Whether a place to add to is a number that is a C++ variable, or an element that is another one in each step.
    fn is_own_place(&mut self, place: ExprId) -> bool {
        let emitter = self.emitter;
        let store = &emitter.program.store;
        if !matches!(store.types.get(store.ty(place)), Type::Float | Type::Integer) {
            return false;
        }
        let Node::Prim(Prim::Index, args) = store.node(place) else { return emitter.is_path(place) };
        if emitter.lent.contains_key(&place) {
            return true;
        }
        let (index, tensor) = (store.list(args)[0], store.list(args)[1]);
        let is_own = self.emitter.is_path(tensor) && self.is_fine(index) && self.is_another_each_time(index);
        let known = self.places.get(&tensor).map_or(&[][..], Vec::as_slice);
        if !is_own || !known.iter().all(|known| *known == place || self.is_apart(*known, place)) {
            return false;
        }
        self.places.entry(tensor).or_default().push(place);
        true
    }

    /// Whether two elements of a tensor are not the same whatever the steps, since parts of their indices that stay are different.
    fn is_apart(&self, a: ExprId, b: ExprId) -> bool {
        let store = &self.emitter.program.store;
        let parts = |place: ExprId| match store.node(store.children(place)[0]) {
            Node::Tuple(parts) => store.list(parts).to_vec(),
            _ => vec![],
        };
        let stays = |part: &ExprId| !self.moves(*part);
        parts(a)
            .iter()
            .zip(&parts(b))
            .any(|(a, b)| stays(a) && stays(b) && never_equal(store, &self.emitter.sums, *a, *b))
    }

    /// Whether an expression differs between steps.
    fn moves(&self, expr: ExprId) -> bool {
        let store = &self.emitter.program.store;
        match store.node(expr) {
            Node::Var(var) => self.moving.contains(&var),
            Node::Get(field, whole) if self.field.is_some() && self.is_index(whole) => Some(field) == self.field,
            _ => store.children(expr).into_iter().any(|child| self.moves(child)),
        }
    }

    fn is_index(&self, expr: ExprId) -> bool {
        self.emitter.program.store.node(expr) == Node::Var(self.index)
    }

    /// Whether an index never comes twice: one part of it counts the steps, the others stay.
    fn is_another_each_time(&self, index: ExprId) -> bool {
        let store = &self.emitter.program.store;
        if self.is_index(index) {
            return true;
        }
        let parts = match store.node(index) {
            Node::Tuple(parts) => store.list(parts).to_vec(),
            _ => vec![index],
        };
        let moving: Vec<ExprId> = parts.into_iter().filter(|part| self.moves(*part)).collect();
        matches!(moving[..], [one] if self.counts(one))
    }

    /// Whether an Integer is the counter of the loop, or a constant more, less, or minus it.
    fn counts(&self, expr: ExprId) -> bool {
        let store = &self.emitter.program.store;
        match store.node(expr) {
            Node::Var(var) if var == self.index => store.ty(expr) == TypeId::INTEGER,
            Node::Var(var) => self.values.get(&var).is_some_and(|value| self.counts(*value)),
            Node::Get(field, whole) => self.is_index(whole) && Some(field) == self.field,
            Node::Prim(Prim::Add | Prim::Sub, args) => {
                let (a, b) = (store.list(args)[0], store.list(args)[1]);
                match (self.moves(a), self.moves(b)) {
                    (true, false) => self.counts(a),
                    (false, true) => self.counts(b),
                    _ => false,
                }
            }
            _ => false,
        }
    }
}
