//! One HTML page that holds a whole result: no network, no fonts, no other file.

mod data;

use std::fmt::Write;

use crate::series::LineChart;
use crate::svg::{self, escape};
use crate::table::{Align, Table};
use crate::timeline::{Text, TimeUnit, Timeline};
use crate::units::Unit;

/// What a page shows, top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Heading and name of the browser's tab.
    pub title: String,
    /// The one line that nobody may miss.
    pub subtitle: String,
    /// Labelled amounts, already formatted.
    pub facts: Vec<(String, String)>,
    /// Lanes, flows and counters.
    pub timeline: Timeline,
    /// The moment at which a counter is highest, if it is worth a section.
    pub peak: Option<Peak>,
    /// Charts, such as the trace of a search.
    pub charts: Vec<LineChart>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Small print, such as the version and the command line.
    pub footer: String,
}

/// The moment that sets the peak of a counter.
#[derive(Clone, Debug, Default)]
pub struct Peak {
    /// Index into [`Timeline::counters`].
    pub counter: usize,
    /// When it is, in the timeline's unit.
    pub time: u64,
    /// What runs then.
    pub name: Text,
    /// What it consists of, such as the largest live tensors.
    pub table: Table,
}

const TEMPLATE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = concat!(
    include_str!("html/units.js"),
    include_str!("html/model.js"),
    include_str!("html/view.js"),
    include_str!("html/lanes.js"),
    include_str!("html/counters.js"),
    include_str!("html/panels.js"),
    include_str!("html/main.js"),
);

/// The page as one file. It works from `file://`, follows light and dark mode, and prints.
///
/// Every span is in it, at some 40 to 100 bytes each; drawing merges what is too small to see.
pub fn page(page: &Page) -> String {
    let mut html = String::new();
    for part in TEMPLATE.split("{{") {
        let Some((name, text)) = part.split_once("}}") else {
            html.push_str(part);
            continue;
        };
        fill(&mut html, name, page);
        html.push_str(text);
    }
    html
}

/// Appends what stands for a name of the template.
fn fill(html: &mut String, name: &str, page: &Page) {
    match name {
        "title" => html.push_str(&escape(&page.title)),
        "subtitle" => html.push_str(&escape(&page.subtitle)),
        "footer" => html.push_str(&escape(&page.footer)),
        "style" => html.push_str(STYLE),
        "script" => html.push_str(SCRIPT),
        "facts" => facts(html, &page.facts),
        "still" => html.push_str(&svg::timeline(&page.timeline)),
        "peak" => peak(html, page),
        "charts" => page.charts.iter().for_each(|chart| section(html, "chart", &svg::line_chart(chart))),
        "tables" => page.tables.iter().for_each(|shown| section(html, "", &table(shown))),
        "data" => data::write(html, page),
        _ => debug_assert!(false, "the template names '{name}', which nothing fills"),
    }
}

/// Appends formatted text.
fn push(html: &mut String, text: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = html.write_fmt(text);
}

fn section(html: &mut String, class: &str, content: &str) {
    push(html, format_args!("<section class=\"card {class}\">{content}</section>\n"));
}

fn facts(html: &mut String, facts: &[(String, String)]) {
    for (label, value) in facts {
        push(html, format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(label), escape(value)));
    }
}

fn peak(html: &mut String, page: &Page) {
    let Some(peak) = &page.peak else { return };
    let Some(counter) = page.timeline.counters.get(peak.counter) else { return };
    let highest = counter.points.iter().filter(|point| point.0 == peak.time).map(|point| point.1);
    let value = escape(&counter.unit.show(highest.fold(f64::NEG_INFINITY, f64::max)));
    let (name, counter, time) = (escape(&peak.name), escape(&counter.name), time(page.timeline.time_unit, peak.time));
    let heading = format!(
        "<h2>Peak: {value}</h2><p><b>{counter}</b> is highest at <b>{time}</b>, when <code>{name}</code> runs. \
         <button type=\"button\" id=\"show-peak\" class=\"live\">Show it in the timeline</button></p>"
    );
    section(html, "", &(heading + &table(&peak.table)));
}

fn time(unit: TimeUnit, time: u64) -> String {
    match unit {
        TimeUnit::Nanoseconds => Unit::Nanoseconds.show(time as f64),
        TimeUnit::Steps => format!("step {time}"),
    }
}

fn table(table: &Table) -> String {
    let class = |align| if align == Align::Right { " class=\"right\"" } else { "" };
    let mut html = String::new();
    if !table.title.is_empty() {
        push(&mut html, format_args!("<h3>{}</h3>", escape(&table.title)));
    }
    html.push_str("<div class=\"scroll\"><table><thead><tr>");
    for column in &table.columns {
        push(&mut html, format_args!("<th{}>{}</th>", class(column.align), escape(&column.name)));
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        html.push_str("<tr>");
        for (column, cell) in table.shown(row) {
            push(&mut html, format_args!("<td{}>{}</td>", class(column.align), escape(&cell)));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>");
    html
}

#[cfg(test)]
mod tests;
