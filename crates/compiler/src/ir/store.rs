//! The arena of expressions: hash-consed, so that structural equality is equality of ids, and typed, so that an id has a type.

use super::expr::{ExprId, ExprList, Node, VarId};
use super::name::{Derivation, FunId, FunName, Symbol};
use super::prim::Prim;
use super::prim_type;
use super::types::{DataId, Type, TypeId, Types};
use crate::source::Span;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// What is known of an expression when it is made.
#[derive(Clone, Copy, Debug)]
struct Facts {
    ty: TypeId,
    /// A Bloom filter of the free variables; 0 means closed.
    free: u64,
    /// Nodes of the expression as a tree, at most `u32::MAX`.
    size: u32,
    /// Whether something is bound in it.
    has_binders: bool,
}

/// A variable.
#[derive(Clone, Copy, Debug)]
struct Var {
    name: Symbol,
    ty: TypeId,
    /// Whether an `$accumulate` binds it.
    accumulates: bool,
}

/// All expressions, types and names of a program.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Types.
    pub types: Types,
    symbols: IndexSet<Box<str>, FxBuildHasher>,
    funs: IndexSet<FunName, FxBuildHasher>,
    signatures: FxHashMap<FunId, (TypeId, TypeId)>,
    vars: Vec<Var>,
    nodes: IndexSet<Node, FxBuildHasher>,
    facts: Vec<Facts>,
    lists: IndexSet<Box<[ExprId]>, FxBuildHasher>,
    origins: FxHashMap<ExprId, Span>,
    /// Variables of canonical forms, by the number of binders around, their type, and whether they are accumulators.
    canonical: FxHashMap<(u32, TypeId, bool), VarId>,
}

/// Names.
impl Store {
    /// Interns a text.
    pub fn symbol(&mut self, text: &str) -> Symbol {
        let index = match self.symbols.get_index_of(text) {
            Some(index) => index,
            None => self.symbols.insert_full(text.into()).0,
        };
        Symbol(index as u32)
    }

    /// The symbol of a text that is interned.
    pub fn find_symbol(&self, text: &str) -> Option<Symbol> {
        self.symbols.get_index_of(text).map(|index| Symbol(index as u32))
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol.0 as usize]
    }

    /// A new variable, different from all others whatever their names.
    pub fn fresh(&mut self, name: &str, ty: TypeId) -> VarId {
        let name = self.symbol(name);
        self.fresh_named(name, ty)
    }

    /// As [`Store::fresh`].
    pub fn fresh_named(&mut self, name: Symbol, ty: TypeId) -> VarId {
        self.vars.push(Var { name, ty, accumulates: false });
        VarId(self.vars.len() as u32 - 1)
    }

    /// A new variable with the name and type of another.
    pub fn fresh_like(&mut self, var: VarId) -> VarId {
        let Var { name, ty, .. } = self.vars[var.index()];
        self.fresh_named(name, ty)
    }

    /// The variable that canonical forms bind below `level` other binders. Accumulators have variables of their own, so that what is
    /// known of an expression by its id holds wherever it stands.
    pub(crate) fn canonical_var(&mut self, level: u32, ty: TypeId, accumulates: bool) -> VarId {
        if let Some(var) = self.canonical.get(&(level, ty, accumulates)) {
            return *var;
        }
        let var = self.fresh(&format!("v{level}"), ty);
        self.vars[var.index()].accumulates = accumulates;
        self.canonical.insert((level, ty, accumulates), var);
        var
    }

    /// Whether a variable is one that canonical forms bind.
    pub(crate) fn is_canonical_var(&self, var: VarId) -> bool {
        self.canonical.values().any(|canonical| *canonical == var)
    }

    /// Whether an `$accumulate` binds the variable; known once that is made.
    pub(crate) fn accumulates(&self, var: VarId) -> bool {
        self.vars[var.index()].accumulates
    }

    /// The name of a variable, as the user wrote it.
    pub fn var_name(&self, var: VarId) -> &str {
        self.text(self.vars[var.index()].name)
    }

    /// The type of a variable.
    pub fn var_type(&self, var: VarId) -> TypeId {
        self.vars[var.index()].ty
    }

    /// How many variables there are: each [`VarId::index`] is below.
    pub fn var_count(&self) -> usize {
        self.vars.len()
    }
}

/// Functions.
impl Store {
    /// `[name arg]`
    pub fn base(&mut self, name: Symbol, arg: TypeId) -> FunId {
        self.intern_fun(FunName::Base(name, arg))
    }

    /// `[derivation of]`
    pub fn derived(&mut self, derivation: Derivation, of: FunId) -> FunId {
        self.intern_fun(FunName::Derived(derivation, of))
    }

    fn intern_fun(&mut self, name: FunName) -> FunId {
        FunId(self.funs.insert_full(name).0 as u32)
    }

    /// The name of a function.
    pub fn fun(&self, fun: FunId) -> FunName {
        self.funs[fun.0 as usize]
    }

    /// The derivations of a function from the outside in, its name, and the argument type of what it is derived from.
    pub fn parts(&self, mut fun: FunId) -> (Vec<Derivation>, Symbol, TypeId) {
        let mut derivations = vec![];
        loop {
            match self.fun(fun) {
                FunName::Base(name, arg) => return (derivations, name, arg),
                FunName::Derived(derivation, of) => {
                    derivations.push(derivation);
                    fun = of;
                }
            }
        }
    }

    /// [`Store::parts`] without the type: what a call names.
    pub(super) fn plain_name(&self, fun: FunId) -> (Vec<Derivation>, Symbol) {
        let (derivations, name, _) = self.parts(fun);
        (derivations, name)
    }

    /// Says what a function takes and gives.
    pub fn declare(&mut self, fun: FunId, arg: TypeId, result: TypeId) {
        self.signatures.insert(fun, (arg, result));
    }

    /// What a function takes and gives, if it is declared.
    pub fn signature(&self, fun: FunId) -> Option<(TypeId, TypeId)> {
        self.signatures.get(&fun).copied()
    }
}

/// What is in the arena.
impl Store {
    /// The outermost step of an expression.
    pub fn node(&self, expr: ExprId) -> Node {
        self.nodes[expr.index()]
    }

    /// The expressions of a list.
    pub fn list(&self, list: ExprList) -> &[ExprId] {
        &self.lists[list.0 as usize]
    }

    /// The type of an expression.
    pub fn ty(&self, expr: ExprId) -> TypeId {
        self.facts[expr.index()].ty
    }

    /// Nodes of an expression as a tree, at most `u32::MAX`.
    pub fn size(&self, expr: ExprId) -> u32 {
        self.facts[expr.index()].size
    }

    /// False if the variable is certainly not free in the expression; true almost only if it is.
    pub fn may_mention(&self, expr: ExprId, var: VarId) -> bool {
        self.facts[expr.index()].free & var_bit(var) != 0
    }

    /// Whether a `let` or a lambda is part of the expression.
    pub fn has_binders(&self, expr: ExprId) -> bool {
        self.facts[expr.index()].has_binders
    }

    /// Whether the expression certainly has no free variables.
    pub fn is_closed(&self, expr: ExprId) -> bool {
        self.facts[expr.index()].free == 0
    }

    /// How many expressions there are: each [`ExprId::index`] is below.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Where the expression, or one that became it, stands in the source; the first place where there are several.
    pub fn origin(&self, expr: ExprId) -> Option<Span> {
        self.origins.get(&expr).copied()
    }

    /// Says where an expression stands, unless that is known.
    pub fn set_origin(&mut self, expr: ExprId, span: Span) {
        self.origins.entry(expr).or_insert(span);
    }

    /// Gives an expression the place of the one that it replaces, unless it has a place.
    pub fn inherit_origin(&mut self, expr: ExprId, from: ExprId) {
        if let Some(span) = self.origin(from) {
            self.set_origin(expr, span);
        }
    }
}

/// The bit of a variable in the filter of free variables.
fn var_bit(var: VarId) -> u64 {
    1 << (var.0 % 64)
}

/// Making expressions. The parts must fit: a pass that makes an ill-typed expression is a bug, which these functions find.
impl Store {
    /// Interns a list.
    pub fn make_list(&mut self, exprs: &[ExprId]) -> ExprList {
        let index = match self.lists.get_index_of(exprs) {
            Some(index) => index,
            None => self.lists.insert_full(exprs.into()).0,
        };
        ExprList(index as u32)
    }

    /// Interns a node whose type is known.
    pub(super) fn intern(&mut self, node: Node, ty: TypeId) -> ExprId {
        let (index, is_new) = self.nodes.insert_full(node);
        if is_new {
            let facts = self.new_facts(node, ty);
            self.facts.push(facts);
        }
        ExprId(index as u32)
    }

    fn new_facts(&self, node: Node, ty: TypeId) -> Facts {
        let free = if let Node::Var(var) = node { var_bit(var) } else { 0 };
        let has_binders = matches!(node, Node::Let(..) | Node::Lam(..));
        let mut facts = Facts { ty, free, size: 1, has_binders };
        self.for_each_child(node, |child| {
            let part = self.facts[child.index()];
            facts.free |= part.free;
            facts.size = facts.size.saturating_add(part.size);
            facts.has_binders |= part.has_binders;
        });
        facts
    }

    /// Interns a node; its type follows from its parts.
    ///
    /// # Panics
    /// If the parts do not fit.
    pub fn make(&mut self, node: Node) -> ExprId {
        match node {
            Node::Integer(_) => self.intern(node, TypeId::INTEGER),
            Node::Float(_) => self.intern(node, TypeId::FLOAT),
            Node::Bool(_) => self.intern(node, TypeId::BOOL),
            Node::String(_) => self.intern(node, TypeId::STRING),
            Node::Var(var) => self.intern(node, self.var_type(var)),
            Node::Tuple(fields) => {
                let types: Vec<TypeId> = self.list(fields).iter().map(|field| self.ty(*field)).collect();
                let ty = self.types.tuple(&types);
                self.intern(node, ty)
            }
            Node::Get(field, tuple) => {
                let fields = self.types.fields(self.ty(tuple)).expect("get takes a tuple");
                self.intern(node, fields[field as usize])
            }
            Node::Let(var, value, body) => {
                assert_eq!(self.var_type(var), self.ty(value), "let {}", self.var_name(var));
                self.intern(node, self.ty(body))
            }
            Node::If(condition, then, otherwise) => {
                assert!(self.ty(condition) == TypeId::BOOL && self.ty(then) == self.ty(otherwise), "if");
                self.intern(node, self.ty(then))
            }
            Node::Assert(condition, body) => {
                assert_eq!(self.ty(condition), TypeId::BOOL, "assert");
                self.intern(node, self.ty(body))
            }
            Node::Lam(var, body) => {
                let ty = self.types.lam(self.var_type(var), self.ty(body));
                self.intern(node, ty)
            }
            Node::Call(fun, arg) => {
                let (expected, result) = self.signature(fun).expect("a called function is declared");
                assert_eq!(expected, self.ty(arg), "call");
                self.intern(node, result)
            }
            Node::Prim(prim, args) => {
                let args = self.list(args).to_vec();
                self.try_prim(prim, &args).unwrap_or_else(|| panic!("{} does not take these types", prim.name()))
            }
            Node::Construct(data, constructor, arg) => {
                assert_eq!(self.types.data(data).constructors[constructor as usize].1, self.ty(arg), "constructor");
                let ty = self.types.data_type(data);
                self.intern(node, ty)
            }
            Node::Match(_, arms) => {
                let Type::Lam(_, ty) = self.types.get(self.ty(self.list(arms)[0])) else {
                    panic!("an arm is a lambda")
                };
                self.intern(node, ty)
            }
        }
    }

    /// Interns a node whose type the caller knows.
    pub(crate) fn make_typed(&mut self, node: Node, ty: TypeId) -> ExprId {
        let made = self.intern(node, ty);
        debug_assert_eq!(self.make(node), made, "the type is the one that follows");
        debug_assert_eq!(self.ty(made), ty, "the type is the one that follows");
        made
    }

    /// A whole number.
    pub fn integer(&mut self, value: i64) -> ExprId {
        self.make(Node::Integer(value))
    }

    /// A real number.
    pub fn float(&mut self, value: f64) -> ExprId {
        self.make(Node::Float(value.into()))
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) -> ExprId {
        self.make(Node::Bool(value))
    }

    /// A text.
    pub fn string(&mut self, value: &str) -> ExprId {
        let symbol = self.symbol(value);
        self.make(Node::String(symbol))
    }

    /// A variable.
    pub fn var(&mut self, var: VarId) -> ExprId {
        self.make(Node::Var(var))
    }

    /// A tuple.
    pub fn tuple(&mut self, fields: &[ExprId]) -> ExprId {
        let fields = self.make_list(fields);
        self.make(Node::Tuple(fields))
    }

    /// A field of a tuple, from 0.
    pub fn get(&mut self, field: u32, tuple: ExprId) -> ExprId {
        self.make(Node::Get(field, tuple))
    }

    /// `(let (var value) body)`
    pub fn let_(&mut self, var: VarId, value: ExprId, body: ExprId) -> ExprId {
        self.make(Node::Let(var, value, body))
    }

    /// `(let ((var value) ...) body)`
    pub fn lets(&mut self, bindings: &[(VarId, ExprId)], body: ExprId) -> ExprId {
        bindings.iter().rev().fold(body, |body, (var, value)| self.let_(*var, *value, body))
    }

    /// `(if condition then otherwise)`
    pub fn if_(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.make(Node::If(condition, then, otherwise))
    }

    /// `(assert condition body)`
    pub fn assert(&mut self, condition: ExprId, body: ExprId) -> ExprId {
        self.make(Node::Assert(condition, body))
    }

    /// `(lam (var : T) body)`
    pub fn lam(&mut self, var: VarId, body: ExprId) -> ExprId {
        self.make(Node::Lam(var, body))
    }

    /// A call.
    pub fn call(&mut self, fun: FunId, arg: ExprId) -> ExprId {
        self.make(Node::Call(fun, arg))
    }

    /// A primitive.
    ///
    /// # Panics
    /// If it does not take arguments of these types.
    pub fn prim(&mut self, prim: Prim, args: &[ExprId]) -> ExprId {
        let args = self.make_list(args);
        self.make(Node::Prim(prim, args))
    }

    /// A primitive, unless it does not take arguments of these types.
    pub fn try_prim(&mut self, prim: Prim, args: &[ExprId]) -> Option<ExprId> {
        let types: Vec<TypeId> = args.iter().map(|arg| self.ty(*arg)).collect();
        let ty = prim_type::result(&mut self.types, prim, &types)?;
        if prim == Prim::Accumulate
            && let Some(var) = self.bound_by(args[1])
        {
            self.vars[var.index()].accumulates = true;
        }
        let args = self.make_list(args);
        Some(self.intern(Node::Prim(prim, args), ty))
    }

    /// A value of a sum type.
    pub fn construct(&mut self, data: DataId, constructor: u32, arg: ExprId) -> ExprId {
        self.make(Node::Construct(data, constructor, arg))
    }

    /// A match with one lambda for each constructor.
    pub fn match_(&mut self, value: ExprId, arms: &[ExprId]) -> ExprId {
        let arms = self.make_list(arms);
        self.make(Node::Match(value, arms))
    }
}
