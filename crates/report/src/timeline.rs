//! What happened when: lanes of spans, flows between spans, counters over time.

use std::borrow::Cow;

/// Text that is often a literal (`"MatMul".into()`) and sometimes built.
pub type Text = Cow<'static, str>;

/// What one unit of time is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Times are nanoseconds.
    #[default]
    Nanoseconds,
    /// Times are positions in an order, for schedules whose length does not matter. A trace shows one as a microsecond.
    Steps,
}

/// Everything that is drawn over one common time axis.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Heading, such as the name of the model.
    pub title: Text,
    /// Unit of every time below.
    pub time_unit: TimeUnit,
    /// One row of spans each, top to bottom.
    pub lanes: Vec<Lane>,
    /// Links between spans, such as transfers. One that names a span that is not there is not drawn.
    pub flows: Vec<Flow>,
    /// Values over time, such as memory per device.
    pub counters: Vec<Counter>,
}

/// A row of spans that do not overlap, by ascending start.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// Label at the left of the row.
    pub name: Text,
    /// What ran, in order.
    pub spans: Vec<Span>,
}

/// Something with a start and a duration.
#[derive(Clone, Debug, Default)]
pub struct Span {
    /// What ran.
    pub name: Text,
    /// Kind of it: equal kinds share a colour.
    pub category: Text,
    /// Start, in the timeline's unit.
    pub start: u64,
    /// Duration, in the timeline's unit; zero is allowed.
    pub duration: u64,
    /// Further facts, shown on demand.
    pub args: Vec<(Text, Text)>,
}

impl Span {
    /// First moment after the span.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.duration)
    }
}

/// Which span of which lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanRef {
    /// Index into [`Timeline::lanes`].
    pub lane: usize,
    /// Index into [`Lane::spans`].
    pub span: usize,
}

/// A link from a span to one that starts no earlier, in any lane.
#[derive(Clone, Debug)]
pub struct Flow {
    /// What flows, such as the name of a tensor.
    pub name: Text,
    /// Where it comes from.
    pub from: SpanRef,
    /// Where it goes.
    pub to: SpanRef,
}

/// A value that holds from each point until the next.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    /// What is counted.
    pub name: Text,
    /// Unit of the values.
    pub unit: crate::units::Unit,
    /// (time, value) by ascending time. Several points may share a time: the last one holds, the others are peaks.
    pub points: Vec<(u64, f64)>,
    /// A line that the value must not cross, such as the memory of the device.
    pub limit: Option<f64>,
}

impl Timeline {
    /// The span that a reference names, if it is there.
    pub fn span(&self, at: SpanRef) -> Option<&Span> {
        self.lanes.get(at.lane)?.spans.get(at.span)
    }

    /// Number of spans in all lanes.
    pub fn span_count(&self) -> usize {
        self.lanes.iter().map(|lane| lane.spans.len()).sum()
    }

    /// End of the last span or counter point.
    pub fn end(&self) -> u64 {
        let spans = self.lanes.iter().flat_map(|lane| lane.spans.iter().map(Span::end));
        let points = self.counters.iter().filter_map(|counter| counter.points.last().map(|point| point.0));
        spans.chain(points).max().unwrap_or(0)
    }

    /// Times at which a flow leaves and arrives; none if one of its spans is not there.
    ///
    /// It arrives when its target starts, and leaves then too if its source still runs (a rendezvous), else when that ends.
    pub fn flow_times(&self, flow: &Flow) -> Option<(u64, u64)> {
        let (from, to) = (self.span(flow.from)?, self.span(flow.to)?);
        Some((to.start.clamp(from.start, from.end()), to.start))
    }
}
