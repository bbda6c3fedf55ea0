//! Types of expressions.

use super::{Binding, Infer};
use crate::Language;
use crate::error::{Mistake, Result, outside, similar};
use crate::stack;
use crate::tree::{Arm, Expr, Kind, Pattern, Statement, Subscript};
use crate::types::Type;
use labrys_compiler::Span;
use std::rc::Rc;

impl Infer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Type> {
        let awaited = self.tail.take_if(|(id, _)| *id == expr.id).map(|(_, ty)| ty);
        let ty = stack::grow(|| self.kind(expr, awaited.as_ref()))?;
        if let (Some(awaited), Language::FSharp) = (&awaited, self.language) {
            // What a function gives is known from its first case on, which recursive ones need. A mistake is told later.
            self.unifier.unify(awaited, &ty);
        }
        self.exprs[expr.id] = (ty.clone(), Some(expr.span));
        Ok(ty)
    }

    /// An expression that is what a function gives, if that is awaited.
    fn last_expr(&mut self, expr: &Expr, awaited: Option<&Type>) -> Result<Type> {
        self.tail = awaited.map(|ty| (expr.id, ty.clone()));
        self.expr(expr)
    }

    fn kind(&mut self, expr: &Expr, awaited: Option<&Type>) -> Result<Type> {
        match &expr.kind {
            Kind::Integer(_) => Ok(Type::Int),
            Kind::Float(_) => Ok(Type::Float),
            Kind::Bool(_) => Ok(Type::Bool),
            Kind::Text(_) => Ok(Type::Text),
            Kind::Name(name) => self.name(name, expr.span),
            Kind::Tuple(parts) => Ok(Type::Tuple(parts.iter().map(|part| self.expr(part)).collect::<Result<_>>()?)),
            Kind::Elements(sequence, elements) => {
                let element = self.elements(elements)?;
                Ok(super::loops::sequence(*sequence, element))
            }
            Kind::Block(statements, result) => self.block(statements, result, awaited),
            Kind::If(condition, then, otherwise) => self.branches(condition, then, otherwise, awaited),
            Kind::Match(value, arms) => self.matched(value, arms, expr.span, awaited),
            Kind::Lambda(..) => outside(
                expr.span,
                "functions as values are",
                "a function without a name can be an argument of map, fold, grad and the like",
            ),
            Kind::Call(call) => self.call(call, expr),
            Kind::Field(value, field) => self.field(value, field, expr.span),
            Kind::Index(value, subscripts) => self.index(value, subscripts, expr.span),
            Kind::Binary(operator, left, right) => {
                let types = [self.expr(left)?, self.expr(right)?];
                self.arithmetic(*operator, types, (left, right), expr.span)
            }
            Kind::Logic(_, parts) => {
                for part in parts {
                    self.expect_bool(part)?;
                }
                Ok(Type::Bool)
            }
            Kind::Compare(comparison, left, right) => self.comparison(*comparison, left, right, expr.span),
            Kind::Collect(collect, value, generators) => self.collect(*collect, value, generators),
            Kind::Fold(fold) => self.fold(fold),
            Kind::Record(fields) => self.record(fields, expr.span),
            Kind::Ascribed(value, ty) => {
                let found = self.expr(value)?;
                self.expect(ty, &found, value.span, || "the value".to_owned())?;
                Ok(ty.clone())
            }
            Kind::Assert(condition, value) => {
                self.expect_bool(condition)?;
                self.expr(value)
            }
            Kind::Print(parts) => {
                for part in parts {
                    self.expr(part)?;
                }
                Ok(Type::unit())
            }
        }
    }

    pub(super) fn expect_bool(&mut self, expr: &Expr) -> Result<()> {
        let found = self.expr(expr)?;
        self.expect(&Type::Bool, &found, expr.span, || "the condition".to_owned())
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Type> {
        match self.binding(name) {
            Some(Binding::Variable(ty)) => return Ok(ty.clone()),
            Some(Binding::Function(_)) => return self.function_as_value(name, span),
            None => {}
        }
        if let Some(signature) = self.globals.get(name) {
            return if signature.is_value { Ok(signature.result.clone()) } else { self.function_as_value(name, span) };
        }
        // A constructor that holds nothing needs no call.
        if let Some((union, fields)) = self.declared.fields(name)
            && fields.is_empty()
        {
            return Ok(Type::Named(union.clone()));
        }
        let known = self.scope.iter().filter(|(_, bindings)| !bindings.is_empty()).map(|(name, _)| name.as_str());
        let hint = similar(name, known.chain(self.globals.keys().map(String::as_str)));
        Err(Mistake::Unknown { what: "name", name: name.to_owned(), hint }.at(span))
    }

    fn function_as_value<T>(&self, name: &str, span: Span) -> Result<T> {
        outside(
            span,
            format!("'{name}' as a value is"),
            "a function can be called, or be an argument of map, fold, grad and the like",
        )
    }

    /// The type that all elements have.
    pub(super) fn elements(&mut self, elements: &[Expr]) -> Result<Type> {
        let mut element = self.unifier.fresh();
        for expr in elements {
            let found = self.expr(expr)?;
            match self.unifier.join(&element, &found) {
                Some(joined) => element = joined,
                None => self.expect(&element, &found, expr.span, || "an element".to_owned())?,
            }
        }
        Ok(element)
    }

    fn block(&mut self, statements: &[Statement], result: &Expr, awaited: Option<&Type>) -> Result<Type> {
        let mut bound = vec![];
        let done = statements.iter().try_for_each(|statement| self.statement(statement, &mut bound));
        let ty = done.and_then(|()| self.last_expr(result, awaited));
        self.unbind(bound);
        ty
    }

    fn statement(&mut self, statement: &Statement, bound: &mut Vec<String>) -> Result<()> {
        match statement {
            Statement::Let(pattern, value) => {
                let ty = self.expr(value)?;
                self.bind(pattern, &ty, bound)
            }
            Statement::Effect(effect) => {
                let found = self.expr(effect)?;
                self.expect(&Type::unit(), &found, effect.span, || "a statement that is an expression".to_owned())
            }
            Statement::Function(function) => {
                let signature = Rc::new(self.declare(function));
                let binding = Binding::Function(Rc::clone(&signature));
                self.scope.entry(function.name.clone()).or_default().push(binding);
                bound.push(function.name.clone());
                self.body(function, &signature)
            }
        }
    }

    fn branches(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, awaited: Option<&Type>) -> Result<Type> {
        self.expect_bool(condition)?;
        let (then_type, else_type) = (self.last_expr(then, awaited)?, self.last_expr(otherwise, awaited)?);
        self.joined(&then_type, &else_type, otherwise.span, "the second branch")
    }

    /// The type of what is one or the other.
    pub(super) fn joined(&mut self, first: &Type, other: &Type, span: Span, what: &str) -> Result<Type> {
        if let Some(joined) = self.unifier.join(first, other) {
            return Ok(joined);
        }
        self.expect(first, other, span, || what.to_owned())?;
        Ok(first.clone())
    }

    fn matched(&mut self, value: &Expr, arms: &[Arm], span: Span, awaited: Option<&Type>) -> Result<Type> {
        let found = self.expr(value)?;
        let Some(union) = arms.iter().find_map(|arm| {
            let (constructor, _) = arm.constructor.as_ref()?;
            Some(self.declared.constructors.get(constructor).cloned())
        }) else {
            return outside(span, "a match without constructors is", "use if and else");
        };
        let Some(union) = union else { return self.unknown_constructor(arms) };
        self.expect(&Type::Named(union.clone()), &found, value.span, || "the value that is matched".to_owned())?;
        self.check_exhaustive(&union, arms, span)?;
        let mut result: Option<Type> = None;
        for arm in arms {
            let ty = self.arm(arm, &union, awaited)?;
            let joined = match &result {
                Some(first) => self.joined(first, &ty, arm.body.span, "this case")?,
                None => ty,
            };
            result = Some(joined);
        }
        Ok(result.unwrap_or_else(Type::unit))
    }

    fn unknown_constructor<T>(&self, arms: &[Arm]) -> Result<T> {
        let (name, span) = arms.iter().find_map(|arm| Some((&arm.constructor.as_ref()?.0, arm.span))).unzip();
        let (name, span) = (name.cloned().unwrap_or_default(), span.unwrap_or(arms[0].span));
        let hint = similar(&name, self.declared.constructors.keys().map(String::as_str));
        Err(Mistake::Unknown { what: "constructor", name, hint }.at(span))
    }

    fn check_exhaustive(&self, union: &str, arms: &[Arm], span: Span) -> Result<()> {
        let mut left: Vec<&str> = self.declared.unions[union].iter().map(|(name, _)| name.as_str()).collect();
        for arm in arms {
            let Some((name, _)) = &arm.constructor else {
                left.clear();
                continue;
            };
            let Some(at) = left.iter().position(|other| other == name) else {
                let is_known = self.declared.unions[union].iter().any(|(other, _)| other == name);
                let message = if is_known { "is covered already" } else { "is no constructor of the type" };
                return Err(Mistake::BadMatch(format!("'{name}' {message}")).at(arm.span));
            };
            left.remove(at);
        }
        match left.is_empty() {
            true => Ok(()),
            false => Err(Mistake::BadMatch(format!("the match does not cover {}", left.join(", "))).at(span)),
        }
    }

    fn arm(&mut self, arm: &Arm, union: &str, awaited: Option<&Type>) -> Result<Type> {
        let mut bound = vec![];
        if let Some((name, patterns)) = &arm.constructor {
            let fields: Vec<Type> = match self.declared.fields(name) {
                Some((of, fields)) if of == union => fields.iter().map(|(_, ty)| ty.clone()).collect(),
                _ => return self.unknown_constructor(std::slice::from_ref(arm)),
            };
            self.bind_fields(name, patterns, &fields, arm.span, &mut bound)?;
        }
        let ty = self.last_expr(&arm.body, awaited);
        self.unbind(bound);
        ty
    }

    fn bind_fields(
        &mut self,
        name: &str,
        patterns: &[Pattern],
        fields: &[Type],
        span: Span,
        bound: &mut Vec<String>,
    ) -> Result<()> {
        if patterns.len() != fields.len() {
            let expected = format!("{} fields", fields.len());
            return Err(Mistake::Arguments { name: name.to_owned(), expected, found: patterns.len() }.at(span));
        }
        patterns.iter().zip(fields).try_for_each(|(pattern, ty)| self.bind(pattern, ty, bound))
    }

    fn field(&mut self, value: &Expr, field: &str, span: Span) -> Result<Type> {
        let found = self.expr(value)?;
        let found = self.unifier.resolve(&found);
        let fields = match &found {
            Type::Named(name) => self.declared.records.get(name),
            _ => None,
        };
        let Some(fields) = fields else {
            let hint =
                matches!(found, Type::Unknown(_)).then(|| "write the type of the value where it is bound".to_owned());
            let (what, expected) = (format!("the value with a field '{field}'"), "a record".to_owned());
            return Err(Mistake::Mismatch { what, expected, found: self.show(&found), hint }.at(value.span));
        };
        let hint = similar(field, fields.iter().map(|(name, _)| name.as_str()));
        let ty = fields.iter().find(|(name, _)| name == field).map(|(_, ty)| ty.clone());
        ty.ok_or_else(|| Mistake::Unknown { what: "field", name: field.to_owned(), hint }.at(span))
    }

    fn record(&mut self, fields: &[(String, Span, Expr)], span: Span) -> Result<Type> {
        let fits = |declared: &[(String, Type)]| {
            declared.len() == fields.len()
                && declared.iter().all(|(name, _)| fields.iter().any(|(other, ..)| other == name))
        };
        let mut candidates: Vec<_> = self.declared.records.iter().filter(|(_, declared)| fits(declared)).collect();
        candidates.sort_by_key(|(name, _)| *name);
        let Some((name, declared)) = candidates.first().map(|(name, fields)| ((*name).clone(), (*fields).clone()))
        else {
            let names: Vec<&str> = fields.iter().map(|(name, ..)| name.as_str()).collect();
            let name = format!("{{ {} }}", names.join("; "));
            return Err(Mistake::Unknown { what: "record", name, hint: None }.at(span));
        };
        for (field, span, value) in fields {
            let found = self.expr(value)?;
            let expected = declared.iter().find(|(name, _)| name == field).map(|(_, ty)| ty.clone());
            self.expect(&expected.unwrap_or(Type::unit()), &found, *span, || format!("the field '{field}'"))?;
        }
        Ok(Type::Named(name))
    }

    fn index(&mut self, value: &Expr, subscripts: &[Subscript], span: Span) -> Result<Type> {
        let mut ty = self.expr(value)?;
        ty = self.unifier.resolve(&ty);
        if let Type::Tuple(fields) = &ty {
            return self.tuple_field(fields.clone(), subscripts, span);
        }
        let mut slices = 0;
        for subscript in subscripts {
            match subscript {
                Subscript::At(place) => self.expect_int(place)?,
                Subscript::Slice(from, to) => {
                    slices += 1;
                    [from, to].into_iter().flatten().try_for_each(|bound| self.expect_int(bound))?;
                }
            }
        }
        if let Type::Unknown(_) = ty {
            // As many subscripts as the array has ranks.
            let element = self.unifier.fresh();
            let array = Type::Array(subscripts.len() as u32, Box::new(element));
            self.unifier.unify(&ty, &array);
            ty = array;
        }
        match &ty {
            Type::List(element) if subscripts.len() == 1 => {
                Ok(if slices == 1 { ty.clone() } else { (**element).clone() })
            }
            Type::Array(rank, element) if subscripts.len() <= *rank as usize => {
                let left = *rank - subscripts.len() as u32 + slices;
                Ok(if left == 0 { (**element).clone() } else { Type::Array(left, element.clone()) })
            }
            _ => {
                let (what, found) = ("the value that is indexed".to_owned(), self.show(&ty));
                let expected = format!("an array of rank {}", subscripts.len());
                Err(Mistake::Mismatch { what, expected, found, hint: None }.at(value.span))
            }
        }
    }

    pub(super) fn expect_int(&mut self, place: &Expr) -> Result<()> {
        let found = self.expr(place)?;
        self.expect(&Type::Int, &found, place.span, || "an index".to_owned())
    }

    /// `t[0]` of a tuple: the number is a constant.
    fn tuple_field(&mut self, fields: Vec<Type>, subscripts: &[Subscript], span: Span) -> Result<Type> {
        let place = match subscripts {
            [Subscript::At(place)] => place,
            _ => return outside(span, "slices of tuples are", "name the fields: a, b, c = t"),
        };
        self.expr(place)?;
        match constant(place).and_then(|number| crate::place(number, fields.len())) {
            Some(field) => Ok(fields[field].clone()),
            None => outside(place.span, "fields of tuples that are not constants within the tuple are", ""),
        }
    }
}

/// The value of an integer constant.
pub(crate) fn constant(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        Kind::Integer(value) => Some(*value),
        Kind::Call(call) if call.builtin == Some(crate::builtin::Builtin::Neg) => {
            call.args.first().and_then(constant).and_then(i64::checked_neg)
        }
        _ => None,
    }
}
