//! Derivations by transformation of the source. `docs/ad.md` is the design.
//!
//! Suggested reading order: `block` (code in the making), `scalar` (derivatives of functions of scalars), `desugar` (which primitives
//! need no rule of their own), `forward`, `reverse`, `tape`.

mod block;
mod branches;
mod calls;
mod desugar;
mod forward;
mod forward_loops;
mod place;
mod reverse;
mod reverse_loops;
mod scalar;
mod shape;
mod tape;

use crate::derive;
use crate::error::{Error, ErrorKind};
use crate::ir::{Body, Def, Derivation, FunId, FunName, Program};
use crate::source::Span;

/// Makes a derivation, and those that it needs, unless there is a definition.
///
/// # Errors
/// If it cannot be made.
pub fn make(program: &mut Program, fun: FunId, span: Span) -> Result<(), Error> {
    let FunName::Derived(derivation, of) = program.store.fun(fun) else { return Ok(()) };
    if program.def(fun).is_some() || program.is_making(fun) {
        return Ok(());
    }
    if let FunName::Derived(..) = program.store.fun(of) {
        make(program, of, span)?;
    }
    match derivation {
        Derivation::SufFwdPass | Derivation::SufRevPass => return calls::passes(program, of, span),
        Derivation::D | Derivation::Dt => {
            let reason = format!("this version makes no '{}'", derivation.keyword());
            return Err(Error::new(span, ErrorKind::NotDerivable { fun: program.store.show_fun(fun), reason }));
        }
        _ => {}
    }
    let lambda = lambda(program, fun, of, span)?;
    declare(program, derivation, fun, of);
    program.start_making(fun);
    let (param, body) = match derivation {
        Derivation::Fwd => forward::derive(program, span, lambda)?,
        Derivation::Rev => calls::rev(program, span, lambda)?,
        Derivation::SufRev => calls::sufrev(program, of, span)?,
        Derivation::Shape => (lambda.0, shape::derive(program, lambda.1)),
        _ => lambda,
    };
    program.define(Def { fun, body: Body::Expr(param, body), span });
    Ok(())
}

/// The derivation of a function, made if need be.
fn require(program: &mut Program, derivation: Derivation, of: FunId, span: Span) -> Result<FunId, Error> {
    let fun = program.store.derived(derivation, of);
    make(program, fun, span)?;
    Ok(fun)
}

fn declare(program: &mut Program, derivation: Derivation, fun: FunId, of: FunId) {
    if let Some((arg, result)) = derive::signature(&mut program.store, derivation, of) {
        program.store.declare(fun, arg, result);
    }
}

/// The parameter and body of the function to derive from.
fn lambda(
    program: &mut Program,
    fun: FunId,
    of: FunId,
    span: Span,
) -> Result<(crate::ir::VarId, crate::ir::ExprId), Error> {
    program.lambda(of).ok_or_else(|| {
        let reason = format!("{} has no body; define its derivation yourself", program.store.show_fun(of));
        Error::new(span, ErrorKind::NotDerivable { fun: program.store.show_fun(fun), reason })
    })
}
