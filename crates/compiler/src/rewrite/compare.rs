//! Two functions beside each other, by the interpreter on random arguments.

use super::rule::{Mode, Settings};
use crate::error::{ErrorKind, RunError};
use crate::interpret::{Interpreter, Options, Value, Width};
use crate::ir::{DataId, FunId, Program, Type, TypeId, Types};
use crate::stack;
use labrys_search::seed::{Rng, Seed};
use rand::RngExt as _;

/// Deepest values of sum types, in constructors.
const DEEPEST: usize = 4;
/// Floats that rules most often forget.
const SPECIAL: [f64; 8] = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-310];
/// Digits that tell every Float from every other.
const DIGITS: usize = 17;
/// How far results may be from each other where rounding may differ, relative to those above 1.
const TOLERANCE: f64 = 1e-6;
/// What takes more steps of evaluation is not compared: about a tenth of a second.
const MOST_STEPS: u64 = 1_000_000;

/// What calling a function did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The result, or what went wrong.
    pub result: Result<Value, ErrorKind>,
    /// What was printed.
    pub output: Vec<u8>,
}

/// Calls a function.
pub fn outcome(program: &Program, fun: FunId, arg: &Value, width: Width) -> Outcome {
    let mut output = vec![];
    // What does not end is a failure soon.
    let options =
        Options { width, most_open_calls: 1000, most_tail_calls: 100_000, most_steps: MOST_STEPS, digits: DIGITS };
    let result = Interpreter::new(program, options, &mut output).call(fun, arg.clone());
    Outcome { result: result.map_err(|error| error.kind), output }
}

/// How two outcomes compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// As the mode demands.
    Same,
    /// Nothing can be said: the mode allows the difference, such as an infinity in the place of a large number, or one of them takes
    /// too long.
    Unknown,
    /// Not as the mode demands.
    Different,
}

impl Outcome {
    fn is_unfinished(&self) -> bool {
        matches!(self.result, Err(ErrorKind::Run(RunError::TooManySteps(_))))
    }

    /// Whether the outcome of an optimised function is one that the mode allows in the place of this one.
    pub fn compare(&self, other: &Self, mode: Mode) -> Verdict {
        if self.is_unfinished() || other.is_unfinished() {
            return Verdict::Unknown;
        }
        let is_same = match (&self.result, &other.result) {
            (Ok(a), Ok(b)) if mode == Mode::Strict => Some(is_identical(a, b)),
            (Ok(a), Ok(b)) => is_close(a, b),
            (Err(a), Err(b)) => Some(a == b || mode == Mode::Fast),
            (Err(_), Ok(_)) if mode == Mode::Fast => None,
            _ => Some(false),
        };
        match is_same {
            Some(true) if self.output == other.output || mode != Mode::Strict => Verdict::Same,
            Some(_) => Verdict::Different,
            None => Verdict::Unknown,
        }
    }
}

/// A call before and after.
pub struct Compared {
    /// For what.
    pub argument: Value,
    /// What the one function did.
    pub before: Outcome,
    /// What the other one did.
    pub after: Outcome,
    /// How they compare.
    pub verdict: Verdict,
}

/// Calls a function of two programs on so many random arguments: none if there are functions in them, one if it takes nothing, and no
/// more after one that takes too long.
pub fn calls<'p>(
    (before, after): (&'p Program, &'p Program),
    fun: FunId,
    settings: Settings,
    (samples, seed): (u64, Seed),
) -> impl Iterator<Item = Compared> + 'p {
    let ty = before.store.signature(fun).map(|(arg, _)| arg);
    let samples = if ty == Some(TypeId::UNIT) { samples.min(1) } else { samples };
    let mut arguments = Arguments::new(seed, settings.width);
    let mut is_unfinished = false;
    (0..samples).map_while(move |number| {
        arguments.are_wild = number % 2 == 1;
        let argument = arguments.value(&before.store.types, ty?).filter(|_| !is_unfinished)?;
        let [before, after] = [before, after].map(|program| outcome(program, fun, &argument, settings.width));
        is_unfinished = before.is_unfinished() || after.is_unfinished();
        let verdict = before.compare(&after, settings.mode);
        Some(Compared { argument, before, after, verdict })
    })
}

/// Whether two values are the same bit for bit.
pub fn is_identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_identical(a, b))
        }
        (Value::Tensor(a), Value::Tensor(b)) => {
            a.size == b.size && a.elements.iter().zip(&b.elements).all(|(a, b)| is_identical(a, b))
        }
        (Value::Data(m, a), Value::Data(n, b)) => m == n && stack::grow(|| is_identical(a, b)),
        // What maps are made of is not seen; what they do is.
        (Value::Linear(_), Value::Linear(_)) => true,
        _ => a == b,
    }
}

/// Whether two values are the same but for rounding; None where that cannot be told.
fn is_close(a: &Value, b: &Value) -> Option<bool> {
    let all = |a: &[Value], b: &[Value]| {
        let parts: Vec<Option<bool>> = a.iter().zip(b).map(|(a, b)| is_close(a, b)).collect();
        if parts.contains(&Some(false)) {
            Some(false)
        } else {
            parts.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
        }
    };
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => {
            (a.is_finite() && b.is_finite()).then(|| (a - b).abs() <= TOLERANCE * (1.0 + a.abs().max(b.abs())))
        }
        (Value::Tuple(a), Value::Tuple(b)) => all(a, b),
        (Value::Tensor(a), Value::Tensor(b)) if a.size == b.size => all(&a.elements, &b.elements),
        (Value::Data(m, a), Value::Data(n, b)) if m == n => stack::grow(|| is_close(a, b)),
        (Value::Linear(_), Value::Linear(_)) => None,
        _ => Some(a == b),
    }
}

/// Random arguments: as many that programs expect as such that they do not.
pub struct Arguments {
    rng: Rng,
    width: Width,
    /// Whether NaN, infinities, empty tensors and tensors of different sizes are among them.
    pub are_wild: bool,
}

impl Arguments {
    /// A source of arguments.
    pub fn new(seed: Seed, width: Width) -> Self {
        Self { rng: seed.stream("rewrite-arguments", 0), width, are_wild: true }
    }

    /// A value of a type; none if there are functions or linear maps in it.
    pub fn value(&mut self, types: &Types, ty: TypeId) -> Option<Value> {
        let size = if self.are_wild { self.rng.random_range(0..4) } else { 3 };
        self.value_below(types, ty, size, DEEPEST)
    }

    fn value_below(&mut self, types: &Types, ty: TypeId, size: usize, depth: usize) -> Option<Value> {
        Some(match types.get(ty) {
            Type::Float => Value::Float(self.float()),
            Type::Integer => Value::Integer(self.rng.random_range(if self.are_wild { -1..5 } else { 0..3 })),
            Type::Bool => Value::Bool(self.rng.random()),
            Type::String => Value::String("text".into()),
            Type::Tuple(fields) => {
                let fields = types.list(fields).iter().map(|field| self.value_below(types, *field, size, depth));
                Value::tuple(fields.collect::<Option<_>>()?)
            }
            Type::Tensor(rank, element) => {
                let size =
                    if self.are_wild && self.rng.random_range(0..8) == 0 { self.rng.random_range(0..4) } else { size };
                let sizes = vec![size; rank as usize];
                let elements = (0..sizes.iter().product()).map(|_| self.value_below(types, element, size, depth));
                Value::tensor(sizes, elements.collect::<Option<_>>()?)
            }
            Type::Data(data) => self.data(types, data, size, depth)?,
            Type::Any | Type::Lam(..) | Type::LinearMap(..) => return None,
        })
    }

    /// A random constructor, or the first that holds no sum type where the value is deep.
    fn data(&mut self, types: &Types, data: DataId, size: usize, depth: usize) -> Option<Value> {
        let constructors = &types.data(data).constructors;
        let is_flat =
            |ty: TypeId| types.fields(ty).unwrap_or(&[ty]).iter().all(|ty| !matches!(types.get(*ty), Type::Data(_)));
        let chosen = match depth {
            0 => constructors.iter().position(|(_, holds)| is_flat(*holds))?,
            _ => self.rng.random_range(0..constructors.len()),
        };
        let held = self.value_below(types, constructors[chosen].1, size, depth.saturating_sub(1))?;
        Some(Value::data(chosen as u32, held))
    }

    fn float(&mut self) -> f64 {
        let value = match self.rng.random_range(0..4) {
            0 if self.are_wild => SPECIAL[self.rng.random_range(0..SPECIAL.len())],
            _ => 4.0 * self.rng.random::<f64>() - 2.0,
        };
        self.width.float(value)
    }
}
