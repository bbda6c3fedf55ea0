//! The way back from the kernel to the graph.

/// What was done and how to undo it. Covers are built by undoing the last entry first.
#[derive(Clone, Debug, Default)]
pub struct Log(Vec<Entry>);

/// One reduction.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// The node is in the cover.
    Cover(u32),
    /// The node stands for itself and its neighbours: if it is covered, the neighbours are, else it is (and the second centre of twins).
    Fold {
        /// The node that was kept.
        centre: u32,
        /// A twin with the same neighbours, if there is one.
        twin: Option<u32>,
        /// Neighbours that were contracted.
        neighbours: Vec<u32>,
    },
    /// Either all of one list are free or all of the other; covered are then those of the other.
    Alternative {
        /// The first list.
        first: Vec<u32>,
        /// The second list, as long.
        second: Vec<u32>,
        /// Neighbours of the first list alone: if all are covered the first list is free.
        beside_first: Vec<u32>,
    },
}

impl Log {
    pub(super) fn push(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Number of reductions so far.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Turns a cover of the kernel into one of the graph.
    pub(super) fn undo(&self, cover: &mut [bool]) {
        let set = |nodes: &[u32], cover: &mut [bool], value: bool| {
            nodes.iter().for_each(|&v| cover[v as usize] = value);
        };
        for entry in self.0.iter().rev() {
            match entry {
                Entry::Cover(v) => cover[*v as usize] = true,
                Entry::Fold { centre, twin, neighbours } => {
                    let neighbours_covered = cover[*centre as usize];
                    set(neighbours, cover, neighbours_covered);
                    cover[*centre as usize] = !neighbours_covered;
                    set(twin.as_slice(), cover, !neighbours_covered);
                }
                Entry::Alternative { first, second, beside_first } => {
                    let first_free = beside_first.iter().all(|&v| cover[v as usize]);
                    set(first, cover, !first_free);
                    set(second, cover, first_free);
                }
            }
        }
    }
}
