//! A plan as a timeline: for traces and reports.

use crate::arena::{ArenaPlan, Buffer, Content, DeviceArena};
use crate::problem::{DeviceId, Plan, Problem, Step, Transfers};
use crate::simulate::{Observer, Simulator};
use labrys_dataflow::{OpId, TensorId};
use labrys_report::html::Peak;
use labrys_report::table::{Align, Cell, Table};
use labrys_report::timeline::{Counter, Flow, Lane, Span, SpanRef, TimeUnit, Timeline};
use labrys_report::units::{Unit, bytes, percent};

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

/// How many tensors the table of the peak lists.
const LISTED: usize = 12;

/// The moment that sets the peak memory of the fullest device, and the largest of what is live then.
pub fn peak(problem: &Problem, plan: &Plan, arenas: &ArenaPlan) -> Option<Peak> {
    let mut finder = PeakFinder { step: 0, local: vec![0; problem.device_count()], peak: None };
    Simulator::new(problem).observe(plan, &mut finder);
    let moment = finder.peak?;
    let name = match plan.steps[moment.step] {
        Step::Run(op) => format!("{} ({})", problem.graph.op_name(op), problem.graph.kind(op)),
        Step::Transfer { tensor, .. } => format!("transfer of {}", problem.graph.tensor_name(tensor)),
    };
    let table = live_table(problem, &arenas.devices[moment.device.0 as usize], &moment);
    Some(Peak { counter: moment.device.0 as usize, time: moment.time, name: name.into(), table })
}

/// The largest tensors that a device holds at a moment, then what else makes up its memory.
fn live_table(problem: &Problem, arena: &DeviceArena, moment: &Moment) -> Table {
    let graph = &problem.graph;
    let title = format!("live on {} at its peak", problem.devices[moment.device.0 as usize].name);
    let mut table = Table::new(title, &[("what", Align::Left), ("size", Align::Right), ("share", Align::Right)]);
    let mut add = |name: String, size: u64| {
        if size > 0 {
            let share = percent(size as f64 / moment.memory.max(1) as f64);
            table.push([Cell::Text(name), Cell::Text(bytes(size as f64)), Cell::Text(share)]);
        }
    };
    let is_live = |buffer: &&Buffer| buffer.first <= moment.local_step && moment.local_step <= buffer.last;
    let (weights, mut others): (Vec<&Buffer>, Vec<&Buffer>) =
        arena.buffers.iter().filter(is_live).partition(|buffer| matches!(buffer.content, Content::Weight(_)));
    others.sort_by_key(|buffer| (std::cmp::Reverse(buffer.bytes), buffer.first));
    for buffer in others.iter().take(LISTED) {
        let name = match buffer.content {
            Content::Tensor(tensor) => graph.tensor_name(tensor).to_owned(),
            Content::Scratch(op) => format!("scratch memory of {}", graph.op_name(op)),
            Content::Weight(weight) => graph.weight_name(weight).to_owned(),
        };
        add(name, buffer.bytes);
    }
    let sum = |buffers: &[&Buffer]| buffers.iter().map(|buffer| buffer.bytes).sum();
    let unlisted = others.get(LISTED..).unwrap_or_default();
    add(format!("{} more", unlisted.len()), sum(unlisted));
    add(format!("{} resident weights", weights.len()), sum(&weights));
    table
}

/// A step that sets a peak.
struct Moment {
    step: usize,
    /// The same step, counted among those of its device.
    local_step: u32,
    device: DeviceId,
    time: u64,
    memory: u64,
}

/// Finds the first step at which any device holds most.
struct PeakFinder {
    step: usize,
    local: Vec<u32>,
    peak: Option<Moment>,
}

impl PeakFinder {
    fn see(&mut self, device: DeviceId, time: u64, memory: u64) {
        let local = &mut self.local[device.0 as usize];
        if self.peak.as_ref().is_none_or(|peak| memory > peak.memory) {
            self.peak = Some(Moment { step: self.step, local_step: *local, device, time, memory });
        }
        *local += 1;
    }
}

impl Observer for PeakFinder {
    fn ran(&mut self, _: OpId, device: DeviceId, start: u64, _: u64, memory: u64) {
        self.see(device, start, memory);
        self.step += 1;
    }

    fn transferred(&mut self, _: TensorId, ends: [DeviceId; 2], start: u64, _: u64, memory: [u64; 2]) {
        self.see(ends[0], start, memory[0]);
        self.see(ends[1], start, memory[1]);
        self.step += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Link, Objective};
    use crate::{arena, baselines, synthetic};
    use labrys_search::Seed;
    use std::sync::Arc;

    #[test]
    fn the_live_table_adds_up_to_the_peak() {
        for number in 0..10 {
            let transfers = [Transfers::Synchronous, Transfers::Asynchronous][number as usize % 2];
            let link = Link { bandwidth: Some(1e6), latency: 10 };
            let problem = Problem::new(Arc::new(synthetic::graph(Seed(0), number)), 2, Objective::PeakMemory)
                .with_link(link)
                .with_transfers(transfers);
            let plan = baselines::random::plan(&problem, &mut Seed(0).stream("present", number));
            let arenas = arena::plan(&problem, &plan, 0);
            let mut finder = PeakFinder { step: 0, local: vec![0; 2], peak: None };
            let cost = Simulator::new(&problem).observe(&plan, &mut finder);
            let moment = finder.peak.unwrap();
            let buffers = arenas.devices[moment.device.0 as usize].buffers.iter();
            let live = buffers.filter(|b| b.first <= moment.local_step && moment.local_step <= b.last);
            assert_eq!(live.map(|b| b.bytes).sum::<u64>(), cost.peak(), "graph {number}");
        }
    }

    #[test]
    fn spans_of_a_device_follow_each_other() {
        let problem = Problem::new(Arc::new(synthetic::graph(Seed(0), 1)), 3, Objective::Makespan)
            .with_link(Link { bandwidth: Some(1e6), latency: 0 });
        let plan = baselines::random::plan(&problem, &mut Seed(0).stream("present", 0));
        let timeline = timeline(&problem, &plan);
        for lane in &timeline.lanes {
            assert!(lane.spans.windows(2).all(|pair| pair[0].end() <= pair[1].start), "{}", lane.name);
        }
        assert_eq!(timeline.flows.len(), plan.transfer_count());
    }
}
