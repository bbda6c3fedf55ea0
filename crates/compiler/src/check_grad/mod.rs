//! Derivatives of a function against finite differences, and against each other.
//!
//! At an argument x, along a tangent dx, seen by a cotangent dt, there is one number that all must agree on: dt . f'(x) dx.

mod random;

use crate::derive;
use crate::error::{Error, ErrorKind};
use crate::interpret::{Interpreter, Options, Value, Width, space};
use crate::ir::{Derivation, FunId, Program, Type, TypeId};
use crate::source::Span;
use crate::stack;
use labrys_search::Seed;
use random::Random;

/// What to check with.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many arguments, or directions at the argument that is given.
    pub samples: u64,
    /// Sizes of random tensors, in each dimension. Random Integers are below it.
    pub size: usize,
    /// Random Floats are between these.
    pub range: (f64, f64),
    /// The seed of all randomness.
    pub seed: Seed,
    /// Bits of numbers.
    pub width: Width,
}

/// The directional derivative at one argument, by each way to compute it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// By five function values along the direction.
    pub differences: f64,
    /// By `[fwd f]`.
    pub forward: f64,
    /// By `[rev f]`.
    pub reverse: f64,
    /// By `[sufrev f]`.
    pub split: f64,
}

impl Sample {
    /// How far the modes are from each other, relative to the derivative where that is above 1.
    pub fn between_modes(&self) -> f64 {
        self.relative((self.reverse - self.forward).abs().max((self.split - self.forward).abs()))
    }

    /// How far finite differences are from forward mode, as [`Sample::between_modes`].
    pub fn from_differences(&self) -> f64 {
        self.relative((self.differences - self.forward).abs())
    }

    /// NaN where anything is not finite: `f64::max` would hide it.
    fn relative(&self, difference: f64) -> f64 {
        let all = self.differences + self.forward + self.reverse + self.split;
        if all.is_finite() { difference / (1.0 + self.forward.abs()) } else { f64::NAN }
    }
}

/// Checks a function at an argument, or at random ones.
///
/// # Errors
/// If it has no derivatives, or fails at an argument.
pub fn check(
    program: &mut Program,
    fun: FunId,
    at: Option<&Value>,
    settings: &Settings,
    span: Span,
) -> Result<Vec<Sample>, Error> {
    let (arg, result) = program.store.signature(fun).unwrap_or((TypeId::UNIT, TypeId::UNIT));
    for (what, ty) in [("argument", arg), ("result", result)] {
        if !has_floats(program, ty) {
            return Err(not_derivable(program, fun, span, &format!("there is no Float in its {what}")));
        }
    }
    derive::complete_function(program, fun, span)?;
    let derived = [Derivation::Fwd, Derivation::Rev, Derivation::SufRev].map(|kind| program.store.derived(kind, fun));
    for derivation in derived {
        derive::complete_function(program, derivation, span)?;
    }
    let sample = |number| {
        let mut random = Random::new(settings, number);
        let x = match at {
            Some(at) => at.clone(),
            None => random.value(&program.store.types, arg).ok_or_else(|| {
                not_derivable(
                    program,
                    fun,
                    span,
                    "its argument holds functions or linear maps, of which there are no random ones",
                )
            })?,
        };
        measure(program, fun, derived, x, &mut random, settings)
    };
    (0..settings.samples).map(sample).collect()
}

/// A random argument of a function and a tangent at it: those of the first sample.
pub fn argument(program: &Program, fun: FunId, settings: &Settings) -> Option<(Value, Value)> {
    let mut random = Random::new(settings, 0);
    let (arg, _) = program.store.signature(fun)?;
    let value = random.value(&program.store.types, arg)?;
    let tangent = random.tangent(&value);
    Some((value, tangent))
}

fn not_derivable(program: &Program, fun: FunId, span: Span, reason: &str) -> Error {
    Error::new(span, ErrorKind::NotDerivable { fun: program.store.show_fun(fun), reason: reason.to_owned() })
}

fn measure(
    program: &Program,
    fun: FunId,
    [fwd, rev, sufrev]: [FunId; 3],
    x: Value,
    random: &mut Random,
    settings: &Settings,
) -> Result<Sample, Error> {
    let options = Options { width: settings.width, ..Options::default() };
    let mut nowhere = std::io::sink();
    let mut interpreter = Interpreter::new(program, options, &mut nowhere);
    let width = settings.width;
    let value = interpreter.call(fun, x.clone())?;
    let (dx, dt) = (random.tangent(&x), random.tangent(&value));
    let located = |result: Result<f64, crate::RunError>| {
        let span = program.def(fun).map_or_else(crate::Sources::nowhere, |def| def.span);
        result.map_err(|error| Error::new(span, error.into()))
    };
    let tangent = interpreter.call(fwd, Value::tuple(vec![x.clone(), dx.clone()]))?;
    let forward = located(width.dot(&dt, &tangent))?;
    let mut backwards = |by| {
        let gradient = interpreter.call(by, Value::tuple(vec![x.clone(), dt.clone()]))?;
        located(width.dot(&gradient, &dx))
    };
    let (reverse, split) = (backwards(rev)?, backwards(sufrev)?);
    let mut along = |distance: f64| {
        let moved = width.sum(&x, &width.scale(distance, &dx));
        let moved = moved.map_err(|error| Error::new(crate::Sources::nowhere(), error.into()))?;
        let value = interpreter.call(fun, moved)?;
        located(width.dot(&dt, &space::tangent_part(&value)))
    };
    let mut by_five = |step: f64| -> Result<f64, Error> {
        let (near, far) = (along(step)? - along(-step)?, along(2.0 * step)? - along(-2.0 * step)?);
        Ok((8.0 * near - far) / (12.0 * step))
    };
    let sample = |differences| Sample { differences, forward, reverse, split };
    let (wide, (_, tolerance)) = (sample(by_five(step(width))?), tolerances(width));
    if wide.from_differences() <= tolerance {
        return Ok(wide);
    }
    // Two points may stand on the two sides of a place that is not smooth: seldom if they are closer.
    let close = sample(by_five(step(width) / CLOSER)?);
    Ok(if close.from_differences() < wide.from_differences() { close } else { wide })
}

/// How much closer points stand when finite differences seem wrong. A derivative that is wrong stays wrong.
const CLOSER: f64 = 64.0;

/// Where the error of five points, step^4 / 30, is about that of rounding, epsilon / step.
fn step(width: Width) -> f64 {
    match width {
        Width::Bits64 => 1e-3,
        Width::Bits32 => 3e-2,
    }
}

/// How far modes, and finite differences, may be off.
pub fn tolerances(width: Width) -> (f64, f64) {
    match width {
        Width::Bits64 => (1e-9, 1e-6),
        Width::Bits32 => (1e-3, 1e-2),
    }
}

fn has_floats(program: &Program, ty: TypeId) -> bool {
    fn search(program: &Program, ty: TypeId, seen: &mut Vec<TypeId>) -> bool {
        if seen.contains(&ty) {
            return false;
        }
        seen.push(ty);
        let types = &program.store.types;
        match types.get(ty) {
            Type::Float => true,
            Type::Tuple(fields) => types.list(fields).iter().any(|field| search(program, *field, seen)),
            Type::Tensor(_, element) => search(program, element, seen),
            Type::Data(data) => {
                stack::grow(|| types.data(data).constructors.iter().any(|(_, held)| search(program, *held, seen)))
            }
            _ => false,
        }
    }
    search(program, ty, &mut vec![])
}
