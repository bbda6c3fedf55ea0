//! Values.

use crate::ir::{FunId, Store, Type, TypeId};
use crate::stack;
use std::fmt;
use std::rc::Rc;

/// What an expression evaluates to.
#[derive(Clone, Debug)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    String(Rc<str>),
    /// A tuple.
    Tuple(Rc<[Self]>),
    /// A tensor.
    Tensor(Rc<Tensor>),
    /// A value of a sum type: the number of the constructor and what it holds.
    Data(u32, Rc<Held>),
    /// A linear map.
    Linear(Rc<Linear>),
}

/// What a constructor holds. Sum types nest as deep as a program likes, so all work on them goes through `stack::grow`, and so does
/// dropping them.
#[derive(Clone, Debug)]
pub struct Held(Value);

impl std::ops::Deref for Held {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let held = std::mem::replace(&mut self.0, Value::Integer(0));
        stack::grow(|| drop(held));
    }
}

/// A tensor of any rank; its elements may be tensors of other sizes than their neighbours.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// As many sizes as the rank.
    pub size: Vec<usize>,
    /// The elements, the last index fastest.
    pub elements: Vec<Value>,
}

/// A linear map, by how it was made. `S` is what it takes, `T` what it gives; both are tangents.
#[derive(Clone, Debug)]
pub enum Linear {
    /// The zeros of S and T.
    Zero(Value, Value),
    /// The identity.
    One,
    /// Multiplication by a number.
    Scale(f64),
    /// A number to a multiple of this tangent.
    ScaleR(Value),
    /// The inner product with this tangent.
    Dot(Value),
    /// A tuple of results.
    VCat(Vec<Rc<Self>>),
    /// The sum of the results for each field.
    HCat(Vec<Rc<Self>>),
    /// A tensor of results, of this size.
    VCatV(Vec<usize>, Vec<Rc<Self>>),
    /// The sum of the results for each element of a tensor of this size.
    HCatV(Vec<usize>, Vec<Rc<Self>>),
    /// The first after the second.
    Compose(Rc<Self>, Rc<Self>),
    /// The sum.
    Add(Rc<Self>, Rc<Self>),
    /// The derivative of a fold: the zero of the scope, and for each element the map from (scope, (state, element)) to state.
    Fold(Value, Vec<Rc<Self>>),
    /// The derivative of a function at an argument, by its `fwd` and its `rev`.
    Derivative {
        /// (S, dS) -> dT
        forward: FunId,
        /// (S, dT) -> dS
        reverse: FunId,
        /// The argument.
        at: Value,
    },
}

impl Value {
    /// The empty tuple.
    pub fn unit() -> Self {
        Self::tuple(vec![])
    }

    /// A tuple.
    pub fn tuple(fields: Vec<Self>) -> Self {
        Self::Tuple(fields.into())
    }

    /// A value of a sum type.
    pub fn data(constructor: u32, held: Self) -> Self {
        Self::Data(constructor, Rc::new(Held(held)))
    }

    /// A tensor of rank 1.
    pub fn vec(elements: Vec<Self>) -> Self {
        Self::tensor(vec![elements.len()], elements)
    }

    /// A tensor.
    pub fn tensor(size: Vec<usize>, elements: Vec<Self>) -> Self {
        Self::Tensor(Rc::new(Tensor { size, elements }))
    }

    /// A tensor of rank 1 of real numbers.
    pub fn floats(elements: impl IntoIterator<Item = f64>) -> Self {
        Self::vec(elements.into_iter().map(Self::Float).collect())
    }

    /// The fields of a tuple; none of anything else.
    pub fn fields(&self) -> &[Self] {
        match self {
            Self::Tuple(fields) => fields,
            _ => &[],
        }
    }

    /// An index or a size: an Integer, or a tuple of Integers.
    pub fn integers(&self) -> Vec<i64> {
        match self {
            Self::Integer(value) => vec![*value],
            Self::Tuple(fields) => fields.iter().flat_map(Self::integers).collect(),
            _ => vec![],
        }
    }

    /// [`Value::integers`] the other way round.
    pub fn index(integers: &[usize]) -> Self {
        match integers {
            [one] => Self::Integer(*one as i64),
            _ => Self::tuple(integers.iter().map(|value| Self::Integer(*value as i64)).collect()),
        }
    }

    /// Every real number in the value, in order.
    pub fn all_floats(&self) -> Vec<f64> {
        match self {
            Self::Float(value) => vec![*value],
            Self::Tuple(fields) => fields.iter().flat_map(Self::all_floats).collect(),
            Self::Tensor(tensor) => tensor.elements.iter().flat_map(Self::all_floats).collect(),
            Self::Data(_, held) => stack::grow(|| held.all_floats()),
            _ => vec![],
        }
    }
}

/// Equal as `(eq x y)` has it: NaN differs from itself.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Tuple(a), Self::Tuple(b)) => a == b,
            (Self::Tensor(a), Self::Tensor(b)) => a.size == b.size && a.elements == b.elements,
            (Self::Data(m, a), Self::Data(n, b)) => m == n && stack::grow(|| a.0 == b.0),
            _ => false,
        }
    }
}

/// Significant digits that `print` writes.
pub const DIGITS: usize = 6;

/// As `print` writes it, but for the names of constructors: [`show`] knows them.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&show_float(*value)),
            Self::Bool(value) => write!(f, "{}", u8::from(*value)),
            Self::String(text) => f.write_str(text),
            Self::Tuple(fields) => f.write_str(&shown(fields, Self::to_string).join(",")),
            Self::Tensor(tensor) => f.write_str(&brackets(&tensor.size, &shown(&tensor.elements, Self::to_string))),
            Self::Data(constructor, held) => stack::grow(|| write!(f, "{constructor}({})", held.0)),
            Self::Linear(_) => f.write_str("<linear map>"),
        }
    }
}

/// A value of a type as `print` writes it.
pub fn show(store: &Store, value: &Value, ty: TypeId) -> String {
    show_digits(store, value, ty, DIGITS)
}

/// A value of a type, its Floats with so many significant digits.
pub(super) fn show_digits(store: &Store, value: &Value, ty: TypeId, digits: usize) -> String {
    let show = |value: &Value, ty: TypeId| show_digits(store, value, ty, digits);
    match (value, store.types.get(ty)) {
        (Value::Tuple(fields), Type::Tuple(types)) => {
            let parts = fields.iter().zip(store.types.list(types)).map(|(field, ty)| show(field, *ty));
            parts.collect::<Vec<_>>().join(",")
        }
        (Value::Tensor(tensor), Type::Tensor(_, element)) => {
            brackets(&tensor.size, &shown(&tensor.elements, |value| show(value, element)))
        }
        (Value::Data(constructor, held), Type::Data(data)) => {
            let (name, holds) = store.types.data(data).constructors[*constructor as usize];
            stack::grow(|| format!("{}({})", store.text(name), show(held, holds)))
        }
        (Value::Float(value), _) => float_digits(*value, digits),
        (scalar, _) => scalar.to_string(),
    }
}

fn shown(values: &[Value], show: impl Fn(&Value) -> String) -> Vec<String> {
    values.iter().map(show).collect()
}

/// The elements of a tensor, a pair of brackets for each row.
fn brackets(size: &[usize], elements: &[String]) -> String {
    match size {
        [outer, inner @ ..] if !inner.is_empty() => {
            let row = inner.iter().product::<usize>();
            let rows: Vec<String> =
                (0..*outer).map(|number| brackets(inner, &elements[number * row..(number + 1) * row])).collect();
            format!("[{}]", rows.join(", "))
        }
        _ => format!("[{}]", elements.join(", ")),
    }
}

/// A real number as `operator<<` of C++ writes it by default: 6 significant digits, without trailing zeros.
pub fn show_float(value: f64) -> String {
    float_digits(value, DIGITS)
}

fn float_digits(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // Rounding to 6 digits can raise the exponent, so it is read off the rounded number.
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..digits as i32).contains(&exponent) {
        return without_zeros(&format!("{value:.*}", (digits as i32 - 1 - exponent) as usize)).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::show_float;

    #[test]
    fn floats_are_shown_as_cpp_does() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (999999.5, "1e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e100, "1e+100"),
            (-2.5e-300, "-2.5e-300"),
            (100000.0, "100000"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-f64::NAN, "-nan"),
        ];
        for (value, expected) in cases {
            assert_eq!(show_float(value), expected);
        }
    }
}
