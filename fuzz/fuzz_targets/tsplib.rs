//! TSPLIB files; distances must be symmetric.
#![no_main]

use labrys_combopt::tsp::tsplib;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(loaded) = tsplib::read(bytes.to_vec()) {
        let n = (loaded.cities.len() as u32).min(20);
        for a in 0..n {
            for b in 0..n {
                assert_eq!(loaded.cities.distance(a, b), loaded.cities.distance(b, a));
            }
        }
    }
});
