//! Compressed sparse rows: 4 bytes an arc plus 8 bytes a row.

use crate::Id;

/// Rows of ids, stored back to back. Row `i` of a `Csr<T>` is a slice of `T`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr<T> {
    offsets: Vec<u64>,
    items: Vec<T>,
}

impl<T> Default for Csr<T> {
    fn default() -> Self {
        Self { offsets: vec![0], items: Vec::new() }
    }
}

impl<T: Copy> Csr<T> {
    /// Builds from one iterator per row.
    pub fn from_rows<R: IntoIterator<Item = T>>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut csr = Self::default();
        for row in rows {
            csr.push_row(row);
        }
        csr
    }

    /// Takes rows that are laid out already: row `i` is `items[offsets[i]..offsets[i + 1]]`.
    pub(crate) fn from_parts(offsets: Vec<u64>, items: Vec<T>) -> Self {
        debug_assert_eq!(offsets.last().copied(), Some(items.len() as u64));
        Self { offsets, items }
    }

    /// The same rows with every item changed.
    pub fn map<U: Copy>(self, change: impl Fn(T) -> U) -> Csr<U> {
        Csr { offsets: self.offsets, items: self.items.into_iter().map(change).collect() }
    }

    /// Appends one row.
    pub fn push_row(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.offsets.push(self.items.len() as u64);
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of arcs over all rows.
    #[inline]
    pub fn arcs(&self) -> usize {
        self.items.len()
    }

    /// Row `index`.
    #[inline]
    pub fn row(&self, index: usize) -> &[T] {
        &self.items[self.range(index)]
    }

    /// Where row `index` lies among all arcs; lets a caller keep a value per arc.
    #[inline]
    pub fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.offsets[index] as usize..self.offsets[index + 1] as usize
    }

    /// The item at a position of [`range`](Self::range).
    #[inline]
    pub fn arc(&self, position: usize) -> T {
        self.items[position]
    }

    /// Where each row begins among all arcs; one more than there are rows.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// All rows back to back.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.rows()).map(|row| self.row(row))
    }

    /// Heap bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<u64>() + self.items.capacity() * size_of::<T>()
    }
}

impl<T: Id> Csr<T> {
    /// The reverse relation: row `t` of the result lists, in ascending order, the rows of `self` that hold `t`.
    pub fn transpose<S: Id>(&self, columns: usize) -> Csr<S> {
        let mut offsets = vec![0u64; columns + 1];
        for item in &self.items {
            offsets[item.index() + 1] += 1;
        }
        for i in 0..columns {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut items = vec![S::new(0); self.items.len()];
        for row in 0..self.rows() {
            for item in self.row(row) {
                let slot = &mut next[item.index()];
                items[*slot as usize] = S::new(row);
                *slot += 1;
            }
        }
        Csr { offsets, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    crate::define_id!(
        /// A test id.
        Node
    );

    #[test]
    fn transpose_twice_is_identity_on_sorted_rows() {
        let csr = Csr::from_rows([vec![Node(1), Node(2)], vec![Node(2)], vec![]]);
        let back: Csr<Node> = csr.transpose(3);
        assert_eq!(back.row(2), &[Node(0), Node(1)]);
        assert_eq!(back.transpose::<Node>(3), csr);
        assert_eq!((csr.rows(), csr.arcs()), (3, 3));
    }
}
