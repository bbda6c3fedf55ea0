//! From text to a checked [`Program`]: names resolved, types found, patterns and several arguments reduced to what the IR has.
//!
//! Each file here has one part of the grammar: `forms` (what stands at the top), `types`, `names` (structured names), `expr`, `call`
//! (which function a name means), `data` (sum types and matches), `spaces` (types with a metric), `rules`.

mod call;
mod data;
mod expr;
mod forms;
mod names;
mod rules;
mod scope;
mod spaces;
mod types;

use crate::error::{Error, ErrorKind};
use crate::ir::{DataId, Program, Space, Symbol, TypeId};
use crate::source::{Sources, Span};
use crate::syntax::{self, Kind, SexpId, Tree};
use rustc_hash::{FxHashMap, FxHashSet};
use scope::Scope;

/// After so many mistakes the rest of a file is not checked.
const MOST_ERRORS: usize = 20;

type Result<T> = std::result::Result<T, Error>;

/// Checks a program.
///
/// # Errors
/// Every mistake, in order; a form with a mistake is left out, and what uses it is checked as if it were right.
pub fn check(sources: &Sources) -> std::result::Result<Program, Vec<Error>> {
    let mut state = State::default();
    let mut errors = vec![];
    for file in sources.ids() {
        match syntax::parse(file, &sources.file(file).text) {
            Ok(tree) => errors.extend(state.add(sources, &tree)),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(state.program) } else { Err(errors) }
}

/// A space: what its values are, and where it was declared.
#[derive(Clone, Copy, Debug)]
struct DeclaredSpace {
    ty: TypeId,
    space: Space,
    span: Span,
}

/// A program in the making: forms can be added one after another, as a REPL does.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What is checked so far.
    pub program: Program,
    /// Sum types by name.
    data: FxHashMap<Symbol, DataId>,
    /// Those that are declared, for the `data` forms beside theirs, and whose own form is still to come.
    undefined: FxHashSet<DataId>,
    /// Spaces by name.
    spaces: FxHashMap<Symbol, DeclaredSpace>,
    /// Constructors by name.
    constructors: FxHashMap<Symbol, (DataId, u32)>,
    /// Whether a definition may take the place of another.
    redefines: bool,
}

impl State {
    /// Checks the forms of a file and adds those that are right.
    pub fn add(&mut self, sources: &Sources, tree: &Tree) -> Vec<Error> {
        let mut checker = self.checker(sources, tree);
        let is_data = |form: &SexpId| checker.parts(*form).first().and_then(|head| checker.name(*head)) == Some("data");
        let groups: Vec<&[SexpId]> = tree.roots.chunk_by(|a, b| is_data(a) && is_data(b)).collect();
        let mut errors = vec![];
        for group in groups {
            if group.len() > 1 {
                checker.declare_data(group);
            }
            errors.extend(group.iter().filter_map(|form| checker.form(*form).err()));
            if errors.len() >= MOST_ERRORS {
                break;
            }
        }
        errors.truncate(MOST_ERRORS);
        errors
    }

    /// Checks an expression on its own.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn expression(&mut self, sources: &Sources, tree: &Tree, root: SexpId) -> Result<crate::ir::ExprId> {
        self.checker(sources, tree).expr(root)
    }

    /// The function that a structured name means, with the derivations in the name declared.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn function(&mut self, sources: &Sources, tree: &Tree, root: SexpId) -> Result<crate::ir::FunId> {
        let mut checker = self.checker(sources, tree);
        let name = checker.fun_ref(root)?;
        checker.existing(&name)
    }

    /// Checks one form and adds it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn add_form(&mut self, sources: &Sources, tree: &Tree, root: SexpId) -> Result<()> {
        self.checker(sources, tree).form(root)
    }

    /// Whether a tree is a form rather than an expression.
    pub fn is_form(&self, sources: &Sources, tree: &Tree, root: SexpId) -> bool {
        let head = tree.parts(root).first().map(|head| sources.text(tree.get(*head).span));
        head.is_some_and(|head| matches!(head, "def" | "edef" | "gdef" | "rule" | "data" | "space"))
    }

    /// From now on a definition may take the place of another, as in a REPL.
    pub fn allow_redefinition(&mut self) {
        self.redefines = true;
    }

    fn checker<'a>(&'a mut self, sources: &'a Sources, tree: &'a Tree) -> Checker<'a> {
        Checker { sources, tree, state: self, scope: Scope::default(), allows_any: false }
    }
}

/// What checks the forms of one file.
struct Checker<'a> {
    sources: &'a Sources,
    tree: &'a Tree,
    state: &'a mut State,
    scope: Scope,
    /// Whether `Any` is a type here, which it is in rules.
    allows_any: bool,
}

impl<'a> Checker<'a> {
    /// The text of a name.
    fn name(&self, id: SexpId) -> Option<&'a str> {
        let sexp = self.tree.get(id);
        (sexp.kind == Kind::Name).then(|| self.sources.text(sexp.span))
    }

    fn symbol(&mut self, id: SexpId) -> Option<Symbol> {
        let name = self.name(id)?;
        Some(self.state.program.store.symbol(name))
    }

    fn parts(&self, id: SexpId) -> &'a [SexpId] {
        self.tree.parts(id)
    }

    fn is_list(&self, id: SexpId) -> bool {
        matches!(self.tree.get(id).kind, Kind::List(..))
    }

    fn fail<T>(&self, id: SexpId, kind: ErrorKind) -> Result<T> {
        Err(Error::new(self.tree.get(id).span, kind))
    }

    /// An error that says how a form should look.
    fn expected<T>(&self, id: SexpId, expected: &str, hint: &str) -> Result<T> {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        self.fail(id, ErrorKind::Expected { expected: expected.to_owned(), hint })
    }
}
