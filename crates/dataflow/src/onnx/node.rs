//! What a rule sees of a node: its attributes and what is known of its inputs.

use super::proto::{AttributeProto, GraphProto, NodeProto};
use super::value::Value;
use crate::graph::DType;
use std::collections::HashMap;
use std::rc::Rc;

/// Attributes given to a model-local function, which nodes of its body refer to by name.
pub(super) type Arguments<'a> = HashMap<&'a str, &'a AttributeProto>;

/// A node with its inputs resolved.
pub(super) struct Node<'a> {
    pub(super) proto: &'a NodeProto,
    /// In the order of the file; `None` where an optional input is left out.
    pub(super) inputs: Vec<Option<Rc<Value>>>,
    /// Version of the operator set that the node's domain is bound to.
    pub(super) opset: i64,
    /// Arguments of the function whose body the node stands in.
    pub(super) arguments: Option<&'a Arguments<'a>>,
}

impl<'a> Node<'a> {
    /// The attribute called `name`, looked up in the function call if it is a reference.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a AttributeProto> {
        resolve(find(self.proto, name)?, self.arguments)
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.attribute(name).map(AttributeProto::i)
    }

    pub(super) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.int_or(name, 0) != 0
    }

    /// A list of integers; `None` if it is absent or empty.
    pub(super) fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).map(|a| a.ints.as_slice()).filter(|ints| !ints.is_empty())
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        std::str::from_utf8(self.attribute(name)?.s()).ok()
    }

    pub(super) fn graph(&self, name: &str) -> Result<&'a GraphProto, String> {
        self.attribute(name).and_then(|a| a.g.as_ref()).ok_or_else(|| format!("attribute '{name}' holds no graph"))
    }

    pub(super) fn get(&self, index: usize) -> Option<&Value> {
        self.inputs.get(index)?.as_deref()
    }

    /// A required input.
    pub(super) fn input(&self, index: usize) -> Result<&Value, String> {
        self.get(index).ok_or_else(|| format!("input {index} is missing"))
    }

    /// Shape of an input, empty if the input is absent: for cost rules, which must not fail.
    pub(super) fn dims(&self, index: usize) -> &[u64] {
        self.get(index).map_or(&[], |value| &value.dims)
    }

    /// The inputs that are present.
    pub(super) fn present(&self) -> impl Iterator<Item = &Value> {
        self.inputs.iter().flatten().map(Rc::as_ref)
    }

    /// Elements of an optional input of integers.
    ///
    /// # Errors
    /// The input is there, but its elements are computed at run time.
    pub(super) fn known_ints(&self, index: usize) -> Result<Option<Vec<i64>>, String> {
        match self.get(index) {
            None => Ok(None),
            Some(value) => value.ints().map(Some).ok_or_else(|| format!("input {index} is computed at run time")),
        }
    }

    /// A list that old operator sets give as an attribute and new ones as an input.
    pub(super) fn ints_or_input(&self, name: &str, index: usize) -> Result<Option<Vec<i64>>, String> {
        match self.ints(name) {
            Some(ints) => Ok(Some(ints.to_vec())),
            None => self.known_ints(index),
        }
    }

    /// Element type named by an attribute.
    pub(super) fn dtype(&self, name: &str) -> Result<Option<DType>, String> {
        let Some(code) = self.int(name) else { return Ok(None) };
        let known = i32::try_from(code).ok().and_then(super::dtype::from_code);
        known.map(Some).ok_or_else(|| format!("attribute '{name}' names the unknown element type {code}"))
    }
}

/// An attribute of a node as written.
pub(super) fn find<'a>(node: &'a NodeProto, name: &str) -> Option<&'a AttributeProto> {
    node.attribute.iter().find(|a| a.name() == name)
}

/// Follows a reference to an argument of the enclosing function.
pub(super) fn resolve<'a>(
    attribute: &'a AttributeProto,
    arguments: Option<&Arguments<'a>>,
) -> Option<&'a AttributeProto> {
    match attribute.ref_attr_name() {
        "" => Some(attribute),
        name => arguments?.get(name).copied(),
    }
}

/// An axis counted from the front, `rank` itself excluded.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let shifted = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    usize::try_from(shifted)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| format!("axis {axis} is out of range for a tensor of rank {rank}"))
}

/// Axes counted from the front, ascending and distinct.
pub(super) fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, String> {
    let mut axes = list.iter().map(|&a| axis(a, rank)).collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok(axes)
}
