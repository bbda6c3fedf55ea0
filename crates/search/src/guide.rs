//! What steers a search: nothing, chance, a rule, or a trained model.

/// Gives advice on a problem, once, before the search.
///
/// Advice only steers. Whoever takes it must give a valid result for any advice whatever, of the wrong length, not finite or
/// reversed, and must never end up with a worse start than without it. Advice depends on the problem alone: the same problem
/// gives the same advice, on any number of threads.
pub trait Guide<Problem: ?Sized>: Send + Sync {
    /// What it says; usually numbers for every decision of the problem.
    type Advice;

    /// Looks at a problem. Should take time linear in its size.
    fn advise(&self, problem: &Problem) -> Self::Advice;
}
