//! Which instruction runs which computation, and in which order computations can be analysed.

use super::module::{Call, Module, Role};
use super::parse::names_in;
use crate::{Error, Result};
use std::collections::HashMap;

/// Attributes that name computations.
const CALLING: [(&str, Role); 11] = [
    ("calls", Role::Apply),
    ("to_apply", Role::Apply),
    ("body", Role::Body),
    ("condition", Role::Condition),
    ("branch_computations", Role::Branch),
    ("true_computation", Role::Branch),
    ("false_computation", Role::Branch),
    ("called_computations", Role::Apply),
    ("select", Role::Apply),
    ("scatter", Role::Apply),
    ("comparator", Role::Apply),
];

/// Resolves the names of called computations and finds an order with callees before callers.
pub(super) fn link(module: &mut Module<'_>) -> Result<()> {
    let mut by_name = HashMap::new();
    for (i, computation) in module.computations.iter().enumerate() {
        if by_name.insert(computation.name, i).is_some() {
            return Err(Error::syntax(computation.line, format!("a second computation '{}'", computation.name)));
        }
    }
    for instruction in module.computations.iter_mut().flat_map(|c| &mut c.instructions) {
        for (key, list) in &instruction.attributes {
            let Some((_, role)) = CALLING.iter().find(|(name, _)| name == key) else { continue };
            for name in names_in(list) {
                let computation = *by_name.get(name).ok_or_else(|| {
                    Error::syntax(
                        instruction.line,
                        format!("'{}' calls '{name}', which is not in the file", instruction.name),
                    )
                })?;
                instruction.called.push(Call { role: *role, computation });
            }
        }
    }
    module.callees_first = callees_first(module)?;
    Ok(())
}

/// Kahn's algorithm on the call graph.
fn callees_first(module: &Module<'_>) -> Result<Vec<usize>> {
    let count = module.computations.len();
    let (mut callers, mut missing) = (vec![vec![]; count], vec![0usize; count]);
    for (caller, computation) in module.computations.iter().enumerate() {
        for call in computation.instructions.iter().flat_map(|i| &i.called) {
            callers[call.computation].push(caller);
            missing[caller] += 1;
        }
    }
    let mut order: Vec<usize> = (0..count).filter(|&c| missing[c] == 0).collect();
    let mut done = 0;
    while let Some(&callee) = order.get(done) {
        done += 1;
        for &caller in &callers[callee] {
            missing[caller] -= 1;
            if missing[caller] == 0 {
                order.push(caller);
            }
        }
    }
    match missing.iter().position(|&m| m > 0) {
        None => Ok(order),
        Some(stuck) => {
            let computation = &module.computations[stuck];
            let message = format!("computation '{}' calls itself, directly or through others", computation.name);
            Err(Error::syntax(computation.line, message))
        }
    }
}
