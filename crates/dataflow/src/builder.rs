//! How a reader makes a [`Graph`]: add things in file order, then [`GraphBuilder::build`] checks them.

use crate::graph::{Graph, OpId, TensorId, TimeSource, WeightId, Work};
use crate::names::Names;
use crate::{Error, Result};
use labrys_graph::{Csr, Cycle, Id, dag};
use std::collections::HashMap;

/// Sums of all times and of all sizes stay below this, so that no later sum of them overflows.
const SUM_LIMIT: u64 = 1 << 60;
/// Most ops, tensors or arcs of one graph.
const COUNT_LIMIT: usize = 1 << 28;

#[derive(Default)]
struct OpDraft {
    kind: u32,
    time: u64,
    time_source: TimeSource,
    work: Work,
    scratch: u64,
    inputs: Vec<TensorId>,
    outputs: Vec<TensorId>,
    control: Vec<OpId>,
    reads: Vec<WeightId>,
}

/// A graph under construction.
#[derive(Default)]
pub struct GraphBuilder {
    name: String,
    op_names: Names,
    ops: Vec<OpDraft>,
    kind_ids: HashMap<String, u32>,
    kind_names: Names,
    tensor_names: Names,
    bytes: Vec<u64>,
    kept: Vec<bool>,
    producer: Vec<OpId>,
    weight_names: Names,
    weight_bytes: Vec<u64>,
}

impl GraphBuilder {
    /// An empty graph with the model's name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds an op. Its time is 0 until [`set_time`](Self::set_time) or a cost model says otherwise.
    pub fn op(&mut self, name: &str, kind: &str) -> OpId {
        let kind = self.intern_kind(kind);
        self.op_names.push(name);
        self.ops.push(OpDraft { kind, ..OpDraft::default() });
        OpId::new(self.ops.len() - 1)
    }

    fn intern_kind(&mut self, kind: &str) -> u32 {
        if let Some(&id) = self.kind_ids.get(kind) {
            return id;
        }
        let id = self.kind_names.len() as u32;
        self.kind_names.push(kind);
        self.kind_ids.insert(kind.to_owned(), id);
        id
    }

    /// Adds a tensor that `op` produces.
    pub fn output(&mut self, op: OpId, name: &str, bytes: u64) -> TensorId {
        let tensor = TensorId::new(self.bytes.len());
        self.tensor_names.push(name);
        self.bytes.push(bytes);
        self.kept.push(false);
        self.producer.push(op);
        self.ops[op.index()].outputs.push(tensor);
        tensor
    }

    /// `op` consumes `tensor`; repeating it changes nothing.
    pub fn input(&mut self, op: OpId, tensor: TensorId) {
        self.ops[op.index()].inputs.push(tensor);
    }

    /// `op` starts only after `before` has finished.
    pub fn control(&mut self, op: OpId, before: OpId) {
        self.ops[op.index()].control.push(before);
    }

    /// Adds a tensor without a producer.
    pub fn weight(&mut self, name: &str, bytes: u64) -> WeightId {
        self.weight_names.push(name);
        self.weight_bytes.push(bytes);
        WeightId::new(self.weight_bytes.len() - 1)
    }

    /// `op` reads `weight`; repeating it changes nothing.
    pub fn reads(&mut self, op: OpId, weight: WeightId) {
        self.ops[op.index()].reads.push(weight);
    }

    /// Marks a tensor as an output of the graph: it stays in memory to the end.
    pub fn keep(&mut self, tensor: TensorId) {
        self.kept[tensor.index()] = true;
    }

    /// Run time in nanoseconds.
    pub fn set_time(&mut self, op: OpId, nanoseconds: u64, source: TimeSource) {
        let draft = &mut self.ops[op.index()];
        (draft.time, draft.time_source) = (nanoseconds, source);
    }

    /// What the op does; a roofline turns it into a time.
    pub fn set_work(&mut self, op: OpId, work: Work) {
        self.ops[op.index()].work = work;
    }

    /// Memory that the op holds only while it runs.
    pub fn set_scratch(&mut self, op: OpId, bytes: u64) {
        self.ops[op.index()].scratch = bytes;
    }

    /// Number of ops so far.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// The finished graph.
    ///
    /// # Errors
    /// No ops at all, a cycle, too many ops, or sizes and times whose sum does not fit.
    pub fn build(mut self) -> Result<Graph> {
        self.check_size()?;
        for op in &mut self.ops {
            sort_dedup(&mut op.inputs);
            sort_dedup(&mut op.control);
            sort_dedup(&mut op.reads);
        }
        let inputs = Csr::from_rows(self.ops.iter().map(|op| op.inputs.iter().copied()));
        let preds = self.predecessors();
        let succs: Csr<OpId> = preds.transpose(self.ops.len());
        let topological = dag::topological_order(&succs).map_err(|cycle| self.cycle_error(&cycle))?;
        Ok(Graph {
            name: self.name,
            op_names: self.op_names,
            kinds: self.ops.iter().map(|op| op.kind).collect(),
            kind_names: self.kind_names,
            time: self.ops.iter().map(|op| op.time).collect(),
            time_source: self.ops.iter().map(|op| op.time_source).collect(),
            work: self.ops.iter().map(|op| op.work).collect(),
            scratch: self.ops.iter().map(|op| op.scratch).collect(),
            outputs: Csr::from_rows(self.ops.iter().map(|op| op.outputs.iter().copied())),
            control: Csr::from_rows(self.ops.iter().map(|op| op.control.iter().copied())),
            reads: Csr::from_rows(self.ops.iter().map(|op| op.reads.iter().copied())),
            consumers: inputs.transpose(self.bytes.len()),
            inputs,
            tensor_names: self.tensor_names,
            bytes: self.bytes,
            kept: self.kept,
            producer: self.producer,
            weight_names: self.weight_names,
            weight_bytes: self.weight_bytes,
            preds,
            succs,
            topological,
        })
    }

    fn check_size(&self) -> Result<()> {
        if self.ops.is_empty() {
            return Err(Error::file("the graph has no ops").with_hint("there is nothing to place"));
        }
        let arcs: usize = self.ops.iter().map(|op| op.inputs.len() + op.control.len() + op.reads.len()).sum();
        if self.ops.len().max(self.bytes.len()).max(arcs) > COUNT_LIMIT {
            return Err(Error::file(format!("the graph is too large: more than {COUNT_LIMIT} ops, tensors or edges")));
        }
        let time = sum_below_limit(self.ops.iter().map(|op| op.time));
        let bytes = sum_below_limit(
            self.bytes
                .iter()
                .copied()
                .chain(self.weight_bytes.iter().copied())
                .chain(self.ops.iter().map(|op| op.scratch)),
        );
        match (time, bytes) {
            (true, true) => Ok(()),
            (false, _) => Err(Error::file("the run times add up to more than 2^60 ns")),
            (_, false) => Err(Error::file("the tensor sizes add up to more than 2^60 bytes")),
        }
    }

    fn predecessors(&self) -> Csr<OpId> {
        let mut row = vec![];
        let mut preds = Csr::default();
        for op in &self.ops {
            row.clear();
            row.extend(op.inputs.iter().map(|t| self.producer[t.index()]).chain(op.control.iter().copied()));
            sort_dedup(&mut row);
            preds.push_row(row.iter().copied());
        }
        preds
    }

    fn cycle_error(&self, Cycle(ops): &Cycle<OpId>) -> Error {
        let name = |op: &OpId| self.op_names.get(op.index()).to_owned();
        let mut names: Vec<String> = ops.iter().take(8).map(name).collect();
        names.push(if ops.len() > 8 { format!("... ({} ops)", ops.len()) } else { name(&ops[0]) });
        Error::Cycle(names)
    }
}

fn sort_dedup<T: Ord>(items: &mut Vec<T>) {
    items.sort_unstable();
    items.dedup();
}

fn sum_below_limit(values: impl Iterator<Item = u64>) -> bool {
    values.map(u128::from).sum::<u128>() < u128::from(SUM_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_inputs_count_once_and_relations_are_mutual() {
        let mut b = GraphBuilder::new("g");
        let (x, y) = (b.op("x", "input"), b.op("y", "Mul"));
        let t = b.output(x, "t", 4);
        b.input(y, t);
        b.input(y, t);
        b.control(y, x);
        let g = b.build().unwrap();
        assert_eq!((g.inputs(y), g.consumers(t), g.preds(y), g.succs(x)), (&[t][..], &[y][..], &[x][..], &[y][..]));
    }

    #[test]
    fn a_cycle_is_named() {
        let mut b = GraphBuilder::new("g");
        let (x, y) = (b.op("x", "a"), b.op("y", "b"));
        b.control(x, y);
        b.control(y, x);
        let message = b.build().unwrap_err().to_string();
        assert!(
            message == "the ops form a cycle: x -> y -> x" || message == "the ops form a cycle: y -> x -> y",
            "{message}"
        );
    }

    #[test]
    fn empty_and_huge_are_refused() {
        assert!(GraphBuilder::new("g").build().is_err());
        let mut b = GraphBuilder::new("g");
        let x = b.op("x", "a");
        b.output(x, "t", u64::MAX);
        b.output(x, "u", u64::MAX);
        assert!(b.build().unwrap_err().to_string().contains("2^60 bytes"));
    }
}
