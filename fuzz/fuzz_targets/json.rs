//! Our own JSON; what is read must survive being written.
#![no_main]

use labrys_dataflow::json;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(graph) = json::read(text) {
        let written = json::write(&graph);
        let again = json::read(&written).expect("what is written can be read");
        assert_eq!(json::write(&again), written);
    }
});
