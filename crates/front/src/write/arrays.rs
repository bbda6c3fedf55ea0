//! Elements and parts of arrays.

use super::{Writer, wrap};
use crate::infer::constant;
use crate::ks::{Ks, call, integer, list, word};
use crate::tree::{Expr, Subscript};
use crate::types::Type;

/// A place along an axis of an array, or a stretch.
enum Along {
    At(Ks),
    /// From a place, so many elements.
    Stretch(Option<Ks>, Ks),
}

impl Writer<'_> {
    pub(super) fn index(&mut self, value: &Expr, subscripts: &[Subscript]) -> Ks {
        let ty = self.types.of(value).clone();
        let made = self.expr(value);
        match (&ty, subscripts) {
            (Type::Tuple(fields), [Subscript::At(place)]) => {
                let field = constant(place).and_then(|number| crate::place(number, fields.len())).unwrap_or(0);
                call(&format!("get${}${}", field + 1, fields.len()), [made])
            }
            (Type::List(_) | Type::Array(1, _), [Subscript::At(place)]) if constant(place).is_none_or(|n| n >= 0) => {
                let place = self.expr(place);
                call("index", [place, made])
            }
            (Type::Array(rank, _), _) => {
                self.with_word(made, "m", |writer, array| writer.part(array, *rank, subscripts))
            }
            _ => self.with_word(made, "v", |writer, list| writer.part(list, 1, subscripts)),
        }
    }

    /// Elements of an array that is a word.
    fn part(&mut self, array: Ks, rank: u32, subscripts: &[Subscript]) -> Ks {
        let mut along: Vec<Along> = vec![];
        for axis in 0..rank {
            let extent = self.extent(array.clone(), axis, rank);
            along.push(match subscripts.get(axis as usize) {
                Some(Subscript::At(place)) => Along::At(self.bound(place, &extent)),
                Some(Subscript::Slice(from, to)) => self.stretch(from.as_ref(), to.as_ref(), extent),
                None => Along::Stretch(None, extent),
            });
        }
        let (mut counters, mut sizes, mut places) = (vec![], vec![], vec![]);
        for part in along {
            match part {
                Along::At(place) => places.push(place),
                Along::Stretch(from, size) => {
                    let counter = self.fresh(["i", "j", "k"][counters.len().min(2)]);
                    let counted = word(counter.clone());
                    places.push(from.map_or(counted.clone(), |from| call("add", [from, counted])));
                    counters.push(counter);
                    sizes.push(size);
                }
            }
        }
        let place = if places.len() == 1 { places.remove(0) } else { call("tuple", places) };
        let element = call("index", [place, array]);
        if counters.is_empty() { element } else { self.build(counters, sizes, element) }
    }

    /// `(build size (lam (i : Integer) element))`, of any rank.
    pub(super) fn build(&mut self, counters: Vec<String>, mut sizes: Vec<Ks>, element: Ks) -> Ks {
        if let [counter] = &counters[..] {
            let lam = call("lam", [self.param(counter, &Type::Int), element]);
            return call("build", [sizes.remove(0), lam]);
        }
        let all = self.fresh(&counters.concat());
        let ty = Type::Tuple(vec![Type::Int; counters.len()]);
        let names = list(counters.into_iter().map(word).collect());
        let body = wrap(vec![(names, word(all.clone()))], element);
        call("build", [call("tuple", sizes), call("lam", [self.param(&all, &ty), body])])
    }

    /// A bound of a slice or an index; a negative constant counts from the end.
    fn bound(&mut self, place: &Expr, extent: &Ks) -> Ks {
        match constant(place) {
            Some(number) if number < 0 => call("sub", [extent.clone(), integer(number.unsigned_abs())]).at(place.span),
            _ => self.expr(place),
        }
    }

    fn stretch(&mut self, from: Option<&Expr>, to: Option<&Expr>, extent: Ks) -> Along {
        let from = from.filter(|from| constant(from) != Some(0)).map(|from| self.bound(from, &extent));
        let to = to.map_or_else(|| extent.clone(), |to| self.bound(to, &extent));
        match from {
            None => Along::Stretch(None, to),
            Some(from) => Along::Stretch(Some(from.clone()), call("sub", [to, from])),
        }
    }

    /// A list of lists as an array of a rank.
    pub(super) fn stacked(&mut self, value: Ks, from: &Type, rank: u32) -> Ks {
        if rank == 1 || matches!(from, Type::Array(own, _) if *own == rank) {
            return value;
        }
        if let (2, Type::List(rows) | Type::Array(_, rows)) = (rank, from)
            && rows.element() == Some(&Type::Float)
        {
            return call(&self.helper("matrix"), [value]);
        }
        self.with_word(value, "rows", |writer, rows| {
            let (mut sizes, mut counters, mut first) = (vec![], vec![], rows.clone());
            let mut element = rows;
            for axis in 0..rank as usize {
                sizes.push(call("size", [first.clone()]));
                first = call("index", [integer(0), first]);
                let counter = writer.fresh(["i", "j", "k"][axis.min(2)]);
                element = call("index", [word(counter.clone()), element]);
                counters.push(counter);
            }
            writer.build(counters, sizes, element)
        })
    }
}
