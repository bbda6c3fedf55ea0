//! A checked program: definitions over one [`Store`].

use super::expr::{ExprId, Node, VarId};
use super::name::{Derivation, FunId, FunName, Symbol};
use super::prim::Prim;
use super::rule::Rule;
use super::space::Spaced;
use super::store::Store;
use crate::source::Span;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// A definition.
#[derive(Clone, Copy, Debug)]
pub struct Def {
    /// What it defines. Types of argument and result: [`Store::signature`].
    pub fun: FunId,
    /// What it computes.
    pub body: Body,
    /// Where it stands: the name in its `def`, `edef` or `gdef`.
    pub span: Span,
}

/// The right-hand side of a definition.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// An expression over the one parameter; where the source has several, the expression starts by taking the tuple apart.
    Expr(VarId, ExprId),
    /// Supplied in C++.
    External,
    /// The linear map that at an argument x is `[fwd f]` and, transposed, `[rev f]` of x: the body of `[D f]`.
    LinearMap {
        /// (S, dS) -> dT
        forward: FunId,
        /// (S, dT) -> dS
        reverse: FunId,
    },
}

/// A derivation that the program asks for.
#[derive(Clone, Copy, Debug)]
pub struct Gdef {
    /// What to make: a [`FunName::Derived`].
    pub fun: FunId,
    /// Where it is asked for.
    pub span: Span,
}

/// A checked program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Expressions, types, names.
    pub store: Store,
    /// Definitions in order, the prelude's first. A definition uses those above it and itself.
    defs: IndexMap<FunId, Def, FxBuildHasher>,
    /// What the name of an overloaded function, or of a derivation of one, may mean.
    overloads: FxHashMap<(Vec<Derivation>, Symbol), Vec<FunId>>,
    /// Derivations that are made or in the making, not written by the program.
    made: FxHashSet<FunId>,
    /// Functions that are known to act or not to: print, assert.
    acting: FxHashMap<FunId, bool>,
    /// Functions with parameters that are of a space.
    spaced: FxHashMap<FunId, Spaced>,
    /// `gdef` forms, in order.
    pub gdefs: Vec<Gdef>,
    /// `rule` forms, in order.
    pub rules: Vec<Rule>,
}

impl Program {
    /// The definition of a function.
    pub fn def(&self, fun: FunId) -> Option<&Def> {
        self.defs.get(&fun)
    }

    /// Every definition, in order.
    pub fn defs(&self) -> impl DoubleEndedIterator<Item = &Def> + ExactSizeIterator {
        self.defs.values()
    }

    /// Adds a definition at the end, in the place of one if there is one; the signature must be declared.
    pub fn define(&mut self, def: Def) {
        self.announce(def.fun);
        if self.def(def.fun).is_some() {
            self.acting.clear();
        }
        // What it uses may stand above it only now.
        self.defs.shift_remove(&def.fun);
        self.defs.insert(def.fun, def);
    }

    /// Gives a function another body that means the same, where its definition stands.
    pub(crate) fn replace(&mut self, def: Def) {
        self.defs.insert(def.fun, def);
    }

    /// Says that a derivation is being made: a call of it, in a recursive function, needs no other.
    pub(crate) fn start_making(&mut self, fun: FunId) {
        self.made.insert(fun);
    }

    /// Takes [`Program::start_making`] back: it cannot be made.
    pub(crate) fn stop_making(&mut self, fun: FunId) {
        self.made.remove(&fun);
    }

    /// Which parts of the argument of a function are of a space.
    pub fn spaced(&self, fun: FunId) -> &Spaced {
        self.spaced.get(&fun).unwrap_or(&Spaced::Flat)
    }

    /// Says which parts of the argument of a function are of a space.
    pub fn set_spaced(&mut self, fun: FunId, spaced: Spaced) {
        match spaced {
            Spaced::Flat => _ = self.spaced.remove(&fun),
            _ => _ = self.spaced.insert(fun, spaced),
        }
    }

    /// What is known of functions that act.
    pub(crate) fn acting(&mut self) -> &mut FxHashMap<FunId, bool> {
        &mut self.acting
    }

    /// Whether [`Program::start_making`] was called.
    pub(crate) fn is_making(&self, fun: FunId) -> bool {
        self.made.contains(&fun)
    }

    /// The definition that the program itself has of a function, as opposed to one that was made.
    pub fn own_def(&self, fun: FunId) -> Option<&Def> {
        self.def(fun).filter(|_| !self.made.contains(&fun))
    }

    /// Makes a declared function known by its name before it has a definition.
    pub fn announce(&mut self, fun: FunId) {
        let overloads = self.overloads.entry(self.store.plain_name(fun)).or_default();
        if !overloads.contains(&fun) {
            overloads.push(fun);
        }
    }

    /// The functions of a name: derivations from the outside in, then the name without type.
    pub fn overloads(&self, derivations: &[Derivation], name: Symbol) -> &[FunId] {
        self.overloads.get(&(derivations.to_vec(), name)).map_or(&[], Vec::as_slice)
    }

    /// The names of all functions without their derivations, in the order of their definitions.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.defs.keys().map(|fun| self.store.text(self.store.parts(*fun).1))
    }

    /// The parameter and body of a function: of its definition, or of the primitive that a built-in function is. None for external
    /// functions and for derivations that nobody has made yet.
    pub fn lambda(&mut self, fun: FunId) -> Option<(VarId, ExprId)> {
        match self.def(fun).map(|def| def.body) {
            Some(Body::Expr(param, body)) => Some((param, body)),
            Some(Body::External | Body::LinearMap { .. }) => None,
            None => self.expand_builtin(fun),
        }
    }

    /// `[add (Tuple Float Float)]` as a function of one parameter.
    fn expand_builtin(&mut self, fun: FunId) -> Option<(VarId, ExprId)> {
        let FunName::Base(name, arg) = self.store.fun(fun) else { return None };
        let prim = Prim::from_name(self.store.text(name)).filter(|prim| prim.is_function())?;
        let param = self.store.fresh("t", arg);
        let whole = self.store.var(param);
        let args = match self.store.types.fields(arg) {
            Some(fields) => (0..fields.len() as u32).map(|field| self.store.get(field, whole)).collect(),
            None => vec![whole],
        };
        let body = self.store.try_prim(prim, &args)?;
        Some((param, body))
    }

    /// `(def main Integer () ...)`
    pub fn main(&self) -> Option<FunId> {
        let name = self.store.find_symbol("main")?;
        let signature = Some((super::TypeId::UNIT, super::TypeId::INTEGER));
        let is_main = |fun: &&FunId| {
            let has_body = self.def(**fun).is_some_and(|def| matches!(def.body, Body::Expr(..)));
            has_body && self.store.signature(**fun) == signature
        };
        self.overloads(&[], name).iter().find(is_main).copied()
    }

    /// Whether a function is supplied in C++.
    pub fn is_external(&self, fun: FunId) -> bool {
        matches!(self.def(fun).map(|def| def.body), Some(Body::External))
    }

    /// Whether the expression is a lambda, which stands only where [`Node::Lam`] says.
    pub fn is_lam(&self, expr: ExprId) -> bool {
        matches!(self.store.node(expr), Node::Lam(..))
    }
}
