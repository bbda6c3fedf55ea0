//! Indices as C++ computes them, and where in a tensor they point.

use super::Failure;
use super::function::Emitter;
use super::value::Val;
use crate::ir::{ExprId, Node, Prim, TypeId};

type Result<T> = std::result::Result<T, Failure>;

impl Emitter<'_> {
    /// The parts of an index or a size.
    pub(super) fn parts_of_index(&self, value: &Val, ty: TypeId) -> Vec<String> {
        match ty {
            TypeId::INTEGER => vec![value.scalar().to_owned()],
            _ => self.fields(value, ty).iter().map(|part| part.scalar().to_owned()).collect(),
        }
    }

    /// The parts of an index by which an element is taken, or added to: they may be mentioned once.
    pub(super) fn taken_by(&mut self, index: ExprId) -> Result<Vec<String>> {
        let ty = self.ty(index);
        let parts = match self.program.store.node(index) {
            Node::Tuple(parts) => self.program.store.list(parts).to_vec(),
            _ if ty == TypeId::INTEGER => vec![index],
            _ => {
                let value = self.value_atom(index, "i")?;
                return Ok(self.parts_of_index(&value, ty));
            }
        };
        parts.into_iter().map(|part| self.part_taken_by(part)).collect()
    }

    fn part_taken_by(&mut self, part: ExprId) -> Result<String> {
        let plain = match self.program.store.node(part) {
            Node::Var(var) => self.plain.get(&var).cloned(),
            _ => self.sum_of_integers(part)?.map(|(_, plain)| plain),
        };
        match plain {
            Some(plain) => Ok(plain),
            None => Ok(self.value_atom(part, "i")?.scalar().to_owned()),
        }
    }

    /// A sum or difference of Integers as it is everywhere, wrapping around, and as it may be in an index: by `+`, which shows the C++
    /// compiler that a loop goes from one element to the next. Its first term, or one of two, is not negative. So a result that
    /// does not fit wraps around to a negative number, which is out of range, and an index out of range has no meaning anyway.
    pub(super) fn sum_of_integers(&mut self, expr: ExprId) -> Result<Option<(String, String)>> {
        let Node::Prim(prim @ (Prim::Add | Prim::Sub), args) = self.program.store.node(expr) else { return Ok(None) };
        let &[a, b] = self.program.store.list(args) else { return Ok(None) };
        let is_natural = |expr| self.facts.is_size(self.program, expr);
        let never_wraps_into_range = is_natural(a) || (prim == Prim::Add && is_natural(b));
        if self.ty(expr) != TypeId::INTEGER || self.options.debug_bounds || !never_wraps_into_range {
            return Ok(None);
        }
        let (a, b) = (self.value_atom(a, "i")?, self.value_atom(b, "i")?);
        let (a, b) = (a.scalar(), b.scalar());
        let (name, operator) = if prim == Prim::Add { ("add", '+') } else { ("sub", '-') };
        Ok(Some((format!("ks::{name}({a}, {b})"), format!("({a} {operator} {b})"))))
    }

    /// An element of a tensor.
    pub(super) fn access(&mut self, tensor: &str, index: &[String], at: ExprId) -> String {
        if self.options.debug_bounds {
            let parts: Vec<String> = index.iter().map(|part| format!("ks::integer({part})")).collect();
            return format!("{tensor}.at({}, {})", self.place(at), parts.join(", "));
        }
        let mut position = String::new();
        for (axis, part) in index.iter().enumerate() {
            position = match axis {
                0 => part.clone(),
                1 => format!("{position} * {tensor}.size[1] + {part}"),
                _ => format!("({position}) * {tensor}.size[{axis}] + {part}"),
            };
        }
        format!("{tensor}.data[{position}]")
    }
}
