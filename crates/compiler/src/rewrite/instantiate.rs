//! The right side of a rule with what its variables stand for, in canonical form.

use super::matching::Bindings;
use super::pattern::{Head, MOST_SLOTS, Pattern, PatternKind, PatternRule, Step};
use crate::ir::{ExprId, Node, Store, Type, TypeId, VarId};

/// The right side of a rule where `depth` binders are around. None if the types do not fit, which a rule with variables of type `Any`
/// can lead to.
pub(super) fn right_side(store: &mut Store, rule: &PatternRule, bindings: &Bindings, depth: u32) -> Option<ExprId> {
    Instance { store, rule, bindings, slots: [None; MOST_SLOTS] }.build(&rule.rhs, depth)
}

struct Instance<'a> {
    store: &'a mut Store,
    rule: &'a PatternRule,
    bindings: &'a Bindings,
    /// What the right side binds in each slot, here.
    slots: [Option<VarId>; MOST_SLOTS],
}

impl Instance<'_> {
    fn build(&mut self, pattern: &Pattern, depth: u32) -> Option<ExprId> {
        match &pattern.kind {
            PatternKind::Var(number) => self.var(usize::from(*number), depth),
            PatternKind::Bound(slot) => {
                let var = self.slots[usize::from(*slot)]?;
                Some(self.store.var(var))
            }
            PatternKind::Constant(node) => Some(self.store.make(*node)),
            PatternKind::Step(step) => match step.binds {
                Some((slot, ty)) => self.binder(step, (slot, ty), depth),
                None => self.plain(step, depth),
            },
        }
    }

    /// What a variable stands for, below the binders that are around it now.
    fn var(&mut self, number: usize, depth: u32) -> Option<ExprId> {
        let (expr, old_depth) = self.bindings.vars[number]?;
        let around = self.rule.around[number];
        let mut names = [None; MOST_SLOTS];
        for slot in (0..MOST_SLOTS).filter(|slot| around >> slot & 1 == 1) {
            names[slot] = self.bindings.slots[slot].zip(self.slots[slot]).filter(|(old, new)| old != new);
        }
        if depth == old_depth && names.iter().all(Option::is_none) {
            return Some(expr);
        }
        let names: Vec<(VarId, VarId)> = names.into_iter().flatten().collect();
        Some(self.store.canonical_below(expr, depth, &names))
    }

    fn binder(&mut self, step: &Step, (slot, declared): (u8, TypeId), depth: u32) -> Option<ExprId> {
        let slot = usize::from(slot);
        let value = if step.head == Head::Let { Some(self.build(&step.parts[0], depth)?) } else { None };
        let matched = self.bindings.slots[slot].map(|var| self.store.var_type(var));
        let ty = value.map(|value| self.store.ty(value)).or(matched).unwrap_or(declared);
        let var = self.store.canonical_var(depth, ty, false);
        let outer = self.slots[slot].replace(var);
        let body = self.build(step.parts.last()?, depth + 1);
        self.slots[slot] = outer;
        Some(match value {
            Some(value) => self.store.let_(var, value, body?),
            None => self.store.lam(var, body?),
        })
    }

    fn plain(&mut self, step: &Step, depth: u32) -> Option<ExprId> {
        if let ([a, b], Head::Prim(prim), Some(ty)) = (&step.parts[..], step.head, step.ty) {
            // The usual case, without an allocation.
            let parts = [self.build(a, depth)?, self.build(b, depth)?];
            let parts = self.store.make_list(&parts);
            return Some(self.store.make_typed(Node::Prim(prim, parts), ty));
        }
        let parts: Vec<ExprId> = step.parts.iter().map(|part| self.build(part, depth)).collect::<Option<_>>()?;
        self.make(step.head, &parts)
    }

    fn make(&mut self, head: Head, parts: &[ExprId]) -> Option<ExprId> {
        let store = &mut *self.store;
        let types: Vec<TypeId> = parts.iter().map(|part| store.ty(*part)).collect();
        match (head, parts) {
            (Head::Tuple, _) => Some(store.tuple(parts)),
            (Head::Prim(prim), _) => store.try_prim(prim, parts),
            (Head::Get(field), [a]) => {
                let has_field = store.types.fields(types[0]).is_some_and(|fields| (field as usize) < fields.len());
                has_field.then(|| store.get(field, *a))
            }
            (Head::If, [a, b, c]) => (types[0] == TypeId::BOOL && types[1] == types[2]).then(|| store.if_(*a, *b, *c)),
            (Head::Assert, [a, b]) => (types[0] == TypeId::BOOL).then(|| store.assert(*a, *b)),
            (Head::Call(fun), [a]) => {
                let fits = store.signature(fun).is_some_and(|(arg, _)| arg == types[0]);
                fits.then(|| store.call(fun, *a))
            }
            (Head::Construct(data, number), [a]) => {
                let fits = store.types.data(data).constructors.get(number as usize).is_some_and(|c| c.1 == types[0]);
                fits.then(|| store.construct(data, number, *a))
            }
            (Head::Match, [value, arms @ ..]) => {
                let Type::Data(data) = store.types.get(types[0]) else { return None };
                let result = |ty: TypeId| match store.types.get(ty) {
                    Type::Lam(from, to) => Some((from, to)),
                    _ => None,
                };
                let arm_types: Vec<(TypeId, TypeId)> =
                    types[1..].iter().map(|ty| result(*ty)).collect::<Option<_>>()?;
                let constructors = &store.types.data(data).constructors;
                let takes = constructors.iter().map(|(_, holds)| *holds);
                let fits =
                    arm_types.iter().map(|arm| arm.0).eq(takes) && arm_types.iter().all(|arm| arm.1 == arm_types[0].1);
                fits.then(|| store.match_(*value, arms))
            }
            _ => None,
        }
    }
}
