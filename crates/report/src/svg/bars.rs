//! Bar charts: horizontal, so that long names of methods stay readable.

use super::axis::{Mapping, Tick};
use super::{Anchor, Svg, fit, legend_height, text_width};
use crate::palette;
use crate::series::{Axis, Bar, BarChart, Scale};

const WIDTH: f64 = 680.0;
const BAR: f64 = 15.0;
const GROUP_GAP: f64 = 11.0;
const LONGEST_NAME: f64 = 220.0;

/// The chart as an SVG image, 680 pixels wide. Each bar carries its value; whiskers show its error.
pub fn bar_chart(chart: &BarChart) -> String {
    let entries = chart.series.iter().enumerate().map(|(index, series)| (series.name.as_str(), palette::line(index)));
    let legend: Vec<_> = if chart.series.len() > 1 { entries.collect() } else { Vec::new() };
    let plot = Plot::lay_out(chart, 32.0 + legend_height(&legend, WIDTH));
    let mut svg = Svg::new(WIDTH, plot.bottom + 44.0, &chart.title);
    svg.text("ch-title", Anchor::Start, (0.0, 16.0), &chart.title);
    svg.legend((0.0, 40.0), WIDTH, &legend);
    plot.draw_axis(&mut svg, &chart.axis);
    for (group, name) in chart.groups.iter().enumerate() {
        plot.draw_group(&mut svg, chart, group, name);
    }
    svg.line("ch-axis", (plot.zero, plot.top), (plot.zero, plot.bottom));
    svg.finish()
}

/// Where everything goes.
struct Plot {
    left: f64,
    top: f64,
    bottom: f64,
    mapping: Mapping,
    ticks: Vec<Tick>,
    /// Where bars begin.
    zero: f64,
}

impl Plot {
    fn lay_out(chart: &BarChart, top: f64) -> Self {
        let names = chart.groups.iter().map(|name| text_width(name)).fold(40.0, f64::max);
        let (left, right) = (names.min(LONGEST_NAME) + 12.0, WIDTH - 58.0);
        let bars = || chart.series.iter().flat_map(|series| series.bars.iter().flatten());
        let ends = bars().flat_map(|bar| [bar.value, bar.value - bar.error, bar.value + bar.error]);
        let base = (chart.axis.scale == Scale::Linear).then_some(0.0);
        let (mapping, ticks) = Mapping::new(&chart.axis, ends.chain(base), (left, right));
        let zero = mapping.place(0.0).unwrap_or(left);
        let bottom = top + chart.groups.len() as f64 * group_height(chart);
        Self { left, top, bottom, mapping, ticks, zero }
    }

    fn draw_axis(&self, svg: &mut Svg, axis: &Axis) {
        for (value, label) in &self.ticks {
            let x = self.mapping.place(*value).unwrap_or(self.left);
            svg.line("ch-grid", (x, self.top), (x, self.bottom));
            svg.text("", Anchor::Middle, (x, self.bottom + 16.0), label);
        }
        svg.text("", Anchor::End, (WIDTH, self.bottom + 36.0), &axis.label);
    }

    fn draw_group(&self, svg: &mut Svg, chart: &BarChart, group: usize, name: &str) {
        let top = self.top + group as f64 * group_height(chart) + GROUP_GAP / 2.0;
        let middle = top + chart.series.len() as f64 * BAR / 2.0;
        svg.text("", Anchor::End, (self.left - 8.0, middle + 4.0), &fit(name, LONGEST_NAME));
        for (index, series) in chart.series.iter().enumerate() {
            let y = top + index as f64 * BAR;
            let hover = format!("{name}, {}", series.name);
            match series.bars.get(group).copied().flatten() {
                Some(bar) => self.draw_bar(svg, chart, bar, y, palette::line(index), &hover),
                None => svg.text("", Anchor::Start, (self.zero + 5.0, y + BAR - 4.0), "–"),
            }
        }
    }

    fn draw_bar(&self, svg: &mut Svg, chart: &BarChart, bar: Bar, y: f64, colour: &str, hover: &str) {
        let shown = chart.axis.unit.show(bar.value);
        let Some(end) = self.mapping.place(bar.value) else {
            return svg.text("", Anchor::Start, (self.zero + 5.0, y + BAR - 4.0), &shown);
        };
        let (left, right) = (end.min(self.zero), end.max(self.zero));
        svg.rect((left, y + 1.0), ((right - left).max(1.0), BAR - 2.0), colour, &format!("{hover}: {shown}"));
        let (low, high) = self.draw_error(svg, bar, y + BAR / 2.0).unwrap_or((end, end));
        match end < self.zero {
            true => svg.text("", Anchor::End, (low - 5.0, y + BAR - 4.0), &shown),
            false => svg.text("", Anchor::Start, (high + 5.0, y + BAR - 4.0), &shown),
        }
    }

    /// Draws the whisker, if there is one, and says where it ends.
    fn draw_error(&self, svg: &mut Svg, bar: Bar, y: f64) -> Option<(f64, f64)> {
        let error = (bar.error > 0.0).then_some(bar.error)?;
        let high = self.mapping.place(bar.value + error)?;
        let low = self.mapping.place(bar.value - error).unwrap_or(self.left);
        svg.line("ch-err", (low, y), (high, y));
        for end in [low, high] {
            svg.line("ch-err", (end, y - 3.0), (end, y + 3.0));
        }
        Some((low, high))
    }
}

fn group_height(chart: &BarChart) -> f64 {
    chart.series.len().max(1) as f64 * BAR + GROUP_GAP
}
