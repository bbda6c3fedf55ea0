//! What is known of the value of an expression: bounds, and whether it may be NaN or -0.0. Bounds hold for what the machine computes,
//! rounding included, so they serve rules of every class.

use super::matching::Bindings;
use super::pattern::PatternRule;
use super::rule::Settings;
use crate::interpret::Width;
use crate::ir::{ExprId, Node, Prim, Program, Test, TypeId};
use crate::stack;
use rustc_hash::FxHashMap;

/// Whole numbers up to here are the same as Floats.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// No tensor has so many elements.
const MOST_ELEMENTS: f64 = 281_474_976_710_656.0;

/// Where the value of a number lies.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Range {
    low: f64,
    high: f64,
    may_be_nan: bool,
    may_be_minus_zero: bool,
}

impl Range {
    const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, may_be_nan: true, may_be_minus_zero: true };

    /// From one number to another, which may be any of them but -0.0.
    const fn between(low: f64, high: f64) -> Self {
        Self { low, high, may_be_nan: false, may_be_minus_zero: false }
    }

    fn of(value: f64) -> Self {
        if value.is_nan() {
            return Self::ALL;
        }
        Self { may_be_minus_zero: value == 0.0 && value.is_sign_negative(), ..Self::between(value, value) }
    }

    fn nan_if(self, may_be_nan: bool) -> Self {
        Self { may_be_nan: self.may_be_nan || may_be_nan, ..self }
    }

    fn minus_zero_if(self, may_be_minus_zero: bool) -> Self {
        Self { may_be_minus_zero: self.may_be_minus_zero || may_be_minus_zero, ..self }
    }

    fn has_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    fn may_be_infinite(self) -> bool {
        self.low == f64::NEG_INFINITY || self.high == f64::INFINITY
    }

    /// Whether it is at least 0.0 and not -0.0, or NaN.
    fn is_plus(self) -> bool {
        self.low >= 0.0 && !self.may_be_minus_zero
    }

    fn or(self, other: Self) -> Self {
        Self::between(self.low.min(other.low), self.high.max(other.high))
            .nan_if(self.may_be_nan || other.may_be_nan)
            .minus_zero_if(self.may_be_minus_zero || other.may_be_minus_zero)
    }

    fn neg(self) -> Self {
        Self::between(-self.high, -self.low).nan_if(self.may_be_nan).minus_zero_if(self.has_zero())
    }

    fn add(self, other: Self) -> Self {
        let opposite = |a: Self, b: Self| a.high == f64::INFINITY && b.low == f64::NEG_INFINITY;
        let bound = |sum: f64, or: f64| if sum.is_nan() { or } else { sum };
        Self::between(bound(self.low + other.low, f64::NEG_INFINITY), bound(self.high + other.high, f64::INFINITY))
            .nan_if(self.may_be_nan || other.may_be_nan || opposite(self, other) || opposite(other, self))
            .minus_zero_if(self.may_be_minus_zero && other.may_be_minus_zero)
    }

    fn mul(self, other: Self) -> Self {
        let is_undefined = |a: Self, b: Self| a.has_zero() && b.may_be_infinite();
        self.corners(other, |a, b| if a == 0.0 || b == 0.0 { 0.0 } else { a * b })
            .nan_if(is_undefined(self, other) || is_undefined(other, self))
            .minus_zero_if(!(self.is_plus() && other.is_plus()))
    }

    fn div(self, other: Self) -> Self {
        if other.has_zero() {
            return Self::ALL;
        }
        let both_infinite = self.may_be_infinite() && other.may_be_infinite();
        let quotient = |a: f64, b: f64| if a.is_infinite() && b.is_infinite() { 0.0 } else { a / b };
        let bounds = self.corners(other, quotient);
        let bounds = if both_infinite { Self::ALL } else { bounds };
        bounds.nan_if(both_infinite).minus_zero_if(!(self.is_plus() && other.low > 0.0))
    }

    /// The least and greatest of what a function, monotone in both arguments, makes of the bounds.
    fn corners(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let all = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        let values = all.map(|(a, b)| f(a, b));
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        Self::between(low, high).nan_if(self.may_be_nan || other.may_be_nan)
    }

    /// The product with itself.
    fn square(self) -> Self {
        let (a, b) = (self.low * self.low, self.high * self.high);
        Self::between(if self.has_zero() { 0.0 } else { a.min(b) }, a.max(b)).nan_if(self.may_be_nan)
    }

    fn rounded(self, width: Width) -> Self {
        Self { low: width.float(self.low), high: width.float(self.high), ..self }
    }
}

/// Bounds of the numbers of a store, kept by id.
pub(super) struct Ranges {
    width: Width,
    known: FxHashMap<ExprId, Range>,
}

impl Ranges {
    pub(super) fn new(settings: Settings) -> Self {
        Self { width: settings.width, known: FxHashMap::default() }
    }

    /// Whether the conditions of a rule hold.
    pub(super) fn hold(&mut self, program: &Program, rule: &PatternRule, bindings: &Bindings) -> bool {
        let mut guards = rule.guards.iter();
        guards.all(|(test, var)| bindings.var(*var).is_some_and(|expr| self.holds(program, *test, expr)))
    }

    fn holds(&mut self, program: &Program, test: Test, expr: ExprId) -> bool {
        if test == Test::Constant {
            return is_constant(program, expr);
        }
        if !matches!(program.store.ty(expr), TypeId::FLOAT | TypeId::INTEGER) {
            return false;
        }
        let range = self.of(program, expr);
        match test {
            Test::Constant => true,
            Test::Nonzero => range.low > 0.0 || range.high < 0.0,
            Test::Positive => range.low > 0.0,
            Test::Number => !range.may_be_nan,
            Test::Finite => !range.may_be_nan && !range.may_be_infinite(),
            Test::NoMinusZero => !range.may_be_minus_zero,
        }
    }

    fn of(&mut self, program: &Program, expr: ExprId) -> Range {
        if let Some(known) = self.known.get(&expr) {
            return *known;
        }
        let found = stack::grow(|| self.find(program, expr));
        self.known.insert(expr, found);
        found
    }

    fn find(&mut self, program: &Program, expr: ExprId) -> Range {
        let store = &program.store;
        let is_integer = store.ty(expr) == TypeId::INTEGER;
        let found = match store.node(expr) {
            Node::Float(value) => Range::of(self.width.float(value.get())),
            Node::Integer(value) => Range::of(self.width.integer(value) as f64),
            Node::If(_, then, otherwise) => self.of(program, then).or(self.of(program, otherwise)),
            Node::Let(_, _, body) | Node::Assert(_, body) => self.of(program, body),
            Node::Prim(prim, args) => self.prim(program, prim, store.list(args)),
            _ => Range::ALL,
        };
        if is_integer { self.whole(found) } else { found.rounded(self.width) }
    }

    /// Bounds of a whole number: none if it may have wrapped around or is not the same as a Float.
    fn whole(&self, range: Range) -> Range {
        let most = if self.width == Width::Bits32 { f64::from(i32::MAX) } else { EXACT };
        if range.low >= -most && range.high <= most {
            return Range::between(range.low, range.high);
        }
        Range::between(f64::NEG_INFINITY, f64::INFINITY)
    }

    fn prim(&mut self, program: &Program, prim: Prim, args: &[ExprId]) -> Range {
        let is_number = |expr: &ExprId| matches!(program.store.ty(*expr), TypeId::FLOAT | TypeId::INTEGER);
        match (prim, args) {
            (Prim::Size, _) => Range::between(0.0, MOST_ELEMENTS),
            (Prim::Ranhashdoub, _) => Range::between(0.0, 1.0),
            (_, [_, lam]) if prim.lanes().is_some() => match program.store.node(*lam) {
                Node::Lam(_, body) if is_number(&body) => self.sum_of(program, body),
                _ => Range::ALL,
            },
            (Prim::Pow, [x, n]) => self.power(program, *x, *n),
            (_, [x]) if is_number(x) => of_one(prim, self.of(program, *x)),
            (_, [x, y]) if is_number(x) && is_number(y) => {
                let (a, b) = (self.of(program, *x), self.of(program, *y));
                match prim {
                    Prim::Add => a.add(b),
                    Prim::Sub => a.add(b.neg()),
                    Prim::Mul if x == y => a.square(),
                    Prim::Mul => a.mul(b),
                    Prim::Div if program.store.ty(*x) == TypeId::FLOAT => a.div(b),
                    _ => Range::ALL,
                }
            }
            _ => Range::ALL,
        }
    }

    /// A sum of terms, which is 0.0 if there are none.
    fn sum_of(&mut self, program: &Program, term: ExprId) -> Range {
        let term = self.of(program, term);
        if term.low < 0.0 {
            return Range::ALL;
        }
        Range::between(0.0, f64::INFINITY).nan_if(term.may_be_nan).minus_zero_if(term.may_be_minus_zero)
    }

    fn power(&mut self, program: &Program, x: ExprId, n: ExprId) -> Range {
        match program.store.node(n) {
            Node::Integer(n) if n % 2 == 0 => Range::between(0.0, f64::INFINITY).nan_if(self.of(program, x).may_be_nan),
            _ => Range::ALL,
        }
    }
}

fn of_one(prim: Prim, x: Range) -> Range {
    let positive = Range::between(0.0, f64::INFINITY).nan_if(x.may_be_nan);
    let unit = Range::between(-1.0, 1.0).nan_if(x.may_be_nan).minus_zero_if(true);
    match prim {
        Prim::Neg => x.neg(),
        Prim::Abs => Range { low: if x.has_zero() { 0.0 } else { x.low.abs().min(x.high.abs()) }, ..positive },
        Prim::Exp => Range { low: if x.low >= 0.0 { 1.0 } else { 0.0 }, ..positive },
        Prim::Cosh => Range { low: 1.0, ..positive },
        Prim::Sqrt => {
            Range { low: x.low.max(0.0).sqrt(), ..positive }.nan_if(x.low < 0.0).minus_zero_if(x.may_be_minus_zero)
        }
        Prim::Log if x.low >= 1.0 => positive,
        Prim::Log => Range { may_be_minus_zero: false, ..Range::ALL }.nan_if(x.low < 0.0),
        Prim::Sin | Prim::Cos => unit.nan_if(x.may_be_infinite()),
        Prim::Tanh | Prim::Erf => unit,
        Prim::ToFloat => Range { may_be_nan: false, may_be_minus_zero: false, ..bounded(x) },
        _ => Range::ALL,
    }
}

/// A whole number is finite.
fn bounded(x: Range) -> Range {
    let most = i64::MAX as f64;
    Range { low: x.low.max(-most), high: x.high.min(most), ..x }
}

fn is_constant(program: &Program, expr: ExprId) -> bool {
    matches!(program.store.node(expr), Node::Integer(_) | Node::Float(_) | Node::Bool(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of bounds holds for what is computed from numbers within them.
    #[test]
    fn bounds_hold() {
        let numbers = [f64::NEG_INFINITY, -2.5, -0.0, 0.0, 1e-320, 0.5, 3.0, f64::MAX, f64::INFINITY];
        let ranges: Vec<Range> = numbers
            .iter()
            .flat_map(|a| numbers.iter().filter(move |b| a <= *b).map(move |b| (*a, *b)))
            .map(|(a, b)| Range::of(a).or(Range::of(b)))
            .collect();
        let inside = |range: &Range| numbers.into_iter().filter(|x| contains(*range, *x)).collect::<Vec<_>>();
        for (a, b) in ranges.iter().flat_map(|a| ranges.iter().map(move |b| (*a, *b))) {
            for (x, y) in inside(&a).into_iter().flat_map(|x| inside(&b).into_iter().map(move |y| (x, y))) {
                assert!(contains(a.add(b), x + y), "{x} + {y}");
                assert!(contains(a.add(b.neg()), x - y), "{x} - {y}");
                assert!(contains(a.mul(b), x * y), "{x} * {y} in {:?}", a.mul(b));
                assert!(contains(a.div(b), x / y), "{x} / {y} in {:?}", a.div(b));
                assert!(contains(a.square(), x * x), "{x} squared");
            }
        }
    }

    fn contains(range: Range, x: f64) -> bool {
        let is_minus_zero = x == 0.0 && x.is_sign_negative();
        if x.is_nan() {
            return range.may_be_nan;
        }
        range.low <= x && x <= range.high && (range.may_be_minus_zero || !is_minus_zero)
    }
}
