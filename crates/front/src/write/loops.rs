//! Comprehensions and folds.

use super::{Writer, wrap};
use crate::ks::{Ks, call, integer, list, word};
use crate::tree::{Collect, Expr, Fold, Generator, Kind, Over, Pattern};
use crate::types::Type;

/// How a loop goes: over numbers, with bindings for what the numbers stand for.
struct Counted {
    counter: String,
    count: Ks,
    /// Bindings around the loop.
    before: Vec<(Ks, Ks)>,
    /// Bindings in each round.
    within: Vec<(Ks, Ks)>,
}

impl Writer<'_> {
    pub(super) fn collect(&mut self, collect: Collect, value: &Expr, generators: &[Generator], ty: &Type) -> Ks {
        let Some((each, rest)) = generators.split_first() else { return self.expr_as(value, ty) };
        let mark = self.order.len();
        let made = match (&each.over, collect) {
            (Over::Elements(sequence), _) if self.is_flat_sequence(sequence) && each.conditions.is_empty() => {
                self.mapped_over(collect, sequence, each, value, rest, ty)
            }
            (Over::Zip(sequences), Collect::Sequence(_))
                if sequences.len() == 2 && sequences.iter().all(|s| self.is_flat_sequence(s)) =>
            {
                self.mapped_over_two(sequences, each, value, ty)
            }
            _ => self.counted(collect, each, value, rest, ty),
        };
        self.unbind(mark);
        made
    }

    /// Rows of equal size, each made by a loop over numbers, as one tensor of rank 2.
    pub(super) fn grid(&mut self, rows: &Expr, ty: &Type) -> Option<Ks> {
        let (Type::Array(2, element), Some((row, inner, height))) = (ty, ranged(rows)) else { return None };
        let (column, value, width) = ranged(inner)?;
        if super::mentioned(&[width]).contains(row) || row == column {
            return None;
        }
        let sizes = vec![self.expr(height), self.expr(width)];
        let mark = self.order.len();
        let counters = [row, column].map(|name| self.bind_name(name, &Type::Int)).to_vec();
        let value = self.expr_as(value, element);
        self.unbind(mark);
        Some(self.build(counters, sizes, value))
    }

    /// Whether the elements of a sequence are those of a tensor of rank 1.
    fn is_flat_sequence(&self, sequence: &Expr) -> bool {
        self.types.of(sequence).element().is_some()
    }

    /// The type of what a round gives.
    fn round_type(collect: Collect, ty: &Type) -> Type {
        match collect {
            Collect::Sum => ty.clone(),
            Collect::Sequence(_) => ty.element().cloned().unwrap_or(Type::Float),
        }
    }

    /// The value of a round, or what further loops make of it.
    fn round(&mut self, collect: Collect, value: &Expr, rest: &[Generator], ty: &Type) -> Ks {
        match rest.is_empty() {
            true => self.expr_as(value, &Self::round_type(collect, ty)),
            false => self.collect(collect, value, rest, ty),
        }
    }

    /// `(map (lam (x : T) e) v)`, or its sum.
    fn mapped_over(
        &mut self,
        collect: Collect,
        sequence: &Expr,
        each: &Generator,
        value: &Expr,
        rest: &[Generator],
        ty: &Type,
    ) -> Ks {
        let source = self.expr(sequence);
        let element = self.types.of(sequence).element().cloned().unwrap_or(Type::Float);
        let mut lets = vec![];
        let name = self.simple(&each.pattern, &element, &mut lets);
        let body = self.round(collect, value, rest, ty);
        let body = wrap(lets, body);
        let map = call("map", [call("lam", [self.param(&name, &element), body]), source]);
        if collect == Collect::Sum { call("sum", [map]) } else { map }
    }

    /// `(map2 (lam (x_y : (Tuple X Y)) e) v w)`
    fn mapped_over_two(&mut self, sequences: &[Expr], each: &Generator, value: &Expr, ty: &Type) -> Ks {
        let sources: Vec<Ks> = sequences.iter().map(|sequence| self.expr(sequence)).collect();
        let elements = sequences.iter().map(|s| self.types.of(s).element().cloned().unwrap_or(Type::Float)).collect();
        let pair = Type::Tuple(elements);
        let mut lets = vec![];
        let name = self.simple(&each.pattern, &pair, &mut lets);
        let element = ty.element().cloned().unwrap_or(Type::Float);
        let body = self.expr_as(value, &element);
        let lam = call("lam", [self.param(&name, &pair), wrap(lets, body)]);
        call("map2", [lam].into_iter().chain(sources))
    }

    /// `(build n (lam (i : Integer) e))` or `(sumbuild n ...)`.
    fn counted(&mut self, collect: Collect, each: &Generator, value: &Expr, rest: &[Generator], ty: &Type) -> Ks {
        let Counted { counter, count, before, within } = self.count(each);
        let conditions: Vec<Ks> = each.conditions.iter().map(|condition| self.expr(condition)).collect();
        let mut body = self.round(collect, value, rest, ty);
        for condition in conditions.into_iter().rev() {
            let zero = if *ty == Type::Int { integer(0) } else { crate::ks::float(0.0) };
            body = call("if", [condition, body, zero]);
        }
        let lam = call("lam", [self.param(&counter, &Type::Int), wrap(within, body)]);
        let head = if collect == Collect::Sum { "sumbuild" } else { "build" };
        wrap(before, call(head, [count, lam]))
    }

    /// A loop as one over numbers; its pattern is in scope from now on.
    fn count(&mut self, each: &Generator) -> Counted {
        let (mut before, mut within) = (vec![], vec![]);
        let (counter, count) = match &each.over {
            Over::Range(from, to) => self.range(from.as_ref(), to, &each.pattern, &mut within),
            Over::Elements(sequence) => {
                let (array, element, ty) = self.sequence(sequence, &mut before);
                let counter = self.fresh("i");
                let value = self.row(&array, &counter, &ty);
                self.take_apart(&each.pattern, value, &element, &mut within);
                (counter, self.extent(array, 0, rank(&ty)))
            }
            Over::Enumerate(sequence) => {
                let (array, element, ty) = self.sequence(sequence, &mut before);
                let parts = match &each.pattern {
                    Pattern::Tuple(parts, _) if parts.len() == 2 => Some((&parts[0], &parts[1])),
                    _ => None,
                };
                let counter = match parts {
                    Some((Pattern::Name(name, _), _)) => self.bind_name(name, &Type::Int),
                    _ => self.fresh("i"),
                };
                let value = self.row(&array, &counter, &ty);
                match parts {
                    Some((_, part)) => self.take_apart(part, value, &element, &mut within),
                    None => {
                        let pair = call("tuple", [word(counter.clone()), value]);
                        self.take_apart(&each.pattern, pair, &Type::Tuple(vec![Type::Int, element]), &mut within);
                    }
                }
                (counter, self.extent(array, 0, rank(&ty)))
            }
            Over::Zip(sequences) => self.zip(sequences, &each.pattern, &mut before, &mut within),
        };
        Counted { counter, count, before, within }
    }

    fn range(&mut self, from: Option<&Expr>, to: &Expr, pattern: &Pattern, within: &mut Vec<(Ks, Ks)>) -> (String, Ks) {
        let to = self.expr(to);
        let Some(from) = from else {
            let counter = match pattern {
                Pattern::Name(name, _) => self.bind_name(name, &Type::Int),
                _ => self.fresh("i"),
            };
            return (counter, to);
        };
        let from = self.expr(from);
        let counter = self.fresh("k");
        let value = call("add", [from.clone(), word(counter.clone())]);
        self.take_apart(pattern, value, &Type::Int, within);
        (counter, call(&self.helper("count_between"), [from, to]))
    }

    fn zip(
        &mut self,
        sequences: &[Expr],
        pattern: &Pattern,
        before: &mut Vec<(Ks, Ks)>,
        within: &mut Vec<(Ks, Ks)>,
    ) -> (String, Ks) {
        let counter = self.fresh("i");
        let all: Vec<(Ks, Type, Type)> = sequences.iter().map(|sequence| self.sequence(sequence, before)).collect();
        let rows: Vec<Ks> = all.iter().map(|(array, _, ty)| self.row(array, &counter, ty)).collect();
        match pattern {
            Pattern::Tuple(parts, _) if parts.len() == rows.len() => {
                for ((part, row), (_, element, _)) in parts.iter().zip(rows).zip(&all) {
                    self.take_apart(part, row, element, within);
                }
            }
            _ => {
                let ty = Type::Tuple(all.iter().map(|(_, element, _)| element.clone()).collect());
                self.take_apart(pattern, call("tuple", rows), &ty, within);
            }
        }
        let count = all.first().map_or(integer(0), |(array, _, ty)| self.extent(array.clone(), 0, rank(ty)));
        (counter, count)
    }

    /// A sequence as a word, the type of its elements, and its own.
    fn sequence(&mut self, sequence: &Expr, before: &mut Vec<(Ks, Ks)>) -> (Ks, Type, Type) {
        let ty = self.types.of(sequence).clone();
        let mut array = self.expr(sequence);
        if !array.is_word() {
            let name = self.fresh("v");
            before.push((word(name.clone()), array));
            array = word(name);
        }
        let element = match &ty {
            Type::Array(rank, element) if *rank > 1 => Type::Array(rank - 1, element.clone()),
            _ => ty.element().cloned().unwrap_or(Type::Float),
        };
        (array, element, ty)
    }

    /// An element of a sequence; of an array of higher rank, a row.
    fn row(&mut self, array: &Ks, counter: &str, ty: &Type) -> Ks {
        let rank = rank(ty);
        if rank == 1 {
            return call("index", [word(counter), array.clone()]);
        }
        let counters: Vec<String> = (1..rank).map(|axis| self.fresh(["i", "j", "k"][(axis as usize).min(2)])).collect();
        let sizes = (1..rank).map(|axis| self.extent(array.clone(), axis, rank)).collect();
        let places = [counter.to_owned()].into_iter().chain(counters.clone()).map(word);
        let element = call("index", [call("tuple", places), array.clone()]);
        self.build(counters, sizes, element)
    }

    pub(super) fn fold(&mut self, fold: &Fold, ty: &Type) -> Ks {
        let init = self.expr_as(&fold.init, ty);
        let mark = self.order.len();
        let made = match &fold.each.over {
            Over::Elements(sequence) if self.is_flat_sequence(sequence) => {
                let source = self.expr(sequence);
                let element = self.types.of(sequence).element().cloned().unwrap_or(Type::Float);
                let mut within = vec![];
                let item = self.simple(&fold.each.pattern, &element, &mut within);
                let lam = self.step(fold, ty, (&item, &element), within);
                call("fold", [lam, init, source])
            }
            _ => {
                let Counted { counter, count, before, within } = self.count(&fold.each);
                let lam = self.step(fold, ty, (&counter, &Type::Int), within);
                wrap(before, call("ifold", [count, lam, init]))
            }
        };
        self.unbind(mark);
        made
    }

    /// `(lam (s_x : Tuple S X) (let ((s x) s_x) body))`
    fn step(&mut self, fold: &Fold, state: &Type, item: (&str, &Type), within: Vec<(Ks, Ks)>) -> Ks {
        let mut parts = vec![];
        let name = self.simple(&fold.state, state, &mut parts);
        let whole = self.fresh(&format!("{name}_{}", item.0));
        let mut lets = vec![(list(vec![word(name), word(item.0)]), word(whole.clone()))];
        lets.extend(parts.into_iter().chain(within));
        let body = self.expr_as(&fold.body, state);
        let ty = Type::Tuple(vec![state.clone(), item.1.clone()]);
        call("lam", [self.param(&whole, &ty), wrap(lets, body)])
    }
}

/// A list over numbers from 0: the name of the number, the element, and how many there are.
fn ranged(list: &Expr) -> Option<(&str, &Expr, &Expr)> {
    let Kind::Collect(Collect::Sequence(_), value, generators) = &list.kind else { return None };
    match &generators[..] {
        [Generator { pattern: Pattern::Name(name, _), over: Over::Range(None, count), conditions }] => {
            conditions.is_empty().then_some((name, &**value, count))
        }
        _ => None,
    }
}

fn rank(ty: &Type) -> u32 {
    if let Type::Array(rank, _) = ty { *rank } else { 1 }
}
