//! `If`, `Loop` and `Scan`: one op each, costed by its body.

use super::evaluate::{Evaluated, Evaluator, Scope};
use super::node::{Node, axis};
use super::proto::GraphProto;
use super::value::Value;
use crate::graph::{DType, Work};
use crate::{Error, Result};

/// A trip count beyond this is a bound that nobody means, such as the `i64::MAX` of a while loop.
const MAX_TRIPS: i64 = 1 << 31;

impl<'a> Evaluator<'a> {
    /// Evaluates a node that holds bodies.
    pub(super) fn control_flow(&self, scope: &Scope<'_, 'a>, node: &Node<'a>) -> Result<Evaluated> {
        match node.proto.op_type() {
            "If" => self.branch(scope, node),
            "Loop" => self.repeat(scope, node),
            _ => self.scan(scope, node),
        }
    }

    fn graph_body(&self, scope: Scope<'_, 'a>, body: &'a GraphProto) -> Result<Evaluated> {
        self.body(scope, &body.node, body.output.iter().map(|o| o.name()))
    }

    /// The branch that is taken if the condition is constant, otherwise the costlier one.
    fn branch(&self, scope: &Scope<'_, 'a>, node: &Node<'a>) -> Result<Evaluated> {
        let take = |name| {
            let body = node.graph(name).map_err(Error::file)?;
            self.graph_body(self.body_scope(body, scope)?, body)
        };
        match node.get(0).and_then(|condition| condition.known.as_ref()?.first()) {
            Some(&condition) => take(if condition != 0.0 { "then_branch" } else { "else_branch" }),
            None => Ok(costlier(take("then_branch")?, take("else_branch")?)),
        }
    }

    /// Body inputs: iteration, condition, carried values; outputs: condition, carried values, one row of each scan output.
    fn repeat(&self, scope: &Scope<'_, 'a>, node: &Node<'a>) -> Result<Evaluated> {
        let body = node.graph("body").map_err(Error::file)?;
        let carried = node.inputs.len().saturating_sub(2);
        let mut inner = self.body_scope(body, scope)?;
        for (position, info) in body.input.iter().enumerate() {
            let value = match (position, node.get(position)) {
                (0 | 1, _) => Value::new(if position == 0 { DType::I64 } else { DType::Bool }, []),
                (_, Some(value)) => value.forget(),
                (_, None) => continue,
            };
            inner.define_new(info.name(), value)?;
        }
        let trips = trip_count(node);
        let once = self.graph_body(inner, body)?;
        let rows = once.outputs.iter().skip(1).enumerate();
        let outputs =
            rows.map(|(i, v)| if i < carried { v.forget() } else { stacked(v, 0, trips.unwrap_or(1)) }).collect();
        Ok(times(Evaluated { outputs, ..once }, trips.unwrap_or(1)))
    }

    /// Inputs: states, then sequences to walk; the body sees states and one slice of each sequence.
    fn scan(&self, scope: &Scope<'_, 'a>, node: &Node<'a>) -> Result<Evaluated> {
        let body = node.graph("body").map_err(Error::file)?;
        let scanned = usize::try_from(node.int_or("num_scan_inputs", 0)).unwrap_or(usize::MAX);
        let states = node.inputs.len().checked_sub(scanned);
        let states = states.ok_or_else(|| Error::file("'num_scan_inputs' exceeds the inputs"))?;
        let along = |name, i: usize| node.ints(name).and_then(|axes| axes.get(i)).copied().unwrap_or(0);
        let mut inner = self.body_scope(body, scope)?;
        let mut trips = 0;
        for (position, info) in body.input.iter().enumerate() {
            let mut value = node.input(position).map_err(Error::file)?.forget();
            if position >= states {
                let axis = axis(along("scan_input_axes", position - states), value.rank()).map_err(Error::file)?;
                trips = value.dims.remove(axis);
            }
            inner.define_new(info.name(), value)?;
        }
        let once = self.graph_body(inner, body)?;
        let collect = |(i, value): (usize, &Value)| match i.checked_sub(states) {
            None => Ok(value.forget()),
            Some(i) => axis(along("scan_output_axes", i), value.rank() + 1).map(|axis| stacked(value, axis, trips)),
        };
        let outputs = once.outputs.iter().enumerate().map(collect).collect::<std::result::Result<_, _>>();
        Ok(times(Evaluated { outputs: outputs.map_err(Error::file)?, ..once }, trips))
    }
}

/// The constant trip count, if there is one that can be meant.
fn trip_count(node: &Node) -> Option<u64> {
    let trips = node.get(0)?.ints()?.first().copied()?;
    if trips < MAX_TRIPS { u64::try_from(trips).ok() } else { None }
}

/// `value` with one more axis.
fn stacked(value: &Value, axis: usize, count: u64) -> Value {
    let mut dims = value.dims.clone();
    dims.insert(axis, count);
    Value::new(value.dtype, dims)
}

fn times(once: Evaluated, trips: u64) -> Evaluated {
    let flops = once.work.flops.saturating_mul(trips);
    let bytes = once.work.bytes.saturating_mul(trips);
    Evaluated { work: Work { flops, bytes, ..once.work }, ..once }
}

/// The larger of each output and of each cost.
fn costlier(a: Evaluated, b: Evaluated) -> Evaluated {
    let larger = |(x, y): (Value, Value)| if y.bytes() > x.bytes() { y.forget() } else { x.forget() };
    let mut work = a.work;
    if b.work.flops.saturating_add(b.work.bytes) > work.flops.saturating_add(work.bytes) {
        work = b.work;
    }
    Evaluated {
        outputs: a.outputs.into_iter().zip(b.outputs).map(larger).collect(),
        work,
        scratch: a.scratch.max(b.scratch),
    }
}
