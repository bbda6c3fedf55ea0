//! What a search by steps asks of its subject.

use std::hash::Hash;

/// A space of states, with steps between them: expressions and rewrites, or positions and moves.
///
/// A search looks for the state of least cost within so many steps of a root. Its methods take `&mut self`, since making states may intern them and
/// costs may be cached; what they answer must depend on the state alone.
pub trait Space {
    /// Equal states are one state; usually an id.
    type State: Copy + Eq + Hash;
    /// How one gets from a state to the next: what a certificate holds.
    type Step;

    /// What is minimised: finite, at least 0.
    fn cost(&mut self, state: Self::State) -> f64;

    /// Appends every step from a state with the state where it leads, in an order that never changes.
    fn steps(&mut self, state: Self::State, out: &mut Vec<(Self::Step, Self::State)>);

    /// What a guide says of each state: V_t(s) for t = 0..=`horizon` steps that are left, row by row, the reduction of cost by each of them on
    /// average. Nothing means that there is no guide.
    ///
    /// It only steers: whatever it says, however many numbers, finite or not, results are valid and no worse than the root.
    fn values(&mut self, states: &[Self::State], horizon: u32, out: &mut Vec<f32>) {
        _ = (states, horizon, out);
    }
}
