//! Chrome trace-event JSON, for <https://ui.perfetto.dev> and `chrome://tracing`.
//!
//! One process holds a thread per lane and a counter track per counter. Events are written one by one: memory does not
//! grow with the trace, beyond one index per flow. Format: "Trace Event Format", Google, 2016.

use std::io::{self, Write};

use crate::timeline::{Counter, Flow, Span, TimeUnit, Timeline};
use crate::units::Unit;

/// The one process of the trace, and its main thread, which holds the counters.
const PROCESS: usize = 1;

/// The trace as bytes.
pub fn trace(timeline: &Timeline) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = write_trace(timeline, &mut bytes);
    debug_assert!(written.is_ok(), "a vector takes every byte");
    bytes
}

/// Writes the trace to `out`, in many small writes: give it a buffered one.
///
/// # Errors
/// Only those of `out`.
pub fn write_trace(timeline: &Timeline, out: impl Write) -> io::Result<()> {
    let mut events = Events { out, first: true, unit: timeline.time_unit };
    events.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    write_names(timeline, &mut events)?;
    write_lanes(timeline, &mut events)?;
    for (id, flow) in timeline.flows.iter().enumerate() {
        events.flow_arrives(timeline, id, flow)?;
    }
    for counter in &timeline.counters {
        events.counter(counter)?;
    }
    events.out.write_all(b"\n]}\n")?;
    events.out.flush()
}

/// Names and order of the tracks.
fn write_names<W: Write>(timeline: &Timeline, events: &mut Events<W>) -> io::Result<()> {
    events.metadata("process_name", PROCESS, &timeline.title)?;
    for (lane, named) in timeline.lanes.iter().enumerate() {
        events.metadata("thread_name", thread(lane), &named.name)?;
        events.sort_index(thread(lane))?;
    }
    Ok(())
}

/// The spans, each followed by the flows that leave it.
///
/// Readers sort by time and keep the order of the file within a moment, so a flow binds to its own span even when that
/// has no duration; and as arrivals come last in the file, no flow arrives before it left.
fn write_lanes<W: Write>(timeline: &Timeline, events: &mut Events<W>) -> io::Result<()> {
    let mut leaving: Vec<usize> = (0..timeline.flows.len()).collect();
    leaving.sort_by_key(|&id| timeline.flows[id].from);
    let mut leaving = leaving.into_iter().peekable();
    for (lane, spans) in timeline.lanes.iter().enumerate() {
        for (index, span) in spans.spans.iter().enumerate() {
            events.span(thread(lane), span)?;
            let here = crate::timeline::SpanRef { lane, span: index };
            while let Some(id) = leaving.next_if(|&id| timeline.flows[id].from <= here) {
                events.flow_leaves(timeline, id, &timeline.flows[id])?;
            }
        }
    }
    Ok(())
}

/// Thread number of a lane: after the main thread; readers that ignore the sort index go by it. Zero would be the idle task.
fn thread(lane: usize) -> usize {
    PROCESS + 1 + lane
}

/// A JSON array of events, being written.
struct Events<W> {
    out: W,
    first: bool,
    unit: TimeUnit,
}

impl<W: Write> Events<W> {
    /// Opens an event with the fields that all have.
    fn open(&mut self, phase: &str, thread: usize, name: &str) -> io::Result<()> {
        let separator = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        write!(self.out, "{separator}{{\"ph\":\"{phase}\",\"pid\":{PROCESS},\"tid\":{thread},\"name\":")?;
        self.string(name)
    }

    /// A JSON string with its quotes.
    fn string(&mut self, text: &str) -> io::Result<()> {
        Ok(serde_json::to_writer(&mut self.out, text)?)
    }

    /// A field that holds a time: the format counts microseconds.
    fn time(&mut self, field: &str, time: u64) -> io::Result<()> {
        match self.unit {
            TimeUnit::Steps => write!(self.out, ",\"{field}\":{time}"),
            TimeUnit::Nanoseconds if time.is_multiple_of(1000) => write!(self.out, ",\"{field}\":{}", time / 1000),
            TimeUnit::Nanoseconds => write!(self.out, ",\"{field}\":{}.{:03}", time / 1000, time % 1000),
        }
    }

    fn metadata(&mut self, kind: &str, thread: usize, name: &str) -> io::Result<()> {
        self.open("M", thread, kind)?;
        self.out.write_all(b",\"args\":{\"name\":")?;
        self.string(name)?;
        self.out.write_all(b"}}")
    }

    fn sort_index(&mut self, thread: usize) -> io::Result<()> {
        self.open("M", thread, "thread_sort_index")?;
        write!(self.out, ",\"args\":{{\"sort_index\":{thread}}}}}")
    }

    fn span(&mut self, thread: usize, span: &Span) -> io::Result<()> {
        self.open("X", thread, &span.name)?;
        self.out.write_all(b",\"cat\":")?;
        self.string(&span.category)?;
        self.time("ts", span.start)?;
        self.time("dur", span.duration)?;
        self.args(span)?;
        self.out.write_all(b"}")
    }

    fn args(&mut self, span: &Span) -> io::Result<()> {
        for (index, (key, value)) in span.args.iter().enumerate() {
            self.out.write_all(if index == 0 { b",\"args\":{" } else { b"," })?;
            self.string(key)?;
            self.out.write_all(b":")?;
            self.string(value)?;
        }
        self.out.write_all(if span.args.is_empty() { b"" } else { b"}" })
    }

    fn flow_leaves(&mut self, timeline: &Timeline, id: usize, flow: &Flow) -> io::Result<()> {
        let (Some(span), Some((leaves, _))) = (timeline.span(flow.from), timeline.flow_times(flow)) else {
            return Ok(());
        };
        // A span ends before its last moment: one tick earlier still lies within.
        let within = leaves.min(span.end().saturating_sub(1)).max(span.start);
        self.flow_end("s", thread(flow.from.lane), id, flow, within)
    }

    fn flow_arrives(&mut self, timeline: &Timeline, id: usize, flow: &Flow) -> io::Result<()> {
        match timeline.flow_times(flow) {
            Some((_, arrives)) => self.flow_end("f", thread(flow.to.lane), id, flow, arrives),
            None => Ok(()),
        }
    }

    fn flow_end(&mut self, phase: &str, thread: usize, id: usize, flow: &Flow, time: u64) -> io::Result<()> {
        self.open(phase, thread, &flow.name)?;
        write!(self.out, ",\"cat\":\"flow\",\"id\":{id},\"bp\":\"e\"")?;
        self.time("ts", time)?;
        self.out.write_all(b"}")
    }

    fn counter(&mut self, counter: &Counter) -> io::Result<()> {
        for &(time, value) in counter.points.iter().filter(|(_, value)| value.is_finite()) {
            self.open("C", PROCESS, &counter.name)?;
            self.time("ts", time)?;
            write!(self.out, ",\"args\":{{\"{}\":{value}}}}}", unit_name(counter.unit))?;
        }
        Ok(())
    }
}

/// How a counter track names its unit.
fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::Nanoseconds => "ns",
        Unit::Percent => "%",
        Unit::Number | Unit::Count => "value",
    }
}

#[cfg(test)]
mod tests;
