//! The figures as pictures and as text.

use super::histogram::{self, Histogram};
use super::{Figures, Stats};
use labrys_report::series::{Axis, Bar, BarChart, BarSeries, Join, LineChart, Scale, Series};
use labrys_report::svg;
use labrys_report::table::{Align, Cell, Table};
use labrys_report::units::Unit;

const BETTER: &str = "better than BRKGA 5K, %";

impl Figures {
    /// Name and SVG of each figure.
    pub(super) fn charts(&self) -> [(&'static str, String); 4] {
        [
            ("improvements.svg", self.improvement_chart()),
            ("limits.svg", self.limit_chart()),
            ("entropy.svg", self.entropy_chart()),
            ("policies.svg", self.policy_chart()),
        ]
    }

    /// Figure 2: ties are left out, better and worse have colours of their own.
    fn improvement_chart(&self) -> String {
        let side = |name: &str, is_here: fn(&histogram::Bar) -> bool| BarSeries {
            name: name.to_owned(),
            bars: self.improvements.bars.iter().map(|bar| is_here(bar).then(|| exact(bar.count as f64))).collect(),
        };
        svg::bar_chart(&BarChart {
            title: format!("Graphs by how much REGAL 5K is {BETTER}: {}", self.title),
            axis: axis("graphs"),
            groups: intervals(&self.improvements, 0),
            series: vec![side("better", |bar| bar.from >= 0.0), side("worse", |bar| bar.from < 0.0)],
        })
    }

    /// Figure 3.
    fn limit_chart(&self) -> String {
        let curve = |name: &str, stats: fn(&super::AtLimit) -> Option<Stats>| Series {
            name: name.to_owned(),
            points: self.limits.iter().filter_map(|at| Some((at.evaluations as f64, stats(at)?.mean))).collect(),
        };
        svg::line_chart(&LineChart {
            title: self.title.clone(),
            x: Axis { scale: Scale::Log, ..axis("evaluations") },
            y: axis(BETTER),
            join: Join::Straight,
            series: vec![curve("BRKGA", |at| at.brkga), curve("REGAL", |at| at.regal)],
            bands: vec![],
            references: vec![],
        })
    }

    /// Figure 4 (a).
    fn entropy_chart(&self) -> String {
        let bars = self.entropies.bars.iter().map(|bar| Some(exact(bar.count as f64))).collect();
        svg::bar_chart(&BarChart {
            title: format!("Graphs by the entropy of REGAL's placement actions in nats: {}", self.title),
            axis: axis("graphs"),
            groups: intervals(&self.entropies, 1),
            series: vec![BarSeries { name: "graphs".to_owned(), bars }],
        })
    }

    /// Figure 4 (b) and table 4.
    fn policy_chart(&self) -> String {
        let bar = |stats: Stats| Bar { value: stats.mean, error: stats.standard_error };
        svg::bar_chart(&BarChart {
            title: format!("Policies: {}", self.title),
            axis: axis(BETTER),
            groups: self.policies.iter().map(|row| row.policy.clone()).collect(),
            series: vec![BarSeries {
                name: "5K evaluations".to_owned(),
                bars: self.policies.iter().map(|row| row.improvement.map(bar)).collect(),
            }],
        })
    }

    /// Everything but the histograms' bars, in words and tables.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n{}", self.title, self.summary());
        let columns = [("evaluations", Align::Right), ("BRKGA %", Align::Right), ("REGAL %", Align::Right)];
        let mut limits = Table::new(format!("\n{BETTER}, by evaluation limit"), &columns);
        for at in &self.limits {
            limits.push([Cell::Text(at.evaluations.to_string()), cell(at.brkga), cell(at.regal)]);
        }
        text.push_str(&limits.to_text());
        if !self.policies.is_empty() {
            let columns = [("policy", Align::Left), ("at 5K %", Align::Right)];
            let mut policies = Table::new(format!("\n{BETTER}, by policy"), &columns);
            self.policies.iter().for_each(|row| policies.push([Cell::Text(row.policy.clone()), cell(row.improvement)]));
            text.push_str(&policies.to_text());
        }
        text
    }

    fn summary(&self) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.improvements.count().max(1) as f64;
        let Histogram { zeros, below_zero, above_zero, least, most, .. } = self.improvements;
        let range = least.zip(most).map_or(String::new(), |(least, most)| format!(", from {least:.1} to {most:.1} %"));
        let entropy = self.entropy.map_or(String::new(), |stats| {
            format!("entropy of placement actions {:.2} ± {:.2} nats\n", stats.mean, stats.standard_error)
        });
        let [better, equal, worse] = [above_zero, zeros, below_zero].map(share);
        format!(
            "REGAL 5K better on {better:.1} %, equal on {equal:.1} %, worse on {worse:.1} % of the graphs{range}\n{entropy}"
        )
    }
}

fn axis(label: &str) -> Axis {
    Axis { label: label.to_owned(), unit: Unit::Number, scale: Scale::Linear }
}

fn exact(value: f64) -> Bar {
    Bar { value, error: 0.0 }
}

/// Names of the bars of a histogram, with so many decimals.
fn intervals(histogram: &Histogram, decimals: usize) -> Vec<String> {
    histogram.bars.iter().map(|bar| format!("{:.decimals$} to {:.decimals$}", bar.from, bar.to)).collect()
}

fn cell(stats: Option<Stats>) -> Cell {
    stats.map_or(Cell::Missing, |stats| Cell::Text(format!("{:.2} ± {:.2}", stats.mean, stats.standard_error)))
}
