//! Large results, and the same bytes each time.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

mod sample;

fn hash(text: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn equal_input_gives_equal_bytes() {
    let bytes = || {
        let page = sample::page(2_000, 3);
        (labrys_report::perfetto::trace(&page.timeline), labrys_report::html::page(&page))
    };
    assert_eq!(hash(&bytes()), hash(&bytes()));
}

#[test]
fn a_hundred_thousand_ops_stay_compact() {
    let page = sample::page(100_000, 4);
    let spans = page.timeline.span_count();
    let html = labrys_report::html::page(&page);
    assert!(html.len() < 150 * spans, "{} bytes for {spans} spans", html.len());
}
