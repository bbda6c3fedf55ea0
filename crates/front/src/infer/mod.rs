//! The types of all expressions. Python's come from annotations and go forward; what F# does not write follows by unification.

mod call;
mod expr;
pub(crate) use call::arranged;
pub(crate) use expr::constant;
mod loops;
mod numbers;

use crate::Language;
use crate::error::{Mistake, Result};
use crate::tree::{Constructors, Expr, Fields, Function, Module, Param, Pattern, TypeBody};
use crate::types::{Type, Unifier, is_open};
use labrys_compiler::{Error, Span};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a function takes and gives.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Parameters, with their names where they have one.
    pub params: Vec<(Option<String>, Type)>,
    /// The result.
    pub result: Type,
    /// A global value: it is used without a call.
    pub is_value: bool,
}

/// The types of a program.
#[derive(Debug)]
pub struct Types {
    /// By the numbers of expressions.
    exprs: Vec<Type>,
    /// Of functions, by the places of their names.
    functions: FxHashMap<Span, Signature>,
    /// Of global functions and values, by name.
    globals: FxHashMap<String, Span>,
}

impl Types {
    /// The type of an expression.
    pub fn of(&self, expr: &Expr) -> &Type {
        &self.exprs[expr.id]
    }

    /// What a function takes and gives.
    pub fn signature(&self, function: &Function) -> &Signature {
        &self.functions[&function.span]
    }

    /// What a global function takes and gives.
    pub fn global(&self, name: &str) -> Option<&Signature> {
        self.globals.get(name).map(|span| &self.functions[span])
    }
}

/// Records, unions and their constructors by name.
#[derive(Debug, Default)]
pub struct Declared {
    /// Fields of records.
    pub records: FxHashMap<String, Fields>,
    /// Constructors of unions.
    pub unions: FxHashMap<String, Constructors>,
    /// The union of a constructor.
    pub constructors: FxHashMap<String, String>,
}

impl Declared {
    /// What a program declares.
    pub fn of(module: &Module) -> Self {
        let mut declared = Self::default();
        for def in &module.types {
            match &def.body {
                TypeBody::Record(fields) => _ = declared.records.insert(def.name.clone(), fields.clone()),
                TypeBody::Union(constructors) => {
                    for (name, _) in constructors {
                        declared.constructors.insert(name.clone(), def.name.clone());
                    }
                    declared.unions.insert(def.name.clone(), constructors.clone());
                }
            }
        }
        declared
    }

    /// The fields of a constructor.
    pub fn fields(&self, constructor: &str) -> Option<(&String, &[(String, Type)])> {
        let union = self.constructors.get(constructor)?;
        let (_, fields) = self.unions[union].iter().find(|(name, _)| name == constructor)?;
        Some((union, fields))
    }

    /// The tangent of a type.
    pub fn tangent(&self, ty: &Type) -> Type {
        match ty {
            Type::Int | Type::Bool | Type::Text => Type::unit(),
            Type::Tuple(fields) => Type::Tuple(fields.iter().map(|field| self.tangent(field)).collect()),
            Type::List(element) => Type::List(Box::new(self.tangent(element))),
            Type::Array(rank, element) => Type::Array(*rank, Box::new(self.tangent(element))),
            Type::Named(name) => self.tangent_of_named(name),
            _ => ty.clone(),
        }
    }

    fn tangent_of_named(&self, name: &str) -> Type {
        match self.records.get(name) {
            Some(fields) => {
                let tangents: Vec<Type> = fields.iter().map(|(_, ty)| self.tangent(ty)).collect();
                let is_same = tangents.iter().zip(fields).all(|(tangent, (_, ty))| tangent == ty);
                if is_same { Type::Named(name.to_owned()) } else { Type::Tuple(tangents) }
            }
            None if self.is_smooth(name, &mut vec![]) => Type::Named(name.to_owned()),
            None => Type::Tangent(name.to_owned()),
        }
    }

    /// Whether a union or record holds nothing but floats, through all that it holds.
    fn is_smooth<'a>(&'a self, name: &'a str, open: &mut Vec<&'a str>) -> bool {
        if open.contains(&name) {
            return true;
        }
        open.push(name);
        let records = self.records.get(name).into_iter().flatten();
        let unions = self.unions.get(name).into_iter().flatten().flat_map(|(_, fields)| fields);
        records.chain(unions).all(|(_, ty)| self.holds_floats_only(ty, open))
    }

    fn holds_floats_only<'a>(&'a self, ty: &'a Type, open: &mut Vec<&'a str>) -> bool {
        match ty {
            Type::Int | Type::Bool | Type::Text => false,
            Type::Tuple(fields) => fields.iter().all(|field| self.holds_floats_only(field, open)),
            Type::List(element) | Type::Array(_, element) => self.holds_floats_only(element, open),
            Type::Named(name) => self.is_smooth(name, open),
            _ => true,
        }
    }
}

/// What a name means here.
#[derive(Clone)]
enum Binding {
    Variable(Type),
    Function(Rc<Signature>),
}

/// Finds the types of a program whose functions stand below those that they call.
///
/// # Errors
/// The mistakes, one for each function at most.
pub fn infer(module: &Module, declared: &Declared, language: Language) -> std::result::Result<Types, Vec<Error>> {
    let mut infer = Infer {
        language,
        declared,
        unifier: Unifier::new(language),
        exprs: vec![(Type::unit(), None); module.exprs],
        functions: FxHashMap::default(),
        globals: FxHashMap::default(),
        scope: FxHashMap::default(),
        tail: None,
    };
    let errors: Vec<Error> = module.functions.iter().filter_map(|function| infer.global(function).err()).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let globals = module.functions.iter().map(|function| (function.name.clone(), function.span)).collect();
    infer.finish(globals).map_err(|error| vec![error])
}

/// The state of inference.
struct Infer<'a> {
    language: Language,
    declared: &'a Declared,
    unifier: Unifier,
    /// Types of expressions with their places.
    exprs: Vec<(Type, Option<Span>)>,
    functions: FxHashMap<Span, Signature>,
    globals: FxHashMap<String, Rc<Signature>>,
    scope: FxHashMap<String, Vec<Binding>>,
    /// The expression that a function gives, and the type that its result has so far.
    tail: Option<(usize, Type)>,
}

impl Infer<'_> {
    fn global(&mut self, function: &Function) -> Result<()> {
        self.scope.clear();
        let signature = Rc::new(self.declare(function));
        self.globals.insert(function.name.clone(), Rc::clone(&signature));
        self.body(function, &signature)?;
        self.unifier.settle_numbers();
        for (param, (_, ty)) in function.params.iter().zip(&signature.params) {
            if is_open(&self.unifier.resolve(ty)) {
                let name = param.pattern.names().first().map_or("the parameter".to_owned(), |name| format!("'{name}'"));
                return Err(Mistake::Undetermined(name).at(param.pattern.span()));
            }
        }
        if is_open(&self.unifier.resolve(&signature.result)) {
            return Err(Mistake::Undetermined(format!("the result of '{}'", function.name)).at(function.span));
        }
        Ok(())
    }

    /// What a function takes and gives, as far as that is written.
    fn declare(&mut self, function: &Function) -> Signature {
        let params = function.params.iter().map(|param| (name_of(&param.pattern), self.param_type(param))).collect();
        let result = function.result.clone().unwrap_or_else(|| self.unifier.fresh());
        Signature { params, result, is_value: function.is_value }
    }

    fn param_type(&mut self, param: &Param) -> Type {
        match &param.ty {
            Some(ty) => self.unifier.opened(ty),
            None => self.unifier.fresh(),
        }
    }

    /// The body of a function whose signature is known as far as it is written.
    fn body(&mut self, function: &Function, signature: &Signature) -> Result<()> {
        let mark = self.bind_all(function.params.iter().zip(&signature.params).map(|(p, (_, ty))| (&p.pattern, ty)))?;
        let outer = self.tail.replace((function.body.id, signature.result.clone()));
        let found = self.expr(&function.body);
        self.tail = outer;
        self.unbind(mark);
        self.functions.insert(function.span, signature.clone());
        self.expect(&signature.result, &found?, last(&function.body).span, || {
            format!("the result of '{}'", function.name)
        })
    }

    /// The types of everything, once nothing more can follow.
    fn finish(self, globals: FxHashMap<String, Span>) -> Result<Types> {
        let mut exprs = vec![];
        for (ty, span) in &self.exprs {
            let ty = self.unifier.resolve(ty);
            if let (true, Some(span)) = (is_open(&ty), span) {
                return Err(Mistake::Undetermined("this".to_owned()).at(*span));
            }
            exprs.push(ty);
        }
        let mut functions = self.functions;
        for signature in functions.values_mut() {
            signature.params.iter_mut().for_each(|(_, ty)| *ty = self.unifier.resolve(ty));
            signature.result = self.unifier.resolve(&signature.result);
        }
        Ok(Types { exprs, functions, globals })
    }

    /// Brings the names of patterns into scope; the result is what [`Infer::unbind`] takes.
    fn bind_all<'p>(&mut self, pairs: impl Iterator<Item = (&'p Pattern, &'p Type)>) -> Result<Vec<String>> {
        let mut bound = vec![];
        for (pattern, ty) in pairs {
            self.bind(pattern, ty, &mut bound)?;
        }
        Ok(bound)
    }

    fn bind(&mut self, pattern: &Pattern, ty: &Type, bound: &mut Vec<String>) -> Result<()> {
        match pattern {
            Pattern::Wildcard(_) => Ok(()),
            Pattern::Name(name, _) => {
                self.scope.entry(name.clone()).or_default().push(Binding::Variable(ty.clone()));
                bound.push(name.clone());
                Ok(())
            }
            Pattern::Tuple(parts, span) => {
                let fields = self.fields_for(parts.len(), ty, *span)?;
                parts.iter().zip(&fields).try_for_each(|(part, field)| self.bind(part, field, bound))
            }
        }
    }

    /// The types of the fields of a tuple, or of a record that is taken apart.
    fn fields_for(&mut self, count: usize, ty: &Type, span: Span) -> Result<Vec<Type>> {
        let ty = self.unifier.resolve(ty);
        if let Type::Named(name) = &ty
            && let Some(fields) = self.declared.records.get(name).filter(|fields| fields.len() == count)
        {
            return Ok(fields.iter().map(|(_, ty)| ty.clone()).collect());
        }
        let fields: Vec<Type> = (0..count).map(|_| self.unifier.fresh()).collect();
        let tuple = Type::Tuple(fields.clone());
        if self.unifier.unify(&tuple, &ty) {
            return Ok(fields);
        }
        let expected = format!("a tuple of {count}");
        let found = ty.show(self.language);
        Err(Mistake::Mismatch { what: "the value of this pattern".to_owned(), expected, found, hint: None }.at(span))
    }

    fn unbind(&mut self, bound: Vec<String>) {
        for name in bound {
            if let Some(bindings) = self.scope.get_mut(&name) {
                bindings.pop();
            }
        }
    }

    fn binding(&self, name: &str) -> Option<&Binding> {
        self.scope.get(name)?.last()
    }

    fn show(&self, ty: &Type) -> String {
        self.unifier.resolve(ty).show(self.language)
    }

    fn expect(&mut self, expected: &Type, found: &Type, span: Span, what: impl FnOnce() -> String) -> Result<()> {
        if self.unifier.accepts(expected, found) {
            return Ok(());
        }
        let hint = self.mismatch_hint(&self.unifier.resolve(expected), &self.unifier.resolve(found));
        let (expected, found) = (self.show(expected), self.show(found));
        Err(Mistake::Mismatch { what: what(), expected, found, hint }.at(span))
    }

    fn mismatch_hint(&self, expected: &Type, found: &Type) -> Option<String> {
        let hint = match (expected, found, self.language) {
            (Type::Float, Type::Int, Language::FSharp) => "a float constant has a point: 1.0; (float i) converts",
            (Type::Int, Type::Float, _) => "there is no way from float to int",
            (Type::Array(..), Type::List(_), _) => "np.array(...) makes an array of a list",
            (Type::List(_), Type::Array(..), _) => "this is an array, not a list",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// Where the value of an expression stands: a block gives its last expression.
fn last(expr: &Expr) -> &Expr {
    match &expr.kind {
        crate::tree::Kind::Block(_, result) => last(result),
        _ => expr,
    }
}

fn name_of(pattern: &Pattern) -> Option<String> {
    match pattern {
        Pattern::Name(name, _) => Some(name.clone()),
        _ => None,
    }
}
