//! A plan as annealing sees it: an order, a placement, one bit per tensor, and what every device holds at every point.
//!
//! A tensor is transferred *eagerly*, just after it is produced, or *lazily*, just before its first consumer on the other device.
//! Then memory over all [points](super::timeline) tells the peak exactly, transfers included. A copy is held
//! - where it is produced: from its cell to the cell of its last local consumer, and to the gap before every lazy transfer's op;
//! - elsewhere: from the cell of its producer (eager) or of its first local consumer (lazy) to that of its last one.
//!
//! What a device holds in the cell of an op that runs elsewhere is what it holds after the lazy transfers before that op and the
//! eager ones after it. Memory is kept in f64, which is exact up to 2^53 bytes; the simulator scores what is offered.

use super::energy::{self, Sharpness};
use super::timeline::{Span, cell};
use crate::problem::{DeviceId, Plan, Problem, Step, Weights};
use labrys_dataflow::{Graph, OpId, TensorId};
use labrys_graph::Id;

/// The consumers of a tensor on one device: how many, the first and the last in the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Users {
    pub count: u32,
    pub first: OpId,
    pub last: OpId,
}

impl Users {
    pub const NONE: Self = Self { count: 0, first: OpId(u32::MAX), last: OpId(u32::MAX) };
}

/// The plan and its memory.
#[derive(Clone)]
pub(super) struct State<'p> {
    pub problem: &'p Problem,
    pub graph: &'p Graph,
    pub devices: usize,
    pub order: Vec<OpId>,
    pub position: Vec<u32>,
    pub device: Vec<DeviceId>,
    pub eager: Vec<bool>,
    /// At `tensor * devices + device`.
    pub users: Vec<Users>,
    /// Ops on a device that read a weight, at `weight * devices + device`.
    pub readers: Vec<u32>,
    /// Bytes held at the cell of each position, per device; resident weights included.
    pub cells: Vec<Vec<f64>>,
    /// Bytes held at the gap before each position, and after the last.
    pub gaps: Vec<Vec<f64>>,
    /// One over the bytes that count as 1 in the energy, per device.
    pub scale: Vec<f64>,
    /// Which energy.
    pub sharpness: Sharpness,
    /// Sum over all cells; drifts by rounding until [`rescale`](Self::rescale).
    pub energy: f64,
}

impl<'p> State<'p> {
    /// Reads a valid plan; transfers that are neither eager nor lazy become lazy.
    pub fn new(problem: &'p Problem, plan: &Plan) -> Self {
        let graph = &*problem.graph;
        let (n, devices) = (graph.op_count(), problem.device_count());
        let mut state = Self {
            problem,
            graph,
            devices,
            order: plan.order().collect(),
            position: vec![0; n],
            device: plan.device.clone(),
            eager: eager_tensors(graph, plan),
            users: vec![Users::NONE; graph.tensor_count() * devices],
            readers: vec![0; graph.weight_count() * devices],
            cells: vec![vec![0.0; n]; devices],
            gaps: vec![vec![0.0; n + 1]; devices],
            scale: vec![1.0; devices],
            sharpness: Sharpness::power(16.0),
            energy: 0.0,
        };
        for (position, op) in state.order.iter().enumerate() {
            state.position[op.index()] = position as u32;
        }
        state.fill();
        state.rescale(state.peaks().fold(0.0, f64::max));
        state
    }

    /// Fills users, readers, cells and gaps from order, placement and transfers.
    pub fn fill(&mut self) {
        for tensor in self.graph.tensors() {
            for device in 0..self.devices {
                self.users[tensor.index() * self.devices + device] = self.scan(tensor, device, |op| self.position(op));
            }
        }
        let mut spans = vec![Span::default(); self.devices];
        let mut steps = vec![vec![0.0; 2 * self.order.len() + 2]; self.devices];
        for tensor in self.graph.tensors() {
            self.spans(tensor, &mut spans);
            for (steps, span) in steps.iter_mut().zip(&spans) {
                steps[span.start as usize] += self.graph.bytes(tensor) as f64;
                steps[span.end as usize] -= self.graph.bytes(tensor) as f64;
            }
        }
        for op in self.graph.ops() {
            let point = cell(self.position(op)) as usize;
            let steps = &mut steps[self.home(op)];
            steps[point] += self.graph.scratch(op) as f64;
            steps[point + 1] -= self.graph.scratch(op) as f64;
        }
        self.hold_weights(&mut steps);
        for (device, steps) in steps.iter().enumerate() {
            let mut held = 0.0;
            for (point, step) in steps[..=2 * self.order.len()].iter().enumerate() {
                held += step;
                let row = if point % 2 == 1 { &mut self.cells[device] } else { &mut self.gaps[device] };
                row[point / 2] = held;
            }
        }
    }

    fn hold_weights(&mut self, steps: &mut [Vec<f64>]) {
        if self.problem.weights == Weights::Ignored {
            return;
        }
        self.readers.fill(0);
        for op in self.graph.ops() {
            let device = self.home(op);
            for &weight in self.graph.reads(op) {
                let readers = &mut self.readers[weight.index() * self.devices + device];
                *readers += 1;
                if *readers == 1 {
                    steps[device][0] += self.graph.weight_bytes(weight) as f64;
                }
            }
        }
    }

    #[inline]
    pub fn position(&self, op: OpId) -> u32 {
        self.position[op.index()]
    }

    /// The device of an op.
    #[inline]
    pub fn home(&self, op: OpId) -> usize {
        self.device[op.index()].index()
    }

    #[inline]
    pub fn users(&self, tensor: TensorId, device: usize) -> Users {
        self.users[tensor.index() * self.devices + device]
    }

    /// Finds the consumers of a tensor on a device, for any positions of the ops.
    pub fn scan(&self, tensor: TensorId, device: usize, position: impl Fn(OpId) -> u32) -> Users {
        let local = self.graph.consumers(tensor).iter().copied().filter(|&op| self.home(op) == device);
        users_among(local, position)
    }

    /// The spans of all copies of a tensor, empty where there is none.
    pub fn spans(&self, tensor: TensorId, spans: &mut [Span]) {
        let producer = self.graph.producer(tensor);
        let made = self.position(producer);
        let ends = |device| {
            let users = self.users(tensor, device);
            (users.count > 0).then(|| (self.position(users.first), self.position(users.last)))
        };
        self.spans_if(tensor, self.home(producer), made, self.eager[tensor.index()], ends, spans);
    }

    /// The spans if the tensor were produced on `home` at position `made`, and had its first and last consumers at `ends`.
    #[inline]
    pub fn spans_if(
        &self,
        tensor: TensorId,
        home: usize,
        made: u32,
        eager: bool,
        ends: impl Fn(usize) -> Option<(u32, u32)>,
        spans: &mut [Span],
    ) {
        let start = cell(made);
        let mut end = start + 1;
        for (device, span) in spans.iter_mut().enumerate() {
            *span = Span::default();
            let Some((first, last)) = ends(device) else { continue };
            if device == home {
                end = end.max(cell(last) + 1);
            } else if eager {
                *span = Span { start, end: cell(last) + 1 };
            } else {
                *span = Span { start: cell(first), end: cell(last) + 1 };
                end = end.max(cell(first));
            }
        }
        if self.graph.is_kept(tensor) {
            end = 2 * self.order.len() as u32 + 1;
        }
        spans[home] = Span { start, end };
    }

    /// First and last position that `op` can take while all others keep their order.
    #[inline]
    pub fn slack(&self, op: OpId) -> (u32, u32) {
        let earliest = self.graph.preds(op).iter().map(|&p| self.position(p) + 1).max().unwrap_or(0);
        let latest = self.graph.succs(op).iter().map(|&s| self.position(s)).min().unwrap_or(self.order.len() as u32);
        (earliest, latest - 1)
    }

    /// Peak of each device.
    pub fn peaks(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().map(|cells| energy::largest(cells))
    }

    /// Sets what counts as 1 in the energy: `reference` bytes, or the memory limit of a device with less.
    pub fn rescale(&mut self, reference: f64) {
        self.energy = 0.0;
        for (device, cells) in self.cells.iter().enumerate() {
            let limit = self.problem.devices[device].memory.map_or(f64::INFINITY, |limit| limit as f64);
            self.scale[device] = 1.0 / reference.min(limit).max(1.0);
            self.energy += self.sharpness.of_cells(cells, self.scale[device]);
        }
    }

    /// The plan that this stands for.
    pub fn to_plan(&self) -> Plan {
        let mut steps = Vec::with_capacity(self.order.len());
        for &op in &self.order {
            let home = self.home(op);
            for &tensor in self.graph.inputs(op) {
                let lazy = !self.eager[tensor.index()] && self.home(self.graph.producer(tensor)) != home;
                if lazy && self.users(tensor, home).first == op {
                    steps.push(Step::Transfer { tensor, to: DeviceId::new(home) });
                }
            }
            steps.push(Step::Run(op));
            for &tensor in self.graph.outputs(op).iter().filter(|t| self.eager[t.index()]) {
                let remote = (0..self.devices).filter(|&d| d != home && self.users(tensor, d).count > 0);
                steps.extend(remote.map(|d| Step::Transfer { tensor, to: DeviceId::new(d) }));
            }
        }
        Plan { device: self.device.clone(), steps }
    }
}

/// First and last of some ops by position.
#[inline]
pub(super) fn users_among(ops: impl Iterator<Item = OpId>, position: impl Fn(OpId) -> u32) -> Users {
    let mut users = Users::NONE;
    let (mut first, mut last) = (u32::MAX, 0);
    for op in ops {
        let at = position(op);
        if users.count == 0 || at < first {
            (first, users.first) = (at, op);
        }
        if users.count == 0 || at > last {
            (last, users.last) = (at, op);
        }
        users.count += 1;
    }
    users
}

/// The tensors that a plan transfers before any other op has run.
fn eager_tensors(graph: &Graph, plan: &Plan) -> Vec<bool> {
    let mut eager = vec![false; graph.tensor_count()];
    let mut latest = None;
    for &step in &plan.steps {
        match step {
            Step::Run(op) => latest = Some(op),
            Step::Transfer { tensor, .. } => eager[tensor.index()] = latest == Some(graph.producer(tensor)),
        }
    }
    eager
}
