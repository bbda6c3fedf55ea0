//! Common subexpressions bound by rewrites: `new_bind` where one stands, `lift_bind` to the innermost place around all of them, `cse_bind` where two meet.

use super::walk::Walk;
use crate::cost::Cost;
use crate::ir::{ExprId, Node, Program, VarId};
use crate::rewrite::Rewriter;
use rustc_hash::{FxHashMap, FxHashSet};

/// Trees of more nodes than this are left to other methods.
const MOST_NODES: u32 = 400;

/// The numbers of the parts on the way to a place.
type Path = Vec<usize>;

/// A part to visit: where it stands, and the binders around it with their places.
type Visit = (ExprId, Path, Vec<(VarId, Path)>);

/// A value that is computed in several places.
struct Shared {
    expr: ExprId,
    /// Where, from left to right; the last first.
    places: Vec<Path>,
    /// What binding it once saves.
    gain: f64,
}

/// Binds what is computed more than once, as far as the rules allow and the cost falls, the dearest first.
pub(super) fn shared(program: &mut Program, rewriter: &mut Rewriter, cost: &mut dyn Cost, start: ExprId) -> Walk {
    let mut walk = Walk::new(start);
    let mut given_up: FxHashSet<ExprId> = FxHashSet::default();
    if program.store.size(start) > MOST_NODES {
        return walk;
    }
    settle(program, rewriter, cost, &mut walk);
    while let Some(shared) = dearest(program, cost, walk.at, &given_up) {
        let before = cost.cost(program, walk.at);
        let mut next = walk.clone();
        let is_bound = bind(program, rewriter, &mut next, &shared);
        if is_bound && cost.cost(program, next.at) < before - 1e-9 {
            walk = next;
        } else {
            given_up.insert(shared.expr);
        }
    }
    settle(program, rewriter, cost, &mut walk);
    walk
}

/// What saves most if it is bound once.
fn dearest(program: &mut Program, cost: &mut dyn Cost, root: ExprId, given_up: &FxHashSet<ExprId>) -> Option<Shared> {
    let mut found = occurrences(program, root);
    found.retain(|(expr, places)| places.len() > 1 && !given_up.contains(expr));
    let mut best: Option<Shared> = None;
    for (expr, places) in found {
        let gain = (places.len() - 1) as f64 * cost.cost(program, expr);
        if gain > 0.1 && best.as_ref().is_none_or(|best| gain > best.gain) {
            best = Some(Shared { expr, places, gain });
        }
    }
    best
}

/// The places of each part that has steps, those apart whose variables are bound by different binders; in the order of the first place.
fn occurrences(program: &Program, root: ExprId) -> Vec<(ExprId, Vec<Path>)> {
    let store = &program.store;
    let mut numbers: FxHashMap<(ExprId, Vec<Path>), usize> = FxHashMap::default();
    let mut found: Vec<(ExprId, Vec<Path>)> = vec![];
    let mut open: Vec<Visit> = vec![(root, vec![], vec![])];
    while let Some((expr, path, binders)) = open.pop() {
        let is_value = !matches!(store.node(expr), Node::Lam(..) | Node::Let(..)) && store.size(expr) > 1;
        if is_value {
            let of = |var: &VarId| binders.iter().rev().find(|(bound, _)| bound == var).map(|(_, path)| path.clone());
            let bound: Vec<Path> = store.free_vars(expr).iter().filter_map(of).collect();
            let number = *numbers.entry((expr, bound)).or_insert(found.len());
            if number == found.len() {
                found.push((expr, vec![]));
            }
            found[number].1.push(path.clone());
        }
        let parts = store.children(expr);
        let last = parts.len();
        for (number, part) in parts.into_iter().enumerate().rev() {
            let way = [&path[..], &[number]].concat();
            let mut binders = binders.clone();
            if let Some(var) = store.bound_by(expr).filter(|_| number + 1 == last) {
                binders.push((var, path.clone()));
            }
            open.push((part, way, binders));
        }
    }
    found
}

/// Binds a value once; says whether all went well.
fn bind(program: &mut Program, rewriter: &mut Rewriter, walk: &mut Walk, shared: &Shared) -> bool {
    let home = common(&shared.places);
    let mut is_first = true;
    for place in &shared.places {
        // What was bound before stands around the home now.
        let own_home = if is_first { home.clone() } else { [&home[..], &[1]].concat() };
        let place = [&own_home[..], &place[home.len()..]].concat();
        if !name(program, rewriter, walk, &place, own_home.len()) {
            return false;
        }
        if !is_first && !walk.take(program, rewriter, "cse_bind", &home, 0) {
            return false;
        }
        is_first = false;
    }
    true
}

/// Binds what stands at a place, and lifts the binding until it is `home` parts deep.
fn name(program: &mut Program, rewriter: &mut Rewriter, walk: &mut Walk, place: &[usize], home: usize) -> bool {
    let Some((last, above)) = place.split_last() else { return false };
    if !walk.take(program, rewriter, "new_bind", above, *last) {
        return false;
    }
    let mut at = place.to_vec();
    while at.len() > home {
        let Some(number) = at.pop() else { return false };
        if !walk.take(program, rewriter, "lift_bind", &at, number) {
            return false;
        }
    }
    true
}

/// The innermost place around several.
fn common(places: &[Path]) -> Path {
    let mut home = places.first().cloned().unwrap_or_default();
    for place in places {
        let same = home.iter().zip(place).take_while(|(a, b)| a == b).count();
        home.truncate(same);
    }
    home
}

/// Does single rewrites that bind or inline as long as the cost falls, each time the one that saves most.
fn settle(program: &mut Program, rewriter: &mut Rewriter, cost: &mut dyn Cost, walk: &mut Walk) {
    const FAMILIES: [&str; 5] = ["inline_let", "delete_let", "cse_bind", "select_of_tuple", "let_recover"];
    let binding = rewriter.rules().filtered(|rule| FAMILIES.contains(&rule.family()));
    descend(program, &mut Rewriter::new(&binding), cost, walk);
}

/// Does single rewrites as long as the cost falls, each time the one that saves most.
pub(super) fn descend(program: &mut Program, rewriter: &mut Rewriter, cost: &mut dyn Cost, walk: &mut Walk) {
    let mut found = vec![];
    loop {
        rewriter.actions(program, walk.at, &mut found);
        let mut best = (cost.cost(program, walk.at) - 1e-9, None);
        for (action, expr) in found.drain(..) {
            let after = cost.cost(program, expr);
            if after < best.0 {
                best = (after, Some((action, expr)));
            }
        }
        let Some((action, expr)) = best.1 else { return };
        walk.push(action, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Table;
    use crate::optimize::cse::cse;
    use crate::optimize::sets::SETS;
    use crate::optimize::testing::start_of;
    use crate::rewrite::{RuleSet, Settings};
    use crate::simplify::facts::Facts;

    #[test]
    fn it_finds_what_hash_consing_finds() {
        for set in SETS {
            let mut program = set.program();
            let rules = RuleSet::standard(&mut program, Settings::default());
            let mut rewriter = Rewriter::new(&rules);
            let mut cost = Table::default();
            for fun in set.functions(&program) {
                let start = start_of(&mut program, fun);
                let walk = shared(&mut program, &mut rewriter, &mut cost, start);
                let other = cse(&mut program, &mut Facts::new(true), &mut cost, start);
                let (found, expected) = (cost.cost(&mut program, walk.at), cost.cost(&mut program, other));
                let name = program.store.show_fun(fun);
                assert!(found <= expected + 1e-9, "{name}: {found}, and {expected} by hash-consing");
            }
        }
    }
}
