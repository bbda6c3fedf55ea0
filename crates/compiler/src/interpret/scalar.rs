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
