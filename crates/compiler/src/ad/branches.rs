//! Reverse mode of branches: the tape says which one was taken.

use super::place::{Flow, Place};
use super::reverse::{Part, Result, Reverse};
use crate::ir::{DataId, ExprId, Program, Type, TypeId};

/// A new sum type for tapes, with these constructors.
pub(super) fn tape_type(program: &mut Program) -> (DataId, TypeId, String) {
    let mut number = 1;
    while program.store.find_symbol(&format!("$tape{number}")).is_some() {
        number += 1;
    }
    let name = format!("$tape{number}");
    let symbol = program.store.symbol(&name);
    let (data, ty) = program.store.types.declare_data(symbol);
    (data, ty, name)
}

/// Completes [`tape_type`].
pub(super) fn set_tapes(program: &mut Program, data: DataId, name: &str, held: &[TypeId]) {
    let constructors =
        (1..).zip(held).map(|(number, held)| (program.store.symbol(&format!("{name}.{number}")), *held)).collect();
    program.store.types.set_constructors(data, constructors);
}

/// How the way back knows which branch was taken.
#[derive(Clone, Copy)]
enum Choice {
    /// By this condition.
    If(ExprId),
    /// By matching this value again.
    Match(ExprId),
    /// By the tape, a sum type that has what the branch saved.
    Tape(ExprId),
}

impl Reverse<'_> {
    pub(super) fn if_(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> Result<(ExprId, Flow)> {
        let condition = self.value(condition)?;
        let parts = vec![self.plain_part(then)?, self.plain_part(otherwise)?];
        let data = self.tape_of(&parts);
        let arms: Vec<ExprId> = (0..).zip(&parts).map(|(number, part)| self.there_in_arm(part, data, number)).collect();
        let made = self.code.store().if_(condition, arms[0], arms[1]);
        let made = self.code.emit(made);
        let (value, choice) = self.chosen(made, data, Choice::If(condition));
        if parts.iter().all(|part| part.is_inert) {
            return Ok((value, Flow::Inert));
        }
        let back = move |reverse: &mut Reverse<'_>, cotangent: ExprId| {
            let made = reverse.back_by(choice, &parts, cotangent, &|_, _, step| step);
            reverse.code.emit(made);
        };
        Ok((value, Flow::Back(Box::new(back))))
    }

    pub(super) fn match_(&mut self, over: ExprId, arms: &[ExprId]) -> Result<(ExprId, Flow)> {
        let (over, flow) = self.trace(over)?;
        let is_smooth = !matches!(flow, Flow::Inert);
        let (mut parts, mut vars) = (vec![], vec![]);
        for arm in arms {
            let (var, body) = self.code.lambda(*arm);
            let (held, at) = self.code.fresh_like(var);
            let place = if is_smooth { self.new_place("held", at) } else { Place::Nowhere };
            self.know(var, at, place.clone());
            parts.push(self.part(&[held], body, |reverse, send| {
                if is_smooth {
                    return reverse.collect(&place, at, |reverse| send(reverse));
                }
                send(reverse);
                reverse.code.tuple(&[])
            })?);
            vars.push(held);
        }
        let data = self.tape_of(&parts);
        let there: Vec<ExprId> = (0..)
            .zip(parts.iter().zip(&vars))
            .map(|(number, (part, var))| {
                let body = self.there_in_arm(part, data, number);
                self.code.store().lam(*var, body)
            })
            .collect();
        let made = self.code.store().match_(over, &there);
        let made = self.code.emit(made);
        let (value, choice) = self.chosen(made, data, Choice::Match(over));
        if parts.iter().all(|part| part.is_inert) {
            return Ok((value, Flow::Inert));
        }
        let ty = self.code.ty(over);
        let tangent = self.tangent_data(ty).filter(|_| is_smooth);
        let back = move |reverse: &mut Reverse<'_>, cotangent: ExprId| {
            let made = reverse.back_by(choice, &parts, cotangent, &|reverse, number, step| match tangent {
                Some(data) => reverse.code.store().construct(data, number, step),
                None => step,
            });
            let made = reverse.code.emit(made);
            reverse.send(flow, made);
        };
        Ok((value, Flow::Back(Box::new(back))))
    }

    /// The sum type of what the branches save, if one saves anything.
    fn tape_of(&mut self, parts: &[Part]) -> Option<DataId> {
        if parts.iter().all(|part| part.tape.is_empty()) {
            return None;
        }
        let (data, _, name) = tape_type(self.code.program);
        let held: Vec<TypeId> = parts
            .iter()
            .map(|part| {
                let packed = part.tape.pack(self.code.store());
                self.code.ty(packed)
            })
            .collect();
        set_tapes(self.code.program, data, &name, &held);
        Some(data)
    }

    /// A branch on the way there: its value, and its tape if there is one.
    fn there_in_arm(&mut self, part: &Part, data: Option<DataId>, number: u32) -> ExprId {
        let result = match data {
            None => part.value,
            Some(data) => {
                let packed = part.tape.pack(self.code.store());
                let tape = self.code.store().construct(data, number, packed);
                self.code.tuple(&[part.value, tape])
            }
        };
        self.code.block(&part.forward, result)
    }

    fn chosen(&mut self, made: ExprId, data: Option<DataId>, otherwise: Choice) -> (ExprId, Choice) {
        match data {
            None => (made, otherwise),
            Some(_) => {
                let (value, tape) = self.code.pair(made);
                (value, Choice::Tape(tape))
            }
        }
    }

    /// The branch that was taken, backwards; `finish` makes the result of each.
    fn back_by(
        &mut self,
        choice: Choice,
        parts: &[Part],
        cotangent: ExprId,
        finish: &dyn Fn(&mut Self, u32, ExprId) -> ExprId,
    ) -> ExprId {
        let arms: Vec<ExprId> =
            (0..).zip(parts).map(|(number, part)| self.back_in_arm(choice, number, part, cotangent, finish)).collect();
        match choice {
            Choice::If(condition) => self.code.store().if_(condition, arms[0], arms[1]),
            Choice::Match(over) | Choice::Tape(over) => self.code.store().match_(over, &arms),
        }
    }

    fn back_in_arm(
        &mut self,
        choice: Choice,
        number: u32,
        part: &Part,
        cotangent: ExprId,
        finish: &dyn Fn(&mut Self, u32, ExprId) -> ExprId,
    ) -> ExprId {
        let held = match choice {
            Choice::If(_) => None,
            Choice::Match(over) | Choice::Tape(over) => Some(self.held_type(over, number)),
        };
        let held = held.map(|ty| self.code.fresh("held", ty));
        let packed = match (choice, held) {
            (Choice::Tape(_), Some((_, packed))) => packed,
            _ => self.code.tuple(&[]),
        };
        let outer = self.code.open();
        let step = self.backward(part, cotangent, packed);
        let step = self.code.emit(step);
        let step = finish(self, number, step);
        let bindings = self.code.close(outer);
        let body = self.code.block(&bindings, step);
        match held {
            Some((var, _)) => self.code.store().lam(var, body),
            None => body,
        }
    }

    fn held_type(&mut self, over: ExprId, number: u32) -> TypeId {
        let ty = self.code.ty(over);
        match self.code.store().types.get(ty) {
            Type::Data(data) => self.code.program.store.types.data(data).constructors[number as usize].1,
            _ => ty,
        }
    }
}
