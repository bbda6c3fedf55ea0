//! What is plotted: points over axes, bars by group.

use crate::units::Unit;

/// A named sequence of points, by ascending x.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// (x, y). Points that are not finite, or not above zero on a logarithmic axis, are left out.
    pub points: Vec<(f64, f64)>,
}

/// A range around a series, in its colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Which of the chart's series.
    pub series: usize,
    /// (x, low, high), by ascending x. Points that cannot be drawn are left out.
    pub points: Vec<(f64, f64, f64)>,
}

/// What an axis measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// Label beside the axis; may be empty.
    pub label: String,
    /// Unit of its values.
    pub unit: Unit,
    /// How values map to lengths.
    pub scale: Scale,
}

/// How values map to lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart.
    Log,
}

/// How the points of a line chart are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// Straight from point to point.
    #[default]
    Straight,
    /// A value holds until the next point.
    Steps,
}

/// Series over common axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// Heading.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// How points are joined.
    pub join: Join,
    /// What is plotted.
    pub series: Vec<Series>,
    /// Ranges around series, such as percentiles over repetitions.
    pub bands: Vec<Band>,
    /// Named horizontal lines, such as a proven bound.
    pub references: Vec<(String, f64)>,
}

/// One horizontal bar per group and series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// Heading.
    pub title: String,
    /// The axis along which bars grow.
    pub axis: Axis,
    /// Names of the groups, top to bottom, such as methods.
    pub groups: Vec<String>,
    /// One bar in every group each, such as a data set.
    pub series: Vec<BarSeries>,
}

/// The bars of one colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// Name in the legend.
    pub name: String,
    /// One per group; none where nothing is known.
    pub bars: Vec<Option<Bar>>,
}

/// A value and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Length of the bar.
    pub value: f64,
    /// Half the length of the error bar; zero draws none.
    pub error: f64,
}
