//! Hash-consing alone: every value that is computed more than once is bound once, in the innermost place around all its uses. No rule is applied. The first
//! of the baselines.

use crate::cost::Cost;
use crate::ir::{ExprId, Node, Program, VarId};
use crate::simplify::facts::Facts;
use crate::stack;
use rustc_hash::FxHashMap;

/// Expressions of more nodes than this, as trees, are left as they are.
const MOST_NODES: u32 = 1 << 20;

/// The expression with common subexpressions bound, where that makes it cheaper. Nothing that may fail or act comes earlier or later by it.
pub fn cse(program: &mut Program, facts: &mut Facts, cost: &mut dyn Cost, expr: ExprId) -> ExprId {
    if program.store.size(expr) > MOST_NODES {
        return expr;
    }
    let flat = Flatten { program, facts, env: FxHashMap::default() }.visit(expr);
    let shared = Sharing::of(program, facts, cost, flat).bound(program);
    tidy(program, facts, shared)
}

/// Gives each binder a variable of its own and writes pure values out where their variables are mentioned. The `let` of such a value stays, so that it is
/// seen where it was bound.
struct Flatten<'a> {
    program: &'a mut Program,
    facts: &'a mut Facts,
    env: FxHashMap<VarId, ExprId>,
}

impl Flatten<'_> {
    fn visit(&mut self, expr: ExprId) -> ExprId {
        stack::grow(|| self.step(expr))
    }

    fn step(&mut self, expr: ExprId) -> ExprId {
        match self.program.store.node(expr) {
            Node::Var(var) => self.env.get(&var).copied().unwrap_or(expr),
            Node::Lam(var, body) => {
                let fresh = self.program.store.fresh_like(var);
                let atom = self.program.store.var(fresh);
                let body = self.below(var, atom, body);
                self.program.store.lam(fresh, body)
            }
            Node::Let(var, value, body) => {
                let value = self.visit(value);
                let fresh = self.program.store.fresh_like(var);
                let is_pure = self.facts.is_pure(self.program, value);
                let stands = if is_pure { value } else { self.program.store.var(fresh) };
                let body = self.below(var, stands, body);
                self.program.store.let_(fresh, value, body)
            }
            _ => {
                let children: Vec<ExprId> =
                    self.program.store.children(expr).into_iter().map(|child| self.visit(child)).collect();
                let mut children = children.into_iter();
                self.program.store.map_children(expr, |_, child| children.next().unwrap_or(child))
            }
        }
    }

    fn below(&mut self, var: VarId, stands: ExprId, body: ExprId) -> ExprId {
        let outer = self.env.insert(var, stands);
        let body = self.visit(body);
        match outer {
            Some(outer) => self.env.insert(var, outer),
            None => self.env.remove(&var),
        };
        body
    }
}

/// Which parts of a flat expression are bound, and around which part each stands.
struct Sharing {
    /// Parts of the expression, each before what it consists of.
    order: Vec<ExprId>,
    bound: FxHashMap<ExprId, VarId>,
    /// What is bound around a part, outermost first.
    homes: FxHashMap<ExprId, Vec<ExprId>>,
}

impl Sharing {
    fn of(program: &mut Program, facts: &mut Facts, cost: &mut dyn Cost, root: ExprId) -> Self {
        let mut order = program.store.post_order(root);
        order.reverse();
        let dominators = dominators(program, &order);
        let mut uses: FxHashMap<ExprId, f64> = FxHashMap::from_iter([(root, 1.0)]);
        let mut sharing = Self { order: vec![], bound: FxHashMap::default(), homes: FxHashMap::default() };
        for part in &order {
            let count = uses.get(part).copied().unwrap_or(0.0);
            let home = dominators[part];
            let pays =
                (count - 1.0) * cost.cost(program, *part) > BINDING && !program.is_lam(*part) && !program.is_lam(home);
            let is_bound = pays && comes_first(program, facts, home, *part);
            if is_bound {
                let ty = program.store.ty(*part);
                let var = program.store.fresh("t", ty);
                sharing.bound.insert(*part, var);
                sharing.homes.entry(home).or_default().push(*part);
            }
            let each = if is_bound { 1.0 } else { count };
            for child in program.store.children(*part) {
                *uses.entry(child).or_default() += each;
            }
        }
        // Parts come before what they consist of: the last is the outermost.
        sharing.homes.values_mut().for_each(|bound| bound.reverse());
        sharing.order = order;
        sharing
    }

    /// The expression with its bindings.
    fn bound(&self, program: &mut Program) -> ExprId {
        let mut written: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for part in self.order.iter().rev() {
            let mention = |program: &mut Program, child: ExprId| match self.bound.get(&child) {
                Some(var) => program.store.var(*var),
                None => written[&child],
            };
            let mut new = match program.store.node(*part) {
                // Its variable is mentioned nowhere.
                Node::Let(_, value, body) if self.bound.contains_key(&value) => mention(program, body),
                _ => {
                    let children = program.store.children(*part);
                    let children: Vec<ExprId> = children.into_iter().map(|child| mention(program, child)).collect();
                    let mut children = children.into_iter();
                    program.store.map_children(*part, |_, child| children.next().unwrap_or(child))
                }
            };
            for value in self.homes.get(part).into_iter().flatten().rev() {
                new = program.store.let_(self.bound[value], written[value], new);
            }
            written.insert(*part, new);
        }
        written[&self.order[0]]
    }
}

/// What a binding itself costs, by the table.
const BINDING: f64 = 0.1 + 1e-9;

/// The innermost part that every way from the root to each part goes through (Cooper, Harvey, Kennedy 2001); on a graph without cycles, parts before what they
/// consist of, one pass is enough.
fn dominators(program: &Program, order: &[ExprId]) -> FxHashMap<ExprId, ExprId> {
    let number: FxHashMap<ExprId, usize> = order.iter().enumerate().map(|(number, part)| (*part, number)).collect();
    let mut above: Vec<Option<usize>> = vec![None; order.len()];
    above[0] = Some(0);
    for (parent, part) in order.iter().enumerate() {
        for child in program.store.children(*part) {
            let child = number[&child];
            above[child] = Some(above[child].map_or(parent, |other| common(&above, other, parent)));
        }
    }
    let found = order.iter().zip(&above).map(|(part, above)| (*part, order[above.unwrap_or(0)]));
    found.collect()
}

fn common(above: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        // The one that comes later in the order is further down.
        let later = a.max(b);
        let up = above[later].unwrap_or(0);
        (a, b) = (a.min(b), up);
    }
    a
}

/// What comes first when an expression is evaluated.
#[derive(PartialEq)]
enum First {
    /// The part that was asked for.
    Part,
    /// Something that may fail or act.
    Other,
    /// Neither.
    Nothing,
}

/// Whether a part may be computed before all else around it: it is total, or it is what fails first anyway.
fn comes_first(program: &Program, facts: &mut Facts, around: ExprId, part: ExprId) -> bool {
    let is_pure = facts.is_pure(program, part);
    is_pure && (facts.is_total(program, part) || first(program, facts, around, part) == First::Part)
}

fn first(program: &Program, facts: &mut Facts, around: ExprId, part: ExprId) -> First {
    if around == part {
        return First::Part;
    }
    if facts.is_total(program, around) {
        // Then so is everything in it, and the part is not.
        return First::Nothing;
    }
    let store = &program.store;
    let certain = match store.node(around) {
        Node::Lam(..) => vec![],
        Node::If(condition, ..) => vec![condition],
        Node::Match(over, _) => vec![over],
        _ => store.children(around),
    };
    for child in certain {
        let found = stack::grow(|| first(program, facts, child, part));
        if found != First::Nothing {
            return found;
        }
    }
    First::Other
}

/// Writes out what is bound for one use, unless that is in a loop, and leaves out what is bound for none.
fn tidy(program: &mut Program, facts: &mut Facts, root: ExprId) -> ExprId {
    let mut written: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for part in program.store.post_order(root) {
        let new = program.store.map_children(part, |_, child| written[&child]);
        let new = match program.store.node(new) {
            Node::Let(var, value, body) if facts.is_total(program, value) => match mentions(program, body, var) {
                Mentions::None => body,
                Mentions::Once => program.store.substitute(body, var, value),
                Mentions::More => new,
            },
            _ => new,
        };
        written.insert(part, new);
    }
    written[&root]
}

/// How often a variable is mentioned, a mention in a lambda being many.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Mentions {
    None,
    Once,
    More,
}

fn mentions(program: &Program, expr: ExprId, var: VarId) -> Mentions {
    let store = &program.store;
    if !store.may_mention(expr, var) {
        return Mentions::None;
    }
    match store.node(expr) {
        Node::Var(found) => {
            if found == var {
                Mentions::Once
            } else {
                Mentions::None
            }
        }
        Node::Lam(..) => {
            if store.mentions(expr, var) {
                Mentions::More
            } else {
                Mentions::None
            }
        }
        _ => {
            let mut total = Mentions::None;
            for child in store.children(expr) {
                total = match (total, stack::grow(|| mentions(program, child, var))) {
                    (Mentions::None, found) => found,
                    (found, Mentions::None) => found,
                    _ => return Mentions::More,
                };
            }
            total
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Table;
    use crate::optimize::testing::{body_of, program};

    /// The cost before and after.
    fn costs(text: &str) -> (f64, f64) {
        let mut program = program(text);
        let body = body_of(&mut program, "f");
        let mut cost = Table::default();
        let after = cse(&mut program, &mut Facts::new(true), &mut cost, body);
        assert_eq!(program.store.ty(body), program.store.ty(after));
        (cost.cost(&mut program, body), cost.cost(&mut program, after))
    }

    #[test]
    fn what_is_computed_twice_is_bound_once() {
        assert_eq!(costs("(def f Float ((x : Float) (y : Float)) (mul (add x y) (add x y)))"), (4.0, 3.1));
        let nested = "(def f Float (x : Float) (add (exp (mul x x)) (div (exp (mul x x)) (mul x x))))";
        assert_eq!(costs(nested), (17.0, 2.0 + 0.1 + 4.0 + 0.1 + 1.0 + 2.0));
    }

    #[test]
    fn existing_bindings_are_seen() {
        let text = "(def f Float (x : Float) (let ((y (exp x)) (z (exp x))) (add y z)))";
        assert_eq!(costs(text), (9.2, 5.1));
        assert_eq!(costs("(def f Float (x : Float) (let (y (exp x)) (add y 1.0)))"), (5.1, 5.0));
        assert_eq!(costs("(def f Float (x : Float) (let (y (exp x)) x))"), (4.1, 0.0));
    }

    #[test]
    fn what_is_bound_outside_a_loop_stays_outside() {
        let text = "(def f (Vec Float) ((n : Integer) (x : Float)) (let (y (exp x)) (build n (lam (i : Integer) (mul y (to_float i))))))";
        let (before, after) = costs(text);
        assert_eq!(before, after);
    }

    #[test]
    fn what_may_fail_stays_in_its_place() {
        // The index in the arm is only computed if it is in range.
        let guarded = "(def f Float ((i : Integer) (v : Vec Float)) (if (lt i (size v)) (index i v) 0.0))";
        let (before, after) = costs(guarded);
        assert_eq!(before, after);
        let twice = "(def f Float ((i : Integer) (v : Vec Float)) (mul (index i v) (add 1.0 (index i v))))";
        assert_eq!(costs(twice), (5.0, 4.1));
        let late =
            "(def f Float ((i : Integer) (v : Vec Float)) (add (assert (gt i 0) 1.0) (mul (index i v) (index i v))))";
        let (before, after) = costs(late);
        assert!(after < before, "bound within the product: {after}");
    }
}
