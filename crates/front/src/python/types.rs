//! Annotations.

use super::Reader;
use crate::error::{Mistake, Result, outside, similar};
use crate::types::Type;
use ruff_python_ast as py;
use ruff_text_size::{TextRange, TextSize};

const HINT: &str = "types are float, int, bool, str, tuple[...], list[...], Vector, Matrix, Tensor[n], and classes";

impl Reader<'_> {
    /// The type of an annotation.
    pub(super) fn ty(&mut self, annotation: &py::Expr) -> Result<Type> {
        match annotation {
            py::Expr::NoneLiteral(_) => Ok(Type::unit()),
            py::Expr::Name(_) | py::Expr::Attribute(_) => self.named_type(annotation),
            py::Expr::Subscript(subscript) => self.applied_type(subscript),
            py::Expr::StringLiteral(text) => {
                // Between its quotes.
                let one = TextSize::from(1);
                if text.range.len() < one + one {
                    return outside(self.span(annotation), "this type is", HINT);
                }
                let inner = TextRange::new(text.range.start() + one, text.range.end() - one);
                let parsed = ruff_python_parser::parse_expression_range(self.text, inner);
                match parsed {
                    Ok(parsed) => self.ty(parsed.expr()),
                    Err(_) => outside(self.span(annotation), "this type is", HINT),
                }
            }
            _ => outside(self.span(annotation), "this type is", HINT),
        }
    }

    fn named_type(&self, annotation: &py::Expr) -> Result<Type> {
        let Some(path) = self.path(annotation) else { return outside(self.span(annotation), "this type is", HINT) };
        if let Some(ty) = self.types.get(&path) {
            return Ok(ty.clone());
        }
        match path.as_str() {
            "float" => Ok(Type::Float),
            "int" => Ok(Type::Int),
            "bool" => Ok(Type::Bool),
            "str" => Ok(Type::Text),
            "labrys.Vector" => Ok(Type::floats(1)),
            "labrys.Matrix" => Ok(Type::floats(2)),
            "list" | "tuple" => {
                outside(self.span(annotation), format!("'{path}' without the types in it is"), "write list[float]")
            }
            "numpy.ndarray" | "numpy.NDArray" => {
                let hint = "write Vector, Matrix or Tensor[n] (from labrys), or Float[Array, \"n m\"] (from jaxtyping)";
                outside(self.span(annotation), "an array without its rank is", hint)
            }
            _ if self.constructors.contains(&path) => {
                outside(self.span(annotation), "a constructor as a type is", "name the union that it belongs to")
            }
            _ => {
                let known =
                    self.types.keys().map(String::as_str).chain(["float", "int", "bool", "str", "list", "tuple"]);
                let hint = similar(&path, known).or_else(|| Some(HINT.to_owned()));
                Err(Mistake::Unknown { what: "type", name: path, hint }.at(self.span(annotation)))
            }
        }
    }

    fn applied_type(&mut self, subscript: &py::ExprSubscript) -> Result<Type> {
        let head = self.path(&subscript.value).unwrap_or_default();
        let args: Vec<&py::Expr> = match &*subscript.slice {
            py::Expr::Tuple(tuple) => tuple.elts.iter().collect(),
            one => vec![one],
        };
        match (head.as_str(), &args[..]) {
            ("list" | "typing.List" | "typing.Sequence" | "collections.abc.Sequence", [element]) => {
                Ok(Type::List(Box::new(self.ty(element)?)))
            }
            ("tuple" | "typing.Tuple", fields) => {
                Ok(Type::Tuple(fields.iter().map(|field| self.ty(field)).collect::<Result<_>>()?))
            }
            ("labrys.Vector", [element]) => Ok(Type::Array(1, Box::new(self.ty(element)?))),
            ("labrys.Matrix", [element]) => Ok(Type::Array(2, Box::new(self.ty(element)?))),
            ("labrys.Tensor", [rank]) => Ok(Type::floats(self.rank(rank)?)),
            ("labrys.Tensor", [rank, element]) => Ok(Type::Array(self.rank(rank)?, Box::new(self.ty(element)?))),
            ("jaxtyping.Float" | "jaxtyping.Int" | "jaxtyping.Bool", [_, py::Expr::StringLiteral(dims)]) => {
                let element = match head.as_str() {
                    "jaxtyping.Float" => Type::Float,
                    "jaxtyping.Int" => Type::Int,
                    _ => Type::Bool,
                };
                let rank = dims.value.to_str().split_whitespace().count() as u32;
                Ok(if rank == 0 { element } else { Type::Array(rank, Box::new(element)) })
            }
            _ => outside(self.span(subscript), "this type is", HINT),
        }
    }

    fn rank(&self, rank: &py::Expr) -> Result<u32> {
        let number = match rank {
            py::Expr::NumberLiteral(number) => match &number.value {
                py::Number::Int(rank) => rank.as_u8(),
                _ => None,
            },
            _ => None,
        };
        match number {
            Some(rank @ 1..=64) => Ok(u32::from(rank)),
            _ => outside(self.span(rank), "a rank that is no number from 1 to 64 is", "write Tensor[3]"),
        }
    }

    /// The dotted name of an expression, with imports resolved: `np.exp` is `numpy.exp`.
    pub(super) fn path(&self, expr: &py::Expr) -> Option<String> {
        match expr {
            py::Expr::Name(name) => {
                let name = name.id.as_str();
                let is_variable = self.defined.iter().any(|defined| defined == name);
                match self.imports.get(name).filter(|_| !is_variable) {
                    Some(path) => Some(path.clone()),
                    None => Some(name.to_owned()),
                }
            }
            py::Expr::Attribute(attribute) => {
                let module = self.module_path(&attribute.value)?;
                Some(format!("{module}.{}", attribute.attr.id.as_str()))
            }
            _ => None,
        }
    }

    /// The name of a module that an expression stands for.
    fn module_path(&self, expr: &py::Expr) -> Option<String> {
        let path = match expr {
            py::Expr::Name(name) => {
                let is_variable = self.defined.iter().any(|defined| defined == name.id.as_str());
                self.imports.get(name.id.as_str()).filter(|_| !is_variable)?.clone()
            }
            py::Expr::Attribute(_) => self.path(expr)?,
            _ => return None,
        };
        matches!(path.as_str(), "math" | "numpy" | "numpy.linalg" | "labrys" | "typing" | "dataclasses").then_some(path)
    }
}
