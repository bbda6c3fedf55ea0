//! The interpreter: what a program means. Slow and obvious; everything else is checked against it.
//!
//! Arguments are evaluated left to right, before the call. Deep recursion grows the stack; recursion without end is an error.

mod accumulate;
mod linear;
pub mod math;
mod scalar;
pub(crate) mod space;
mod tensor;
pub mod value;

pub use scalar::Width;
pub use value::{Linear, Tensor, Value};

use crate::error::{Error, RunError};
use crate::ir::{Body, ExprId, FunId, Node, Prim, Program, VarId};
use crate::source::{Sources, Span};
use crate::stack;
use rustc_hash::FxHashMap;
use std::io::Write;
use std::rc::Rc;

type Result<T> = std::result::Result<T, Error>;

/// How a program runs.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bits of numbers.
    pub width: Width,
    /// Most calls that may be open at a time.
    pub most_open_calls: usize,
    /// Most calls in a row that are the last step of the one before.
    pub most_tail_calls: u64,
    /// Most expressions that are evaluated.
    pub most_steps: u64,
    /// Significant digits that `print` writes of a Float.
    pub digits: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: Width::default(),
            most_open_calls: 100_000,
            most_tail_calls: 20_000_000,
            most_steps: u64::MAX,
            digits: value::DIGITS,
        }
    }
}

/// Runs a program.
pub struct Interpreter<'a> {
    program: &'a Program,
    options: Options,
    output: &'a mut dyn Write,
    functions: FxHashMap<FunId, Rc<Function>>,
    open_calls: usize,
    steps: u64,
}

/// A function, with a slot for each of its variables.
struct Function {
    param: u32,
    body: ExprId,
    slots: Slots,
}

/// Where the variables of an expression are.
struct Slots {
    /// The slot of each variable, from the variable with the lowest number.
    slot: Vec<u32>,
    first: usize,
    count: usize,
    /// Whether a binder may stand below another of the same variable, so that the outer value must come back after the inner one.
    may_shadow: bool,
}

impl Slots {
    fn of(program: &Program, root: ExprId, param: Option<VarId>) -> Self {
        let parts = program.store.post_order(root);
        let mut vars: Vec<VarId> = parts.iter().filter_map(|part| program.store.bound_by(*part)).chain(param).collect();
        let binders = vars.len();
        vars.sort_unstable();
        vars.dedup();
        let first = vars.first().map_or(0, |var| var.index());
        let mut slot = vec![0; vars.last().map_or(0, |var| var.index() + 1 - first)];
        for (number, var) in (0..).zip(&vars) {
            slot[var.index() - first] = number;
        }
        Self { slot, first, count: vars.len(), may_shadow: vars.len() < binders }
    }

    fn get(&self, var: VarId) -> usize {
        self.slot[var.index() - self.first] as usize
    }
}

/// The variables of a running function.
struct Frame {
    function: Rc<Function>,
    values: Vec<Value>,
    /// Values to put back, where variables may be bound twice.
    shadowed: Vec<(usize, Value)>,
}

impl Frame {
    fn new(function: Rc<Function>, arg: Value) -> Self {
        let mut values = vec![Value::Integer(0); function.slots.count];
        if let Some(param) = values.get_mut(function.param as usize) {
            *param = arg;
        }
        Self { function, values, shadowed: vec![] }
    }

    fn set(&mut self, var: VarId, value: Value) {
        let slot = self.function.slots.get(var);
        let old = std::mem::replace(&mut self.values[slot], value);
        if self.function.slots.may_shadow {
            self.shadowed.push((slot, old));
        }
    }

    /// Puts back what was shadowed since `mark`, the length of `shadowed` then.
    fn restore(&mut self, mark: usize) {
        for (slot, old) in self.shadowed.drain(mark..).rev() {
            self.values[slot] = old;
        }
    }

    fn place(&mut self, var: VarId) -> &mut Value {
        let slot = self.function.slots.get(var);
        &mut self.values[slot]
    }

    fn get(&self, var: VarId) -> Value {
        self.values[self.function.slots.get(var)].clone()
    }
}

/// What is left to do after a step.
enum Step {
    Done(Value),
    /// The value is that of this expression.
    Next(ExprId),
    /// The value is that of a call, which stands at this expression.
    Call(FunId, Value, ExprId),
}

impl<'a> Interpreter<'a> {
    /// An interpreter that writes what the program prints to `output`.
    pub fn new(program: &'a Program, options: Options, output: &'a mut dyn Write) -> Self {
        Self { program, options, output, functions: FxHashMap::default(), open_calls: 0, steps: 0 }
    }

    /// Runs `main`.
    ///
    /// # Errors
    /// What happened, with its place.
    pub fn run_main(&mut self) -> Result<i64> {
        let Some(main) = self.program.main() else {
            return Err(Error::new(Sources::nowhere(), RunError::NoMain.into()));
        };
        match self.call(main, Value::unit())? {
            Value::Integer(code) => Ok(code),
            _ => Ok(0),
        }
    }

    /// Calls a function.
    ///
    /// # Errors
    /// What happened, with its place.
    pub fn call(&mut self, fun: FunId, arg: Value) -> Result<Value> {
        if let Some(map) = self.linear_map(fun, &arg) {
            return Ok(map);
        }
        let span = self.program.def(fun).map_or_else(Sources::nowhere, |def| def.span);
        self.open_call(fun, arg, span)
    }

    /// Evaluates an expression without free variables.
    ///
    /// # Errors
    /// What happened, with its place.
    pub fn evaluate(&mut self, expr: ExprId) -> Result<Value> {
        let slots = Slots::of(self.program, expr, None);
        let function = Rc::new(Function { param: 0, body: expr, slots });
        let mut frame = Frame::new(function, Value::unit());
        self.eval(expr, &mut frame)
    }

    fn fail<T>(&self, at: ExprId, frame: &Frame, error: RunError) -> Result<T> {
        Err(Error::new(self.place(at, frame), error.into()))
    }

    /// Where an expression stands, or else the function that it is in.
    fn place(&self, at: ExprId, frame: &Frame) -> Span {
        let origin = self.program.store.origin(at).or_else(|| self.program.store.origin(frame.function.body));
        origin.unwrap_or_else(Sources::nowhere)
    }

    fn function(&mut self, fun: FunId, span: Span) -> Result<Rc<Function>> {
        if let Some(function) = self.functions.get(&fun) {
            return Ok(function.clone());
        }
        let name = || self.program.store.show_fun(fun);
        let (param, body) = match self.program.def(fun).map(|def| def.body) {
            Some(Body::Expr(param, body)) => (param, body),
            Some(Body::External) => return Err(Error::new(span, RunError::External(name()).into())),
            Some(Body::LinearMap { .. }) | None => return Err(Error::new(span, RunError::Undefined(name()).into())),
        };
        let slots = Slots::of(self.program, body, Some(param));
        let function = Rc::new(Function { param: slots.get(param) as u32, body, slots });
        self.functions.insert(fun, function.clone());
        Ok(function)
    }

    /// The value of `[D f]` at an argument.
    fn linear_map(&self, fun: FunId, at: &Value) -> Option<Value> {
        match self.program.def(fun)?.body {
            Body::LinearMap { forward, reverse } => {
                Some(Value::Linear(Rc::new(Linear::Derivative { forward, reverse, at: at.clone() })))
            }
            _ => None,
        }
    }

    fn open_call(&mut self, fun: FunId, arg: Value, span: Span) -> Result<Value> {
        if self.open_calls >= self.options.most_open_calls {
            return Err(Error::new(span, RunError::TooDeep(self.options.most_open_calls).into()));
        }
        let frame = Frame::new(self.function(fun, span)?, arg);
        self.open_calls += 1;
        let result = stack::grow(|| self.run(frame));
        self.open_calls -= 1;
        result
    }

    /// Evaluates the body of a function. Calls that are its last step take its place.
    fn run(&mut self, mut frame: Frame) -> Result<Value> {
        let (mut expr, mut tail_calls) = (frame.function.body, 0u64);
        loop {
            match self.step(expr, &mut frame)? {
                Step::Done(value) => return Ok(value),
                Step::Next(next) => expr = next,
                Step::Call(fun, arg, at) => {
                    tail_calls += 1;
                    if tail_calls > self.options.most_tail_calls {
                        return self.fail(at, &frame, RunError::TooLong(self.options.most_tail_calls));
                    }
                    let span = self.place(at, &frame);
                    frame = Frame::new(self.function(fun, span)?, arg);
                    expr = frame.function.body;
                }
            }
        }
    }

    fn eval(&mut self, expr: ExprId, frame: &mut Frame) -> Result<Value> {
        let mark = frame.shadowed.len();
        let value = stack::grow(|| self.eval_here(expr, frame));
        frame.restore(mark);
        value
    }

    fn eval_here(&mut self, mut expr: ExprId, frame: &mut Frame) -> Result<Value> {
        loop {
            match self.step(expr, frame)? {
                Step::Done(value) => return Ok(value),
                Step::Next(next) => expr = next,
                Step::Call(fun, arg, at) => {
                    let span = self.place(at, frame);
                    return self.open_call(fun, arg, span);
                }
            }
        }
    }

    fn step(&mut self, expr: ExprId, frame: &mut Frame) -> Result<Step> {
        self.steps += 1;
        if self.steps > self.options.most_steps {
            return self.fail(expr, frame, RunError::TooManySteps(self.options.most_steps));
        }
        let store = &self.program.store;
        Ok(Step::Done(match store.node(expr) {
            Node::Integer(value) => Value::Integer(self.options.width.integer(value)),
            Node::Float(value) => Value::Float(self.options.width.float(value.get())),
            Node::Bool(value) => Value::Bool(value),
            Node::String(text) => Value::String(store.text(text).into()),
            Node::Var(var) => frame.get(var),
            Node::Tuple(fields) => Value::tuple(self.eval_all(store.list(fields), frame)?),
            Node::Get(field, tuple) => self.eval(tuple, frame)?.fields()[field as usize].clone(),
            Node::Let(var, value, body) => {
                let value = self.eval(value, frame)?;
                frame.set(var, value);
                return Ok(Step::Next(body));
            }
            Node::If(condition, then, otherwise) => {
                let holds = self.eval(condition, frame)? == Value::Bool(true);
                return Ok(Step::Next(if holds { then } else { otherwise }));
            }
            Node::Assert(condition, body) => {
                if self.eval(condition, frame)? != Value::Bool(true) {
                    return self.fail(expr, frame, RunError::AssertionFailed);
                }
                return Ok(Step::Next(body));
            }
            Node::Call(fun, arg) => {
                let arg = self.eval(arg, frame)?;
                match self.linear_map(fun, &arg) {
                    Some(map) => map,
                    None => return Ok(Step::Call(fun, arg, expr)),
                }
            }
            Node::Construct(_, constructor, arg) => Value::data(constructor, self.eval(arg, frame)?),
            Node::Match(value, arms) => {
                let Value::Data(constructor, held) = self.eval(value, frame)? else {
                    return Ok(Step::Done(Value::unit()));
                };
                let Node::Lam(var, body) = store.node(store.list(arms)[constructor as usize]) else {
                    return Ok(Step::Done(Value::unit()));
                };
                frame.set(var, (**held).clone());
                return Ok(Step::Next(body));
            }
            // A lambda is no value: primitives apply it where it stands.
            Node::Lam(..) => Value::unit(),
            Node::Prim(prim, args) if prim.is_function() => {
                let args = self.eval_all(store.list(args), frame)?;
                match self.options.width.apply(prim, &args) {
                    Ok(value) => value,
                    Err(error) => return self.fail(expr, frame, error),
                }
            }
            Node::Prim(prim, args) => self.primitive(prim, store.list(args), expr, frame)?,
        }))
    }

    fn eval_all(&mut self, exprs: &[ExprId], frame: &mut Frame) -> Result<Vec<Value>> {
        exprs.iter().map(|expr| self.eval(*expr, frame)).collect()
    }

    /// Applies a lambda where it stands.
    fn apply(&mut self, lam: ExprId, arg: Value, frame: &mut Frame) -> Result<Value> {
        let Node::Lam(var, body) = self.program.store.node(lam) else { return Ok(Value::unit()) };
        let mark = frame.shadowed.len();
        frame.set(var, arg);
        let value = self.eval(body, frame);
        frame.restore(mark);
        value
    }

    fn print(&mut self, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        let values = self.eval_all(args, frame)?;
        for (value, arg) in values.iter().zip(args) {
            let text = self.show(value, *arg);
            if let Err(error) = self.output.write_all(text.as_bytes()) {
                return self.fail(at, frame, RunError::Output(error.to_string()));
            }
        }
        Ok(Value::Integer(values.len() as i64))
    }

    /// A value as `print` writes it.
    fn show(&self, value: &Value, of: ExprId) -> String {
        value::show_digits(&self.program.store, value, self.program.store.ty(of), self.options.digits)
    }

    fn trace(&mut self, arg: ExprId, at: ExprId, frame: &mut Frame) -> Result<Value> {
        let value = self.eval(arg, frame)?;
        let text = self.show(&value, arg);
        match writeln!(self.output, "Trace[{text}]") {
            Ok(()) => Ok(value),
            Err(error) => self.fail(at, frame, RunError::Output(error.to_string())),
        }
    }

    /// `$check`: |dt . (f(s+ds) - f(s)) - rev_f(s, dt) . ds|
    fn check(&mut self, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        let &[f, reverse, s, again, ds, dt] = args else { return Ok(Value::unit()) };
        let values = self.eval_all(&[s, again, ds, dt], frame)?;
        let [s, again, ds, dt] = &values[..] else { return Ok(Value::unit()) };
        let width = self.options.width;
        let moved = self.located(width.sum(s, ds), at, frame)?;
        let (here, there) = (self.apply(f, s.clone(), frame)?, self.apply(f, moved, frame)?);
        let backward = self.apply(reverse, Value::tuple(vec![again.clone(), dt.clone()]), frame)?;
        let (here, there) = (space::tangent_part(&here), space::tangent_part(&there));
        let change = self.located(width.sum(&there, &width.negate(&here)), at, frame)?;
        let (expected, found) = (width.dot(dt, &change), width.dot(&backward, ds));
        let (expected, found) = (self.located(expected, at, frame)?, self.located(found, at, frame)?);
        Ok(Value::Float(width.float((expected - found).abs())))
    }

    /// Gives an error its place.
    fn located<T>(&self, result: std::result::Result<T, RunError>, at: ExprId, frame: &Frame) -> Result<T> {
        result.or_else(|error| self.fail(at, frame, error))
    }

    /// Primitives other than functions of scalars.
    fn primitive(&mut self, prim: Prim, args: &[ExprId], at: ExprId, frame: &mut Frame) -> Result<Value> {
        match prim {
            Prim::Print => self.print(args, at, frame),
            Prim::Trace => self.trace(args[0], at, frame),
            Prim::Check => self.check(args, at, frame),
            Prim::Inline | Prim::Copydown | Prim::LmVariant => self.eval(args[0], frame),
            _ if prim.is_over_indices() => self.looping(prim, args, at, frame),
            Prim::Fold | Prim::Map | Prim::Map2 | Prim::Diag => self.looping(prim, args, at, frame),
            Prim::BuildFromSparse | Prim::BuildFromSparseTupled => self.sparse(prim, args, at, frame),
            Prim::LmFold => self.lm_fold(args, frame),
            Prim::Accumulate => self.accumulate(args, frame),
            Prim::AddTo => self.add_to(args, at, frame),
            Prim::MapAccum => self.map_accum(args, frame),
            Prim::LmApply | Prim::LmApplyR => self.apply_map(prim, args, at, frame),
            _ => {
                let values = self.eval_all(args, frame)?;
                let result = self.pure(prim, args, &values, at);
                self.located(result, at, frame)
            }
        }
    }
}
