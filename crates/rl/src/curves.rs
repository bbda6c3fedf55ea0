//! Learning curves.

use crate::metrics::{Kind, Metrics};
use labrys_report::series::{Axis, LineChart, Series};
use labrys_report::svg;
use std::path::Path;

/// Most points of a curve: more steps are averaged.
const POINTS: usize = 200;

/// The score of validations and the mean `reward` (or else `loss`) of training steps, as SVG.
pub fn chart(metrics: &Path) -> std::io::Result<String> {
    let mut training = ("reward", Metrics::read(metrics, Kind::Train, "reward")?);
    if training.1.is_empty() {
        training = ("loss", Metrics::read(metrics, Kind::Train, "loss")?);
    }
    let validation = Metrics::read(metrics, Kind::Validate, "score")?;
    let series = vec![
        Series { name: format!("training: {}", training.0), points: thin(&training.1) },
        Series { name: "validation: score".into(), points: validation },
    ];
    let x = Axis { label: "step".into(), ..Axis::default() };
    Ok(svg::line_chart(&LineChart { title: "Learning curve".into(), x, series, ..LineChart::default() }))
}

/// Means over equal stretches.
fn thin(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(POINTS).max(1);
    let mean = |part: &[(f64, f64)]| {
        let count = part.len() as f64;
        (part.iter().map(|p| p.0).sum::<f64>() / count, part.iter().map(|p| p.1).sum::<f64>() / count)
    };
    points.chunks(stretch).map(mean).collect()
}
