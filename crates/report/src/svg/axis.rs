//! From values to pixels, and where the ticks go.

use crate::series::{Axis, Scale};
use crate::units::Unit;

/// A range of values laid over a range of pixels.
pub(super) struct Mapping {
    scale: Scale,
    values: (f64, f64),
    pixels: (f64, f64),
}

/// A value with its label.
pub(super) type Tick = (f64, String);

impl Mapping {
    /// Lays the values (or, if there are none, 0 to 1) over the pixels, widened to whole ticks.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> (Self, Vec<Tick>) {
        let shown = values.filter(|&value| can_show(axis.scale, value));
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match (low <= high, axis.scale) {
            (false, Scale::Linear) => (0.0, 1.0),
            (false, Scale::Log) => (1.0, 10.0),
            (true, _) => (low, high),
        };
        let (values, ticks) = match axis.scale {
            Scale::Linear => linear_ticks(axis.unit, (low, high), target(pixels)),
            Scale::Log => log_ticks(axis.unit, low, high),
        };
        (Self { scale: axis.scale, values, pixels }, ticks)
    }

    /// The pixel of a value; none if the axis cannot show it.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !can_show(self.scale, value) {
            return None;
        }
        let (low, high, value) = match self.scale {
            Scale::Linear => (self.values.0, self.values.1, value),
            Scale::Log => (self.values.0.log10(), self.values.1.log10(), value.log10()),
        };
        Some(self.pixels.0 + (value - low) / (high - low) * (self.pixels.1 - self.pixels.0))
    }
}

/// Beyond this size sums of axis arithmetic could overflow.
const LARGEST: f64 = 1e300;

fn can_show(scale: Scale, value: f64) -> bool {
    value.abs() <= LARGEST && (scale == Scale::Linear || value >= 1.0 / LARGEST)
}

/// About one tick every 70 pixels.
fn target(pixels: (f64, f64)) -> f64 {
    ((pixels.1 - pixels.0).abs() / 70.0).clamp(2.0, 10.0)
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten of the axis' unit, and the range widened to them.
pub(super) fn linear_ticks(unit: Unit, (low, high): (f64, f64), count: f64) -> ((f64, f64), Vec<Tick>) {
    let (size, suffix) = unit.scale_for(low.abs().max(high.abs()));
    let (low, high) = (low / size, high / size);
    let spread = if high > low { high - low } else { low.abs().max(1.0) };
    let step = nice_step(spread / count);
    // A range that ends on a tick must not get one more for an error of rounding.
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil().max(first + 1.0);
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let ticks = (0..=(last - first) as usize).map(|i| {
        let value = (first + i as f64) * step;
        (value * size, label(value, decimals, suffix))
    });
    ((first * step * size, last * step * size), ticks.collect())
}

fn label(value: f64, decimals: usize, suffix: &str) -> String {
    match value.abs() {
        0.0 => "0".into(),
        large if large >= 1e7 => format!("{value:.1e}{suffix}"),
        _ => format!("{value:.decimals$}{suffix}"),
    }
}

/// The smallest of 1, 2, 5, 10 times a power of ten that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|factor| factor * power).find(|&nice| nice >= step).unwrap_or(10.0 * power)
}

/// Ticks at powers of ten, thinned to ten; at 1, 2, 5 of each when there are few decades.
fn log_ticks(unit: Unit, low: f64, high: f64) -> ((f64, f64), Vec<Tick>) {
    let (first, last) = (low.log10().floor(), high.log10().ceil());
    let last = last.max(first + 1.0);
    let decades = (last - first) as usize;
    let factors: &[f64] = if decades <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let values = (0..=decades)
        .step_by(decades.div_ceil(10))
        .flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powf(first + decade as f64)));
    let range = (10f64.powf(first), 10f64.powf(last));
    let ticks = values.filter(|&value| value <= range.1 * 1.000_001).map(|value| (value, unit.show(value)));
    (range, ticks.collect())
}
