//! Where in an expression something is done.

use super::rule::RuleId;
use crate::ir::{ExprId, Store};
use std::fmt::Write as _;

/// A place in an expression: the number of the step there, counted from 0 at the root, each step before its parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place(pub(super) u32);

/// A step of a search: a rule, a place, and which of several ways where the rule has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Action {
    /// The rule.
    pub rule: RuleId,
    /// Which of several ways: the number of an occurrence, or of a part. 0 if there is one way.
    pub choice: u16,
    /// Where.
    pub place: Place,
}

impl Place {
    /// The root.
    pub const ROOT: Self = Self(0);

    /// The numbers of the parts on the way from the root of an expression to the place; none if it has no such place.
    pub fn path(self, store: &Store, root: ExprId) -> Option<Vec<usize>> {
        let (mut path, mut expr, mut left) = (vec![], root, self.0);
        while left > 0 {
            left -= 1;
            let mut number = 0;
            loop {
                let part = store.part(expr, number)?;
                let size = store.size(part);
                if left < size {
                    path.push(number);
                    expr = part;
                    break;
                }
                left -= size;
                number += 1;
            }
        }
        Some(path)
    }

    /// The place of a path; none if an expression has no such place.
    pub fn of_path(store: &Store, root: ExprId, path: &[usize]) -> Option<Self> {
        let (mut expr, mut place) = (root, 0u32);
        for number in path {
            place = place.checked_add(1)?;
            for before in 0..*number {
                place = place.checked_add(store.size(store.part(expr, before)?))?;
            }
            expr = store.part(expr, *number)?;
        }
        Some(Self(place))
    }

    /// What stands there.
    pub fn expr(self, store: &Store, root: ExprId) -> Option<ExprId> {
        self.path(store, root)?.iter().try_fold(root, |expr, number| store.part(expr, *number))
    }
}

/// A path as certificates write it: `0.1.2`, and `.` for the root.
pub fn show_path(path: &[usize]) -> String {
    let mut shown = String::new();
    for (count, number) in path.iter().enumerate() {
        _ = write!(shown, "{}{number}", if count == 0 { "" } else { "." });
    }
    if shown.is_empty() { ".".to_owned() } else { shown }
}

/// [`show_path`] the other way round.
pub fn read_path(text: &str) -> Option<Vec<usize>> {
    if text == "." {
        return Some(vec![]);
    }
    text.split('.').map(|number| number.parse().ok()).collect()
}
