//! A plan that is changed step by step, and changed back.

use crate::problem::{DeviceId, Plan, Problem, Step};
use labrys_dataflow::{Graph, OpId, TensorId};

/// Position of a transfer that does not take place.
const NOWHERE: u32 = u32::MAX;

/// Part of the steps that a change touched. Steps from `end` on are the same as before, but moved by `shift`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Changed {
    pub start: usize,
    pub end: usize,
    pub shift: isize,
}

/// A valid plan, the position of every step in it, and the last change, which can be undone.
pub(crate) struct Sequence<'p> {
    graph: &'p Graph,
    devices: usize,
    plan: Plan,
    op_at: Vec<u32>,
    /// Position of the transfer at `tensor * devices + destination`.
    sent_at: Vec<u32>,
    saved: Vec<Step>,
    saved_device: Option<(OpId, DeviceId)>,
    /// Where `saved` was, and the length of what replaced it.
    replaced: (usize, usize),
    edits: Vec<Edit>,
    replacement: Vec<Step>,
}

/// A step that goes away, or one that comes in before the step that is at `at` now.
#[derive(Clone, Copy)]
struct Edit {
    at: usize,
    /// `None` removes the step.
    insert: Option<(TensorId, DeviceId)>,
}

impl<'p> Sequence<'p> {
    pub fn new(problem: &'p Problem, plan: &Plan) -> Self {
        let (graph, devices) = (&*problem.graph, problem.device_count());
        let mut sequence = Self {
            graph,
            devices,
            plan: plan.clone(),
            op_at: vec![0; graph.op_count()],
            sent_at: vec![NOWHERE; graph.tensor_count() * devices],
            saved: vec![],
            saved_device: None,
            replaced: (0, 0),
            edits: vec![],
            replacement: vec![],
        };
        sequence.index(0, plan.steps.len());
        sequence
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn device(&self, op: OpId) -> DeviceId {
        self.plan.device[op.0 as usize]
    }

    /// The device that produces a tensor.
    pub fn producer_device(&self, tensor: TensorId) -> DeviceId {
        self.device(self.graph.producer(tensor))
    }

    /// Position of an op.
    pub fn op_at(&self, op: OpId) -> usize {
        self.op_at[op.0 as usize] as usize
    }

    fn copy(&self, tensor: TensorId, device: DeviceId) -> usize {
        tensor.0 as usize * self.devices + device.0 as usize
    }

    /// Where a tensor is sent to a device, if it is.
    pub fn sent_at(&self, tensor: TensorId, to: DeviceId) -> Option<usize> {
        let at = self.sent_at[self.copy(tensor, to)];
        (at != NOWHERE).then_some(at as usize)
    }

    fn index(&mut self, start: usize, end: usize) {
        for at in start..end {
            match self.plan.steps[at] {
                Step::Run(op) => self.op_at[op.0 as usize] = at as u32,
                Step::Transfer { tensor, to } => {
                    let copy = self.copy(tensor, to);
                    self.sent_at[copy] = at as u32;
                }
            }
        }
    }

    /// The first and the last position that the step at `at` can take while all others keep their order.
    pub fn window(&self, at: usize) -> (usize, usize) {
        match self.plan.steps[at] {
            Step::Run(op) => (self.earliest(op), self.latest(op)),
            Step::Transfer { tensor, to } => {
                (self.op_at(self.graph.producer(tensor)) + 1, self.first_use(tensor, to, None) - 1)
            }
        }
    }

    /// Position after the last step that `op` waits for.
    fn earliest(&self, op: OpId) -> usize {
        let device = self.device(op);
        let input = |&tensor: &TensorId| {
            self.sent_at(tensor, device).unwrap_or_else(|| self.op_at(self.graph.producer(tensor)))
        };
        let inputs = self.graph.inputs(op).iter().map(input);
        let control = self.graph.control(op).iter().map(|&before| self.op_at(before));
        inputs.chain(control).max().map_or(0, |at| at + 1)
    }

    /// Position before the first step that waits for `op`.
    fn latest(&self, op: OpId) -> usize {
        let device = self.device(op);
        let mut limit = self.plan.steps.len();
        for &next in self.graph.succs(op) {
            // A consumer elsewhere comes after its transfer, which counts itself below.
            limit = limit.min(self.op_at(next));
        }
        for &tensor in self.graph.outputs(op) {
            for to in (0..self.devices as u32).map(DeviceId).filter(|&to| to != device) {
                limit = limit.min(self.sent_at(tensor, to).unwrap_or(limit));
            }
        }
        limit - 1
    }

    /// Position of the first consumer of `tensor` on `device`, other than `except`; the number of steps if there is none.
    fn first_use(&self, tensor: TensorId, device: DeviceId, except: Option<OpId>) -> usize {
        let there = |op: &&OpId| self.device(**op) == device && Some(**op) != except;
        let uses = self.graph.consumers(tensor).iter().filter(there).map(|&op| self.op_at(op));
        uses.min().unwrap_or(self.plan.steps.len())
    }

    /// Moves the step at `from` to position `to`, within its window.
    pub fn shift(&mut self, from: usize, to: usize) -> Changed {
        let (start, end) = (from.min(to), from.max(to) + 1);
        self.save(start, end, end - start);
        if from < to {
            self.plan.steps[start..end].rotate_left(1);
        } else {
            self.plan.steps[start..end].rotate_right(1);
        }
        self.index(start, end);
        Changed { start, end, shift: 0 }
    }

    fn save(&mut self, start: usize, end: usize, new_len: usize) {
        self.saved.clear();
        self.saved.extend_from_slice(&self.plan.steps[start..end]);
        self.saved_device = None;
        self.replaced = (start, new_len);
    }

    /// Moves an op to another device where it stands, with the transfers that this takes. `choose` gives each new transfer its
    /// place: it is asked for a position in the given inclusive range, before which the transfer then goes.
    pub fn relocate(
        &mut self,
        op: OpId,
        to: DeviceId,
        mut choose: impl FnMut(&Self, [DeviceId; 2], usize, usize) -> usize,
    ) -> Changed {
        let from = self.device(op);
        let at = self.op_at(op);
        self.edits.clear();
        for i in 0..self.graph.inputs(op).len() {
            let tensor = self.graph.inputs(op)[i];
            self.edit_input(tensor, op, [from, to], &mut choose);
        }
        for i in 0..self.graph.outputs(op).len() {
            let tensor = self.graph.outputs(op)[i];
            if let Some(sent) = self.sent_at(tensor, to) {
                self.edits.push(Edit { at: sent, insert: None });
            }
            let first_use = self.first_use(tensor, from, None);
            if first_use < self.plan.steps.len() {
                let before = choose(self, [to, from], at + 1, first_use);
                self.edits.push(Edit { at: before, insert: Some((tensor, from)) });
            }
        }
        self.edits.push(Edit { at, insert: None });
        // Insertions go before the step at their position, so they come before its removal.
        self.edits.sort_unstable_by_key(|edit| (edit.at, edit.insert.is_none(), edit.insert));
        let mut changed = self.apply_edits(op);
        self.saved_device = Some((op, from));
        self.plan.device[op.0 as usize] = to;
        // Transfers to third devices stay where they are, but start from another device now.
        changed.end = changed.end.max(self.after_last_transfer(op));
        changed
    }

    /// Position after the last transfer of what `op` produces; 0 if nothing is transferred.
    fn after_last_transfer(&self, op: OpId) -> usize {
        let copies =
            self.graph.outputs(op).iter().flat_map(|&t| (0..self.devices as u32).map(move |d| (t, DeviceId(d))));
        copies.filter_map(|(tensor, to)| self.sent_at(tensor, to)).max().map_or(0, |at| at + 1)
    }

    fn edit_input(
        &mut self,
        tensor: TensorId,
        op: OpId,
        [from, to]: [DeviceId; 2],
        choose: &mut impl FnMut(&Self, [DeviceId; 2], usize, usize) -> usize,
    ) {
        let producer = self.graph.producer(tensor);
        let home = self.device(producer);
        let others_need_it = self.first_use(tensor, from, Some(op)) < self.plan.steps.len();
        if let Some(sent) = self.sent_at(tensor, from).filter(|_| !others_need_it) {
            self.edits.push(Edit { at: sent, insert: None });
        }
        if home == to {
            return;
        }
        let sent = self.sent_at(tensor, to);
        if sent.is_some_and(|sent| sent < self.op_at(op)) {
            return;
        }
        if let Some(too_late) = sent {
            self.edits.push(Edit { at: too_late, insert: None });
        }
        let before = choose(self, [home, to], self.op_at(producer) + 1, self.op_at(op));
        self.edits.push(Edit { at: before, insert: Some((tensor, to)) });
    }

    /// Applies the sorted edits; the one that removes `op` puts it back, so that all others refer to positions around it.
    fn apply_edits(&mut self, op: OpId) -> Changed {
        let start = self.edits.first().map_or(0, |edit| edit.at);
        let end = self.edits.last().map_or(0, |edit| edit.at + usize::from(edit.insert.is_none()));
        self.replacement.clear();
        let mut at = start;
        for edit in &self.edits {
            self.replacement.extend_from_slice(&self.plan.steps[at..edit.at]);
            at = edit.at;
            match (edit.insert, self.plan.steps.get(at)) {
                (Some((tensor, to)), _) => self.replacement.push(Step::Transfer { tensor, to }),
                (None, Some(&Step::Run(run))) if run == op => {
                    self.replacement.push(Step::Run(op));
                    at += 1;
                }
                (None, _) => at += 1,
            }
        }
        self.save(start, end, self.replacement.len());
        self.replace(start, end)
    }

    /// Puts `replacement` where the steps `start..end` are.
    fn replace(&mut self, start: usize, end: usize) -> Changed {
        for at in start..end {
            if let Step::Transfer { tensor, to } = self.plan.steps[at] {
                let copy = self.copy(tensor, to);
                self.sent_at[copy] = NOWHERE;
            }
        }
        let shift = self.replacement.len() as isize - (end - start) as isize;
        if shift == 0 {
            self.plan.steps[start..end].copy_from_slice(&self.replacement);
            self.index(start, end);
        } else {
            self.plan.steps.splice(start..end, self.replacement.drain(..));
            self.index(start, self.plan.steps.len());
        }
        Changed { start, end: (end as isize + shift) as usize, shift }
    }

    /// Takes the last change back.
    pub fn undo(&mut self) {
        if let Some((op, device)) = self.saved_device.take() {
            self.plan.device[op.0 as usize] = device;
        }
        let (start, len) = self.replaced;
        std::mem::swap(&mut self.saved, &mut self.replacement);
        self.replace(start, start + len);
    }
}
