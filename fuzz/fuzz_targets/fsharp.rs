//! F# programs: what is translated is a program, and every mistake can be shown.
#![no_main]

use labrys_front::Language;

libfuzzer_sys::fuzz_target!(|text: &str| labrys_fuzz::translate(Language::FSharp, text));
