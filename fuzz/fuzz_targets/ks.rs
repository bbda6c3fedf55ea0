//! Programs: reading, checking, formatting; what is formatted stays as it is and means the same.
#![no_main]

use labrys_compiler::syntax::format::format;
use labrys_compiler::{Sources, check, render};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(sources) = Sources::with("fuzz.ks", text) else { return };
    let checked = check(&sources);
    match &checked {
        Err(errors) => errors.iter().for_each(|error| assert!(!render::message(error, &sources).is_empty())),
        Ok(program) => {
            let shown = Sources::with("shown.ks", program.show()).expect("it is small");
            assert!(check(&shown).is_ok(), "{}", program.show());
        }
    }
    let file = sources.ids().last().expect("there is a file");
    if let Ok(formatted) = format(&sources, file) {
        let again = Sources::with("formatted.ks", formatted.as_str()).expect("it is small");
        assert_eq!(format(&again, again.ids().last().expect("there is a file")).as_ref(), Ok(&formatted));
        assert_eq!(check(&again).is_ok(), checked.is_ok());
    }
});
