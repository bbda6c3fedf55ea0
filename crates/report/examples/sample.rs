//! Writes a sample page: `cargo run -p labrys-report --example sample -- 200 4 > sample.html`.

use std::io::Write;

#[path = "../tests/sample/mod.rs"]
mod sample;

fn main() -> std::io::Result<()> {
    let mut sizes = std::env::args().skip(1).filter_map(|size| size.parse().ok());
    let (ops, devices) = (sizes.next().unwrap_or(200), sizes.next().unwrap_or(4));
    let page = labrys_report::html::page(&sample::page(ops, devices));
    std::io::stdout().write_all(page.as_bytes())
}
