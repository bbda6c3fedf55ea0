//! Source files and places in them.

use std::ops::Range;

/// A file of a [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(u16);

/// A stretch of a file, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From the start of this span to the end of `last`.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        Self { end: last.end, ..self }
    }

    /// The first `bytes` bytes of this span at most.
    #[must_use]
    pub fn head(self, bytes: u32) -> Self {
        Self { end: self.end.min(self.start.saturating_add(bytes)), ..self }
    }
}

/// The files of a program, in order; the prelude is always the first.
#[derive(Clone, Debug)]
pub struct Sources {
    files: Vec<File>,
}

/// A named text.
#[derive(Clone, Debug)]
pub struct File {
    /// As the user knows it.
    pub name: String,
    /// Its content.
    pub text: String,
    role: Role,
}

/// What a file is for.
#[derive(Clone, Debug)]
enum Role {
    /// A part of the program.
    Program,
    /// A program in another language, for messages only.
    Original,
    /// A part of the program that was made of others: stretches of it, and where they come from.
    Translation(Vec<(Range<u32>, Span)>),
}

/// A file that cannot be a source.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SourceError {
    /// Offsets are 32 bits.
    #[error("{0}: the file is larger than 4 GiB")]
    TooLarge(String),
    /// File numbers are 16 bits.
    #[error("{0}: more than 65535 files")]
    TooMany(String),
}

impl Sources {
    /// The prelude alone.
    pub fn new() -> Self {
        let prelude = File { name: "prelude.ks".to_owned(), text: crate::PRELUDE.to_owned(), role: Role::Program };
        Self { files: vec![prelude] }
    }

    /// The built-in prelude.
    pub const PRELUDE: FileId = FileId(0);

    /// The prelude and one file.
    ///
    /// # Errors
    /// If the text is larger than 4 GiB.
    pub fn with(name: impl Into<String>, text: impl Into<String>) -> Result<Self, SourceError> {
        let mut sources = Self::new();
        sources.add(name, text)?;
        Ok(sources)
    }

    /// The place of what has no other: the beginning of the prelude.
    pub fn nowhere() -> Span {
        Span { file: Self::PRELUDE, start: 0, end: 0 }
    }

    /// Adds a file.
    ///
    /// # Errors
    /// If the text is larger than 4 GiB or there are too many files.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> Result<FileId, SourceError> {
        self.push(name.into(), text.into(), Role::Program)
    }

    /// Adds a program in another language, which is no part of the program itself: what is wrong with its translation is shown in it.
    ///
    /// # Errors
    /// As [`Sources::add`].
    pub fn add_original(&mut self, name: impl Into<String>, text: impl Into<String>) -> Result<FileId, SourceError> {
        self.push(name.into(), text.into(), Role::Original)
    }

    /// Adds a file that was made of others, with stretches of it and where they come from.
    ///
    /// # Errors
    /// As [`Sources::add`].
    pub fn add_translation(
        &mut self,
        name: impl Into<String>,
        text: impl Into<String>,
        places: Vec<(Range<u32>, Span)>,
    ) -> Result<FileId, SourceError> {
        self.push(name.into(), text.into(), Role::Translation(places))
    }

    fn push(&mut self, name: String, text: String, role: Role) -> Result<FileId, SourceError> {
        if u32::try_from(text.len()).is_err() {
            return Err(SourceError::TooLarge(name));
        }
        let Ok(id) = u16::try_from(self.files.len()) else { return Err(SourceError::TooMany(name)) };
        self.files.push(File { name, text, role });
        Ok(FileId(id))
    }

    /// A file.
    pub fn file(&self, id: FileId) -> &File {
        &self.files[usize::from(id.0)]
    }

    /// Every file of the program, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = FileId> {
        let files = self.files.iter().enumerate().filter(|(_, file)| !matches!(file.role, Role::Original));
        files.map(|(id, _)| FileId(id as u16))
    }

    /// Where something was written: in a translation, the place that the innermost stretch around it comes from.
    pub fn written(&self, span: Span) -> Span {
        let Role::Translation(places) = &self.file(span.file).role else { return span };
        let around = places.iter().filter(|(stretch, _)| stretch.start <= span.start && span.end <= stretch.end);
        around.min_by_key(|(stretch, _)| stretch.len()).map_or(span, |(_, origin)| *origin)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    /// Line and column, in characters, both from 1, of the start of a span.
    pub fn position(&self, span: Span) -> (usize, usize) {
        let before = &self.file(span.file).text[..span.start as usize];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

impl Default for Sources {
    fn default() -> Self {
        Self::new()
    }
}
