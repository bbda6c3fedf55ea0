//! HLO text to [`Module`]: as printed by XLA of the last years, with or without `%`, operand types, layouts and tables.

use super::callgraph;
use super::cursor::Cursor;
use super::module::{Computation, Instruction, Module};
use super::shape;
use crate::{Error, Result};
use std::collections::HashMap;

/// Tables of source locations, which may stand before the first computation.
const TABLES: [&str; 4] = ["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

/// Parses a whole module and links its calls.
pub(super) fn parse(text: &str) -> Result<Module<'_>> {
    let mut cursor = Cursor::new(text);
    let mut module = parse_header(&mut cursor)?;
    let mut entry = None;
    loop {
        cursor.skip_blank();
        let start = cursor.position();
        match cursor.word() {
            "" if cursor.peek().is_none() => break,
            table if TABLES.contains(&table) => skip_table(&mut cursor),
            "ENTRY" => {
                if entry.replace(module.computations.len()).is_some() {
                    return Err(Error::syntax(cursor.line(), "a second ENTRY computation"));
                }
                cursor.skip_blank();
                module.computations.push(parse_computation(&mut cursor)?);
            }
            _ => {
                cursor.rewind(start);
                module.computations.push(parse_computation(&mut cursor)?);
            }
        }
    }
    module.entry = entry.ok_or_else(|| {
        Error::syntax(cursor.line(), "no ENTRY computation before the end of the file")
            .with_hint("the file looks truncated")
    })?;
    callgraph::link(&mut module)?;
    Ok(module)
}

fn parse_header<'a>(cursor: &mut Cursor<'a>) -> Result<Module<'a>> {
    cursor.skip_blank();
    if !cursor.eat_str("HloModule") {
        let error = cursor.expected("'HloModule'");
        return Err(
            error.with_hint("HLO text is what `lowered.as_text('hlo')` prints and what --xla_dump_to dumps as .txt")
        );
    }
    cursor.skip_spaces();
    // Some front ends put more than letters into it.
    let name = cursor.value()?;
    let attributes = parse_attributes(cursor)?;
    let is_scheduled = attributes.contains(&("is_scheduled", "true"));
    Ok(Module { name, is_scheduled, computations: vec![], entry: 0, callees_first: vec![] })
}

/// A table's rows begin with a number.
fn skip_table(cursor: &mut Cursor<'_>) {
    loop {
        cursor.skip_line();
        cursor.skip_blank();
        if !cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
            return;
        }
    }
}

fn parse_computation<'a>(cursor: &mut Cursor<'a>) -> Result<Computation<'a>> {
    let line = cursor.line();
    let name = cursor.name("a computation")?;
    cursor.skip_blank();
    if cursor.peek() == Some(b'(') {
        cursor.balanced()?;
        cursor.skip_blank();
        if !cursor.eat_str("->") {
            return Err(cursor.expected("'->' and the result's shape"));
        }
        cursor.skip_blank();
        shape::parse(cursor)?;
        cursor.skip_blank();
    }
    cursor.expect(b'{')?;
    let computation = parse_body(cursor, name, line)?;
    // What follows the closing brace, such as `execution_thread="main"`.
    parse_attributes(cursor)?;
    Ok(computation)
}

fn parse_body<'a>(cursor: &mut Cursor<'a>, name: &'a str, line: usize) -> Result<Computation<'a>> {
    let mut instructions: Vec<Instruction<'a>> = vec![];
    let mut by_name = HashMap::new();
    let mut root = None;
    cursor.skip_blank();
    while !cursor.eat(b'}') {
        let start = cursor.position();
        if cursor.word() == "ROOT" {
            cursor.skip_blank();
            root = Some(instructions.len());
        } else {
            cursor.rewind(start);
        }
        let instruction = parse_instruction(cursor, &by_name)?;
        if by_name.insert(instruction.name, instructions.len()).is_some() {
            let message = format!("a second instruction '{}' in computation '{name}'", instruction.name);
            return Err(Error::syntax(instruction.line, message));
        }
        instructions.push(instruction);
        cursor.skip_blank();
    }
    let last = instructions.len().checked_sub(1);
    let last = last.ok_or_else(|| Error::syntax(line, format!("computation '{name}' has no instructions")))?;
    let parameters = parameters(&instructions)?;
    Ok(Computation { name, line, instructions, root: root.unwrap_or(last), parameters })
}

/// The parameter instructions by their number, which must count from 0.
fn parameters(instructions: &[Instruction<'_>]) -> Result<Vec<usize>> {
    let mut numbered = vec![];
    for (i, instruction) in instructions.iter().enumerate().filter(|(_, i)| i.opcode == "parameter") {
        let number: usize = instruction.literal.trim().parse().map_err(|_| {
            Error::syntax(instruction.line, format!("expected the parameter's number, found '{}'", instruction.literal))
        })?;
        numbered.push((number, i));
    }
    numbered.sort_unstable();
    for (expected, &(number, i)) in numbered.iter().enumerate() {
        if number != expected {
            let message =
                format!("parameter {number} of a computation whose parameter {expected} is missing or repeated");
            return Err(Error::syntax(instructions[i].line, message));
        }
    }
    Ok(numbered.into_iter().map(|(_, i)| i).collect())
}

/// `name = shape opcode(operands), attribute=value, ...`, up to the end of the line.
fn parse_instruction<'a>(cursor: &mut Cursor<'a>, by_name: &HashMap<&'a str, usize>) -> Result<Instruction<'a>> {
    let line = cursor.line();
    let name = cursor.name("an instruction or '}'")?;
    cursor.skip_blank();
    cursor.expect(b'=')?;
    cursor.skip_blank();
    let shape = shape::parse(cursor)?;
    cursor.skip_blank();
    let opcode = cursor.name("an opcode")?;
    let (mut operands, mut literal) = (vec![], "");
    if matches!(opcode, "constant" | "parameter") {
        literal = parse_literal(cursor)?;
    } else {
        operands = parse_operands(cursor, by_name)?;
    }
    let attributes = parse_attributes(cursor)?;
    let control = match attributes.iter().find(|(key, _)| *key == "control-predecessors") {
        Some((_, list)) => parse_control(list, line, by_name)?,
        None => vec![],
    };
    Ok(Instruction { name, line, shape, opcode, operands, literal, control, called: vec![], attributes })
}

fn parse_literal<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str> {
    if cursor.peek() != Some(b'(') {
        return Err(cursor.expected("'('"));
    }
    let group = cursor.balanced()?;
    Ok(&group[1..group.len() - 1])
}

fn parse_operands<'a>(cursor: &mut Cursor<'a>, by_name: &HashMap<&'a str, usize>) -> Result<Vec<usize>> {
    let mut operands = vec![];
    cursor.expect(b'(')?;
    cursor.skip_blank();
    while !cursor.eat(b')') {
        if !operands.is_empty() {
            cursor.expect(b',')?;
            cursor.skip_blank();
        }
        skip_operand_shape(cursor)?;
        let name = cursor.name("an operand")?;
        operands.push(lookup(name, cursor.line(), by_name)?);
        cursor.skip_blank();
    }
    Ok(operands)
}

/// Long form repeats the shape of each operand: `add(f32[] %x, f32[] %y)`.
fn skip_operand_shape(cursor: &mut Cursor<'_>) -> Result<()> {
    let start = cursor.position();
    let is_shape = !cursor.word().is_empty() && matches!(cursor.peek(), Some(b'[' | b'('));
    cursor.rewind(start);
    if is_shape || cursor.peek() == Some(b'(') {
        shape::parse(cursor)?;
        cursor.skip_blank();
    }
    Ok(())
}

fn lookup(name: &str, line: usize, by_name: &HashMap<&str, usize>) -> Result<usize> {
    by_name.get(name).copied().ok_or_else(|| {
        Error::syntax(line, format!("unknown operand '{name}'"))
            .with_hint("an operand must be an earlier instruction of the same computation")
    })
}

fn parse_control(list: &str, line: usize, by_name: &HashMap<&str, usize>) -> Result<Vec<usize>> {
    names_in(list).map(|name| lookup(name, line, by_name)).collect()
}

/// The names in `{%a, %b}` or of a lone `%a`.
pub(super) fn names_in(list: &str) -> impl Iterator<Item = &str> {
    let inner = list.trim_start_matches('{').trim_end_matches('}');
    inner.split(',').map(|name| name.trim().trim_start_matches('%')).filter(|name| !name.is_empty())
}

/// `, key=value, key=value` up to the end of the line (a line may also end after a comma).
fn parse_attributes<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<(&'a str, &'a str)>> {
    let mut attributes = vec![];
    cursor.skip_spaces();
    while cursor.eat(b',') {
        cursor.skip_blank();
        let key = cursor.name("an attribute")?;
        cursor.expect(b'=')?;
        attributes.push((key, cursor.value()?));
        cursor.skip_spaces();
    }
    match cursor.peek() {
        None | Some(b'\n' | b'}') => Ok(attributes),
        Some(_) => Err(cursor.expected("',' and an attribute, or the end of the line")),
    }
}
