//! Line charts.

use std::fmt::Write;

use super::axis::{Mapping, Tick};
use super::{Anchor, Svg, escape, legend_height, px, text_width};
use crate::palette;
use crate::series::{Band, Join, LineChart, Series};

const WIDTH: f64 = 620.0;
const PLOT_HEIGHT: f64 = 230.0;
/// Series up to this length get a mark per point, which tells its values under the mouse.
const MARKED_POINTS: usize = 200;

/// The chart as an SVG image, 620 pixels wide.
pub fn line_chart(chart: &LineChart) -> String {
    let plot = Plot::lay_out(chart);
    let mut svg = Svg::new(WIDTH, plot.bottom + 46.0, &chart.title);
    svg.text("ch-title", Anchor::Start, (0.0, 16.0), &chart.title);
    svg.legend((0.0, 40.0), WIDTH, &legend(chart));
    plot.draw_axes(&mut svg, chart);
    for (name, value) in &chart.references {
        plot.draw_reference(&mut svg, name, chart.y.unit.show(*value), *value);
    }
    for band in &chart.bands {
        plot.draw_band(&mut svg, band);
    }
    for (index, series) in chart.series.iter().enumerate() {
        plot.draw_series(&mut svg, chart, series, palette::line(index));
    }
    svg.finish()
}

fn legend(chart: &LineChart) -> Vec<(&str, &'static str)> {
    chart.series.iter().enumerate().map(|(index, series)| (series.name.as_str(), palette::line(index))).collect()
}

/// Where everything goes.
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Mapping,
    y: Mapping,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
}

impl Plot {
    fn lay_out(chart: &LineChart) -> Self {
        let top = 58.0 + legend_height(&legend(chart), WIDTH);
        let bottom = top + PLOT_HEIGHT;
        let points = || chart.series.iter().flat_map(|series| series.points.iter());
        let references = chart.references.iter().map(|(_, value)| *value);
        let bands = chart.bands.iter().flat_map(|band| band.points.iter()).flat_map(|(_, low, high)| [*low, *high]);
        let others = references.chain(bands);
        let (y, y_ticks) = Mapping::new(&chart.y, points().map(|p| p.1).chain(others), (bottom, top));
        let left = y_ticks.iter().map(|(_, label)| text_width(label)).fold(20.0, f64::max) + 12.0;
        let right = WIDTH - 26.0;
        let (x, x_ticks) = Mapping::new(&chart.x, points().map(|p| p.0), (left, right));
        Self { left, right, top, bottom, x, y, x_ticks, y_ticks }
    }

    fn draw_axes(&self, svg: &mut Svg, chart: &LineChart) {
        for (value, label) in &self.y_ticks {
            let y = self.y.place(*value).unwrap_or(self.bottom);
            svg.line("ch-grid", (self.left, y), (self.right, y));
            svg.text("", Anchor::End, (self.left - 6.0, y + 4.0), label);
        }
        for (value, label) in &self.x_ticks {
            let x = self.x.place(*value).unwrap_or(self.left);
            svg.line("ch-axis", (x, self.bottom), (x, self.bottom + 4.0));
            svg.text("", Anchor::Middle, (x, self.bottom + 18.0), label);
        }
        svg.line("ch-axis", (self.left, self.bottom), (self.right, self.bottom));
        svg.text("", Anchor::End, (self.right, self.bottom + 38.0), &chart.x.label);
        svg.text("", Anchor::Start, (0.0, self.top - 14.0), &chart.y.label);
    }

    fn draw_reference(&self, svg: &mut Svg, name: &str, shown: String, value: f64) {
        if let Some(y) = self.y.place(value) {
            svg.line("ch-ref", (self.left, y), (self.right, y));
            // Below, where a bound has no curve; above, where there is no room below.
            let at = if y + 18.0 < self.bottom { y + 14.0 } else { y - 5.0 };
            svg.text("", Anchor::End, (self.right, at), &format!("{name} {shown}"));
        }
    }

    /// Along the upper edge, and back along the lower one.
    fn draw_band(&self, svg: &mut Svg, band: &Band) {
        let place =
            |&(x, low, high): &(f64, f64, f64)| Some((self.x.place(x)?, self.y.place(low)?, self.y.place(high)?));
        let places: Vec<(f64, f64, f64)> = band.points.iter().filter_map(place).collect();
        let upper = places.iter().map(|(x, _, high)| (x, high));
        let lower = places.iter().rev().map(|(x, low, _)| (x, low));
        let corners: Vec<String> = upper.chain(lower).map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
        let (corners, colour) = (corners.join(" "), palette::line(band.series));
        svg.raw(format_args!("<polygon points=\"{corners}\" fill=\"{colour}\" fill-opacity=\"0.18\"/>"));
    }

    fn draw_series(&self, svg: &mut Svg, chart: &LineChart, series: &Series, colour: &str) {
        let places: Vec<(f64, f64, (f64, f64))> = (series.points.iter())
            .filter_map(|&point| Some((self.x.place(point.0)?, self.y.place(point.1)?, point)))
            .collect();
        let path = path(chart.join, &places);
        let name = escape(&series.name);
        svg.raw(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linejoin=\"round\"><title>{name}</title></path>"
        ));
        if places.len() <= MARKED_POINTS {
            for (x, y, point) in &places {
                let (x, y) = (px(*x), px(*y));
                let hover = format!("{}: {}, {}", series.name, chart.x.unit.show(point.0), chart.y.unit.show(point.1));
                let hover = escape(&hover);
                svg.raw(format_args!(
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{colour}\"><title>{hover}</title></circle>"
                ));
            }
        }
    }
}

fn path(join: Join, places: &[(f64, f64, (f64, f64))]) -> String {
    let mut path = String::new();
    for (index, (x, y, _)) in places.iter().enumerate() {
        let (x, y) = (px(*x), px(*y));
        // Writing to a string cannot fail.
        let _ = match (index, join) {
            (0, _) => write!(path, "M{x} {y}"),
            (_, Join::Straight) => write!(path, "L{x} {y}"),
            (_, Join::Steps) => write!(path, "H{x}V{y}"),
        };
    }
    path
}
