//! The timeline as compact JSON for the page's script.
//!
//! Texts are numbered and written once; spans are parallel arrays of numbers, starts as differences. The fields are
//! read in `model.js`.

use std::collections::HashMap;

use super::{Page, push};
use crate::palette::Categories;
use crate::timeline::{Counter, Flow, Lane, TimeUnit};
use crate::units::Unit;

/// Appends the data, safe within a `script` element.
pub(super) fn write(html: &mut String, page: &Page) {
    let timeline = &page.timeline;
    let (categories, mut texts) = (Categories::of(timeline), Texts::default());
    let unit = if timeline.time_unit == TimeUnit::Steps { "steps" } else { "ns" };
    push(html, format_args!("{{\"unit\":\"{unit}\",\"end\":{},\n\"categories\":", timeline.end()));
    list(html, &categories.all, |html, category| {
        let name = texts.number(&category.name);
        let (colour, time, spans) = (category.colour, category.time, category.spans);
        push(html, format_args!("[{name},\"{colour}\",{time},{spans}]"));
    });
    html.push_str(",\n\"lanes\":");
    list(html, &timeline.lanes, |html, lane| write_lane(html, lane, &categories, &mut texts));
    html.push_str(",\n\"flows\":");
    let flows = timeline.flows.iter().filter_map(|flow| Some((flow, timeline.flow_times(flow)?)));
    list(html, flows, |html, (flow, times)| write_flow(html, flow, times, &mut texts));
    html.push_str(",\n\"counters\":");
    list(html, &timeline.counters, |html, counter| write_counter(html, counter, &mut texts));
    html.push_str(",\n\"peak\":");
    write_peak(html, page);
    html.push_str(",\n\"texts\":");
    list(html, &texts.all, |html, text| push_text(html, text));
    html.push('}');
}

/// Appends `[a,b,...]`.
fn list<T>(html: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    html.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            html.push(',');
        }
        write(html, item);
    }
    html.push(']');
}

fn numbers(html: &mut String, numbers: impl Iterator<Item = u64>) {
    list(html, numbers, |html, number| push(html, format_args!("{number}")));
}

/// Name; then name, category, distance from the last start, duration and args of each span, as arrays.
fn write_lane<'a>(html: &mut String, lane: &'a Lane, categories: &Categories, texts: &mut Texts<'a>) {
    push(html, format_args!("[{},", texts.number(&lane.name)));
    list(html, &lane.spans, |html, span| push(html, format_args!("{}", texts.number(&span.name))));
    html.push(',');
    numbers(html, lane.spans.iter().map(|span| categories.index(&span.category) as u64));
    html.push(',');
    numbers(html, differences(lane.spans.iter().map(|span| span.start)));
    html.push(',');
    numbers(html, lane.spans.iter().map(|span| span.duration));
    html.push(',');
    list(html, &lane.spans, |html, span| {
        let parts = span.args.iter().flat_map(|(key, value)| [key, value]);
        list(html, parts, |html, part| push(html, format_args!("{}", texts.number(part))));
    });
    html.push(']');
}

/// Distances from each number to the next, the first from zero; a number below its predecessor counts as equal.
fn differences(numbers: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    let mut last = 0;
    numbers.map(move |number| {
        let difference = number.saturating_sub(last);
        last += difference;
        difference
    })
}

/// Name, lane and span at both ends, and when it leaves and arrives.
fn write_flow<'a>(html: &mut String, flow: &'a Flow, (leaves, arrives): (u64, u64), texts: &mut Texts<'a>) {
    let (name, from, to) = (texts.number(&flow.name), flow.from, flow.to);
    push(html, format_args!("[{name},{},{},{},{},{leaves},{arrives}]", from.lane, from.span, to.lane, to.span));
}

/// Name, unit, limit, distances between times, values.
fn write_counter<'a>(html: &mut String, counter: &'a Counter, texts: &mut Texts<'a>) {
    let limit = counter.limit.filter(|limit| limit.is_finite()).map_or("null".into(), |limit| limit.to_string());
    push(html, format_args!("[{},\"{}\",{limit},", texts.number(&counter.name), unit_name(counter.unit)));
    let points = || counter.points.iter().filter(|point| point.1.is_finite());
    numbers(html, differences(points().map(|point| point.0)));
    html.push(',');
    list(html, points(), |html, point| push(html, format_args!("{}", point.1)));
    html.push(']');
}

/// How `units.js` calls a unit.
fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Number => "number",
        Unit::Count => "count",
        Unit::Nanoseconds => "ns",
        Unit::Bytes => "bytes",
        Unit::Percent => "percent",
    }
}

fn write_peak(html: &mut String, page: &Page) {
    match page.peak.as_ref().filter(|peak| peak.counter < page.timeline.counters.len()) {
        Some(peak) => {
            push(html, format_args!("[{},{},", peak.counter, peak.time));
            push_text(html, &peak.name);
            html.push(']');
        }
        None => html.push_str("null"),
    }
}

/// A JSON string in which no `<` can end the script element.
fn push_text(html: &mut String, text: &str) {
    html.push_str(&serde_json::Value::from(text).to_string().replace('<', "\\u003c"));
}

/// Texts with their numbers, by first use.
#[derive(Default)]
struct Texts<'a> {
    all: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Texts<'a> {
    fn number(&mut self, text: &'a str) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.all.push(text);
        }
        number
    }
}
