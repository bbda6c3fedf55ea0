//! Expressions.

use super::Reader;
use crate::builtin::Builtin;
use crate::error::{Mistake, Result, outside};
use crate::stack;
use crate::tree::{
    Call, Collect, Comparison, Expr, Generator, Kind, Logic, Operator, Over, Param, Sequence, Subscript,
};
use crate::types::Type;
use labrys_compiler::Span;
use ruff_python_ast as py;

/// The operator of the tree.
pub(super) fn operator(operator: py::Operator) -> Option<Operator> {
    Some(match operator {
        py::Operator::Add => Operator::Add,
        py::Operator::Sub => Operator::Sub,
        py::Operator::Mult => Operator::Mul,
        py::Operator::MatMult => Operator::MatMul,
        py::Operator::Div => Operator::Div,
        py::Operator::FloorDiv => Operator::FloorDiv,
        py::Operator::Mod => Operator::Mod,
        py::Operator::Pow => Operator::Pow,
        _ => return None,
    })
}

impl Reader<'_> {
    pub(super) fn expr(&mut self, expr: &py::Expr) -> Result<Expr> {
        stack::grow(|| self.any_expr(expr))
    }

    fn boxed(&mut self, expr: &py::Expr) -> Result<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    pub(super) fn exprs(&mut self, exprs: &[py::Expr]) -> Result<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// A value with its type.
    pub(super) fn ascribed(&mut self, value: Expr, ty: Type) -> Expr {
        self.make(value.span, Kind::Ascribed(Box::new(value), ty))
    }

    fn any_expr(&mut self, expr: &py::Expr) -> Result<Expr> {
        let span = self.span(expr);
        let kind = match expr {
            py::Expr::NumberLiteral(number) => self.number(number, span)?,
            py::Expr::BooleanLiteral(literal) => Kind::Bool(literal.value),
            py::Expr::NoneLiteral(_) => Kind::Tuple(vec![]),
            py::Expr::StringLiteral(text) => Kind::Text(text.value.to_str().to_owned()),
            py::Expr::Name(_) => return self.name(expr, span),
            py::Expr::Attribute(attribute) => return self.attribute(expr, attribute, span),
            py::Expr::Tuple(tuple) => Kind::Tuple(self.exprs(&tuple.elts)?),
            py::Expr::List(list) => Kind::Elements(Sequence::List, self.exprs(&list.elts)?),
            py::Expr::BinOp(binary) => {
                let Some(operator) = operator(binary.op) else { return outside(span, "operators on bits are", "") };
                Kind::Binary(operator, self.boxed(&binary.left)?, self.boxed(&binary.right)?)
            }
            py::Expr::UnaryOp(unary) => return self.unary(unary, span),
            py::Expr::BoolOp(of) => {
                let logic = if of.op == py::BoolOp::And { Logic::And } else { Logic::Or };
                Kind::Logic(logic, self.exprs(&of.values)?)
            }
            py::Expr::Compare(compare) => return self.compare(compare, span),
            py::Expr::If(of) => Kind::If(self.boxed(&of.test)?, self.boxed(&of.body)?, self.boxed(&of.orelse)?),
            py::Expr::Lambda(lambda) => self.lambda(lambda)?,
            py::Expr::ListComp(of) => {
                return self.comprehension(Collect::Sequence(Sequence::List), &of.elt, &of.generators, span);
            }
            py::Expr::Generator(of) => {
                return self.comprehension(Collect::Sequence(Sequence::List), &of.elt, &of.generators, span);
            }
            py::Expr::Subscript(subscript) => return self.subscript(subscript, span),
            py::Expr::Call(call) => return self.call(call, span),
            py::Expr::FString(_) => {
                return outside(span, "texts with values in them are, but in print,", "print(f\"{x}\") prints");
            }
            py::Expr::Dict(_) | py::Expr::DictComp(_) => return outside(span, "dictionaries are", "write a dataclass"),
            py::Expr::Set(_) | py::Expr::SetComp(_) => return outside(span, "sets are", "write a list"),
            py::Expr::Named(_) => return outside(span, "assignments in expressions are", "assign in a statement"),
            py::Expr::Starred(_) => return outside(span, "* in expressions is", "name each element"),
            _ => return outside(span, "this expression is", ""),
        };
        Ok(self.make(span, kind))
    }

    fn number(&self, number: &py::ExprNumberLiteral, span: Span) -> Result<Kind> {
        match &number.value {
            py::Number::Int(value) => match value.as_i64() {
                Some(value) => Ok(Kind::Integer(value)),
                None => outside(span, "ints beyond 64 bits are", "write a float"),
            },
            py::Number::Float(value) => Ok(Kind::Float(*value)),
            py::Number::Complex { .. } => outside(span, "complex numbers are", ""),
        }
    }

    /// A call of a built-in function.
    pub(super) fn builtin(&mut self, builtin: Builtin, name: &str, args: Vec<Expr>, span: Span) -> Expr {
        let call = Call { name: name.to_owned(), at: span, builtin: Some(builtin), args, named: vec![] };
        self.make(span, Kind::Call(call))
    }

    fn name(&mut self, expr: &py::Expr, span: Span) -> Result<Expr> {
        let path = self.path(expr).unwrap_or_default();
        Ok(match path.as_str() {
            "math.pi" | "numpy.pi" => self.builtin(Builtin::Pi, &path, vec![], span),
            "math.e" | "numpy.e" => self.make(span, Kind::Float(std::f64::consts::E)),
            _ => self.make(span, Kind::Name(path)),
        })
    }

    fn attribute(&mut self, expr: &py::Expr, attribute: &py::ExprAttribute, span: Span) -> Result<Expr> {
        if self.path(expr).is_some() {
            return self.name(expr, span);
        }
        let value = self.expr(&attribute.value)?;
        match attribute.attr.id.as_str() {
            "T" => Ok(self.builtin(Builtin::Transpose, ".T", vec![value], span)),
            "shape" => outside(span, "the shape of an array as a tuple is", "take one size: v.shape[0]"),
            field => Ok(self.make(span, Kind::Field(Box::new(value), field.to_owned()))),
        }
    }

    fn unary(&mut self, unary: &py::ExprUnaryOp, span: Span) -> Result<Expr> {
        let operand = self.expr(&unary.operand)?;
        match unary.op {
            py::UnaryOp::USub => Ok(self.builtin(Builtin::Neg, "-", vec![operand], span)),
            py::UnaryOp::Not => Ok(self.builtin(Builtin::Not, "not", vec![operand], span)),
            py::UnaryOp::UAdd => Ok(operand),
            py::UnaryOp::Invert => outside(span, "operators on bits are", ""),
        }
    }

    /// `a < b <= c`
    fn compare(&mut self, compare: &py::ExprCompare, span: Span) -> Result<Expr> {
        let operands: Vec<&py::Expr> = [&*compare.left].into_iter().chain(compare.comparators.iter()).collect();
        let inner = &operands[1..operands.len() - 1];
        if inner.iter().any(|operand| !matches!(operand, py::Expr::Name(_) | py::Expr::NumberLiteral(_))) {
            return outside(
                span,
                "a chain of comparisons of what is computed is",
                "give the value in the middle a name",
            );
        }
        let mut pairs = vec![];
        for (pair, op) in operands.windows(2).zip(compare.ops.iter()) {
            let comparison = match op {
                py::CmpOp::Lt => Comparison::Lt,
                py::CmpOp::LtE => Comparison::Lte,
                py::CmpOp::Gt => Comparison::Gt,
                py::CmpOp::GtE => Comparison::Gte,
                py::CmpOp::Eq => Comparison::Eq,
                py::CmpOp::NotEq => Comparison::Ne,
                _ => return outside(span, "'is' and 'in' are", "compare with ==, or match"),
            };
            let (left, right) = (self.boxed(pair[0])?, self.boxed(pair[1])?);
            pairs.push(self.make(span, Kind::Compare(comparison, left, right)));
        }
        match pairs.len() {
            1 => Ok(pairs.remove(0)),
            _ => Ok(self.make(span, Kind::Logic(Logic::And, pairs))),
        }
    }

    fn lambda(&mut self, lambda: &py::ExprLambda) -> Result<Kind> {
        let mut params = vec![];
        for param in lambda.parameters.iter().flat_map(|params| params.iter_non_variadic_params()) {
            let name = param.name();
            let pattern = crate::tree::Pattern::Name(name.id.to_string(), self.span(name));
            params.push(Param { pattern, ty: None });
        }
        let mark = self.defined.len();
        self.defined
            .extend(params.iter().flat_map(|param| param.pattern.names()).map(str::to_owned).collect::<Vec<_>>());
        let body = self.boxed(&lambda.body);
        self.defined.truncate(mark);
        Ok(Kind::Lambda(params, body?))
    }

    /// `e for x in v if c`
    pub(super) fn comprehension(
        &mut self,
        collect: Collect,
        element: &py::Expr,
        generators: &[py::Comprehension],
        span: Span,
    ) -> Result<Expr> {
        let mark = self.defined.len();
        let made = self.collected(element, generators);
        self.defined.truncate(mark);
        let (value, generators) = made?;
        Ok(self.make(span, Kind::Collect(collect, Box::new(value), generators)))
    }

    fn collected(&mut self, element: &py::Expr, generators: &[py::Comprehension]) -> Result<(Expr, Vec<Generator>)> {
        let mut made = vec![];
        for generator in generators {
            let over = self.over(&generator.iter)?;
            let pattern = self.target(&generator.target)?;
            self.defined.extend(pattern.names().into_iter().map(str::to_owned).collect::<Vec<_>>());
            let conditions = self.exprs(&generator.ifs)?;
            made.push(Generator { pattern, over, conditions });
        }
        Ok((self.expr(element)?, made))
    }

    /// What a loop goes over.
    pub(super) fn over(&mut self, iter: &py::Expr) -> Result<Over> {
        let py::Expr::Call(call) = iter else { return Ok(Over::Elements(self.expr(iter)?)) };
        let path = self.path(&call.func).unwrap_or_default();
        let span = self.span(iter);
        if ["range", "zip", "enumerate"].contains(&path.as_str())
            && let Some(keyword) = call.arguments.keywords.first()
        {
            return outside(self.span(keyword), "arguments by name are, here,", "");
        }
        match (path.as_str(), &call.arguments.args[..]) {
            ("range", [to]) => Ok(Over::Range(None, self.expr(to)?)),
            ("range", [from, to]) => Ok(Over::Range(Some(self.expr(from)?), self.expr(to)?)),
            ("range", [_, _, step]) => {
                outside(self.span(step), "a range with a step is", "multiply the index in the loop")
            }
            ("zip", sequences @ [_, _, ..]) => Ok(Over::Zip(self.exprs(sequences)?)),
            ("enumerate", [sequence]) => Ok(Over::Enumerate(self.expr(sequence)?)),
            ("range" | "zip" | "enumerate", args) => {
                let expected = if path == "zip" { "2 or more arguments" } else { "1 or 2 arguments" }.to_owned();
                Err(Mistake::Arguments { name: path, expected, found: args.len() }.at(span))
            }
            ("reversed" | "sorted", _) => outside(span, format!("{path} is"), "compute the index in the loop"),
            _ => Ok(Over::Elements(self.expr(iter)?)),
        }
    }

    fn subscript(&mut self, subscript: &py::ExprSubscript, span: Span) -> Result<Expr> {
        if let py::Expr::Attribute(attribute) = &*subscript.value
            && attribute.attr.id.as_str() == "shape"
            && self.path(&subscript.value).is_none()
        {
            return self.extent(&attribute.value, &subscript.slice, span);
        }
        let value = self.boxed(&subscript.value)?;
        let parts: Vec<&py::Expr> = match &*subscript.slice {
            py::Expr::Tuple(tuple) => tuple.elts.iter().collect(),
            one => vec![one],
        };
        let subscripts = parts.into_iter().map(|part| self.place(part)).collect::<Result<Vec<_>>>()?;
        Ok(self.make(span, Kind::Index(value, subscripts)))
    }

    fn place(&mut self, part: &py::Expr) -> Result<Subscript> {
        let py::Expr::Slice(slice) = part else { return Ok(Subscript::At(self.expr(part)?)) };
        if let Some(step) = &slice.step {
            return outside(
                self.span(&**step),
                "slices with a step are",
                "write a list of the elements: [v[2 * i] for i in range(n)]",
            );
        }
        let mut bound = |bound: &Option<Box<py::Expr>>| bound.as_ref().map(|bound| self.expr(bound)).transpose();
        Ok(Subscript::Slice(bound(&slice.lower)?, bound(&slice.upper)?))
    }

    /// `m.shape[1]`
    fn extent(&mut self, array: &py::Expr, axis: &py::Expr, span: Span) -> Result<Expr> {
        let array = self.expr(array)?;
        let axis = self.expr(axis)?;
        match crate::infer::constant(&axis) {
            Some(number @ 0..64) => {
                let builtin = if number == 0 { Builtin::Length } else { Builtin::Extent(number as u32) };
                Ok(self.builtin(builtin, "shape", vec![array], span))
            }
            _ => outside(axis.span, "an axis that is no constant from 0 is", ""),
        }
    }
}
