//! HLO text, whole modules.
#![no_main]

use labrys_dataflow::hlo;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = hlo::read(text);
});
