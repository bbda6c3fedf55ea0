//! Calls: what the names of Python, numpy and labrys stand for.

use super::Reader;
use crate::builtin::{Builtin, math};
use crate::error::{Result, outside};
use crate::tree::{Call, Collect, Expr, Kind, Operator, Sequence};
use labrys_compiler::Span;
use ruff_python_ast as py;

/// What a function of Python or a library is.
fn builtin(path: &str) -> Option<Builtin> {
    let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
    let found = match (module, name) {
        ("math", "pow") | ("numpy", "power") | ("", "pow") => Builtin::Pow,
        ("math", "fabs") => Builtin::Math("abs"),
        ("math" | "numpy" | "", "abs") => Builtin::Math("abs"),
        ("", "max") | ("numpy", "maximum") => Builtin::Max,
        ("", "min") | ("numpy", "minimum") => Builtin::Min,
        ("", "len") => Builtin::Length,
        ("", "float") => Builtin::ToFloat,
        ("", "sum") | ("numpy" | "math", "sum" | "fsum") => Builtin::Sum,
        ("numpy", "mean") => Builtin::Mean,
        ("numpy", "max") => Builtin::Greatest,
        ("numpy", "min") => Builtin::Smallest,
        ("numpy", "argmax") => Builtin::ArgMax,
        ("numpy", "dot") => Builtin::Dot,
        ("numpy", "outer") => Builtin::Outer,
        ("numpy", "transpose") => Builtin::Transpose,
        ("numpy", "zeros") => Builtin::Zeros,
        ("numpy", "ones") => Builtin::Ones,
        ("numpy", "full") => Builtin::Full,
        ("numpy", "zeros_like") => Builtin::ZerosLike,
        ("numpy", "arange") => Builtin::Arange,
        ("numpy", "array" | "asarray") => Builtin::ToArray,
        ("numpy", "eye") => Builtin::Eye,
        ("numpy.linalg", "norm") => Builtin::Norm,
        ("labrys", "grad") => Builtin::Grad,
        ("labrys", "value_and_grad") => Builtin::ValueAndGrad,
        ("labrys", "adam") => Builtin::Adam,
        ("math" | "numpy", name) => return math(name),
        _ => return None,
    };
    Some(found)
}

/// Methods of arrays.
fn method(name: &str) -> Option<Builtin> {
    Some(match name {
        "sum" => Builtin::Sum,
        "mean" => Builtin::Mean,
        "max" => Builtin::Greatest,
        "min" => Builtin::Smallest,
        "argmax" => Builtin::ArgMax,
        "dot" => Builtin::Dot,
        "transpose" => Builtin::Transpose,
        _ => return None,
    })
}

impl Reader<'_> {
    pub(super) fn call(&mut self, call: &py::ExprCall, span: Span) -> Result<Expr> {
        let (args, at) = (&call.arguments.args, self.span(&*call.func));
        if let Some(star) = call.arguments.keywords.iter().find(|keyword| keyword.arg.is_none()) {
            return outside(self.span(star), "** in calls is", "name each argument");
        }
        // grad(f)(x)
        if let py::Expr::Call(inner) = &*call.func {
            return self.curried(inner, call, span);
        }
        let Some(path) = self.path(&call.func) else { return self.method(call, span) };
        let is_own = self.is_own(&path);
        match (path.as_str(), &args[..]) {
            _ if is_own => {}
            ("print", _) => return self.print(call, span),
            ("sum" | "numpy.sum" | "math.fsum", [py::Expr::Generator(of)]) => {
                return self.comprehension(Collect::Sum, &of.elt, &of.generators, span);
            }
            ("sum" | "numpy.sum" | "math.fsum", [py::Expr::ListComp(of)]) => {
                return self.comprehension(Collect::Sum, &of.elt, &of.generators, span);
            }
            ("list" | "tuple", [py::Expr::Generator(of)]) => {
                return self.comprehension(Collect::Sequence(Sequence::List), &of.elt, &of.generators, span);
            }
            ("numpy.matmul", [left, right]) => {
                let (left, right) = (Box::new(self.expr(left)?), Box::new(self.expr(right)?));
                return Ok(self.make(span, Kind::Binary(Operator::MatMul, left, right)));
            }
            ("max" | "min", args) if args.len() != 2 => return self.of_many(&path, args, at, span),
            (
                "numpy.concatenate",
                [py::Expr::List(py::ExprList { elts, .. }) | py::Expr::Tuple(py::ExprTuple { elts, .. })],
            ) => {
                return self.concatenated(elts, span);
            }
            ("numpy.array" | "numpy.asarray", [py::Expr::List(list)]) if !list.elts.iter().any(is_sequence) => {
                let elements = self.exprs(&list.elts)?;
                return Ok(self.make(span, Kind::Elements(Sequence::Array, elements)));
            }
            ("numpy.array" | "numpy.asarray", [py::Expr::ListComp(of)]) if !is_sequence(&of.elt) => {
                return self.comprehension(Collect::Sequence(Sequence::Array), &of.elt, &of.generators, span);
            }
            ("range" | "zip" | "enumerate", _) => {
                return outside(span, format!("{path} outside a loop is"), format!("write [i for i in {path}(...)]"));
            }
            ("isinstance", _) => return outside(span, "isinstance is", "write match and case"),
            ("int" | "round" | "math.floor" | "math.ceil", _) => {
                return outside(span, "making an int of a float is", "keep an int beside it");
            }
            _ => {}
        }
        let found = if is_own { None } else { builtin(&path) };
        if found.is_none() && path.contains('.') {
            return outside(at, format!("'{path}' is"), "docs/front-ends.md lists the functions that are known");
        }
        self.plain(call, path, found, at, span)
    }

    /// Whether a name is one of a class or a variable, so that it is no function of Python.
    fn is_own(&self, path: &str) -> bool {
        self.fields.contains_key(path) || self.defined.iter().any(|name| name == path)
    }

    fn plain(
        &mut self,
        call: &py::ExprCall,
        name: String,
        builtin: Option<Builtin>,
        at: Span,
        span: Span,
    ) -> Result<Expr> {
        let args = self.exprs(&call.arguments.args)?;
        let mut named = vec![];
        for keyword in &call.arguments.keywords {
            if let Some(name) = &keyword.arg {
                named.push((name.id.to_string(), self.span(name), self.expr(&keyword.value)?));
            }
        }
        Ok(self.make(span, Kind::Call(Call { name, at, builtin, args, named })))
    }

    fn method(&mut self, call: &py::ExprCall, span: Span) -> Result<Expr> {
        let at = self.span(&*call.func);
        let py::Expr::Attribute(attribute) = &*call.func else {
            return outside(at, "calling a value is", "only functions that are defined can be called");
        };
        let name = attribute.attr.id.as_str();
        let Some(builtin) = method(name).filter(|_| call.arguments.keywords.is_empty()) else {
            return outside(at, format!("the method '{name}' is"), "write a function, or one of numpy");
        };
        let mut args = vec![self.expr(&attribute.value)?];
        args.extend(self.exprs(&call.arguments.args)?);
        Ok(self.builtin(builtin, name, args, span))
    }

    /// `grad(f)(x)` is `grad(f, x)`.
    fn curried(&mut self, inner: &py::ExprCall, outer: &py::ExprCall, span: Span) -> Result<Expr> {
        let path = self.path(&inner.func).unwrap_or_default();
        let (at, builtin) = (self.span(&*inner.func), builtin(&path));
        let is_gradient = matches!(builtin, Some(Builtin::Grad | Builtin::ValueAndGrad));
        if !is_gradient || inner.arguments.args.len() != 1 || !inner.arguments.keywords.is_empty() {
            return outside(at, "calling what a call gives is", "only grad(f)(x) and value_and_grad(f)(x)");
        }
        if let Some(keyword) = outer.arguments.keywords.first() {
            return outside(self.span(keyword), "arguments by name are, here,", "give them by their order");
        }
        let mut args = vec![self.expr(&inner.arguments.args[0])?];
        args.extend(self.exprs(&outer.arguments.args)?);
        let call = Call { name: path, at, builtin, args, named: vec![] };
        Ok(self.make(span, Kind::Call(call)))
    }

    /// `max(v)`, `max(a, b, c)`
    fn of_many(&mut self, path: &str, args: &[py::Expr], at: Span, span: Span) -> Result<Expr> {
        let (two, all) = match path {
            "max" => (Builtin::Max, Builtin::Greatest),
            _ => (Builtin::Min, Builtin::Smallest),
        };
        let mut args = self.exprs(args)?.into_iter();
        let Some(first) = args.next() else { return outside(at, format!("'{path}' of nothing is"), "") };
        if args.len() == 0 {
            return Ok(self.builtin(all, path, vec![first], span));
        }
        Ok(args.fold(first, |value, arg| self.builtin(two, path, vec![value, arg], span)))
    }

    fn concatenated(&mut self, parts: &[py::Expr], span: Span) -> Result<Expr> {
        let mut parts = self.exprs(parts)?.into_iter();
        let Some(first) = parts.next() else { return outside(span, "concatenating nothing is", "") };
        Ok(parts.fold(first, |all, part| self.builtin(Builtin::Concat, "concatenate", vec![all, part], span)))
    }

    /// `print(a, b, sep=" ", end="\n")`
    fn print(&mut self, call: &py::ExprCall, span: Span) -> Result<Expr> {
        let (mut sep, mut end) = (" ".to_owned(), "\n".to_owned());
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("", |name| name.id.as_str());
            match (name, &keyword.value) {
                ("sep", py::Expr::StringLiteral(text)) => text.value.to_str().clone_into(&mut sep),
                ("end", py::Expr::StringLiteral(text)) => text.value.to_str().clone_into(&mut end),
                _ => {
                    return outside(
                        self.span(keyword),
                        format!("the argument '{name}' is"),
                        "there are sep and end, constants",
                    );
                }
            }
        }
        let mut parts = vec![];
        for (number, arg) in call.arguments.args.iter().enumerate() {
            if number > 0 {
                parts.push(self.make(span, Kind::Text(sep.clone())));
            }
            match arg {
                py::Expr::FString(text) => self.formatted(text, &mut parts)?,
                _ => parts.push(self.expr(arg)?),
            }
        }
        parts.push(self.make(span, Kind::Text(end)));
        Ok(self.make(span, Kind::Print(merged(parts))))
    }

    /// The texts and the values of an f-string.
    fn formatted(&mut self, text: &py::ExprFString, parts: &mut Vec<Expr>) -> Result<()> {
        for part in text.value.iter() {
            let py::FStringPart::FString(part) = part else {
                if let py::FStringPart::Literal(literal) = part {
                    let span = self.span(literal);
                    parts.push(self.make(span, Kind::Text(literal.value.to_string())));
                }
                continue;
            };
            for element in &part.elements {
                match element {
                    py::InterpolatedStringElement::Literal(literal) => {
                        let span = self.span(literal);
                        parts.push(self.make(span, Kind::Text(literal.value.to_string())));
                    }
                    py::InterpolatedStringElement::Interpolation(value) => {
                        if value.format_spec.is_some()
                            || value.debug_text.is_some()
                            || value.conversion != py::ConversionFlag::None
                        {
                            let hint = "floats are printed with 6 significant digits";
                            return outside(self.span(value), "formats of values are", hint);
                        }
                        parts.push(self.expr(&value.expression)?);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Texts side by side become one.
fn merged(parts: Vec<Expr>) -> Vec<Expr> {
    let mut all: Vec<Expr> = vec![];
    for part in parts {
        match (&mut all.last_mut().map(|last| &mut last.kind), &part.kind) {
            (Some(Kind::Text(text)), Kind::Text(more)) => text.push_str(more),
            (_, Kind::Text(text)) if text.is_empty() => {}
            _ => all.push(part),
        }
    }
    all
}

/// Whether an expression is a list of its own.
fn is_sequence(expr: &py::Expr) -> bool {
    matches!(expr, py::Expr::List(_) | py::Expr::ListComp(_) | py::Expr::Tuple(_))
}
