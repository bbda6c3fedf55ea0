//! What the text says, before anything is concluded from it.

use super::shape::Shape;

/// A parsed module. Strings are slices of the text.
pub(super) struct Module<'a> {
    pub(super) name: &'a str,
    /// The order of the text is the order of execution.
    pub(super) is_scheduled: bool,
    pub(super) computations: Vec<Computation<'a>>,
    pub(super) entry: usize,
    /// All computations, callees before their callers.
    pub(super) callees_first: Vec<usize>,
}

pub(super) struct Computation<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) instructions: Vec<Instruction<'a>>,
    pub(super) root: usize,
    /// The parameter instructions, by parameter number.
    pub(super) parameters: Vec<usize>,
}

pub(super) struct Instruction<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) shape: Shape,
    pub(super) opcode: &'a str,
    /// Earlier instructions of the same computation.
    pub(super) operands: Vec<usize>,
    /// What stands between the parentheses of `constant` and `parameter`.
    pub(super) literal: &'a str,
    /// Instructions that must run before without passing a value.
    pub(super) control: Vec<usize>,
    pub(super) called: Vec<Call>,
    pub(super) attributes: Vec<(&'a str, &'a str)>,
}

/// A computation that an instruction runs.
pub(super) struct Call {
    pub(super) role: Role,
    pub(super) computation: usize,
}

/// What an instruction runs a computation for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The body of a `while`.
    Body,
    /// The condition of a `while`.
    Condition,
    /// One of the branches of a `conditional`.
    Branch,
    /// `calls`, `to_apply` and the like: a fusion's body, a reduction's combiner, a callee.
    Apply,
}

impl<'a> Instruction<'a> {
    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// The first computation with this role.
    pub(super) fn called_as(&self, role: Role) -> Option<usize> {
        self.called.iter().find(|call| call.role == role).map(|call| call.computation)
    }

    /// `custom-call`'s target, without its quotes.
    pub(super) fn custom_call_target(&self) -> Option<&'a str> {
        self.attribute("custom_call_target").map(|target| target.trim_matches('"'))
    }

    /// The opcode that an asynchronous pair wraps: `all-gather` for `all-gather-start`.
    pub(super) fn async_start_of(&self) -> Option<&'a str> {
        self.opcode.strip_suffix("-start")
    }

    /// The opcode whose end this is: `all-gather` for `all-gather-done`.
    pub(super) fn async_done_of(&self) -> Option<&'a str> {
        self.opcode.strip_suffix("-done")
    }
}

impl<'a> Computation<'a> {
    /// The operand at `position` of `instruction`, if there is one.
    pub(super) fn operand(&self, instruction: &Instruction<'_>, position: usize) -> Option<&Instruction<'a>> {
        instruction.operands.get(position).map(|&i| &self.instructions[i])
    }

    pub(super) fn root(&self) -> &Instruction<'a> {
        &self.instructions[self.root]
    }
}
