//! The typed intermediate representation, shared by checker, interpreter, derivatives, simplifier and back ends.
//!
//! Read [`expr`] (what an expression is) and [`store`] (how one is made) first. The invariants are in ARCHITECTURE.md.

pub mod alpha;
pub mod expr;
pub mod free;
pub mod name;
pub mod prim;
pub mod prim_type;
pub mod print;
pub mod program;
pub mod rule;
pub mod space;
pub mod store;
pub mod subst;
pub mod types;
pub mod validate;
pub mod walk;

pub use expr::{ExprId, ExprList, Node, VarId};
pub use name::{Derivation, FunId, FunName, Symbol};
pub use prim::Prim;
pub use program::{Body, Def, Gdef, Program};
pub use rule::{Class, Guard, Rule, Test};
pub use space::{Space, Spaced};
pub use store::Store;
pub use types::{DataId, Type, TypeId, TypeList, Types};
