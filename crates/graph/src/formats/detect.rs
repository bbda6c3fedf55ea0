//! Which format is it? By what only one format has; between those that are bare numbers, by their counts.

use super::lines::parse_count;
use super::{Error, Format, Line, Lines, Result, edge_list};

pub(super) fn detect(bytes: &[u8], file_name: Option<&str>) -> Result<Format> {
    if bytes.starts_with(b"%%MatrixMarket") {
        return Ok(Format::MatrixMarket);
    }
    let first = Lines::new(bytes).find(|line| !is_comment(line));
    let Some(first) = first else {
        // Nothing but comments is an edge list without edges, unless it is nothing at all.
        let anything = Lines::new(bytes).next().is_some();
        return if anything { Ok(Format::EdgeList) } else { Err(Error::file("the file is empty")) };
    };
    let words: Vec<&[u8]> = first.words().collect();
    match words.as_slice() {
        [b"p", b"td" | b"tw" | b"vc" | b"ds", ..] => return Ok(Format::Pace),
        [b"p", ..] => return Ok(Format::Dimacs),
        _ if words.iter().all(|word| parse_count(word).is_some()) => {}
        [a, b, ..] if parse_count(a).is_some() && parse_count(b).is_some() => {}
        _ => return Err(unknown(&first)),
    }
    Ok(by_name(file_name).unwrap_or_else(|| by_counts(bytes, &words)))
}

fn unknown(line: &Line<'_>) -> Error {
    let names = Format::ALL.map(Format::name).join(", ");
    let hint = format!("known are {names}; files may be gzipped, nodes are numbers");
    line.error("unknown graph format").with_hint(hint)
}

/// Comments of every format: `#`, `%`, and `c` as a word.
fn is_comment(line: &Line<'_>) -> bool {
    edge_list::is_comment(line) || line.text == b"c" || line.text.starts_with(b"c ") || line.text.starts_with(b"c\t")
}

fn by_name(file_name: Option<&str>) -> Option<Format> {
    let name = file_name?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let endings = [(".graph", Format::Metis), (".metis", Format::Metis), (".rud", Format::Rudy), (".mc", Format::Rudy)];
    endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| format)
}

/// A header `n m` followed by `m` lines of two or three numbers is rudy's, by `n` lines with two numbers an edge (four with weights)
/// METIS'; without a header that fits, or with edges between fewer than two nodes, the file is an edge list.
fn by_counts(bytes: &[u8], header: &[&[u8]]) -> Format {
    let count = |i: usize| header.get(i).and_then(|word| parse_count(word));
    let (Some(nodes), Some(edges)) = (count(0), count(1)) else { return Format::EdgeList };
    let (mut lines, mut filled, mut numbers, mut pairs, mut hashes) = (0u64, 0u64, 0u64, true, bytes.starts_with(b"#"));
    let mut rest = Lines::new(bytes);
    _ = rest.find(|line| !is_comment(line));
    while let Some(line) = rest.next_raw() {
        if !line.text.is_empty() && is_comment(&line) {
            hashes |= line.text.starts_with(b"#");
            continue;
        }
        lines += 1;
        let words = line.words().count();
        numbers += words as u64;
        filled += u64::from(words > 0);
        pairs &= words == 0 || words == 2 || words == 3;
    }
    let one_line_a_node = lines + 1 >= nodes && filled <= nodes && header.len() <= 4 && !hashes;
    if nodes < 2 && edges > 0 {
        Format::EdgeList
    } else if pairs && filled == edges {
        Format::Rudy
    } else if one_line_a_node && (!pairs || numbers == 2 * edges || numbers == 4 * edges) && nodes > 0 {
        Format::Metis
    } else {
        Format::EdgeList
    }
}
