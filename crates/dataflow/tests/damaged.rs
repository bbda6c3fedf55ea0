//! Whatever happens to a file, reading it gives a graph or an error, never a panic.

use labrys_dataflow::cost_graph::{self, Encoding};
use labrys_dataflow::read::{Format, Options, decode};
use labrys_dataflow::{Graph, hlo, json};
use proptest::prelude::*;

const SEED: &str = include_str!("seeds/loop.hlo");

/// What makes trouble when it lands in the middle of a file.
const TOKENS: [&str; 16] = [
    "99999999999999999999",
    "-1",
    "0",
    "{",
    "}",
    "(",
    ")",
    "\"",
    "\\",
    "\n",
    "%w",
    "index=7",
    "f32[",
    "while",
    "ROOT ",
    "\u{1F600}",
];

fn seed(format: Format) -> Vec<u8> {
    let graph = hlo::read(SEED).unwrap().graph;
    match format {
        Format::Hlo => SEED.into(),
        Format::CostGraph => cost_graph::write(&graph, Encoding::Binary),
        Format::CostGraphText => cost_graph::write(&graph, Encoding::Text),
        _ => json::write(&graph).into_bytes(),
    }
}

fn load(bytes: Vec<u8>, format: Format) -> Option<Graph> {
    let options = Options { format: Some(format), ..Options::default() };
    decode(bytes, None, &options).ok().map(|loaded| loaded.graph)
}

fn formats() -> impl Strategy<Value = Format> {
    prop::sample::select(vec![Format::Hlo, Format::CostGraph, Format::CostGraphText, Format::Json])
}

#[test]
fn every_truncation_of_a_text_is_refused() {
    for format in [Format::Hlo, Format::Json] {
        let seed = seed(format);
        assert!(load(seed.clone(), format).is_some(), "{format:?}");
        // The entry of the HLO seed ends before its last computation; JSON ends with its last bracket.
        let whole = if format == Format::Hlo { SEED.find("}, execution_thread").unwrap() } else { seed.len() - 2 };
        for len in 0..whole {
            assert!(load(seed[..len].to_vec(), format).is_none(), "{format:?} cut at {len}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_edits_do_not_panic(
        format in formats(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..8, prop::option::of(prop::sample::select(&TOKENS[..])), any::<u8>()), 1..6),
    ) {
        let mut bytes = seed(format);
        for (at, removed, token, byte) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            let inserted = token.map_or(vec![byte], |token| token.as_bytes().to_vec());
            bytes.splice(at..end, inserted);
        }
        load(bytes, format);
    }

    #[test]
    fn random_bytes_do_not_panic(format in formats(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        load(bytes, format);
    }

    #[test]
    fn lines_in_another_order_do_not_panic(swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)) {
        let mut lines: Vec<&str> = SEED.lines().collect();
        for (a, b) in swaps {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        load(lines.join("\n").into_bytes(), Format::Hlo);
    }
}
