//! Functions of scalars, at the width that the options say.

use super::math;
use super::value::Value;
use crate::error::RunError;
use crate::ir::Prim;

/// Bits of a `Float` and of an `Integer`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Width {
    /// f64 and i64.
    #[default]
    Bits64,
    /// f32 and i32: every operation rounds and wraps to 32 bits.
    Bits32,
}

impl Width {
    /// The number as this width holds it.
    pub fn float(self, value: f64) -> f64 {
        match self {
            Self::Bits64 => value,
            Self::Bits32 => f64::from(value as f32),
        }
    }

    /// The number as this width holds it: what is too large wraps around.
    pub fn integer(self, value: i64) -> i64 {
        match self {
            Self::Bits64 => value,
            Self::Bits32 => i64::from(value as i32),
        }
    }

    /// A sum in so many lanes, a power of two: see [`Prim::lanes`].
    pub(crate) fn sum_in_lanes(self, terms: &[f64], lanes: usize) -> f64 {
        if terms.is_empty() {
            return 0.0;
        }
        let mut sums = vec![-0.0; lanes];
        let add_all = |sums: &mut [f64], terms: &[f64]| {
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum = self.float(*sum + term));
        };
        terms.chunks(lanes).for_each(|round| add_all(&mut sums, round));
        while sums.len() > 1 {
            let upper = sums.split_off(sums.len() / 2);
            add_all(&mut sums, &upper);
        }
        sums[0]
    }

    /// A function of scalars.
    pub(crate) fn apply(self, prim: Prim, args: &[Value]) -> Result<Value, RunError> {
        Ok(match *args {
            [Value::Float(x)] => Value::Float(self.float(of_float(prim, x))),
            [Value::Integer(i)] => self.of_integer(prim, i),
            [Value::Float(x), Value::Float(y)] => self.of_floats(prim, x, y),
            [Value::Integer(i), Value::Integer(j)] => self.of_integers(prim, i, j)?,
            [Value::Bool(p), Value::Bool(q)] => Value::Bool(if prim == Prim::And { p && q } else { p || q }),
            [Value::Float(x), Value::Integer(n)] => Value::Float(self.float(power(x, n))),
            [Value::Integer(n), Value::Float(x)] => Value::Float(self.float(math::polygamma(n, x))),
            _ => unreachable!("the checker lets no other arguments through"),
        })
    }

    fn of_integer(self, prim: Prim, i: i64) -> Value {
        match prim {
            Prim::Neg => Value::Integer(self.integer(i.wrapping_neg())),
            Prim::ToFloat => Value::Float(self.float(i as f64)),
            _ => Value::Float(self.float(math::ranhash(i))),
        }
    }

    fn of_floats(self, prim: Prim, x: f64, y: f64) -> Value {
        let result = match prim {
            Prim::Gt => return Value::Bool(x > y),
            Prim::Lt => return Value::Bool(x < y),
            Prim::Gte => return Value::Bool(x >= y),
            Prim::Lte => return Value::Bool(x <= y),
            Prim::Add => x + y,
            Prim::Sub => x - y,
            Prim::Mul => x * y,
            Prim::Div => x / y,
            _ => x.powf(y),
        };
        Value::Float(self.float(result))
    }

    fn of_integers(self, prim: Prim, i: i64, j: i64) -> Result<Value, RunError> {
        let result = match prim {
            Prim::Gt => return Ok(Value::Bool(i > j)),
            Prim::Lt => return Ok(Value::Bool(i < j)),
            Prim::Gte => return Ok(Value::Bool(i >= j)),
            Prim::Lte => return Ok(Value::Bool(i <= j)),
            Prim::Add => i.wrapping_add(j),
            Prim::Sub => i.wrapping_sub(j),
            Prim::Mul => i.wrapping_mul(j),
            _ if j == 0 => return Err(RunError::DivisionByZero),
            _ => i.wrapping_div(j),
        };
        Ok(Value::Integer(self.integer(result)))
    }
}

fn of_float(prim: Prim, x: f64) -> f64 {
    match prim {
        Prim::Neg => -x,
        Prim::Abs => x.abs(),
        Prim::Exp => x.exp(),
        Prim::Log => x.ln(),
        Prim::Sin => x.sin(),
        Prim::Cos => x.cos(),
        Prim::Sinh => x.sinh(),
        Prim::Cosh => x.cosh(),
        Prim::Tanh => x.tanh(),
        Prim::Sqrt => x.sqrt(),
        Prim::Erf => libm::erf(x),
        _ => libm::lgamma(x),
    }
}

/// x to a whole number, whatever its size.
fn power(x: f64, n: i64) -> f64 {
    i32::try_from(n).map_or_else(|_| x.powf(n as f64), |n| x.powi(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in words: each lane by its own terms, then halves.
    #[test]
    fn lanes_are_added_as_the_language_says() {
        let terms: Vec<f64> = (0..41).map(|i| (f64::from(i) * 0.7).sin() * 10f64.powi(i % 7)).collect();
        for count in 0..terms.len() {
            let terms = &terms[..count];
            let lane = |k: usize| terms.iter().skip(k).step_by(4).fold(-0.0, |sum, term| sum + term);
            let expected: f64 = (lane(0) + lane(2)) + (lane(1) + lane(3));
            let found = Width::Bits64.sum_in_lanes(terms, 4);
            assert_eq!(found.to_bits(), if count == 0 { 0 } else { expected.to_bits() }, "{count}");
            let (in_order, eight) = (terms.iter().sum::<f64>(), Width::Bits64.sum_in_lanes(terms, 8));
            assert!((found - in_order).abs() < 1e-8 && (eight - in_order).abs() < 1e-8, "{count}");
        }
    }

    #[test]
    fn zeros_keep_their_sign_and_every_step_rounds() {
        assert_eq!(Width::Bits64.sum_in_lanes(&[-0.0; 3], 8).to_bits(), f64::to_bits(-0.0));
        assert_eq!(Width::Bits64.sum_in_lanes(&[0.0; 3], 8).to_bits(), 0);
        assert_eq!(Width::Bits32.sum_in_lanes(&[16_777_216.0, 0.0, 1.0], 4), 16_777_216.0);
    }
}
