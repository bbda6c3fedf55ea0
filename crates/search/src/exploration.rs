//! What the searches over a [`Space`] share: expanding states into a [`StateGraph`], asking the guide, offering what is found.

use crate::space::Space;
use crate::state_graph::StateGraph;
use crate::{Runner, Score};
use std::ops::Range;

/// A space, with what a search has seen of it.
pub(crate) struct Exploration<'a, P: Space> {
    space: &'a mut P,
    pub(crate) graph: &'a mut StateGraph<P::State, P::Step>,
    run: &'a mut Runner<u32>,
    by: &'static str,
    pub(crate) horizon: u32,
    /// Cost of the root.
    start: f64,
    found: Vec<(P::Step, P::State)>,
    is_guided: bool,
}

impl<'a, P: Space> Exploration<'a, P> {
    pub(crate) fn new(
        space: &'a mut P,
        graph: &'a mut StateGraph<P::State, P::Step>,
        run: &'a mut Runner<u32>,
        by: &'static str,
        horizon: u32,
    ) -> Self {
        let mut exploration = Self { horizon, is_guided: true, ..Self::unguided(space, graph, run, by) };
        exploration.ask();
        for node in 0..exploration.graph.len() as u32 {
            exploration.offer(node);
        }
        exploration
    }

    /// One that asks no guide.
    pub(crate) fn unguided(
        space: &'a mut P,
        graph: &'a mut StateGraph<P::State, P::Step>,
        run: &'a mut Runner<u32>,
        by: &'static str,
    ) -> Self {
        let start = graph.cost(0);
        Self { space, graph, run, by, horizon: 0, start, found: vec![], is_guided: false }
    }

    pub(crate) fn should_stop(&mut self) -> bool {
        self.run.should_stop()
    }

    /// f(s) = t V_t(s) + c(s_0) - c(s) (equation 4).
    pub(crate) fn priority(&self, node: u32, left: u32) -> f64 {
        self.graph.promise(node, left) + self.gain(node)
    }

    /// c(s_0) - c(s)
    pub(crate) fn gain(&self, node: u32) -> f64 {
        self.start - self.graph.cost(node)
    }

    /// Where the steps of a state are among the edges. The first time they are made, at the price of one unit of work for each state
    /// that is new, and as far as the work limit allows.
    pub(crate) fn expand(&mut self, node: u32) -> Range<u32> {
        if let Some(steps) = self.graph.step_range(node) {
            return steps;
        }
        let mut found = std::mem::take(&mut self.found);
        self.space.steps(self.graph.state(node), &mut found);
        let from = self.graph.start_steps();
        for (step, state) in found.drain(..) {
            let (to, is_new) = match self.graph.number(state) {
                Some(known) => (known, false),
                None if self.run.work_left() == 0 => continue,
                None => (self.add(state), true),
            };
            self.graph.push_step(node, step, to, is_new);
        }
        self.found = found;
        self.ask();
        self.graph.end_steps(node, from);
        self.graph.step_range(node).unwrap_or(0..0)
    }

    fn add(&mut self, state: P::State) -> u32 {
        let cost = self.space.cost(state);
        let (node, _) = self.graph.insert(state, cost);
        self.run.spend(1);
        self.offer(node);
        node
    }

    fn offer(&mut self, node: u32) {
        self.run.offer(Score::of_cost(self.graph.cost(node)), self.by, || node);
    }

    /// Asks the guide about all states that it was not asked about, in one batch.
    fn ask(&mut self) {
        let asked = self.graph.valued();
        if !self.is_guided || asked == self.graph.len() {
            return;
        }
        let states: Vec<P::State> = (asked..self.graph.len()).map(|node| self.graph.state(node as u32)).collect();
        let mut rows = vec![];
        self.space.values(&states, self.horizon, &mut rows);
        if rows.is_empty() && asked == 0 {
            self.is_guided = false;
        } else {
            self.graph.push_values(&rows, states.len(), self.horizon);
        }
    }
}
