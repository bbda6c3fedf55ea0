//! Derivations: what they take and give, and the seam to what makes them.

use crate::error::{Error, ErrorKind};
use crate::ir::{Derivation, FunId, FunName, Program, Store, TypeId};
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
    let FunName::Derived(derivation, of) = program.store.fun(fun) else { return Ok(()) };
    if program.def(fun).is_some() {
        return Ok(());
    }
    let reason = format!("this version makes no '{}' of {}", derivation.keyword(), program.store.show_fun(of));
    Err(Error::new(span, ErrorKind::NotDerivable { fun: program.store.show_fun(fun), reason }))
}

/// Makes every derivation that a program asks for.
///
/// # Errors
/// If one cannot be made.
pub fn complete(_program: &mut Program) -> Result<(), Error> {
    // Calls of derivations that are not made fail when they run, with their place.
    Ok(())
}
