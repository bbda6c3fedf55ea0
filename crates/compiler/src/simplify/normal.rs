//! Normal form: every value that costs something is bound once, in the outermost block where it can be, and mentioned by name.

use super::facts::Facts;
use super::uses::Unused;
use super::{Settings, fold, straight};
use crate::ir::{Body, ExprId, FunId, Node, Prim, Program, Store, TypeId, VarId};
use crate::stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// An expression that may be mentioned any number of times: it costs nothing.
pub(super) fn is_atom(store: &Store, expr: ExprId) -> bool {
    match store.node(expr) {
        Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => true,
        Node::Get(_, tuple) => is_atom(store, tuple),
        Node::Tuple(fields) => store.list(fields).iter().all(|field| is_atom(store, *field)),
        _ => false,
    }
}

/// How often a block runs, compared with the one around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Once.
    Once,
    /// For each index or element.
    Loop,
    /// If it is chosen.
    Branch,
}

/// A block in the making.
struct Block {
    kind: Kind,
    bindings: Vec<(VarId, ExprId)>,
    /// Values that are at hand, by their canonical form.
    known: FxHashMap<ExprId, ExprId>,
}

/// Brings the body of a function into normal form.
pub(super) struct Normalizer<'a> {
    pub(super) program: &'a mut Program,
    pub(super) facts: &'a mut Facts,
    settings: &'a Settings,
    unused: &'a Unused,
    blocks: Vec<Block>,
    /// What stands for the variables of the source: atoms.
    pub(super) env: FxHashMap<VarId, ExprId>,
    /// The number of the block where each variable of the result is bound.
    level: FxHashMap<VarId, usize>,
    /// The values of the variables of the result.
    pub(super) values: FxHashMap<VarId, ExprId>,
    /// Functions that may be written out, with the size of what they compute.
    inlined: &'a FxHashSet<FunId>,
}

impl<'a> Normalizer<'a> {
    pub(super) fn new(
        program: &'a mut Program,
        facts: &'a mut Facts,
        settings: &'a Settings,
        unused: &'a Unused,
        inlined: &'a FxHashSet<FunId>,
    ) -> Self {
        Self {
            program,
            facts,
            settings,
            unused,
            blocks: vec![],
            env: FxHashMap::default(),
            level: FxHashMap::default(),
            values: FxHashMap::default(),
            inlined,
        }
    }

    /// The normal form of the body of a function.
    pub(super) fn function(&mut self, param: VarId, body: ExprId) -> (VarId, ExprId) {
        self.under(param, body, Kind::Once)
    }

    pub(super) fn store(&mut self) -> &mut Store {
        &mut self.program.store
    }

    /// The parameter and the body of a block of its own.
    fn under(&mut self, param: VarId, body: ExprId, kind: Kind) -> (VarId, ExprId) {
        let fresh = self.store().fresh_like(param);
        if self.facts.is_accumulator(param) {
            self.facts.note_accumulator(fresh);
        }
        if self.facts.holds_size(param) {
            self.facts.note_size(fresh);
        }
        self.level.insert(fresh, self.blocks.len());
        let atom = self.store().var(fresh);
        let outer = self.env.insert(param, atom);
        let body = self.block(body, kind);
        self.restore(param, outer);
        (fresh, body)
    }

    pub(super) fn restore(&mut self, var: VarId, outer: Option<ExprId>) {
        match outer {
            Some(outer) => self.env.insert(var, outer),
            None => self.env.remove(&var),
        };
    }

    fn block(&mut self, body: ExprId, kind: Kind) -> ExprId {
        self.blocks.push(Block { kind, bindings: vec![], known: FxHashMap::default() });
        let result = self.atom(body);
        let Some(block) = self.blocks.pop() else { return result };
        self.store().lets(&block.bindings, result)
    }

    /// A lambda that runs for each index or element.
    pub(super) fn loop_body(&mut self, lam: ExprId) -> ExprId {
        self.lam(lam, Kind::Loop)
    }

    /// A lambda over the indices below a size: these are never negative.
    pub(super) fn index_loop_body(&mut self, lam: ExprId) -> ExprId {
        if let Some(var) = self.program.store.bound_by(lam) {
            self.facts.note_size(var);
        }
        self.loop_body(lam)
    }

    fn lam(&mut self, lam: ExprId, kind: Kind) -> ExprId {
        let Node::Lam(var, body) = self.program.store.node(lam) else { return self.atom(lam) };
        let (var, body) = self.under(var, body, kind);
        self.store().lam(var, body)
    }

    /// The atom that stands for the value of an expression, after the bindings that it needs.
    pub(super) fn atom(&mut self, expr: ExprId) -> ExprId {
        stack::grow(|| self.atom_here(expr))
    }

    pub(super) fn atoms(&mut self, exprs: &[ExprId]) -> Vec<ExprId> {
        exprs.iter().map(|expr| self.atom(*expr)).collect()
    }

    fn atom_here(&mut self, mut expr: ExprId) -> ExprId {
        let mut shadowed = vec![];
        // A chain of lets of any length is one step.
        while let Node::Let(var, value, body) = self.program.store.node(expr) {
            let value = self.named(value, var);
            shadowed.push((var, self.env.insert(var, value)));
            expr = body;
        }
        let atom = self.plain(expr, None);
        for (var, outer) in shadowed.into_iter().rev() {
            self.restore(var, outer);
        }
        atom
    }

    pub(super) fn named(&mut self, expr: ExprId, name: VarId) -> ExprId {
        match self.program.store.node(expr) {
            Node::Let(..) => self.atom(expr),
            _ => stack::grow(|| self.plain(expr, Some(name))),
        }
    }

    /// An expression that is no let.
    fn plain(&mut self, expr: ExprId, name: Option<VarId>) -> ExprId {
        match self.program.store.node(expr) {
            Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Let(..) | Node::Lam(..) => expr,
            Node::Var(var) => {
                let atom = self.env.get(&var).copied().unwrap_or(expr);
                if self.facts.is_accumulator(var) { self.read(atom, name) } else { atom }
            }
            Node::Tuple(fields) => {
                let fields = self.program.store.list(fields).to_vec();
                let fields = self.atoms(&fields);
                self.store().tuple(&fields)
            }
            Node::Get(field, tuple) => {
                let tuple = self.atom(tuple);
                self.field(field, tuple)
            }
            Node::If(condition, then, otherwise) => self.if_((condition, then, otherwise), expr, name),
            Node::Assert(condition, body) => {
                let condition = self.atom(condition);
                if self.program.store.node(condition) != Node::Bool(true) {
                    let unit = self.store().tuple(&[]);
                    let check = self.store().assert(condition, unit);
                    self.emit(check, expr, None);
                }
                self.atom(body)
            }
            Node::Call(fun, arg) => self.call(fun, arg, expr, name),
            Node::Construct(data, constructor, arg) => {
                let arg = self.atom(arg);
                let made = self.store().construct(data, constructor, arg);
                self.emit(made, expr, name)
            }
            Node::Match(over, arms) => self.match_(over, arms, expr, name),
            Node::Prim(prim, args) => {
                let args = self.program.store.list(args).to_vec();
                self.prim(prim, &args, expr, name)
            }
        }
    }

    /// A field of an atom.
    pub(super) fn field(&mut self, field: u32, tuple: ExprId) -> ExprId {
        match self.program.store.node(tuple) {
            Node::Tuple(fields) => self.program.store.list(fields)[field as usize],
            _ => self.store().get(field, tuple),
        }
    }

    /// What an atom was bound to, if that is known.
    pub(super) fn value_of(&self, atom: ExprId) -> Option<ExprId> {
        match self.program.store.node(atom) {
            Node::Var(var) => self.values.get(&var).copied(),
            _ => None,
        }
    }

    /// Binds a value where it can be bound furthest out, unless it is at hand already. `from` is what it replaces, `name` a variable
    /// with a good name for it.
    pub(super) fn emit(&mut self, expr: ExprId, from: ExprId, name: Option<VarId>) -> ExprId {
        if is_atom(&self.program.store, expr) {
            return expr;
        }
        self.store().inherit_origin(expr, from);
        let is_pure = self.facts.is_pure(self.program, expr);
        let key = if is_pure { self.key(expr) } else { expr };
        let known = self.blocks.iter().rev().find_map(|block| block.known.get(&key)).filter(|_| is_pure);
        if let Some(known) = known {
            return *known;
        }
        let level = self.home(expr);
        let ty = self.program.store.ty(expr);
        let var = match name {
            Some(name) if self.program.store.var_type(name) == ty => self.store().fresh_like(name),
            _ => self.store().fresh("t", ty),
        };
        if let Node::Prim(Prim::Size, _) = self.program.store.node(expr) {
            self.facts.note_size(var);
        }
        let atom = self.store().var(var);
        self.level.insert(var, level);
        self.values.insert(var, expr);
        let block = &mut self.blocks[level];
        block.bindings.push((var, expr));
        if is_pure {
            block.known.insert(key, atom);
        }
        if ty == TypeId::UNIT { self.store().tuple(&[]) } else { atom }
    }

    /// What equal values have in common: the expression up to the names of what it binds.
    fn key(&mut self, expr: ExprId) -> ExprId {
        let has_lambdas = match self.program.store.node(expr) {
            Node::Prim(prim, _) => !prim.is_function(),
            Node::If(..) | Node::Match(..) => true,
            _ => false,
        };
        if has_lambdas { self.store().canonical(expr) } else { expr }
    }

    /// The block where an expression is bound: out of loops that do not change it.
    fn home(&mut self, expr: ExprId) -> usize {
        let last = self.blocks.len() - 1;
        if self.blocks[last].kind == Kind::Branch || !self.facts.is_total(self.program, expr) {
            return last;
        }
        let free = self.program.store.free_vars(expr);
        let needed = free.iter().filter_map(|var| self.level.get(var)).max().copied().unwrap_or(0);
        let mut level = last;
        while level > needed && self.blocks[level].kind != Kind::Branch {
            level -= 1;
        }
        level
    }

    fn if_(
        &mut self,
        (condition, then, otherwise): (ExprId, ExprId, ExprId),
        from: ExprId,
        name: Option<VarId>,
    ) -> ExprId {
        let condition = self.atom(condition);
        match self.program.store.node(condition) {
            Node::Bool(true) => return self.atom(then),
            Node::Bool(false) => return self.atom(otherwise),
            _ => {}
        }
        let (then, otherwise) = (self.block(then, Kind::Branch), self.block(otherwise, Kind::Branch));
        if then == otherwise && is_atom(&self.program.store, then) {
            return then;
        }
        let made = self.store().if_(condition, then, otherwise);
        self.emit(made, from, name)
    }

    fn match_(&mut self, over: ExprId, arms: crate::ir::ExprList, from: ExprId, name: Option<VarId>) -> ExprId {
        let over = self.atom(over);
        let arms = self.program.store.list(arms).to_vec();
        let known = self.value_of(over).map(|value| self.program.store.node(value));
        if let Some(Node::Construct(_, constructor, held)) = known
            && let Node::Lam(var, body) = self.program.store.node(arms[constructor as usize])
        {
            let outer = self.env.insert(var, held);
            let result = self.atom(body);
            self.restore(var, outer);
            return result;
        }
        let arms: Vec<ExprId> = arms.into_iter().map(|arm| self.lam(arm, Kind::Branch)).collect();
        let made = self.store().match_(over, &arms);
        self.emit(made, from, name)
    }

    fn call(&mut self, fun: FunId, arg: ExprId, from: ExprId, name: Option<VarId>) -> ExprId {
        let is_external = matches!(self.program.def(fun).map(|def| def.body), Some(Body::External));
        let arg = match self.program.store.node(arg) {
            Node::Tuple(parts) if is_external => {
                let parts = self.program.store.list(parts).to_vec();
                let parts: Vec<ExprId> = parts.into_iter().map(|part| self.argument(part)).collect();
                self.store().tuple(&parts)
            }
            _ => self.argument(arg),
        };
        if let (true, Some(Body::Expr(param, body))) =
            (self.inlined.contains(&fun), self.program.def(fun).map(|def| def.body))
        {
            let outer = self.env.insert(param, arg);
            let result = self.atom(body);
            self.restore(param, outer);
            return result;
        }
        let call = self.store().call(fun, arg);
        self.emit(call, from, name)
    }

    fn argument(&mut self, expr: ExprId) -> ExprId {
        match self.program.store.node(expr) {
            Node::Lam(..) => self.lam(expr, Kind::Loop),
            _ => self.atom(expr),
        }
    }

    fn prim(&mut self, prim: Prim, args: &[ExprId], from: ExprId, name: Option<VarId>) -> ExprId {
        if prim.is_function() {
            let args = self.atoms(args);
            return self.scalar(prim, &args, from, name);
        }
        match prim {
            Prim::AddTo => self.add_to(args, from),
            Prim::Accumulate => self.accumulate(args, from, name),
            Prim::Size | Prim::Zero | Prim::Shape if self.is_part_of_accumulator(args[0]) => {
                let place = self.place(args[0]).unwrap_or(args[0]);
                let made = self.store().prim(prim, &[place]);
                self.emit(made, from, name)
            }
            Prim::Index if self.is_part_of_accumulator(from) => {
                let place = self.place(from).unwrap_or(from);
                self.read(place, name)
            }
            _ => {
                let args: Vec<ExprId> = args.iter().map(|arg| self.atom_or_lambda(*arg)).collect();
                self.tensor(prim, &args, from, name)
            }
        }
    }

    /// An accumulator, or a part of one, as it is now.
    fn read(&mut self, place: ExprId, name: Option<VarId>) -> ExprId {
        let copy = self.store().prim(Prim::Copydown, &[place]);
        self.emit(copy, place, name)
    }

    fn is_part_of_accumulator(&self, mut place: ExprId) -> bool {
        loop {
            place = match self.program.store.node(place) {
                Node::Var(var) => return self.facts.is_accumulator(var),
                Node::Get(_, whole) => whole,
                Node::Prim(Prim::Index, args) => self.program.store.list(args)[1],
                _ => return false,
            }
        }
    }

    /// Whether nobody asks for a field of the value that a variable is bound to.
    pub(super) fn unused_field(&self, name: Option<VarId>, field: u32) -> bool {
        name.is_some_and(|name| self.unused.fields.contains(&(name, field)))
    }

    pub(super) fn checks_bounds(&self) -> bool {
        self.settings.checks_bounds
    }

    /// Lambdas stay as they are until it is clear that the loop stays: its rules may write them out.
    fn atom_or_lambda(&mut self, arg: ExprId) -> ExprId {
        match self.program.store.node(arg) {
            Node::Lam(..) => arg,
            _ => self.atom(arg),
        }
    }

    pub(super) fn scalar(&mut self, prim: Prim, args: &[ExprId], from: ExprId, name: Option<VarId>) -> ExprId {
        // One step further than atoms: what a negative is the negative of.
        let deep: Vec<ExprId> = args.iter().map(|arg| self.see_through(*arg)).collect();
        for args in [args, &deep] {
            if let Some(simple) = fold::scalar(&mut self.program.store, self.settings.width, prim, args) {
                if let Node::Prim(..) = self.program.store.node(simple) {
                    let args = self.program.store.children(simple);
                    if args.iter().all(|arg| is_atom(&self.program.store, *arg)) {
                        return self.emit(simple, from, name);
                    }
                } else {
                    return simple;
                }
            }
        }
        let made = self.store().prim(prim, args);
        self.emit(made, from, name)
    }

    fn see_through(&self, atom: ExprId) -> ExprId {
        let value = self.value_of(atom);
        let is_negative = |value: &ExprId| matches!(self.program.store.node(*value), Node::Prim(Prim::Neg, _));
        value.filter(is_negative).unwrap_or(atom)
    }

    /// The loop of a primitive whose lambdas are as in the source.
    pub(super) fn finish(&mut self, prim: Prim, args: &[ExprId], from: ExprId, name: Option<VarId>) -> ExprId {
        let body = if prim.is_over_indices() { Self::index_loop_body } else { Self::loop_body };
        let is_lam = |normal: &Self, arg: ExprId| normal.program.is_lam(arg);
        let args: Vec<ExprId> =
            args.iter().map(|arg| if is_lam(self, *arg) { body(self, *arg) } else { *arg }).collect();
        let made = self.store().prim(prim, &args);
        self.emit(made, from, name)
    }

    /// `$addTo` to an accumulator that nobody reads is nothing.
    fn add_to(&mut self, args: &[ExprId], from: ExprId) -> ExprId {
        let unit = self.store().tuple(&[]);
        let Some(place) = self.place(args[0]) else {
            self.atom(args[1]);
            return unit;
        };
        let value = self.atom(args[1]);
        let made = self.store().prim(Prim::AddTo, &[place, value]);
        self.emit(made, from, None);
        unit
    }

    /// A part of an accumulator, which is no value; none if nobody reads the accumulator.
    fn place(&mut self, place: ExprId) -> Option<ExprId> {
        match self.program.store.node(place) {
            Node::Var(var) if self.unused.accumulators.contains(&var) => None,
            Node::Var(var) => Some(self.env.get(&var).copied().unwrap_or(place)),
            Node::Get(field, whole) => {
                let whole = self.place(whole)?;
                Some(self.field(field, whole))
            }
            Node::Prim(Prim::Index, args) => {
                let (index, whole) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
                let index = self.atom(index);
                let whole = self.place(whole)?;
                Some(self.store().prim(Prim::Index, &[index, whole]))
            }
            _ => None,
        }
    }

    fn accumulate(&mut self, args: &[ExprId], from: ExprId, name: Option<VarId>) -> ExprId {
        let zero = self.atom(args[0]);
        let Node::Lam(var, body) = self.program.store.node(args[1]) else { return zero };
        if self.unused.accumulators.contains(&var) {
            let result = self.atom(body);
            return self.store().tuple(&[zero, result]);
        }
        if let Some(sum) = straight::summed(self.store(), zero, var, body) {
            return self.atom(sum);
        }
        self.facts.note_accumulator(var);
        let lam = self.lam(args[1], Kind::Once);
        let made = self.store().prim(Prim::Accumulate, &[zero, lam]);
        self.emit(made, from, name)
    }
}
