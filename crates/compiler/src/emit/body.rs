//! The lines of a function in the making, and the removal of those that nobody needs.

use super::names::Names;
use rustc_hash::FxHashMap;

/// A line.
#[derive(Clone, Debug)]
enum Line {
    /// Any code.
    Code(String),
    /// `type name = value;` or `type name;`
    Declare { ty: String, name: String, value: String, is_pure: bool },
    /// `name = value;` or `name += value;`
    Assign { name: String, operator: &'static str, value: String },
    /// `return value;`
    Return(String),
    /// `for (...) {` or the like; what it opens ends with the matching `Close`.
    Open(String),
    /// The end of a block, and what follows it on the line.
    Close(String),
}

/// What code allocates.
#[derive(Default)]
pub(super) struct Allocated {
    pub(super) any: bool,
    /// Tensors, by their names.
    pub(super) tensors: Vec<String>,
    /// Whether there is something else.
    pub(super) other: bool,
}

impl Allocated {
    /// Whether something is allocated that is not part of a value.
    pub(super) fn leaves_more_than(&self, value: &str) -> bool {
        self.other || self.tensors.iter().any(|name| !mentions(value, name))
    }

    /// All this, of which the names are forgotten, and what was before.
    pub(super) fn after(&self, before: Self) -> Self {
        Self { any: self.any | before.any, other: self.any | before.other, ..before }
    }
}

/// Code in the making.
#[derive(Default)]
pub(super) struct Body {
    lines: Vec<Line>,
    pub(super) names: Names,
    /// What the code since the start of a scope allocates.
    pub(super) allocated: Allocated,
}

/// A place between lines.
#[derive(Clone, Copy)]
pub(super) struct Position(usize);

impl Body {
    pub(super) fn code(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Code(text.into()));
    }

    /// Declares a constant. A value that is not pure is computed even if nobody needs the name.
    pub(super) fn constant(&mut self, ty: &str, hint: &str, value: String, is_pure: bool) -> String {
        let name = self.names.local(hint);
        let ty = if ty.starts_with("const ") { ty.to_owned() } else { format!("const {ty}") };
        self.lines.push(Line::Declare { ty, name: name.clone(), value, is_pure });
        name
    }

    /// Declares a variable, whose value is still to be set if `value` is empty.
    pub(super) fn variable(&mut self, ty: &str, hint: &str, value: &str) -> String {
        let name = self.names.local(hint);
        self.lines.push(Line::Declare {
            ty: ty.to_owned(),
            name: name.clone(),
            value: value.to_owned(),
            is_pure: true,
        });
        name
    }

    pub(super) fn assign(&mut self, name: &str, operator: &'static str, value: &str) {
        self.lines.push(Line::Assign { name: name.to_owned(), operator, value: value.to_owned() });
    }

    pub(super) fn give(&mut self, value: String) {
        self.lines.push(Line::Return(value));
    }

    pub(super) fn open(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Open(text.into()));
    }

    pub(super) fn close(&mut self) {
        self.lines.push(Line::Close(String::new()));
    }

    /// Ends a block and starts the one that belongs to it.
    pub(super) fn otherwise(&mut self) {
        self.lines.push(Line::Close(" else {".to_owned()));
    }

    pub(super) fn here(&self) -> Position {
        Position(self.lines.len())
    }

    /// Declares a constant further up.
    pub(super) fn insert_constant(&mut self, at: Position, ty: &str, hint: &str, value: &str) -> String {
        let name = self.names.local(hint);
        let line = Line::Declare { ty: ty.to_owned(), name: name.clone(), value: value.to_owned(), is_pure: true };
        self.lines.insert(at.0, line);
        name
    }

    /// Ends a block that is part of a statement.
    pub(super) fn close_with(&mut self, rest: &str) {
        self.lines.push(Line::Close(rest.to_owned()));
    }

    /// Starts a function.
    pub(super) fn start(&mut self) {
        self.lines.clear();
        self.names.forget_locals();
        self.allocated = Allocated::default();
    }

    pub(super) fn allocate(&mut self) {
        (self.allocated.any, self.allocated.other) = (true, true);
    }

    pub(super) fn allocate_tensor(&mut self, name: &str) {
        self.allocated.any = true;
        self.allocated.tensors.push(name.to_owned());
    }

    /// The text of the function, with each value that is returned passed through `finish`.
    pub(super) fn finish(&mut self, mut depth: usize, finish: &dyn Fn(&str) -> String) -> String {
        for line in &mut self.lines {
            if let Line::Return(value) = line {
                *value = finish(value);
            }
        }
        while self.prune() {}
        let mut text = String::new();
        for line in &self.lines {
            if let Line::Close(_) = line {
                depth -= 1;
            }
            let shown = show(line);
            if !shown.is_empty() {
                text.extend(std::iter::repeat_n("  ", depth));
                text += &shown;
                text.push('\n');
            }
            if matches!(line, Line::Open(_)) || matches!(line, Line::Close(rest) if rest.ends_with('{')) {
                depth += 1;
            }
        }
        text
    }

    /// Removes what nobody needs; whether there was something.
    fn prune(&mut self) -> bool {
        let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
        for line in &self.lines {
            for word in words(read_by(line)) {
                *uses.entry(word).or_default() += 1;
            }
            // What an assignment is to is no use, but the index of it is.
            let (also, from) = match line {
                Line::Declare { ty, .. } => (ty.as_str(), 0),
                Line::Assign { name, .. } => (name.as_str(), 1),
                _ => ("", 0),
            };
            for (number, word) in words(also).enumerate() {
                if number >= from {
                    *uses.entry(word).or_default() += 1;
                }
            }
        }
        let needed: Vec<bool> = self
            .lines
            .iter()
            .map(|line| match line {
                Line::Declare { name, .. } => uses.contains_key(name.as_str()),
                Line::Assign { name, .. } => words(name).next().is_none_or(|root| uses.contains_key(root)),
                _ => true,
            })
            .collect();
        let mut changed = false;
        let mut needed = needed.into_iter();
        self.lines.retain_mut(|line| {
            if needed.next() != Some(false) {
                return true;
            }
            changed = true;
            match line {
                Line::Declare { value, is_pure: false, .. } => {
                    *line = Line::Code(format!("{value};"));
                    true
                }
                _ => false,
            }
        });
        let before = self.lines.len();
        self.drop_empty_blocks();
        changed || self.lines.len() < before
    }

    /// Removes `if` and `for` blocks without anything in them.
    fn drop_empty_blocks(&mut self) {
        let mut kept: Vec<Line> = Vec::with_capacity(self.lines.len());
        for line in self.lines.drain(..) {
            let closes = matches!(&line, Line::Close(rest) if rest.is_empty());
            if closes && matches!(kept.last(), Some(Line::Close(rest)) if rest.ends_with('{')) {
                kept.pop();
                kept.push(Line::Close(String::new()));
            } else if closes && matches!(kept.last(), Some(Line::Open(text)) if !text.starts_with("for (;;)")) {
                kept.pop();
            } else {
                kept.push(line);
            }
        }
        self.lines = kept;
    }
}

fn show(line: &Line) -> String {
    match line {
        Line::Code(text) | Line::Open(text) => text.clone(),
        Line::Close(rest) => format!("}}{rest}"),
        Line::Declare { ty, name, value, .. } if value.is_empty() => format!("{ty} {name};"),
        Line::Declare { ty, name, value, .. } => format!("{ty} {name} = {value};"),
        Line::Assign { name, operator, value } => format!("{name} {operator} {value};"),
        Line::Return(value) if value.is_empty() => String::new(),
        Line::Return(value) => format!("return {value};"),
    }
}

/// The part of a line that uses names.
fn read_by(line: &Line) -> &str {
    match line {
        Line::Code(text) | Line::Open(text) => text,
        Line::Declare { value, .. } | Line::Assign { value, .. } | Line::Return(value) => value,
        Line::Close(_) => "",
    }
}

/// Whether code mentions a name.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    words(text).any(|word| word == name)
}

/// The words of code, without those of its string literals.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split('"').step_by(2);
    code.flat_map(|code| code.split("ks::").enumerate()).flat_map(|(number, code)| {
        let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        // A name of the runtime is none of a variable.
        words.skip(usize::from(number > 0))
    })
}
