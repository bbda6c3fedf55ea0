//! What it costs to run an expression, by estimates that are cheap enough to ask for every state of a search.
//!
//! [`Table`] is the fixed table of the language; [`AbstractInterpreter`] goes by the sizes with which `main` calls a function. Both go by
//! [`Weights`], which `labrys calibrate` measures on the machine at hand ([`calibrate`]).

pub mod abstract_interpreter;
pub mod calibrate;
pub mod shape;
pub mod table;
pub mod weights;
mod wide;

use crate::ir::{Body, Def, ExprId, FunId, Program, Type, TypeId, Types};
pub use abstract_interpreter::AbstractInterpreter;
pub use table::Table;
pub use weights::Weights;

/// A cost model.
pub trait Cost {
    /// What the expression costs each time that it runs: finite, at least 0, in units that only the model knows. Variables that are free in it hold anything
    /// of their types.
    fn cost(&mut self, program: &mut Program, expr: ExprId) -> f64;

    /// Says that what follows is asked about the body of a function, or parts of it.
    fn enter(&mut self, program: &mut Program, def: &Def) {
        _ = (program, def);
    }
}

/// Numbers in a value of a type when every tensor has `size` elements in each dimension.
pub(crate) fn elements(types: &Types, ty: TypeId, size: f64) -> f64 {
    match types.get(ty) {
        Type::Tuple(list) => types.list(list).iter().map(|field| elements(types, *field, size)).sum(),
        Type::Tensor(rank, element) => size.powi(rank as i32) * elements(types, element, size),
        _ => 1.0,
    }
}

/// The function `cost$f` of an external function `f`, by which a program says what a call of it costs.
pub(crate) fn declared_cost(program: &Program, fun: FunId) -> Option<Def> {
    let (derivations, name, arg) = program.store.parts(fun);
    let symbol = program.store.find_symbol(&format!("cost${}", program.store.text(name)))?;
    let is_for = |candidate: &&FunId| {
        let takes = program.store.signature(**candidate);
        derivations.is_empty() && takes == Some((arg, TypeId::FLOAT))
    };
    let found = program.overloads(&[], symbol).iter().find(is_for)?;
    program.def(*found).copied().filter(|def| matches!(def.body, Body::Expr(..)))
}
