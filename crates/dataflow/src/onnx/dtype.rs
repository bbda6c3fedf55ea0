//! ONNX element types as [`DType`]s.

use super::proto::tensor_proto::DataType;
use crate::graph::DType;

/// The element type with ONNX's number `code`, or `None` if there is no such type.
///
/// Signed and unsigned integers cost the same; types of 2 and 6 bits, which no runtime packs yet, count as 4 and 8.
pub(super) fn from_code(code: i32) -> Option<DType> {
    use DataType as O;
    Some(match O::try_from(code).ok()? {
        O::Undefined => return None,
        O::Float => DType::F32,
        O::Double => DType::F64,
        O::Float16 => DType::F16,
        O::Bfloat16 => DType::BF16,
        O::Float8e4m3fn | O::Float8e4m3fnuz | O::Float8e5m2 | O::Float8e5m2fnuz | O::Float8e8m0 => DType::F8,
        O::Float6e2m3 | O::Float6e3m2 => DType::F8,
        O::Float4e2m1 => DType::F4,
        O::Int64 | O::Uint64 => DType::I64,
        O::Int32 | O::Uint32 => DType::I32,
        O::Int16 | O::Uint16 => DType::I16,
        O::Int8 | O::Uint8 => DType::I8,
        O::Int4 | O::Uint4 | O::Int2 | O::Uint2 => DType::I4,
        O::Bool => DType::Bool,
        O::Complex64 => DType::C64,
        O::Complex128 => DType::C128,
        O::String => DType::String,
    })
}

/// Whether values of this type are integers, so that division truncates.
pub(super) fn is_integer(dtype: DType) -> bool {
    matches!(dtype, DType::I64 | DType::I32 | DType::I16 | DType::I8 | DType::I4 | DType::Bool)
}
