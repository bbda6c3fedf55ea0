//! Errors as text, with an excerpt of the source.

use crate::error::Error;
use crate::source::{FileId, Sources, Span};
use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;

/// Most lines that one excerpt shows, and most bytes.
const MOST_LINES: usize = 8;
const MOST_BYTES: usize = 1000;

/// The message of an error: what is wrong, then where, with the lines in question. The hint is [`Error::hint`].
pub fn message(error: &Error, sources: &Sources) -> String {
    let title = error.kind.to_string();
    if error.span == Sources::nowhere() {
        return title;
    }
    let mut elements: Vec<Snippet<'_, Annotation<'_>>> = vec![];
    let span = sources.written(error.span);
    let file = span.file;
    let mut primary = Excerpt::of(sources, span);
    let labels = error.labels.iter().map(|(span, text)| (sources.written(*span), text));
    let (here, elsewhere): (Vec<_>, Vec<_>) = labels.partition(|(span, _)| primary.reach(sources, *span));
    let mark = AnnotationKind::Primary.span(primary.within(sources, span));
    let others = here
        .iter()
        .map(|(span, text)| AnnotationKind::Context.span(primary.within(sources, *span)).label(text.as_str()));
    elements.push(primary.snippet(sources, file).annotation(mark).annotations(others.collect::<Vec<_>>()));
    for (span, text) in elsewhere {
        let excerpt = Excerpt::of(sources, span);
        let mark = AnnotationKind::Context.span(excerpt.within(sources, span)).label(text.as_str());
        elements.push(excerpt.snippet(sources, span.file).annotation(mark));
    }
    let group = Level::ERROR.primary_title(&title).elements(elements);
    let text = Renderer::plain().render(&[group]);
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

/// The lines of a source around a span: rendering must not read all of a large file.
struct Excerpt {
    range: Range<usize>,
    file: FileId,
    first_line: usize,
}

impl Excerpt {
    fn of(sources: &Sources, span: Span) -> Self {
        let text = &sources.file(span.file).text;
        let start = text[..span.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
        let end = line_end(text, span.start as usize);
        Self { range: start..end, file: span.file, first_line: text[..start].matches('\n').count() + 1 }
    }

    /// Extends the excerpt to a span a few lines away; false if it is further.
    fn reach(&mut self, sources: &Sources, span: Span) -> bool {
        let text = &sources.file(self.file).text;
        let other = Self::of(sources, span);
        let union = self.range.start.min(other.range.start)..self.range.end.max(other.range.end);
        if span.file != self.file || union.len() > MOST_BYTES || text[union.clone()].matches('\n').count() >= MOST_LINES
        {
            return false;
        }
        self.first_line = self.first_line.min(other.first_line);
        self.range = union;
        true
    }

    fn snippet<'a>(&self, sources: &'a Sources, file: FileId) -> Snippet<'a, Annotation<'a>> {
        let source = &sources.file(file).text[self.range.clone()];
        Snippet::source(source).line_start(self.first_line).path(&sources.file(file).name).fold(false)
    }

    /// The part of a span that the excerpt shows: at most its first line.
    fn within(&self, sources: &Sources, span: Span) -> Range<usize> {
        let text = &sources.file(span.file).text;
        let start = (span.start as usize).clamp(self.range.start, self.range.end);
        let end = (span.end as usize).min(line_end(text, start)).clamp(start, self.range.end);
        start - self.range.start..end - self.range.start
    }
}

fn line_end(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |newline| from + newline)
}
