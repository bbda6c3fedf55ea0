//! Functions that `.ks` has under no name of its own: a program gets those that it uses.

use crate::ks::{Form, Ks, Top, list, square, word};
use crate::names::Names;
use labrys_compiler::Sources;
use labrys_compiler::syntax::lex::Bracket;
use labrys_compiler::syntax::{Kind, SexpId, Tree, parse};

const SOURCE: &str = include_str!("helpers.ks");

/// The helpers, and which of them a program uses.
#[derive(Debug, Default)]
pub struct Helpers {
    tree: Tree,
    /// What a program uses: the name of the helper, and that in the program.
    used: Vec<(String, String)>,
    /// Their definitions, callees first.
    pub tops: Vec<Top>,
}

impl Helpers {
    /// All of them, none used.
    pub fn new() -> Self {
        let file = Sources::with("helpers.ks", SOURCE).ok().and_then(|sources| sources.ids().last());
        let tree = file.and_then(|file| parse(file, SOURCE).ok()).unwrap_or_default();
        Self { tree, ..Self::default() }
    }

    /// Uses a helper: the name that it has in the program.
    pub fn name(&mut self, helper: &str, names: &mut Names) -> String {
        if let Some((_, name)) = self.used.iter().find(|(used, _)| used == helper) {
            return name.clone();
        }
        let name = names.fresh(helper);
        self.used.push((helper.to_owned(), name.clone()));
        if let Some(def) = self.definition(helper) {
            let comment = self.comment(def);
            let form = self.copied(def, names);
            self.tops.push(Top { comment, form });
        }
        name
    }

    fn text(&self, id: SexpId) -> &'static str {
        let span = self.tree.get(id).span;
        &SOURCE[span.start as usize..span.end as usize]
    }

    /// The definition of a helper.
    fn definition(&self, helper: &str) -> Option<SexpId> {
        let defines = |root: &SexpId| self.tree.parts(*root).get(1).is_some_and(|name| self.text(*name) == helper);
        self.tree.roots.iter().copied().find(defines)
    }

    /// The lines of the comment above a definition.
    fn comment(&self, def: SexpId) -> Vec<String> {
        let before = SOURCE[..self.tree.get(def).span.start as usize].trim_end_matches('\n').lines().rev();
        let mut lines: Vec<String> = before.map_while(|line| line.strip_prefix("; ")).map(str::to_owned).collect();
        lines.reverse();
        lines
    }

    /// A tree of the helpers in the program, where other helpers may have other names.
    fn copied(&mut self, id: SexpId, names: &mut Names) -> Ks {
        let parts = self.tree.parts(id).to_vec();
        match self.tree.get(id).kind {
            Kind::List(bracket, ..) => {
                let parts = parts.into_iter().map(|part| self.copied(part, names)).collect();
                if bracket == Bracket::Round { list(parts) } else { square(parts) }
            }
            Kind::Name if self.definition(self.text(id)).is_some() => word(self.name(self.text(id), names)),
            _ => Ks { origin: None, form: Form::Word(self.text(id).to_owned()) },
        }
    }
}
