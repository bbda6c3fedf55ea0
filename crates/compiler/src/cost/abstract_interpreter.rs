//! A cost model that runs the program without its numbers: it knows the sizes with which `main` calls each function, follows them through loops and calls,
//! and counts.

use super::shape::{Guess, Shape};
use super::table::SIZE;
use super::wide::is_wide;
use super::{Cost, Weights, declared_cost};
use crate::ir::{Body, Def, ExprId, FunId, Node, Prim, Program, VarId};
use crate::stack;
use rustc_hash::FxHashMap;

/// What an expression costs, and what comes out.
type Run = (f64, Shape);

/// The model.
#[derive(Clone, Debug)]
pub struct AbstractInterpreter {
    weights: Weights,
    /// The size of what is not known.
    assumed: f64,
    /// What `main` calls each function with; the first time, where it is several.
    arguments: FxHashMap<FunId, Shape>,
    /// What calls with some arguments cost.
    calls: FxHashMap<FunId, Vec<(Shape, Run)>>,
    /// Functions that are being run: a recursive call costs what calling does.
    running: Vec<FunId>,
    /// What variables stand for.
    env: FxHashMap<VarId, Shape>,
    /// Whole expressions that were asked for since [`Cost::enter`].
    known: FxHashMap<ExprId, f64>,
}

impl Cost for AbstractInterpreter {
    fn cost(&mut self, program: &mut Program, expr: ExprId) -> f64 {
        if let Some(known) = self.known.get(&expr) {
            return *known;
        }
        let (cost, _) = self.run(program, expr);
        self.known.insert(expr, cost);
        cost
    }

    fn enter(&mut self, program: &mut Program, def: &Def) {
        self.known.clear();
        // Functions may have changed since.
        self.calls.clear();
        self.env.clear();
        let Body::Expr(param, mut body) = def.body else { return };
        let arg = self.arguments.get(&def.fun).cloned();
        let arg =
            arg.unwrap_or_else(|| Shape::of_type(&program.store.types, program.store.var_type(param), self.assumed));
        self.env.insert(param, arg);
        while let Node::Let(var, value, rest) = program.store.node(body) {
            let (_, shape) = self.run(program, value);
            self.env.insert(var, shape);
            body = rest;
        }
    }
}

impl AbstractInterpreter {
    /// Runs `main`, if there is one, for the sizes with which it calls the other functions.
    pub fn new(program: &Program, weights: Weights) -> Self {
        let mut model = Self {
            weights,
            assumed: SIZE,
            arguments: FxHashMap::default(),
            calls: FxHashMap::default(),
            running: vec![],
            env: FxHashMap::default(),
            known: FxHashMap::default(),
        };
        if let Some(main) = program.main() {
            model.call(program, main, Shape::Tuple([].into()));
        }
        model
    }

    /// With the sizes of calls that `main` of another version of the program makes, for functions that it calls in this one no more.
    #[must_use]
    pub fn with_calls_of(mut self, program: &Program) -> Self {
        for (fun, arg) in Self::new(program, self.weights.clone()).arguments {
            self.arguments.entry(fun).or_insert(arg);
        }
        self
    }

    /// What a function costs when it is called as `main` does.
    pub fn function(&mut self, program: &Program, fun: FunId) -> f64 {
        let known = self.arguments.get(&fun).cloned();
        let arg = known.or_else(|| {
            let (arg, _) = program.store.signature(fun)?;
            Some(Shape::of_type(&program.store.types, arg, self.assumed))
        });
        self.call(program, fun, arg.unwrap_or(Shape::Other)).0
    }

    fn run(&mut self, program: &Program, expr: ExprId) -> Run {
        stack::grow(|| self.step(program, expr))
    }

    /// Costs add up; the shapes are given in order.
    fn run_all(&mut self, program: &Program, exprs: &[ExprId]) -> (f64, Vec<Shape>) {
        let mut total = 0.0;
        let shapes = exprs.iter().map(|expr| {
            let (cost, shape) = self.run(program, *expr);
            total += cost;
            shape
        });
        let shapes = shapes.collect();
        (total, shapes)
    }

    fn step(&mut self, program: &Program, expr: ExprId) -> Run {
        let store = &program.store;
        match store.node(expr) {
            Node::Integer(value) => (0.0, Shape::Number(Guess::Exactly(value as f64))),
            Node::Float(value) => (0.0, Shape::Number(Guess::Exactly(value.get()))),
            Node::Bool(value) => (0.0, Shape::Number(Guess::Exactly(f64::from(u8::from(value))))),
            Node::String(_) => (0.0, Shape::Other),
            Node::Var(var) => (0.0, self.env.get(&var).cloned().unwrap_or_else(|| self.anything(program, expr))),
            Node::Tuple(fields) => {
                let (cost, fields) = self.run_all(program, store.list(fields));
                (cost + self.weights.field * fields.len() as f64, Shape::Tuple(fields.into()))
            }
            Node::Get(field, whole) => {
                let (cost, whole) = self.run(program, whole);
                (cost, whole.field(field))
            }
            Node::Let(var, value, body) => {
                let (cost, value) = self.run(program, value);
                let (rest, shape) = self.bound(program, var, value, body);
                (self.weights.bind + cost + rest, shape)
            }
            Node::If(condition, then, otherwise) => self.if_(program, condition, then, otherwise),
            Node::Assert(condition, body) => {
                let ((cost, _), (rest, shape)) = (self.run(program, condition), self.run(program, body));
                (self.weights.assert + cost + rest, shape)
            }
            Node::Lam(_, body) => self.run(program, body),
            Node::Call(fun, arg) => self.called(program, fun, arg),
            Node::Construct(_, _, held) => (self.weights.field + self.run(program, held).0, Shape::Other),
            Node::Match(over, arms) => {
                let (cost, _) = self.run(program, over);
                let arms: Vec<f64> = store.list(arms).iter().map(|arm| self.run(program, *arm).0).collect();
                (cost + self.weights.choice(&arms), self.anything(program, expr))
            }
            Node::Prim(prim, args) => self.prim(program, expr, prim, store.list(args)),
        }
    }

    /// A value of the type of an expression.
    fn anything(&self, program: &Program, expr: ExprId) -> Shape {
        Shape::of_type(&program.store.types, program.store.ty(expr), self.assumed)
    }

    fn bound(&mut self, program: &Program, var: VarId, value: Shape, body: ExprId) -> Run {
        let outer = self.env.insert(var, value);
        let run = self.run(program, body);
        match outer {
            Some(outer) => self.env.insert(var, outer),
            None => self.env.remove(&var),
        };
        run
    }

    /// A lambda given an argument.
    fn apply(&mut self, program: &Program, lam: ExprId, arg: Shape) -> Run {
        match program.store.node(lam) {
            Node::Lam(var, body) => self.bound(program, var, arg, body),
            _ => self.run(program, lam),
        }
    }

    fn if_(&mut self, program: &Program, condition: ExprId, then: ExprId, otherwise: ExprId) -> Run {
        let (cost, chosen) = self.run(program, condition);
        if let Guess::Exactly(chosen) = chosen.guess() {
            let (arm, shape) = self.run(program, if chosen == 0.0 { otherwise } else { then });
            return (self.weights.branch + cost + arm, shape);
        }
        let ((a, x), (b, y)) = (self.run(program, then), self.run(program, otherwise));
        (cost + self.weights.choice(&[a, b]), x.join(&y))
    }

    fn called(&mut self, program: &Program, fun: FunId, arg: ExprId) -> Run {
        let (mut cost, shape) = self.run(program, arg);
        if let Node::Tuple(fields) = program.store.node(arg) {
            // Several arguments are a tuple that is never made.
            cost -= self.weights.field * program.store.list(fields).len() as f64;
        }
        let (body, result) = self.call(program, fun, shape);
        (cost + body, result)
    }

    fn call(&mut self, program: &Program, fun: FunId, arg: Shape) -> Run {
        let known = self.calls.get(&fun).and_then(|calls| calls.iter().find(|(with, _)| *with == arg));
        if let Some((_, run)) = known {
            return run.clone();
        }
        let result = program.store.signature(fun).map(|(_, result)| result);
        let anything = result.map_or(Shape::Other, |result| Shape::of_type(&program.store.types, result, self.assumed));
        if self.running.contains(&fun) {
            return (self.weights.call, anything);
        }
        self.arguments.entry(fun).or_insert_with(|| arg.clone());
        let run = match program.def(fun).map(|def| def.body) {
            Some(Body::Expr(param, body)) => {
                self.running.push(fun);
                let (cost, shape) = self.bound(program, param, arg.clone(), body);
                self.running.pop();
                (self.weights.call + cost, shape)
            }
            Some(Body::LinearMap { .. }) => (self.weights.call, anything),
            _ => (self.external(program, fun, &arg), anything),
        };
        self.calls.entry(fun).or_default().push((arg, run.clone()));
        run
    }

    fn external(&mut self, program: &Program, fun: FunId, arg: &Shape) -> f64 {
        let declared = declared_cost(program, fun).and_then(|def| match def.body {
            Body::Expr(param, body) => self.bound(program, param, arg.clone(), body).1.guess().value(),
            _ => None,
        });
        declared.filter(|cost| cost.is_finite() && *cost >= 0.0).unwrap_or(self.weights.external)
    }

    fn prim(&mut self, program: &Program, expr: ExprId, prim: Prim, args: &[ExprId]) -> Run {
        let inputs: Vec<ExprId> = args.iter().copied().filter(|arg| !program.is_lam(*arg)).collect();
        let (cost, shapes) = self.run_all(program, &inputs);
        let (step, shape) = match args.iter().copied().find(|arg| program.is_lam(*arg)) {
            Some(lam) => self.looping(program, expr, prim, lam, &shapes),
            None => self.plain(program, expr, prim, &shapes),
        };
        (cost + step, shape)
    }

    /// A primitive with a lambda, without what the other inputs cost.
    fn looping(&mut self, program: &Program, expr: ExprId, prim: Prim, lam: ExprId, inputs: &[Shape]) -> Run {
        match (prim, inputs) {
            (Prim::Build, [size]) => {
                let sizes = size.sizes(self.assumed);
                let (body, element) = self.apply(program, lam, Shape::index_below(&sizes));
                self.built(sizes, body, element)
            }
            (Prim::Sumbuild, [size]) => {
                let sizes = size.sizes(self.assumed);
                let rounds = sizes.iter().product();
                let (body, term) = self.apply(program, lam, Shape::index_below(&sizes));
                (self.weights.rounds(rounds, body) + self.weights.sum(rounds, term.elements()), term)
            }
            (Prim::Sumbuild4 | Prim::Sumbuild8, [size]) => {
                let lanes = prim.lanes().unwrap_or(1);
                let sizes = size.sizes(self.assumed);
                let (body, term) = self.apply(program, lam, Shape::index_below(&sizes));
                let terms = whole_rounds(size.guess(), sizes[0], lanes as f64);
                (self.weights.sum_in_lanes(lanes, terms, body, is_wide(&program.store, lam)), term)
            }
            (Prim::Map, [over]) => {
                let (body, element) = self.apply(program, lam, over.element());
                self.built(over.size().sizes(self.assumed), body, element)
            }
            (Prim::Map2, [first, second]) => {
                let pair = Shape::Tuple([first.element(), second.element()].into());
                let (body, element) = self.apply(program, lam, pair);
                self.built(first.size().sizes(self.assumed), body, element)
            }
            (Prim::Fold | Prim::MapAccum, [init, over]) => self.fold(program, prim, lam, init, over),
            (Prim::Accumulate, [zero]) => {
                let (body, result) = self.apply(program, lam, zero.clone());
                (body, Shape::Tuple([zero.clone(), result].into()))
            }
            (Prim::BuildFromSparse | Prim::BuildFromSparseTupled, [_, count]) => {
                let sizes = count.sizes(self.assumed);
                let (body, pair) = self.apply(program, lam, Shape::index_below(&sizes));
                let out = self.anything(program, expr);
                let added = self.weights.sum(2.0, pair.elements());
                (self.weights.made(out.elements()) + self.weights.rounds(sizes.iter().product(), body + added), out)
            }
            _ => {
                let (body, _) = self.run(program, lam);
                let out = self.anything(program, expr);
                (self.weights.made(out.elements()) + self.weights.rounds(self.assumed, body), out)
            }
        }
    }

    fn built(&self, sizes: std::rc::Rc<[f64]>, body: f64, element: Shape) -> Run {
        let rounds = sizes.iter().product::<f64>();
        let cost = self.weights.made(rounds * element.elements()) + self.weights.rounds(rounds, body);
        (cost, Shape::Tensor(sizes, element.into()))
    }

    /// The state is what holds at the start and after one round.
    fn fold(&mut self, program: &Program, prim: Prim, lam: ExprId, init: &Shape, over: &Shape) -> Run {
        let is_fold = prim == Prim::Fold;
        let state = |out: &Shape| if is_fold { out.clone() } else { out.field(0) };
        let first = self.apply(program, lam, Shape::Tuple([init.clone(), over.element()].into())).1;
        let steady = init.join(&state(&first));
        let (body, out) = self.apply(program, lam, Shape::Tuple([steady.clone(), over.element()].into()));
        let sizes = over.size().sizes(self.assumed);
        let cost = self.weights.rounds(sizes.iter().product(), body);
        if is_fold {
            return (cost, steady);
        }
        let made = Shape::Tensor(sizes, out.field(1).into());
        (cost + self.weights.made(made.elements()), Shape::Tuple([steady, made].into()))
    }

    /// A primitive without lambdas, without what the inputs cost.
    fn plain(&self, program: &Program, expr: ExprId, prim: Prim, inputs: &[Shape]) -> Run {
        let weights = &self.weights;
        let is_tensor = |shape: &Shape| matches!(shape, Shape::Tensor(..));
        match (prim, inputs) {
            _ if prim.is_function() => (weights.prim(prim), Shape::Number(scalar(prim, inputs))),
            (Prim::Size, [over]) => (weights.prim(prim), over.size()),
            (Prim::Index, [_, over]) => (weights.prim(prim), over.element()),
            (Prim::Sum, [over]) => {
                let (terms, element) = (over.size().sizes(self.assumed), over.element());
                (weights.sum(terms.iter().product(), element.elements()), element)
            }
            (Prim::DeltaVec, [size, _, element]) | (Prim::ConstVec, [size, element]) => {
                let out = Shape::Tensor(size.sizes(self.assumed), element.clone().into());
                (weights.made(out.elements()), out)
            }
            (Prim::VecInit, [first, rest @ ..]) => {
                let element = rest.iter().fold(first.clone(), |all, one| all.join(one));
                let out = Shape::Tensor([inputs.len() as f64].into(), element.into());
                (weights.made(out.elements()), out)
            }
            (Prim::Delta, [i, j, element]) => {
                let same = i.guess().compare(j.guess(), |i, j| i == j);
                let shape = if same == Guess::Exactly(1.0) { element.clone() } else { self.anything(program, expr) };
                (weights.prim(Prim::Eq) + weights.branch, shape)
            }
            (Prim::TsNeg | Prim::Zero, [x]) | (Prim::TsScale, [_, x]) | (Prim::TsAdd, [x, _]) => {
                let is_scalar = matches!(x, Shape::Number(_));
                let shape = if is_scalar { Shape::UNKNOWN } else { x.clone() };
                (weights.elementwise(prim, x.elements(), is_tensor(x)), shape)
            }
            (Prim::TsDot, [x, _]) => (weights.dot(x.elements()), Shape::UNKNOWN),
            (Prim::AddTo, [_, x]) => (weights.sum(2.0, x.elements()), Shape::Tuple([].into())),
            (Prim::Eq, [a, b]) => (weights.prim(prim), Shape::Number(a.guess().compare(b.guess(), |a, b| a == b))),
            (Prim::Inline | Prim::Copydown | Prim::Trace, [x]) => (weights.prim(prim), x.clone()),
            (Prim::Unzip, _) => {
                let out = self.anything(program, expr);
                (weights.made(out.elements()), out)
            }
            _ => (weights.prim(prim), self.anything(program, expr)),
        }
    }
}

/// The terms of a sum in lanes and what fills its last round: half a round, where the size is not known.
fn whole_rounds(size: Guess, terms: f64, lanes: f64) -> f64 {
    match size {
        Guess::Exactly(_) => (terms / lanes).ceil() * lanes,
        _ => (terms + (lanes - 1.0) / 2.0).max(lanes),
    }
}

/// What is known of the value of a function of scalars: of those that sizes are computed with.
fn scalar(prim: Prim, inputs: &[Shape]) -> Guess {
    match (prim, inputs) {
        (Prim::ToFloat, [x]) => x.guess(),
        (Prim::Neg, [x]) => Guess::Exactly(0.0).with(x.guess(), |zero, x| zero - x),
        (_, [a, b]) => {
            let (a, b) = (a.guess(), b.guess());
            match prim {
                Prim::Add => a.with(b, |a, b| a + b),
                Prim::Sub => a.with(b, |a, b| a - b),
                Prim::Mul => a.with(b, |a, b| a * b),
                Prim::Div if b.value().is_some_and(|b| b != 0.0) => a.with(b, |a, b| a / b),
                Prim::Gt => a.compare(b, |a, b| a > b),
                Prim::Lt => a.compare(b, |a, b| a < b),
                Prim::Gte => a.compare(b, |a, b| a >= b),
                Prim::Lte => a.compare(b, |a, b| a <= b),
                Prim::And => a.compare(b, |a, b| a != 0.0 && b != 0.0),
                Prim::Or => a.compare(b, |a, b| a != 0.0 || b != 0.0),
                _ => Guess::Unknown,
            }
        }
        _ => Guess::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sources, compile};

    fn cost(text: &str, name: &str) -> f64 {
        let sources = Sources::with("test", text).unwrap();
        let program = compile(&sources).unwrap();
        let fun = program
            .defs()
            .rev()
            .find(|def| program.store.show_fun(def.fun).starts_with(&format!("[{name} ")))
            .unwrap()
            .fun;
        AbstractInterpreter::new(&program, Weights::table()).function(&program, fun)
    }

    #[test]
    fn sizes_come_from_main() {
        let f = "(def f Float (v : Vec Float) (sumbuild (size v) (lam (i : Integer) (mul 2.0 (index i v)))))";
        let main = "(def main Integer () (print (f (build 100 (lam (i : Integer) (to_float i))))))";
        assert_eq!(cost(&format!("{f} {main}"), "f"), 2.0 + 1.0 + 100.0 * 3.0 + 99.0);
        assert_eq!(cost(f, "f"), 2.0 + 1.0 + 16.0 * 3.0 + 15.0, "nobody calls it");
    }

    #[test]
    fn loops_below_an_index_go_round_half_as_often() {
        let f = "(def f Float (n : Integer) (sumbuild n (lam (i : Integer) (sumbuild i (lam (j : Integer) 1.0)))))";
        let main = "(def main Integer () (print (f 101)))";
        assert_eq!(cost(&format!("{f} {main}"), "f"), 2.0 + 101.0 * 49.0 + 100.0);
    }

    #[test]
    fn lanes_pay_where_a_sum_is_long_and_its_terms_lie_side_by_side() {
        let gain = |size: usize, term: &str| {
            let of = |prim: &str| {
                let f = format!("(def f Float (v : Vec Float) ({prim} (size v) (lam (i : Integer) {term})))");
                let main = format!("(def main Integer () (print (f (constVec {size} 0.5))))");
                cost(&format!("{f} {main}"), "f")
            };
            [of("sumbuild") - of("sumbuild$4"), of("sumbuild") - of("sumbuild$8")]
        };
        let [four, eight] = gain(256, "(mul (index i v) (index i v))");
        assert!(0.0 < four && four < eight, "{four} {eight}");
        assert!(gain(5, "(mul (index i v) (index i v))").iter().all(|gain| *gain < 0.0));
        assert!(gain(256, "(log (index i v))").iter().all(|gain| *gain < 0.0));
    }

    #[test]
    fn known_conditions_choose_and_recursion_ends() {
        let f = "(def f Float (v : Vec Float) (if (gt (size v) 10) (exp 1.0) (add 1.0 2.0)))";
        let main = "(def main Integer () (print (f (constVec 3 0.0))))";
        assert_eq!(cost(&format!("{f} {main}"), "f"), 2.0 + 1.0 + 1.0 + 1.0 + 1.0);
        let g = "(def g Integer (n : Integer) (if (lt n 1) 0 (g (sub n 1)))) (def main Integer () (print (g 5)))";
        assert!(cost(g, "g").is_finite());
    }

    #[test]
    fn folds_reach_a_steady_state() {
        let f = "(def f Integer (n : Integer) (fold (lam (a_x : Tuple Integer Integer) (add (get$1$2 a_x) (get$2$2 a_x))) 0 (build n (lam (i : Integer) i))))";
        let main = "(def main Integer () (print (f 10)))";
        assert_eq!(cost(&format!("{f} {main}"), "f"), 2.0 + 2.0 + 10.0);
    }
}
