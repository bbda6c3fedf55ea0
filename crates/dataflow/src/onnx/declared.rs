//! Types and shapes that the file itself declares, with symbolic dimensions resolved as the user asked.

use super::dtype;
use super::proto::tensor_shape_proto::{Dimension, dimension};
use super::proto::{ValueInfoProto, type_proto};
use super::value::Value;
use crate::graph::DType;
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A dimension as declared.
#[derive(Clone, Debug, PartialEq)]
enum Dim {
    Known(u64),
    Named(String),
    Unknown,
}

/// The declaration of one tensor; any part may be absent.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    dtype: Option<DType>,
    dims: Option<Vec<Dim>>,
}

/// Declarations by tensor name.
pub(super) type Declarations<'a> = HashMap<&'a str, Declared>;

/// Reads `value_info` and the like; `sizes` resolves symbolic dimensions by name.
pub(super) fn declarations<'a>(
    infos: impl IntoIterator<Item = &'a ValueInfoProto>,
    sizes: &BTreeMap<String, u64>,
) -> Declarations<'a> {
    infos.into_iter().map(|info| (info.name(), Declared::new(info, sizes))).collect()
}

impl Declared {
    /// The declaration of `info`, of which only tensors say anything.
    pub(super) fn new(info: &ValueInfoProto, sizes: &BTreeMap<String, u64>) -> Self {
        let (code, shape) = match info.r#type.as_ref().and_then(|t| t.value.as_ref()) {
            Some(type_proto::Value::TensorType(t)) => (t.elem_type(), t.shape.as_ref()),
            Some(type_proto::Value::SparseTensorType(t)) => (t.elem_type(), t.shape.as_ref()),
            _ => (0, None),
        };
        let dim = |(axis, dim): (usize, &Dimension)| resolve(dim, info.name(), axis, sizes);
        Self { dtype: dtype::from_code(code), dims: shape.map(|s| s.dim.iter().enumerate().map(dim).collect()) }
    }

    /// The tensor, if type and shape are declared in full.
    pub(super) fn value(&self) -> Option<Value> {
        let size = |dim: &Dim| if let Dim::Known(size) = dim { Some(*size) } else { None };
        let dims = self.dims.as_ref()?.iter().map(size).collect::<Option<Vec<_>>>()?;
        Some(Value::new(self.dtype?, dims))
    }

    /// The tensor that enters the graph as `name`.
    ///
    /// # Errors
    /// Which dimension is open, and how to give it.
    pub(super) fn graph_input(&self, name: &str) -> Result<Value> {
        if let Some(value) = self.value() {
            return Ok(value);
        }
        if self.dtype.is_none() {
            return Err(Error::file(format!("graph input '{name}' has no tensor type")));
        }
        let Some(dims) = &self.dims else {
            let hint = "export the model with input shapes, or give them with onnx.tools.update_model_dims";
            return Err(Error::file(format!("graph input '{name}' has no shape")).with_hint(hint));
        };
        let open = dims.iter().enumerate().find_map(|(axis, dim)| match dim {
            Dim::Known(_) => None,
            Dim::Named(symbol) => Some(symbol.clone()),
            Dim::Unknown => Some(format!("{name}.{axis}")),
        });
        let open = open.unwrap_or_default();
        let message = format!("dimension '{open}' of graph input '{name}' has no size");
        Err(Error::file(message).with_hint(format!("--dim {open}=VALUE")))
    }
}

/// A dimension without a name can be set as `tensor.axis`.
fn resolve(dim: &Dimension, tensor: &str, axis: usize, sizes: &BTreeMap<String, u64>) -> Dim {
    match &dim.value {
        Some(dimension::Value::DimValue(size)) if *size >= 0 => Dim::Known(*size as u64),
        Some(dimension::Value::DimParam(name)) if !name.is_empty() => {
            sizes.get(name).map_or_else(|| Dim::Named(name.clone()), |&size| Dim::Known(size))
        }
        _ if sizes.is_empty() => Dim::Unknown,
        _ => sizes.get(&format!("{tensor}.{axis}")).map_or(Dim::Unknown, |&size| Dim::Known(size)),
    }
}

/// Refuses sizes for dimensions that no graph input has: most likely a typing error.
pub(super) fn check_names<'a>(
    inputs: impl Iterator<Item = &'a ValueInfoProto>,
    sizes: &BTreeMap<String, u64>,
) -> Result<()> {
    let known: BTreeSet<String> = inputs.flat_map(open_dimensions).collect();
    let Some(unknown) = sizes.keys().find(|name| !known.contains(*name)) else { return Ok(()) };
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = if names.is_empty() { "every dimension is fixed".to_owned() } else { names.join(", ") };
    Err(Error::file(format!("no graph input has a dimension '{unknown}'"))
        .with_hint(format!("open dimensions: {hint}")))
}

fn open_dimensions(info: &ValueInfoProto) -> Vec<String> {
    match Declared::new(info, &BTreeMap::new()).dims {
        None => vec![],
        Some(dims) => {
            let name = |(axis, dim)| match dim {
                Dim::Known(_) => None,
                Dim::Named(name) => Some(name),
                Dim::Unknown => Some(format!("{}.{axis}", info.name())),
            };
            dims.into_iter().enumerate().filter_map(name).collect()
        }
    }
}
