//! Measured times: ONNX Runtime profiles, CSV tables, JSON objects.

use crate::graph::{Graph, TimeSource};
use crate::{Error, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// How many names a message lists before it says "and so on".
const EXAMPLES: usize = 3;

/// What became of a table of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Ops that now have a measured time.
    pub ops: usize,
    /// Names in the table that no op has.
    pub unmatched: usize,
    /// The first few of them, in the order of the table.
    pub examples: Vec<String>,
}

/// Sums of times by op name, in the order of the table.
#[derive(Default)]
struct Times {
    position: HashMap<String, usize>,
    rows: Vec<(String, f64, u64)>,
}

impl Times {
    /// Adds one run of an op; runs of the same op are averaged.
    fn add(&mut self, name: String, microseconds: f64) -> std::result::Result<(), String> {
        if !microseconds.is_finite() || microseconds < 0.0 {
            return Err(format!("the time of '{name}' is {microseconds} us"));
        }
        let at = *self.position.entry(name).or_insert_with_key(|name| {
            self.rows.push((name.clone(), 0.0, 0));
            self.rows.len() - 1
        });
        self.rows[at].1 += microseconds;
        self.rows[at].2 += 1;
        Ok(())
    }

    fn apply(self, graph: &mut Graph) -> Result<Applied> {
        if self.rows.is_empty() {
            return Err(Error::file("the table holds no times"));
        }
        let mut ops: HashMap<&str, f64> = HashMap::with_capacity(self.rows.len());
        ops.extend(self.rows.iter().map(|(name, sum, runs)| (name.as_str(), sum / *runs as f64)));
        let mut matched = 0;
        for op in graph.ops() {
            if let Some(&microseconds) = ops.get(graph.op_name(op)) {
                graph.set_time(op, (microseconds * 1e3).round() as u64, TimeSource::Measured);
                matched += 1;
            }
        }
        let names: std::collections::HashSet<&str> = graph.ops().map(|op| graph.op_name(op)).collect();
        let mut unmatched = self.rows.iter().filter(|(name, ..)| !names.contains(name.as_str())).map(|(name, ..)| name);
        let examples: Vec<String> = unmatched.by_ref().take(EXAMPLES).cloned().collect();
        Ok(Applied { ops: matched, unmatched: examples.len() + unmatched.count(), examples })
    }
}

/// Applies a table in any of the formats below, told apart by its first character.
///
/// # Errors
/// As those.
pub fn apply_times(graph: &mut Graph, bytes: &[u8]) -> Result<Applied> {
    match bytes.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'[') => apply_ort_profile(graph, bytes),
        Some(b'{') => apply_json(graph, bytes),
        _ => apply_csv(graph, bytes),
    }
}

/// One entry of an ONNX Runtime profile: a condensed row, or a trace event.
#[derive(Deserialize)]
struct ProfileEntry {
    node: Option<String>,
    us: Option<f64>,
    #[serde(default)]
    cat: String,
    #[serde(default)]
    name: String,
    dur: Option<f64>,
}

impl ProfileEntry {
    /// Name of the node and its time, if the entry is the run of a kernel.
    fn kernel(self) -> Option<(String, f64)> {
        if let (Some(node), Some(us)) = (self.node, self.us) {
            return Some((node, us));
        }
        let node = self.name.strip_suffix("_kernel_time").filter(|_| self.cat == "Node")?;
        Some((node.to_owned(), self.dur?))
    }
}

/// Applies an ONNX Runtime profile: the trace that it writes with profiling enabled (`cat` is `Node`, `name` is
/// `NODE_kernel_time`, `dur` in microseconds), or a list of `{"node": NAME, "us": TIME}`. Repeated runs are averaged.
///
/// # Errors
/// The line where the bytes are no such JSON; no kernel times at all; negative times.
pub fn apply_ort_profile(graph: &mut Graph, bytes: &[u8]) -> Result<Applied> {
    let entries: Vec<ProfileEntry> = serde_json::from_slice(bytes).map_err(json_error)?;
    let mut times = Times::default();
    for (node, us) in entries.into_iter().filter_map(ProfileEntry::kernel) {
        times.add(node, us).map_err(Error::file)?;
    }
    times.apply(graph)
}

/// Applies a JSON object from op name to microseconds.
///
/// # Errors
/// The line where the bytes are no such JSON; an empty object; negative times.
pub fn apply_json(graph: &mut Graph, bytes: &[u8]) -> Result<Applied> {
    let object: BTreeMap<String, f64> = serde_json::from_slice(bytes).map_err(json_error)?;
    let mut times = Times::default();
    for (name, us) in object {
        times.add(name, us).map_err(Error::file)?;
    }
    times.apply(graph)
}

fn json_error(error: serde_json::Error) -> Error {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    Error::syntax(error.line().max(1), message)
}

/// Applies CSV with the header `name,us`: op name, microseconds. Names that hold commas or quotes are quoted.
///
/// # Errors
/// The line that is no name and number; a missing header; an empty table.
pub fn apply_csv(graph: &mut Graph, bytes: &[u8]) -> Result<Applied> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        Error::syntax(line, "the text is not UTF-8")
    })?;
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map(|(_, line)| line.replace(' ', ""));
    if header.as_deref() != Some("name,us") {
        return Err(Error::syntax(1, "expected the header 'name,us'"));
    }
    let mut times = Times::default();
    for (index, line) in lines {
        let (name, us) =
            csv_row(line).ok_or_else(|| Error::syntax(index + 1, format!("expected 'name,us', found '{line}'")))?;
        times.add(name, us).map_err(|message| Error::syntax(index + 1, message))?;
    }
    times.apply(graph)
}

fn csv_row(line: &str) -> Option<(String, f64)> {
    let (name, us) = line.rsplit_once(',')?;
    let name = name.trim();
    let name = match name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => name.to_owned(),
    };
    Some((name, us.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphBuilder, OpId};

    fn graph() -> Graph {
        let mut builder = GraphBuilder::new("g");
        builder.op("a", "k");
        builder.op("b,\"c\"", "k");
        builder.build().unwrap()
    }

    #[test]
    fn all_formats_say_the_same() {
        let trace = r#"[{"cat":"Session","name":"model_loading","dur":9},
            {"cat":"Node","name":"a_kernel_time","dur":1,"args":{"op_name":"k"}},
            {"cat":"Node","name":"a_kernel_time","dur":2,"args":{"op_name":"k"}},
            {"cat":"Node","name":"zz_kernel_time","dur":2}]"#;
        let tables = [
            trace,
            r#"[{"node":"a","op":"k","us":1.5},{"node":"zz","op":"k","us":1}]"#,
            r#"{"a": 1.5, "zz": 3}"#,
            "name,us\na,1.5\nzz,2\n",
        ];
        for table in tables {
            let mut graph = graph();
            let applied = apply_times(&mut graph, table.as_bytes()).unwrap();
            assert_eq!(applied, Applied { ops: 1, unmatched: 1, examples: vec!["zz".into()] }, "{table}");
            assert_eq!((graph.time(OpId(0)), graph.measured_ops()), (1500, 1), "{table}");
        }
    }

    #[test]
    fn quoted_names_match() {
        let applied = apply_csv(&mut graph(), b"\xef\xbb\xbfname,us\r\n\"b,\"\"c\"\"\",2\r\n").unwrap();
        assert_eq!(applied.ops, 1);
    }

    #[test]
    fn bad_tables_name_the_line() {
        let cases: [(&[u8], &str); 9] = [
            (b"", "line 1: expected the header"),
            (b"a,1\n", "line 1: expected the header"),
            (b"name,us\na,1\n\nb\n", "line 4: expected 'name,us', found 'b'"),
            (b"name,us\na,-1\n", "line 2: the time of 'a' is -1 us"),
            (b"name,us\na,nan\n", "line 2: the time of 'a' is NaN us"),
            (b"name,us\n\xff,1\n", "line 2: the text is not UTF-8"),
            (b"[]", "the table holds no times"),
            (b"{\"a\": 1,\n \"b\": true}", "line 2: invalid type"),
            (b"[{\"node\":", "line 1: EOF"),
        ];
        for (table, expected) in cases {
            let error = apply_times(&mut graph(), table).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error} for {}", String::from_utf8_lossy(table));
        }
    }
}
