//! Costs over epochs of several training runs, as percentiles.

use crate::error::CliError;
use labrys_report::series::{Axis, Band, LineChart, Scale, Series};
use labrys_report::svg;
use labrys_report::table::{Align, Cell, Table};
use labrys_report::units::Unit;
use labrys_rl::metrics::{Kind, Metrics};
use labrys_rl::run::METRICS;
use std::path::{Path, PathBuf};

/// What runs that differ in their seeds came to after an epoch.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub(super) struct Point {
    /// Epochs of training.
    pub epoch: u64,
    /// The draft's shaded areas: the second best of ten.
    pub low: f64,
    /// Half of the runs are better.
    pub median: f64,
    /// The eighth best of ten.
    pub high: f64,
}

/// Total costs over epochs.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub(super) struct Curve {
    pub name: String,
    pub points: Vec<Point>,
}

impl Curve {
    /// The sum over `expressions` expressions of a figure that validations record as its mean, in all runs.
    pub(super) fn read(name: &str, figure: &str, expressions: usize, runs: &[PathBuf]) -> Result<Self, CliError> {
        let read = |run: &PathBuf| {
            let path = run.join(METRICS);
            let failed = |error| CliError::input(format!("{}: {error}", path.display()));
            let means = Metrics::read(&path, Kind::Validate, figure).map_err(failed)?;
            Ok(means.into_iter().map(|(_, mean)| mean * expressions as f64).collect())
        };
        let runs: Vec<Vec<f64>> = runs.iter().map(read).collect::<Result<_, CliError>>()?;
        Ok(Self { name: name.to_owned(), points: points(&runs) })
    }
}

/// Percentiles over runs, epoch by epoch, as far as all runs went.
fn points(runs: &[Vec<f64>]) -> Vec<Point> {
    let epochs = runs.iter().map(Vec::len).min().unwrap_or(0);
    let at = |epoch: usize| {
        let mut totals: Vec<f64> = runs.iter().map(|run| run[epoch]).collect();
        totals.sort_by(f64::total_cmp);
        let (low, median, high) = (quantile(&totals, 0.2), quantile(&totals, 0.5), quantile(&totals, 0.8));
        Point { epoch: epoch as u64 + 1, low, median, high }
    };
    (0..epochs).map(at).collect()
}

/// The least value such that a share of all values is not above it.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64 - 1e-9).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// Curves with their bands, and named lines.
pub(super) fn chart(title: &str, curves: &[&Curve], references: Vec<(String, f64)>) -> String {
    let axis = |label: &str| Axis { label: label.to_owned(), unit: Unit::Number, scale: Scale::Linear };
    let line = |curve: &&Curve| Series {
        name: curve.name.clone(),
        points: curve.points.iter().map(|point| (point.epoch as f64, point.median)).collect(),
    };
    let band = |(series, curve): (usize, &&Curve)| Band {
        series,
        points: curve.points.iter().map(|point| (point.epoch as f64, point.low, point.high)).collect(),
    };
    svg::line_chart(&LineChart {
        title: title.to_owned(),
        x: axis("epoch"),
        y: axis("total cost"),
        series: curves.iter().map(line).collect(),
        bands: curves.iter().enumerate().map(band).collect(),
        references,
        ..LineChart::default()
    })
}

/// Curves as a table, at some epochs.
pub(super) fn table(title: &str, curves: &[&Curve]) -> String {
    let names = curves.iter().map(|curve| (&curve.name[..], Align::Right));
    let columns: Vec<(&str, Align)> = [("epoch", Align::Right)].into_iter().chain(names).collect();
    let mut table = Table::new(title, &columns);
    let epochs = curves.iter().map(|curve| curve.points.len()).max().unwrap_or(0);
    for epoch in (0..epochs).filter(|&epoch| is_shown(epoch + 1, epochs)) {
        let cell = |curve: &&Curve| match curve.points.get(epoch) {
            Some(point) => Cell::Text(format!("{:.1} [{:.1}, {:.1}]", point.median, point.low, point.high)),
            None => Cell::Missing,
        };
        table.push([Cell::Text((epoch + 1).to_string())].into_iter().chain(curves.iter().map(cell)));
    }
    table.to_text()
}

/// The first epochs, then fewer and fewer, and the last.
fn is_shown(epoch: usize, epochs: usize) -> bool {
    epoch.is_power_of_two() || epoch == epochs
}

/// Where a run of a figure is.
pub(super) fn run_folder(folder: &Path, name: &str, seed: u64) -> PathBuf {
    folder.join("runs").join(format!("{name}-{seed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_the_second_and_the_eighth_of_ten() {
        let runs: Vec<Vec<f64>> = (1..=10).rev().map(|run| vec![f64::from(run), 7.0]).collect();
        let points = points(&runs);
        assert_eq!(points[0], Point { epoch: 1, low: 2.0, median: 5.0, high: 8.0 });
        assert_eq!(points[1], Point { epoch: 2, low: 7.0, median: 7.0, high: 7.0 });
        assert_eq!(quantile(&[3.0], 0.2), 3.0);
    }

    #[test]
    fn runs_of_different_lengths_are_compared_as_far_as_all_went() {
        assert_eq!(points(&[vec![1.0, 2.0, 3.0], vec![1.0, 2.0]]).len(), 2);
        assert!(points(&[]).is_empty());
    }
}
