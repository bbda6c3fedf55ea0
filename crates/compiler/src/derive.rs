//! Derivations: what they take and give, and the seam to what makes them.

use crate::ad;
use crate::error::Error;
use crate::ir::{Body, Def, Derivation, FunId, FunName, Gdef, Node, Program, Store, TypeId};
use crate::source::Span;

/// What a derivation of a declared function takes and gives, where that follows from the type of the function alone. It does not for
/// the two passes of split mode, whose saved state depends on the body.
pub fn signature(store: &mut Store, derivation: Derivation, of: FunId) -> Option<(TypeId, TypeId)> {
    let (arg, result) = store.signature(of)?;
    let (tangent, cotangent) = (store.types.tangent(arg), store.types.tangent(result));
    Some(match derivation {
        Derivation::Fwd => (store.types.tuple(&[arg, tangent]), cotangent),
        Derivation::Rev | Derivation::SufRev => (store.types.tuple(&[arg, cotangent]), tangent),
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

/// Makes every derivation that a program asks for, by `gdef` or by calling it.
///
/// # Errors
/// If one cannot be made.
pub fn complete(program: &mut Program) -> Result<(), Error> {
    for Gdef { fun, span } in program.gdefs.clone() {
        make(program, fun, span)?;
    }
    let asked: Vec<(FunId, Span)> = program.defs().flat_map(|def| called_derivations(program, def)).collect();
    asked.into_iter().try_for_each(|(fun, span)| make(program, fun, span))
}

/// The derivations without a definition that a definition calls, with the places of the calls.
fn called_derivations(program: &Program, def: &Def) -> Vec<(FunId, Span)> {
    let Body::Expr(_, body) = def.body else { return vec![] };
    let calls = program.store.post_order(body).into_iter().filter_map(|part| match program.store.node(part) {
        Node::Call(fun, _) => Some((fun, program.store.origin(part).unwrap_or(def.span))),
        _ => None,
    });
    let is_missing = |fun: FunId| matches!(program.store.fun(fun), FunName::Derived(..)) && program.def(fun).is_none();
    calls.filter(|(fun, _)| is_missing(*fun)).collect()
}
