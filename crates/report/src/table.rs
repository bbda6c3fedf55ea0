//! Tables as aligned text, Markdown and CSV.

use unicode_width::UnicodeWidthStr;

/// Rows of cells under named columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Heading; may be empty.
    pub title: String,
    /// The columns, left to right.
    pub columns: Vec<Column>,
    /// Cells by row. A short row is filled up with [`Cell::Missing`]; cells past the last column are not shown.
    pub rows: Vec<Vec<Cell>>,
}

/// Name and alignment of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading of the column.
    pub name: String,
    /// Where its cells stand.
    pub align: Align,
}

/// On which side the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text, also amounts that the caller has formatted.
    Text(String),
    /// A number and how many decimals are shown.
    Number(f64, usize),
    /// Nothing is known.
    Missing,
}

impl Table {
    /// An empty table. Columns are given as (name, alignment).
    pub fn new(title: impl Into<String>, columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|&(name, align)| Column { name: name.into(), align }).collect();
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
    }

    /// The cells of a row as shown, one per column.
    pub(crate) fn shown<'a>(&'a self, row: &'a [Cell]) -> impl Iterator<Item = (&'a Column, String)> {
        let cells = row.iter().map(Cell::show).chain(std::iter::repeat_with(|| Cell::Missing.show()));
        self.columns.iter().zip(cells)
    }

    /// Aligned columns for a terminal, two spaces between them; wide characters count as wide.
    pub fn to_text(&self) -> String {
        let header: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        let body = self.rows.iter().map(|row| self.shown(row).map(|(_, text)| one_line(&text)).collect::<Vec<_>>());
        let rows: Vec<Vec<String>> = std::iter::once(header).chain(body).collect();
        let widths: Vec<usize> =
            (0..self.columns.len()).map(|i| rows.iter().map(|row| row[i].width()).max().unwrap_or(0)).collect();
        let mut text = if self.title.is_empty() { String::new() } else { format!("{}\n", self.title) };
        for row in &rows {
            let cells = row.iter().zip(&self.columns).zip(&widths);
            let line: Vec<String> = cells.map(|((cell, column), &width)| pad(cell, column.align, width)).collect();
            text.push_str(line.join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    /// A GitHub-flavoured Markdown table, without the title.
    pub fn to_markdown(&self) -> String {
        let rule = self.columns.iter().map(|column| match column.align {
            Align::Left => "---".to_string(),
            Align::Right => "---:".to_string(),
        });
        let mut text = markdown_row(self.columns.iter().map(|column| markdown_cell(&column.name)));
        text.push_str(&markdown_row(rule));
        for row in &self.rows {
            text.push_str(&markdown_row(self.shown(row).map(|(_, cell)| markdown_cell(&cell))));
        }
        text
    }

    /// Comma-separated values (RFC 4180) with a header, without the title. Numbers keep full precision.
    pub fn to_csv(&self) -> String {
        let mut text = csv_row(self.columns.iter().map(|column| column.name.clone()));
        for row in &self.rows {
            let cells = (0..self.columns.len()).map(|i| match row.get(i) {
                Some(Cell::Number(value, _)) if value.is_finite() => value.to_string(),
                Some(Cell::Text(text)) => text.clone(),
                _ => String::new(),
            });
            text.push_str(&csv_row(cells));
        }
        text
    }
}

impl Cell {
    /// The cell as people read it.
    pub fn show(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value, decimals) if value.is_finite() => format!("{value:.decimals$}"),
            Self::Number(..) | Self::Missing => "–".into(),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Number(count as f64, 0)
    }
}

/// The text without line breaks, so that a row stays a line.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

/// The text filled up with spaces to `width` columns of a terminal.
fn pad(text: &str, align: Align, width: usize) -> String {
    let fill = " ".repeat(width.saturating_sub(text.width()));
    match align {
        Align::Left => format!("{text}{fill}"),
        Align::Right => format!("{fill}{text}"),
    }
}

fn markdown_row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn markdown_cell(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
}

fn csv_row(cells: impl Iterator<Item = String>) -> String {
    let quoted = cells.map(|cell| match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    });
    format!("{}\n", quoted.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new("Methods", &[("method", Align::Left), ("gap %", Align::Right)]);
        table.push(["BRKGA 5K".into(), Cell::Number(26.764, 2)]);
        table.push(["列表 | \"list\", <b>".into(), Cell::Missing]);
        table.push(["short row".into()]);
        table
    }

    #[test]
    fn text_is_aligned_by_display_width() {
        insta::assert_snapshot!(sample().to_text());
    }

    #[test]
    fn markdown_and_csv_are_escaped() {
        insta::assert_snapshot!(format!("{}\n{}", sample().to_markdown(), sample().to_csv()));
    }

    #[test]
    fn numbers_that_are_none_are_missing() {
        assert_eq!(Cell::Number(f64::NAN, 1).show(), "–");
        assert_eq!(Cell::Number(-0.25, 1).show(), "-0.2");
    }
}
