//! The vocabulary: ops, tensors, weights, and what each costs.

use crate::names::Names;
use labrys_graph::{Csr, define_id};

define_id!(
    /// One op (node) of a computation graph. Ops are numbered in the order of the file they came from.
    OpId
);
define_id!(
    /// One tensor: produced by exactly one op, consumed by any number.
    TensorId
);
define_id!(
    /// A tensor that no op produces: an initializer, a constant, an argument owned by the caller.
    WeightId
);

/// Where the run time of an op comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeSource {
    /// Computed from [`Work`] by the roofline of a device profile.
    #[default]
    Estimated,
    /// Taken from the input file, a runtime's profile or a table of measurements.
    Measured,
}

/// What an op does, whatever the device: the input of the roofline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Floating point (or integer) operations; a fused multiply-add counts 2.
    pub flops: u64,
    /// Bytes read and written, weights included.
    pub bytes: u64,
    /// Element type that the arithmetic runs in.
    pub dtype: DType,
    /// Takes no time at all: a graph input, a tuple.
    pub free: bool,
}

/// Element types, as far as costs and sizes tell them apart.
#[allow(missing_docs)] // the names say it
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    F64,
    #[default]
    F32,
    F16,
    BF16,
    F8,
    F4,
    I64,
    I32,
    I16,
    I8,
    I4,
    Bool,
    C64,
    C128,
    String,
}

impl DType {
    /// Size of one element in bits.
    pub fn bits(self) -> u64 {
        match self {
            Self::C128 | Self::String => 128,
            Self::F64 | Self::I64 | Self::C64 => 64,
            Self::F32 | Self::I32 => 32,
            Self::F16 | Self::BF16 | Self::I16 => 16,
            Self::F8 | Self::I8 | Self::Bool => 8,
            Self::F4 | Self::I4 => 4,
        }
    }

    /// Bytes of `elements` packed elements, or `None` if that overflows.
    pub fn bytes(self, elements: u64) -> Option<u64> {
        Some(elements.checked_mul(self.bits())?.div_ceil(8))
    }
}

/// A computation graph, checked: acyclic, every id in range, sums of times and sizes below 2^60.
///
/// Times are nanoseconds, sizes bytes. Made by [`GraphBuilder`](crate::GraphBuilder) only, and never changed but for its
/// [times](Graph::set_time) and [sizes](Graph::set_bytes).
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) name: String,
    pub(crate) op_names: Names,
    pub(crate) kinds: Vec<u32>,
    pub(crate) kind_names: Names,
    pub(crate) time: Vec<u64>,
    pub(crate) time_source: Vec<TimeSource>,
    pub(crate) work: Vec<Work>,
    pub(crate) scratch: Vec<u64>,
    pub(crate) inputs: Csr<TensorId>,
    pub(crate) outputs: Csr<TensorId>,
    pub(crate) control: Csr<OpId>,
    pub(crate) reads: Csr<WeightId>,
    pub(crate) tensor_names: Names,
    pub(crate) bytes: Vec<u64>,
    pub(crate) kept: Vec<bool>,
    pub(crate) producer: Vec<OpId>,
    pub(crate) consumers: Csr<OpId>,
    pub(crate) weight_names: Names,
    pub(crate) weight_bytes: Vec<u64>,
    pub(crate) preds: Csr<OpId>,
    pub(crate) succs: Csr<OpId>,
    pub(crate) topological: Vec<OpId>,
}

impl Graph {
    /// Name of the model, from the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of ops.
    #[inline]
    pub fn op_count(&self) -> usize {
        self.kinds.len()
    }

    /// Number of tensors.
    #[inline]
    pub fn tensor_count(&self) -> usize {
        self.bytes.len()
    }

    /// Number of weights.
    #[inline]
    pub fn weight_count(&self) -> usize {
        self.weight_bytes.len()
    }

    /// All ops, in file order.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = OpId> + use<> {
        (0..self.op_count() as u32).map(OpId)
    }

    /// All tensors.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = TensorId> + use<> {
        (0..self.tensor_count() as u32).map(TensorId)
    }

    /// All weights.
    pub fn weights(&self) -> impl ExactSizeIterator<Item = WeightId> + use<> {
        (0..self.weight_count() as u32).map(WeightId)
    }

    /// Name of an op; unique within the graph if it was in the file.
    pub fn op_name(&self, op: OpId) -> &str {
        self.op_names.get(op.0 as usize)
    }

    /// Kind of an op: `Conv`, `dot`, `input`.
    pub fn kind(&self, op: OpId) -> &str {
        self.kind_names.get(self.kinds[op.0 as usize] as usize)
    }

    /// Run time of an op on the reference device, in nanoseconds.
    #[inline]
    pub fn time(&self, op: OpId) -> u64 {
        self.time[op.0 as usize]
    }

    /// Whether that time was measured or estimated.
    pub fn time_source(&self, op: OpId) -> TimeSource {
        self.time_source[op.0 as usize]
    }

    /// Replaces the run time of an op, clipped to 2^60 / ops so that sums cannot overflow.
    pub fn set_time(&mut self, op: OpId, nanoseconds: u64, source: TimeSource) {
        self.time[op.0 as usize] = nanoseconds.min((1 << 60) / self.op_count() as u64);
        self.time_source[op.0 as usize] = source;
    }

    /// Replaces the size of a tensor, clipped to 2^60 / tensors so that sums cannot overflow.
    pub fn set_bytes(&mut self, tensor: TensorId, bytes: u64) {
        self.bytes[tensor.0 as usize] = bytes.min((1 << 60) / self.tensor_count() as u64);
    }

    /// Device-independent work of an op.
    pub fn work(&self, op: OpId) -> &Work {
        &self.work[op.0 as usize]
    }

    /// Memory in bytes that an op holds only while it runs.
    #[inline]
    pub fn scratch(&self, op: OpId) -> u64 {
        self.scratch[op.0 as usize]
    }

    /// Distinct tensors that an op consumes.
    #[inline]
    pub fn inputs(&self, op: OpId) -> &[TensorId] {
        self.inputs.row(op.0 as usize)
    }

    /// Tensors that an op produces.
    #[inline]
    pub fn outputs(&self, op: OpId) -> &[TensorId] {
        self.outputs.row(op.0 as usize)
    }

    /// Ops that must finish before this one starts, without passing it a tensor (control edges).
    #[inline]
    pub fn control(&self, op: OpId) -> &[OpId] {
        self.control.row(op.0 as usize)
    }

    /// Distinct weights that an op reads.
    #[inline]
    pub fn reads(&self, op: OpId) -> &[WeightId] {
        self.reads.row(op.0 as usize)
    }

    /// Distinct predecessors of an op: producers of its inputs and its control edges.
    #[inline]
    pub fn preds(&self, op: OpId) -> &[OpId] {
        self.preds.row(op.0 as usize)
    }

    /// Distinct successors of an op.
    #[inline]
    pub fn succs(&self, op: OpId) -> &[OpId] {
        self.succs.row(op.0 as usize)
    }

    /// The successor relation as a sparse graph.
    pub fn dag(&self) -> &Csr<OpId> {
        &self.succs
    }

    /// A topological order that is the file order wherever the file is in topological order.
    pub fn topological(&self) -> &[OpId] {
        &self.topological
    }

    /// Name of a tensor.
    pub fn tensor_name(&self, tensor: TensorId) -> &str {
        self.tensor_names.get(tensor.0 as usize)
    }

    /// Size of a tensor in bytes.
    #[inline]
    pub fn bytes(&self, tensor: TensorId) -> u64 {
        self.bytes[tensor.0 as usize]
    }

    /// Whether a tensor is an output of the graph, which stays in memory to the end on its producer's device.
    #[inline]
    pub fn is_kept(&self, tensor: TensorId) -> bool {
        self.kept[tensor.0 as usize]
    }

    /// The op that produces a tensor.
    #[inline]
    pub fn producer(&self, tensor: TensorId) -> OpId {
        self.producer[tensor.0 as usize]
    }

    /// The distinct ops that consume a tensor, in file order.
    #[inline]
    pub fn consumers(&self, tensor: TensorId) -> &[OpId] {
        self.consumers.row(tensor.0 as usize)
    }

    /// Name of a weight.
    pub fn weight_name(&self, weight: WeightId) -> &str {
        self.weight_names.get(weight.0 as usize)
    }

    /// Size of a weight in bytes.
    #[inline]
    pub fn weight_bytes(&self, weight: WeightId) -> u64 {
        self.weight_bytes[weight.0 as usize]
    }

    /// Sum of all run times on the reference device, in nanoseconds.
    pub fn total_time(&self) -> u64 {
        self.time.iter().sum()
    }

    /// How many ops have a measured time; the others are estimated.
    pub fn measured_ops(&self) -> usize {
        self.time_source.iter().filter(|&&s| s == TimeSource::Measured).count()
    }

    /// Heap bytes of the whole graph, for the memory-per-op line of `-v`.
    pub fn heap_bytes(&self) -> usize {
        let per_op = size_of::<u32>() + 2 * size_of::<u64>() + size_of::<TimeSource>() + size_of::<Work>() + 4;
        let per_tensor = size_of::<u64>() + size_of::<bool>() + size_of::<OpId>();
        self.op_count() * per_op
            + self.tensor_count() * per_tensor
            + self.weight_bytes.capacity() * size_of::<u64>()
            + [&self.op_names, &self.kind_names, &self.tensor_names, &self.weight_names]
                .iter()
                .map(|names| names.heap_bytes())
                .sum::<usize>()
            + [&self.inputs, &self.outputs].iter().map(|csr| csr.heap_bytes()).sum::<usize>()
            + [&self.control, &self.consumers, &self.preds, &self.succs]
                .iter()
                .map(|csr| csr.heap_bytes())
                .sum::<usize>()
            + self.reads.heap_bytes()
    }
}
