//! The cost table: every tensor has the same size, and an expression costs what its steps do.

use super::{Cost, Weights, declared_cost, elements};
use crate::ir::{Body, Def, ExprId, FunId, Node, Prim, Program, Type, TypeId};
use crate::stack;
use rustc_hash::FxHashMap;

/// Elements that a tensor is assumed to have in each dimension.
pub const SIZE: f64 = 16.0;

/// The model. Costs are kept by expression, so that a state of a search costs what is new in it.
#[derive(Clone, Debug)]
pub struct Table {
    weights: Weights,
    size: f64,
    /// By expression; NaN where it is not known.
    known: Vec<f64>,
    /// By function, none while it is being found out: a call by itself costs what a call does.
    functions: FxHashMap<FunId, Option<f64>>,
}

impl Default for Table {
    fn default() -> Self {
        Self::new(Weights::table(), SIZE)
    }
}

impl Cost for Table {
    fn cost(&mut self, program: &mut Program, expr: ExprId) -> f64 {
        self.known.resize(program.store.len(), f64::NAN);
        self.of(program, expr)
    }

    /// Functions may have changed since.
    fn enter(&mut self, _: &mut Program, _: &Def) {
        self.known.clear();
        self.functions.clear();
    }
}

impl Table {
    /// A model by other weights, or another size.
    pub fn new(weights: Weights, size: f64) -> Self {
        Self { weights, size, known: vec![], functions: FxHashMap::default() }
    }

    fn of(&mut self, program: &Program, expr: ExprId) -> f64 {
        let known = self.known[expr.index()];
        if !known.is_nan() {
            return known;
        }
        let cost = stack::grow(|| self.step(program, expr));
        self.known[expr.index()] = cost;
        cost
    }

    fn sum(&mut self, program: &Program, exprs: &[ExprId]) -> f64 {
        exprs.iter().map(|expr| self.of(program, *expr)).sum()
    }

    fn step(&mut self, program: &Program, expr: ExprId) -> f64 {
        let store = &program.store;
        match store.node(expr) {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => 0.0,
            Node::Get(_, whole) => self.of(program, whole),
            Node::Lam(_, body) => self.of(program, body),
            Node::Tuple(fields) => {
                let fields = store.list(fields);
                self.weights.field * fields.len() as f64 + self.sum(program, fields)
            }
            Node::Construct(_, _, held) => self.weights.field + self.of(program, held),
            Node::Let(_, value, body) => self.weights.bind + self.of(program, value) + self.of(program, body),
            Node::Assert(condition, body) => self.weights.assert + self.of(program, condition) + self.of(program, body),
            Node::If(condition, then, otherwise) => {
                let arms = [self.of(program, then), self.of(program, otherwise)];
                self.weights.choice(&arms) + self.of(program, condition)
            }
            Node::Match(over, arms) => {
                let arms: Vec<f64> = store.list(arms).iter().map(|arm| self.of(program, *arm)).collect();
                self.weights.choice(&arms) + self.of(program, over)
            }
            Node::Call(fun, arg) => self.call(program, fun) + self.arguments(program, arg),
            Node::Prim(prim, args) => self.prim(program, expr, prim, store.list(args)),
        }
    }

    /// Several arguments are a tuple that is never made.
    fn arguments(&mut self, program: &Program, arg: ExprId) -> f64 {
        match program.store.node(arg) {
            Node::Tuple(fields) => self.sum(program, program.store.list(fields)),
            _ => self.of(program, arg),
        }
    }

    /// A call without its arguments.
    fn call(&mut self, program: &Program, fun: FunId) -> f64 {
        if let Some(known) = self.functions.get(&fun) {
            return known.unwrap_or(self.weights.call);
        }
        self.functions.insert(fun, None);
        let cost = match program.def(fun).map(|def| def.body) {
            Some(Body::Expr(_, body)) => self.weights.call + self.of(program, body),
            Some(Body::LinearMap { .. }) => self.weights.call,
            _ => declared_cost(program, fun)
                .and_then(|def| self.declared(program, &def.body))
                .unwrap_or(self.weights.external),
        };
        self.functions.insert(fun, Some(cost));
        cost
    }

    /// The value of `cost$f`, where every size is the assumed one.
    fn declared(&self, program: &Program, body: &Body) -> Option<f64> {
        let Body::Expr(_, body) = body else { return None };
        self.number(program, *body).filter(|cost| cost.is_finite() && *cost >= 0.0)
    }

    fn number(&self, program: &Program, expr: ExprId) -> Option<f64> {
        let store = &program.store;
        match store.node(expr) {
            Node::Float(value) => Some(value.get()),
            Node::Integer(value) => Some(value as f64),
            Node::Let(_, _, body) => self.number(program, body),
            Node::Get(_, whole) if matches!(store.node(whole), Node::Prim(Prim::Size, _)) => Some(self.size),
            Node::Prim(prim, args) => {
                if prim == Prim::Size {
                    return Some(self.size);
                }
                let args: Option<Vec<f64>> = store.list(args).iter().map(|arg| self.number(program, *arg)).collect();
                match (prim, &args?[..]) {
                    (Prim::Add, [a, b]) => Some(a + b),
                    (Prim::Sub, [a, b]) => Some(a - b),
                    (Prim::Mul, [a, b]) => Some(a * b),
                    (Prim::Div, [a, b]) => Some(a / b),
                    (Prim::ToFloat, [a]) => Some(*a),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn elements(&self, program: &Program, ty: TypeId) -> f64 {
        elements(&program.store.types, ty, self.size)
    }

    /// How often a loop over indices of the type of `size`, or over the elements of a tensor, goes round.
    fn rounds(&self, program: &Program, over: ExprId) -> f64 {
        let types = &program.store.types;
        let rank = match types.get(program.store.ty(over)) {
            Type::Tensor(rank, _) => rank,
            _ => types.rank_of_index(program.store.ty(over)).unwrap_or(1),
        };
        self.size.powi(rank as i32)
    }

    fn prim(&mut self, program: &Program, expr: ExprId, prim: Prim, args: &[ExprId]) -> f64 {
        let (loops, inputs): (Vec<ExprId>, Vec<ExprId>) = args.iter().partition(|arg| program.is_lam(**arg));
        let inputs = self.sum(program, &inputs);
        let body = self.sum(program, &loops);
        let out = self.elements(program, program.store.ty(expr));
        let last = args.last().copied().unwrap_or(expr);
        let weights = &self.weights;
        let step = match prim {
            _ if prim.is_function() => weights.prim(prim),
            Prim::Build | Prim::Diag => weights.made(out) + weights.rounds(self.rounds(program, args[0]), body),
            Prim::Map | Prim::Map2 => weights.made(out) + weights.rounds(self.rounds(program, args[1]), body),
            Prim::Sumbuild => {
                let rounds = self.rounds(program, args[0]);
                weights.rounds(rounds, body) + weights.sum(rounds, out)
            }
            // It takes size to pay.
            Prim::Sumbuild4 | Prim::Sumbuild8 => {
                let rounds = self.rounds(program, args[0]);
                weights.sum_in_lanes(prim.lanes().unwrap_or(1), rounds, body, false)
            }
            Prim::Fold => weights.rounds(self.rounds(program, last), body),
            Prim::MapAccum => weights.made(out) + weights.rounds(self.rounds(program, last), body),
            Prim::BuildFromSparse | Prim::BuildFromSparseTupled => {
                let added = self.elements(program, program.store.ty(last));
                weights.made(out) + weights.rounds(self.rounds(program, args[1]), body + weights.sum(2.0, added))
            }
            Prim::Sum => weights.sum(self.rounds(program, last), out),
            Prim::DeltaVec | Prim::ConstVec | Prim::VecInit | Prim::Unzip => weights.made(out),
            Prim::Delta => weights.prim(Prim::Eq) + weights.branch,
            Prim::TsNeg | Prim::TsAdd | Prim::TsScale | Prim::Zero => {
                weights.elementwise(prim, out, is_tensor(program, last))
            }
            Prim::TsDot => weights.dot(self.elements(program, program.store.ty(last))),
            Prim::AddTo => weights.sum(2.0, self.elements(program, program.store.ty(last))),
            Prim::Accumulate => body,
            _ => weights.prim(prim) + body,
        };
        step + inputs
    }
}

fn is_tensor(program: &Program, expr: ExprId) -> bool {
    matches!(program.store.types.get(program.store.ty(expr)), Type::Tensor(..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sources, compile};

    /// The cost of the body of `f`.
    fn cost(text: &str) -> f64 {
        let sources = Sources::with("test", text).unwrap();
        let mut program = compile(&sources).unwrap();
        let def = *program.defs().rev().find(|def| program.store.show_fun(def.fun).starts_with("[f ")).unwrap();
        let Body::Expr(_, body) = def.body else { panic!("no body") };
        Table::default().cost(&mut program, body)
    }

    #[test]
    fn scalars() {
        assert_eq!(cost("(def f Float (x : Float) (div 1.0 (add (mul x x) (exp x))))"), 2.0 + 1.0 + 2.0 + 4.0);
        assert_eq!(cost("(def f Float (x : Float) (let (y (add x 1.0)) (mul y y)))"), 0.1 + 1.0 + 2.0);
        assert_eq!(cost("(def f (Tuple Float Float) (x : Float) (tuple x (sub x 1.0)))"), 0.2 + 1.0);
        let branches = cost("(def f Float (x : Float) (if (gt x 0.0) (exp x) (add x 1.0)))");
        assert!((branches - (1.0 + 1.0 + 4.0 + 0.0001)).abs() < 1e-12);
        assert_eq!(cost("(def f Float (x : Float) (assert (gt x 0.0) (log x)))"), 1.0 + 1.0 + 4.0);
    }

    #[test]
    fn loops() {
        assert_eq!(
            cost("(def f (Vec Float) (v : Vec Float) (build (size v) (lam (i : Integer) (mul 2.0 (index i v)))))"),
            2.0 + 1.0 + 16.0 * 3.0
        );
        assert_eq!(
            cost("(def f Float (v : Vec Float) (sumbuild (size v) (lam (i : Integer) (index i v))))"),
            1.0 + 16.0 + 15.0
        );
        assert_eq!(cost("(def f Float (v : Vec Float) (sum v))"), 15.0);
        let vectors = "(def f (Vec Float) (n : Integer) (sumbuild n (lam (i : Integer) (deltaVec n i 1.0))))";
        assert_eq!(cost(vectors), 16.0 * 2.0 + 15.0 * 16.0);
        assert_eq!(cost("(def f (Vec Float) (v : Vec Float) (ts_add v v))"), 16.0 + 2.0);
        assert_eq!(cost("(def f (Vec Float) (v : Vec Float) (ts_scale 2.0 v))"), 32.0 + 2.0);
    }

    #[test]
    fn calls() {
        let g = "(def g Float (x : Float) (mul x x))";
        assert_eq!(cost(&format!("{g} (def f Float (x : Float) (g (add x 1.0)))")), 2.0 + 2.0 + 1.0);
        assert_eq!(cost("(edef g Float (Float)) (def f Float (x : Float) (g x))"), 7.0);
        let own = "(edef g Float (Vec Float)) (def cost$g Float (v : Vec Float) (mul 3.0 (to_float (size v))))";
        assert_eq!(cost(&format!("{own} (def f Float (v : Vec Float) (g v))")), 48.0);
        let recursive = "(def f Float (x : Float) (if (gt x 1.0) (f (div x 2.0)) x))";
        assert!(cost(recursive).is_finite());
    }
}
