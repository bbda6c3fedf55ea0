//! Python calls functions that stand further down; `.ks` does not.

use crate::error::Mistake;
use crate::tree::{Function, Module};
use crate::write::{bound_names, mentioned};
use labrys_compiler::Error;
use rustc_hash::FxHashMap;

/// Sorts functions so that each stands below those that it uses, and otherwise as they were.
///
/// # Errors
/// Functions that call each other.
pub fn sort(module: &mut Module) -> Result<(), Error> {
    let places: FxHashMap<&str, usize> =
        module.functions.iter().enumerate().map(|(place, function)| (function.name.as_str(), place)).collect();
    let uses: Vec<Vec<usize>> = module.functions.iter().map(|function| uses(function, &places)).collect();
    let order = sorted(&uses).map_err(|(a, b)| {
        let (a, b) = (&module.functions[a], &module.functions[b]);
        Mistake::MutualRecursion(format!("'{}' and '{}'", a.name, b.name)).at(a.span)
    })?;
    let mut functions: Vec<Option<Function>> = module.functions.drain(..).map(Some).collect();
    module.functions = order.into_iter().filter_map(|place| functions[place].take()).collect();
    Ok(())
}

/// The places of the other functions that a function uses, in order.
fn uses(function: &Function, places: &FxHashMap<&str, usize>) -> Vec<usize> {
    // A name that a function binds anywhere is its own everywhere.
    let bound = bound_names(function);
    let mentioned = mentioned(&[&function.body]);
    let free = mentioned.iter().filter(|name| !bound.contains(*name) && **name != function.name);
    let mut uses: Vec<usize> = free.filter_map(|name| places.get(name.as_str()).copied()).collect();
    uses.sort_unstable();
    uses
}

/// Depth first, without recursion; the error is an edge of a cycle.
fn sorted(uses: &[Vec<usize>]) -> Result<Vec<usize>, (usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let (mut marks, mut order) = (vec![Mark::New; uses.len()], vec![]);
    for root in 0..uses.len() {
        let mut open = vec![(root, 0)];
        while let Some((place, next)) = open.pop() {
            if marks[place] == Mark::Done {
                continue;
            }
            marks[place] = Mark::Open;
            let Some(used) = uses[place].get(next) else {
                marks[place] = Mark::Done;
                order.push(place);
                continue;
            };
            open.push((place, next + 1));
            match marks[*used] {
                Mark::New => open.push((*used, 0)),
                Mark::Open => return Err((place.min(*used), place.max(*used))),
                Mark::Done => {}
            }
        }
    }
    Ok(order)
}
