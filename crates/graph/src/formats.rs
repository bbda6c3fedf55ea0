//! Undirected graphs from and to text files: edge lists (SNAP), DIMACS, PACE, METIS, rudy (Gset) and Matrix Market, gzipped or not.
//!
//! What all readers promise: comments, blank lines and CRLF are fine; nodes may be numbered from 0 or 1 as the format has it, and isolated
//! ones are kept; self-loops and duplicates are left out and counted; what is wrong is named with its line; memory stays in
//! proportion to the size of the file.

mod detect;
mod dimacs;
mod edge_list;
mod error;
mod gzip;
mod lines;
mod matrix_market;
mod metis;
mod rudy;
#[cfg(test)]
mod tests;
mod write;

pub use error::{Error, Result};
pub use gzip::unpack;
pub use lines::{Line, Lines};
pub use write::write;

use crate::undirected::{Dropped, Graph, GraphBuilder};

/// The known formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `u v [weight]` on each line, any numbers as names; `#` and `%` begin comments. SNAP, KONECT.
    EdgeList,
    /// `p edge n m` or `p col n m`, then `e u v`, from 1.
    Dimacs,
    /// `p td n m`, then `u v`, from 1.
    Pace,
    /// `n m [fmt]`, then the neighbours of each node on its own line, from 1.
    Metis,
    /// `n m`, then `u v [weight]`, from 1. Gset, Biq Mac.
    Rudy,
    /// `%%MatrixMarket matrix coordinate ...`, from 1.
    MatrixMarket,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::EdgeList, Self::Dimacs, Self::Pace, Self::Metis, Self::Rudy, Self::MatrixMarket];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::EdgeList => "edge-list",
            Self::Dimacs => "dimacs",
            Self::Pace => "pace",
            Self::Metis => "metis",
            Self::Rudy => "rudy",
            Self::MatrixMarket => "matrix-market",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The format, if it is known.
    pub format: Option<Format>,
    /// Whether edge weights matter. If not, they are neither kept nor looked at.
    pub weights: bool,
}

/// How the nodes are called in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// Node `v` is `v` plus this number.
    From(u64),
    /// Node `v` is the `v`-th of these, which ascend.
    Names(Vec<u64>),
}

impl Labels {
    /// What the file calls node `v`.
    pub fn label(&self, v: u32) -> u64 {
        match self {
            Self::From(first) => u64::from(v) + first,
            Self::Names(names) => names[v as usize],
        }
    }

    /// The node that the file calls so, among `nodes` nodes.
    pub fn node(&self, label: u64, nodes: usize) -> Option<u32> {
        let index = match self {
            Self::From(first) => usize::try_from(label.checked_sub(*first)?).ok()?,
            Self::Names(names) => names.binary_search(&label).ok()?,
        };
        (index < nodes).then_some(index as u32)
    }
}

/// A graph from a file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The graph; its nodes are numbered from 0.
    pub graph: Graph,
    /// What the file calls them.
    pub labels: Labels,
    /// What was left out to make it simple.
    pub dropped: Dropped,
    /// The format that was read.
    pub format: Format,
}

/// Reads the bytes of a file, which may be gzipped. The file's name helps where the text leaves a doubt.
///
/// # Errors
/// Damaged gzip data, an unknown format, and whatever the reader of the format objects to.
pub fn read(bytes: Vec<u8>, file_name: Option<&str>, options: Options) -> Result<Loaded> {
    let bytes = unpack(bytes)?;
    let format = match options.format {
        Some(format) => format,
        None => detect::detect(&bytes, file_name)?,
    };
    let read = match format {
        Format::EdgeList => edge_list::read,
        Format::Dimacs | Format::Pace => dimacs::read,
        Format::Metis => metis::read,
        Format::Rudy => rudy::read,
        Format::MatrixMarket => matrix_market::read,
    };
    let (builder, labels) = read(&bytes, options.weights)?;
    // Sums of weights and of their doubles must fit in 64 bits.
    const MOST_WEIGHT: u64 = 1 << 58;
    if builder.total_weight() > MOST_WEIGHT {
        return Err(Error::file("the edge weights add up to more than 2^58").with_hint("scale them down"));
    }
    let (graph, dropped) = builder.build();
    Ok(Loaded { graph, labels, dropped, format })
}

/// A builder for as many nodes as a header says, which must be in proportion to the size of the file.
fn builder(nodes: u64, bytes: &[u8], line: &Line<'_>) -> Result<GraphBuilder> {
    // Isolated nodes cost no bytes in a file, but memory here.
    const FREE: u64 = 1 << 24;
    let most = FREE + 16 * bytes.len() as u64;
    match u32::try_from(nodes) {
        Ok(count) if nodes <= most && count < u32::MAX => Ok(GraphBuilder::new(count)),
        _ => Err(line
            .error(format!("{nodes} nodes are out of proportion to a file of {} bytes", bytes.len()))
            .with_hint("is the file complete, and is this its format?")),
    }
}
