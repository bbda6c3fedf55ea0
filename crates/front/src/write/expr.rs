//! Expressions.

use super::{Lifted, Local, Writer, mentioned, wrap};
use crate::ks::{Ks, call, float, integer, list, text, word};
use crate::stack;
use crate::tree::{Arm, Expr, Function, Kind, Logic, Statement};
use crate::types::Type;

impl Writer<'_> {
    /// An expression as a value of a type.
    pub(super) fn expr_as(&mut self, expr: &Expr, expected: &Type) -> Ks {
        let value = self.expr(expr);
        let found = self.types.of(expr).clone();
        self.coerce(value, &found, expected)
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Ks {
        stack::grow(|| self.kind(expr)).at(expr.span)
    }

    fn kind(&mut self, expr: &Expr) -> Ks {
        let ty = self.types.of(expr).clone();
        match &expr.kind {
            Kind::Integer(value) => integer(value),
            Kind::Float(value) => float(*value),
            Kind::Bool(value) => word(if *value { "true" } else { "false" }),
            Kind::Text(value) => text(value),
            Kind::Name(name) => self.name(name),
            Kind::Tuple(parts) => call("tuple", parts.iter().map(|part| self.expr(part)).collect::<Vec<_>>()),
            Kind::Elements(_, elements) => self.elements(elements, &ty),
            Kind::Block(statements, result) => self.block(statements, result),
            Kind::If(condition, then, otherwise) => {
                let parts = [self.expr(condition), self.expr_as(then, &ty), self.expr_as(otherwise, &ty)];
                call("if", parts)
            }
            Kind::Match(value, arms) => self.matched(value, arms, &ty),
            // Only as an argument of what differentiates it, which writes it.
            Kind::Lambda(..) => word("lam"),
            Kind::Call(this) => self.call(this, expr),
            Kind::Field(value, field) => self.field(value, field),
            Kind::Index(value, subscripts) => self.index(value, subscripts),
            Kind::Binary(operator, left, right) => self.binary(*operator, left, right, &ty),
            Kind::Logic(logic, parts) => self.logic(*logic, parts),
            Kind::Compare(comparison, left, right) => {
                let joined = match (self.types.of(left), self.types.of(right)) {
                    (Type::Int, Type::Float) => Type::Float,
                    (left, _) => left.clone(),
                };
                let parts = [self.expr_as(left, &joined), self.expr_as(right, &joined)];
                call(comparison.ks(), parts)
            }
            Kind::Collect(collect, value, generators) => self.collect(*collect, value, generators, &ty),
            Kind::Fold(fold) => self.fold(fold, &ty),
            Kind::Record(fields) => self.record(fields, &ty),
            Kind::Ascribed(value, ty) => self.expr_as(value, ty),
            Kind::Assert(condition, value) => {
                let parts = [self.expr(condition), self.expr(value)];
                call("assert", parts)
            }
            Kind::Print(parts) => {
                let printed = self.print(parts);
                wrap(vec![(self.effect_name(), printed)], call("tuple", []))
            }
        }
    }

    fn print(&mut self, parts: &[Expr]) -> Ks {
        let parts: Vec<Ks> = parts.iter().map(|part| self.expr(part)).collect();
        call("print", parts)
    }

    fn name(&mut self, name: &str) -> Ks {
        match self.local(name) {
            Some(Local::Variable(ks, _)) => word(ks.clone()),
            // A global value, or a constructor that holds nothing.
            _ => list(vec![word(self.names.function(name))]),
        }
    }

    fn elements(&mut self, elements: &[Expr], ty: &Type) -> Ks {
        let element = ty.element().cloned().unwrap_or(Type::Float);
        if elements.is_empty() {
            let zero = self.zero(&element);
            return call("constVec", [integer(0), zero]);
        }
        call("Vec_init", elements.iter().map(|part| self.expr_as(part, &element)).collect::<Vec<_>>())
    }

    /// A value of a type, for the elements of what has none.
    fn zero(&mut self, ty: &Type) -> Ks {
        match ty {
            Type::Float => float(0.0),
            Type::Bool => word("false"),
            Type::Text => text(""),
            Type::List(element) | Type::Array(1, element) => {
                let zero = self.zero(element);
                call("constVec", [integer(0), zero])
            }
            Type::Tuple(fields) => call("tuple", fields.iter().map(|field| self.zero(field)).collect::<Vec<_>>()),
            _ => integer(0),
        }
    }

    /// Bindings and effects, then a value.
    fn block(&mut self, statements: &[Statement], result: &Expr) -> Ks {
        let mark = self.order.len();
        let mut lets = vec![];
        for statement in statements {
            match statement {
                Statement::Let(pattern, value) => {
                    let made = self.expr(value);
                    let ty = self.types.of(value).clone();
                    self.take_apart(pattern, made, &ty, &mut lets);
                }
                Statement::Effect(effect) => {
                    let made = match &effect.kind {
                        Kind::Print(parts) => self.print(parts).at(effect.span),
                        _ => self.expr(effect),
                    };
                    lets.push((self.effect_name(), made));
                }
                Statement::Function(function) => self.local_function(function),
            }
        }
        let body = self.expr(result);
        self.unbind(mark);
        wrap(lets, body)
    }

    /// A local function becomes a global one that takes what it uses of its surroundings.
    fn local_function(&mut self, function: &Function) {
        let captured = self.captured(&mentioned(&[&function.body]));
        let name = self.names.fresh(&format!("{}_{}", self.enclosing, function.name));
        let mark = self.order.len();
        let params = self.types.signature(function).params.clone();
        let lifted = Lifted { name: name.clone(), params, captured: captured.clone() };
        self.push(&function.name, Local::Function(lifted));
        let form = self.definition(function, &name, &captured);
        self.tops.push(crate::ks::Top { comment: function.comment.clone(), form });
        debug_assert_eq!(self.order.len(), mark + 1);
    }

    fn matched(&mut self, value: &Expr, arms: &[Arm], ty: &Type) -> Ks {
        let mut parts = vec![self.expr(value)];
        for arm in arms {
            let mark = self.order.len();
            let mut lets = vec![];
            let head = match &arm.constructor {
                None => word("else"),
                Some((name, patterns)) => {
                    let fields: Vec<Type> = self
                        .declared
                        .fields(name)
                        .map(|(_, fields)| fields.iter().map(|(_, ty)| ty.clone()).collect())
                        .unwrap_or_default();
                    let mut head = vec![word(self.names.function(name))];
                    for (pattern, ty) in patterns.iter().zip(&fields) {
                        head.push(word(self.simple(pattern, ty, &mut lets)));
                    }
                    list(head)
                }
            };
            let body = self.expr_as(&arm.body, ty);
            self.unbind(mark);
            parts.push(list(vec![head.at(arm.span), wrap(lets, body)]));
        }
        call("match", parts)
    }

    /// A name for what a pattern binds; what is in a tuple is bound by `lets`.
    pub(super) fn simple(&mut self, pattern: &crate::tree::Pattern, ty: &Type, lets: &mut Vec<(Ks, Ks)>) -> String {
        match pattern {
            crate::tree::Pattern::Name(name, _) => self.bind_name(name, ty),
            crate::tree::Pattern::Wildcard(_) => self.fresh("unused"),
            crate::tree::Pattern::Tuple(..) => {
                let whole = self.fresh(&super::joined(pattern));
                self.take_apart(pattern, word(whole.clone()), ty, lets);
                whole
            }
        }
    }

    fn field(&mut self, value: &Expr, field: &str) -> Ks {
        let fields = match self.types.of(value) {
            Type::Named(name) => self.declared.records.get(name),
            _ => None,
        };
        let (at, count) = fields
            .map_or((0, 1), |fields| (fields.iter().position(|(name, _)| name == field).unwrap_or(0), fields.len()));
        let value = self.expr(value);
        call(&format!("get${}${count}", at + 1), [value])
    }

    fn record(&mut self, fields: &[(String, labrys_compiler::Span, Expr)], ty: &Type) -> Ks {
        let Type::Named(name) = ty else { return call("tuple", []) };
        let declared = self.declared.records.get(name).cloned().unwrap_or_default();
        let in_order = fields.iter().map(|(field, _, _)| field).eq(declared.iter().map(|(field, _)| field));
        if in_order {
            return call(
                "tuple",
                fields
                    .iter()
                    .zip(&declared)
                    .map(|((_, _, value), (_, ty))| self.expr_as(value, ty))
                    .collect::<Vec<_>>(),
            );
        }
        // Computed in the order in which they are written.
        let (mut lets, mut made) = (vec![], vec![]);
        for (field, _, value) in fields {
            let ty = declared.iter().find(|(name, _)| name == field).map_or(Type::Float, |(_, ty)| ty.clone());
            let name = self.fresh(field);
            lets.push((word(name.clone()), self.expr_as(value, &ty)));
            made.push((field, name));
        }
        let ordered = declared.iter().filter_map(|(field, _)| made.iter().find(|(name, _)| *name == field));
        let tuple = call("tuple", ordered.map(|(_, name)| word(name.clone())).collect::<Vec<_>>());
        wrap(lets, tuple)
    }

    /// `and` and `or` of `.ks` compute both: where the second can fail or print, an `if` keeps it from being computed.
    fn logic(&mut self, logic: Logic, parts: &[Expr]) -> Ks {
        let Some((first, rest)) = parts.split_first() else { return word("true") };
        let value = self.expr(first);
        if rest.is_empty() {
            return value;
        }
        let is_total = rest.iter().all(is_total);
        let other = self.logic(logic, rest);
        match (logic, is_total) {
            (Logic::And, true) => call("and", [value, other]),
            (Logic::Or, true) => call("or", [value, other]),
            (Logic::And, false) => call("if", [value, other, word("false")]),
            (Logic::Or, false) => call("if", [value, word("true"), other]),
        }
    }
}

/// Whether computing this cannot fail, print or take long.
fn is_total(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Integer(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Name(_) => true,
        Kind::Field(value, _) => is_total(value),
        Kind::Call(call) => call.builtin == Some(crate::builtin::Builtin::Not) && call.args.iter().all(is_total),
        Kind::Compare(_, left, right) => is_total(left) && is_total(right),
        Kind::Logic(_, parts) => stack::grow(|| parts.iter().all(is_total)),
        Kind::Binary(operator, left, right) => {
            use crate::tree::Operator::{Add, Mul, Sub};
            matches!(operator, Add | Sub | Mul) && stack::grow(|| is_total(left) && is_total(right))
        }
        _ => false,
    }
}
