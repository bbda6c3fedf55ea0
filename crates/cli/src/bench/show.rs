//! A table of methods as text, JSON and SVG.

use super::measure::{Row, Stats};
use labrys_report::series::{Axis, Bar, BarChart, BarSeries, Scale};
use labrys_report::svg;
use labrys_report::table::{Align, Cell, Table};
use labrys_report::units::Unit;

/// All rows of one bench.
pub(crate) struct Report {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
}

/// The JSON of the shared conventions (ARCHITECTURE.md).
#[derive(serde::Serialize)]
pub(crate) struct Json<'a> {
    schema: &'static str,
    version: u32,
    title: &'a str,
    rows: &'a [Row],
}

impl Report {
    pub(crate) fn json(&self) -> Json<'_> {
        Json { schema: "labrys-bench", version: 1, title: &self.title, rows: &self.rows }
    }

    /// Aligned columns, each mean with its standard error, and the notes below.
    pub(crate) fn text(&self) -> String {
        let seeds = self.rows.iter().any(|row| row.seed_deviation.is_some());
        let mut columns = vec![
            ("method", Align::Left),
            ("better than BRKGA 5K %", Align::Right),
            ("gap to best %", Align::Right),
            ("gap to bound %", Align::Right),
            ("ms", Align::Right),
            (">= BRKGA 5K %", Align::Right),
            ("feasible %", Align::Right),
        ];
        if seeds {
            columns.insert(2, ("over seeds", Align::Right));
        }
        let mut table = Table::new(self.title.clone(), &columns);
        for row in &self.rows {
            let mut cells = vec![
                Cell::Text(row.method.clone()),
                cell(row.improvement, 2),
                cell(row.gap_best, 2),
                cell(row.gap_bound, 2),
                cell(row.ms, 3),
                Cell::Number(row.at_least_as_good, 1),
                Cell::Number(row.feasible, 1),
            ];
            if seeds {
                let deviation = row.seed_deviation.map(|deviation| Cell::Text(format!("± {deviation:.2}")));
                cells.insert(2, deviation.unwrap_or(Cell::Missing));
            }
            table.push(cells);
        }
        let note = |row: &Row| Some(format!("{}: {}\n", row.method, row.note.as_ref()?));
        table.to_text() + &self.rows.iter().filter_map(note).collect::<String>()
    }

    /// Gap to the bound by method, with standard errors.
    pub(crate) fn chart(&self) -> String {
        let bar = |stats: Stats| Bar { value: stats.mean, error: stats.standard_error };
        svg::bar_chart(&BarChart {
            title: self.title.clone(),
            axis: Axis { label: "gap to the proven bound, %".to_owned(), unit: Unit::Number, scale: Scale::Linear },
            groups: self.rows.iter().map(|row| row.method.clone()).collect(),
            series: vec![BarSeries {
                name: "gap".to_owned(),
                bars: self.rows.iter().map(|row| row.gap_bound.map(bar)).collect(),
            }],
        })
    }
}

fn cell(stats: Option<Stats>, decimals: usize) -> Cell {
    match stats {
        Some(stats) => Cell::Text(format!("{:.decimals$} ± {:.decimals$}", stats.mean, stats.standard_error)),
        None => Cell::Missing,
    }
}
