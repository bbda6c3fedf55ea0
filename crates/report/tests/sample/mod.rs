//! A made-up schedule of a layered model over some devices, of any size.

use labrys_report::html::{Page, Peak};
use labrys_report::series::{Axis, Join, LineChart, Scale, Series};
use labrys_report::table::{Align, Table};
use labrys_report::timeline::{Counter, Flow, Lane, Span, SpanRef, TimeUnit, Timeline};
use labrys_report::units::{Unit, bytes, duration};

const KINDS: [(&str, u64); 10] = [
    ("MatMul", 90),
    ("Conv", 70),
    ("Softmax", 12),
    ("Add", 6),
    ("LayerNorm", 9),
    ("Gelu", 5),
    ("Transpose", 4),
    ("Gather", 7),
    ("Reshape", 0),
    ("Cast", 2),
];

/// A page with about `ops` spans over `devices` lanes.
pub(crate) fn page(ops: usize, devices: usize) -> Page {
    let timeline = timeline(ops, devices);
    let peak = peak(&timeline);
    let end = duration(timeline.end() as f64);
    let highest = timeline.counters.iter().flat_map(|c| c.points.iter().map(|p| p.1)).fold(0.0, f64::max);
    let facts = [
        ("run time", end.clone()),
        ("proven bound", duration(timeline.end() as f64 * 0.992)),
        ("gap", "0.8 %".into()),
        ("peak memory", bytes(highest)),
        ("ops", ops.to_string()),
        ("transfers", timeline.flows.len().to_string()),
        ("devices", devices.to_string()),
        ("checked", "yes".into()),
    ];
    Page {
        title: "resnet50-training.onnx".into(),
        subtitle: format!("{ops} ops on {devices} devices in {end} · gap 0.8 % to the bound · checked"),
        facts: facts.map(|(label, value)| (label.to_string(), value)).to_vec(),
        timeline,
        peak,
        charts: vec![search_trace()],
        tables: vec![device_table(devices)],
        footer: "labrys 0.1.0 · labrys place resnet50-training.onnx --devices 4 --memory 16GiB --seed 0".into(),
    }
}

fn timeline(ops: usize, devices: usize) -> Timeline {
    let mut random = Random(7);
    let mut lanes: Vec<Lane> =
        (0..devices).map(|d| Lane { name: format!("GPU {d}").into(), spans: Vec::new() }).collect();
    let mut clocks = vec![0; devices];
    let mut counters: Vec<Counter> = (0..devices).map(memory_counter).collect();
    let mut flows = Vec::new();
    for op in 0..ops {
        let device = (op / 5 + random.below(2) as usize) % devices;
        if random.below(9) == 0 && devices > 1 {
            flows.push(transfer(&mut lanes, &mut clocks, op, device, (device + 1) % devices));
        }
        let (kind, cost) = KINDS[random.below(10) as usize];
        let time = cost * (500 + random.below(1000));
        let start = clocks[device] + if random.below(12) == 0 { 8000 } else { 0 };
        lanes[device].spans.push(span(op, ops, kind, start, time));
        clocks[device] = start + time;
        let held = memory(op, ops, random.below(100));
        counters[device].points.push((start, held));
    }
    Timeline { title: "resnet50-training.onnx".into(), time_unit: TimeUnit::Nanoseconds, lanes, flows, counters }
}

fn memory_counter(device: usize) -> Counter {
    let name = format!("GPU {device} memory").into();
    Counter { name, unit: Unit::Bytes, points: vec![(0, 0.0)], limit: Some(16.0 * (1u64 << 30) as f64) }
}

/// Grows over the forward half, shrinks over the backward half.
fn memory(op: usize, ops: usize, noise: u64) -> f64 {
    let along = op as f64 / ops as f64;
    let arch = 1.0 - (2.0 * along - 1.0).abs();
    ((arch * 12.4 + 0.4) * (1u64 << 30) as f64 + noise as f64 * 1.7e7).round()
}

fn span(op: usize, ops: usize, kind: &'static str, start: u64, time: u64) -> Span {
    let half = if op * 2 < ops { "forward" } else { "backward" };
    let name = format!("/model/{half}/layer{}/{kind}_{op}", op / 24);
    let args = vec![("output".into(), bytes(1024.0 * (op % 4000) as f64).into()), ("time".into(), "estimated".into())];
    Span { name: name.into(), category: kind.into(), start, duration: time, args }
}

/// A rendezvous: both devices wait for each other, then transfer.
fn transfer(lanes: &mut [Lane], clocks: &mut [u64], op: usize, from: usize, to: usize) -> Flow {
    let start = clocks[from].max(clocks[to]);
    let name = format!("tensor_{op}");
    for (lane, role) in [(from, "send"), (to, "receive")] {
        let span = Span {
            name: format!("{role} {name}").into(),
            category: "transfer".into(),
            start,
            duration: 11_000,
            ..Span::default()
        };
        lanes[lane].spans.push(span);
        clocks[lane] = start + 11_000;
    }
    let last = |lane: usize| SpanRef { lane, span: lanes[lane].spans.len() - 1 };
    Flow { name: name.into(), from: last(from), to: last(to) }
}

fn peak(timeline: &Timeline) -> Option<Peak> {
    let points =
        timeline.counters.iter().enumerate().flat_map(|(c, counter)| counter.points.iter().map(move |p| (c, *p)));
    let (counter, (time, _)) = points.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
    let mut table =
        Table::new("Largest live tensors", &[("tensor", Align::Left), ("size", Align::Right), ("from", Align::Left)]);
    for rank in 1..6 {
        let size = bytes(3.2 * (1u64 << 30) as f64 / f64::from(rank));
        table.push([
            format!("activation_{rank}").into(),
            size.into(),
            format!("/model/forward/layer{rank}/Conv").into(),
        ]);
    }
    Some(Peak { counter, time, name: "/model/forward/layer3/Conv_77".into(), table })
}

fn search_trace() -> LineChart {
    let trace =
        |start: f64, rate: f64| (0..24).map(|i| 1.6f64.powi(i) * 2e4).map(move |t| (t, 1.1e6 + start / (t * rate)));
    let axis = |label: &str, unit, scale| Axis { label: label.into(), unit, scale };
    LineChart {
        title: "Search".into(),
        x: axis("search time", Unit::Nanoseconds, Scale::Log),
        y: axis("best run time", Unit::Nanoseconds, Scale::Linear),
        join: Join::Steps,
        series: vec![
            Series { name: "annealing".into(), points: trace(1.4e10, 1.0).collect() },
            Series { name: "BRKGA 5K".into(), points: trace(2e10, 0.3).collect() },
        ],
        bands: vec![],
        references: vec![("proven bound".into(), 1.05e6)],
    }
}

fn device_table(devices: usize) -> Table {
    let columns = [("device", Align::Left), ("ops", Align::Right), ("busy", Align::Right), ("peak", Align::Right)];
    let mut table = Table::new("Devices", &columns);
    for device in 0..devices {
        table.push([format!("GPU {device}").into(), (1200 + 7 * device).into(), "97.2 %".into(), "12.8 GiB".into()]);
    }
    table
}

/// A small generator of its own, so that the sample never changes (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
