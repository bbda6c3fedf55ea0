//! What is known of a tensor before the model runs: type, shape, and the elements of small constants.

use super::dtype;
use super::proto::{SparseTensorProto, TensorProto, tensor_proto::DataType};
use crate::graph::DType;
use std::rc::Rc;

/// Most elements that constant propagation keeps of one tensor: shapes, axes, scales.
pub(super) const MAX_KNOWN: u64 = 1024;
/// Most dimensions of one tensor; numpy stops at 64 too.
const MAX_RANK: usize = 64;
/// Tensors beyond this many bytes are refused; sums of sizes must stay below 2^60.
const MAX_BYTES: u64 = 1 << 58;

/// Type, shape, and elements if they are few and known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) dtype: DType,
    pub(super) dims: Vec<u64>,
    /// Row-major. `f64` holds every integer below 2^53, which no dimension passes, and casts back saturate, which is what
    /// `Slice` wants of its `i64::MAX`.
    pub(super) known: Option<Rc<[f64]>>,
}

impl Value {
    /// A tensor whose elements are known only at run time.
    pub(super) fn new(dtype: DType, dims: impl Into<Vec<u64>>) -> Self {
        Self { dtype, dims: dims.into(), known: None }
    }

    /// A tensor with these elements, forgotten if they are too many or do not fill the shape.
    pub(super) fn constant(dtype: DType, dims: impl Into<Vec<u64>>, elements: Vec<f64>) -> Self {
        let mut value = Self::new(dtype, dims);
        if value.elements() == elements.len() as u64 && value.elements() <= MAX_KNOWN {
            value.known = Some(elements.into());
        }
        value
    }

    /// The same type and shape, with unknown elements.
    pub(super) fn forget(&self) -> Self {
        Self::new(self.dtype, self.dims.clone())
    }

    /// The same elements in another shape.
    pub(super) fn reshaped(&self, dims: Vec<u64>) -> Self {
        Self { dtype: self.dtype, dims, known: self.known.clone() }
    }

    pub(super) fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Number of elements, saturating.
    pub(super) fn elements(&self) -> u64 {
        product(&self.dims)
    }

    /// Size in bytes, saturating.
    pub(super) fn bytes(&self) -> u64 {
        self.dtype.bytes(self.elements()).unwrap_or(u64::MAX)
    }

    /// The elements as integers, if they are known.
    pub(super) fn ints(&self) -> Option<Vec<i64>> {
        self.known.as_ref().map(|known| known.iter().map(|&x| x as i64).collect())
    }

    /// Refuses shapes that no machine holds.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.rank() > MAX_RANK {
            return Err(format!("a tensor of rank {} (at most {MAX_RANK} are supported)", self.rank()));
        }
        if self.bytes() > MAX_BYTES {
            return Err(format!("a tensor of shape {:?} is larger than 2^58 bytes", self.dims));
        }
        Ok(())
    }

    /// Reads an initializer or a constant; its data may be absent or in another file.
    pub(super) fn from_tensor(tensor: &TensorProto) -> Result<Self, String> {
        let dtype = dtype::from_code(tensor.data_type())
            .ok_or_else(|| format!("tensor '{}' has the unknown element type {}", tensor.name(), tensor.data_type()))?;
        let mut value =
            Self::new(dtype, dims_of(&tensor.dims).map_err(|e| format!("tensor '{}': {e}", tensor.name()))?);
        value.check()?;
        if value.elements() <= MAX_KNOWN {
            let elements = small_elements(tensor);
            value.known = elements.filter(|e| e.len() as u64 == value.elements()).map(Rc::from);
        }
        Ok(value)
    }

    /// Reads a sparse constant as the dense tensor it stands for.
    pub(super) fn from_sparse(tensor: &SparseTensorProto) -> Result<Self, String> {
        let values = tensor.values.as_ref().ok_or("a sparse tensor has no values")?;
        let dtype = Self::from_tensor(values)?.dtype;
        let value = Self::new(dtype, dims_of(&tensor.dims)?);
        value.check()?;
        Ok(value)
    }
}

/// Product of dimensions, saturating; a zero anywhere makes it zero.
pub(super) fn product(dims: &[u64]) -> u64 {
    if dims.contains(&0) { 0 } else { dims.iter().fold(1, |a, &b| a.saturating_mul(b)) }
}

/// Dimensions of a tensor in a file, which cannot be negative.
fn dims_of(dims: &[i64]) -> Result<Vec<u64>, String> {
    let negative = |&d: &i64| u64::try_from(d).map_err(|_| format!("negative dimension {d}"));
    dims.iter().map(negative).collect()
}

/// Elements of the numeric types that shape arithmetic uses, wherever the exporter put them.
fn small_elements(tensor: &TensorProto) -> Option<Vec<f64>> {
    let raw = tensor.raw_data();
    Some(match DataType::try_from(tensor.data_type()).ok()? {
        DataType::Int64 if raw.is_empty() => tensor.int64_data.iter().map(|&x| x as f64).collect(),
        DataType::Int64 => raw_elements(raw, |b| i64::from_le_bytes(b) as f64),
        DataType::Int32 if raw.is_empty() => tensor.int32_data.iter().map(|&x| f64::from(x)).collect(),
        DataType::Int32 => raw_elements(raw, |b| f64::from(i32::from_le_bytes(b))),
        DataType::Float if raw.is_empty() => tensor.float_data.iter().map(|&x| f64::from(x)).collect(),
        DataType::Float => raw_elements(raw, |b| f64::from(f32::from_le_bytes(b))),
        DataType::Double if raw.is_empty() => tensor.double_data.clone(),
        DataType::Double => raw_elements(raw, f64::from_le_bytes),
        DataType::Bool | DataType::Uint8 if raw.is_empty() => tensor.int32_data.iter().map(|&x| f64::from(x)).collect(),
        DataType::Bool | DataType::Uint8 => raw.iter().map(|&b| f64::from(b)).collect(),
        _ => return None,
    })
}

fn raw_elements<const N: usize>(raw: &[u8], decode: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    raw.as_chunks::<N>().0.iter().map(|chunk| decode(*chunk)).collect()
}
