//! Derivations: what they take and give, and the seam to what makes them.

use crate::ad;
use crate::error::Error;
use crate::ir::{Body, Def, Derivation, ExprId, FunId, Gdef, Node, Program, Store, TypeId};
use crate::source::{Sources, Span};
use rustc_hash::FxHashSet;

/// What a derivation of a declared function takes and gives, where that follows from the type of the function alone. It does not for
/// the two passes of split mode, whose saved state depends on the body.
pub fn signature(store: &mut Store, derivation: Derivation, of: FunId) -> Option<(TypeId, TypeId)> {
    let (arg, result) = store.signature(of)?;
    let (tangent, cotangent) = (store.types.tangent(arg), store.types.tangent(result));
    Some(match derivation {
        Derivation::Fwd => (store.types.tuple(&[arg, tangent]), cotangent),
        Derivation::Fwdt => {
            let both = store.types.tuple(&[result, cotangent]);
            (store.types.tuple(&[arg, tangent]), both)
        }
        Derivation::Rev | Derivation::SufRev | Derivation::Nat => (store.types.tuple(&[arg, cotangent]), tangent),
        Derivation::Retract => (store.types.tuple(&[arg, tangent]), arg),
        Derivation::Shape => (arg, store.types.shape(result)),
        Derivation::Cl => (arg, result),
        Derivation::D => (arg, store.types.linear_map(arg, result)),
        Derivation::Dt => {
            let map = store.types.linear_map(arg, result);
            (arg, store.types.tuple(&[result, map]))
        }
        Derivation::SufFwdPass | Derivation::SufRevPass => return None,
    })
}

/// Makes the definition of a derivation, and of those that it needs, unless there is one. Whatever the program defines itself is
/// taken as it is.
///
/// # Errors
/// If it cannot be made.
pub fn make(program: &mut Program, fun: FunId, span: Span) -> Result<(), Error> {
    ad::make(program, fun, span)
}

/// Makes every derivation that a program asks for, by `gdef` or by calling it. What cannot be made is a mistake where it is needed: by
/// a `gdef`, or by what `main` calls, or by any function where there is no `main`. Elsewhere it stands as an external function.
///
/// # Errors
/// If one that is needed cannot be made.
pub fn complete(program: &mut Program) -> Result<(), Error> {
    for Gdef { fun, span } in program.gdefs.clone() {
        make(program, fun, span)?;
    }
    let mut seen = FxHashSet::default();
    let roots = program.main().map_or_else(|| program.defs().map(|def| def.fun).collect(), |main| vec![main]);
    require(program, roots, &mut seen)?;
    let others: Vec<Def> = program.defs().copied().collect();
    for def in others {
        for (fun, span) in called(program, &def, &mut seen) {
            if make(program, fun, span).is_err() {
                program.define(Def { fun, body: Body::External, span });
            }
        }
    }
    Ok(())
}

/// Makes every derivation that an expression on its own needs.
///
/// # Errors
/// If one cannot be made.
pub fn complete_expression(program: &mut Program, expr: ExprId) -> Result<(), Error> {
    let mut seen = FxHashSet::default();
    let called = calls_in(program, expr, Sources::nowhere(), &mut seen);
    for (fun, span) in &called {
        make(program, *fun, *span)?;
    }
    require(program, called.into_iter().map(|(fun, _)| fun).collect(), &mut seen)
}

/// Makes every derivation that a function needs, whoever calls it.
///
/// # Errors
/// If one cannot be made.
pub fn complete_function(program: &mut Program, fun: FunId, span: Span) -> Result<(), Error> {
    make(program, fun, span)?;
    require(program, vec![fun], &mut FxHashSet::default())
}

/// Makes every derivation that functions call, and those that their callees call.
fn require(program: &mut Program, mut open: Vec<FunId>, seen: &mut FxHashSet<ExprId>) -> Result<(), Error> {
    while let Some(fun) = open.pop() {
        let Some(def) = program.def(fun).copied() else { continue };
        for (fun, span) in called(program, &def, seen) {
            make(program, fun, span)?;
            open.push(fun);
        }
    }
    Ok(())
}

/// The functions that a definition calls, with the places of the calls, but for calls that were `seen`.
fn called(program: &Program, def: &Def, seen: &mut FxHashSet<ExprId>) -> Vec<(FunId, Span)> {
    match def.body {
        Body::Expr(_, body) => calls_in(program, body, def.span, seen),
        Body::LinearMap { forward, reverse } => vec![(forward, def.span), (reverse, def.span)],
        Body::External => vec![],
    }
}

fn calls_in(program: &Program, root: ExprId, span: Span, seen: &mut FxHashSet<ExprId>) -> Vec<(FunId, Span)> {
    let store = &program.store;
    let fresh = store.post_order(root).into_iter().filter(|part| seen.insert(*part));
    let calls = fresh.filter_map(|part| match store.node(part) {
        Node::Call(fun, _) => Some((fun, store.origin(part).unwrap_or(span))),
        _ => None,
    });
    calls.collect()
}
