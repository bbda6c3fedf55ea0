//! TSPLIB files (Reinelt 1995): symmetric problems with points or a matrix in any layout.

use super::{Cities, Metric};
use labrys_graph::formats::{Error, Labels, Line, Lines, Result, unpack};

/// Cities from a file, and what the file calls them.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The cities, by rising number in the file.
    pub cities: Cities,
    /// Their numbers in the file.
    pub labels: Labels,
}

/// What the keywords before the data say.
#[derive(Default)]
struct Header {
    dimension: Option<(usize, usize)>,
    weight_type: Option<(String, usize)>,
    weight_format: Option<(String, usize)>,
}

/// Reads the bytes of a file, which may be gzipped.
///
/// # Errors
/// Damaged gzip data, unknown kinds of problems and distances, data that are missing, too many or no numbers.
pub fn read(bytes: Vec<u8>) -> Result<Loaded> {
    let bytes = unpack(bytes)?;
    let mut header = Header::default();
    let mut lines = Lines::new(&bytes);
    while let Some(line) = lines.next() {
        let text = String::from_utf8_lossy(line.text).into_owned();
        let (key, value) = text.split_once(':').unwrap_or((&text, ""));
        match (key.trim(), value.trim()) {
            ("NODE_COORD_SECTION", _) => return points(&header, &line, &mut lines, &bytes),
            ("EDGE_WEIGHT_SECTION", _) => return matrix(&header, &line, &mut lines, &bytes),
            ("DISPLAY_DATA_SECTION", _) => skip_display(&header, &line, &mut lines)?,
            ("EOF", _) => break,
            (key, value) => header.keyword(key, value, &line)?,
        }
    }
    Err(Error::at(lines.number().max(1), "expected NODE_COORD_SECTION or EDGE_WEIGHT_SECTION")
        .with_hint("is this a TSPLIB file, and is it complete?"))
}

impl Header {
    fn keyword(&mut self, key: &str, value: &str, line: &Line<'_>) -> Result<()> {
        match key {
            "DIMENSION" => {
                let count = value.parse().ok().filter(|&count: &usize| count < u32::MAX as usize);
                let count =
                    count.ok_or_else(|| line.error(format!("expected the number of cities, found '{value}'")))?;
                self.dimension = Some((count, line.number));
            }
            "TYPE" if !matches!(value.split_whitespace().next(), Some("TSP" | "STSP")) => {
                return Err(line.error(format!("problems of type '{value}' are not solved, only TSP")));
            }
            "EDGE_WEIGHT_TYPE" => self.weight_type = Some((value.to_owned(), line.number)),
            "EDGE_WEIGHT_FORMAT" => self.weight_format = Some((value.to_owned(), line.number)),
            "FIXED_EDGES_SECTION" => return Err(line.error("fixed edges are not supported")),
            "TYPE" | "NAME" | "COMMENT" | "NODE_COORD_TYPE" | "DISPLAY_DATA_TYPE" | "EDGE_DATA_FORMAT" | "CAPACITY" => {
            }
            _ => return Err(line.error(format!("unknown keyword '{key}'"))),
        }
        Ok(())
    }

    fn dimension(&self, section: &Line<'_>) -> Result<usize> {
        Ok(self.dimension.ok_or_else(|| section.error("DIMENSION must come before the data"))?.0)
    }

    fn metric(&self, section: &Line<'_>) -> Result<Metric> {
        let (name, line) =
            self.weight_type.as_ref().ok_or_else(|| section.error("EDGE_WEIGHT_TYPE must come before the data"))?;
        match name.as_str() {
            "EUC_2D" => Ok(Metric::Euclidean),
            "CEIL_2D" => Ok(Metric::EuclideanUp),
            "GEO" => Ok(Metric::Geographic),
            "ATT" => Ok(Metric::Att),
            "EXPLICIT" => Ok(Metric::Explicit),
            other => Err(Error::at(*line, format!("distances '{other}' are not known"))
                .with_hint("known are EUC_2D, CEIL_2D, GEO, ATT and EXPLICIT")),
        }
    }
}

fn skip_display(header: &Header, section: &Line<'_>, lines: &mut Lines<'_>) -> Result<()> {
    for _ in 0..header.dimension(section)? {
        lines.next().ok_or_else(|| Error::at(section.number, "the display data are not complete"))?;
    }
    Ok(())
}

fn points(header: &Header, section: &Line<'_>, lines: &mut Lines<'_>, bytes: &[u8]) -> Result<Loaded> {
    let n = header.dimension(section)?;
    let metric = header.metric(section)?;
    if metric == Metric::Explicit {
        // Coordinates for drawing only; the matrix follows.
        skip_display(header, section, lines)?;
        let next = lines.next().ok_or_else(|| Error::at(lines.number(), "expected EDGE_WEIGHT_SECTION"))?;
        return match next.text {
            b"EDGE_WEIGHT_SECTION" => matrix(header, &next, lines, bytes),
            _ => Err(next.error("expected EDGE_WEIGHT_SECTION")),
        };
    }
    let mut rows: Vec<(u64, (f64, f64))> = vec![];
    while rows.len() < n {
        let Some(line) = lines.next().filter(|line| line.text != b"EOF") else {
            let message = format!("the file ends after {} of {n} cities", rows.len());
            return Err(Error::at(lines.number(), message).with_hint("is the file complete?"));
        };
        rows.push(point(&line)?);
    }
    nothing_more(lines)?;
    rows.sort_by_key(|&(label, _)| label);
    if let Some(twice) = rows.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::file(format!("city {} is listed twice", twice[0].0)));
    }
    let names: Vec<u64> = rows.iter().map(|&(label, _)| label).collect();
    let in_order = names.iter().zip(1..).all(|(&name, expected)| name == expected);
    let labels = if in_order { Labels::From(1) } else { Labels::Names(names) };
    Ok(Loaded { cities: Cities::at_points(metric, rows.into_iter().map(|(_, point)| point).collect()), labels })
}

/// After the data there may be EOF and drawing data, but no more cities.
fn nothing_more(lines: &mut Lines<'_>) -> Result<()> {
    match lines.next() {
        Some(line) if line.text.first().is_some_and(u8::is_ascii_digit) => {
            Err(line.error("more data than DIMENSION says"))
        }
        _ => Ok(()),
    }
}

/// `12 3.5 1.2e3`: number, x and y.
fn point(line: &Line<'_>) -> Result<(u64, (f64, f64))> {
    /// Squares of differences and sums of lengths stay far from their limits.
    const MOST: f64 = 1e12;
    let mut words = line.words();
    let label = line.count(&mut words, "the number of a city")?;
    let mut coordinate = || {
        let word = words.next().unwrap_or_default();
        let value = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
        let found = String::from_utf8_lossy(&word[..word.len().min(40)]);
        value
            .filter(|value| value.abs() <= MOST)
            .ok_or_else(|| line.error(format!("expected a coordinate up to 1e12, found '{found}'")))
    };
    Ok((label, (coordinate()?, coordinate()?)))
}

/// Rows and columns, one pair an entry.
type Places = Box<dyn Iterator<Item = (u32, u32)>>;

/// Where each entry of a layout stands, and how many there are.
fn layout(format: &str, n: usize) -> Option<(Places, usize)> {
    type Bound = fn(usize, usize) -> usize;
    let (from, to, count): (Bound, Bound, usize) = match format {
        "FULL_MATRIX" => (|_, _| 0, |_, n| n, n * n),
        // The columns of one triangle are the rows of the other.
        "UPPER_ROW" | "LOWER_COL" => (|r, _| r + 1, |_, n| n, n * n.saturating_sub(1) / 2),
        "LOWER_ROW" | "UPPER_COL" => (|_, _| 0, |r, _| r, n * n.saturating_sub(1) / 2),
        "UPPER_DIAG_ROW" | "LOWER_DIAG_COL" => (|r, _| r, |_, n| n, n * (n + 1) / 2),
        "LOWER_DIAG_ROW" | "UPPER_DIAG_COL" => (|_, _| 0, |r, _| r + 1, n * (n + 1) / 2),
        _ => return None,
    };
    let places = (0..n).flat_map(move |r| (from(r, n)..to(r, n)).map(move |c| (r as u32, c as u32)));
    Some((Box::new(places), count))
}

fn matrix(header: &Header, section: &Line<'_>, lines: &mut Lines<'_>, bytes: &[u8]) -> Result<Loaded> {
    let n = header.dimension(section)?;
    if header.metric(section)? != Metric::Explicit {
        return Err(section.error("a matrix needs EDGE_WEIGHT_TYPE: EXPLICIT"));
    }
    // Every entry takes two bytes at least.
    if n.saturating_mul(n.saturating_sub(1)) / 4 > bytes.len() {
        return Err(section.error(format!("the file is too short for a matrix of {n} cities")));
    }
    let (format, line) =
        header.weight_format.as_ref().ok_or_else(|| section.error("EDGE_WEIGHT_FORMAT must come before the data"))?;
    let (mut places, mut missing) = layout(format, n).ok_or_else(|| {
        Error::at(*line, format!("the layout '{format}' is not known"))
            .with_hint("known are FULL_MATRIX and UPPER or LOWER, with _DIAG or without, _ROW or _COL")
    })?;
    let mut triangle: Vec<Option<u32>> = vec![None; n * n.saturating_sub(1) / 2];
    'file: while missing > 0 {
        let Some(line) = lines.next() else { break };
        for word in line.words() {
            if word == b"EOF" {
                break 'file;
            }
            let (row, column) = places.next().ok_or_else(|| line.error("more data than DIMENSION says"))?;
            missing -= 1;
            let weight = line.weight(word)?;
            let weight =
                u32::try_from(weight).map_err(|_| line.error(format!("distance {weight} is not in 0..2^32")))?;
            if row != column {
                let (high, low) = (row.max(column) as usize, row.min(column) as usize);
                let slot = &mut triangle[high * (high - 1) / 2 + low];
                if slot.replace(weight).is_some_and(|before| before != weight) {
                    return Err(line.error(format!("the matrix is not symmetric at {}, {}", row + 1, column + 1)));
                }
            }
        }
    }
    if missing > 0 {
        let message = format!("the file ends {missing} entries short of the matrix");
        return Err(Error::at(lines.number(), message).with_hint("is the file complete?"));
    }
    nothing_more(lines)?;
    let triangle = triangle.into_iter().map(Option::unwrap_or_default).collect();
    Ok(Loaded { cities: Cities::with_matrix(n, triangle), labels: Labels::From(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Loaded> {
        read(text.as_bytes().to_vec())
    }

    #[test]
    fn every_layout_reads_the_same_matrix() {
        let layouts = [
            ("FULL_MATRIX", "0 1 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0"),
            ("UPPER_ROW", "1 2 3 4 5\r\n6"),
            ("LOWER_ROW", "1 2 4 3 5 6"),
            ("UPPER_DIAG_ROW", "0 1 2 3 0 4 5 0 6 0"),
            ("LOWER_DIAG_ROW", "0\n1 0\n2 4 0\n3 5 6 0"),
            ("UPPER_COL", "1 2 4 3 5 6"),
            ("LOWER_COL", "1 2 3 4 5 6"),
            ("UPPER_DIAG_COL", "0 1 0 2 4 0 3 5 6 0"),
            ("LOWER_DIAG_COL", "0 1 2 3 0 4 5 0 6 0"),
        ];
        for (layout, data) in layouts {
            let head = format!(
                "NAME: x\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT: {layout}\n"
            );
            let cities = load(&format!("{head}EDGE_WEIGHT_SECTION\n{data}\nEOF\n")).unwrap().cities;
            let row = |a: u32| (0..4).map(|b| cities.distance(a, b)).collect::<Vec<_>>();
            assert_eq!([row(0), row(1), row(2)], [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6]].map(Vec::from), "{layout}");
            let short = format!("{head}EDGE_WEIGHT_SECTION\n{}", &data[..data.len() - 1].trim_end());
            assert!(load(&short).unwrap_err().to_string().contains("entries short"), "{layout}");
        }
    }

    #[test]
    fn points_may_come_in_any_order() {
        let head = "DIMENSION: 3\nEDGE_WEIGHT_TYPE: CEIL_2D\nNODE_COORD_SECTION\n";
        let loaded = load(&format!("{head}7 0 0\n2 3e0 4.1\n5 1 1")).unwrap();
        assert_eq!([0, 1, 2].map(|v| loaded.labels.label(v)), [2, 5, 7]);
        assert_eq!(loaded.cities.distance(0, 2), 6);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let points = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n";
        let matrix = "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n";
        let cases = [
            (String::new(), "line 1: expected NODE_COORD_SECTION or EDGE_WEIGHT_SECTION"),
            ("hello".into(), "line 1: unknown keyword 'hello'"),
            ("TYPE: ATSP".into(), "line 1: problems of type 'ATSP' are not solved, only TSP"),
            ("DIMENSION: -4".into(), "line 1: expected the number of cities, found '-4'"),
            ("NODE_COORD_SECTION".into(), "line 1: DIMENSION must come before the data"),
            ("DIMENSION: 2\nNODE_COORD_SECTION".into(), "line 2: EDGE_WEIGHT_TYPE must come before the data"),
            (format!("{points}1 0 0\n"), "line 4: the file ends after 1 of 2 cities"),
            (format!("{points}1 0 0\n1 2 2\n"), "city 1 is listed twice"),
            (format!("{points}1 0 nan\n"), "line 4: expected a coordinate up to 1e12, found 'nan'"),
            (format!("{points}1 0\n"), "line 4: expected a coordinate up to 1e12, found ''"),
            (format!("{points}1 0 0\n2 0 0\n3 0 0\n"), "line 6: more data than DIMENSION says"),
            (points.replace("EUC_2D", "MAX_3D"), "line 2: distances 'MAX_3D' are not known"),
            (points.replace(": 2\n", ": 4000000000\n"), "line 3: the file ends after 0 of 4000000000 cities"),
            (matrix.replace(": 3\n", ": 4000000\n"), "line 4: the file is too short for a matrix of 4000000 cities"),
            (format!("{matrix}0 1 2\n1 0 3\n4 3 0\n"), "line 7: the matrix is not symmetric at 3, 1"),
            (format!("{matrix}0 1 2\n1 0 -3\n"), "line 6: distance -3 is not in 0..2^32"),
            (matrix.replace("FULL", "HALF") + "0", "line 3: the layout 'HALF_MATRIX' is not known"),
        ];
        for (text, expected) in cases {
            assert_eq!(load(&text).map(|_| ()).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
