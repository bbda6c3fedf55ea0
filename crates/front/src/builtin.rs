//! What both languages offer without a definition.

/// A built-in function. Functions of floats also take arrays, element by element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// A function of a float, by its name in `.ks`.
    Math(&'static str),
    /// `-x`
    Neg,
    /// `not p`
    Not,
    /// The number pi.
    Pi,
    /// An int as a float.
    ToFloat,
    /// The greater of two.
    Max,
    /// The smaller of two.
    Min,
    /// A power.
    Pow,
    /// The number of elements of a sequence.
    Length,
    /// The size of an array along an axis, from 0.
    Extent(u32),
    /// The sum of all elements.
    Sum,
    /// Their mean.
    Mean,
    /// The greatest element.
    Greatest,
    /// The smallest element.
    Smallest,
    /// The first place of the greatest element.
    ArgMax,
    /// The inner product of two arrays; as [`crate::tree::Operator::MatMul`] for others.
    Dot,
    /// The outer product of two vectors.
    Outer,
    /// The transpose of a matrix.
    Transpose,
    /// The square root of the sum of all squares.
    Norm,
    /// An array of a size, of equal elements.
    Full,
    /// An array of zeros of a size.
    Zeros,
    /// An array of ones of a size.
    Ones,
    /// An array of zeros of the size of another.
    ZerosLike,
    /// The whole numbers below one.
    Arange,
    /// A list of lists as an array.
    ToArray,
    /// The identity matrix.
    Eye,
    /// Two vectors as one.
    Concat,
    /// `grad f x ...`: the gradient of f by its first argument.
    Grad,
    /// The value and the gradient.
    ValueAndGrad,
    /// `adam f x`: the x that Adam comes to.
    Adam,
}

/// Functions of a float that `.ks` or `helpers.ks` has, by names that both languages share.
pub const MATH: [&str; 13] =
    ["exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "abs", "erf", "lgamma", "square"];

/// The function of a float that has a name.
pub fn math(name: &str) -> Option<Builtin> {
    MATH.into_iter().find(|known| *known == name).map(Builtin::Math)
}
