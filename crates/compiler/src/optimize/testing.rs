//! What tests of this room share.

use super::functions::open;
use crate::ir::{Body, ExprId, FunId, Program};
use crate::{Sources, compile};

/// A checked program.
pub(crate) fn program(text: &str) -> Program {
    compile(&Sources::with("test", text).unwrap()).unwrap()
}

/// The body of a function below the lets that take its argument apart.
pub(crate) fn body_of(program: &mut Program, name: &str) -> ExprId {
    let prefix = format!("[{name} ");
    let is_it = |def: &&crate::ir::Def| program.store.show_fun(def.fun).starts_with(&prefix);
    let def = *program.defs().rev().find(is_it).unwrap();
    assert!(matches!(def.body, Body::Expr(..)));
    start_of(program, def.fun)
}

/// The same of a function by its id.
pub(crate) fn start_of(program: &mut Program, fun: FunId) -> ExprId {
    open(program, fun).unwrap().start
}
