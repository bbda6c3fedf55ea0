//! Elements of accumulators that a loop, or a step of one, adds to again and again are C++ variables meanwhile, which the C++ compiler can
//! keep in registers: by itself it would have to find out that other elements that are added to are not the same. Each element gets
//! the same terms in the same order.

use super::Failure;
use super::function::Emitter;
use super::places::{Meeting, Steps};
use crate::ir::{ExprId, Node, Prim, Store, TypeId, VarId};
use crate::stack;
use rustc_hash::{FxHashMap, FxHashSet};

type Result<T> = std::result::Result<T, Failure>;

/// Scopes above this size, in nodes, are not looked at.
const LARGEST: u32 = 16384;
/// Elements of one scope that are variables at most: more would not fit into registers anyway.
const MOST: usize = 48;

/// An element that is a variable for the time of a scope.
pub(super) struct Lent {
    places: Vec<ExprId>,
    name: String,
    element: String,
    /// Whether the scope does anything, unless it certainly does.
    condition: Option<String>,
}

/// An element that is added to.
struct Element {
    root: VarId,
    /// The expressions that say where it is.
    places: Vec<ExprId>,
    steps: Steps,
    /// Where it is by variables from outside the scope, if that can be said.
    fixed: Option<ExprId>,
    /// Whether it is certainly added to if the scope does anything.
    is_certain: bool,
    is_repeated: bool,
}

/// How code of a scope runs.
#[derive(Clone, Copy)]
struct Mode {
    is_certain: bool,
    is_repeated: bool,
}

/// The elements that a scope adds to.
struct Search<'a, 'b> {
    emitter: &'a mut Emitter<'b>,
    /// Variables that the scope binds; their values where they are sums of Integers.
    bound: FxHashMap<VarId, Option<ExprId>>,
    elements: Vec<Element>,
    /// Accumulators that are read.
    read: FxHashSet<VarId>,
}

impl Emitter<'_> {
    /// Makes variables of the elements that a scope, the body of a loop, adds to more than once.
    pub(super) fn lend_to_step(&mut self, body: ExprId) -> Result<Vec<Lent>> {
        self.lend(&[], body, false, None)
    }

    /// As [`Emitter::lend_to_step`] for the scope of all steps of a loop over an index.
    pub(super) fn lend_to_loop(&mut self, index: VarId, body: ExprId, sizes: &[String]) -> Result<Vec<Lent>> {
        let open: Vec<String> =
            sizes.iter().filter(|size| !is_positive(size)).map(|size| format!("{size} > 0")).collect();
        let condition = (!open.is_empty()).then(|| open.join(" && "));
        self.lend(&[index], body, true, condition)
    }

    fn lend(
        &mut self,
        bound: &[VarId],
        body: ExprId,
        is_repeated: bool,
        condition: Option<String>,
    ) -> Result<Vec<Lent>> {
        if self.options.debug_bounds || self.accumulators.is_empty() || self.program.store.size(body) > LARGEST {
            return Ok(vec![]);
        }
        let bound = bound.iter().map(|var| (*var, None)).collect();
        let mut search = Search { emitter: self, bound, elements: vec![], read: FxHashSet::default() };
        search.visit(body, Mode { is_certain: true, is_repeated });
        let chosen = search.chosen();
        chosen.into_iter().map(|element| self.lend_element(element, condition.clone())).collect()
    }

    fn lend_element(&mut self, element: Element, condition: Option<String>) -> Result<Lent> {
        let at = element.fixed.unwrap_or(element.places[0]);
        let hint = self.program.store.var_name(element.root).to_owned();
        let target = self.target(at)?.map_or_else(String::new, |(_, target)| target.scalar().to_owned());
        let start = match &condition {
            Some(condition) => format!("{condition} ? {target} : ks::real(0)"),
            None => target.clone(),
        };
        let name = self.body.variable("ks::real", &hint, &start);
        for place in &element.places {
            self.lent.insert(*place, name.clone());
        }
        Ok(Lent { places: element.places, name, element: target, condition })
    }

    /// Puts the variables back where they came from.
    pub(super) fn give_back(&mut self, lent: Vec<Lent>) {
        let Some(condition) = lent.first().map(|first| first.condition.clone()) else { return };
        if let Some(condition) = &condition {
            self.body.open(format!("if ({condition}) {{"));
        }
        for one in lent {
            self.body.assign(&one.element, "=", &one.name);
            for place in &one.places {
                self.lent.remove(place);
            }
        }
        if condition.is_some() {
            self.body.close();
        }
    }
}

impl Search<'_, '_> {
    fn store(&mut self) -> &mut Store {
        &mut self.emitter.program.store
    }

    fn visit(&mut self, expr: ExprId, mode: Mode) {
        stack::grow(|| self.visit_here(expr, mode));
    }

    fn visit_here(&mut self, mut expr: ExprId, mode: Mode) {
        while let Node::Let(var, value, body) = self.store().node(expr) {
            self.visit(value, mode);
            let value = self.is_sum(value).then_some(value);
            self.bind(var, value);
            expr = body;
        }
        let maybe = Mode { is_certain: false, ..mode };
        match self.store().node(expr) {
            Node::Var(var) => {
                self.read.insert(var);
            }
            Node::If(condition, then, otherwise) => {
                self.visit(condition, mode);
                self.visit(then, maybe);
                self.visit(otherwise, maybe);
            }
            // The arm of a match, or the lambda of a loop that may have no steps.
            Node::Lam(var, body) => {
                self.bind(var, None);
                self.visit(body, Mode { is_certain: false, is_repeated: true });
            }
            Node::Prim(prim, args) => {
                let args = self.store().list(args).to_vec();
                self.prim(prim, &args, mode);
            }
            node => {
                let mut children = vec![];
                self.store().for_each_child(node, |child| children.push(child));
                children.into_iter().for_each(|child| self.visit(child, mode));
            }
        }
    }

    fn prim(&mut self, prim: Prim, args: &[ExprId], mode: Mode) {
        match (prim, args) {
            (Prim::AddTo, &[place, value]) => {
                self.visit(value, mode);
                self.add(place, mode);
            }
            // Shapes of accumulators do not change.
            (Prim::Size | Prim::Shape | Prim::Zero, &[whole]) if self.emitter.root(whole).is_some() => {}
            (Prim::Sumbuild, &[size, lam]) => {
                let Node::Lam(var, body) = self.store().node(lam) else { return };
                self.visit(size, mode);
                self.bind(var, None);
                let is_certain = mode.is_certain && has_steps(&self.emitter.program.store, size);
                self.visit(body, Mode { is_certain, is_repeated: true });
            }
            (Prim::Accumulate, &[zero, lam]) => {
                let Node::Lam(var, body) = self.store().node(lam) else { return };
                self.visit(zero, mode);
                self.bind(var, None);
                self.visit(body, mode);
            }
            _ => args.iter().for_each(|arg| self.visit(*arg, mode)),
        }
    }

    /// A variable that is bound twice, in copies of one expression, is nothing to go by.
    fn bind(&mut self, var: VarId, value: Option<ExprId>) {
        self.bound.entry(var).and_modify(|known| *known = known.filter(|_| *known == value)).or_insert(value);
    }

    /// Whether an expression is a sum of Integer variables and constants.
    fn is_sum(&self, expr: ExprId) -> bool {
        let store = &self.emitter.program.store;
        match store.node(expr) {
            Node::Integer(_) | Node::Var(_) | Node::Get(..) => store.ty(expr) == TypeId::INTEGER,
            Node::Prim(Prim::Add | Prim::Sub, args) if store.ty(expr) == TypeId::INTEGER => {
                store.list(args).iter().all(|arg| self.is_sum(*arg))
            }
            _ => false,
        }
    }

    fn add(&mut self, place: ExprId, mode: Mode) {
        let Some(root) = self.emitter.root(place) else { return };
        self.visit_indices(place, mode);
        if !self.emitter.accumulators.contains(&root) || self.emitter.lent.contains_key(&place) {
            return;
        }
        let mut is_fixed = self.store().ty(place) == TypeId::FLOAT;
        let resolved = self.resolved(place, &mut is_fixed);
        let steps = Steps::to(&self.emitter.program.store, &self.emitter.sums, resolved);
        let fixed = (is_fixed && !steps.is_empty()).then_some(resolved);
        let known = self.elements.iter_mut().find(|known| {
            known.root == root && known.fixed.is_some() && fixed.is_some() && known.steps.meet(&steps) == Meeting::Same
        });
        match known {
            Some(known) => {
                known.places.push(place);
                known.is_certain |= mode.is_certain;
                known.is_repeated = true;
            }
            None => self.elements.push(Element {
                root,
                places: vec![place],
                steps,
                fixed,
                is_certain: mode.is_certain,
                is_repeated: mode.is_repeated,
            }),
        }
    }

    fn visit_indices(&mut self, mut place: ExprId, mode: Mode) {
        loop {
            place = match self.store().node(place) {
                Node::Get(_, whole) => whole,
                Node::Prim(Prim::Index, args) => {
                    let (index, whole) = (self.store().list(args)[0], self.store().list(args)[1]);
                    self.visit(index, mode);
                    whole
                }
                _ => return,
            }
        }
    }

    /// A place by variables from outside the scope, as far as possible; `is_fixed` becomes false if it is not.
    fn resolved(&mut self, expr: ExprId, is_fixed: &mut bool) -> ExprId {
        if let Node::Var(var) = self.store().node(expr) {
            return match self.bound.get(&var).copied() {
                Some(Some(value)) => self.resolved(value, is_fixed),
                Some(None) => {
                    *is_fixed = false;
                    expr
                }
                None => expr,
            };
        }
        let children = self.store().children(expr);
        let resolved: Vec<ExprId> = children.into_iter().map(|child| self.resolved(child, is_fixed)).collect();
        let mut resolved = resolved.into_iter();
        self.store().map_children(expr, |_, child| resolved.next().unwrap_or(child))
    }

    /// The elements that are worth a variable and can be one: nothing else that is added to or read is the same.
    fn chosen(self) -> Vec<Element> {
        let is_apart = |element: &Element| {
            let others = self.elements.iter().filter(|other| other.root == element.root);
            !self.read.contains(&element.root)
                && others
                    .filter(|other| !std::ptr::eq(*other, element))
                    .all(|other| element.steps.meet(&other.steps) == Meeting::Never)
        };
        let is_wanted = |element: &Element| element.fixed.is_some() && element.is_certain && element.is_repeated;
        let fits: Vec<bool> = self.elements.iter().map(|element| is_wanted(element) && is_apart(element)).collect();
        if fits.iter().filter(|fits| **fits).count() > MOST {
            return vec![];
        }
        self.elements.into_iter().zip(fits).filter_map(|(element, fits)| fits.then_some(element)).collect()
    }
}

/// Whether a loop of this size certainly has a step.
fn has_steps(store: &Store, size: ExprId) -> bool {
    match store.node(size) {
        Node::Integer(size) => size > 0,
        Node::Tuple(sizes) => store.list(sizes).iter().all(|size| has_steps(store, *size)),
        _ => false,
    }
}

fn is_positive(size: &str) -> bool {
    size.parse::<u64>().is_ok_and(|size| size > 0)
}
