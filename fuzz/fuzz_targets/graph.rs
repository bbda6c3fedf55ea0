//! Graphs in every format; what is read must survive being written in each.
#![no_main]

use labrys_graph::formats::{self, Format, Options};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let formats = std::iter::once(None).chain(Format::ALL.map(Some));
    for format in formats {
        let Ok(loaded) = formats::read(bytes.to_vec(), None, Options { format, weights: true }) else { continue };
        // Isolated nodes cost nothing in a file, but time here.
        if loaded.graph.nodes() > 10_000 {
            continue;
        }
        for format in Format::ALL {
            let text = formats::write(&loaded.graph, format);
            let options = Options { format: Some(format), weights: true };
            let again = formats::read(text.into_bytes(), None, options).expect("what is written can be read");
            assert_eq!(again.graph, loaded.graph, "{format:?}");
        }
    }
});
