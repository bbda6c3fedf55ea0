//! The part of OR-Tools' protobuf messages that is used here, with the tag numbers of `cp_model.proto` and `sat_parameters.proto`.
//! What is left out keeps its default when written and is skipped when read.

use prost::{Enumeration, Message, Oneof};

/// `CpModelProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CpModel {
    #[prost(message, repeated, tag = "2")]
    pub(super) variables: Vec<IntegerVariable>,
    #[prost(message, repeated, tag = "3")]
    pub(super) constraints: Vec<Constraint>,
    #[prost(message, optional, tag = "4")]
    pub(super) objective: Option<Objective>,
    #[prost(message, optional, tag = "6")]
    pub(super) solution_hint: Option<Assignment>,
}

/// `IntegerVariableProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct IntegerVariable {
    /// Pairs of first and last value.
    #[prost(int64, repeated, tag = "2")]
    pub(super) domain: Vec<i64>,
}

/// `ConstraintProto`. A literal is the index of a Boolean variable.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Constraint {
    /// The constraint holds if all of these do.
    #[prost(int32, repeated, tag = "2")]
    pub(super) enforcement_literal: Vec<i32>,
    #[prost(oneof = "Kind", tags = "3, 29, 12, 19, 20, 22")]
    pub(super) kind: Option<Kind>,
}

/// The kinds of constraints in use.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Kind {
    #[prost(message, tag = "3")]
    BoolOr(Literals),
    #[prost(message, tag = "29")]
    ExactlyOne(Literals),
    #[prost(message, tag = "12")]
    Linear(Linear),
    #[prost(message, tag = "19")]
    Interval(Interval),
    /// Also intervals of no length may not lie strictly inside another.
    #[prost(message, tag = "20")]
    NoOverlap(NoOverlap),
    #[prost(message, tag = "22")]
    Cumulative(Cumulative),
}

/// `BoolArgumentProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Literals {
    #[prost(int32, repeated, tag = "1")]
    pub(super) literals: Vec<i32>,
}

/// `LinearConstraintProto`: the weighted sum lies in the domain.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Linear {
    #[prost(int32, repeated, tag = "1")]
    pub(super) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) coeffs: Vec<i64>,
    #[prost(int64, repeated, tag = "3")]
    pub(super) domain: Vec<i64>,
}

/// `LinearExpressionProto`, affine wherever it is used here.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Expression {
    #[prost(int32, repeated, tag = "1")]
    pub(super) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) coeffs: Vec<i64>,
    #[prost(int64, tag = "3")]
    pub(super) offset: i64,
}

/// `IntervalConstraintProto`: start + size = end.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Interval {
    #[prost(message, optional, tag = "4")]
    pub(super) start: Option<Expression>,
    #[prost(message, optional, tag = "5")]
    pub(super) end: Option<Expression>,
    #[prost(message, optional, tag = "6")]
    pub(super) size: Option<Expression>,
}

/// `NoOverlapConstraintProto`, over indices of interval constraints.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NoOverlap {
    #[prost(int32, repeated, tag = "1")]
    pub(super) intervals: Vec<i32>,
}

/// `CumulativeConstraintProto`: at every time the demands of the running intervals sum up to at most the capacity.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Cumulative {
    #[prost(message, optional, tag = "1")]
    pub(super) capacity: Option<Expression>,
    #[prost(int32, repeated, tag = "2")]
    pub(super) intervals: Vec<i32>,
    #[prost(message, repeated, tag = "3")]
    pub(super) demands: Vec<Expression>,
}

/// `CpObjectiveProto`, minimised.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Objective {
    #[prost(int32, repeated, tag = "1")]
    pub(super) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "4")]
    pub(super) coeffs: Vec<i64>,
}

/// `PartialVariableAssignment`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Assignment {
    #[prost(int32, repeated, tag = "1")]
    pub(super) vars: Vec<i32>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) values: Vec<i64>,
}

impl Assignment {
    /// Values of all variables.
    pub(super) fn complete(values: Vec<i64>) -> Self {
        Self { vars: (0..values.len() as i32).collect(), values }
    }
}

/// `SatParameters`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Parameters {
    #[prost(int32, optional, tag = "31")]
    pub(super) random_seed: Option<i32>,
    #[prost(double, optional, tag = "36")]
    pub(super) max_time_in_seconds: Option<f64>,
    /// Off: Ctrl-C belongs to the program, not to the library.
    #[prost(bool, optional, tag = "135")]
    pub(super) catch_sigint_signal: Option<bool>,
    #[prost(int32, optional, tag = "206")]
    pub(super) num_workers: Option<i32>,
}

/// `CpSolverStatus`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Enumeration)]
#[repr(i32)]
pub(super) enum Status {
    Unknown = 0,
    ModelInvalid = 1,
    Feasible = 2,
    Infeasible = 3,
    Optimal = 4,
}

/// `CpSolverResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Response {
    #[prost(enumeration = "Status", tag = "1")]
    pub(super) status: i32,
    #[prost(int64, repeated, tag = "2")]
    pub(super) solution: Vec<i64>,
    #[prost(double, tag = "4")]
    pub(super) best_objective_bound: f64,
    /// Why a model is invalid, or which sub-solver found the solution.
    #[prost(string, tag = "20")]
    pub(super) solution_info: String,
}
