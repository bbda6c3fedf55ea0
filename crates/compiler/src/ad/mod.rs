//! Derivations by transformation of the source. `docs/ad.md` is the design.
//!
//! Suggested reading order: `block` (code in the making), `scalar` (derivatives of functions of scalars), `desugar` (which primitives
//! need no rule of their own), `linear` (linear maps), `forward`, `reverse`, `tape`.

mod block;
mod branches;
mod calls;
mod desugar;
mod forward;
mod forward_loops;
mod linear;
mod linear_fold;
mod maps;
mod natural;
mod place;
mod purity;
mod reverse;
mod reverse_loops;
mod scalar;
mod shape;
mod tape;

use crate::derive;
use crate::error::{Error, ErrorKind};
use crate::ir::{Body, Def, Derivation, ExprId, FunId, FunName, Program, VarId};
use crate::source::Span;

type Result<T> = std::result::Result<T, Error>;

/// Makes a derivation, and those that it needs, unless there is a definition.
///
/// # Errors
/// If it cannot be made.
pub fn make(program: &mut Program, fun: FunId, span: Span) -> Result<()> {
    let FunName::Derived(derivation, of) = program.store.fun(fun) else { return Ok(()) };
    if program.def(fun).is_some() || program.is_making(fun) {
        return Ok(());
    }
    if let FunName::Derived(..) = program.store.fun(of) {
        make(program, of, span)?;
    }
    if matches!(derivation, Derivation::SufFwdPass | Derivation::SufRevPass) {
        return calls::passes(program, of, span);
    }
    if let Some((arg, result)) = derive::signature(&mut program.store, derivation, of) {
        program.store.declare(fun, arg, result);
    }
    program.start_making(fun);
    let body = body(program, derivation, of, span);
    match body {
        Ok(body) => program.define(Def { fun, body, span }),
        Err(_) => program.stop_making(fun),
    }
    body.map(|_| ())
}

/// What defines a derivation.
fn body(program: &mut Program, derivation: Derivation, of: FunId, span: Span) -> Result<Body> {
    let (param, body) = match derivation {
        Derivation::D => {
            let forward = require(program, Derivation::Fwd, of, span)?;
            return Ok(Body::LinearMap { forward, reverse: require(program, Derivation::Rev, of, span)? });
        }
        Derivation::Fwd | Derivation::Rev if program.is_external(of) => {
            no_functions(program, derivation, of, span)?;
            return Ok(Body::External);
        }
        Derivation::Nat => natural::gradient(program, of, span)?,
        Derivation::Retract => natural::movement(program, of),
        Derivation::SufRev => calls::sufrev(program, of, span)?,
        Derivation::Dt => with_map(program, of, span)?,
        Derivation::Fwdt if has_own_forward(program, of) => forward::by_fwd(program, of, span)?,
        Derivation::Shape | Derivation::Cl => {
            let (param, body) = program.lambda(of).unwrap_or_else(|| called(program, of));
            (param, if derivation == Derivation::Shape { shape::derive(program, body) } else { body })
        }
        _ => {
            let lambda = lambda(program, derivation, of, span)?;
            match derivation {
                Derivation::Rev => calls::rev(program, span, lambda)?,
                _ => forward::derive(program, span, lambda, derivation == Derivation::Fwdt)?,
            }
        }
    };
    Ok(Body::Expr(param, body))
}

/// Whether forward mode of a function is not ours to make.
fn has_own_forward(program: &mut Program, of: FunId) -> bool {
    let fwd = program.store.derived(Derivation::Fwd, of);
    program.is_external(of) || program.own_def(fwd).is_some()
}

/// External functions that take functions have no derivative that could be named.
fn no_functions(program: &mut Program, derivation: Derivation, of: FunId, span: Span) -> Result<()> {
    let takes = program.store.signature(of).map(|(arg, _)| arg);
    let takes_functions = takes.is_some_and(|arg| {
        let fields = program.store.types.fields(arg).map_or_else(|| vec![arg], <[_]>::to_vec);
        fields.iter().any(|field| matches!(program.store.types.get(*field), crate::ir::Type::Lam(..)))
    });
    if !takes_functions {
        return Ok(());
    }
    let fun = program.store.derived(derivation, of);
    let reason = format!("{} is external and takes functions", program.store.show_fun(of));
    Err(Error::new(span, ErrorKind::NotDerivable { fun: program.store.show_fun(fun), reason }))
}

/// `[Dt f]`: the value and `[D f]`.
fn with_map(program: &mut Program, of: FunId, span: Span) -> Result<(VarId, ExprId)> {
    let map = require(program, Derivation::D, of, span)?;
    let (param, value) = called(program, of);
    let at = program.store.var(param);
    let map = program.store.call(map, at);
    Ok((param, program.store.tuple(&[value, map])))
}

/// A function as a lambda that calls it.
fn called(program: &mut Program, of: FunId) -> (VarId, ExprId) {
    let arg = program.store.signature(of).map_or(crate::ir::TypeId::UNIT, |(arg, _)| arg);
    let param = program.store.fresh("x", arg);
    let at = program.store.var(param);
    (param, program.store.call(of, at))
}

/// The derivation of a function, made if need be.
fn require(program: &mut Program, derivation: Derivation, of: FunId, span: Span) -> Result<FunId> {
    let fun = program.store.derived(derivation, of);
    make(program, fun, span)?;
    Ok(fun)
}

/// The parameter and body of the function to derive from, without linear maps where that is possible.
fn lambda(program: &mut Program, derivation: Derivation, of: FunId, span: Span) -> Result<(VarId, ExprId)> {
    match program.lambda(of) {
        Some((param, body)) => Ok((param, linear::eliminate(program, body, span)?)),
        None => {
            let fun = program.store.derived(derivation, of);
            let is_map = matches!(program.def(of).map(|def| def.body), Some(Body::LinearMap { .. }));
            let why = if is_map { "gives a linear map: derive what applies it" } else { "has no body" };
            let reason = format!("{} {why}", program.store.show_fun(of));
            Err(Error::new(span, ErrorKind::NotDerivable { fun: program.store.show_fun(fun), reason }))
        }
    }
}
