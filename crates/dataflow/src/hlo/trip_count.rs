//! How often a `while` runs its body.

use super::forward::is_invariant;
use super::module::{Computation, Instruction, Module, Role};

/// Copies and bitcasts between a value and where it comes from, at most.
const MAX_HOPS: usize = 16;

/// The trip count that XLA wrote into the backend config, else that of a counter with known start, step and bound
/// (an unknown start counts as 0), else 1.
pub(super) fn trip_count(module: &Module<'_>, computation: &Computation<'_>, instruction: &Instruction<'_>) -> u64 {
    known(instruction).or_else(|| counted(module, computation, instruction)).unwrap_or(1)
}

/// `backend_config={"known_trip_count":{"n":"32"}}`, in quotes or not.
fn known(instruction: &Instruction<'_>) -> Option<u64> {
    let config = instruction.attribute("backend_config")?;
    let (_, rest) = config.split_once("known_trip_count")?;
    let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '}');
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// A counter: element `index` of the loop's state goes from `start` by `step` while it compares to `bound`.
fn counted(module: &Module<'_>, computation: &Computation<'_>, instruction: &Instruction<'_>) -> Option<u64> {
    let condition = &module.computations[instruction.called_as(Role::Condition)?];
    let body = &module.computations[instruction.called_as(Role::Body)?];
    let init = computation.operand(instruction, 0)?;
    let (test, lhs, rhs) = binary(module, condition, condition.root())?;
    if test.opcode != "compare" {
        return None;
    }
    let direction = test.attribute("direction")?;
    let state_constant = |index: usize| constant(origin(computation, computation.operand(init, index)?));
    let invariant = |index: usize| is_invariant(body, index, body.root().operands.len());
    let bound = |side: &Instruction<'_>| match element_of_state(condition, side) {
        Some(index) if invariant(index) => state_constant(index),
        Some(_) => None,
        None => constant(side),
    };
    let (index, bound, direction) = match (bound(lhs), bound(rhs)) {
        (_, Some(bound)) => (element_of_state(condition, lhs)?, bound, direction),
        (Some(bound), None) => (element_of_state(condition, rhs)?, bound, mirrored(direction)),
        (None, None) => return None,
    };
    let start = if init.opcode == "tuple" { state_constant(index) } else { None }.unwrap_or(0);
    trips(start, step(module, body, index)?, bound, direction)
}

fn mirrored(direction: &str) -> &str {
    match direction {
        "LT" => "GT",
        "LE" => "GE",
        "GT" => "LT",
        "GE" => "LE",
        same => same,
    }
}

fn trips(start: i64, step: i64, bound: i64, direction: &str) -> Option<u64> {
    let (distance, step) = (i128::from(bound) - i128::from(start), i128::from(step));
    let (distance, stride) = if step > 0 { (distance, step) } else { (-distance, -step) };
    let trips = match (direction, step > 0) {
        _ if stride == 0 => return None,
        ("LT", true) | ("GT", false) => (distance + stride - 1).div_euclid(stride),
        ("LE", true) | ("GE", false) => distance.div_euclid(stride) + 1,
        ("NE", _) if distance % stride == 0 => distance / stride,
        _ => return None,
    };
    u64::try_from(trips.max(0)).ok()
}

/// By how much the body advances element `index` of its state.
fn step(module: &Module<'_>, body: &Computation<'_>, index: usize) -> Option<i64> {
    let root = body.root();
    let next = if root.opcode == "tuple" { body.operand(root, index)? } else { return None };
    let (update, lhs, rhs) = binary(module, body, origin(body, next))?;
    let is_counter = |side| element_of_state(body, side) == Some(index);
    match update.opcode {
        "add" if is_counter(lhs) => constant(rhs),
        "add" if is_counter(rhs) => constant(lhs),
        "subtract" if is_counter(lhs) => constant(rhs)?.checked_neg(),
        _ => None,
    }
}

/// A binary instruction and where its operands come from; looks into a fusion (or callee) that holds nothing else.
fn binary<'m, 'a>(
    module: &'m Module<'a>,
    computation: &'m Computation<'a>,
    instruction: &'m Instruction<'a>,
) -> Option<(&'m Instruction<'a>, &'m Instruction<'a>, &'m Instruction<'a>)> {
    if !matches!(instruction.opcode, "fusion" | "call") {
        let side = |position| Some(origin(computation, computation.operand(instruction, position)?));
        return Some((instruction, side(0)?, side(1)?));
    }
    let inner = &module.computations[instruction.called_as(Role::Apply)?];
    let root = inner.root();
    let side = |position| {
        let value = origin(inner, inner.operand(root, position)?);
        match value.opcode {
            "parameter" => {
                let number = value.literal.trim().parse().ok()?;
                Some(origin(computation, computation.operand(instruction, number)?))
            }
            _ => Some(value),
        }
    };
    Some((root, side(0)?, side(1)?))
}

/// Follows copies, bitcasts and conversions back.
fn origin<'m, 'a>(computation: &'m Computation<'a>, mut instruction: &'m Instruction<'a>) -> &'m Instruction<'a> {
    for _ in 0..MAX_HOPS {
        match (instruction.opcode, computation.operand(instruction, 0)) {
            ("copy" | "bitcast" | "convert", Some(operand)) => instruction = operand,
            _ => break,
        }
    }
    instruction
}

fn element_of_state(computation: &Computation<'_>, instruction: &Instruction<'_>) -> Option<usize> {
    let of =
        if instruction.opcode == "get-tuple-element" { computation.operand(instruction, 0)? } else { return None };
    if of.opcode == "parameter" { instruction.attribute("index")?.parse().ok() } else { None }
}

fn constant(instruction: &Instruction<'_>) -> Option<i64> {
    if instruction.opcode == "constant" { instruction.literal.trim().parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlo::parse::parse;

    #[test]
    fn trips_of_a_counter() {
        let cases = [
            ((0, 1, 8, "LT"), Some(8)),
            ((0, 3, 8, "LT"), Some(3)),
            ((2, 1, 8, "LE"), Some(7)),
            ((8, -1, 0, "GT"), Some(8)),
            ((8, -1, 0, "GE"), Some(9)),
            ((0, 2, 8, "NE"), Some(4)),
            ((9, 1, 8, "LT"), Some(0)),
            ((0, 0, 8, "LT"), None),
            ((0, -1, 8, "LT"), None),
            ((i64::MIN, 1, i64::MAX, "LT"), Some(u64::MAX)),
        ];
        for ((start, step, bound, direction), expected) in cases {
            assert_eq!(trips(start, step, bound, direction), expected, "{start} {step} {bound} {direction}");
        }
    }

    fn of(condition: &str, step: &str, bound: &str, attributes: &str) -> u64 {
        let text = format!(
            "HloModule m
             plus {{\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b)\n}}
             less {{\n a = s32[] parameter(0)\n b = s32[] constant(7)\n ROOT r = pred[] compare(a, b), direction=LT\n}}
             c {{\n s = (s32[], s32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] get-tuple-element(s), index=1
               k = s32[] constant(6)\n ROOT r = pred[] {condition}\n}}
             b {{\n s = (s32[], s32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] get-tuple-element(s), index=1
               k = s32[] constant(2)\n j = s32[] {step}\n ROOT r = (s32[], s32[]) tuple(j, {bound})\n}}
             ENTRY e {{\n z = s32[] constant(1)\n n = s32[] constant(9)\n t = (s32[], s32[]) tuple(z, n)
               ROOT w = (s32[], s32[]) while(t), condition=c, body=b{attributes}\n}}"
        );
        let module = parse(&text).unwrap();
        let entry = &module.computations[module.entry];
        trip_count(&module, entry, entry.root())
    }

    #[test]
    fn patterns_of_loops() {
        let cases = [
            ("compare(i, k), direction=LT", "add(i, k)", "n", "", 3),
            ("compare(k, i), direction=GT", "add(k, i)", "n", "", 3),
            ("compare(i, n), direction=LT", "add(i, k)", "n", "", 4),
            ("compare(i, n), direction=LT", "add(i, k)", "j", "", 1),
            ("fusion(i), calls=less", "fusion(i, k), calls=plus", "n", "", 3),
            ("compare(i, k), direction=LT", "multiply(i, k)", "n", "", 1),
            (
                "compare(i, k), direction=LT",
                "add(i, k)",
                "n",
                r#", backend_config={"known_trip_count":{"n":"32"}}"#,
                32,
            ),
            (
                "compare(i, k), direction=LT",
                "add(i, k)",
                "n",
                r#", backend_config="{\"known_trip_count\":{\"n\":\"5\"}}""#,
                5,
            ),
        ];
        for (condition, step, bound, attributes, expected) in cases {
            assert_eq!(of(condition, step, bound, attributes), expected, "{condition}; {step}; {bound}; {attributes}");
        }
    }
}
