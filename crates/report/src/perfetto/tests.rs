use serde_json::Value;

use super::*;
use crate::timeline::{Lane, SpanRef};

fn span(name: &'static str, start: u64, duration: u64) -> Span {
    Span { name: name.into(), category: "kind".into(), start, duration, args: Vec::new() }
}

fn sample() -> Timeline {
    let mut first = span("a", 0, 1500);
    first.args = vec![("bytes".into(), "4 MiB".into()), ("why".into(), "</script>\"\u{1}".into())];
    let lanes = vec![
        Lane { name: "gpu 0".into(), spans: vec![first, span("send", 1500, 0), span("b", 1500, 10)] },
        Lane { name: "gpu 1".into(), spans: vec![span("receive", 1500, 0), span("c", 1500, 2_000_001)] },
    ];
    let (from, to) = (SpanRef { lane: 0, span: 1 }, SpanRef { lane: 1, span: 0 });
    let nowhere = SpanRef { lane: 9, span: 0 };
    let flow = |from, to| Flow { name: "x".into(), from, to };
    let flows = vec![flow(from, to), flow(from, nowhere), flow(nowhere, to), flow(to, from)];
    let points = vec![(0, 0.0), (1500, 4.5), (1500, f64::NAN)];
    let counters = vec![Counter { name: "memory".into(), unit: Unit::Bytes, points, limit: None }];
    Timeline { title: "model".into(), lanes, flows, counters, ..Timeline::default() }
}

fn events(timeline: &Timeline) -> Vec<Value> {
    let parsed: Value = serde_json::from_slice(&trace(timeline)).expect("valid JSON");
    parsed["traceEvents"].as_array().expect("an array").clone()
}

#[test]
fn small_trace() {
    insta::assert_snapshot!(String::from_utf8(trace(&sample())).expect("UTF-8"));
}

#[test]
fn an_empty_timeline_is_a_valid_trace() {
    assert_eq!(events(&Timeline::default()).len(), 1);
}

#[test]
fn flows_follow_their_span_and_arrive_last() {
    let events = events(&sample());
    let at = |phase: &str, id: u64| events.iter().position(|e| e["ph"] == phase && e["id"] == id);
    let send = events.iter().position(|e| e["name"] == "send").expect("the span is there");
    assert_eq!(at("s", 0), Some(send + 1));
    assert!(at("f", 0) > at("s", 3) && at("s", 3).is_some(), "both directions leave before either arrives");
    assert_eq!((at("s", 1), at("f", 2)), (None, None), "a flow to nowhere is dropped at both ends");
}

#[test]
fn steps_are_microseconds() {
    let events = events(&Timeline { time_unit: TimeUnit::Steps, ..sample() });
    let b = events.iter().find(|e| e["name"] == "b").expect("the span is there");
    assert_eq!((&b["ts"], &b["dur"]), (&1500.into(), &10.into()));
}

#[test]
fn a_hundred_thousand_spans() {
    let spans =
        (0..100_000).map(|i| Span { name: format!("op {i}").into(), start: i * 7, duration: 7, ..Span::default() });
    let timeline = Timeline { lanes: vec![Lane { name: "gpu".into(), spans: spans.collect() }], ..Timeline::default() };
    assert_eq!(events(&timeline).len(), 100_003);
}
