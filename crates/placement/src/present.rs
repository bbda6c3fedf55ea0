//! A plan as a timeline: for traces and reports.

use crate::problem::{DeviceId, Plan, Problem, Transfers};
use crate::simulate::{Observer, Simulator};
use labrys_dataflow::{OpId, TensorId};
use labrys_report::timeline::{Counter, Flow, Lane, Span, SpanRef, TimeUnit, Timeline};
use labrys_report::units::{Unit, bytes};

/// One lane per device, or per link for asynchronous transfers, a flow per transfer, and the memory of each device.
pub fn timeline(problem: &Problem, plan: &Plan) -> Timeline {
    let mut recorder = Recorder::new(problem);
    Simulator::new(problem).observe(plan, &mut recorder);
    recorder.finish(plan)
}

/// Collects spans while a plan is simulated.
struct Recorder<'p> {
    problem: &'p Problem,
    lanes: Vec<Lane>,
    /// Lane of the link from `i` to `j` at `i * devices + j`, if one was needed.
    link_lane: Vec<Option<usize>>,
    counters: Vec<Counter>,
    span_of_op: Vec<Option<SpanRef>>,
    transfers: Vec<(TensorId, DeviceId)>,
}

impl<'p> Recorder<'p> {
    fn new(problem: &'p Problem) -> Self {
        let devices = problem.device_count();
        let lane = |name: &str| Lane { name: name.to_owned().into(), spans: vec![] };
        let counter = |d: DeviceId| {
            let device = &problem.devices[d.0 as usize];
            Counter {
                name: format!("{} memory", device.name).into(),
                unit: Unit::Bytes,
                points: vec![],
                limit: device.memory.map(|limit| limit as f64),
            }
        };
        Self {
            problem,
            lanes: problem.devices.iter().map(|device| lane(&device.name)).collect(),
            link_lane: vec![None; devices * devices],
            counters: problem.device_ids().map(counter).collect(),
            span_of_op: vec![None; problem.graph.op_count()],
            transfers: vec![],
        }
    }

    /// The lanes that show a transfer: both devices if it blocks them, the link if it overlaps with their compute.
    fn transfer_lanes(&mut self, [from, to]: [DeviceId; 2]) -> Vec<usize> {
        let (f, t) = (from.0 as usize, to.0 as usize);
        if self.problem.transfers == Transfers::Synchronous {
            return vec![f, t];
        }
        let slot = f * self.problem.device_count() + t;
        let lanes = &mut self.lanes;
        let name = || format!("{} → {}", self.problem.devices[f].name, self.problem.devices[t].name);
        let lane = *self.link_lane[slot].get_or_insert_with(|| {
            lanes.push(Lane { name: name().into(), spans: vec![] });
            lanes.len() - 1
        });
        vec![lane]
    }

    fn finish(mut self, plan: &Plan) -> Timeline {
        let graph = &self.problem.graph;
        let flow = |&(tensor, to): &(TensorId, DeviceId)| {
            let local = graph.consumers(tensor).iter().filter(|c| plan.device[c.0 as usize] == to);
            let first = local.filter_map(|c| self.span_of_op[c.0 as usize]).min_by_key(|at| at.span)?;
            let from = self.span_of_op[graph.producer(tensor).0 as usize]?;
            Some(Flow { name: graph.tensor_name(tensor).to_owned().into(), from, to: first })
        };
        let flows = self.transfers.iter().filter_map(flow).collect();
        for counter in &mut self.counters {
            counter.points.sort_by_key(|&(time, _)| time);
        }
        Timeline {
            title: graph.name().to_owned().into(),
            time_unit: TimeUnit::Nanoseconds,
            lanes: self.lanes,
            flows,
            counters: self.counters,
        }
    }
}

impl Observer for Recorder<'_> {
    fn ran(&mut self, op: OpId, device: DeviceId, start: u64, end: u64, memory: u64) {
        let (graph, d) = (&self.problem.graph, device.0 as usize);
        self.span_of_op[op.0 as usize] = Some(SpanRef { lane: d, span: self.lanes[d].spans.len() });
        self.lanes[d].spans.push(Span {
            name: graph.op_name(op).to_owned().into(),
            category: graph.kind(op).to_owned().into(),
            start,
            duration: end - start,
            args: vec![("memory".into(), bytes(memory as f64).into())],
        });
        self.counters[d].points.push((start, memory as f64));
    }

    fn transferred(&mut self, tensor: TensorId, ends: [DeviceId; 2], start: u64, end: u64, memory: [u64; 2]) {
        let graph = &self.problem.graph;
        self.transfers.push((tensor, ends[1]));
        if end > start {
            let span = Span {
                name: graph.tensor_name(tensor).to_owned().into(),
                category: "transfer".into(),
                start,
                duration: end - start,
                args: vec![("size".into(), bytes(graph.bytes(tensor) as f64).into())],
            };
            for lane in self.transfer_lanes(ends) {
                self.lanes[lane].spans.push(span.clone());
            }
        }
        for (device, memory) in ends.into_iter().zip(memory) {
            self.counters[device.0 as usize].points.push((start, memory as f64));
        }
    }
}
