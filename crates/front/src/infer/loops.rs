//! Types of comprehensions and folds.

use super::Infer;
use crate::error::{Mistake, Result, outside};
use crate::tree::{Collect, Expr, Fold, Generator, Over, Sequence};
use crate::types::Type;

/// Rounds of finding the type of a state: ints that become floats are found in the second.
const MOST_ROUNDS: usize = 3;

/// A sequence of elements of a type.
pub(super) fn sequence(sequence: Sequence, element: Type) -> Type {
    match sequence {
        Sequence::List => Type::List(Box::new(element)),
        Sequence::Array => Type::Array(1, Box::new(element)),
    }
}

impl Infer<'_> {
    pub(super) fn collect(&mut self, collect: Collect, value: &Expr, generators: &[Generator]) -> Result<Type> {
        if let (Collect::Sequence(_), true) = (collect, generators.len() > 1) {
            let hint = "nest them: [[f(x, y) for y in ys] for x in xs]";
            return outside(value.span, "lists over several loops are", hint);
        }
        let mut bound = vec![];
        let done = generators.iter().try_for_each(|generator| self.generator(collect, generator, &mut bound));
        let ty = done.and_then(|()| self.expr(value));
        self.unbind(bound);
        let ty = ty?;
        match collect {
            Collect::Sequence(kind) => Ok(sequence(kind, ty)),
            Collect::Sum => {
                self.unifier.is_number(&ty);
                Ok(ty)
            }
        }
    }

    fn generator(&mut self, collect: Collect, generator: &Generator, bound: &mut Vec<String>) -> Result<()> {
        let element = self.over(&generator.over)?;
        self.bind(&generator.pattern, &element, bound)?;
        for condition in &generator.conditions {
            if collect != Collect::Sum {
                let hint = "the size of a list must not depend on its elements; sums may have conditions";
                return outside(condition.span, "conditions in lists are", hint);
            }
            self.expect_bool(condition)?;
        }
        Ok(())
    }

    /// The type of the elements of what a loop goes over.
    fn over(&mut self, over: &Over) -> Result<Type> {
        match over {
            Over::Range(from, to) => {
                from.iter().chain([to]).try_for_each(|bound| self.expect_int(bound))?;
                Ok(Type::Int)
            }
            Over::Elements(sequence) => self.element_of(sequence),
            Over::Zip(sequences) => {
                Ok(Type::Tuple(sequences.iter().map(|sequence| self.element_of(sequence)).collect::<Result<_>>()?))
            }
            Over::Enumerate(sequence) => Ok(Type::Tuple(vec![Type::Int, self.element_of(sequence)?])),
        }
    }

    /// The elements of a sequence; of a matrix, its rows.
    fn element_of(&mut self, sequence: &Expr) -> Result<Type> {
        let found = self.expr(sequence)?;
        let element = match self.unifier.resolve(&found) {
            Type::List(element) | Type::Array(1, element) => *element,
            Type::Array(rank, element) => Type::Array(rank - 1, element),
            unknown @ Type::Unknown(_) => {
                let element = self.unifier.fresh();
                self.unifier.unify(&unknown, &Type::Array(1, Box::new(element.clone())));
                element
            }
            other => {
                let (what, expected) = ("what is gone through".to_owned(), "a sequence".to_owned());
                let found = other.show(self.language);
                return Err(Mistake::Mismatch { what, expected, found, hint: None }.at(sequence.span));
            }
        };
        Ok(element)
    }

    pub(super) fn fold(&mut self, fold: &Fold) -> Result<Type> {
        let mut state = self.expr(&fold.init)?;
        let element = self.over(&fold.each.over)?;
        for _ in 0..MOST_ROUNDS {
            let pairs = [(&fold.state, &state), (&fold.each.pattern, &element)];
            let bound = self.bind_all(pairs.into_iter())?;
            let next = self.expr(&fold.body);
            self.unbind(bound);
            let next = next?;
            let joined = self.joined(&state, &next, fold.body.span, "what a step makes of the state")?;
            if self.unifier.resolve(&joined) == self.unifier.resolve(&state) {
                return Ok(joined);
            }
            state = joined;
        }
        Ok(state)
    }
}
