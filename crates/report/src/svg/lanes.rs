//! A timeline as a still image, for paper and for browsers without scripts.

use super::axis::linear_ticks;
use super::{Anchor, Svg, fit, px};
use crate::palette::Categories;
use crate::timeline::{Counter, Lane, TimeUnit, Timeline};
use crate::units::Unit;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = WIDTH - 70.0;
const LANE: f64 = 30.0;
const COUNTER: f64 = 74.0;
/// Columns in which spans and points too small to see are drawn as one.
const COLUMNS: f64 = 2.0 * (RIGHT - LEFT);

/// Lanes and counters over time as an SVG image, 1000 pixels wide. Spans narrower than half a pixel are merged.
pub fn timeline(timeline: &Timeline) -> String {
    let categories = Categories::of(timeline);
    let lanes_top = 32.0;
    let counters_top = lanes_top + timeline.lanes.len() as f64 * LANE + 12.0;
    let bottom = counters_top + timeline.counters.len() as f64 * COUNTER;
    let mut still = Still { svg: Svg::new(WIDTH, bottom + 28.0, &timeline.title), end: timeline.end().max(1) as f64 };
    still.svg.legend((LEFT, 14.0), f64::INFINITY, &categories.legend());
    for (index, lane) in timeline.lanes.iter().enumerate() {
        still.lane(lane, lanes_top + index as f64 * LANE, &categories);
    }
    let scale = timeline.counters.iter().map(scale).fold(0.0, f64::max);
    for (index, counter) in timeline.counters.iter().enumerate() {
        still.counter(counter, counters_top + index as f64 * COUNTER, scale);
    }
    still.axis(timeline.time_unit, bottom);
    still.svg.finish()
}

/// Largest value of a counter.
fn highest(counter: &Counter) -> f64 {
    let values = counter.points.iter().map(|point| point.1);
    values.filter(|value| value.is_finite()).fold(f64::MIN_POSITIVE, f64::max)
}

/// What the height of a curve stands for: a limit far above every value would flatten it, so it does not count.
fn scale(counter: &Counter) -> f64 {
    let highest = highest(counter);
    counter.limit.filter(|&limit| limit <= 1.6 * highest).map_or(highest, |limit| limit.max(highest))
}

/// The image and its time scale.
struct Still {
    svg: Svg,
    end: f64,
}

impl Still {
    fn x(&self, time: u64) -> f64 {
        LEFT + time as f64 / self.end * (RIGHT - LEFT)
    }

    fn column(&self, time: u64) -> u64 {
        (time as f64 / self.end * COLUMNS) as u64
    }

    fn lane(&mut self, lane: &Lane, top: f64, categories: &Categories) {
        self.svg.text("", Anchor::End, (LEFT - 8.0, top + 18.0), &fit(&lane.name, LEFT - 12.0));
        self.svg.line("ch-grid", (LEFT, top + LANE - 2.5), (RIGHT, top + LANE - 2.5));
        let mut last_column = None;
        for span in &lane.spans {
            let (left, right) = (self.x(span.start), self.x(span.end()));
            let column = self.column(span.start);
            let small = right - left < 0.5;
            if small && last_column.is_some_and(|last| last == column) {
                continue;
            }
            last_column = small.then_some(column);
            let width = (right - left).max(0.5);
            let (x, y, width_px, height) = (px(left), px(top), px(width), px(LANE - 5.0));
            let colour = categories.colour(&span.category);
            self.svg.raw(format_args!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width_px}\" height=\"{height}\" fill=\"{colour}\"/>"
            ));
            let name = fit(&span.name, width - 8.0);
            if !name.is_empty() {
                self.svg.text("ch-on", Anchor::Start, (left + 4.0, top + 17.0), &name);
            }
        }
    }

    fn counter(&mut self, counter: &Counter, top: f64, scale: f64) {
        let (base, height) = (top + COUNTER - 8.0, COUNTER - 22.0);
        let y = |value: f64| base - (value / scale).clamp(0.0, 1.0) * height;
        let highest = format!("max {}", counter.unit.show(highest(counter)));
        self.svg.text("", Anchor::End, (LEFT - 8.0, base - 14.0), &fit(&counter.name, LEFT - 12.0));
        self.svg.text("", Anchor::End, (LEFT - 8.0, base), &highest);
        let mut path = format!("M{} {}", px(LEFT), px(base));
        for (column, value) in self.highest_by_column(counter) {
            let x = LEFT + column as f64 / COLUMNS * (RIGHT - LEFT);
            path.push_str(&format!("H{}V{}", px(x), px(y(value))));
        }
        path.push_str(&format!("H{}V{}Z", px(RIGHT), px(base)));
        self.svg.raw(format_args!(
            "<path d=\"{path}\" fill=\"{0}\" fill-opacity=\".35\" stroke=\"{0}\"/>",
            crate::palette::line(0)
        ));
        if let Some(limit) = counter.limit.filter(|&limit| limit <= scale) {
            self.svg.line("ch-ref", (LEFT, y(limit)), (RIGHT, y(limit)));
            self.svg.text("", Anchor::Start, (RIGHT + 5.0, y(limit) + 4.0), &counter.unit.show(limit));
        }
    }

    /// The highest value in each column that has a point, ascending, and the one that holds after it.
    fn highest_by_column(&self, counter: &Counter) -> Vec<(u64, f64)> {
        let mut columns: Vec<(u64, f64)> = Vec::new();
        let mut held = 0.0;
        for &(time, value) in counter.points.iter().filter(|point| point.1.is_finite()) {
            let column = self.column(time);
            match columns.last_mut() {
                Some(last) if last.0 == column => last.1 = last.1.max(value),
                last => {
                    // A peak within its column must not seem to last until this one.
                    if last.is_some_and(|last| last.0 + 1 < column && last.1 != held) {
                        let after = columns.last().map_or(0, |last| last.0 + 1);
                        columns.push((after, held));
                    }
                    columns.push((column, value));
                }
            }
            held = value;
        }
        columns
    }

    fn axis(&mut self, unit: TimeUnit, bottom: f64) {
        let unit = if unit == TimeUnit::Steps { Unit::Number } else { Unit::Nanoseconds };
        let (_, ticks) = linear_ticks(unit, (0.0, self.end), 8.0);
        for (value, label) in ticks.iter().filter(|(value, _)| *value <= self.end) {
            let x = LEFT + value / self.end * (RIGHT - LEFT);
            self.svg.line("ch-axis", (x, bottom), (x, bottom + 4.0));
            self.svg.text("", Anchor::Middle, (x, bottom + 18.0), label);
        }
        self.svg.line("ch-axis", (LEFT, bottom), (RIGHT, bottom));
    }
}
