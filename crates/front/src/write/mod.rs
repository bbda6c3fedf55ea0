//! From the typed tree to `.ks`: what is implicit in the source is written out here.

mod arrays;
mod calls;
mod expr;
mod learn;
mod loops;
mod numbers;

use crate::Language;
use crate::helpers::Helpers;
use crate::infer::{Declared, Signature, Types};
use crate::ks::{Form, Ks, Top, call, float, integer, list, word};
use crate::names::Names;
use crate::tree::{Expr, Function, Kind, Module, Pattern, Statement, TypeBody, TypeDef};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes a program whose types are known.
pub fn write(module: &Module, declared: &Declared, types: &Types, language: Language) -> Vec<Top> {
    let mut writer = Writer {
        language,
        declared,
        types,
        names: Names::default(),
        helpers: Helpers::new(),
        tops: vec![],
        updates: vec![],
        source_names: FxHashSet::default(),
        fresh: FxHashSet::default(),
        scope: FxHashMap::default(),
        order: vec![],
        enclosing: String::new(),
    };
    writer.name_globals(module);
    let mut tops: Vec<Top> = module.types.iter().filter_map(|def| writer.union(def)).collect();
    module.functions.iter().for_each(|function| writer.global(function));
    tops.append(&mut writer.helpers.tops);
    tops.append(&mut writer.updates);
    tops.append(&mut writer.tops);
    tops
}

/// What a name of the source is here.
#[derive(Clone)]
enum Local {
    /// A variable: its name in `.ks`, and its type.
    Variable(String, Type),
    /// A function that was lifted to the top.
    Function(Lifted),
}

/// A local function, as a global one.
#[derive(Clone)]
struct Lifted {
    name: String,
    params: Vec<(Option<String>, Type)>,
    /// Variables of its surroundings, which it takes after its parameters.
    captured: Vec<(String, Type)>,
}

struct Writer<'a> {
    language: Language,
    declared: &'a Declared,
    types: &'a Types,
    names: Names,
    helpers: Helpers,
    /// Definitions so far.
    tops: Vec<Top>,
    /// Steps of Adam for types of parameters, parts first.
    updates: Vec<Top>,
    /// Every name that the function binds.
    source_names: FxHashSet<String>,
    /// Names that this function has for what has none in the source.
    fresh: FxHashSet<String>,
    scope: FxHashMap<String, Vec<Local>>,
    /// Names in scope, in order.
    order: Vec<String>,
    /// The function that is being written.
    enclosing: String,
}

impl<'a> Writer<'a> {
    fn name_globals(&mut self, module: &Module) {
        for function in &module.functions {
            // `main` keeps its name whatever there is.
            self.names.global(&function.name);
        }
        for def in &module.types {
            if let TypeBody::Union(constructors) = &def.body {
                self.names.global(&def.name);
                constructors.iter().for_each(|(name, _)| _ = self.names.global(name));
            }
        }
    }

    fn union(&mut self, def: &TypeDef) -> Option<Top> {
        let TypeBody::Union(constructors) = &def.body else { return None };
        let mut parts = vec![word("data"), word(self.names.function(&def.name))];
        for (name, fields) in constructors {
            let fields = fields.iter().map(|(_, ty)| self.ty(ty));
            parts.push(list([word(self.names.function(name))].into_iter().chain(fields).collect()));
        }
        Some(Top { comment: def.comment.clone(), form: list(parts).at(def.span) })
    }

    fn global(&mut self, function: &Function) {
        self.scope.clear();
        self.order.clear();
        self.fresh.clear();
        self.source_names = bound_names(function);
        self.enclosing.clone_from(&function.name);
        let name = self.names.function(&function.name);
        let form = self.definition(function, &name, &[]);
        self.tops.push(Top { comment: function.comment.clone(), form });
    }

    /// A definition; `captured` are variables of its surroundings, which become further parameters.
    fn definition(&mut self, function: &Function, name: &str, captured: &[(String, Type)]) -> Ks {
        let Signature { params: types, result, .. } = self.types.signature(function).clone();
        let mark = self.order.len();
        let (mut params, mut lets) = (vec![], vec![]);
        let is_one_tuple = matches!(&function.params[..], [param] if captured.is_empty() && is_flat(&param.pattern));
        match (&function.params[..], &types[..]) {
            // One parameter that is a tuple is several parameters.
            ([param], [(_, ty)]) if is_one_tuple => {
                if let Pattern::Tuple(parts, _) = &param.pattern {
                    for (part, ty) in parts.iter().zip(self.fields(ty)) {
                        params.push(self.bound_param(part, &ty, &mut lets));
                    }
                }
            }
            (patterns, types) => {
                for (param, (_, ty)) in patterns.iter().zip(types) {
                    params.push(self.bound_param(&param.pattern, ty, &mut lets));
                }
            }
        }
        params.extend(captured.iter().map(|(name, ty)| self.param(name, ty)));
        let is_main = name == "main" && params.is_empty() && result == Type::unit();
        let result = if is_main { Type::Int } else { result };
        let body = self.expr_as(&function.body, &result);
        self.unbind(mark);
        let body = wrap(lets, body);
        let params = match params.len() {
            1 => params.remove(0),
            _ => list(params),
        };
        let result = self.ty(&result);
        call("def", [word(name).at(function.span), result, params, body])
    }

    fn bound_param(&mut self, pattern: &Pattern, ty: &Type, lets: &mut Vec<(Ks, Ks)>) -> Ks {
        let name = match pattern {
            Pattern::Name(name, _) => self.bind_name(name, ty),
            Pattern::Wildcard(_) => self.fresh("unused"),
            Pattern::Tuple(..) => {
                let whole = self.fresh(&joined(pattern));
                self.take_apart(pattern, word(whole.clone()), ty, lets);
                whole
            }
        };
        self.param(&name, ty)
    }

    /// `(x : Vec Float)`
    fn param(&self, name: &str, ty: &Type) -> Ks {
        let ty = match self.ty(ty).form {
            Form::List(parts) => parts,
            form => vec![Ks { origin: None, form }],
        };
        list([word(name), word(":")].into_iter().chain(ty).collect())
    }

    /// A type.
    fn ty(&self, ty: &Type) -> Ks {
        match ty {
            Type::Float => word("Float"),
            Type::Int => word("Integer"),
            Type::Bool => word("Bool"),
            Type::Text => word("String"),
            Type::Tuple(fields) => call("Tuple", fields.iter().map(|field| self.ty(field))),
            Type::List(element) | Type::Array(1, element) => call("Vec", [self.ty(element)]),
            Type::Array(rank, element) => call("Tensor", [integer(rank), self.ty(element)]),
            Type::Named(name) => match self.declared.records.get(name) {
                Some(fields) => call("Tuple", fields.iter().map(|(_, ty)| self.ty(ty))),
                None => word(self.names.function(name)),
            },
            Type::Tangent(name) => call("Tangent", [word(self.names.function(name))]),
            Type::Function(params, result) => {
                let params: Vec<Ks> = params.iter().map(|param| self.ty(param)).collect();
                call("Lam", [call("Tuple", params), self.ty(result)])
            }
            // Inference leaves none.
            Type::Unknown(_) => word("Any"),
        }
    }

    /// The fields of a tuple or a record.
    fn fields(&self, ty: &Type) -> Vec<Type> {
        match ty {
            Type::Tuple(fields) => fields.clone(),
            Type::Named(name) => {
                self.declared.records.get(name).into_iter().flatten().map(|(_, ty)| ty.clone()).collect()
            }
            _ => vec![],
        }
    }

    /// A name of `.ks` that nothing else has here.
    fn fresh(&mut self, like: &str) -> String {
        let used = |name: &str| self.fresh.contains(name) || self.source_names.contains(name);
        let name = self.names.free(like, used);
        self.fresh.insert(name.clone());
        name
    }

    /// A name for what is done for its effect: nothing mentions it.
    fn effect_name(&self) -> Ks {
        word(self.names.free("done", |name| self.fresh.contains(name) || self.source_names.contains(name)))
    }

    /// Brings a name of the source into scope. F# keeps what a name meant before; Python does not.
    fn bind_name(&mut self, name: &str, ty: &Type) -> String {
        let in_scope = |made: &str| {
            self.scope.iter().any(|(source, locals)| {
                let is_other = self.language == Language::FSharp || source != name;
                is_other && locals.iter().any(|local| matches!(local, Local::Variable(ks, _) if ks == made))
            })
        };
        let made = self.names.free(name, in_scope);
        self.push(name, Local::Variable(made.clone(), ty.clone()));
        made
    }

    fn push(&mut self, name: &str, local: Local) {
        self.scope.entry(name.to_owned()).or_default().push(local);
        self.order.push(name.to_owned());
    }

    /// Forgets what came into scope since the mark.
    fn unbind(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            if let Some(locals) = self.scope.get_mut(&name) {
                locals.pop();
            }
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.scope.get(name)?.last()
    }

    /// Bindings for the parts of a value, which is a word or becomes one.
    fn take_apart(&mut self, pattern: &Pattern, value: Ks, ty: &Type, lets: &mut Vec<(Ks, Ks)>) {
        match pattern {
            Pattern::Name(name, span) => {
                let name = self.bind_name(name, ty);
                lets.push((word(name).at(*span), value));
            }
            Pattern::Wildcard(_) if value.is_word() => {}
            Pattern::Wildcard(_) => lets.push((word(self.fresh("unused")), value)),
            Pattern::Tuple(parts, _) if parts.is_empty() => {
                if !value.is_word() {
                    lets.push((self.effect_name(), value));
                }
            }
            Pattern::Tuple(parts, _) => {
                let (mut names, mut nested) = (vec![], vec![]);
                for (part, ty) in parts.iter().zip(self.fields(ty)) {
                    let name = match part {
                        Pattern::Name(name, _) => self.bind_name(name, &ty),
                        Pattern::Wildcard(_) => self.fresh("unused"),
                        Pattern::Tuple(..) => {
                            let name = self.fresh(&joined(part));
                            nested.push((part, word(name.clone()), ty));
                            name
                        }
                    };
                    names.push(word(name));
                }
                lets.push((list(names), value));
                nested.into_iter().for_each(|(part, value, ty)| self.take_apart(part, value, &ty, lets));
            }
        }
    }

    /// Names of the source that mean variables here, with what they are in `.ks`: those that a tree mentions.
    fn captured(&self, mentioned: &FxHashSet<String>) -> Vec<(String, Type)> {
        let mut captured: Vec<(String, Type)> = vec![];
        for name in &self.order {
            if !mentioned.contains(name) {
                continue;
            }
            let variables = match self.local(name) {
                Some(Local::Variable(ks, ty)) => vec![(ks.clone(), ty.clone())],
                Some(Local::Function(lifted)) => lifted.captured.clone(),
                None => vec![],
            };
            for variable in variables {
                if !captured.iter().any(|(ks, _)| *ks == variable.0) {
                    captured.push(variable);
                }
            }
        }
        captured
    }

    /// The value of one type as one of another: ints become floats.
    fn coerce(&mut self, value: Ks, from: &Type, to: &Type) -> Ks {
        if from == to {
            return value;
        }
        let origin = value.origin;
        let made = match (from, to) {
            (Type::Int, Type::Float) => as_float(value),
            (Type::Tuple(_), Type::Int) => as_main_result(value),
            (Type::Tuple(a), Type::Tuple(b)) => self.coerce_fields(value, a, b),
            (Type::List(a), Type::List(b)) => self.coerce_elements(value, a, b),
            _ => value,
        };
        Ks { origin, ..made }
    }

    fn coerce_fields(&mut self, value: Ks, from: &[Type], to: &[Type]) -> Ks {
        if let Some(parts) = value.args_of("tuple") {
            let parts: Vec<Ks> = parts.to_vec();
            return call(
                "tuple",
                parts.into_iter().zip(from.iter().zip(to)).map(|(part, (a, b))| self.coerce(part, a, b)),
            );
        }
        let names: Vec<String> = from.iter().map(|_| self.fresh("t")).collect();
        let fields = names.iter().zip(from.iter().zip(to)).map(|(name, (a, b))| self.coerce(word(name.clone()), a, b));
        let fields = call("tuple", fields.collect::<Vec<_>>());
        wrap(vec![(list(names.into_iter().map(word).collect()), value)], fields)
    }

    fn coerce_elements(&mut self, value: Ks, from: &Type, to: &Type) -> Ks {
        if let Some(parts) = value.args_of("Vec_init") {
            let parts: Vec<Ks> = parts.to_vec();
            return call("Vec_init", parts.into_iter().map(|part| self.coerce(part, from, to)));
        }
        let name = self.fresh("x");
        let element = self.coerce(word(name.clone()), from, to);
        call("map", [call("lam", [self.param(&name, from), element]), value])
    }

    /// Calls `made` with the value as a word, which is bound to it if it is not one.
    fn with_word(&mut self, value: Ks, like: &str, made: impl FnOnce(&mut Self, Ks) -> Ks) -> Ks {
        if value.is_word() {
            return made(self, value);
        }
        let name = self.fresh(like);
        let body = made(self, word(name.clone()));
        wrap(vec![(word(name), value)], body)
    }

    fn helper(&mut self, name: &str) -> String {
        self.helpers.name(name, &mut self.names)
    }
}

/// An Integer as a Float.
fn as_float(value: Ks) -> Ks {
    if let Form::Word(text) = &value.form
        && let Ok(constant) = text.parse::<i64>()
    {
        return float(constant as f64);
    }
    call("to_float", [value])
}

/// What `main` gives where the source gives nothing: an Integer.
fn as_main_result(value: Ks) -> Ks {
    if value.args_of("tuple").is_some() {
        return integer(0);
    }
    match value.args_of("let") {
        Some([bindings, body]) => {
            let is_unit = body.args_of("tuple").is_some_and(<[Ks]>::is_empty);
            match &bindings.form {
                Form::List(binding) if is_unit && binding.len() == 2 && binding[1].args_of("print").is_some() => {
                    binding[1].clone()
                }
                _ => call("let", [bindings.clone(), as_main_result(body.clone())]),
            }
        }
        _ => call("let", [list(vec![word("done"), value]), integer(0)]),
    }
}

/// `(let ((x e) (y f)) body)`
fn wrap(mut bindings: Vec<(Ks, Ks)>, mut body: Ks) -> Ks {
    // What is bound last and is all that follows needs no name.
    while let Some((_, value)) = bindings.pop_if(|(pattern, _)| is_all(pattern, &body)) {
        body = value;
    }
    let mut groups: Vec<Vec<(Ks, Ks)>> = vec![];
    for binding in bindings {
        // A copy of a variable stands alone: `((x y) (z e))` could be read as a tuple pattern.
        let is_copy = is_copy(&binding);
        match groups.last_mut().filter(|group| !is_copy && !group.iter().any(self::is_copy)) {
            Some(group) => group.push(binding),
            None => groups.push(vec![binding]),
        }
    }
    groups.into_iter().rev().fold(body, |body, group| {
        let mut pairs: Vec<Ks> = group.into_iter().map(|(name, value)| list(vec![name, value])).collect();
        let bindings = if pairs.len() == 1 { pairs.remove(0) } else { list(pairs) };
        call("let", [bindings, body])
    })
}

/// Whether a body is no more than what a pattern has bound.
fn is_all(pattern: &Ks, body: &Ks) -> bool {
    match (&pattern.form, &body.form) {
        (Form::Word(name), Form::Word(found)) => name == found,
        (Form::List(names), Form::List(_)) => body.args_of("tuple").is_some_and(|parts| {
            names.len() == parts.len()
                && names.iter().zip(parts).all(|(name, part)| part.is_word() && is_all(name, part))
        }),
        _ => false,
    }
}

/// Whether a binding is of a name to a name.
fn is_copy((name, value): &(Ks, Ks)) -> bool {
    let is_name =
        |ks: &Ks| matches!(&ks.form, Form::Word(text) if text.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    is_name(name) && is_name(value)
}

/// Whether this is a tuple of names.
fn is_flat(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Tuple(parts, _) => parts.len() > 1 && parts.iter().all(|part| !matches!(part, Pattern::Tuple(..))),
        _ => false,
    }
}

/// A name for the whole of a pattern: `acc_x`.
fn joined(pattern: &Pattern) -> String {
    let names = pattern.names();
    if names.is_empty() { "pair".to_owned() } else { names.join("_") }
}

/// Every name that a function binds.
pub fn bound_names(function: &Function) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    let add =
        |pattern: &Pattern, names: &mut FxHashSet<String>| names.extend(pattern.names().into_iter().map(str::to_owned));
    function.params.iter().for_each(|param| add(&param.pattern, &mut names));
    crate::walk::walk(&function.body, &mut |expr| match &expr.kind {
        Kind::Block(statements, _) => {
            for statement in statements {
                match statement {
                    Statement::Let(pattern, _) => add(pattern, &mut names),
                    Statement::Function(function) => {
                        names.insert(function.name.clone());
                        function.params.iter().for_each(|param| add(&param.pattern, &mut names));
                    }
                    Statement::Effect(_) => {}
                }
            }
        }
        Kind::Lambda(params, _) => params.iter().for_each(|param| add(&param.pattern, &mut names)),
        Kind::Collect(_, _, generators) => generators.iter().for_each(|generator| add(&generator.pattern, &mut names)),
        Kind::Fold(fold) => [&fold.state, &fold.each.pattern].into_iter().for_each(|pattern| add(pattern, &mut names)),
        Kind::Match(_, arms) => {
            let patterns = arms.iter().flat_map(|arm| arm.constructor.iter().flat_map(|(_, patterns)| patterns));
            patterns.for_each(|pattern| add(pattern, &mut names));
        }
        _ => {}
    });
    names
}

/// The names that a tree mentions, bound in it or not.
pub fn mentioned(exprs: &[&Expr]) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    for expr in exprs {
        crate::walk::walk(expr, &mut |expr| match &expr.kind {
            Kind::Name(name) => _ = names.insert(name.clone()),
            Kind::Call(call) => _ = names.insert(call.name.clone()),
            _ => {}
        });
    }
    names
}
