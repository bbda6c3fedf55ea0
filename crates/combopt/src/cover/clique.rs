//! Largest cliques by branch and bound on bit sets: greedy colours bound, one exchange of colours sharpens (San Segundo et al. 2011, 2013;
//! Tomita et al. 2010).

use labrys_graph::Graph;

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The largest clique, which is larger than asked for.
    Best(Vec<u32>),
    /// There is none larger than asked for.
    NoneLarger,
    /// The search was stopped.
    Stopped {
        /// Share of the tree that it had looked at, if all branches of a node are alike.
        explored: f64,
    },
}

/// The largest independent set of a graph that has more than `more_than` nodes.
pub fn independent_set(graph: &Graph, more_than: usize, spend: &mut dyn FnMut(u64) -> bool) -> Answer {
    let order = degeneracy_order(graph);
    let n = graph.nodes();
    let words = n.div_ceil(64).max(1);
    let mut place = vec![0u32; n];
    order.iter().zip(0..).for_each(|(&v, i)| place[v as usize] = i);
    let mut rows = vec![0u64; n * words];
    for (i, &v) in order.iter().enumerate() {
        let row = &mut rows[i * words..(i + 1) * words];
        (0..n).for_each(|j| set(row, j));
        clear(row, i);
        graph.neighbours(v).iter().for_each(|&u| clear(row, place[u as usize] as usize));
    }
    let mut search = Search {
        words,
        rows,
        best: vec![],
        more_than,
        current: vec![],
        spend,
        stopped: false,
        explored: 0.0,
        levels: vec![],
    };
    let mut all = vec![0u64; words];
    (0..n).for_each(|i| set(&mut all, i));
    if n > 0 {
        search.expand(&all, 0, 1.0);
    }
    match (search.stopped, search.best) {
        (true, _) => Answer::Stopped { explored: search.explored },
        (false, best) if best.is_empty() => Answer::NoneLarger,
        (false, best) => Answer::Best(best.into_iter().map(|i| order[i as usize]).collect()),
    }
}

/// Nodes such that each has the fewest non-neighbours among those before it: in the complement, smallest degree last. Colours go to the
/// first nodes first.
fn degeneracy_order(graph: &Graph) -> Vec<u32> {
    let n = graph.nodes();
    let mut known: Vec<usize> = (0..n as u32).map(|v| graph.degree(v)).collect();
    let mut left: Vec<u32> = (0..n as u32).collect();
    let mut order = Vec::with_capacity(n);
    while let Some((i, _)) = left.iter().enumerate().max_by_key(|&(_, &v)| (known[v as usize], v)) {
        let v = left.swap_remove(i);
        graph.neighbours(v).iter().for_each(|&u| known[u as usize] = known[u as usize].saturating_sub(1));
        order.push(v);
    }
    order.reverse();
    order
}

fn set(bits: &mut [u64], i: usize) {
    bits[i / 64] |= 1 << (i % 64);
}

fn clear(bits: &mut [u64], i: usize) {
    bits[i / 64] &= !(1 << (i % 64));
}

/// Buffers of one depth.
#[derive(Clone, Default)]
struct Level {
    candidates: Vec<u64>,
    /// Nodes that may start a larger clique, with the colours left for them.
    branch: Vec<(u32, u32)>,
}

struct Search<'a> {
    words: usize,
    rows: Vec<u64>,
    best: Vec<u32>,
    more_than: usize,
    current: Vec<u32>,
    spend: &'a mut dyn FnMut(u64) -> bool,
    stopped: bool,
    /// Share of the tree that is done.
    explored: f64,
    levels: Vec<Level>,
}

impl Search<'_> {
    fn row(&self, v: u32) -> &[u64] {
        &self.rows[v as usize * self.words..][..self.words]
    }

    /// Looks at all that `current` and some of the candidates make up, which is a share of the tree.
    fn expand(&mut self, candidates: &[u64], depth: usize, share: f64) {
        let before = self.explored;
        if self.levels.len() <= depth {
            self.levels.push(Level::default());
        }
        let mut level = std::mem::take(&mut self.levels[depth]);
        level.candidates.clear();
        level.candidates.extend_from_slice(candidates);
        self.colour(candidates, &mut level.branch);
        let of_each = share / level.branch.len().max(1) as f64;
        let mut inner = vec![0u64; self.words];
        while let Some((v, colour)) = level.branch.pop() {
            if self.stopped || self.current.len() + colour as usize <= self.more_than {
                break;
            }
            self.current.push(v);
            let row = &self.rows[v as usize * self.words..][..self.words];
            inner.iter_mut().zip(&level.candidates).zip(row).for_each(|((inner, &a), &b)| *inner = a & b);
            if inner.iter().any(|&word| word != 0) {
                self.expand(&inner, depth + 1, of_each);
            } else if self.current.len() > self.more_than {
                self.more_than = self.current.len();
                self.best.clone_from(&self.current);
            }
            self.current.pop();
            clear(&mut level.candidates, v as usize);
        }
        self.levels[depth] = level;
        if !self.stopped {
            self.explored = before + share;
        }
    }

    /// Colours the candidates class by class. Only nodes whose colour lies above what a larger clique needs are branched on, highest last.
    fn colour(&mut self, candidates: &[u64], branch: &mut Vec<(u32, u32)>) {
        branch.clear();
        let need = (self.more_than as i64 - self.current.len() as i64).max(0) as usize;
        let mut uncoloured = candidates.to_vec();
        let mut classes: Vec<Vec<u64>> = vec![];
        let mut class = vec![0u64; self.words];
        let mut work = 0u64;
        let mut colour = 0;
        while uncoloured.iter().any(|&word| word != 0) {
            colour += 1;
            let mut open = uncoloured.clone();
            class.fill(0);
            let mut word = 0;
            while word < self.words {
                if open[word] == 0 {
                    word += 1;
                    continue;
                }
                let v = (word * 64) as u32 + open[word].trailing_zeros();
                clear(&mut open, v as usize);
                clear(&mut uncoloured, v as usize);
                let row = &self.rows[v as usize * self.words..][..self.words];
                open[word..].iter_mut().zip(&row[word..]).for_each(|(open, &row)| *open &= !row);
                work += self.words as u64;
                if colour > need && need > 0 && self.recolour(v, need, &mut classes) {
                    continue;
                }
                set(&mut class, v as usize);
                if colour > need {
                    branch.push((v, colour as u32));
                }
            }
            if colour <= need {
                classes.push(class.clone());
            }
        }
        self.stopped |= (self.spend)(work + self.words as u64);
    }

    /// Finds a class where `v` has one neighbour only, which fits into another class.
    fn recolour(&self, v: u32, need: usize, classes: &mut [Vec<u64>]) -> bool {
        let row = self.row(v);
        for first in 0..need.min(classes.len()) {
            let mut common = classes[first].iter().zip(row).enumerate().filter(|(_, (a, b))| *a & *b != 0);
            let Some((word, (a, b))) = common.next() else {
                set(&mut classes[first], v as usize);
                return true;
            };
            let bits = a & b;
            if bits & (bits - 1) != 0 || common.next().is_some() {
                continue;
            }
            let w = (word * 64) as u32 + bits.trailing_zeros();
            let fits = |class: &Vec<u64>| class.iter().zip(self.row(w)).all(|(a, b)| a & b == 0);
            if let Some(second) = (first + 1..need.min(classes.len())).find(|&second| fits(&classes[second])) {
                clear(&mut classes[first], w as usize);
                set(&mut classes[second], w as usize);
                set(&mut classes[first], v as usize);
                return true;
            }
        }
        false
    }
}
