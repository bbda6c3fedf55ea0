//! Spans, series and tables to bytes: Chrome/Perfetto traces, one self-contained HTML page, SVG charts, text tables.
//!
//! Nothing here knows of ops, devices or placement: callers translate their results into the vocabulary of
//! [`timeline`], [`series`] and [`table`], and hand it to a writer. Equal input gives equal bytes.

pub mod html;
mod palette;
pub mod perfetto;
pub mod series;
pub mod svg;
pub mod table;
pub mod timeline;
pub mod units;
