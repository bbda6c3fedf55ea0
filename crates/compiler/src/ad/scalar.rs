//! Derivatives of the functions of scalars.

use crate::ir::{ExprId, Prim, Store, TypeId};

/// The derivative of a function by one of its arguments.
#[derive(Clone, Copy)]
pub(super) enum Partial {
    /// It does not depend on it, or the argument is an Integer.
    Zero,
    One,
    MinusOne,
    Times(ExprId),
}

impl Partial {
    /// The product with a tangent or cotangent.
    pub(super) fn apply(self, store: &mut Store, dx: ExprId) -> Option<ExprId> {
        match self {
            Self::Zero => None,
            Self::One => Some(dx),
            Self::MinusOne => Some(store.prim(Prim::Neg, &[dx])),
            Self::Times(factor) => Some(store.prim(Prim::Mul, &[factor, dx])),
        }
    }
}

/// The derivative by each argument, at these arguments with this result.
pub(super) fn partials(store: &mut Store, prim: Prim, args: &[ExprId], result: ExprId) -> Vec<Partial> {
    if store.ty(result) != TypeId::FLOAT {
        return vec![Partial::Zero; args.len()];
    }
    match (prim, args) {
        (Prim::Neg, _) => vec![Partial::MinusOne],
        (Prim::Add, _) => vec![Partial::One; 2],
        (Prim::Sub, _) => vec![Partial::One, Partial::MinusOne],
        (Prim::Mul, &[x, y]) => vec![Partial::Times(y), Partial::Times(x)],
        (Prim::Div, &[_, y]) => {
            let one = store.float(1.0);
            let ratio = store.prim(Prim::Div, &[result, y]);
            vec![Partial::Times(store.prim(Prim::Div, &[one, y])), Partial::Times(store.prim(Prim::Neg, &[ratio]))]
        }
        (Prim::Pow, &[x, n]) => power(store, x, n, result),
        (Prim::Polygamma, &[n, x]) => {
            let one = store.integer(1);
            let next = store.prim(Prim::Add, &[n, one]);
            vec![Partial::Zero, Partial::Times(store.prim(Prim::Polygamma, &[next, x]))]
        }
        (_, &[x]) => vec![unary(store, prim, x, result)],
        _ => vec![Partial::Zero; args.len()],
    }
}

fn unary(store: &mut Store, prim: Prim, x: ExprId, result: ExprId) -> Partial {
    let one = store.float(1.0);
    Partial::Times(match prim {
        Prim::Exp => result,
        Prim::Log => store.prim(Prim::Div, &[one, x]),
        Prim::Sin => store.prim(Prim::Cos, &[x]),
        Prim::Cos => {
            let sin = store.prim(Prim::Sin, &[x]);
            store.prim(Prim::Neg, &[sin])
        }
        Prim::Sinh => store.prim(Prim::Cosh, &[x]),
        Prim::Cosh => store.prim(Prim::Sinh, &[x]),
        Prim::Tanh => {
            let square = store.prim(Prim::Mul, &[result, result]);
            store.prim(Prim::Sub, &[one, square])
        }
        Prim::Sqrt => {
            let half = store.float(0.5);
            store.prim(Prim::Div, &[half, result])
        }
        Prim::Erf => gauss(store, x),
        Prim::Lgamma => {
            let order = store.integer(0);
            store.prim(Prim::Polygamma, &[order, x])
        }
        Prim::Abs => sign(store, x),
        _ => return Partial::Zero,
    })
}

/// The derivative of erf: 2/sqrt(pi) exp(-x^2)
fn gauss(store: &mut Store, x: ExprId) -> ExprId {
    let square = store.prim(Prim::Mul, &[x, x]);
    let minus = store.prim(Prim::Neg, &[square]);
    let bell = store.prim(Prim::Exp, &[minus]);
    let height = store.float(std::f64::consts::FRAC_2_SQRT_PI);
    store.prim(Prim::Mul, &[height, bell])
}

/// 1, -1, or 0 at 0.
fn sign(store: &mut Store, x: ExprId) -> ExprId {
    let (zero, one, minus) = (store.float(0.0), store.float(1.0), store.float(-1.0));
    let (above, below) = (store.prim(Prim::Gt, &[x, zero]), store.prim(Prim::Lt, &[x, zero]));
    let otherwise = store.if_(below, minus, zero);
    store.if_(above, one, otherwise)
}

/// Of x to the n: n x^(n-1), and x^n log x if n is a Float. 0^0 and its like are constant in x; 0 to a positive power is constant
/// in the exponent, where log 0 would make a NaN.
fn power(store: &mut Store, x: ExprId, n: ExprId, result: ExprId) -> Vec<Partial> {
    let is_integer = store.ty(n) == TypeId::INTEGER;
    let (zero, one) =
        if is_integer { (store.integer(0), store.integer(1)) } else { (store.float(0.0), store.float(1.0)) };
    let factor = if is_integer { store.prim(Prim::ToFloat, &[n]) } else { n };
    let lower = store.prim(Prim::Sub, &[n, one]);
    let lower = store.prim(Prim::Pow, &[x, lower]);
    let slope = store.prim(Prim::Mul, &[factor, lower]);
    let is_constant = store.prim(Prim::Eq, &[n, zero]);
    let flat = store.float(0.0);
    let by_base = Partial::Times(store.if_(is_constant, flat, slope));
    if is_integer {
        return vec![by_base, Partial::Zero];
    }
    let is_zero = store.prim(Prim::Eq, &[x, flat]);
    let log = store.prim(Prim::Log, &[x]);
    let growth = store.prim(Prim::Mul, &[result, log]);
    vec![by_base, Partial::Times(store.if_(is_zero, flat, growth))]
}
