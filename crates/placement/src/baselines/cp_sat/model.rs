//! A constraint model under construction: variables and constraints by name instead of by message.

use super::messages::{
    Constraint, CpModel, Cumulative, Expression, IntegerVariable, Interval, Kind, Linear, Literals, NoOverlap,
    Objective,
};

/// Index of a variable; a Boolean one serves as a literal.
pub(super) type Variable = i32;
/// Index of an interval constraint.
pub(super) type IntervalId = i32;

/// `variable + offset`.
pub(super) fn shifted(variable: Variable, offset: i64) -> Expression {
    Expression { vars: vec![variable], coeffs: vec![1], offset }
}

/// A number.
pub(super) fn constant(value: i64) -> Expression {
    Expression { vars: vec![], coeffs: vec![], offset: value }
}

/// Builds a [`CpModel`].
#[derive(Default)]
pub(super) struct Model {
    pub(super) proto: CpModel,
}

impl Model {
    /// A new integer variable.
    pub(super) fn integer(&mut self, least: i64, most: i64) -> Variable {
        self.proto.variables.push(IntegerVariable { domain: vec![least, most] });
        self.proto.variables.len() as Variable - 1
    }

    /// A new Boolean variable.
    pub(super) fn boolean(&mut self) -> Variable {
        self.integer(0, 1)
    }

    /// One Boolean variable each for `count` alternatives, one of which is true.
    pub(super) fn choice(&mut self, count: usize) -> Vec<Variable> {
        let literals: Vec<Variable> = (0..count).map(|_| self.boolean()).collect();
        self.add(&[], Kind::ExactlyOne(Literals { literals: literals.clone() }));
        literals
    }

    /// If all of `when` hold, so does `then`.
    pub(super) fn implies(&mut self, when: &[Variable], then: Variable) {
        self.add(when, Kind::BoolOr(Literals { literals: vec![then] }));
    }

    /// If all of `when` hold: the weighted sum of `terms` is at least `least`.
    pub(super) fn at_least(&mut self, when: &[Variable], terms: &[(Variable, i64)], least: i64) {
        let (vars, coeffs) = terms.iter().copied().unzip();
        self.add(when, Kind::Linear(Linear { vars, coeffs, domain: vec![least, i64::MAX] }));
    }

    /// If all of `when` hold: `late` comes at least `gap` after `early`.
    pub(super) fn after(&mut self, when: &[Variable], late: Variable, early: Variable, gap: i64) {
        self.at_least(when, &[(late, 1), (early, -1)], gap);
    }

    /// An interval that is there if `when` holds.
    pub(super) fn interval(
        &mut self,
        when: Variable,
        start: Expression,
        size: Expression,
        end: Expression,
    ) -> IntervalId {
        let interval = Interval { start: Some(start), size: Some(size), end: Some(end) };
        self.add(&[when], Kind::Interval(interval));
        self.proto.constraints.len() as IntervalId - 1
    }

    /// No two of these intervals overlap, and none lies strictly inside another, whatever its length.
    pub(super) fn no_overlap(&mut self, intervals: Vec<IntervalId>) {
        self.add(&[], Kind::NoOverlap(NoOverlap { intervals }));
    }

    /// The demands of simultaneous intervals sum up to `capacity` at most.
    pub(super) fn cumulative(&mut self, capacity: Variable, demands: &[(IntervalId, i64)]) {
        self.add(
            &[],
            Kind::Cumulative(Cumulative {
                capacity: Some(shifted(capacity, 0)),
                intervals: demands.iter().map(|&(interval, _)| interval).collect(),
                demands: demands.iter().map(|&(_, demand)| constant(demand)).collect(),
            }),
        );
    }

    /// What to minimise.
    pub(super) fn minimise(&mut self, variable: Variable) {
        self.proto.objective = Some(Objective { vars: vec![variable], coeffs: vec![1] });
    }

    fn add(&mut self, when: &[Variable], kind: Kind) {
        self.proto.constraints.push(Constraint { enforcement_literal: when.to_vec(), kind: Some(kind) });
    }
}
