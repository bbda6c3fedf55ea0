//! What can be left out, moved, or computed once without anybody seeing it.

use crate::ir::{Body, ExprId, FunId, Node, Prim, Program, TypeId, VarId};
use crate::stack;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What evaluating an expression may do besides giving a value.
#[derive(Clone, Debug)]
struct Fact {
    /// It may end the program with an error.
    fails: bool,
    /// It may print, or call something that is not known.
    acts: bool,
    /// Accumulators from outside that it reads or adds to.
    touches: Rc<[VarId]>,
}

/// Facts about expressions. Kept by id: an id never changes its meaning.
pub(crate) struct Facts {
    known: FxHashMap<ExprId, Fact>,
    functions: FxHashMap<FunId, (bool, bool)>,
    accumulators: FxHashSet<VarId>,
    /// Variables that hold the size of a tensor.
    sizes: FxHashSet<VarId>,
    /// Whether an index out of range is an error. If not, such a program has no meaning.
    checks_bounds: bool,
}

impl Facts {
    pub(crate) fn new(checks_bounds: bool) -> Self {
        Self {
            known: FxHashMap::default(),
            functions: FxHashMap::default(),
            accumulators: FxHashSet::default(),
            sizes: FxHashSet::default(),
            checks_bounds,
        }
    }

    /// Says that a variable is that of an `$accumulate`; before anything is asked of what mentions it.
    pub(crate) fn note_accumulator(&mut self, var: VarId) {
        self.accumulators.insert(var);
    }

    /// Says that a variable holds the size of a tensor, or of what will be one; before anything is asked of what mentions it.
    pub(crate) fn note_size(&mut self, var: VarId) {
        self.sizes.insert(var);
    }

    pub(crate) fn holds_size(&self, var: VarId) -> bool {
        self.sizes.contains(&var)
    }

    pub(crate) fn is_accumulator(&self, var: VarId) -> bool {
        self.accumulators.contains(&var)
    }

    /// Whether the expression only gives a value: it may be left out, moved to where its variables are bound, and shared.
    pub(crate) fn is_total(&mut self, program: &Program, expr: ExprId) -> bool {
        let fact = self.fact(program, expr);
        !fact.fails && !fact.acts && fact.touches.is_empty()
    }

    /// Whether the expression gives the same each time and does nothing, if it ends.
    pub(crate) fn is_pure(&mut self, program: &Program, expr: ExprId) -> bool {
        let fact = self.fact(program, expr);
        !fact.acts && fact.touches.is_empty()
    }

    /// Whether the expression may print, or call something that is not known.
    pub(crate) fn acts(&mut self, program: &Program, expr: ExprId) -> bool {
        self.fact(program, expr).acts
    }

    /// Whether the expression may end the program, print, or call something that is not known.
    pub(crate) fn fails_or_acts(&mut self, program: &Program, expr: ExprId) -> bool {
        let fact = self.fact(program, expr);
        fact.fails || fact.acts
    }

    fn fact(&mut self, program: &Program, expr: ExprId) -> &Fact {
        if !self.known.contains_key(&expr) {
            for part in program.store.post_order(expr) {
                if let Node::Prim(Prim::Accumulate, args) = program.store.node(part) {
                    let lam = program.store.list(args)[1];
                    self.accumulators.extend(program.store.bound_by(lam));
                }
            }
            for part in program.store.post_order(expr) {
                if !self.known.contains_key(&part) {
                    let fact = self.step(program, part);
                    self.known.insert(part, fact);
                }
            }
        }
        &self.known[&expr]
    }

    fn step(&mut self, program: &Program, expr: ExprId) -> Fact {
        let store = &program.store;
        let node = store.node(expr);
        let mut fact = Fact { fails: self.may_fail(program, expr), acts: false, touches: Rc::new([]) };
        match node {
            Node::Var(var) if self.accumulators.contains(&var) || store.accumulates(var) => {
                fact.touches = Rc::new([var])
            }
            Node::Prim(Prim::Print | Prim::Trace, _) => fact.acts = true,
            Node::Call(fun, _) => (fact.fails, fact.acts) = self.function(program, fun),
            _ => {}
        }
        store.for_each_child(node, |child| {
            let part = &self.known[&child];
            fact.fails |= part.fails;
            fact.acts |= part.acts;
            if !part.touches.is_empty() {
                let all: FxHashSet<VarId> = fact.touches.iter().chain(part.touches.iter()).copied().collect();
                let mut all: Vec<VarId> = all.into_iter().collect();
                all.sort_unstable();
                fact.touches = all.into();
            }
        });
        if let Node::Lam(var, _) = node {
            fact.touches = fact.touches.iter().copied().filter(|other| *other != var).collect();
        }
        fact
    }

    /// Whether a function may fail, and whether it may act.
    pub(crate) fn function(&mut self, program: &Program, fun: FunId) -> (bool, bool) {
        if let Some(known) = self.functions.get(&fun) {
            return *known;
        }
        // While it is being found out: a function that calls itself may have no end.
        self.functions.insert(fun, (true, false));
        let found = match program.def(fun).map(|def| def.body) {
            Some(Body::Expr(_, body)) => stack::grow(|| {
                let fact = self.fact(program, body);
                (fact.fails, fact.acts)
            }),
            Some(Body::LinearMap { .. }) => (false, false),
            _ => (true, true),
        };
        self.functions.insert(fun, found);
        found
    }

    /// Whether the step itself may fail, given its parts.
    pub(crate) fn may_fail(&self, program: &Program, expr: ExprId) -> bool {
        let store = &program.store;
        let is_trivial = |expr: ExprId| store.types.has_trivial_shape(store.ty(expr));
        match store.node(expr) {
            Node::Assert(..) => true,
            Node::Prim(Prim::Div, args) if store.ty(expr) == TypeId::INTEGER => {
                !matches!(store.node(store.list(args)[1]), Node::Integer(divisor) if divisor != 0)
            }
            Node::Prim(prim, _) if prim.is_function() => false,
            Node::Prim(prim, args) => match prim {
                Prim::Index => self.checks_bounds,
                Prim::Build | Prim::ConstVec | Prim::DeltaVec => !self.is_size(program, store.list(args)[0]),
                _ if prim.lanes().is_some() => !self.is_size(program, store.list(args)[0]) || !is_trivial(expr),
                Prim::Sum => !is_trivial(expr),
                Prim::Fold | Prim::MapAccum | Prim::Map | Prim::Size | Prim::Unzip | Prim::Delta => false,
                Prim::VecInit | Prim::Shape | Prim::Zero | Prim::TsNeg | Prim::TsScale | Prim::Eq | Prim::Ne => false,
                Prim::Inline | Prim::Copydown | Prim::Accumulate | Prim::Print | Prim::Trace => false,
                Prim::TsAdd | Prim::TsDot | Prim::AddTo => !store.list(args).iter().all(|arg| is_trivial(*arg)),
                _ => true,
            },
            _ => false,
        }
    }
    /// Whether a size is certainly not negative.
    pub(crate) fn is_size(&self, program: &Program, size: ExprId) -> bool {
        match program.store.node(size) {
            Node::Integer(value) => value >= 0,
            Node::Prim(Prim::Size, _) => true,
            Node::Tuple(parts) => program.store.list(parts).iter().all(|part| self.is_size(program, *part)),
            Node::Get(_, whole) => self.is_size(program, whole),
            Node::Var(var) => self.sizes.contains(&var),
            _ => false,
        }
    }
}
