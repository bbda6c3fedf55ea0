//! How a walk goes about it. The figures are measured: docs/placement.md, "Peak memory".

use super::energy::Sharpness;
use labrys_dataflow::Graph;
use labrys_search::anneal::Schedule;
use std::collections::BTreeSet;

/// The settings of one walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// The power of the energy at the start and at the end; in between it grows geometrically.
    power: (f64, f64),
    /// Temperatures in units of one cell at the best peak. A sharp energy freezes at a higher one.
    schedule: Schedule,
    /// Share of the moves that are aimed at what is live near the peak.
    pub aimed: f64,
    /// How many cells an aimed move looks at to find a full one.
    pub glances: u32,
    /// Share of the moves that bring all consumers of a tensor to one device.
    pub gathered: f64,
}

/// Finds its way fast: the best where every tensor has a size of its own.
const SMOOTH: Style =
    Style { power: (4.0, 32.0), schedule: Schedule { start: 3.0, end: 0.2 }, aimed: 0.5, glances: 8, gathered: 0.0 };

/// Tells the peak from what is close to it: where tensors come in few sizes, the peak falls in steps of whole tensors.
const SHARP: Style =
    Style { power: (32.0, 64.0), schedule: Schedule { start: 1.5, end: 0.2 }, aimed: 0.8, glances: 4, gathered: 0.3 };

/// Sharp from the start, for a walk that begins far from every good plan: on some graphs of few sizes all that is close to the
/// best start is a tensor too high, on others such a walk gets nowhere.
const FAR: Style =
    Style { power: (64.0, 64.0), schedule: Schedule { start: 0.8, end: 0.2 }, aimed: 0.8, glances: 8, gathered: 0.3 };

/// Tensors come in few sizes if a size is shared by this many on average.
const SHARED_BY: usize = 4;

/// Whether tensors come in few sizes.
pub(super) fn has_few_sizes(graph: &Graph) -> bool {
    let sizes: BTreeSet<u64> = graph.tensors().map(|tensor| graph.bytes(tensor)).collect();
    sizes.len() * SHARED_BY <= graph.tensor_count()
}

impl Style {
    /// Of a walk from a plan of [`super::starts::far`].
    pub fn far() -> Self {
        FAR
    }

    /// The style that suits a graph.
    pub fn for_graph(graph: &Graph) -> Self {
        if has_few_sizes(graph) { SHARP } else { SMOOTH }
    }

    /// The progress at which a walk is as hot as `temperature`.
    pub fn progress_at(&self, temperature: f64) -> f64 {
        self.schedule.progress_at(temperature)
    }

    /// Temperature at `progress` in [0, 1].
    pub fn temperature(&self, progress: f64) -> f64 {
        self.schedule.temperature(progress)
    }

    /// The energy at `progress` in [0, 1].
    pub fn sharpness(&self, progress: f64) -> Sharpness {
        let (from, to) = self.power;
        Sharpness::power(from * (to / from).powf(progress.clamp(0.0, 1.0)))
    }
}
