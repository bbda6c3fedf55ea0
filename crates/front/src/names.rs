//! Names of `.ks` for names of the source.

use labrys_compiler::PRELUDE;
use labrys_compiler::ir::Prim;
use rustc_hash::{FxHashMap, FxHashSet};

/// Words of the grammar of `.ks`.
const GRAMMAR: [&str; 20] = [
    "let", "if", "assert", "lam", "tuple", "else", "match", "true", "false", "def", "edef", "gdef", "rule", "data",
    "ifold", "fwd", "rev", "Lam", "LM", "Any",
];

/// Which names are taken, and what became of those of the source.
#[derive(Debug, Default)]
pub struct Names {
    taken: FxHashSet<String>,
    functions: FxHashMap<String, String>,
}

/// Whether `.ks` means something by a name already.
fn is_reserved(name: &str) -> bool {
    let in_prelude = || {
        PRELUDE.lines().any(|line| line.strip_prefix("(def ").is_some_and(|rest| rest.split(' ').next() == Some(name)))
    };
    GRAMMAR.contains(&name) || Prim::from_name(name).is_some() || in_prelude()
}

/// A name as the reader of `.ks` takes it.
fn readable(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "_'".contains(c) { c } else { '_' }).collect();
    match name.starts_with(|c: char| c.is_numeric()) || name.is_empty() || name == "_" {
        true => format!("x{name}"),
        false => name,
    }
}

impl Names {
    /// A name for something global; the same name never again.
    pub fn global(&mut self, name: &str) -> String {
        let made = self.fresh(name);
        self.functions.insert(name.to_owned(), made.clone());
        made
    }

    /// The name of a global of the source.
    pub fn function(&self, name: &str) -> String {
        self.functions.get(name).cloned().unwrap_or_else(|| readable(name))
    }

    /// A name like this one that nothing global has; it is taken from now on.
    pub fn fresh(&mut self, name: &str) -> String {
        let made = self.free(name, |_| false);
        self.taken.insert(made.clone());
        made
    }

    /// A name like this one that nothing global has and that is not `used` either.
    pub fn free(&self, name: &str, used: impl Fn(&str) -> bool) -> String {
        let name = readable(name);
        let is_free = |name: &str| !is_reserved(name) && !self.taken.contains(name) && !used(name);
        if is_free(&name) {
            return name;
        }
        let marked = format!("{name}_");
        let numbered = (2..).map(|number| format!("{name}{number}"));
        [marked].into_iter().chain(numbered).find(|name| is_free(name)).unwrap_or(name)
    }
}
