//! The messages in text format.

use super::proto::{CostGraphDef, InputInfo, Node, OutputInfo};
use super::text_format::{Field, parse, quote};
use crate::Result;
use std::fmt::Write;

/// Reads `node { ... }` after `node { ... }`; fields it does not know are skipped.
pub(super) fn decode(text: &str) -> Result<CostGraphDef> {
    let mut def = CostGraphDef::default();
    for field in parse(text)?.iter().filter(|field| field.name == "node") {
        def.node.push(node(field.message()?)?);
    }
    Ok(def)
}

fn node(fields: &[Field<'_>]) -> Result<Node> {
    let mut node = Node::default();
    for field in fields {
        match field.name {
            "name" => node.name = field.string()?,
            "device" => node.device = field.string()?,
            "id" => node.id = field.integer()?,
            "input_info" => node.input_info.push(input_info(field.message()?)?),
            "output_info" => node.output_info.push(output_info(field.message()?)?),
            "temporary_memory_size" => node.temporary_memory_size = field.integer()?,
            "is_final" => node.is_final = field.boolean()?,
            "control_input" => node.control_input.push(field.integer()?),
            "compute_cost" => node.compute_cost = field.integer()?,
            "persistent_memory_size" => node.persistent_memory_size = field.integer()?,
            "inaccurate" => node.inaccurate = field.boolean()?,
            _ => {}
        }
    }
    Ok(node)
}

fn input_info(fields: &[Field<'_>]) -> Result<InputInfo> {
    let mut input = InputInfo::default();
    for field in fields {
        match field.name {
            "preceding_node" => input.preceding_node = field.integer()?,
            "preceding_port" => input.preceding_port = field.integer()?,
            _ => {}
        }
    }
    Ok(input)
}

fn output_info(fields: &[Field<'_>]) -> Result<OutputInfo> {
    let mut output = OutputInfo::default();
    for field in fields {
        match field.name {
            "size" => output.size = field.integer()?,
            "alias_input_port" => output.alias_input_port = field.integer()?,
            _ => {}
        }
    }
    Ok(output)
}

/// The text that TensorFlow would print: fields that are zero are left out.
pub(super) fn encode(def: &CostGraphDef) -> String {
    let mut text = String::new();
    for node in &def.node {
        text.push_str("node {\n");
        push_node(&mut text, node);
        text.push_str("}\n");
    }
    text
}

fn push_node(text: &mut String, node: &Node) {
    push_string(text, "name", &node.name);
    push_string(text, "device", &node.device);
    push_integer(text, "  id", node.id.into());
    for input in &node.input_info {
        text.push_str("  input_info {\n");
        push_integer(text, "    preceding_node", input.preceding_node.into());
        push_integer(text, "    preceding_port", input.preceding_port.into());
        text.push_str("  }\n");
    }
    for output in &node.output_info {
        text.push_str("  output_info {\n");
        push_integer(text, "    size", output.size);
        push_integer(text, "    alias_input_port", output.alias_input_port);
        text.push_str("  }\n");
    }
    push_integer(text, "  temporary_memory_size", node.temporary_memory_size);
    push_flag(text, "is_final", node.is_final);
    for &before in &node.control_input {
        // An element of a repeated field is written even if it is zero.
        let _ = writeln!(text, "  control_input: {before}");
    }
    push_integer(text, "  compute_cost", node.compute_cost);
    push_integer(text, "  persistent_memory_size", node.persistent_memory_size);
    push_flag(text, "inaccurate", node.inaccurate);
}

fn push_string(text: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        let _ = writeln!(text, "  {name}: {}", quote(value));
    }
}

fn push_integer(text: &mut String, name: &str, value: i64) {
    if value != 0 {
        let _ = writeln!(text, "{name}: {value}");
    }
}

fn push_flag(text: &mut String, name: &str, value: bool) {
    if value {
        let _ = writeln!(text, "  {name}: true");
    }
}
