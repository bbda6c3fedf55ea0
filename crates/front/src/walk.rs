//! Going through a tree.

use crate::stack;
use crate::tree::{Expr, Generator, Kind, Over, Statement, Subscript};

/// Calls `visit` with every part of an expression, and with the expression itself first.
pub fn walk<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    stack::grow(|| parts(expr, &mut |part| walk(part, visit)));
}

/// Calls `visit` with the direct parts of an expression, in order.
fn parts<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        Kind::Integer(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Text(_) | Kind::Name(_) => {}
        Kind::Tuple(parts) | Kind::Elements(_, parts) | Kind::Logic(_, parts) | Kind::Print(parts) => {
            parts.iter().for_each(visit);
        }
        Kind::Block(statements, result) => {
            statements.iter().for_each(|statement| visit(value_of(statement)));
            visit(result);
        }
        Kind::If(condition, then, otherwise) => [condition, then, otherwise].into_iter().for_each(|part| visit(part)),
        Kind::Match(value, arms) => {
            visit(value);
            arms.iter().for_each(|arm| visit(&arm.body));
        }
        Kind::Lambda(_, body) => visit(body),
        Kind::Call(call) => {
            call.args.iter().for_each(&mut *visit);
            call.named.iter().for_each(|(_, _, value)| visit(value));
        }
        Kind::Field(value, _) | Kind::Ascribed(value, _) => visit(value),
        Kind::Index(value, subscripts) => {
            visit(value);
            subscripts.iter().for_each(|subscript| match subscript {
                Subscript::At(place) => visit(place),
                Subscript::Slice(from, to) => [from, to].into_iter().flatten().for_each(&mut *visit),
            });
        }
        Kind::Binary(_, left, right) | Kind::Compare(_, left, right) | Kind::Assert(left, right) => {
            visit(left);
            visit(right);
        }
        Kind::Collect(_, value, generators) => {
            generators.iter().for_each(|each| generator(each, visit));
            visit(value);
        }
        Kind::Fold(fold) => {
            visit(&fold.init);
            generator(&fold.each, visit);
            visit(&fold.body);
        }
        Kind::Record(fields) => fields.iter().for_each(|(_, _, value)| visit(value)),
    }
}

fn value_of(statement: &Statement) -> &Expr {
    match statement {
        Statement::Let(_, value) | Statement::Effect(value) => value,
        Statement::Function(function) => &function.body,
    }
}

fn generator<'a>(each: &'a Generator, visit: &mut dyn FnMut(&'a Expr)) {
    match &each.over {
        Over::Range(from, to) => from.iter().chain([to]).for_each(&mut *visit),
        Over::Elements(sequence) | Over::Enumerate(sequence) => visit(sequence),
        Over::Zip(sequences) => sequences.iter().for_each(&mut *visit),
    }
    each.conditions.iter().for_each(visit);
}
