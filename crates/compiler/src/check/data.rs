//! Sum types: `data`, constructors, `match`.

use super::{Checker, Result};
use crate::error::ErrorKind;
use crate::ir::{DataId, ExprId, Symbol, Type, TypeId};
use crate::syntax::SexpId;

const DATA: &str = "(data Name (Constructor T ...) ...)";
const MATCH: &str = "(match e ((Constructor x ...) body) ... (else body))";

impl Checker<'_> {
    /// Declares the types of `data` forms that stand side by side: they may hold each other.
    pub(super) fn declare_data(&mut self, forms: &[SexpId]) {
        for form in forms {
            let Some(&name) = self.parts(*form).get(1) else { continue };
            let Some(symbol) = self.symbol(name) else { continue };
            if !self.is_type_name(name) && !self.state.data.contains_key(&symbol) {
                let (data, _) = self.state.program.store.types.declare_data(symbol);
                self.state.data.insert(symbol, data);
                self.state.undefined.insert(data);
            }
        }
    }

    pub(super) fn data_form(&mut self, form: SexpId, name: SexpId, constructors: &[SexpId]) -> Result<()> {
        let Some(symbol) = self.symbol(name) else { return self.expected(name, "the name of a type", DATA) };
        if constructors.is_empty() {
            return self.expected(form, "at least one constructor", DATA);
        }
        let declared = self.state.data.get(&symbol).copied();
        let is_open = declared.is_some_and(|data| self.state.undefined.remove(&data));
        if self.is_type_name(name) || (declared.is_some() && !is_open) {
            let text = self.sources.text(self.tree.get(name).span).to_owned();
            return self.fail(name, ErrorKind::Duplicate(format!("the type {text}")));
        }
        let data = declared.unwrap_or_else(|| self.state.program.store.types.declare_data(symbol).0);
        self.state.data.insert(symbol, data);
        let result = self.constructors(data, constructors);
        if result.is_err() {
            self.state.data.remove(&symbol);
        }
        result
    }

    pub(super) fn is_type_name(&self, name: SexpId) -> bool {
        let builtin = ["Float", "Integer", "Bool", "String", "Any", "Tuple", "Vec", "Tensor", "Lam", "LM", "Tangent"];
        self.name(name).is_some_and(|name| builtin.contains(&name))
    }

    fn constructors(&mut self, data: DataId, forms: &[SexpId]) -> Result<()> {
        let mut made: Vec<(Symbol, TypeId)> = vec![];
        for form in forms {
            let Some((head, fields)) = self.parts(*form).split_first() else {
                return self.expected(*form, "a constructor", DATA);
            };
            let Some(name) = self.symbol(*head) else { return self.expected(*head, "the name of a constructor", DATA) };
            let text = self.sources.text(self.tree.get(*head).span).to_owned();
            if made.iter().any(|(other, _)| *other == name) || self.is_function_name(&text) {
                return self.fail(*head, ErrorKind::Duplicate(text));
            }
            if super::forms::is_special(&text) || text == "match" {
                return self.fail(*head, ErrorKind::Reserved(text));
            }
            let fields: Vec<TypeId> = fields.iter().map(|field| self.ty(*field)).collect::<Result<_>>()?;
            made.push((name, self.as_one(&fields)));
        }
        for (number, (name, _)) in (0..).zip(&made) {
            self.state.constructors.insert(*name, (data, number));
        }
        self.state.program.store.types.set_constructors(data, made);
        Ok(())
    }

    /// The constructor that a name means: `Leaf`, or `[Leaf T]` with the sum type, which tells a type from its tangent.
    pub(super) fn constructor_ref(&mut self, head: SexpId) -> Result<Option<(DataId, u32)>> {
        if let Some(name) = self.symbol(head) {
            return Ok(self.state.constructors.get(&name).copied());
        }
        let &[name, ty] = self.parts(head) else { return Ok(None) };
        let constructor = self.symbol(name).and_then(|name| self.state.constructors.get(&name).copied());
        let Some((_, number)) = constructor else { return Ok(None) };
        let ty = self.ty(ty)?;
        match self.state.program.store.types.get(ty) {
            Type::Data(data) => Ok(Some((data, number))),
            _ => self.expected(head, "the sum type of the constructor", "[Leaf Tree] or [Leaf (Tangent Tree)]"),
        }
    }

    pub(super) fn construction(
        &mut self,
        id: SexpId,
        data: DataId,
        constructor: u32,
        args: &[SexpId],
    ) -> Result<ExprId> {
        let Some((name, holds)) =
            self.state.program.store.types.data(data).constructors.get(constructor as usize).copied()
        else {
            return self.expected(id, "a constructor of this type", "");
        };
        let exprs: Vec<ExprId> = args.iter().map(|arg| self.expr(*arg)).collect::<Result<_>>()?;
        let arg = match exprs[..] {
            [one] => one,
            _ => self.state.program.store.tuple(&exprs),
        };
        let what = format!("what {} holds", self.state.program.store.text(name));
        self.expect_type(id, arg, holds, &what)?;
        Ok(self.state.program.store.construct(data, constructor, arg))
    }

    pub(super) fn match_form(&mut self, id: SexpId, value: SexpId, arms: &[SexpId]) -> Result<ExprId> {
        let value_expr = self.expr(value)?;
        let ty = self.state.program.store.ty(value_expr);
        let Type::Data(data) = self.state.program.store.types.get(ty) else {
            let found = self.state.program.store.show_type(ty);
            let (what, expected) = ("the value of match".to_owned(), "a sum type".to_owned());
            return self.fail(value, ErrorKind::Mismatch { what, expected, found });
        };
        let constructors = self.state.program.store.types.data(data).constructors.clone();
        let mut lams: Vec<Option<ExprId>> = vec![None; constructors.len()];
        for arm in arms {
            self.arm(*arm, &constructors, &mut lams)?;
        }
        if let Some(missing) = lams.iter().position(Option::is_none) {
            let message = format!("the match lacks {}", self.state.program.store.text(constructors[missing].0));
            return self.fail(id, ErrorKind::BadMatch { message });
        }
        let lams: Vec<ExprId> = lams.into_iter().flatten().collect();
        self.same_results(id, &lams)?;
        Ok(self.state.program.store.match_(value_expr, &lams))
    }

    /// `((Constructor x ...) body)` or `(else body)`, which stands for all constructors that are left.
    fn arm(&mut self, arm: SexpId, constructors: &[(Symbol, TypeId)], lams: &mut [Option<ExprId>]) -> Result<()> {
        let &[pattern, body] = self.parts(arm) else { return self.expected(arm, "an arm of a match", MATCH) };
        if matches!(self.name(pattern), Some("else" | "_")) {
            let body = self.expr(body)?;
            for (lam, (_, holds)) in lams.iter_mut().zip(constructors).filter(|(lam, _)| lam.is_none()) {
                let ignored = self.state.program.store.fresh("_", *holds);
                *lam = Some(self.state.program.store.lam(ignored, body));
            }
            return Ok(());
        }
        let Some((head, names)) = self.parts(pattern).split_first() else {
            return self.expected(pattern, "a pattern", MATCH);
        };
        let name = self.symbol(*head);
        let Some(number) = constructors.iter().position(|(constructor, _)| Some(*constructor) == name) else {
            let all: Vec<&str> = constructors.iter().map(|(name, _)| self.state.program.store.text(*name)).collect();
            return self.expected(*head, &format!("one of {}", all.join(", ")), "");
        };
        if lams[number].is_some() {
            let message = format!("the match has {} twice", self.sources.text(self.tree.get(*head).span));
            return self.fail(pattern, ErrorKind::BadMatch { message });
        }
        lams[number] = Some(self.arm_lam(pattern, names, constructors[number].1, body)?);
        Ok(())
    }

    /// The body of an arm as a lambda over what the constructor holds: one name for all of it, or one for each field.
    fn arm_lam(&mut self, pattern: SexpId, names: &[SexpId], holds: TypeId, body: SexpId) -> Result<ExprId> {
        let fields = self.state.program.store.types.fields(holds).map(<[_]>::to_vec);
        let symbols: Vec<Symbol> = names
            .iter()
            .map(|name| match self.symbol(*name) {
                Some(name) => Ok(name),
                None => self.expected(*name, "a name", "patterns do not nest: match the inner value in the body"),
            })
            .collect::<Result<_>>()?;
        let store = &mut self.state.program.store;
        let mut lets = vec![];
        let var = match (&symbols[..], fields) {
            (&[name], _) => {
                let var = store.fresh_named(name, holds);
                self.scope.push(name, var);
                var
            }
            (_, Some(fields)) if fields.len() == symbols.len() => {
                let var = store.fresh("held", holds);
                let whole = store.var(var);
                for (field, (name, ty)) in (0..).zip(symbols.iter().zip(fields)) {
                    let part = store.fresh_named(*name, ty);
                    lets.push((part, store.get(field, whole)));
                    self.scope.push(*name, part);
                }
                var
            }
            _ => {
                let found = format!("{} names", symbols.len());
                let expected = format!("names for {}", store.show_type(holds));
                return self.fail(pattern, ErrorKind::Mismatch { what: "the pattern".to_owned(), expected, found });
            }
        };
        let body = self.expr(body);
        symbols.into_iter().for_each(|name| self.scope.pop(name));
        let store = &mut self.state.program.store;
        let body = store.lets(&lets, body?);
        Ok(store.lam(var, body))
    }

    /// All arms have the type of the first.
    fn same_results(&self, id: SexpId, lams: &[ExprId]) -> Result<()> {
        let store = &self.state.program.store;
        let result = |lam: ExprId| match store.types.get(store.ty(lam)) {
            Type::Lam(_, result) => result,
            _ => store.ty(lam),
        };
        let expected = result(lams[0]);
        match lams.iter().find(|lam| result(**lam) != expected) {
            None => Ok(()),
            Some(other) => {
                let (expected, found) = self.show_pair(expected, result(*other));
                let what = "the arms of the match".to_owned();
                self.fail(id, ErrorKind::Mismatch { what, expected, found })
            }
        }
    }
}
