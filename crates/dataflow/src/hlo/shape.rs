//! Shapes: arrays, tuples of shapes, tokens.

use super::cursor::Cursor;
use crate::graph::DType;
use crate::{Error, Result};

/// Deepest nesting of tuples; real modules have two or three levels.
const MAX_DEPTH: usize = 64;
/// No buffer is larger: sums of sizes must stay below 2^60.
const MAX_BYTES: u64 = 1 << 56;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Array(Array),
    Tuple(Vec<Shape>),
    /// Orders side effects, holds no data.
    Token,
}

/// A dense array; a bounded dynamic dimension counts with its bound. Layouts are not kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) dtype: DType,
    pub(super) dims: Vec<u64>,
    pub(super) bytes: u64,
}

impl Array {
    pub(super) fn elements(&self) -> u64 {
        self.dims.iter().fold(1, |product, &dim| product.saturating_mul(dim))
    }
}

impl Shape {
    /// Number of leaves: arrays and tokens.
    pub(super) fn leaf_count(&self) -> usize {
        match self {
            Self::Tuple(elements) => elements.iter().map(Self::leaf_count).sum(),
            _ => 1,
        }
    }

    /// All leaves from left to right, `None` for a token.
    pub(super) fn leaves(&self) -> Vec<Option<&Array>> {
        let mut leaves = vec![];
        self.push_leaves(&mut leaves);
        leaves
    }

    fn push_leaves<'s>(&'s self, leaves: &mut Vec<Option<&'s Array>>) {
        match self {
            Self::Array(array) => leaves.push(Some(array)),
            Self::Token => leaves.push(None),
            Self::Tuple(elements) => elements.iter().for_each(|e| e.push_leaves(leaves)),
        }
    }

    /// The shape itself if it is an array.
    pub(super) fn array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The elements of a tuple; any other shape is its own only element.
    pub(super) fn elements(&self) -> &[Shape] {
        match self {
            Self::Tuple(elements) => elements,
            _ => std::slice::from_ref(self),
        }
    }

    /// Bytes of all leaves.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Array(array) => array.bytes,
            Self::Token => 0,
            Self::Tuple(elements) => elements.iter().fold(0, |sum, e| sum.saturating_add(e.bytes())),
        }
    }

    /// Elements of all leaves.
    pub(super) fn element_count(&self) -> u64 {
        match self {
            Self::Array(array) => array.elements(),
            Self::Token => 0,
            Self::Tuple(elements) => elements.iter().fold(0, |sum, e| sum.saturating_add(e.element_count())),
        }
    }

    /// Element type of the first array.
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Array(array) => array.dtype,
            Self::Token => DType::default(),
            Self::Tuple(elements) => elements.first().map(Self::dtype).unwrap_or_default(),
        }
    }
}

/// Parses `f32[2,<=3]{1,0:T(8,128)}`, `(s32[], token[])` and the like.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Shape> {
    parse_nested(cursor, 0)
}

fn parse_nested(cursor: &mut Cursor<'_>, depth: usize) -> Result<Shape> {
    if depth > MAX_DEPTH {
        return Err(Error::syntax(cursor.line(), format!("tuples nested deeper than {MAX_DEPTH} levels")));
    }
    if cursor.eat(b'(') {
        return parse_elements(cursor, depth);
    }
    let start = cursor.position();
    let name = cursor.word();
    // A buffer, `b(f32[2])`, is where an array lives.
    if name == "b" && cursor.eat(b'(') {
        let inner = parse_nested(cursor, depth + 1)?;
        cursor.expect(b')')?;
        return Ok(inner);
    }
    if name.is_empty() || !cursor.eat(b'[') {
        cursor.rewind(start);
        return Err(cursor.expected("a shape such as f32[2,3]"));
    }
    let dims = parse_dims(cursor)?;
    if cursor.peek() == Some(b'{') {
        cursor.balanced()?;
    }
    make_array(cursor, name, dims)
}

fn parse_elements(cursor: &mut Cursor<'_>, depth: usize) -> Result<Shape> {
    let mut elements = vec![];
    cursor.skip_blank();
    while !cursor.eat(b')') {
        if !elements.is_empty() {
            cursor.expect(b',')?;
            cursor.skip_blank();
        }
        elements.push(parse_nested(cursor, depth + 1)?);
        cursor.skip_blank();
    }
    Ok(Shape::Tuple(elements))
}

fn parse_dims(cursor: &mut Cursor<'_>) -> Result<Vec<u64>> {
    let mut dims = vec![];
    cursor.skip_spaces();
    while !cursor.eat(b']') {
        if !dims.is_empty() {
            cursor.expect(b',')?;
            cursor.skip_spaces();
        }
        if cursor.peek() == Some(b'?') {
            return Err(cursor
                .expected("a dimension with a known bound")
                .with_hint("compile the model for fixed shapes"));
        }
        cursor.eat_str("<=");
        let start = cursor.position();
        let dim = cursor.word().parse();
        dims.push(dim.map_err(|_| {
            cursor.rewind(start);
            cursor.expected("a dimension")
        })?);
        cursor.skip_spaces();
    }
    Ok(dims)
}

fn make_array(cursor: &mut Cursor<'_>, name: &str, dims: Vec<u64>) -> Result<Shape> {
    if name == "token" {
        return Ok(Shape::Token);
    }
    let Some(dtype) = dtype(name) else {
        return Err(Error::syntax(cursor.line(), format!("unknown element type '{name}'")));
    };
    let elements = dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim));
    let bytes = if name == "opaque" { Some(0) } else { elements.and_then(|n| dtype.bytes(n)) };
    match bytes {
        Some(bytes) if bytes <= MAX_BYTES => Ok(Shape::Array(Array { dtype, dims, bytes })),
        _ => Err(Error::syntax(cursor.line(), format!("{name}{dims:?} is larger than 2^56 bytes"))),
    }
}

/// The element types of XLA; those narrower than 4 bits count as 4.
fn dtype(name: &str) -> Option<DType> {
    Some(match name {
        "f64" => DType::F64,
        "f32" => DType::F32,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        "s64" | "u64" => DType::I64,
        "s32" | "u32" => DType::I32,
        "s16" | "u16" => DType::I16,
        "s8" | "u8" | "opaque" => DType::I8,
        "s4" | "u4" | "s2" | "u2" | "s1" | "u1" => DType::I4,
        "pred" => DType::Bool,
        "c64" => DType::C64,
        "c128" => DType::C128,
        _ if name.starts_with("f8e") => DType::F8,
        _ if name.starts_with("f4e") => DType::F4,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<Shape> {
        parse(&mut Cursor::new(text))
    }

    #[test]
    fn sizes_of_shapes() {
        let cases = [
            ("f32[]", 4, 1),
            ("bf16[2,3]{1,0:T(8,128)(2,1)S(5)}", 12, 1),
            ("pred[0,7]", 0, 1),
            ("s4[3]", 2, 1),
            ("f8e4m3fn[<=8,2]", 16, 1),
            ("(s32[], /*index=1*/(f32[2]{0}, token[]), opaque[])", 12, 4),
            ("()", 0, 0),
            ("b(f32[2])", 8, 1),
        ];
        for (text, bytes, leaves) in cases {
            let shape = shape(text).unwrap();
            assert_eq!((shape.bytes(), shape.leaf_count(), shape.leaves().len()), (bytes, leaves, leaves), "{text}");
        }
    }

    #[test]
    fn wrong_shapes_are_errors() {
        let nested = "(".repeat(100_000);
        for text in [
            "",
            "f32",
            "f32[2",
            "f32[x]",
            "f32[?]",
            "q7[2]",
            "(f32[2]",
            "f32[2]{0",
            "f32[99999999999,99999999999]",
            &nested,
        ] {
            assert!(matches!(shape(text), Err(Error::Syntax { line: 1, .. })), "{text:.20}");
        }
    }
}
