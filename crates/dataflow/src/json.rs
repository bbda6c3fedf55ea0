//! Labrys' own format: JSON that a script can write.
//!
//! ```json
//! {"schema": "labrys-graph", "version": 1, "name": "toy",
//!  "weights": [{"name": "w", "bytes": 4096}],
//!  "ops": [
//!   {"name": "load", "kind": "input", "time_ns": 0, "outputs": [{"name": "x", "bytes": 1024}]},
//!   {"name": "mul", "kind": "dot", "work": {"flops": 2048, "bytes": 6144, "dtype": "f32"}, "scratch": 64,
//!    "inputs": ["x"], "reads": ["w"], "control": ["load"], "outputs": [{"name": "y", "bytes": 1024, "kept": true}]}]}
//! ```
//!
//! Times are nanoseconds, sizes bytes. An op has `time_ns`, or `work`, from which a device profile estimates the time, or both;
//! a time counts as measured unless `estimated` is true and there is `work` to estimate it anew. `inputs` name tensors, `reads` weights, `control` ops that must run before;
//! they may stand anywhere in the file. `kept` tensors are outputs of the graph. All but `schema`, `version`, `ops`, and the
//! names and sizes may be left out. Names of ops are unique, and so are those of tensors and those of weights.

use crate::graph::{DType, Graph, OpId, TensorId, TimeSource, WeightId, Work};
use crate::{Error, GraphBuilder, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Value of the field `schema`.
const SCHEMA: &str = "labrys-graph";
/// Value of the field `version`.
const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Header {
    schema: String,
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    #[serde(rename = "schema")]
    _schema: String,
    #[serde(rename = "version")]
    _version: u32,
    #[serde(default)]
    name: String,
    #[serde(borrow, default)]
    weights: Vec<Weight<'a>>,
    #[serde(borrow)]
    ops: Vec<Op<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Op<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    estimated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    work: Option<WorkFields>,
    #[serde(default, skip_serializing_if = "is_default")]
    scratch: u64,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    reads: Vec<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    control: Vec<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<Output<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct WorkFields {
    flops: u64,
    bytes: u64,
    dtype: DType,
    #[serde(skip_serializing_if = "is_default")]
    free: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Output<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    bytes: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    kept: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weight<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    bytes: u64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a graph.
///
/// # Errors
/// [`Error::Syntax`] with the line for malformed JSON, [`Error::Node`] for names that are repeated or unknown, and those of
/// [`GraphBuilder::build`].
pub fn read(text: &str) -> Result<Graph> {
    check_header(text)?;
    let file: File<'_> = serde_json::from_str(text).map_err(|e| syntax(&e))?;
    let mut builder = GraphBuilder::new(file.name.as_str());
    let mut names = NameTables::default();
    for weight in &file.weights {
        let id = builder.weight(&weight.name, weight.bytes);
        if names.weights.insert(&weight.name, id).is_some() {
            return Err(Error::file(format!("a second weight '{}'", weight.name)));
        }
    }
    for op in &file.ops {
        names.add_op(&mut builder, op)?;
    }
    for op in &file.ops {
        names.link(&mut builder, op)?;
    }
    builder.build()
}

/// A file of another schema or version is told so, rather than that its first unknown field is unknown.
fn check_header(text: &str) -> Result<()> {
    let header: Header = serde_json::from_str(text).map_err(|e| syntax(&e))?;
    if header.schema != SCHEMA {
        return Err(Error::file(format!("expected the schema '{SCHEMA}', found '{}'", header.schema)));
    }
    if header.version != VERSION {
        let message =
            format!("version {} of the schema '{SCHEMA}'; this program reads version {VERSION}", header.version);
        return Err(Error::file(message));
    }
    Ok(())
}

fn syntax(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let error = match error.column() {
        0 => Error::syntax(error.line(), message),
        column => Error::syntax(error.line(), format!("{message} (column {column})")),
    };
    if text.starts_with("EOF") { error.with_hint("the file looks truncated") } else { error }
}

#[derive(Default)]
struct NameTables<'f> {
    ops: HashMap<&'f str, OpId>,
    tensors: HashMap<&'f str, TensorId>,
    weights: HashMap<&'f str, WeightId>,
}

impl<'f> NameTables<'f> {
    fn add_op(&mut self, builder: &mut GraphBuilder, op: &'f Op<'_>) -> Result<()> {
        let id = builder.op(&op.name, &op.kind);
        if self.ops.insert(&op.name, id).is_some() {
            return Err(wrong(op, "a second op of this name"));
        }
        if let Some(time) = op.time_ns {
            let source = if op.estimated && op.work.is_some() { TimeSource::Estimated } else { TimeSource::Measured };
            builder.set_time(id, time, source);
        }
        if let Some(WorkFields { flops, bytes, dtype, free }) = op.work {
            builder.set_work(id, Work { flops, bytes, dtype, free });
        }
        builder.set_scratch(id, op.scratch);
        for output in &op.outputs {
            let tensor = builder.output(id, &output.name, output.bytes);
            if self.tensors.insert(&output.name, tensor).is_some() {
                return Err(wrong(op, format!("a second tensor '{}'", output.name)));
            }
            if output.kept {
                builder.keep(tensor);
            }
        }
        Ok(())
    }

    fn link(&self, builder: &mut GraphBuilder, op: &Op<'_>) -> Result<()> {
        let unknown = |what: &str, name: &str| wrong(op, format!("there is no {what} '{name}'"));
        let id = *self.ops.get(&*op.name).ok_or_else(|| unknown("op", &op.name))?;
        for name in &op.inputs {
            builder.input(id, *self.tensors.get(&**name).ok_or_else(|| unknown("tensor", name))?);
        }
        for name in &op.reads {
            builder.reads(id, *self.weights.get(&**name).ok_or_else(|| unknown("weight", name))?);
        }
        for name in &op.control {
            builder.control(id, *self.ops.get(&**name).ok_or_else(|| unknown("op", name))?);
        }
        Ok(())
    }
}

fn wrong(op: &Op<'_>, message: impl Into<String>) -> Error {
    Error::node(&*op.name, &*op.kind, message)
}

/// Writes a graph, one op a line. A name that another of its kind has already gets a number behind it.
pub fn write(graph: &Graph) -> String {
    let ops = unique_names(graph.ops().map(|op| graph.op_name(op)));
    let tensors = unique_names(graph.tensors().map(|tensor| graph.tensor_name(tensor)));
    let weights = unique_names(graph.weights().map(|weight| graph.weight_name(weight)));
    let sizes = graph
        .weights()
        .zip(&weights)
        .map(|(id, name)| line(&Weight { name: name.clone(), bytes: graph.weight_bytes(id) }));
    let lines = graph.ops().map(|op| line(&op_fields(graph, op, &ops, &tensors, &weights)));
    format!(
        "{{\"schema\": \"{SCHEMA}\", \"version\": {VERSION}, \"name\": {},\n\"weights\": [{}],\n\"ops\": [{}]}}\n",
        line(&graph.name()),
        sizes.collect::<Vec<_>>().join(","),
        lines.collect::<Vec<_>>().join(",")
    )
}

/// A value on a line of its own, or the line's content for a plain string.
fn line<T: Serialize>(value: &T) -> String {
    // Only maps with keys that are no strings fail.
    let json = serde_json::to_string(value).unwrap_or_default();
    if json.starts_with('{') { format!("\n {json}") } else { json }
}

fn op_fields<'g>(
    graph: &'g Graph,
    op: OpId,
    ops: &[Cow<'g, str>],
    tensors: &[Cow<'g, str>],
    weights: &[Cow<'g, str>],
) -> Op<'g> {
    let work = *graph.work(op);
    let Work { flops, bytes, dtype, free } = work;
    let estimated = graph.time_source(op) == TimeSource::Estimated;
    let output =
        |&t: &TensorId| Output { name: tensors[t.0 as usize].clone(), bytes: graph.bytes(t), kept: graph.is_kept(t) };
    Op {
        name: ops[op.0 as usize].clone(),
        kind: graph.kind(op).into(),
        time_ns: Some(graph.time(op)),
        estimated,
        work: (estimated || work != Work::default()).then_some(WorkFields { flops, bytes, dtype, free }),
        scratch: graph.scratch(op),
        inputs: graph.inputs(op).iter().map(|t| tensors[t.0 as usize].clone()).collect(),
        reads: graph.reads(op).iter().map(|w| weights[w.0 as usize].clone()).collect(),
        control: graph.control(op).iter().map(|c| ops[c.0 as usize].clone()).collect(),
        outputs: graph.outputs(op).iter().map(output).collect(),
    }
}

fn unique_names<'g>(names: impl Iterator<Item = &'g str>) -> Vec<Cow<'g, str>> {
    let names: Vec<&str> = names.collect();
    let all: HashSet<&str> = names.iter().copied().collect();
    let mut seen = HashSet::new();
    let mut repeats = 0usize;
    let unique = |name: &'g str| {
        if seen.insert(name) {
            return Cow::Borrowed(name);
        }
        loop {
            repeats += 1;
            let numbered = format!("{name}#{repeats}");
            if !all.contains(numbered.as_str()) {
                return Cow::Owned(numbered);
            }
        }
    };
    names.into_iter().map(unique).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(ops: &str) -> String {
        format!(
            "{{\"schema\": \"labrys-graph\", \"version\": 1, \"weights\": [{{\"name\": \"w\", \"bytes\": 7}}],\n\"ops\": [\n{ops}]}}"
        )
    }

    #[test]
    fn the_example_of_the_documentation_is_read() {
        let doc = include_str!("json.rs").split("```").nth(1).unwrap().trim_start_matches("json");
        let text: String = doc.lines().map(|line| line.trim_start_matches("//!").to_owned() + "\n").collect();
        let graph = read(&text).unwrap();
        let (load, mul) = (OpId(0), OpId(1));
        assert_eq!((graph.name(), graph.op_count(), graph.kind(mul)), ("toy", 2, "dot"));
        assert_eq!((graph.time_source(load), graph.time_source(mul)), (TimeSource::Measured, TimeSource::Estimated));
        assert_eq!((graph.work(mul).flops, graph.scratch(mul), graph.control(mul)), (2048, 64, &[load][..]));
        assert_eq!((graph.weight_bytes(graph.reads(mul)[0]), graph.is_kept(graph.outputs(mul)[0])), (4096, true));
        assert_eq!(write(&read(&write(&graph)).unwrap()), write(&graph));
    }

    #[test]
    fn repeated_names_are_told_apart_on_writing() {
        let names = ["a", "a", "a#1", "b", "a"];
        assert_eq!(unique_names(names.into_iter()), ["a", "a#2", "a#1", "b", "a#3"]);
    }

    #[test]
    fn errors_name_the_place() {
        let cases = [
            (String::new(), "line 1: EOF while parsing a value"),
            ("{\"schema\": \"x\", \"version\": 1}".into(), "expected the schema 'labrys-graph', found 'x'"),
            ("{\"schema\": \"labrys-graph\", \"version\": 2}".into(), "version 2 of the schema"),
            ("{\"schema\": \"labrys-graph\"}".into(), "line 1: missing field `version` (column 26)"),
            (file("{\"name\": \"a\", \"cost\": 1}"), "line 3: unknown field `cost`, expected one of"),
            (file("{\"name\": \"a\", \"scratch\": -1}"), "line 3: invalid value: integer `-1`, expected u64"),
            (file("{\"name\": \"a\"}, {\"name\": \"a\"}"), "node 'a' (): a second op of this name"),
            (file("{\"name\": \"a\", \"inputs\": [\"q\"]}"), "node 'a' (): there is no tensor 'q'"),
            (file("{\"name\": \"a\", \"reads\": [\"q\"]}"), "node 'a' (): there is no weight 'q'"),
            (file("{\"name\": \"a\", \"control\": [\"a\"]}"), "the ops form a cycle: a -> a"),
            (
                file(
                    "{\"name\": \"a\", \"outputs\": [{\"name\": \"t\", \"bytes\": 1}, {\"name\": \"t\", \"bytes\": 1}]}",
                ),
                "a second tensor 't'",
            ),
            (file(""), "the graph has no ops"),
        ];
        for (text, expected) in cases {
            let error = read(&text).map(|g| write(&g)).unwrap_err().to_string();
            assert!(error.contains(expected), "found: {error}\nexpected: {expected}");
        }
    }
}
