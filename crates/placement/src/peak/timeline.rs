//! Points in the life of a plan, spans of them, and how a shift of one op moves them.
//!
//! Ops stand at positions 0..n of the order. Position i has two points: 2i is the *gap* just before it, 2i + 1 the op itself, its
//! *cell*. Transfers need no points of their own: see [`state`](super::state).

/// The point of the op at `position`.
#[inline]
pub(super) fn cell(position: u32) -> u32 {
    2 * position + 1
}

/// Points from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// The positions whose cells are in the span.
    #[inline]
    pub fn cells(self) -> std::ops::Range<usize> {
        (self.start / 2) as usize..(self.end / 2) as usize
    }

    /// The positions whose gaps are in the span.
    #[inline]
    pub fn gaps(self) -> std::ops::Range<usize> {
        self.start.div_ceil(2) as usize..self.end.div_ceil(2) as usize
    }
}

/// The op at `from` moves to `to`, and the ops between them close up by one position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shift {
    pub from: u32,
    pub to: u32,
}

impl Shift {
    /// Whether the op moves later.
    #[inline]
    pub fn is_later(self) -> bool {
        self.from < self.to
    }

    /// Where the op at `position` stands after the shift.
    #[inline]
    pub fn position(self, position: u32) -> u32 {
        if position == self.from {
            self.to
        } else if self.is_later() {
            position - u32::from(self.from < position && position <= self.to)
        } else {
            position + u32::from(self.to <= position && position < self.from)
        }
    }

    /// First and last position that change.
    #[inline]
    pub fn window(self) -> (usize, usize) {
        (self.from.min(self.to) as usize, self.from.max(self.to) as usize)
    }

    /// The points after the shift whose origin was in `span`: every cell comes with its op, the moved op's new cell from the gap
    /// that it is put into, and its old cell is gone. The map is monotone, so that a span stays a span.
    #[inline]
    pub fn carry(self, span: Span) -> Span {
        if span.start == span.end {
            return span;
        }
        let (start, last) = (span.start, span.end - 1);
        let (p, q) = (2 * self.from, 2 * self.to);
        let (start, last) = if self.is_later() {
            let start = match start {
                a if a <= p || a > q + 2 => a,
                a if a <= p + 3 => p + 1,
                a => a - 2,
            };
            let last = match last {
                b if b < p || b >= q + 2 => b,
                b if b < p + 3 => p,
                b => b - 2,
            };
            (start, last)
        } else {
            let start = match start {
                a if a <= q || a > p + 2 => a,
                a if a < p => a + 2,
                _ => p + 2,
            };
            let last = match last {
                b if b < q || b >= p + 2 => b,
                b if b < p => b + 2,
                _ => p + 1,
            };
            (start, last)
        };
        Span { start, end: (last + 1).max(start) }
    }
}

/// A step function of time: what changes at which point. Sorted before it is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps(Vec<(u32, f64)>);

impl Steps {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves `bytes` from the points of `before` to those of `after`.
    #[inline]
    pub fn replace(&mut self, before: Span, after: Span, bytes: f64) {
        if before.start != after.start {
            self.0.push((before.start, -bytes));
            self.0.push((after.start, bytes));
        }
        if before.end != after.end {
            self.0.push((before.end, bytes));
            self.0.push((after.end, -bytes));
        }
    }

    /// Puts the steps in order of time.
    #[inline]
    pub fn sort(&mut self) {
        self.0.sort_unstable_by_key(|&(point, _)| point);
    }

    /// Calls `visit` with every span on which the function is not 0, and its value there.
    #[inline]
    pub fn for_each_span(&self, mut visit: impl FnMut(Span, f64)) {
        let (mut start, mut value) = (0, 0.0);
        for &(point, step) in &self.0 {
            if point > start {
                if value != 0.0 {
                    visit(Span { start, end: point }, value);
                }
                start = point;
            }
            value += step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a point after the shift comes from.
    fn origin(shift: Shift, point: u32) -> u32 {
        let (p, q) = (2 * shift.from, 2 * shift.to);
        if shift.is_later() {
            match point {
                u if u > p && u <= q => u + 2,
                u if u == q + 1 => q + 2,
                u => u,
            }
        } else {
            match point {
                u if u == q + 1 => q,
                u if u > q + 1 && u < p + 2 => u - 2,
                u => u,
            }
        }
    }

    #[test]
    fn carry_is_the_preimage_of_the_origin() {
        let n = 7;
        for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))).filter(|(from, to)| from != to) {
            let shift = Shift { from, to };
            for (start, end) in (0..2 * n + 1).flat_map(|s| (s + 1..2 * n + 2).map(move |e| (s, e))) {
                let carried = shift.carry(Span { start, end });
                for point in 0..2 * n + 1 {
                    let expected = (start..end).contains(&origin(shift, point));
                    assert_eq!(
                        (carried.start..carried.end).contains(&point),
                        expected,
                        "{shift:?} {start}..{end} {point}"
                    );
                }
            }
        }
    }

    #[test]
    fn steps_are_the_difference_of_two_spans() {
        let mut steps = Steps::default();
        steps.replace(Span { start: 2, end: 5 }, Span { start: 3, end: 9 }, 4.0);
        steps.replace(Span::default(), Span { start: 1, end: 3 }, 1.0);
        steps.sort();
        let mut spans = vec![];
        steps.for_each_span(|span, value| spans.push((span.start, span.end, value)));
        assert_eq!(spans, [(1, 2, 1.0), (2, 3, -3.0), (5, 9, 4.0)]);
    }
}
