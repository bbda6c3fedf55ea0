//! Arithmetic: of scalars, by elements, and products of matrices.

use super::Writer;
use crate::ks::{Ks, call, list, word};
use crate::tree::{Expr, Operator};
use crate::types::Type;

impl Writer<'_> {
    pub(super) fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr, ty: &Type) -> Ks {
        let (left_type, right_type) = (self.types.of(left).clone(), self.types.of(right).clone());
        let is_product = matches!((&left_type, &right_type), (Type::Array(..), Type::Array(..)));
        let is_matrix_product =
            operator == Operator::MatMul || (operator == Operator::Mul && self.language == crate::Language::FSharp);
        if is_product && is_matrix_product {
            let (left, right) = (self.expr(left), self.expr(right));
            return self.product(left, right, &left_type, &right_type);
        }
        if matches!(ty, Type::Array(..)) {
            let side = |ty: &Type| if matches!(ty, Type::Array(..)) { ty.clone() } else { Type::Float };
            let (left, right) = (self.expr_as(left, &side(&left_type)), self.expr_as(right, &side(&right_type)));
            return self.by_elements(function(operator), (left, &left_type), (right, &right_type));
        }
        match (operator, ty) {
            (Operator::FloorDiv, _) => self.helper_call("floordiv", left, right, ty),
            (Operator::Mod, _) if self.language == crate::Language::Python => self.helper_call("mod", left, right, ty),
            (Operator::Mod, _) => self.helper_call("rem", left, right, ty),
            (Operator::Pow, Type::Int) => self.helper_call("pow_int", left, right, ty),
            // The exponent may be either.
            (Operator::Pow, _) => {
                let parts = [self.expr_as(left, ty), self.expr(right)];
                call("pow", parts)
            }
            _ => {
                let parts = [self.expr_as(left, ty), self.expr_as(right, ty)];
                call(function(operator), parts)
            }
        }
    }

    fn helper_call(&mut self, helper: &str, left: &Expr, right: &Expr, ty: &Type) -> Ks {
        let name = self.helper(helper);
        let parts = [self.expr_as(left, ty), self.expr_as(right, ty)];
        call(&name, parts)
    }

    /// A product of vectors and matrices.
    pub(super) fn product(&mut self, left: Ks, right: Ks, left_type: &Type, right_type: &Type) -> Ks {
        let rank = |ty: &Type| if let Type::Array(rank, _) = ty { *rank } else { 1 };
        match (rank(left_type), rank(right_type)) {
            (1, 1) => call("dot", [left, right]),
            (2, 1) => call("mul", [left, right]),
            (1, _) => call(&self.helper("vecmat"), [left, right]),
            _ => call(&self.helper("matmul"), [left, right]),
        }
    }

    /// A function of two floats on arrays of a size, or on an array and a float.
    pub(super) fn by_elements(&mut self, function: &str, left: (Ks, &Type), right: (Ks, &Type)) -> Ks {
        let ((left, left_type), (right, right_type)) = (left, right);
        let is_vector = |ty: &Type| *ty == Type::floats(1);
        let (on_left, on_right) = (matches!(left_type, Type::Array(..)), matches!(right_type, Type::Array(..)));
        let in_prelude = matches!(function, "mul" | "sub" | "max")
            && (is_vector(left_type) || !on_left)
            && (is_vector(right_type) || !on_right);
        match (on_left, on_right) {
            (true, true) if function == "add" => call("ts_add", [left, right]),
            (true, false) if function == "mul" => call("ts_scale", [right, left]),
            (false, true) if function == "mul" => call("ts_scale", [left, right]),
            _ if in_prelude => call(function, [left, right]),
            (true, true) => {
                let pair = self.fresh("x_y");
                let pair_type = Type::Tuple(vec![Type::Float, Type::Float]);
                let body = call(function, [word(pair.clone())]);
                call("map2", [call("lam", [self.param(&pair, &pair_type), body]), left, right])
            }
            (true, false) => {
                self.with_word(right, "y", |writer, right| writer.mapped(left, |x| call(function, [x, right.clone()])))
            }
            (false, _) => {
                self.with_word(left, "x", |writer, left| writer.mapped(right, |y| call(function, [left.clone(), y])))
            }
        }
    }

    /// A function of a float on each element of an array.
    pub(super) fn mapped(&mut self, array: Ks, made: impl FnOnce(Ks) -> Ks) -> Ks {
        let name = self.fresh("x");
        let body = made(word(name.clone()));
        call("map", [call("lam", [self.param(&name, &Type::Float), body]), array])
    }

    /// `(get$i$n value)`, or the size itself of what has rank 1.
    pub(super) fn extent(&mut self, value: Ks, axis: u32, rank: u32) -> Ks {
        let size = list(vec![word("size"), value]);
        if rank == 1 { size } else { call(&format!("get${}${rank}", axis + 1), [size]) }
    }
}

/// The function of `.ks` for an operator on floats or ints.
fn function(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "add",
        Operator::Sub => "sub",
        Operator::Mul | Operator::MatMul | Operator::PointMul => "mul",
        Operator::Div | Operator::PointDiv | Operator::FloorDiv => "div",
        Operator::Mod => "sub",
        Operator::Pow => "pow",
    }
}
