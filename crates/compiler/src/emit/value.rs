//! Values as the emitted code has them: C++ expressions, and tuples that are never made.

use super::function::Emitter;
use super::types;
use crate::ir::{Type, TypeId};

/// What stands for a value in C++.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// An expression without effects that cannot fail.
    Text(String),
    /// A tuple, by its fields: no struct is made unless somebody needs one.
    Tuple(Vec<Val>),
}

/// Longest expression that stays in the line where it is used.
const LONGEST: usize = 96;

/// Whether an expression costs nothing to mention again.
pub(super) fn is_atom(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "_.:+-".contains(c))
}

/// Whether there is a name in an expression.
fn mentions_something(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_alphabetic())
}

impl Val {
    pub(super) fn unit() -> Self {
        Self::Tuple(vec![])
    }

    /// The expression of a value that is no tuple.
    pub(super) fn scalar(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Tuple(_) => "ks::unit{}",
        }
    }
}

impl Emitter<'_> {
    /// The C++ type.
    pub(super) fn cpp(&mut self, ty: TypeId) -> String {
        self.types.name(&mut self.program.store, &mut self.body.names, ty)
    }

    /// The C++ type as it is named outside of the namespace of the program.
    pub(super) fn qualified(&mut self, ty: TypeId, namespace: &str) -> String {
        let name = self.cpp(ty);
        let is_struct = !name.starts_with("ks::") && name != "bool";
        let inner = name.replace("<tuple_", &format!("<{namespace}::tuple_"));
        if is_struct { format!("{namespace}::{name}") } else { inner }
    }

    /// The types of the fields, if this is a tuple.
    pub(super) fn field_types(&self, ty: TypeId) -> Option<Vec<TypeId>> {
        self.program.store.types.fields(ty).map(<[_]>::to_vec)
    }

    /// The fields of a tuple.
    pub(super) fn fields(&self, value: &Val, ty: TypeId) -> Vec<Val> {
        match value {
            Val::Tuple(fields) => fields.clone(),
            Val::Text(text) => {
                let count = self.program.store.types.fields(ty).map_or(0, <[_]>::len);
                (0..count).map(|number| Val::Text(format!("{text}.f{number}"))).collect()
            }
        }
    }

    /// One expression for the value, of exactly its C++ type: what functions of the runtime take.
    pub(super) fn whole(&mut self, value: &Val, ty: TypeId) -> String {
        match value {
            Val::Tuple(fields) => {
                let types = self.field_types(ty).unwrap_or_default();
                let parts: Vec<String> = fields.iter().zip(types).map(|(field, ty)| self.whole(field, ty)).collect();
                format!("{}{{{}}}", self.cpp(ty), parts.join(", "))
            }
            // A constant, or a choice between constants, would be an int.
            Val::Text(text) if ty == TypeId::INTEGER && (text.contains('?') || !mentions_something(text)) => {
                format!("ks::integer({text})")
            }
            Val::Text(text) => text.clone(),
        }
    }

    /// The value by expressions that may be mentioned any number of times.
    pub(super) fn atom(&mut self, value: Val, ty: TypeId, hint: &str) -> Val {
        match value {
            Val::Text(text) if is_atom(&text) => Val::Text(text),
            Val::Text(text) => {
                let cpp = self.cpp(ty);
                Val::Text(self.body.constant(&cpp, hint, text, true))
            }
            Val::Tuple(fields) => {
                let types = self.field_types(ty).unwrap_or_default();
                let fields = fields.into_iter().zip(types).map(|(field, ty)| self.atom(field, ty, hint)).collect();
                Val::Tuple(fields)
            }
        }
    }

    /// The value, in a line of its own if the expression is long.
    pub(super) fn short(&mut self, value: Val, ty: TypeId) -> Val {
        match &value {
            Val::Text(text) if text.len() > LONGEST => self.atom(value, ty, "t"),
            _ => value,
        }
    }

    /// The result of something that allocates, fails or acts: it happens now.
    pub(super) fn now(&mut self, text: String, ty: TypeId, hint: &str) -> Val {
        if ty == TypeId::UNIT {
            self.body.code(format!("{text};"));
            return Val::unit();
        }
        let cpp = self.cpp(ty);
        Val::Text(self.body.constant(&cpp, hint, text, false))
    }

    /// As [`Emitter::now`], for what may be left out if nobody needs it.
    pub(super) fn pure(&mut self, text: String, ty: TypeId, hint: &str) -> Val {
        if ty == TypeId::UNIT {
            return Val::unit();
        }
        let cpp = self.cpp(ty);
        Val::Text(self.body.constant(&cpp, hint, text, true))
    }

    /// Variables for a value that is set later, one for each field that is no tuple.
    pub(super) fn declare(&mut self, ty: TypeId, hint: &str) -> Val {
        match self.field_types(ty) {
            Some(fields) => Val::Tuple(fields.into_iter().map(|field| self.declare(field, hint)).collect()),
            None => {
                let cpp = self.cpp(ty);
                // So that no compiler doubts that it is set.
                let value = format!("{cpp}{{}}");
                Val::Text(self.body.variable(&cpp, hint, &value))
            }
        }
    }

    /// Variables that start as a value.
    pub(super) fn start(&mut self, value: &Val, ty: TypeId, hint: &str) -> Val {
        match self.field_types(ty) {
            Some(types) => {
                let fields = self.fields(value, ty);
                Val::Tuple(fields.iter().zip(types).map(|(field, ty)| self.start(field, ty, hint)).collect())
            }
            None => {
                let cpp = self.cpp(ty);
                Val::Text(self.body.variable(&cpp, hint, value.scalar()))
            }
        }
    }

    /// Sets variables, or parts of tensors.
    pub(super) fn set(&mut self, target: &Val, value: &Val, ty: TypeId) {
        match target {
            Val::Tuple(targets) => {
                let types = self.field_types(ty).unwrap_or_default();
                let values = self.fields(value, ty);
                for ((target, value), ty) in targets.iter().zip(&values).zip(types) {
                    self.set(target, value, ty);
                }
            }
            Val::Text(name) => {
                let value = self.whole(value, ty);
                self.body.assign(name, "=", &value);
            }
        }
    }

    /// Sets variables that the values may mention.
    pub(super) fn set_together(&mut self, target: &Val, value: Val, ty: TypeId) {
        let value = self.named(value, ty);
        self.set(target, &value, ty);
    }

    /// The value by constants that nothing else changes.
    fn named(&mut self, value: Val, ty: TypeId) -> Val {
        match (value, self.field_types(ty)) {
            (value, Some(types)) => {
                let fields = self.fields(&value, ty);
                Val::Tuple(fields.into_iter().zip(types).map(|(field, ty)| self.named(field, ty)).collect())
            }
            (Val::Text(text), None) => {
                let cpp = self.cpp(ty);
                Val::Text(self.body.constant(&cpp, "next", text, true))
            }
            (value, None) => value,
        }
    }

    /// Adds to variables, accumulators or parts of tensors.
    pub(super) fn add(&mut self, target: &Val, value: &Val, ty: TypeId, place: &str) {
        if let Some(types) = self.field_types(ty) {
            let (targets, values) = (self.fields(target, ty), self.fields(value, ty));
            for ((target, value), ty) in targets.iter().zip(&values).zip(types) {
                self.add(target, value, ty, place);
            }
            return;
        }
        let (name, text) = (target.scalar().to_owned(), value.scalar().to_owned());
        match self.program.store.types.get(ty) {
            Type::Float => self.body.assign(&name, "+=", &text),
            Type::Integer => self.body.assign(&name, "=", &format!("ks::add({name}, {text})")),
            _ if types::has_maps(&self.program.store, ty) => {
                self.body.allocate();
                self.body.code(format!("{name} = ks::sum(memory, {name}, {text}, {place});"));
            }
            _ => self.body.code(format!("ks::add_to({name}, {text}, {place});")),
        }
    }
}
