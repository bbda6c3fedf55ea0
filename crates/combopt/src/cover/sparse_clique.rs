//! Largest cliques of large sparse graphs: each node together with its later neighbours in a degeneracy order, so that no set is larger
//! than the degeneracy (Eppstein, Loeffler, Strash 2010). The complement of the whole graph is never made.

use super::clique::{self, Answer};
use labrys_graph::Graph;
use labrys_search::{Runner, Score};

/// Looks for the largest clique. Scores are the number of nodes outside; the runner gets every improvement and the bound.
pub fn solve(graph: &Graph, run: &mut Runner<Vec<bool>>) {
    let n = graph.nodes();
    let (order, core) = degeneracy(graph);
    let mut place = vec![0u32; n];
    order.iter().zip(0..).for_each(|(&v, i)| place[v as usize] = i);
    // A clique of k nodes lies in the (k - 1)-core.
    let largest = core.iter().max().map_or(0, |&core| core as usize + 1).min(n);
    run.raise_bound((n - largest) as u64);
    let mut best = 0;
    let watch = run.stopwatch();
    // Dense cores come last in the order: they are looked at first.
    for &v in order.iter().rev() {
        if (core[v as usize] as usize) < best {
            continue;
        }
        let mut nodes: Vec<u32> =
            graph.neighbours(v).iter().copied().filter(|&u| place[u as usize] > place[v as usize]).collect();
        nodes.retain(|&u| core[u as usize] as usize >= best);
        if nodes.len() < best {
            continue;
        }
        run.spend(1);
        let inner = graph.subgraph(&nodes).complement();
        match clique::independent_set(&inner, best.saturating_sub(1), &mut |_| watch.rings()) {
            Answer::Best(set) => {
                best = set.len() + 1;
                run.offer(Score::feasible((n - best) as u64), "clique search", || {
                    let mut outside = vec![true; n];
                    outside[v as usize] = false;
                    set.iter().for_each(|&i| outside[nodes[i as usize] as usize] = false);
                    outside
                });
            }
            Answer::NoneLarger if best == 0 => {
                best = 1;
                run.offer(Score::feasible(n as u64 - 1), "clique search", || (0..n as u32).map(|u| u != v).collect());
            }
            Answer::NoneLarger | Answer::Stopped { .. } => {}
        }
        if run.should_stop() {
            return;
        }
    }
    run.raise_bound((n - best) as u64);
}

/// Nodes such that each has the fewest neighbours among those after it, and the core number of each.
fn degeneracy(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let n = graph.nodes();
    let mut degree: Vec<u32> = (0..n as u32).map(|v| graph.degree(v) as u32).collect();
    let mut buckets: Vec<Vec<u32>> = vec![vec![]; graph.max_degree() + 1];
    (0..n as u32).for_each(|v| buckets[degree[v as usize] as usize].push(v));
    let (mut order, mut core, mut done) = (Vec::with_capacity(n), vec![0; n], vec![false; n]);
    let (mut level, mut highest) = (0, 0);
    while let Some(bucket) = buckets.get_mut(level) {
        let Some(v) = bucket.pop() else {
            level += 1;
            continue;
        };
        if done[v as usize] || degree[v as usize] as usize != level {
            continue;
        }
        done[v as usize] = true;
        highest = highest.max(level as u32);
        core[v as usize] = highest;
        order.push(v);
        for &u in graph.neighbours(v).iter().filter(|&&u| !done[u as usize]) {
            degree[u as usize] -= 1;
            buckets[degree[u as usize] as usize].push(u);
            level = level.min(degree[u as usize] as usize);
        }
    }
    (order, core)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use labrys_graph::generate;
    use labrys_search::{Limits, Seed};

    #[test]
    fn sparse_and_complement_searches_agree() {
        let mut rng = Seed(6).stream("clique", 0);
        for n in [0u32, 1, 2, 30, 80] {
            let graph = Graph::from_edges(n, generate::power_law_cluster(n, 5, 0.8, &mut rng));
            let mut run = Runner::new(Limits::default(), Seed(0));
            solve(&graph, &mut run);
            let best = run.best().map_or(0, |(score, _)| u64::from(n) - score.value);
            assert_eq!(run.bound().map(|bound| u64::from(n) - bound), Some(best));
            let expected = match clique::independent_set(&graph.complement(), 0, &mut |_| false) {
                Answer::Best(set) => set.len() as u64,
                _ => 0,
            };
            assert_eq!(best, expected);
            if let Some((_, outside)) = run.best() {
                let nodes: Vec<u32> = (0..n).filter(|&v| !outside[v as usize]).collect();
                assert_eq!(check::clique(&graph, &nodes), Ok(best));
            }
        }
    }
}
