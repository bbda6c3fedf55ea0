//! The tree that both front ends give: what the subsets of Python and F# have in common.
//!
//! It is functional already: statements have become bindings, loops folds, comprehensions [`Kind::Collect`]. Every expression has a number, by
//! which [`crate::infer`] notes its type.

use crate::builtin::Builtin;
use crate::types::Type;
use labrys_compiler::Span;

/// A program.
#[derive(Debug, Default)]
pub struct Module {
    /// Records and unions, in order.
    pub types: Vec<TypeDef>,
    /// Functions and global values, in order.
    pub functions: Vec<Function>,
    /// How many numbers expressions have.
    pub exprs: usize,
}

/// Names with their types.
pub type Fields = Vec<(String, Type)>;
/// Constructors with what they hold.
pub type Constructors = Vec<(String, Fields)>;

/// A type of the program.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// Comments above it.
    pub comment: Vec<String>,
    /// What it is.
    pub body: TypeBody,
}

/// What a [`TypeDef`] defines.
#[derive(Clone, Debug)]
pub enum TypeBody {
    /// Named fields: a tuple in `.ks`.
    Record(Fields),
    /// Constructors with what they hold: a sum type in `.ks`.
    Union(Constructors),
}

/// A function, or a value if it takes nothing and `is_value`.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// Comments above it, and its documentation.
    pub comment: Vec<String>,
    /// Parameters.
    pub params: Vec<Param>,
    /// The type of the result, where it is written.
    pub result: Option<Type>,
    /// What it gives.
    pub body: Expr,
    /// A global value: it is used without a call.
    pub is_value: bool,
}

/// A parameter.
#[derive(Debug)]
pub struct Param {
    /// What it binds.
    pub pattern: Pattern,
    /// Its type, where it is written.
    pub ty: Option<Type>,
}

/// What a binding binds.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// A name.
    Name(String, Span),
    /// The fields of a tuple.
    Tuple(Vec<Pattern>, Span),
    /// Nothing.
    Wildcard(Span),
}

/// An expression with its place.
#[derive(Debug)]
pub struct Expr {
    /// Its number.
    pub id: usize,
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What an [`Expr`] is.
#[derive(Debug)]
pub enum Kind {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A text; for printing only.
    Text(String),
    /// A variable or a global value.
    Name(String),
    /// A tuple; the empty one is the unit.
    Tuple(Vec<Expr>),
    /// A list or an array, by its elements.
    Elements(Sequence, Vec<Expr>),
    /// Bindings and effects, then a value.
    Block(Vec<Statement>, Box<Expr>),
    /// One of two.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The arm of the constructor of a value.
    Match(Box<Expr>, Vec<Arm>),
    /// A function without a name: only where one is differentiated.
    Lambda(Vec<Param>, Box<Expr>),
    /// A call of a function of the program, of a constructor, or of a built-in function.
    Call(Call),
    /// A field of a record.
    Field(Box<Expr>, String),
    /// Elements of a tensor.
    Index(Box<Expr>, Vec<Subscript>),
    /// An operator and its two operands.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// All, or any, of several; the later ones are computed only if they count.
    Logic(Logic, Vec<Expr>),
    /// A comparison chain such as `a < b <= c`, as pairs: all must hold.
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// A value for each element of something, collected.
    Collect(Collect, Box<Expr>, Vec<Generator>),
    /// A state that each element changes.
    Fold(Box<Fold>),
    /// A record by its fields.
    Record(Vec<(String, Span, Expr)>),
    /// A value whose type is written.
    Ascribed(Box<Expr>, Type),
    /// The value, if the condition holds.
    Assert(Box<Expr>, Box<Expr>),
    /// Writes texts and values, as they are.
    Print(Vec<Expr>),
}

/// Which of Python's sequences; F# has arrays only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sequence {
    /// `list`
    List,
    /// An array of numpy, or of F#.
    Array,
}

/// All or any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Logic {
    /// All of them.
    And,
    /// Any of them.
    Or,
}

/// What [`Kind::Collect`] makes of the values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collect {
    /// A sequence of them.
    Sequence(Sequence),
    /// Their sum.
    Sum,
}

/// A call.
#[derive(Debug)]
pub struct Call {
    /// As it is written, for messages and to find functions of the program.
    pub name: String,
    /// Where the name stands.
    pub at: Span,
    /// What it means if the program has no such function.
    pub builtin: Option<Builtin>,
    /// Arguments by position.
    pub args: Vec<Expr>,
    /// Arguments by name.
    pub named: Vec<(String, Span, Expr)>,
}

/// `x += e` over a range or a sequence: [`Fold::body`] with the state and the element bound.
#[derive(Debug)]
pub struct Fold {
    /// Binds the state.
    pub state: Pattern,
    /// The first state.
    pub init: Expr,
    /// Binds the elements.
    pub each: Generator,
    /// The next state.
    pub body: Expr,
}

/// `for pattern in over if condition`
#[derive(Debug)]
pub struct Generator {
    /// Binds an element.
    pub pattern: Pattern,
    /// Where the elements come from.
    pub over: Over,
    /// Elements that do not fulfil it are left out.
    pub conditions: Vec<Expr>,
}

/// Where elements come from.
#[derive(Debug)]
pub enum Over {
    /// Whole numbers from the first, or 0, up to and without the second.
    Range(Option<Expr>, Expr),
    /// The elements of a sequence.
    Elements(Expr),
    /// Tuples of the elements of several.
    Zip(Vec<Expr>),
    /// Pairs of a number from 0 and an element.
    Enumerate(Expr),
}

/// A step of a block.
#[derive(Debug)]
pub enum Statement {
    /// A binding.
    Let(Pattern, Expr),
    /// A local function.
    Function(Function),
    /// Something that is done for its effect.
    Effect(Expr),
}

/// One case of a match.
#[derive(Debug)]
pub struct Arm {
    /// The constructor and what it binds; none for all that are left.
    pub constructor: Option<(String, Vec<Pattern>)>,
    /// Where the pattern stands.
    pub span: Span,
    /// The value.
    pub body: Expr,
}

/// What stands between the brackets of an index.
#[derive(Debug)]
pub enum Subscript {
    /// One place; a negative constant counts from the end.
    At(Expr),
    /// A stretch, from the first up to and without the second.
    Slice(Option<Expr>, Option<Expr>),
}

/// An arithmetic operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `//`, rounding down
    FloorDiv,
    /// `%`
    Mod,
    /// `**`
    Pow,
    /// `@`
    MatMul,
    /// `.*`, by elements
    PointMul,
    /// `./`, by elements
    PointDiv,
}

impl Operator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::FloorDiv => "//",
            Self::Mod => "%",
            Self::Pow => "**",
            Self::MatMul => "@",
            Self::PointMul => ".*",
            Self::PointDiv => "./",
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
}

impl Comparison {
    /// The function of `.ks`.
    pub fn ks(self) -> &'static str {
        match self {
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Eq => "eq",
            Self::Ne => "ne",
        }
    }
}

impl Pattern {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Name(_, span) | Self::Tuple(_, span) | Self::Wildcard(span) => *span,
        }
    }

    /// The names that it binds, from left to right.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Name(name, _) => vec![name],
            Self::Tuple(parts, _) => parts.iter().flat_map(Self::names).collect(),
            Self::Wildcard(_) => vec![],
        }
    }
}
