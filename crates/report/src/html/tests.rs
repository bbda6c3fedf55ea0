use serde_json::Value;

use super::*;
use crate::table::Cell;
use crate::timeline::{Counter, Flow, Lane, Span, SpanRef};

const HOSTILE: &str = "</script><!--<script>alert(\"1\")&'é列\u{2028}\u{0}";

fn hostile() -> Page {
    let span = |start| Span {
        name: HOSTILE.into(),
        category: HOSTILE.into(),
        start,
        duration: 5,
        args: vec![(HOSTILE.into(), HOSTILE.into())],
    };
    let lane = Lane { name: HOSTILE.into(), spans: vec![span(10), span(20)] };
    let at = |span| SpanRef { lane: 0, span };
    let flow = |to| Flow { name: HOSTILE.into(), from: at(0), to };
    let counter = Counter { name: HOSTILE.into(), points: vec![(10, 1.5), (20, f64::NAN)], ..Counter::default() };
    let mut table = Table::new(HOSTILE, &[(HOSTILE, Align::Right)]);
    table.push([Cell::from(HOSTILE)]);
    Page {
        title: HOSTILE.into(),
        subtitle: HOSTILE.into(),
        facts: vec![(HOSTILE.into(), HOSTILE.into())],
        timeline: Timeline {
            lanes: vec![lane],
            flows: vec![flow(at(1)), flow(at(2))],
            counters: vec![counter],
            ..Timeline::default()
        },
        peak: Some(Peak { counter: 0, time: 10, name: HOSTILE.into(), table: table.clone() }),
        charts: vec![LineChart { title: HOSTILE.into(), ..LineChart::default() }],
        tables: vec![table],
        footer: HOSTILE.into(),
    }
}

fn data(html: &str) -> Value {
    let (_, rest) = html.split_once("id=\"data\">").expect("the page holds data");
    let (json, _) = rest.split_once("</script>").expect("the data ends");
    serde_json::from_str(json).expect("valid JSON")
}

#[test]
fn hostile_texts_stay_texts() {
    let html = page(&hostile());
    assert_eq!(html.matches("<script").count(), page(&Page::default()).matches("<script").count());
    assert_eq!(html.matches("</script>").count(), page(&Page::default()).matches("</script>").count());
    assert!(!html.contains("<!--") && !html.contains("alert(\"1\")&'"));
    assert_eq!(data(&html)["texts"][0], HOSTILE);
}

#[test]
fn data_is_compact_and_complete() {
    let data = data(&page(&hostile()));
    assert_eq!(data["end"], 25);
    assert_eq!(data["lanes"].to_string(), "[[0,[0,0],[0,0],[10,10],[5,5],[[0,0],[0,0]]]]");
    assert_eq!(data["flows"].to_string(), "[[0,0,0,0,1,15,20]]", "the flow to nowhere is left out");
    assert_eq!(data["counters"].to_string(), "[[0,\"number\",null,[10],[1.5]]]");
}

#[test]
fn nothing_is_fetched() {
    let html = page(&hostile()).replace("http://www.w3.org/2000/svg", "");
    for forbidden in ["http:", "https:", "src=", "@import", "url(", "fetch("] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn an_empty_page_has_no_gaps() {
    let html = page(&Page::default());
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n") && !html.contains("{{"));
}

#[test]
fn texts_that_look_like_the_template_stay_as_they_are() {
    let html = page(&Page { subtitle: "{{data}}".into(), ..Page::default() });
    assert!(html.contains("<p class=\"subtitle\">{{data}}</p>"));
}

#[test]
fn a_peak_that_names_no_counter_is_left_out() {
    let html = page(&Page { peak: Some(Peak { counter: 3, ..Peak::default() }), ..Page::default() });
    assert!(!html.contains("<h2>Peak") && data(&html)["peak"].is_null());
}
