//! [`Module`] to [`Graph`]: instructions become ops, plumbing becomes edges, calls are inlined.

use super::cost::Costs;
use super::forward::{Source, is_op, sources};
use super::module::{Computation, Instruction, Module, Role};
use super::shape::{Array, Shape};
use crate::graph::{Graph, OpId, TensorId, WeightId};
use crate::{Error, GraphBuilder, Result};
use std::collections::HashMap;

/// Deepest nesting of calls; the models seen so far have five levels.
const MAX_CALL_DEPTH: usize = 64;
/// Calls can double the size of a graph at each level, so that a file of a kilobyte means a terabyte. Inlined, a module may have
/// this many values (arrays, tokens, control edges) and [`MAX_GROWTH`] times those that are written in the file.
const FREE_VALUES: usize = 1 << 20;
const MAX_GROWTH: usize = 16;

/// One array or token on its way from its maker to its readers.
#[derive(Clone, Default)]
struct Leaf {
    buffer: Option<Buffer>,
    /// Ops that readers must wait for besides the maker of the buffer.
    after: Vec<OpId>,
}

#[derive(Clone, Copy)]
enum Buffer {
    Tensor(TensorId, OpId),
    Weight(WeightId),
}

/// The result of an instruction, flattened.
#[derive(Default)]
struct Value {
    leaves: Vec<Leaf>,
    op: Option<OpId>,
}

struct Lowering<'m, 'a> {
    module: &'m Module<'a>,
    costs: Costs,
    builder: GraphBuilder,
    /// By the identity of the instruction: a constant of a computation that is called often is one weight.
    constants: HashMap<*const Instruction<'a>, WeightId>,
    /// How many more values there may be.
    budget: usize,
}

/// The graph of the module's entry computation.
pub(super) fn lower(module: &Module<'_>) -> Result<Graph> {
    let costs = Costs::of(module)?;
    let builder = GraphBuilder::new(module.name);
    let written: usize =
        module.computations.iter().flat_map(|c| &c.instructions).map(|i| 1 + i.shape.leaf_count()).sum();
    let budget = FREE_VALUES.saturating_add(written.saturating_mul(MAX_GROWTH));
    let mut lowering = Lowering { module, costs, builder, constants: HashMap::new(), budget };
    let entry = &module.computations[module.entry];
    let arguments = entry.parameters.iter().map(|&p| lowering.argument(&entry.instructions[p])).collect();
    let result = lowering.computation(entry, arguments, "", 0)?;
    for leaf in result.leaves {
        if let Some(Buffer::Tensor(tensor, _)) = leaf.buffer {
            lowering.builder.keep(tensor);
        }
    }
    lowering.builder.build()
}

impl<'m, 'a> Lowering<'m, 'a> {
    /// An argument of the entry computation: a weight for each array in it.
    fn argument(&mut self, parameter: &Instruction<'_>) -> Value {
        let leaves = named_leaves(parameter.name, &parameter.shape);
        let leaf = |(name, array): (String, Option<&Array>)| Leaf {
            buffer: array.map(|array| Buffer::Weight(self.builder.weight(&name, array.bytes))),
            after: vec![],
        };
        Value { leaves: leaves.into_iter().map(leaf).collect(), op: None }
    }

    /// Lowers a computation in the order of the text and returns its result.
    fn computation(
        &mut self,
        computation: &'m Computation<'a>,
        mut arguments: Vec<Value>,
        prefix: &str,
        depth: usize,
    ) -> Result<Value> {
        let mut values: Vec<Value> = Vec::with_capacity(computation.instructions.len());
        for instruction in &computation.instructions {
            let value = match instruction.opcode {
                "parameter" => self.parameter(computation, instruction, &mut arguments)?,
                "constant" => self.constant(computation, instruction, prefix),
                "after-all" => after_all(instruction, &values),
                "call" => self.call(computation, instruction, &values, prefix, depth)?,
                _ if is_op(instruction) => self.op(computation, instruction, &values, prefix)?,
                _ => self.plumbing(computation, instruction, &values)?,
            };
            self.charge(instruction, 1 + size(&value))?;
            values.push(value);
        }
        Ok(values.swap_remove(computation.root))
    }

    /// Takes `values` off the budget.
    fn charge(&mut self, instruction: &Instruction<'_>, values: usize) -> Result<()> {
        let left = self.budget.checked_sub(values);
        let message = "the calls of this module, once inlined, make far more of it than is written here";
        self.budget = left.ok_or_else(|| Error::syntax(instruction.line, message))?;
        Ok(())
    }

    fn parameter(
        &mut self,
        computation: &Computation<'_>,
        instruction: &Instruction<'_>,
        arguments: &mut [Value],
    ) -> Result<Value> {
        let number = instruction.literal.trim().parse::<usize>().ok();
        let argument = number.and_then(|n| arguments.get_mut(n)).map(std::mem::take);
        let leaves = instruction.shape.leaf_count();
        match argument {
            Some(argument) if argument.leaves.len() == leaves => Ok(argument),
            _ => {
                let message = format!(
                    "parameter '{}' of '{}' is called without a fitting argument",
                    instruction.name, computation.name
                );
                Err(Error::syntax(instruction.line, message))
            }
        }
    }

    fn constant(&mut self, computation: &Computation<'_>, instruction: &'m Instruction<'a>, prefix: &str) -> Value {
        // A tuple or token constant has no single buffer; nobody writes them.
        let weight = *self.constants.entry(std::ptr::from_ref(instruction)).or_insert_with(|| {
            let scope = if prefix.is_empty() { String::new() } else { format!("{}/", computation.name) };
            self.builder.weight(&format!("{scope}{}", instruction.name), instruction.shape.bytes())
        });
        let leaf = Leaf { buffer: Some(Buffer::Weight(weight)), after: vec![] };
        Value { leaves: vec![leaf; instruction.shape.leaf_count()], op: None }
    }

    fn plumbing(
        &self,
        computation: &Computation<'_>,
        instruction: &Instruction<'_>,
        values: &[Value],
    ) -> Result<Value> {
        let mut after = finished(instruction.control.iter(), values);
        if instruction.opcode == "add-dependency" {
            after.extend(finished(instruction.operands.get(1).into_iter(), values));
        }
        let sources = sources(self.module, computation, instruction)?;
        let mut leaves = forwarded(instruction, values, &sources);
        for leaf in leaves.iter_mut().filter(|_| !after.is_empty()) {
            add_distinct(&mut leaf.after, &after);
        }
        Ok(Value { leaves, op: None })
    }

    fn op(
        &mut self,
        computation: &Computation<'_>,
        instruction: &Instruction<'_>,
        values: &[Value],
        prefix: &str,
    ) -> Result<Value> {
        self.charge(instruction, instruction.operands.iter().map(|&o| size(&values[o])).sum())?;
        let cost = self.costs.instruction(self.module, computation, instruction)?;
        let name = format!("{prefix}{}", instruction.name);
        let op = self.builder.op(&name, &kind(instruction));
        self.builder.set_work(op, cost.work());
        self.builder.set_scratch(op, cost.scratch);
        self.connect(op, instruction, values);
        let sources = sources(self.module, computation, instruction)?;
        let mut leaves = forwarded(instruction, values, &sources);
        let made = leaves.iter_mut().zip(sources).zip(named_leaves(&name, &instruction.shape));
        for ((leaf, source), (name, array)) in made {
            match (source, array) {
                (Source::Operand { .. }, _) => {}
                (Source::New, None) => leaf.after.push(op),
                (Source::New, Some(array)) => {
                    leaf.buffer = Some(Buffer::Tensor(self.builder.output(op, &name, array.bytes), op));
                }
            }
        }
        Ok(Value { leaves, op: Some(op) })
    }

    fn connect(&mut self, op: OpId, instruction: &Instruction<'_>, values: &[Value]) {
        for leaf in instruction.operands.iter().flat_map(|&o| &values[o].leaves) {
            match leaf.buffer {
                Some(Buffer::Tensor(tensor, _)) => self.builder.input(op, tensor),
                Some(Buffer::Weight(weight)) => self.builder.reads(op, weight),
                None => {}
            }
            leaf.after.iter().for_each(|&before| self.builder.control(op, before));
        }
        for before in finished(instruction.control.iter(), values) {
            self.builder.control(op, before);
        }
    }

    fn call(
        &mut self,
        computation: &'m Computation<'a>,
        instruction: &'m Instruction<'a>,
        values: &[Value],
        prefix: &str,
        depth: usize,
    ) -> Result<Value> {
        let wrong = |message: String| Error::syntax(instruction.line, format!("'{}': {message}", instruction.name));
        let callee = instruction.called_as(Role::Apply).ok_or_else(|| wrong("a call needs to_apply=".into()))?;
        let callee = &self.module.computations[callee];
        if depth == MAX_CALL_DEPTH {
            return Err(wrong(format!("calls nested deeper than {MAX_CALL_DEPTH} levels")));
        }
        let (given, wanted) = (instruction.operands.len(), callee.parameters.len());
        if given != wanted {
            return Err(wrong(format!("{given} operands for the {wanted} parameters of '{}'", callee.name)));
        }
        let control = finished(instruction.control.iter(), values);
        let argument = |&operand: &usize| {
            let mut leaves = values[operand].leaves.clone();
            leaves.iter_mut().for_each(|leaf| add_distinct(&mut leaf.after, &control));
            Value { leaves, op: None }
        };
        let arguments = instruction.operands.iter().map(argument).collect();
        let prefix = format!("{prefix}{}/", instruction.name);
        let result = self.computation(callee, arguments, &prefix, depth + 1)?;
        let (has, promised) = (result.leaves.len(), instruction.shape.leaf_count());
        if has == promised {
            return Ok(Value { leaves: result.leaves, op: None });
        }
        let name = &computation.name;
        Err(wrong(format!("'{}' returns {has} arrays where '{name}' expects {promised}", callee.name)))
    }
}

/// Arrays, tokens and control edges of a value.
fn size(value: &Value) -> usize {
    value.leaves.iter().map(|leaf| 1 + leaf.after.len()).sum()
}

/// A token that stands for everything before it.
fn after_all(instruction: &Instruction<'_>, values: &[Value]) -> Value {
    let after = finished(instruction.operands.iter().chain(&instruction.control), values);
    Value { leaves: vec![Leaf { buffer: None, after }; instruction.shape.leaf_count()], op: None }
}

/// The leaves that come from operands; the others are left empty.
fn forwarded(instruction: &Instruction<'_>, values: &[Value], sources: &[Source]) -> Vec<Leaf> {
    let leaf = |source: &Source| match *source {
        Source::New => Leaf::default(),
        Source::Operand { operand, leaf } => values[instruction.operands[operand]].leaves[leaf].clone(),
    };
    sources.iter().map(leaf).collect()
}

/// The ops that must have run for these instructions to be done.
fn finished<'i>(instructions: impl Iterator<Item = &'i usize>, values: &[Value]) -> Vec<OpId> {
    let mut ops = vec![];
    for value in instructions.map(|&i| &values[i]) {
        match value.op {
            Some(op) => ops.push(op),
            None => value.leaves.iter().for_each(|leaf| {
                if let Some(Buffer::Tensor(_, producer)) = leaf.buffer {
                    ops.push(producer);
                }
                ops.extend(&leaf.after);
            }),
        }
    }
    ops.sort_unstable();
    ops.dedup();
    ops
}

fn add_distinct(ops: &mut Vec<OpId>, more: &[OpId]) {
    ops.extend(more);
    ops.sort_unstable();
    ops.dedup();
}

/// `custom-call:target` for custom calls, else the opcode.
fn kind(instruction: &Instruction<'_>) -> String {
    match instruction.custom_call_target() {
        Some(target) => format!("{}:{target}", instruction.opcode),
        None => instruction.opcode.to_owned(),
    }
}

/// Each leaf with a name: the instruction's for a lone array, else with XLA's shape index, as in `while.3{0,2}`.
fn named_leaves<'s>(name: &str, shape: &'s Shape) -> Vec<(String, Option<&'s Array>)> {
    let mut named = vec![];
    let mut index = vec![];
    push_named(name, shape, &mut index, &mut named);
    named
}

fn push_named<'s>(name: &str, shape: &'s Shape, index: &mut Vec<String>, named: &mut Vec<(String, Option<&'s Array>)>) {
    if let Shape::Tuple(elements) = shape {
        for (i, element) in elements.iter().enumerate() {
            index.push(i.to_string());
            push_named(name, element, index, named);
            index.pop();
        }
        return;
    }
    let name = if index.is_empty() { name.to_owned() } else { format!("{name}{{{}}}", index.join(",")) };
    named.push((name, shape.array()));
}
