//! Types of arithmetic and comparisons.

use super::Infer;
use crate::Language;
use crate::error::{Mistake, Result};
use crate::tree::{Comparison, Expr, Operator};
use crate::types::Type;
use labrys_compiler::Span;

impl Infer<'_> {
    /// The type of `left operator right`.
    pub(super) fn arithmetic(
        &mut self,
        operator: Operator,
        types: [Type; 2],
        operands: (&Expr, &Expr),
        span: Span,
    ) -> Result<Type> {
        let [left, right] = types.map(|ty| self.unifier.resolve(&ty));
        let result = match (&left, &right) {
            (Type::Unknown(_), Type::Unknown(_)) => {
                self.unifier.unify(&left, &right);
                self.unifier.is_number(&left);
                Some(left.clone())
            }
            // What is not known is of the type of what is.
            (Type::Unknown(_), other) | (other, Type::Unknown(_)) => {
                let other = other.clone();
                self.unifier.unify(&left, &right);
                self.known_arithmetic(operator, &other, &other)
            }
            _ => self.known_arithmetic(operator, &left, &right),
        };
        result.ok_or_else(|| self.no_operator(operator, &left, &right, operands).at(span))
    }

    fn known_arithmetic(&self, operator: Operator, left: &Type, right: &Type) -> Option<Type> {
        use Operator::{Add, Div, FloorDiv, MatMul, Mod, Mul, PointDiv, PointMul, Pow, Sub};
        let is_python = self.language == Language::Python;
        match (operator, left, right) {
            (Div, Type::Int, Type::Int) if is_python => Some(Type::Float),
            (FloorDiv | Mod, Type::Int, Type::Int) => Some(Type::Int),
            (FloorDiv | Mod, ..) => None,
            (Pow, Type::Float, Type::Float | Type::Int) => Some(Type::Float),
            (Pow, Type::Int, Type::Float) if is_python => Some(Type::Float),
            (Pow, Type::Int, Type::Int) => Some(Type::Int),
            (Add | Sub | Mul | Div, a, b) if a.is_number() && b.is_number() => match a == b {
                true => Some(a.clone()),
                false => is_python.then_some(Type::Float),
            },
            (MatMul, ..) => product(left, right).filter(|_| is_python),
            (Mul, Type::Array(..), Type::Array(..)) if !is_python => product(left, right),
            (PointMul | PointDiv, Type::Array(..), Type::Array(..)) if left == right => Some(left.clone()),
            (Add | Sub | Mul | Div | Pow, Type::Array(_, element), scalar) if is_scalar(scalar, element, is_python) => {
                Some(left.clone())
            }
            (Add | Sub | Mul | Div, scalar, Type::Array(_, element)) if is_scalar(scalar, element, is_python) => {
                Some(right.clone())
            }
            (Add | Sub | Mul | Div, Type::Array(_, element), _) if left == right && **element == Type::Float => {
                Some(left.clone())
            }
            _ => None,
        }
    }

    fn no_operator(&self, operator: Operator, left: &Type, right: &Type, operands: (&Expr, &Expr)) -> Mistake {
        let hint = match (operator, left, right, self.language) {
            (_, Type::List(_), _, Language::Python) | (_, _, Type::List(_), Language::Python) => {
                Some("lists have no arithmetic: np.array(...) makes an array of a list".to_owned())
            }
            (Operator::Mod | Operator::FloorDiv, ..) => Some("it takes two ints".to_owned()),
            (_, Type::Int, Type::Float, Language::FSharp) | (_, Type::Float, Type::Int, Language::FSharp) => {
                let (int, is_constant) = match left {
                    Type::Int => (operands.0, super::expr::constant(operands.0)),
                    _ => (operands.1, super::expr::constant(operands.1)),
                };
                let _ = int;
                Some(match is_constant {
                    Some(value) => format!("a float constant has a point: {value}.0"),
                    None => "float converts: float i".to_owned(),
                })
            }
            (Operator::Mul, Type::Array(..), Type::Array(..), Language::FSharp) => {
                Some("* is the product of matrices and vectors; .* goes by elements".to_owned())
            }
            (_, Type::Array(..), Type::Array(..), _) => Some("the ranks must be the same".to_owned()),
            _ => None,
        };
        let found = format!("{} and {}", self.show(left), self.show(right));
        Mistake::NoOverload { name: operator.symbol().to_owned(), found, hint }
    }

    /// The type of a comparison.
    pub(super) fn comparison(&mut self, comparison: Comparison, left: &Expr, right: &Expr, span: Span) -> Result<Type> {
        let types = [self.expr(left)?, self.expr(right)?];
        let is_same = self.unifier.join(&types[0], &types[1]).is_some();
        let ty = self.unifier.resolve(&types[0]);
        let is_order = !matches!(comparison, Comparison::Eq | Comparison::Ne);
        if is_order {
            self.unifier.is_number(&ty);
        }
        let is_array = matches!(ty, Type::Array(..));
        if is_same && (!is_order || ty.is_number() || matches!(ty, Type::Unknown(_))) && !is_array {
            return Ok(Type::Bool);
        }
        let found = format!("{} and {}", self.show(&types[0]), self.show(&types[1]));
        let hint = is_array.then(|| "compare elements, or sums of them".to_owned());
        Err(Mistake::NoOverload { name: comparison.ks().to_owned(), found, hint }.at(span))
    }
}

/// Whether this can be combined with each element of an array.
fn is_scalar(scalar: &Type, element: &Type, is_python: bool) -> bool {
    *element == Type::Float && (*scalar == Type::Float || (is_python && *scalar == Type::Int))
}

/// The type of a product of vectors and matrices.
pub(super) fn product(left: &Type, right: &Type) -> Option<Type> {
    let (Type::Array(m, a), Type::Array(n, b)) = (left, right) else { return None };
    if **a != Type::Float || **b != Type::Float {
        return None;
    }
    match (m, n) {
        (1, 1) => Some(Type::Float),
        (2, 1) | (1, 2) => Some(Type::floats(1)),
        (2, 2) => Some(Type::floats(2)),
        _ => None,
    }
}
