//! Charts as standalone SVG that can also stand within an HTML page. They follow the reader's light or dark mode.

mod axis;
mod bars;
mod lanes;
mod lines;

use std::fmt::Write;

pub use bars::bar_chart;
pub use lanes::timeline;
pub use lines::line_chart;

/// Mean width of a character at the charts' font size.
const CHARACTER: f64 = 6.3;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 20.0;

/// Shared style. The classes are prefixed, as they reach the whole page when the chart stands within one.
const STYLE: &str = "<style>\
.ch{font:11.5px system-ui,sans-serif;color-scheme:light dark}\
.ch text{fill:#3a3f47;stroke:none}.ch .ch-title{font-size:14px;font-weight:600}\
.ch .ch-grid{stroke:#dfe2e6}.ch .ch-axis{stroke:#8a9099}.ch .ch-on{fill:#1b1d21}\
.ch .ch-ref{stroke:#8a9099;stroke-dasharray:5 4}.ch .ch-err{stroke:#1b1d21}\
@media (prefers-color-scheme:dark){.ch text{fill:#c9ced6}.ch .ch-grid{stroke:#33383f}\
.ch .ch-on{fill:#1b1d21}.ch .ch-err{stroke:#f0f2f5}}\
</style>";

/// An SVG image that is being written.
struct Svg {
    text: String,
}

impl Svg {
    /// An image of the given size in pixels, which scales to the width it is given.
    fn new(width: f64, height: f64, title: &str) -> Self {
        let (width, height, title) = (px(width), px(height), escape(title));
        let text = format!(
            "<svg class=\"ch\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" aria-label=\"{title}\">\n{STYLE}\n"
        );
        Self { text }
    }

    /// Appends an element as it is.
    fn raw(&mut self, element: std::fmt::Arguments) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(element);
        self.text.push('\n');
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
        self.raw(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    /// A filled rectangle; `hover` is shown when the mouse rests on it.
    fn rect(&mut self, at: (f64, f64), size: (f64, f64), fill: &str, hover: &str) {
        let (x, y, width, height, hover) = (px(at.0), px(at.1), px(size.0), px(size.1), escape(hover));
        self.raw(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"><title>{hover}</title></rect>"
        ));
    }

    fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        let (x, y, anchor, text) = (px(at.0), px(at.1), anchor.name(), escape(text));
        self.raw(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"));
    }

    /// Swatches and names from left to right, broken into lines.
    fn legend(&mut self, at: (f64, f64), width: f64, entries: &[(&str, &'static str)]) {
        for ((name, colour), place) in entries.iter().zip(legend_places(entries, width)) {
            let (x, y) = (at.0 + place.0, at.1 + place.1);
            self.rect((x, y - 9.0), (11.0, 11.0), colour, name);
            self.text("", Anchor::Start, (x + 16.0, y), name);
        }
    }

    fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Where the entries of a legend of the given width stand, from its first one.
fn legend_places(entries: &[(&str, &'static str)], width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, 0.0);
    let places = entries.iter().map(|(name, _)| {
        let room = text_width(name) + 30.0;
        if x > 0.0 && x + room > width {
            (x, y) = (0.0, y + LEGEND_LINE);
        }
        x += room;
        (x - room, y)
    });
    places.collect()
}

/// Height of a legend of the given width.
fn legend_height(entries: &[(&str, &'static str)], width: f64) -> f64 {
    legend_places(entries, width).last().map_or(0.0, |last| last.1 + LEGEND_LINE)
}

/// Which point of a text stands at its place.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Roughly how wide a text is drawn.
fn text_width(text: &str) -> f64 {
    unicode_width::UnicodeWidthStr::width(text) as f64 * CHARACTER
}

/// The longest beginning of a text that fits `width`, with an ellipsis if it is cut; empty if not even three characters fit.
fn fit(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_string();
    }
    let room = (width / CHARACTER) as usize;
    if room < 4 { String::new() } else { text.chars().take(room - 1).chain(['…']).collect() }
}

/// A coordinate with at most one decimal.
fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), String::from)
}

/// Text made safe for element content and quoted attributes; control characters, which XML forbids, become `\u{fffd}`.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' | '\r' => safe.push(' '),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests;
