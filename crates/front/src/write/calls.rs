//! Calls.

use super::{Local, Writer};
use crate::builtin::Builtin;
use crate::infer::arranged;
use crate::ks::{Ks, call, float, integer, list, word};
use crate::tree::{Call, Expr};
use crate::types::Type;

impl Writer<'_> {
    pub(super) fn call(&mut self, this: &Call, whole: &Expr) -> Ks {
        if let Some(Local::Function(lifted)) = self.local(&this.name).cloned() {
            let args = self.args(this, &lifted.params);
            return call(&lifted.name, args.into_iter().chain(lifted.captured.into_iter().map(|(name, _)| word(name))));
        }
        if let Some(params) = self.types.global(&this.name).map(|signature| signature.params.clone()) {
            let args = self.args(this, &params);
            return call(&self.names.function(&this.name), args);
        }
        if let Some(fields) = self.declared.records.get(&this.name) {
            let params: Vec<_> = fields.iter().map(|(name, ty)| (Some(name.clone()), ty.clone())).collect();
            return call("tuple", self.args(this, &params));
        }
        if let Some((_, fields)) = self.declared.fields(&this.name) {
            let params: Vec<_> = fields.iter().map(|(name, ty)| (Some(name.clone()), ty.clone())).collect();
            let args = self.args(this, &params);
            return call(&self.names.function(&this.name), args);
        }
        match this.builtin {
            Some(builtin @ (Builtin::Grad | Builtin::ValueAndGrad | Builtin::Adam)) => self.derivative(builtin, this),
            Some(builtin) => self.builtin(builtin, this, self.types.of(whole).clone()),
            // Inference has refused it.
            None => call("tuple", []),
        }
    }

    /// The arguments as the parameters have them.
    fn args(&mut self, this: &Call, params: &[(Option<String>, Type)]) -> Vec<Ks> {
        let names: Vec<Option<&str>> = params.iter().map(|(name, _)| name.as_deref()).collect();
        let args = arranged(this, &names).unwrap_or_default();
        args.into_iter().zip(params).map(|(arg, (_, ty))| self.expr_as(arg, ty)).collect()
    }

    fn builtin(&mut self, builtin: Builtin, this: &Call, ty: Type) -> Ks {
        use Builtin as B;
        let types: Vec<Type> = this.args.iter().map(|arg| self.types.of(arg).clone()).collect();
        match (builtin, &this.args[..]) {
            (B::Math("abs"), [x]) if ty == Type::Int => self.of_helper("abs_int", x),
            (B::Math(name), [x]) => self.math(name, x, &ty),
            (B::Neg, [x]) => self.negated(x, &ty),
            (B::Not, [p]) => call("not", [self.expr(p)]),
            (B::Pi, _) => call("pi", []),
            (B::ToFloat, [x]) => self.expr_as(x, &Type::Float),
            (B::Max | B::Min, [x, y]) => self.greater(builtin, x, y, &ty),
            (B::Pow, [x, y]) => call("pow", [self.expr_as(x, &Type::Float), self.expr(y)]),
            (B::Length, [v]) => {
                let value = self.expr(v);
                let rank = if let Type::Array(rank, _) = types[0] { rank } else { 1 };
                self.extent(value, 0, rank)
            }
            (B::Extent(axis), [v]) => {
                let value = self.expr(v);
                let rank = if let Type::Array(rank, _) = types[0] { rank } else { 1 };
                self.extent(value, axis, rank)
            }
            (B::Sum, [v]) => call("sum", [self.expr(v)]),
            (B::Mean, [v]) => self.mean(v, &types[0]),
            (B::Greatest, [v]) => call("max", [self.expr(v)]),
            (B::Smallest, [v]) => self.of_helper("min_of", v),
            (B::ArgMax, [v]) => call("imax", [self.expr(v)]),
            (B::Norm, [v]) => {
                let value = self.expr(v);
                self.with_word(value, "v", |_, v| call("sqrt", [call("ts_dot", [v.clone(), v])]))
            }
            (B::Dot, [a, b]) => {
                let (left, right) = (self.expr(a), self.expr(b));
                self.product(left, right, &types[0], &types[1])
            }
            (B::Outer, [a, b]) => self.of_two("outer", a, b),
            (B::Concat, [a, b]) => self.of_two("concat", a, b),
            (B::Transpose, [m]) => self.of_helper("transpose", m),
            (B::Eye, [n]) => self.of_helper("eye", n),
            (B::Full, [size, value]) => call("constVec", [self.expr(size), self.expr(value)]),
            (B::Zeros, [size]) => call("constVec", [self.expr(size), float(0.0)]),
            (B::Ones, [size]) => call("constVec", [self.expr(size), float(1.0)]),
            (B::ZerosLike, [v]) => call("ts_scale", [float(0.0), self.expr(v)]),
            (B::Arange, [n]) => {
                let (n, counter) = (self.expr(n), self.fresh("i"));
                self.build(vec![counter.clone()], vec![n], word(counter))
            }
            (B::ToArray, [v]) => {
                let rank = if let Type::Array(rank, _) = ty { rank } else { 1 };
                if let Some(grid) = self.grid(v, &ty) {
                    return grid;
                }
                let value = self.expr(v);
                self.stacked(value, &types[0], rank)
            }
            // Inference has refused it.
            _ => call("tuple", []),
        }
    }

    fn of_helper(&mut self, helper: &str, x: &Expr) -> Ks {
        let name = self.helper(helper);
        call(&name, [self.expr(x)])
    }

    fn of_two(&mut self, helper: &str, x: &Expr, y: &Expr) -> Ks {
        let name = self.helper(helper);
        call(&name, [self.expr(x), self.expr(y)])
    }

    /// A function of a float, on a float or on each element.
    fn math(&mut self, name: &str, x: &Expr, ty: &Type) -> Ks {
        let function = if matches!(name, "tan" | "square") { self.helper(name) } else { name.to_owned() };
        let value = self.expr_as(x, ty);
        match ty {
            Type::Array(1, _) if name == "exp" => call("exp", [value]),
            Type::Array(..) => self.mapped(value, |x| call(&function, [x])),
            _ => call(&function, [value]),
        }
    }

    fn negated(&mut self, x: &Expr, ty: &Type) -> Ks {
        let value = self.expr(x);
        match (ty, &value.form) {
            (Type::Array(..), _) => call("ts_neg", [value]),
            (_, crate::ks::Form::Word(text)) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                word(format!("-{text}"))
            }
            _ => call("neg", [value]),
        }
    }

    fn greater(&mut self, builtin: Builtin, x: &Expr, y: &Expr, ty: &Type) -> Ks {
        let name = match (builtin, ty) {
            (Builtin::Max, Type::Int) => self.helper("max_int"),
            (Builtin::Max, _) => "max".to_owned(),
            (_, Type::Int) => self.helper("min_int"),
            _ => self.helper("min"),
        };
        let side = |found: &Type| match found {
            Type::Array(..) => found.clone(),
            _ if matches!(ty, Type::Array(..)) => Type::Float,
            _ => ty.clone(),
        };
        let types = [side(self.types.of(x)), side(self.types.of(y))];
        let (x, y) = (self.expr_as(x, &types[0]), self.expr_as(y, &types[1]));
        match ty {
            Type::Array(..) => self.by_elements(&name, (x, &types[0]), (y, &types[1])),
            _ => call(&name, [x, y]),
        }
    }

    fn mean(&mut self, v: &Expr, ty: &Type) -> Ks {
        let rank = if let Type::Array(rank, _) = ty { *rank } else { 1 };
        if rank == 1 {
            return self.of_helper("mean", v);
        }
        let value = self.expr(v);
        self.with_word(value, "m", |writer, m| {
            let sizes = (0..rank).map(|axis| writer.extent(m.clone(), axis, rank));
            let count = sizes.reduce(|a, b| call("mul", [a, b])).unwrap_or_else(|| integer(1));
            call("div", [call("sum", [m]), call("to_float", [count])])
        })
    }

    /// The size of an array as `build` takes it.
    pub(super) fn size(&mut self, value: Ks) -> Ks {
        list(vec![word("size"), value])
    }
}
