//! Colours that stay apart under the common kinds of colour blindness (Paul Tol, "Colour schemes", 2021).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::timeline::Timeline;

/// For areas that carry dark text, in light and dark mode alike: Tol's "light" scheme.
pub(crate) const FILLS: [&str; 8] =
    ["#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00"];

/// For whatever has no colour of its own.
pub(crate) const OTHER: &str = "#b8bcc2";

/// For lines and bars on light and dark ground: Tol's "bright" scheme without its grey.
pub(crate) const LINES: [&str; 6] = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"];

/// The colour of the line or bar with this index.
pub(crate) fn line(index: usize) -> &'static str {
    LINES[index % LINES.len()]
}

/// One category of a timeline.
pub(crate) struct Category {
    pub(crate) name: String,
    pub(crate) colour: &'static str,
    /// Sum of the durations of its spans.
    pub(crate) time: u64,
    pub(crate) spans: usize,
}

/// The categories of a timeline, the one that takes most time first. The first eight have colours, the others share one.
pub(crate) struct Categories {
    pub(crate) all: Vec<Category>,
    index: BTreeMap<String, usize>,
}

impl Categories {
    /// Finds the categories of all spans.
    pub(crate) fn of(timeline: &Timeline) -> Self {
        let mut sums: HashMap<&str, (u64, usize)> = HashMap::new();
        for span in timeline.lanes.iter().flat_map(|lane| &lane.spans) {
            let sum = sums.entry(&span.category).or_default();
            *sum = (sum.0.saturating_add(span.duration), sum.1 + 1);
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|&(name, (time, spans))| (Reverse(time), Reverse(spans), name));
        let colours = FILLS.into_iter().chain(std::iter::repeat(OTHER));
        let all = sums.into_iter().zip(colours).map(|((name, (time, spans)), colour)| Category {
            name: name.to_string(),
            colour,
            time,
            spans,
        });
        let all: Vec<Category> = all.collect();
        let index = all.iter().enumerate().map(|(index, category)| (category.name.clone(), index)).collect();
        Self { all, index }
    }

    /// Index of a category by name.
    pub(crate) fn index(&self, name: &str) -> usize {
        self.index.get(name).copied().unwrap_or(0)
    }

    /// Colour of a category by name.
    pub(crate) fn colour(&self, name: &str) -> &'static str {
        self.all.get(self.index(name)).map_or(OTHER, |category| category.colour)
    }

    /// Names and colours for a legend: those without a colour of their own are one entry.
    pub(crate) fn legend(&self) -> Vec<(&str, &'static str)> {
        let named = self.all.iter().take(FILLS.len()).filter(|category| !category.name.is_empty());
        let own = named.map(|category| (category.name.as_str(), category.colour));
        own.chain((self.all.len() > FILLS.len()).then_some(("other", OTHER))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{Lane, Span};

    #[test]
    fn the_largest_categories_get_colours() {
        let span = |i: u64| Span { category: format!("kind {i}").into(), duration: i, ..Span::default() };
        let lanes = vec![Lane { name: "gpu".into(), spans: (0..12).map(span).collect() }];
        let categories = Categories::of(&Timeline { lanes, ..Timeline::default() });
        assert_eq!((categories.index("kind 11"), categories.colour("kind 11")), (0, FILLS[0]));
        assert_eq!(categories.colour("kind 0"), OTHER);
        assert_eq!(categories.legend().last(), Some(&("other", OTHER)));
    }
}
