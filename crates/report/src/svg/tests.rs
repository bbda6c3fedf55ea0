use super::*;
use crate::series::{Axis, Band, Bar, BarChart, BarSeries, Join, LineChart, Scale, Series};
use crate::timeline::{Counter, Lane, Span, Timeline};
use crate::units::Unit;

fn axis(label: &str, unit: Unit, scale: Scale) -> Axis {
    Axis { label: label.into(), unit, scale }
}

fn lines(points: Vec<(f64, f64)>) -> LineChart {
    LineChart {
        title: "Search <trace>".into(),
        x: axis("time", Unit::Nanoseconds, Scale::Log),
        y: axis("peak", Unit::Bytes, Scale::Linear),
        join: Join::Steps,
        series: vec![Series { name: "a & b".into(), points }],
        bands: vec![],
        references: vec![("bound".into(), 3.5e6)],
    }
}

fn bars() -> BarChart {
    let bar = |value, error| Some(Bar { value, error });
    BarChart {
        title: "Improvement".into(),
        axis: axis("over BRKGA 5K", Unit::Percent, Scale::Linear),
        groups: ["GP+DFS", "REGAL", "a method whose name is far too long to be shown in full"].map(String::from).into(),
        series: vec![
            BarSeries { name: "run time".into(), bars: vec![bar(-0.3732, 0.05), bar(0.0709, 0.01), None] },
            BarSeries { name: "peak".into(), bars: vec![bar(-0.0651, 0.0), bar(f64::NAN, 0.0)] },
        ],
    }
}

fn lanes() -> Timeline {
    let span = |name: &'static str, start, duration| Span { name: name.into(), start, duration, ..Span::default() };
    let spans = vec![span("wide <one>", 0, 500), span("tiny", 500, 0), span("tiny too", 500, 0), span("b", 600, 400)];
    let points = vec![(0, 1024.0), (500, 4096.0), (500, 512.0), (900, 0.0)];
    let counter = Counter { name: "memory".into(), unit: Unit::Bytes, points, limit: Some(3000.0) };
    Timeline { lanes: vec![Lane { name: "gpu".into(), spans }], counters: vec![counter], ..Timeline::default() }
}

#[test]
fn small_line_chart() {
    insta::assert_snapshot!(line_chart(&lines(vec![(1e3, 9e6), (2e5, 5e6), (3e7, 4e6)])));
}

#[test]
fn a_band_goes_along_its_upper_edge_and_back() {
    let points = vec![(1e3, 4e6, 9e6), (f64::NAN, 1.0, 2.0), (2e5, 5e6, f64::INFINITY), (3e7, 4e6, 5e6)];
    let chart = LineChart { bands: vec![Band { series: 0, points }], ..lines(vec![(1e3, 5e6), (3e7, 4.5e6)]) };
    let drawn = line_chart(&chart);
    let corners = drawn.split("<polygon points=\"").nth(1).unwrap().split('"').next().unwrap();
    let places: Vec<(f64, f64)> = corners
        .split(' ')
        .map(|corner| corner.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap())
        .collect();
    assert_eq!(places.len(), 4);
    assert!(places[0].0 == places[3].0 && places[0].1 < places[3].1 && places[1].0 == places[2].0);
}

#[test]
fn small_bar_chart() {
    insta::assert_snapshot!(bar_chart(&bars()));
}

#[test]
fn small_timeline() {
    insta::assert_snapshot!(timeline(&lanes()));
}

#[test]
fn odd_values_are_left_out_and_never_written() {
    let extremes = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, f64::MAX, f64::MIN_POSITIVE, 1e-310, 1.0];
    for (index, &odd) in extremes.iter().enumerate() {
        for &other in &extremes[index..] {
            let drawn = line_chart(&lines(vec![(odd, other), (other, odd)]));
            let bars = vec![Some(Bar { value: odd, error: other }), Some(Bar { value: other, error: odd })];
            let series = vec![BarSeries { name: "x".into(), bars }];
            let all =
                drawn + &bar_chart(&BarChart { groups: vec!["a".into(), "b".into()], series, ..BarChart::default() });
            let geometry = all
                .split(['<', '>'])
                .filter(|part| ["line ", "rect ", "path ", "circle ", "svg "].iter().any(|e| part.starts_with(e)));
            for element in geometry {
                assert!(!element.contains("NaN") && !element.contains("inf"), "({odd}, {other}): {element}");
            }
        }
    }
}

#[test]
fn empty_charts_are_drawn() {
    for drawn in [line_chart(&LineChart::default()), bar_chart(&BarChart::default()), timeline(&Timeline::default())] {
        assert!(drawn.starts_with("<svg") && drawn.ends_with("</svg>\n"));
    }
}

#[test]
fn spans_too_small_to_see_are_merged() {
    let spans = (0..100_000).map(|i| Span { start: i, duration: 1, ..Span::default() }).collect();
    let drawn = timeline(&Timeline { lanes: vec![Lane { name: "gpu".into(), spans }], ..Timeline::default() });
    assert!(drawn.len() < 300_000, "{} bytes", drawn.len());
}

#[test]
fn markup_is_escaped() {
    assert_eq!(escape("<a b=\"'&'\">\n\u{0}é"), "&lt;a b=&quot;&#39;&amp;&#39;&quot;&gt; \u{fffd}é");
}

#[test]
fn ticks_are_round_in_their_unit() {
    let labels = |unit, range| -> Vec<String> {
        axis::linear_ticks(unit, range, 4.0).1.into_iter().map(|(_, label)| label).collect()
    };
    assert_eq!(labels(Unit::Bytes, (0.0, 16.0 * 1024.0)), ["0", "5 KiB", "10 KiB", "15 KiB", "20 KiB"]);
    assert_eq!(labels(Unit::Nanoseconds, (1.2e6, 1.4e6)), ["1.20 ms", "1.25 ms", "1.30 ms", "1.35 ms", "1.40 ms"]);
    assert_eq!(labels(Unit::Percent, (-0.37, 0.07)), ["-40 %", "-20 %", "0", "20 %"]);
    assert_eq!(labels(Unit::Number, (5.0, 5.0)), ["4", "6"]);
}
