//! Rewriting: what an optimiser may do to an expression, one step at a time. A state is an expression in canonical form, an action is a
//! rule and a place in it.
//!
//! Suggested reading order: `rule` (what a rule is), `pattern` (rules as data, of which `rules/README.md` tells more), `rewriter` (all
//! that can be done to an expression), `effects` (why nothing fails earlier or later than it did), `builtin/` (rules that no pattern
//! can say).
//!
//! ```
//! use labrys_compiler::rewrite::{Rewriter, RuleSet, Settings};
//! use labrys_compiler::{Sources, compile, ir::Body};
//!
//! let sources = Sources::with("f.ks", "(def f Float (x : Float) (mul (add x x) 1.0))").unwrap();
//! let mut program = compile(&sources).unwrap();
//! let Some(Body::Expr(param, body)) = program.defs().last().map(|def| def.body) else { panic!() };
//! let rules = RuleSet::standard(&mut program, Settings::default());
//! let mut rewriter = Rewriter::new(&rules);
//! let (_, start) = rewriter.begin(&mut program, param, body);
//! let mut successors = vec![];
//! rewriter.actions(&mut program, start, &mut successors);
//! let shown: Vec<String> = successors.iter().map(|(_, expr)| program.store.show(*expr)).collect();
//! assert!(shown.contains(&"(add x x)".to_owned()), "mul_one");
//! ```

mod builtin;
pub mod certificate;
pub mod compare;
mod conditions;
mod effects;
pub mod explain;
mod guard;
mod instantiate;
mod matching;
pub mod pattern;
pub mod place;
pub mod replay;
mod rewriter;
pub mod rule;
mod set;
pub mod verify;

pub use crate::ir::Class;
pub(crate) use conditions::Conditions;
pub use pattern::RuleError;
pub use place::{Action, Place};
pub use rewriter::{NotApplicable, Rewriter};
pub use rule::{Mode, Rule, RuleId, Settings};
pub use set::RuleSet;
