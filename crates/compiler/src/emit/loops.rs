//! Loops: tensors that are made, consumed without being made, and summed in place.

use super::Failure;
use super::body::{Allocated, Position};
use super::function::{Dest, Emitter};
use super::types::points;
use super::value::Val;
use crate::ir::{ExprId, Node, Prim, Type, TypeId, VarId};

type Result<T> = std::result::Result<T, Failure>;

/// What a loop goes over.
pub(super) enum Source {
    /// The elements of a tensor, by its name.
    Tensor(String),
    /// Elements that are computed when they are wanted: the variable and the body of the lambda of a `build`.
    Virtual(VarId, ExprId),
}

/// How the steps of a loop may run.
pub(super) enum Steps {
    /// One after another.
    InOrder,
    /// Those of the innermost C++ loop in any order.
    Independent,
    /// Those of the outermost one from here to there, on a thread of their own.
    Within(String, String),
}

impl Steps {
    pub(super) fn of(is_independent: bool) -> Self {
        if is_independent { Self::Independent } else { Self::InOrder }
    }
}

/// Code whose allocations are released at its end.
pub(super) struct Scope {
    start: Position,
    around: Allocated,
}

impl Emitter<'_> {
    pub(super) fn open_scope(&mut self) -> Scope {
        let around = std::mem::take(&mut self.body.allocated);
        Scope { start: self.body.here(), around }
    }

    /// The mark at the start of the scope, if there is anything to release.
    pub(super) fn mark_of(&mut self, scope: &Scope) -> Option<String> {
        let allocates = self.body.allocated.any;
        allocates.then(|| self.body.insert_constant(scope.start, "char* const", "floor", "memory.mark()"))
    }

    /// The mark at the start of the scope, if it allocates what is not part of its value.
    pub(super) fn mark_of_garbage(&mut self, scope: &Scope, value: &str) -> Option<String> {
        let has_garbage = self.body.allocated.leaves_more_than(value);
        if has_garbage { self.mark_of(scope) } else { None }
    }

    pub(super) fn close_scope(&mut self, scope: Scope) {
        let any = self.body.allocated.any | scope.around.any;
        self.body.allocated = Allocated { any, ..scope.around };
    }

    /// Ends a scope that leaves something behind.
    pub(super) fn close_untidy_scope(&mut self, scope: Scope) {
        self.body.allocated.other = self.body.allocated.any;
        let other = self.body.allocated.other | scope.around.other;
        self.close_scope(scope);
        self.body.allocated.other = other;
    }

    /// [`Emitter::mark_of`] and its release.
    pub(super) fn release_scope(&mut self, scope: Scope) {
        if let Some(mark) = self.mark_of(&scope) {
            self.body.code(format!("memory.release({mark});"));
        }
        self.close_scope(scope);
    }

    /// The sizes that an expression says, as atoms.
    pub(super) fn sizes(&mut self, size: ExprId) -> Result<Vec<String>> {
        let ty = self.ty(size);
        let value = self.value_atom(size, "n")?;
        Ok(self.parts_of_index(&value, ty))
    }

    /// The sizes of a tensor, as atoms.
    pub(super) fn sizes_of(&mut self, tensor: &str, rank: u32) -> Vec<String> {
        (0..rank).map(|axis| self.body.constant("ks::integer", "n", format!("{tensor}.size[{axis}]"), true)).collect()
    }

    /// Opens a loop over all indices and binds the variable to the index. Gives the position of the element.
    pub(super) fn open_loops(&mut self, sizes: &[String], var: VarId, steps: &Steps) -> (String, Option<Val>) {
        self.facts.note_size(var);
        let hint = self.program.store.var_name(var).to_owned();
        let (position, index) = self.open_counters(sizes, &hint, steps);
        let index = if let [one] = &index[..] {
            Val::Text(one.clone())
        } else {
            Val::Tuple(index.into_iter().map(Val::Text).collect())
        };
        (position, self.env.insert(var, index))
    }

    pub(super) fn open_counters(&mut self, sizes: &[String], hint: &str, steps: &Steps) -> (String, Vec<String>) {
        let mut names = vec![];
        let mut position = String::new();
        for (axis, size) in sizes.iter().enumerate() {
            let name = self.body.names.local(hint);
            let (hint, from, to) = match steps {
                Steps::Independent if axis + 1 == sizes.len() => ("KS_INDEPENDENT ", "0", size),
                Steps::Within(from, to) if axis == 0 => ("", from.as_str(), to),
                _ => ("", "0", size),
            };
            self.body.open(format!("{hint}for (ks::integer {name} = {from}; {name} < {to}; ++{name}) {{"));
            position = if position.is_empty() { name.clone() } else { format!("({position} * {size} + {name})") };
            names.push(name);
        }
        self.depth += sizes.len();
        (position, names)
    }

    pub(super) fn close_loops(&mut self, sizes: &[String]) {
        self.depth -= sizes.len();
        sizes.iter().for_each(|_| self.body.close());
    }

    pub(super) fn lambda(&self, lam: ExprId) -> (VarId, ExprId) {
        match self.program.store.node(lam) {
            Node::Lam(var, body) => (var, body),
            _ => unreachable!("the checker lets only lambdas through here"),
        }
    }

    pub(super) fn element_type(&self, tensor: TypeId) -> (u32, TypeId) {
        match self.program.store.types.get(tensor) {
            Type::Tensor(rank, element) => (rank, element),
            _ => (1, TypeId::UNIT),
        }
    }

    /// A tensor whose elements are set next.
    pub(super) fn make(&mut self, ty: TypeId, sizes: &[String], at: ExprId, hint: &str) -> String {
        let (_, element) = self.element_type(ty);
        let (cpp, element, place) = (self.cpp(ty), self.cpp(element), self.place(at));
        let sizes: Vec<String> = sizes.iter().map(|size| format!("ks::integer({size})")).collect();
        let text = format!("memory.make<{element}>({place}, {})", sizes.join(", "));
        let name = self.body.constant(&cpp, hint, text, false);
        self.body.allocate_tensor(&name);
        name
    }

    pub(super) fn build(&mut self, size: ExprId, lam: ExprId, at: ExprId, hint: &str) -> Result<Val> {
        let sizes = self.sizes(size)?;
        let made = self.make(self.ty(at), &sizes, at, hint);
        let (var, body) = self.lambda(lam);
        let is_flat = !points(&self.program.store, self.ty(body));
        let runs_on_threads = is_flat && self.runs_on_threads(body);
        let steps = match runs_on_threads {
            true => self.open_threads(&sizes[0]),
            false => Steps::of(is_flat && self.is_independent(var, body)),
        };
        let (position, outer) = self.open_loops(&sizes, var, &steps);
        self.element(body, &format!("{made}.data[{position}]"))?;
        self.unbind(var, outer);
        self.close_loops(&sizes);
        if runs_on_threads {
            self.body.close_with(");");
        }
        Ok(Val::Text(made))
    }

    /// Whether the steps of a `build` that stands in no other loop may and should run on several threads: they give numbers and do
    /// nothing else, and each is more than a few instructions.
    fn runs_on_threads(&mut self, body: ExprId) -> bool {
        let is_outermost = self.options.threads.is_some() && self.options.embedded.is_none() && self.depth == 0;
        if !is_outermost || !self.facts.is_pure(self.program, body) {
            return false;
        }
        let store = &self.program.store;
        store.post_order(body).into_iter().any(|part| matches!(store.node(part), Node::Lam(..) | Node::Call(..)))
    }

    /// Opens the part of a loop that one thread does.
    fn open_threads(&mut self, size: &str) -> Steps {
        let (from, to) = (self.body.names.local("from"), self.body.names.local("to"));
        self.body.allocate();
        self.body.open(format!(
            "ks::parallel(memory, {size}, [&]([[maybe_unused]] ks::arena& memory, const ks::integer {from}, const ks::integer {to}) {{"
        ));
        Steps::Within(from, to)
    }

    /// Computes an element of a tensor; what else was allocated for it is released.
    fn element(&mut self, body: ExprId, target: &str) -> Result<()> {
        let ty = self.ty(body);
        let scope = self.open_scope();
        let target = Val::Text(target.to_owned());
        if ty == TypeId::UNIT {
            self.emit(body, &Dest::Drop)?;
        } else if points(&self.program.store, ty) {
            let value = self.value(body)?;
            self.keep_element(&target, &value, ty, &scope);
            self.close_scope(scope);
            return Ok(());
        } else {
            self.emit(body, &Dest::Set(&target))?;
        }
        self.release_scope(scope);
        Ok(())
    }

    fn keep_element(&mut self, target: &Val, value: &Val, ty: TypeId, scope: &Scope) {
        let whole = self.whole(value, ty);
        let is_movable = !super::types::has_maps(&self.program.store, ty);
        let mark = if is_movable { self.mark_of_garbage(scope, &whole) } else { None };
        let text = match mark {
            Some(mark) => format!("ks::keep(memory, {mark}, {whole})"),
            None => whole,
        };
        self.body.assign(target.scalar(), "=", &text);
    }

    /// The elements of an expression, which are not made if nobody could tell the difference.
    pub(super) fn source(&mut self, over: ExprId) -> Result<(Source, Vec<String>)> {
        if let Node::Prim(Prim::Build, args) = self.program.store.node(over) {
            let (size, lam) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
            let (var, body) = self.lambda(lam);
            if self.is_total(body) {
                let sizes = self.sizes(size)?;
                self.check_sizes(size, &sizes, over);
                return Ok((Source::Virtual(var, body), sizes));
            }
        }
        let (rank, _) = self.element_type(self.ty(over));
        let value = self.value_atom(over, "v")?;
        let name = value.scalar().to_owned();
        let sizes = self.sizes_of(&name, rank);
        Ok((Source::Tensor(name), sizes))
    }

    /// Fails if a size is negative, unless it certainly is not.
    pub(super) fn check_sizes(&mut self, size: ExprId, sizes: &[String], at: ExprId) {
        let is_fine = self.facts.is_size(self.program, size);
        if !is_fine {
            let place = self.place(at);
            for size in sizes.iter().filter(|size| size.parse::<u64>().is_err()) {
                self.body.code(format!("ks::check_size({size}, {place});"));
            }
        }
    }

    /// The element of a source at the index where a loop is.
    pub(super) fn element_of(&mut self, source: &Source, position: &str, index: &[String], ty: TypeId) -> Result<Val> {
        match source {
            Source::Tensor(name) => {
                let cpp = self.cpp(ty);
                let is_scalar = matches!(self.program.store.types.get(ty), Type::Float | Type::Integer | Type::Bool);
                let cpp = if is_scalar { cpp } else { format!("const {cpp}&") };
                if ty == TypeId::UNIT {
                    return Ok(Val::unit());
                }
                Ok(Val::Text(self.body.constant(&cpp, "x", format!("{name}.data[{position}]"), true)))
            }
            Source::Virtual(var, body) => {
                let at = if let [one] = index {
                    Val::Text(one.clone())
                } else {
                    Val::Tuple(index.iter().map(|part| Val::Text(part.clone())).collect())
                };
                self.facts.note_size(*var);
                let outer = self.env.insert(*var, at);
                let value = self.value_atom(*body, "x")?;
                self.unbind(*var, outer);
                Ok(value)
            }
        }
    }

    /// `map` and `map2`
    pub(super) fn map(&mut self, lam: ExprId, over: &[ExprId], at: ExprId, hint: &str) -> Result<Val> {
        let mut sources = vec![];
        for over in over {
            let source = self.source(*over)?;
            sources.push((source, self.element_type(self.ty(*over)).1));
        }
        if let [((_, first), _), ((_, second), _)] = &sources[..] {
            let place = self.place(at);
            for (first, second) in first.iter().zip(second) {
                self.body.code(format!("ks::check_same({first}, {second}, {place});"));
            }
        }
        let sizes = sources[0].0.1.clone();
        let made = self.make(self.ty(at), &sizes, at, hint);
        let (var, body) = self.lambda(lam);
        let (position, index) = self.open_counters(&sizes, "i", &Steps::InOrder);
        let scope = self.open_scope();
        let mut elements = vec![];
        for ((source, _), ty) in &sources {
            elements.push(self.element_of(source, &position, &index, *ty)?);
        }
        let bound = if elements.len() == 1 { elements.remove(0) } else { Val::Tuple(elements) };
        let outer = self.env.insert(var, bound);
        let ty = self.ty(body);
        let target = Val::Text(format!("{made}.data[{position}]"));
        if ty == TypeId::UNIT {
            self.emit(body, &Dest::Drop)?;
            self.release_scope(scope);
        } else {
            let value = self.value(body)?;
            if points(&self.program.store, ty) {
                self.keep_element(&target, &value, ty, &scope);
                self.close_scope(scope);
            } else {
                self.set(&target, &value, ty);
                self.release_scope(scope);
            }
        }
        self.unbind(var, outer);
        self.close_loops(&sizes);
        Ok(Val::Text(made))
    }

    /// `fold` and `$mapAccum`
    pub(super) fn fold(&mut self, prim: Prim, args: &[ExprId], at: ExprId, hint: &str) -> Result<Val> {
        let &[lam, init, over] = args else { return Ok(Val::unit()) };
        let ty = self.ty(init);
        let value = self.value(init)?;
        let state = self.start(&value, ty, hint);
        let element = self.element_type(self.ty(over)).1;
        let (source, sizes) = self.source(over)?;
        let made = (prim == Prim::MapAccum).then(|| {
            let all = self.field_types(self.ty(at)).map_or(TypeId::UNIT, |fields| fields[1]);
            (self.make(all, &sizes, at, "made"), self.element_type(all).1)
        });
        let around = std::mem::take(&mut self.body.allocated);
        let start = self.body.here();
        let (var, body) = self.lambda(lam);
        let (position, index) = self.open_counters(&sizes, "k", &Steps::InOrder);
        let scope = self.open_scope();
        let x = self.element_of(&source, &position, &index, element)?;
        let outer = self.env.insert(var, Val::Tuple(vec![state.clone(), x]));
        let result = self.value(body)?;
        match made {
            None => self.end_step(&state, result, ty, scope, start),
            Some((ref made, of)) => {
                let target = Val::Text(format!("{made}.data[{position}]"));
                self.end_accumulating_step((&state, ty), (&target, of), result, self.ty(body), scope);
            }
        }
        self.unbind(var, outer);
        self.close_loops(&sizes);
        self.body.allocated = self.body.allocated.after(around);
        Ok(match made {
            None => state,
            Some((made, _)) => Val::Tuple(vec![state, Val::Text(made)]),
        })
    }

    fn end_step(&mut self, state: &Val, value: Val, ty: TypeId, scope: Scope, start: Position) {
        if self.body.allocated.any && points(&self.program.store, ty) {
            let sweeper = self.body.insert_constant(start, "ks::sweeper", "sweeper", "ks::sweeper(memory)");
            self.sweep(state, value, ty, &sweeper);
            self.close_untidy_scope(scope);
            return;
        }
        self.set_together(state, value, ty);
        self.release_scope(scope);
    }

    /// A step of `$mapAccum` gives a state and an element.
    fn end_accumulating_step(
        &mut self,
        (state, state_type): (&Val, TypeId),
        (target, element_type): (&Val, TypeId),
        value: Val,
        ty: TypeId,
        scope: Scope,
    ) {
        let store = &self.program.store;
        let stays = points(store, state_type) || points(store, element_type);
        let is_movable = stays && !super::types::has_maps(store, ty);
        let whole = self.whole(&value, ty);
        let mark = if is_movable { self.mark_of_garbage(&scope, &whole) } else { None };
        let value = match mark {
            Some(mark) => {
                let cpp = self.cpp(ty);
                Val::Text(self.body.constant(&cpp, "step", format!("ks::keep(memory, {mark}, {whole})"), false))
            }
            None => value,
        };
        let value = self.atom(value, ty, "step");
        let parts = self.fields(&value, ty);
        if element_type != TypeId::UNIT {
            self.set(target, &parts[1], element_type);
        }
        self.set_together(state, parts[0].clone(), state_type);
        if stays {
            self.close_untidy_scope(scope);
        } else {
            self.release_scope(scope);
        }
    }
}
