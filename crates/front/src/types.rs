//! Types of the source languages, and their unification.

use crate::Language;

/// A type, as far as it is known.
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    /// `float`
    Float,
    /// `int`
    Int,
    /// `bool`
    Bool,
    /// `str`, `string`
    Text,
    /// A tuple; the empty one is the unit, `None`.
    Tuple(Vec<Type>),
    /// `list[T]` of Python.
    List(Box<Type>),
    /// An array of numpy, or of F#, of a rank.
    Array(u32, Box<Type>),
    /// A record or a union of the program.
    Named(String),
    /// The tangent type of a union that holds what has no derivative.
    Tangent(String),
    /// A function, where one is differentiated.
    Function(Vec<Type>, Box<Type>),
    /// Not known yet.
    Unknown(usize),
}

impl Type {
    /// The type of nothing.
    pub fn unit() -> Self {
        Self::Tuple(vec![])
    }

    /// An array of Floats.
    pub fn floats(rank: u32) -> Self {
        Self::Array(rank, Box::new(Self::Float))
    }

    /// The element type of a sequence of rank 1.
    pub fn element(&self) -> Option<&Self> {
        match self {
            Self::List(element) | Self::Array(1, element) => Some(element),
            _ => None,
        }
    }

    /// Whether it is an int or a float.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }

    /// As the language writes it.
    pub fn show(&self, language: Language) -> String {
        match language {
            Language::Python => self.python(),
            Language::FSharp => self.fsharp(),
        }
    }

    fn python(&self) -> String {
        let list = |types: &[Self]| types.iter().map(Self::python).collect::<Vec<_>>().join(", ");
        match self {
            Self::Float => "float".to_owned(),
            Self::Int => "int".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Text => "str".to_owned(),
            Self::Tuple(fields) if fields.is_empty() => "None".to_owned(),
            Self::Tuple(fields) => format!("tuple[{}]", list(fields)),
            Self::List(element) => format!("list[{}]", element.python()),
            Self::Array(1, element) => format!("Vector[{}]", element.python()),
            Self::Array(2, element) => format!("Matrix[{}]", element.python()),
            Self::Array(rank, element) => format!("Tensor[{rank}, {}]", element.python()),
            Self::Named(name) => name.clone(),
            Self::Tangent(name) => format!("tangent of {name}"),
            Self::Function(params, result) => format!("Callable[[{}], {}]", list(params), result.python()),
            Self::Unknown(_) => "?".to_owned(),
        }
    }

    fn fsharp(&self) -> String {
        let list = |types: &[Self]| types.iter().map(Self::fsharp).collect::<Vec<_>>().join(" * ");
        match self {
            Self::Float => "float".to_owned(),
            Self::Int => "int".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Text => "string".to_owned(),
            Self::Tuple(fields) if fields.is_empty() => "unit".to_owned(),
            Self::Tuple(fields) => format!("({})", list(fields)),
            Self::List(element) | Self::Array(1, element) => format!("{}[]", element.fsharp()),
            Self::Array(rank, element) => format!("{}[{}]", element.fsharp(), ",".repeat(*rank as usize - 1)),
            Self::Named(name) => name.clone(),
            Self::Tangent(name) => format!("tangent of {name}"),
            Self::Function(params, result) => format!("({} -> {})", list(params), result.fsharp()),
            Self::Unknown(_) => "?".to_owned(),
        }
    }
}

/// The number of an [`Type::Unknown`] that stands in what is written: `(x : float, y)`.
pub const HOLE: usize = usize::MAX;

/// What is known of the types that are not written.
#[derive(Debug)]
pub struct Unifier {
    language: Language,
    known: Vec<Option<Type>>,
    /// Which of them are numbers: int, if nothing else is known in the end.
    numbers: Vec<bool>,
}

impl Unifier {
    /// Nothing is known.
    pub fn new(language: Language) -> Self {
        Self { language, known: vec![], numbers: vec![] }
    }

    /// A type that is not known yet.
    pub fn fresh(&mut self) -> Type {
        self.known.push(None);
        self.numbers.push(false);
        Type::Unknown(self.known.len() - 1)
    }

    /// A type that is written, with something unknown for each hole.
    pub fn opened(&mut self, ty: &Type) -> Type {
        match ty {
            Type::Unknown(HOLE) => self.fresh(),
            Type::Tuple(fields) => Type::Tuple(fields.iter().map(|field| self.opened(field)).collect()),
            _ => ty.clone(),
        }
    }

    /// The type as far as it is known, its parts too.
    pub fn resolve(&self, ty: &Type) -> Type {
        let all = |types: &[Type]| types.iter().map(|ty| self.resolve(ty)).collect();
        match ty {
            Type::Unknown(number) => match &self.known[*number] {
                Some(known) => self.resolve(known),
                None => ty.clone(),
            },
            Type::Tuple(fields) => Type::Tuple(all(fields)),
            Type::List(element) => Type::List(Box::new(self.resolve(element))),
            Type::Array(rank, element) => Type::Array(*rank, Box::new(self.resolve(element))),
            Type::Function(params, result) => Type::Function(all(params), Box::new(self.resolve(result))),
            _ => ty.clone(),
        }
    }

    /// Notes that a type is one of numbers.
    pub fn is_number(&mut self, ty: &Type) {
        if let Type::Unknown(number) = self.resolve(ty) {
            self.numbers[number] = true;
        }
    }

    /// Numbers of which nothing else is known are ints, as in F#.
    pub fn settle_numbers(&mut self) {
        for (known, is_number) in self.known.iter_mut().zip(&self.numbers) {
            if *is_number && known.is_none() {
                *known = Some(Type::Int);
            }
        }
    }

    /// Makes two types equal; false if they cannot be.
    pub fn unify(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.resolve(a), self.resolve(b));
        self.unify_resolved(&a, &b)
    }

    fn unify_resolved(&mut self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            _ if a == b => true,
            (Type::Unknown(number), other) | (other, Type::Unknown(number)) => self.set(*number, other),
            (Type::Tuple(x), Type::Tuple(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| self.unify(x, y)),
            (Type::List(x), Type::List(y)) => self.unify(x, y),
            (Type::Array(m, x), Type::Array(n, y)) => m == n && self.unify(x, y),
            _ => false,
        }
    }

    fn set(&mut self, number: usize, ty: &Type) -> bool {
        if mentions(ty, number) {
            return false;
        }
        if let Type::Unknown(other) = ty {
            self.numbers[*other] |= self.numbers[number];
        }
        self.known[number] = Some(ty.clone());
        true
    }

    /// Whether a value of the second type can stand where the first is expected: Python turns ints into floats.
    pub fn accepts(&mut self, expected: &Type, found: &Type) -> bool {
        let (expected, found) = (self.resolve(expected), self.resolve(found));
        if self.language == Language::FSharp {
            return self.unify_resolved(&expected, &found);
        }
        match (&expected, &found) {
            (Type::Float, Type::Int) => true,
            (Type::Tuple(x), Type::Tuple(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| self.accepts(x, y)),
            (Type::List(x), Type::List(y)) => self.accepts(x, y),
            _ => self.unify_resolved(&expected, &found),
        }
    }

    /// The type of a value that is one or the other.
    pub fn join(&mut self, a: &Type, b: &Type) -> Option<Type> {
        if self.accepts(a, b) {
            return Some(self.resolve(a));
        }
        if self.accepts(b, a) {
            return Some(self.resolve(b));
        }
        match (self.resolve(a), self.resolve(b)) {
            (Type::Tuple(x), Type::Tuple(y)) if x.len() == y.len() => {
                let fields: Option<Vec<Type>> = x.iter().zip(&y).map(|(x, y)| self.join(x, y)).collect();
                fields.map(Type::Tuple)
            }
            _ => None,
        }
    }
}

/// Whether an unknown type occurs in another.
fn mentions(ty: &Type, number: usize) -> bool {
    match ty {
        Type::Unknown(other) => *other == number,
        Type::Tuple(fields) => fields.iter().any(|field| mentions(field, number)),
        Type::List(element) | Type::Array(_, element) => mentions(element, number),
        Type::Function(params, result) => params.iter().chain([&**result]).any(|ty| mentions(ty, number)),
        _ => false,
    }
}

/// Whether anything in a type is unknown.
pub fn is_open(ty: &Type) -> bool {
    match ty {
        Type::Unknown(_) => true,
        Type::Tuple(fields) => fields.iter().any(is_open),
        Type::List(element) | Type::Array(_, element) => is_open(element),
        Type::Function(params, result) => params.iter().any(is_open) || is_open(result),
        _ => false,
    }
}
