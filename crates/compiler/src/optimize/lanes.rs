//! Sums in lanes: where the C++ compiler would compute one term after another, and the cost says that several at once pay.

use super::sharing::descend;
use super::walk::Walk;
use crate::cost::Cost;
use crate::ir::Program;
use crate::rewrite::Rewriter;

/// Goes on with sums in lanes as long as the cost falls; none if the rules allow none, or none pays.
pub(super) fn in_lanes(
    program: &mut Program,
    rewriter: &Rewriter,
    cost: &mut dyn Cost,
    mut walk: Walk,
) -> Option<Walk> {
    let rules = rewriter.rules().filtered(|rule| rule.family() == "sumbuild_in_lanes");
    rules.rules().next()?;
    let before = walk.at;
    descend(program, &mut Rewriter::new(&rules), cost, &mut walk);
    (walk.at != before).then_some(walk)
}
