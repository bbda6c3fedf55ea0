//! Spans, series and tables to bytes: Chrome/Perfetto traces, one self-contained HTML page, SVG charts, text tables.
//!
//! Nothing here knows of ops, devices or placement: callers translate their results into the vocabulary of
//! [`timeline`], [`series`] and [`table`], and hand it to a writer. Equal input gives equal bytes.
//!
//! ```
//! use labrys_report::timeline::{Lane, Span, Timeline};
//! use labrys_report::{html, perfetto};
//!
//! let span = Span { name: "conv1".into(), category: "Conv".into(), start: 0, duration: 1_500, args: Vec::new() };
//! let lanes = vec![Lane { name: "GPU 0".into(), spans: vec![span] }];
//! let timeline = Timeline { title: "model.onnx".into(), lanes, ..Timeline::default() };
//!
//! let trace = perfetto::trace(&timeline);
//! let page = html::page(&html::Page { title: "model.onnx".into(), timeline, ..html::Page::default() });
//! assert!(trace.starts_with(b"{") && page.starts_with("<!DOCTYPE html>"));
//! ```

pub mod html;
mod palette;
pub mod perfetto;
pub mod series;
pub mod svg;
pub mod table;
pub mod timeline;
pub mod units;
