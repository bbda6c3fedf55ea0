//! Memory that a body needs for its own tensors while it runs.

use super::order::reads;
use super::proto::NodeProto;
use super::value::Value;
use std::collections::{HashMap, HashSet};

/// Follows the tensors of a body, which are freed after their last use. What the body returns belongs to the op outside.
pub(super) struct Liveness<'a> {
    last_use: HashMap<&'a str, usize>,
    returned: HashSet<&'a str>,
    sizes: HashMap<&'a str, u64>,
    live: u64,
    /// Most bytes held at once so far.
    pub(super) peak: u64,
}

impl<'a> Liveness<'a> {
    /// Nothing is live yet; `nodes` will run in this `order`.
    pub(super) fn new(nodes: &'a [NodeProto], order: &[usize], returned: &[&'a str]) -> Self {
        let uses =
            order.iter().enumerate().flat_map(|(step, &index)| reads(&nodes[index]).map(move |name| (name, step)));
        let returned = returned.iter().copied().collect();
        Self { last_use: uses.collect(), returned, sizes: HashMap::new(), live: 0, peak: 0 }
    }

    /// Runs `node` at `step`: its outputs and its own scratch memory come on top of what is live.
    pub(super) fn run(&mut self, step: usize, node: &'a NodeProto, outputs: &[Value], scratch: u64) {
        for (name, value) in node.output.iter().zip(outputs) {
            if !name.is_empty() && !self.returned.contains(name.as_str()) {
                self.live = self.live.saturating_add(value.bytes());
                self.sizes.insert(name, value.bytes());
            }
        }
        self.peak = self.peak.max(self.live.saturating_add(scratch));
        let unused = node.output.iter().map(String::as_str).filter(|name| !self.last_use.contains_key(name));
        let finished = reads(node).filter(|name| self.last_use.get(name) == Some(&step));
        for name in unused.chain(finished) {
            self.live = self.live.saturating_sub(self.sizes.remove(name).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::DType;

    fn node(input: &str, output: &str) -> NodeProto {
        NodeProto { input: vec![input.into()], output: vec![output.into()], ..NodeProto::default() }
    }

    #[test]
    fn tensors_die_after_their_last_use() {
        let nodes = [node("x", "a"), node("a", "b"), node("b", "c"), node("b", "y")];
        let mut memory = Liveness::new(&nodes, &[0, 1, 2, 3], &["y"]);
        let sizes = [10, 20, 5, 1000];
        let peaks = [10, 30, 30, 120]; // a; a b; b c; b and the scratch of the last node: c is never used, y is returned
        for (step, node) in nodes.iter().enumerate() {
            let scratch = if step == 3 { 100 } else { 0 };
            memory.run(step, node, &[Value::new(DType::I8, [sizes[step]])], scratch);
            assert_eq!(memory.peak, peaks[step], "step {step}");
        }
    }
}
