//! Sums, in place; and accumulators.

use super::Failure;
use super::function::{Dest, Emitter};
use super::loops::{Source, Steps};
use super::types::{has_maps, points};
use super::value::Val;
use crate::ir::{ExprId, Node, Prim, Type, TypeId, VarId};

type Result<T> = std::result::Result<T, Failure>;

impl Emitter<'_> {
    pub(super) fn sumbuild(&mut self, size: ExprId, lam: ExprId, at: ExprId, hint: &str) -> Result<Val> {
        let sizes = self.sizes(size)?;
        self.check_sizes(size, &sizes, at);
        let (var, body) = self.lambda(lam);
        self.sum_over(&Source::Virtual(var, body), &sizes, at, hint)
    }

    /// `(sum t)`
    pub(super) fn sum(&mut self, over: ExprId, at: ExprId, hint: &str) -> Result<Val> {
        let (source, sizes) = self.source(over)?;
        self.sum_over(&source, &sizes, at, hint)
    }

    /// The sum of the elements of a source; `at` has the type and the place of the sum.
    fn sum_over(&mut self, source: &Source, sizes: &[String], at: ExprId, hint: &str) -> Result<Val> {
        let ty = self.ty(at);
        let is_empty: Vec<String> = sizes.iter().map(|size| format!("{size} == 0")).collect();
        let total = self.start_sum(ty, &is_empty.join(" || "), hint);
        let has_shape = !self.program.store.types.has_trivial_shape(ty);
        let first = if has_shape { self.body.variable("bool", "first", "true") } else { String::new() };
        let lent = match source {
            Source::Virtual(var, body) if ty == TypeId::UNIT => self.lend_to_loop(*var, *body, sizes)?,
            _ => vec![],
        };
        let (position, index, bound) = match source {
            Source::Virtual(var, body) => {
                let steps = Steps::of(!has_shape && self.adds_independently(*var, *body));
                let (position, outer) = self.open_loops(sizes, *var, &steps);
                (position, vec![], Some((*var, outer)))
            }
            Source::Tensor(_) => {
                let (position, index) = self.open_counters(sizes, "i", &Steps::InOrder);
                (position, index, None)
            }
        };
        let scope = self.open_scope();
        match source {
            Source::Virtual(_, body) if ty == TypeId::UNIT => {
                let lent = self.lend_to_step(*body)?;
                self.emit(*body, &Dest::Drop)?;
                self.give_back(lent);
            }
            Source::Virtual(_, body) => self.emit(*body, &Dest::Sum(&total, &first))?,
            Source::Tensor(_) => {
                let element = self.element_of(source, &position, &index, ty)?;
                self.add_term(&total, &element, ty, &first, at);
            }
        }
        if let Some(mark) = self.mark_of(&scope) {
            // The first term stays: the others are added to it.
            let condition = if has_shape { format!("if (!{first}) ") } else { String::new() };
            self.body.code(format!("{condition}memory.release({mark});"));
        }
        if has_shape {
            self.close_untidy_scope(scope);
            self.body.assign(&first, "=", "false");
        } else {
            self.close_scope(scope);
        }
        if let Some((var, outer)) = bound {
            self.unbind(var, outer);
        }
        self.close_loops(sizes);
        self.give_back(lent);
        if has_shape {
            let place = self.place(at);
            self.body.code(format!("if ({first}) ks::fail({place}, \"the sum of no tensors has no shape\");"));
        }
        Ok(total)
    }

    fn start_sum(&mut self, ty: TypeId, is_empty: &str, hint: &str) -> Val {
        match self.program.store.types.get(ty) {
            Type::Tuple(_) => {
                let fields = self.field_types(ty).unwrap_or_default();
                Val::Tuple(fields.into_iter().map(|field| self.start_sum(field, is_empty, hint)).collect())
            }
            Type::Float => {
                let value = format!("ks::start<ks::real>({is_empty})");
                Val::Text(self.body.variable("ks::real", hint, &value))
            }
            Type::Integer => Val::Text(self.body.variable("ks::integer", hint, "0")),
            _ => self.declare(ty, hint),
        }
    }

    /// An expression as a term of a sum.
    pub(super) fn sum_expr(&mut self, expr: ExprId, total: &Val, first: &str) -> Result<()> {
        let ty = self.ty(expr);
        let is_trivial = self.program.store.types.has_trivial_shape(ty);
        match (self.program.store.node(expr), total) {
            (Node::Tuple(fields), Val::Tuple(totals)) => {
                let fields = self.program.store.list(fields).to_vec();
                for (field, total) in fields.into_iter().zip(totals) {
                    self.emit(field, &Dest::Sum(total, first))?;
                }
                Ok(())
            }
            _ if is_trivial => self.add_expr(expr, total),
            (Node::Prim(Prim::Build, args), Val::Text(name)) if self.is_flat(ty) => {
                let (size, lam) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
                let sizes = self.sizes(size)?;
                let (place, element) = (self.place(expr), self.element_type(ty).1);
                let element = self.cpp(element);
                let all = sizes.iter().map(|size| format!("ks::integer({size})")).collect::<Vec<_>>().join(", ");
                self.body.allocate();
                self.body.code(format!(
                    "if ({first}) {name} = memory.fill<{element}>({place}, ks::nothing<{element}>(), {all});"
                ));
                self.add_build(&sizes, lam, name, expr)
            }
            _ => {
                let value = self.value_atom(expr, "term")?;
                self.add_term(total, &value, ty, first, expr);
                Ok(())
            }
        }
    }

    /// Whether the type is that of tensors of numbers, or of tuples of them.
    fn is_flat(&self, ty: TypeId) -> bool {
        matches!(self.program.store.types.get(ty), Type::Tensor(_, element)
            if self.program.store.types.has_trivial_shape(element))
    }

    /// A value as a term of a sum.
    fn add_term(&mut self, total: &Val, value: &Val, ty: TypeId, first: &str, at: ExprId) {
        let place = self.place(at);
        if self.program.store.types.has_trivial_shape(ty) {
            return self.add(total, value, ty, &place);
        }
        if let (Val::Tuple(totals), Some(types)) = (total, self.field_types(ty)) {
            let values = self.fields(value, ty);
            for ((total, value), ty) in totals.iter().zip(&values).zip(types) {
                self.add_term(total, value, ty, first, at);
            }
            return;
        }
        let (total_name, value_text) = (total.scalar().to_owned(), value.scalar().to_owned());
        self.body.allocate();
        let copy = if has_maps(&self.program.store, ty) {
            value_text
        } else {
            format!("ks::copy(memory, {value_text}, nullptr)")
        };
        self.body.open(format!("if ({first}) {{"));
        self.body.code(format!("{total_name} = {copy};"));
        self.body.otherwise();
        self.add(total, value, ty, &place);
        self.body.close();
    }

    /// Adds an expression to variables, accumulators or parts of tensors, which it does not mention.
    pub(super) fn add_expr(&mut self, expr: ExprId, target: &Val) -> Result<()> {
        let ty = self.ty(expr);
        match self.program.store.node(expr) {
            Node::Tuple(fields) => {
                let fields = self.program.store.list(fields).to_vec();
                let targets = self.fields(target, ty);
                for (field, target) in fields.into_iter().zip(&targets) {
                    self.emit(field, &Dest::Add(target))?;
                }
                Ok(())
            }
            Node::Prim(Prim::Build, args) => {
                let (size, lam) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
                let sizes = self.sizes(size)?;
                self.check_sizes(size, &sizes, expr);
                self.add_build(&sizes, lam, target.scalar(), expr)
            }
            _ => {
                let place = self.place(expr);
                let value = self.value(expr)?;
                self.add(target, &value, ty, &place);
                Ok(())
            }
        }
    }

    /// Adds the elements of a `build` to those of a tensor.
    fn add_build(&mut self, sizes: &[String], lam: ExprId, name: &str, at: ExprId) -> Result<()> {
        let place = self.place(at);
        for (axis, size) in sizes.iter().enumerate() {
            self.body.code(format!("ks::check_same({name}.size[{axis}], {size}, {place});"));
        }
        let (var, body) = self.lambda(lam);
        let is_flat = !points(&self.program.store, self.ty(body));
        let steps = Steps::of(is_flat && self.is_independent(var, body));
        let (position, outer) = self.open_loops(sizes, var, &steps);
        let scope = self.open_scope();
        self.emit(body, &Dest::Add(&Val::Text(format!("{name}.data[{position}]"))))?;
        if let Some(mark) = self.mark_of(&scope) {
            self.body.code(format!("memory.release({mark});"));
        }
        self.close_scope(scope);
        self.unbind(var, outer);
        self.close_loops(sizes);
        Ok(())
    }

    /// `$accumulate`: the variable of the lambda is a C++ variable.
    pub(super) fn accumulate(&mut self, zero: ExprId, lam: ExprId) -> Result<Val> {
        let (var, body) = self.lambda(lam);
        let hint = self.program.store.var_name(var).to_owned();
        let ty = self.ty(zero);
        let value = self.value(zero)?;
        let value = self.own(zero, value);
        let total = self.start(&value, ty, &hint);
        let outer = self.env.insert(var, total.clone());
        self.facts.note_accumulator(var);
        let is_new = self.accumulators.insert(var);
        let result = self.value(body)?;
        let result_type = self.ty(body);
        let result = self.atom(result, result_type, "t");
        if is_new {
            self.accumulators.remove(&var);
        }
        self.unbind(var, outer);
        Ok(Val::Tuple(vec![total, result]))
    }

    /// A value that may be changed.
    fn own(&mut self, expr: ExprId, value: Val) -> Val {
        let ty = self.ty(expr);
        let is_fresh = matches!(self.program.store.node(expr), Node::Prim(Prim::Zero | Prim::Build, _));
        if !points(&self.program.store, ty) || (is_fresh && self.is_flat(ty)) || self.is_zero(expr) {
            return value;
        }
        let whole = self.whole(&value, ty);
        self.body.allocate();
        self.now(format!("ks::copy(memory, {whole}, nullptr)"), ty, "own")
    }

    fn is_zero(&self, expr: ExprId) -> bool {
        matches!(self.program.store.node(expr), Node::Prim(Prim::Zero, _))
    }

    /// `$addTo`
    pub(super) fn add_to(&mut self, place: ExprId, value: ExprId) -> Result<Val> {
        let Some((root, target)) = self.target(place)? else {
            self.value(value)?;
            return Ok(Val::unit());
        };
        if self.program.store.mentions(value, root) {
            let ty = self.ty(value);
            let (value, at) = (self.value_atom(value, "term")?, self.place(value));
            self.add(&target, &value, ty, &at);
        } else {
            self.emit(value, &Dest::Add(&target))?;
        }
        Ok(Val::unit())
    }

    /// A part of an accumulator, and the variable of the accumulator.
    pub(super) fn target(&mut self, place: ExprId) -> Result<Option<(VarId, Val)>> {
        if let (Some(name), Some(root)) = (self.lent.get(&place), self.root(place)) {
            return Ok(Some((root, Val::Text(name.clone()))));
        }
        match self.program.store.node(place) {
            Node::Var(var) => Ok(self.env.get(&var).map(|value| (var, value.clone()))),
            Node::Get(field, whole) => {
                let ty = self.ty(whole);
                let Some((root, whole)) = self.target(whole)? else { return Ok(None) };
                Ok(Some((root, self.fields(&whole, ty)[field as usize].clone())))
            }
            Node::Prim(Prim::Index, args) => {
                let (index, whole) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
                let index = self.taken_by(index)?;
                let Some((root, whole)) = self.target(whole)? else { return Ok(None) };
                let text = self.access(whole.scalar(), &index, place);
                Ok(Some((root, Val::Text(text))))
            }
            _ => Ok(None),
        }
    }

    /// An accumulator, or a part of one, as a value: a copy, since the accumulator changes.
    pub(super) fn read(&mut self, expr: ExprId, hint: &str) -> Result<Val> {
        let ty = self.ty(expr);
        let Some((_, value)) = self.target(expr)? else { return Ok(Val::unit()) };
        let whole = self.whole(&value, ty);
        if !points(&self.program.store, ty) {
            return Ok(self.now(whole, ty, hint));
        }
        self.body.allocate();
        Ok(self.now(format!("ks::copy(memory, {whole}, nullptr)"), ty, hint))
    }

    /// The value of an expression of which only the shape matters: accumulators need no copy.
    pub(super) fn shaped(&mut self, expr: ExprId) -> Result<Val> {
        let root = self.root(expr);
        if root.is_some_and(|var| self.accumulators.contains(&var)) {
            return Ok(self.target(expr)?.map_or_else(Val::unit, |(_, value)| value));
        }
        self.value_atom(expr, "v")
    }

    /// The variable that a path of fields and indices starts from.
    pub(super) fn root(&self, mut expr: ExprId) -> Option<VarId> {
        loop {
            expr = match self.program.store.node(expr) {
                Node::Var(var) => return Some(var),
                Node::Get(_, whole) => whole,
                Node::Prim(Prim::Index, args) => self.program.store.list(args)[1],
                _ => return None,
            }
        }
    }
}
