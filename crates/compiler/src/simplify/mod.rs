//! Deterministic simplification, before code is emitted. Results stay the same bit for bit, failures included, but for the order in which
//! `lockstep` adds to elements; what is printed is neither removed nor reordered. `docs/compiler.md` lists what is done.
//!
//! Suggested reading order: `facts` (what may be moved), `normal` (every value is bound once, as far out as possible), `fold` and
//! `tensor` (rules), `straight` (accumulators that are sums), `uses`, `settle` (back to trees), `lockstep`, `unroll`.

pub(crate) mod facts;
pub(crate) mod fold;
mod lockstep;
mod normal;
mod settle;
mod straight;
mod tensor;
mod unroll;
mod uses;

use crate::interpret::Width;
use crate::ir::{Body, Def, ExprId, FunId, Node, Program, Store, VarId};
use facts::Facts;
use normal::Normalizer;
use rustc_hash::{FxHashMap, FxHashSet};
use settle::Settler;
use uses::Uses;

/// What the simplifier must know of how the program will run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Settings {
    /// Bits of numbers.
    pub width: Width,
    /// Whether an index out of range is an error; if not, such a program has no meaning.
    pub checks_bounds: bool,
}

/// Times that a definition is brought into normal form and back at most; each time shows more to do.
const ROUNDS: usize = 4;
/// Size of functions that are written out wherever they are called, and of functions with loops that are if they are called once.
const SMALL: u32 = 32;
const SMALL_FOR_ONE: u32 = 480;

/// Simplifies definitions, each of which uses those before it only, and itself.
pub fn simplify(program: &mut Program, defs: &[Def], settings: &Settings) {
    let mut facts = Facts::new(settings.checks_bounds);
    let calls = calls(program, defs);
    let mut inlined: FxHashSet<FunId> = FxHashSet::default();
    for def in defs {
        let Body::Expr(param, body) = def.body else { continue };
        let (param, body) = definition(program, &mut facts, settings, &inlined, (param, body));
        program.replace(Def { body: Body::Expr(param, body), ..*def });
        let is_wanted_once = calls.get(&def.fun) == Some(&1) && has_loops(&program.store, body);
        let limit = if is_wanted_once { SMALL_FOR_ONE } else { SMALL };
        if program.store.size(body) <= limit && !mentions_call(program, body, def.fun) {
            inlined.insert(def.fun);
        }
    }
}

/// How often each function is called.
fn calls(program: &Program, defs: &[Def]) -> FxHashMap<FunId, u32> {
    let mut calls = FxHashMap::default();
    for def in defs {
        let Body::Expr(_, body) = def.body else { continue };
        for part in program.store.post_order(body) {
            if let Node::Call(fun, _) = program.store.node(part) {
                *calls.entry(fun).or_default() += 1;
            }
        }
    }
    calls
}

fn has_loops(store: &Store, expr: ExprId) -> bool {
    store.post_order(expr).into_iter().any(|part| matches!(store.node(part), Node::Lam(..)))
}

fn mentions_call(program: &Program, body: ExprId, fun: FunId) -> bool {
    let store = &program.store;
    store.post_order(body).into_iter().any(|part| matches!(store.node(part), Node::Call(of, _) if of == fun))
}

fn definition(
    program: &mut Program,
    facts: &mut Facts,
    settings: &Settings,
    inlined: &FxHashSet<FunId>,
    (param, body): (VarId, ExprId),
) -> (VarId, ExprId) {
    let (mut param, mut body) = settled(program, facts, settings, inlined, (param, body));
    // Where an index can fail, steps stay in their order.
    if settings.checks_bounds {
        return (param, body);
    }
    let passes: [Pass; 2] = [lockstep::in_blocks, unroll::unroll];
    for pass in passes {
        let changed = pass(program, facts, body);
        if changed != body {
            (param, body) = settled(program, facts, settings, inlined, (param, changed));
        }
    }
    (param, body)
}

/// What is done to loops at the end.
type Pass = fn(&mut Program, &mut Facts, ExprId) -> ExprId;

/// Brings a function into normal form and back until nothing changes.
fn settled(
    program: &mut Program,
    facts: &mut Facts,
    settings: &Settings,
    inlined: &FxHashSet<FunId>,
    (mut param, mut body): (VarId, ExprId),
) -> (VarId, ExprId) {
    let mut before = None;
    for _ in 0..ROUNDS {
        let unused = Uses::of(&program.store, body).unused();
        (param, body) = Normalizer::new(program, facts, settings, &unused, inlined).function(param, body);
        let uses = Uses::of(&program.store, body);
        body = Settler::new(program, facts, &uses).settle(body);
        let lam = program.store.lam(param, body);
        let now = program.store.canonical(lam);
        if before.replace(now) == Some(now) {
            break;
        }
    }
    (param, body)
}
