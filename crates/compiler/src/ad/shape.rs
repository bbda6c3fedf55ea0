//! Shapes of results, without the results where that is possible.

use crate::ir::{Derivation, ExprId, Node, Prim, Program, Store, Type, VarId};
use crate::stack;
use rustc_hash::FxHashMap;

/// The body of `[shape f]`, over the same parameter as f. What only the values need is left out.
pub(super) fn derive(program: &mut Program, body: ExprId) -> ExprId {
    Shapes { program, done: FxHashMap::default() }.shape(body)
}

struct Shapes<'a> {
    program: &'a mut Program,
    done: FxHashMap<ExprId, ExprId>,
}

impl Shapes<'_> {
    fn shape(&mut self, expr: ExprId) -> ExprId {
        if let Some(done) = self.done.get(&expr) {
            return *done;
        }
        let made = stack::grow(|| self.shape_here(expr));
        self.done.insert(expr, made);
        made
    }

    fn store(&mut self) -> &mut Store {
        &mut self.program.store
    }

    fn shape_here(&mut self, expr: ExprId) -> ExprId {
        let store = self.store();
        let ty = store.ty(expr);
        let is_trivial = store.types.has_trivial_shape(ty);
        match store.node(expr) {
            Node::Let(var, value, body) => {
                let body = self.shape(body);
                self.bound(var, value, body)
            }
            Node::Assert(condition, body) => {
                let body = self.shape(body);
                self.store().assert(condition, body)
            }
            _ if is_trivial => store.tuple(&[]),
            Node::Tuple(fields) => {
                let fields = store.list(fields).to_vec();
                let fields: Vec<ExprId> = fields.into_iter().map(|field| self.shape(field)).collect();
                self.store().tuple(&fields)
            }
            Node::If(condition, then, otherwise) => {
                let (then, otherwise) = (self.shape(then), self.shape(otherwise));
                if then == otherwise { then } else { self.store().if_(condition, then, otherwise) }
            }
            Node::Prim(prim, args) => {
                let args = store.list(args).to_vec();
                self.prim(prim, &args, expr)
            }
            Node::Call(fun, arg) => {
                let shape = store.derived(Derivation::Shape, fun);
                match self.program.own_def(shape).copied() {
                    Some(_) => self.store().call(shape, arg),
                    None => self.store().prim(Prim::Shape, &[expr]),
                }
            }
            _ => store.prim(Prim::Shape, &[expr]),
        }
    }

    fn prim(&mut self, prim: Prim, args: &[ExprId], expr: ExprId) -> ExprId {
        let store = self.store();
        let Type::Tensor(_, element) = store.types.get(store.ty(expr)) else {
            return store.prim(Prim::Shape, &[expr]);
        };
        let is_flat = store.types.has_trivial_shape(element);
        match (prim, args) {
            (Prim::Build | Prim::ConstVec | Prim::DeltaVec, [size, ..]) if is_flat => *size,
            (Prim::Map, [_, over]) if is_flat => store.prim(Prim::Size, &[*over]),
            (Prim::VecInit, all) if is_flat => store.integer(all.len() as i64),
            (Prim::Build, &[size, lam]) => {
                let Node::Lam(var, body) = store.node(lam) else { return lam };
                let body = self.shape(body);
                let lam = self.store().lam(var, body);
                self.store().prim(Prim::Build, &[size, lam])
            }
            _ => store.prim(Prim::Shape, &[expr]),
        }
    }

    fn bound(&mut self, var: VarId, value: ExprId, body: ExprId) -> ExprId {
        let live = super::purity::Parts::default().live(self.program, &[(var, value)], body);
        self.store().lets(&live, body)
    }
}
