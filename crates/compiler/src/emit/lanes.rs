//! Sums in lanes: the terms are a C++ closure, which the runtime calls for several indices at once.

use super::Failure;
use super::function::Emitter;
use super::value::Val;
use crate::ir::{ExprId, TypeId};

type Result<T> = std::result::Result<T, Failure>;

impl Emitter<'_> {
    /// `sumbuild$4` and `sumbuild$8`
    pub(super) fn sum_in_lanes(&mut self, lanes: usize, args: &[ExprId], at: ExprId, hint: &str) -> Result<Val> {
        let sizes = self.sizes(args[0])?;
        self.check_sizes(args[0], &sizes, at);
        let (_, body) = self.lambda(args[1]);
        let is_total = self.is_total(body);
        let term = self.term(args[1])?;
        let size = sizes.join(", ");
        Ok(self.now(format!("ks::sum_in_lanes<{lanes}, {is_total}>({size}, {term})"), TypeId::FLOAT, hint))
    }

    /// The closure of a term.
    fn term(&mut self, lam: ExprId) -> Result<String> {
        let (var, body) = self.lambda(lam);
        let hint = self.program.store.var_name(var).to_owned();
        let (name, index) = (self.body.names.local("term"), self.body.names.local(&hint));
        self.body.open(format!(
            "[[maybe_unused]] const auto {name} = [&]([[maybe_unused]] const ks::integer {index}) KS_INLINE -> ks::real {{"
        ));
        self.facts.note_size(var);
        let outer = self.env.insert(var, Val::Text(index));
        self.depth += 1;
        let scope = self.open_scope();
        let value = self.value_atom(body, "x")?;
        self.release_scope(scope);
        self.depth -= 1;
        self.unbind(var, outer);
        self.body.code(format!("return {};", value.scalar()));
        self.body.close_with(";");
        Ok(name)
    }
}
