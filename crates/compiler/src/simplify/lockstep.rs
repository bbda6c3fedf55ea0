//! Several steps of a loop at once, where inner loops add to the same elements in every step: then these are loaded and stored once for
//! all of them, and what the inner loops cost besides their sums is paid once. An element gets the same terms; it gets them in another order
//! where an inner loop adds to it several times, since each of its steps then brings the terms of all outer steps.

use super::facts::Facts;
use super::has_loops;
use crate::ir::{ExprId, Node, Prim, Program, Store, Type, TypeId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps that go together.
const STEPS: i64 = 4;
/// Bodies above this size, in nodes, stay as they are.
const LARGEST: u32 = 1024;

/// The expression with the outermost such loops taken in blocks of steps.
pub(super) fn in_blocks(program: &mut Program, facts: &mut Facts, root: ExprId) -> ExprId {
    // From here on, accumulators are known.
    facts.fails_or_acts(program, root);
    let order = program.store.post_order(root);
    let mut inside: FxHashSet<ExprId> = FxHashSet::default();
    let mut chosen: FxHashSet<ExprId> = FxHashSet::default();
    // The whole comes before its parts.
    for part in order.iter().rev() {
        if !inside.contains(part) && gains(program, facts, *part) {
            chosen.insert(*part);
            inside.extend(program.store.post_order(*part));
        }
    }
    if chosen.is_empty() {
        return root;
    }
    let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for part in order {
        let made = program.store.map_children(part, |_, child| done[&child]);
        let made = if chosen.contains(&part) { Lockstep { store: &mut program.store }.blocks(made) } else { made };
        done.insert(part, made);
    }
    done[&root]
}

/// Whether an expression is a loop without a value in which loops within loops add to elements that do not depend on its index, and that
/// neither fails, acts, nor reads what it adds to.
fn gains(program: &Program, facts: &mut Facts, expr: ExprId) -> bool {
    let store = &program.store;
    let Node::Prim(Prim::Sumbuild, args) = store.node(expr) else { return false };
    let (size, lam) = (store.list(args)[0], store.list(args)[1]);
    let Node::Lam(index, body) = store.node(lam) else { return false };
    if store.ty(expr) != TypeId::UNIT || store.ty(size) != TypeId::INTEGER || store.size(body) > LARGEST {
        return false;
    }
    let mut reuse =
        Reuse { store, moving: FxHashSet::from_iter([index]), inner: FxHashSet::default(), found: false, reads: false };
    reuse.visit(body, 0, facts);
    reuse.found && !reuse.reads && !facts.fails_or_acts(program, body)
}

/// Looks for elements that all steps of a loop add to.
struct Reuse<'a> {
    store: &'a Store,
    /// Variables that differ between steps.
    moving: FxHashSet<VarId>,
    /// Accumulators of a step.
    inner: FxHashSet<VarId>,
    found: bool,
    /// Whether an accumulator of all steps is read.
    reads: bool,
}

impl Reuse<'_> {
    fn visit(&mut self, mut expr: ExprId, depth: u32, facts: &Facts) {
        while let Node::Let(var, value, body) = self.store.node(expr) {
            self.visit(value, depth, facts);
            if self.moves(value) {
                self.moving.insert(var);
            }
            expr = body;
        }
        match self.store.node(expr) {
            Node::Var(var) => self.reads |= facts.is_accumulator(var) && !self.inner.contains(&var),
            Node::Prim(Prim::AddTo, args) => {
                let (place, value) = (self.store.list(args)[0], self.store.list(args)[1]);
                self.visit(value, depth, facts);
                self.found |= depth > 1 && self.is_shared(place);
            }
            Node::Prim(Prim::Accumulate, args) => {
                let (zero, lam) = (self.store.list(args)[0], self.store.list(args)[1]);
                self.visit(zero, depth, facts);
                let Node::Lam(var, body) = self.store.node(lam) else { return };
                self.inner.insert(var);
                self.visit(body, depth, facts);
            }
            Node::Prim(Prim::Size | Prim::Shape | Prim::Zero, _) => {}
            Node::Lam(_, body) => self.visit(body, depth + 1, facts),
            node => self.store.for_each_child(node, |child| self.visit(child, depth, facts)),
        }
    }

    fn moves(&self, expr: ExprId) -> bool {
        self.moving.iter().any(|var| self.store.mentions(expr, *var))
    }

    /// Whether a place is an element that does not depend on the index of the loop.
    fn is_shared(&self, place: ExprId) -> bool {
        let is_element = matches!(self.store.node(place), Node::Prim(Prim::Index, _));
        let is_inner = self.inner.iter().any(|var| self.store.mentions(place, *var));
        is_element && !is_inner && !self.moves(place)
    }
}

/// Writes copies of code that run together.
struct Lockstep<'a> {
    store: &'a mut Store,
}

impl Lockstep<'_> {
    /// A loop as one over blocks of steps, and one over the steps that are left.
    fn blocks(&mut self, expr: ExprId) -> ExprId {
        let &[size, lam] = &self.store.children(expr)[..] else { return expr };
        let Node::Lam(index, body) = self.store.node(lam) else { return expr };
        let steps = self.store.integer(STEPS);
        let count = self.store.prim(Prim::Div, &[size, steps]);
        let (blocks, blocks_at) = self.named("blocks", count);
        let (block, block_at) = self.fresh("block", TypeId::INTEGER);
        let start = self.store.prim(Prim::Mul, &[block_at, steps]);
        let (first, first_at) = self.named("first", start);
        let copies = (0..STEPS).map(|step| self.copy(index, body, first_at, step)).collect();
        let together = self.together(copies);
        let together = self.store.let_(first, start, together);
        let main = self.sum(blocks_at, block, together, expr);

        let start = self.store.prim(Prim::Mul, &[blocks_at, steps]);
        let (from, from_at) = self.named("from", start);
        let left = self.store.prim(Prim::Sub, &[size, from_at]);
        let (step, step_at) = self.fresh("step", TypeId::INTEGER);
        let at = self.store.prim(Prim::Add, &[from_at, step_at]);
        let body = self.store.substitute(body, index, at);
        let body = self.store.refresh(body);
        let rest = self.sum(left, step, body, expr);
        let (first_part, second_part) = (self.store.fresh("t", TypeId::UNIT), self.store.fresh("t", TypeId::UNIT));
        let unit = self.store.tuple(&[]);
        self.store.lets(&[(blocks, count), (first_part, main), (from, start), (second_part, rest)], unit)
    }

    fn sum(&mut self, size: ExprId, var: VarId, body: ExprId, from: ExprId) -> ExprId {
        let lam = self.store.lam(var, body);
        let made = self.store.prim(Prim::Sumbuild, &[size, lam]);
        self.store.inherit_origin(made, from);
        made
    }

    /// One step of a block.
    fn copy(&mut self, index: VarId, body: ExprId, first: ExprId, step: i64) -> ExprId {
        let offset = self.store.integer(step);
        let at = if step == 0 { first } else { self.store.prim(Prim::Add, &[first, offset]) };
        let body = self.store.substitute(body, index, at);
        self.store.refresh(body)
    }

    fn fresh(&mut self, name: &str, ty: TypeId) -> (VarId, ExprId) {
        let var = self.store.fresh(name, ty);
        (var, self.store.var(var))
    }

    fn named(&mut self, name: &str, value: ExprId) -> (VarId, ExprId) {
        self.fresh(name, self.store.ty(value))
    }

    /// The tuple of the values of copies, or nothing, if these have none.
    fn together(&mut self, mut copies: Vec<ExprId>) -> ExprId {
        let mut bindings = vec![];
        while let Some(lets) = self.lets(&copies) {
            let values: Vec<ExprId> = lets.iter().map(|(_, value, _)| *value).collect();
            let parts = self.bound(values, &mut bindings);
            bindings.extend(lets.iter().map(|(var, ..)| *var).zip(parts));
            copies = lets.into_iter().map(|(.., body)| body).collect();
        }
        let parts = self.bound(copies, &mut bindings);
        let is_unit = parts.iter().all(|part| self.store.ty(*part) == TypeId::UNIT);
        let result = if is_unit { self.store.tuple(&[]) } else { self.store.tuple(&parts) };
        if is_unit {
            bindings
                .extend(parts.into_iter().map(|part| (self.store.fresh("t", TypeId::UNIT), part)).collect::<Vec<_>>());
        }
        self.store.lets(&bindings, result)
    }

    /// The variables, the values and the bodies of copies that are all lets.
    fn lets(&self, copies: &[ExprId]) -> Option<Vec<(VarId, ExprId, ExprId)>> {
        let let_ = |copy: &ExprId| match self.store.node(*copy) {
            Node::Let(var, value, body) => Some((var, value, body)),
            _ => None,
        };
        copies.iter().map(let_).collect()
    }

    /// The values of copies, after the bindings that they need to run together.
    fn bound(&mut self, copies: Vec<ExprId>, bindings: &mut Vec<(VarId, ExprId)>) -> Vec<ExprId> {
        if !has_loops(self.store, copies[0]) {
            return copies;
        }
        if self.lets(&copies).is_some() {
            let all = self.together(copies.clone());
            return self.split(all, &copies, bindings);
        }
        match self.loops(&copies) {
            Some(Loops::Over(prim, size, lams)) => {
                let made = self.over(prim, size, &lams, copies[0]);
                self.split(made, &copies, bindings)
            }
            Some(Loops::Unzipped(size, lams)) => self.unzipped(size, &lams, &copies, bindings),
            Some(Loops::Accumulate(parts)) => self.accumulate(&parts, bindings),
            None if self.is_strict(copies[0]) => self.strict(&copies, bindings),
            None => copies,
        }
    }

    /// The parts of what holds the values of all copies.
    fn split(&mut self, all: ExprId, copies: &[ExprId], bindings: &mut Vec<(VarId, ExprId)>) -> Vec<ExprId> {
        let (var, at) = self.named("all", all);
        bindings.push((var, all));
        if self.store.ty(all) == TypeId::UNIT {
            return vec![self.store.tuple(&[]); copies.len()];
        }
        (0..copies.len() as u32).map(|number| self.store.get(number, at)).collect()
    }

    /// Copies of a step that takes values: its parts run together.
    fn strict(&mut self, copies: &[ExprId], bindings: &mut Vec<(VarId, ExprId)>) -> Vec<ExprId> {
        let children: Vec<Vec<ExprId>> = copies.iter().map(|copy| self.store.children(*copy)).collect();
        let mut columns = vec![];
        for column in 0..children[0].len() {
            columns.push(self.bound(children.iter().map(|row| row[column]).collect(), bindings));
        }
        let mut made = vec![];
        for (number, copy) in copies.iter().enumerate() {
            let mut parts = columns.iter().map(|column| column[number]);
            made.push(self.store.map_children(*copy, |_, child| parts.next().unwrap_or(child)));
        }
        made
    }

    fn is_strict(&self, expr: ExprId) -> bool {
        match self.store.node(expr) {
            Node::Tuple(_) | Node::Get(..) => true,
            Node::Prim(Prim::AddTo | Prim::Index | Prim::Size | Prim::Unzip, _) => true,
            Node::Prim(prim, _) => prim.is_function(),
            _ => false,
        }
    }

    /// Loops of one size as one loop over the values of all.
    fn over(&mut self, prim: Prim, size: ExprId, lams: &[ExprId], from: ExprId) -> ExprId {
        let (index, bodies) = self.bodies(lams);
        let body = self.together(bodies);
        let lam = self.store.lam(index, body);
        let mut made = self.store.prim(prim, &[size, lam]);
        self.store.inherit_origin(made, from);
        if prim == Prim::Build {
            made = self.store.prim(Prim::Unzip, &[made]);
            self.store.inherit_origin(made, from);
        }
        made
    }

    /// Tensors of tuples that are taken apart: all fields of all copies become tensors at once.
    fn unzipped(
        &mut self,
        size: ExprId,
        lams: &[ExprId],
        copies: &[ExprId],
        bindings: &mut Vec<(VarId, ExprId)>,
    ) -> Vec<ExprId> {
        let (index, bodies) = self.bodies(lams);
        let fields = self.store.types.fields(self.store.ty(copies[0])).map_or(0, <[_]>::len) as u32;
        let body = self.together(bodies);
        let (all, at) = self.named("all", body);
        let mut parts = vec![];
        for copy in 0..copies.len() as u32 {
            let whole = self.store.get(copy, at);
            parts.extend((0..fields).map(|field| self.store.get(field, whole)));
        }
        let flat = self.store.tuple(&parts);
        let body = self.store.let_(all, body, flat);
        let lam = self.store.lam(index, body);
        let build = self.store.prim(Prim::Build, &[size, lam]);
        let made = self.store.prim(Prim::Unzip, &[build]);
        [build, made].into_iter().for_each(|made| self.store.inherit_origin(made, copies[0]));
        let (var, at) = self.named("all", made);
        bindings.push((var, made));
        (0..copies.len() as u32)
            .map(|copy| {
                let own: Vec<ExprId> = (0..fields).map(|field| self.store.get(copy * fields + field, at)).collect();
                self.store.tuple(&own)
            })
            .collect()
    }

    /// The bodies of lambdas, over one variable.
    fn bodies(&mut self, lams: &[ExprId]) -> (VarId, Vec<ExprId>) {
        let parts: Vec<(VarId, ExprId)> = lams
            .iter()
            .filter_map(|lam| match self.store.node(*lam) {
                Node::Lam(var, body) => Some((var, body)),
                _ => None,
            })
            .collect();
        let index = parts[0].0;
        let at = self.store.var(index);
        let bodies =
            parts.into_iter().map(|(var, body)| if var == index { body } else { self.store.substitute(body, var, at) });
        (index, bodies.collect())
    }

    /// Accumulators of copies, one within the other.
    fn accumulate(&mut self, parts: &[(ExprId, VarId, ExprId)], bindings: &mut Vec<(VarId, ExprId)>) -> Vec<ExprId> {
        let body = self.together(parts.iter().map(|(.., body)| *body).collect());
        let nested = parts.iter().rev().fold(body, |inner, (zero, var, _)| {
            let lam = self.store.lam(*var, inner);
            self.store.prim(Prim::Accumulate, &[*zero, lam])
        });
        let (var, mut at) = self.named("all", nested);
        bindings.push((var, nested));
        let mut totals = vec![];
        for _ in parts {
            totals.push(self.store.get(0, at));
            at = self.store.get(1, at);
        }
        let is_unit = self.store.ty(at) == TypeId::UNIT;
        (0..)
            .zip(totals)
            .map(|(number, total)| {
                let value = if is_unit { self.store.tuple(&[]) } else { self.store.get(number, at) };
                self.store.tuple(&[total, value])
            })
            .collect()
    }

    /// What kind of loop the copies are, if they can run together.
    fn loops(&self, copies: &[ExprId]) -> Option<Loops> {
        let args: Vec<Vec<ExprId>> = copies.iter().map(|copy| self.store.children(*copy)).collect();
        let is_one_size = |args: &[Vec<ExprId>]| args.iter().all(|own| own[0] == args[0][0]);
        let lams = |args: &[Vec<ExprId>]| args.iter().map(|own| own[1]).collect();
        match self.store.node(copies[0]) {
            Node::Prim(prim @ (Prim::Build | Prim::Sumbuild), _) if is_one_size(&args) && self.fits(copies[0]) => {
                Some(Loops::Over(prim, args[0][0], lams(&args)))
            }
            Node::Prim(Prim::Unzip, _) => {
                let is_build = matches!(self.store.node(args[0][0]), Node::Prim(Prim::Build, _));
                let builds: Vec<Vec<ExprId>> = args.iter().map(|own| self.store.children(own[0])).collect();
                (is_build && is_one_size(&builds)).then(|| Loops::Unzipped(builds[0][0], lams(&builds)))
            }
            Node::Prim(Prim::Accumulate, _) => {
                let part = |own: &Vec<ExprId>| match self.store.node(own[1]) {
                    Node::Lam(var, body) => Some((own[0], var, body)),
                    _ => None,
                };
                args.iter().map(part).collect::<Option<_>>().map(Loops::Accumulate)
            }
            _ => None,
        }
    }

    /// Whether a loop can be one over tuples: sums of tensors have their own ways to fail, and tensors of nothing are not taken apart.
    fn fits(&self, expr: ExprId) -> bool {
        match self.store.types.get(self.store.ty(expr)) {
            Type::Tensor(_, element) => element != TypeId::UNIT,
            _ => self.store.types.has_trivial_shape(self.store.ty(expr)),
        }
    }
}

/// Copies of a loop.
enum Loops {
    /// `build` or `sumbuild` of one size.
    Over(Prim, ExprId, Vec<ExprId>),
    /// `unzip` of `build`s of one size.
    Unzipped(ExprId, Vec<ExprId>),
    /// `$accumulate`: the zero, the variable and the body of each.
    Accumulate(Vec<(ExprId, VarId, ExprId)>),
}
