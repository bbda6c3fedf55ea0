//! Matrix Market: a square sparse matrix as a graph, its diagonal being self-loops.

use super::lines::shown;
use super::{Error, Labels, Line, Lines, Result, builder};
use crate::undirected::GraphBuilder;

/// The first line.
struct Banner {
    has_values: bool,
    /// Whether only one triangle is listed.
    symmetric: bool,
    /// Whether both are words that are understood.
    known: bool,
}

pub(super) fn read(bytes: &[u8], weighted: bool) -> Result<(GraphBuilder, Labels)> {
    let mut lines = Lines::new(bytes);
    let first = lines.next().ok_or_else(|| Error::file("the file is empty"))?;
    let banner = banner(&first)?;
    let is_data = |line: &Line<'_>| !line.text.starts_with(b"%");
    let size = lines.find(is_data).ok_or_else(|| Error::file("expected 'ROWS COLUMNS ENTRIES'"))?;
    let mut words = size.words();
    let rows = size.count(&mut words, "the number of rows")?;
    let columns = size.count(&mut words, "the number of columns")?;
    let entries = size.count(&mut words, "the number of entries")?;
    if rows != columns {
        return Err(size.error(format!("a matrix of {rows} rows and {columns} columns is no graph")));
    }
    let mut builder = builder(rows, bytes, &size)?;
    let mut upper: Vec<(u32, u32, i64)> = vec![];
    let mut found = 0u64;
    for line in lines.by_ref().filter(is_data) {
        let mut words = line.words();
        let (row, column) = (line.node(&mut words, rows)?, line.node(&mut words, rows)?);
        let weight = match words.next() {
            Some(word) if banner.has_values && weighted => line.weight(word)?,
            None if banner.has_values => return Err(line.error("an entry without a value")),
            _ => 1,
        };
        found += 1;
        if banner.symmetric || row >= column {
            builder.add_weighted(row, column, weight);
        } else {
            upper.push((column, row, weight));
        }
    }
    if found != entries {
        let message = format!("the file ends after {found} entries, its header says {entries}");
        return Err(Error::at(lines.number(), message).with_hint("is the file complete?"));
    }
    let builder = if upper.is_empty() { builder } else { merge(builder, upper)? };
    Ok((builder, Labels::From(1)))
}

fn banner(line: &Line<'_>) -> Result<Banner> {
    let words: Vec<String> = line.words().map(|word| shown(word).to_ascii_lowercase()).collect();
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    if word(1) != "matrix" || word(2) != "coordinate" {
        return Err(line
            .error("expected '%%MatrixMarket matrix coordinate'")
            .with_hint("dense arrays are no sparse graphs: write the entries as coordinates"));
    }
    let banner = Banner {
        has_values: word(3) != "pattern",
        symmetric: word(4) != "general",
        known: matches!(word(3), "pattern" | "integer" | "real" | "double")
            && matches!(word(4), "general" | "symmetric"),
    };
    if !banner.known {
        let message = format!(
            "a matrix that is '{} {}'; expected pattern, integer or real, general or symmetric",
            word(3),
            word(4)
        );
        return Err(line.error(message));
    }
    Ok(banner)
}

/// The entries above the diagonal of a general matrix: those whose mirror image is there must be equal to it.
fn merge(mut builder: GraphBuilder, mut upper: Vec<(u32, u32, i64)>) -> Result<GraphBuilder> {
    upper.sort_unstable();
    let lower = builder.sorted_edges();
    for (row, column, weight) in upper {
        match lower.binary_search_by_key(&(row, column), |&(a, b, _)| (a, b)) {
            Err(_) => builder.add_weighted(row, column, weight),
            Ok(i) if lower[i].2 == weight => {}
            Ok(_) => {
                let (row, column) = (row + 1, column + 1);
                let message = format!("entries ({row}, {column}) and ({column}, {row}) differ");
                return Err(Error::file(message).with_hint("an undirected graph needs a symmetric matrix"));
            }
        }
    }
    Ok(builder)
}
