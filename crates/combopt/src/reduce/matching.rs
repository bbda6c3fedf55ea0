//! Half-integral vertex covers: a maximum matching between two copies of the nodes (Hopcroft & Karp 1973), and the optimum with the fewest
//! halves, which the strongly connected components of its residual graph give (Iwata, Oka, Yoshida 2014).

use labrys_graph::Graph;

const NONE: u32 = u32::MAX;

/// A lower bound on vertex covers: the optimum of the linear relaxation, rounded up.
pub fn half_integral_bound(graph: &Graph) -> usize {
    let rows: Vec<Vec<u32>> = graph.adjacency().iter().map(<[u32]>::to_vec).collect();
    Matching::maximum(&rows).size.div_ceil(2)
}

/// The nodes of value 0 in the optimum of the relaxation with the fewest halves. Their neighbours have value 1, all others one half.
pub(super) fn half_integral(rows: &[Vec<u32>]) -> Vec<bool> {
    Matching::maximum(rows).free_nodes()
}

/// A matching between left copies and right copies.
struct Matching<'g> {
    rows: &'g [Vec<u32>],
    /// Partner of each left copy and of each right copy.
    left: Vec<u32>,
    right: Vec<u32>,
    size: usize,
}

impl<'g> Matching<'g> {
    fn maximum(rows: &'g [Vec<u32>]) -> Self {
        let n = rows.len();
        let mut matching = Self { rows, left: vec![NONE; n], right: vec![NONE; n], size: 0 };
        matching.greedy();
        let mut level = vec![NONE; n];
        while matching.levels(&mut level) {
            let mut next = vec![0usize; n];
            for v in 0..n as u32 {
                if matching.left[v as usize] == NONE && matching.augment(v, &mut level, &mut next) {
                    matching.size += 1;
                }
            }
        }
        matching
    }

    fn greedy(&mut self) {
        for v in 0..self.rows.len() {
            if let Some(&u) = self.rows[v].iter().find(|&&u| self.right[u as usize] == NONE) {
                (self.left[v], self.right[u as usize]) = (u, v as u32);
                self.size += 1;
            }
        }
    }

    /// Breadth-first levels of the left copies from the unmatched ones; whether an unmatched right copy is in reach.
    fn levels(&self, level: &mut [u32]) -> bool {
        level.fill(NONE);
        let mut queue: Vec<u32> = (0..self.rows.len() as u32).filter(|&v| self.left[v as usize] == NONE).collect();
        queue.iter().for_each(|&v| level[v as usize] = 0);
        let (mut found, mut next) = (false, 0);
        while next < queue.len() {
            let v = queue[next] as usize;
            next += 1;
            for &u in &self.rows[v] {
                let partner = self.right[u as usize];
                if partner == NONE {
                    found = true;
                } else if level[partner as usize] == NONE {
                    level[partner as usize] = level[v] + 1;
                    queue.push(partner);
                }
            }
        }
        found
    }

    /// Depth-first search along the levels, without recursion; flips the path that it finds.
    fn augment(&mut self, root: u32, level: &mut [u32], next: &mut [usize]) -> bool {
        let mut path = vec![root];
        while let Some(&v) = path.last() {
            let v = v as usize;
            let Some(&u) = self.rows[v].get(next[v]) else {
                level[v] = NONE;
                path.pop();
                continue;
            };
            next[v] += 1;
            let partner = self.right[u as usize];
            if partner == NONE {
                self.flip(&path, u);
                return true;
            }
            if level[partner as usize] == level[v] + 1 {
                path.push(partner);
            }
        }
        false
    }

    /// Matches the last of a path to `end`, and each before it to what the next had.
    fn flip(&mut self, path: &[u32], mut end: u32) {
        for &v in path.iter().rev() {
            let before = std::mem::replace(&mut self.left[v as usize], end);
            self.right[end as usize] = v;
            end = before;
        }
    }

    /// The nodes of value 0. First those that alternating paths from unmatched left copies reach on the left only; then, among the
    /// rest, closed components of the residual graph that do not hold both copies of a node.
    fn free_nodes(&self) -> Vec<bool> {
        let n = self.rows.len();
        let mut reached = vec![false; 2 * n];
        let mut stack: Vec<u32> = (0..n as u32).filter(|&v| self.left[v as usize] == NONE).collect();
        stack.iter().for_each(|&v| reached[v as usize] = true);
        while let Some(v) = stack.pop() {
            for &u in &self.rows[v as usize] {
                if !std::mem::replace(&mut reached[n + u as usize], true) {
                    let partner = self.right[u as usize];
                    if partner != NONE && !std::mem::replace(&mut reached[partner as usize], true) {
                        stack.push(partner);
                    }
                }
            }
        }
        // Koenig: the minimum cover holds left copies not reached and right copies reached; a node in neither is free.
        let mut free: Vec<bool> = (0..n).map(|v| reached[v] && !reached[n + v]).collect();
        let settled: Vec<bool> = (0..n).map(|v| reached[v] != reached[n + v]).collect();
        self.free_by_components(&settled, &mut free);
        free
    }

    /// Tarjan's algorithm over the left copies (a right copy leads to its partner only). Components come out in reverse topological order,
    /// so the first ones are closed: what they lead to lies in them or was taken.
    fn free_by_components(&self, settled: &[bool], free: &mut [bool]) {
        let n = self.rows.len();
        let mut tarjan = Tarjan::new(n);
        // 0 unknown, 1 left copy taken, 2 refused.
        let mut state = vec![0u8; n];
        let mut right_taken = vec![false; n];
        for root in 0..n as u32 {
            if settled[root as usize] || tarjan.index[root as usize] != NONE {
                continue;
            }
            tarjan.run(
                root,
                |v, i| loop_next(self, settled, v, i),
                |component| {
                    let closed = component.iter().all(|&v| {
                        let inner = self.rows[v as usize].iter().filter(|&&u| !settled[u as usize]);
                        inner.clone().all(|&u| state[self.right[u as usize] as usize] != 2)
                    });
                    // Taking left copies v takes the right copies of all their neighbours.
                    let mut fits = closed;
                    for &v in component {
                        for &u in self.rows[v as usize].iter().filter(|&&u| !settled[u as usize]) {
                            fits &= state[u as usize] != 1 && !component_holds(component, u);
                        }
                        fits &= !right_taken[v as usize];
                    }
                    for &v in component {
                        state[v as usize] = if fits { 1 } else { 2 };
                        if fits {
                            free[v as usize] = true;
                            for &u in self.rows[v as usize].iter().filter(|&&u| !settled[u as usize]) {
                                right_taken[u as usize] = true;
                            }
                        }
                    }
                },
            );
        }
    }
}

/// Neighbour number `i` in the residual graph: the partner of the right copy of a neighbour.
fn loop_next(matching: &Matching<'_>, settled: &[bool], v: u32, i: usize) -> Option<Option<u32>> {
    let &u = matching.rows[v as usize].get(i)?;
    let partner = matching.right[u as usize];
    Some((!settled[u as usize] && partner != NONE && partner != v).then_some(partner))
}

/// Components are sorted before they are shown.
fn component_holds(component: &[u32], v: u32) -> bool {
    component.binary_search(&v).is_ok()
}

/// Strongly connected components without recursion.
struct Tarjan {
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    count: u32,
}

impl Tarjan {
    fn new(nodes: usize) -> Self {
        Self { index: vec![NONE; nodes], low: vec![0; nodes], on_stack: vec![false; nodes], stack: vec![], count: 0 }
    }

    fn enter(&mut self, v: u32) {
        self.index[v as usize] = self.count;
        self.low[v as usize] = self.count;
        self.count += 1;
        self.stack.push(v);
        self.on_stack[v as usize] = true;
    }

    /// Visits what `root` leads to. `next(v, i)` is arc `i` of `v`, `None` after the last; `component` gets each component, sorted.
    fn run(&mut self, root: u32, next: impl Fn(u32, usize) -> Option<Option<u32>>, mut component: impl FnMut(&[u32])) {
        let mut calls: Vec<(u32, usize)> = vec![(root, 0)];
        self.enter(root);
        while let Some((v, i)) = calls.last_mut() {
            let v = *v;
            if let Some(arc) = next(v, *i) {
                *i += 1;
                let Some(u) = arc else { continue };
                if self.index[u as usize] == NONE {
                    self.enter(u);
                    calls.push((u, 0));
                } else if self.on_stack[u as usize] {
                    self.low[v as usize] = self.low[v as usize].min(self.index[u as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(parent, _)) = calls.last() {
                self.low[parent as usize] = self.low[parent as usize].min(self.low[v as usize]);
            }
            if self.low[v as usize] == self.index[v as usize] {
                let begin = self.stack.iter().rposition(|&u| u == v).unwrap_or(0);
                let mut members = self.stack.split_off(begin);
                members.iter().for_each(|&u| self.on_stack[u as usize] = false);
                members.sort_unstable();
                component(&members);
            }
        }
    }
}
