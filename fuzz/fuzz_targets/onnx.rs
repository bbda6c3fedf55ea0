//! ONNX models.
#![no_main]

use labrys_dataflow::onnx;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = onnx::read(bytes, &onnx::Options::default());
});
