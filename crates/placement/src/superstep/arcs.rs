//! The precedence relation, split by what an arc needs on another device: a transfer, or just time.

use labrys_dataflow::{Graph, OpId};
use labrys_graph::Csr;

/// Successors of every op. An arc that passes a tensor is a data arc, whatever control edge runs beside it.
#[derive(Clone, Debug)]
pub(crate) struct Arcs {
    /// Ops that consume a tensor of the op.
    pub data: Csr<OpId>,
    /// Ops that only wait for the op.
    pub control: Csr<OpId>,
    /// Number of arcs of both kinds into each op.
    pub degree: Vec<u32>,
}

impl Arcs {
    pub fn new(graph: &Graph) -> Self {
        let (mut data, mut control) = (Csr::<OpId>::default(), Csr::<OpId>::default());
        let mut producers = vec![];
        for op in graph.ops() {
            producers.clear();
            producers.extend(graph.inputs(op).iter().map(|&tensor| graph.producer(tensor)));
            producers.sort_unstable();
            producers.dedup();
            data.push_row(producers.iter().copied());
            control.push_row(graph.control(op).iter().copied().filter(|op| producers.binary_search(op).is_err()));
        }
        let degree = graph.ops().map(|op| graph.preds(op).len() as u32).collect();
        Self { data: data.transpose(graph.op_count()), control: control.transpose(graph.op_count()), degree }
    }
}
