//! The nearest of many points, however they lie: a k-d tree whose splits are medians, so that equal points do no harm.

/// A point in space.
pub(super) type Point = [f64; 3];

/// Points that are looked at one by one.
const LEAF: usize = 8;

pub(super) struct KdTree {
    /// With their numbers; each half of a split is half of its slice.
    points: Vec<(Point, u32)>,
    /// In preorder: the lower half's splits follow on their parent.
    splits: Vec<Split>,
}

struct Split {
    axis: usize,
    /// Points below are in the lower half, above in the upper; equal ones are in either.
    at: f64,
    /// The upper half's first split.
    upper: usize,
}

impl KdTree {
    pub(super) fn new(points: impl Iterator<Item = Point>) -> Self {
        let (mut points, mut splits): (Vec<_>, _) = (points.zip(0..).collect(), vec![]);
        build(&mut points, &mut splits);
        Self { points, splits }
    }

    /// The `count` points nearest to point `own`, itself left out, nearest first, with squared distances.
    pub(super) fn nearest(&self, own: u32, at: Point, count: usize) -> Vec<(f64, u32)> {
        let mut query = Query { own, at, count, near: Vec::with_capacity(count + 1) };
        if count > 0 {
            self.search(&self.points, 0, &mut query);
        }
        query.near
    }

    fn search(&self, points: &[(Point, u32)], split: usize, query: &mut Query) {
        if points.len() <= LEAF {
            return points.iter().for_each(|&(point, number)| query.look_at(point, number));
        }
        let Split { axis, at, upper } = self.splits[split];
        let (low, high) = points.split_at(points.len() / 2);
        let gap = query.at[axis] - at;
        let halves = [(low, split + 1), (high, upper)];
        let (first, second) = if gap < 0.0 { (halves[0], halves[1]) } else { (halves[1], halves[0]) };
        self.search(first.0, first.1, query);
        if query.may_be_nearer(gap * gap) {
            self.search(second.0, second.1, query);
        }
    }
}

fn build(points: &mut [(Point, u32)], splits: &mut Vec<Split>) {
    if points.len() <= LEAF {
        return;
    }
    let (axis, middle, split) = (widest(points), points.len() / 2, splits.len());
    let by_place = |a: &(Point, u32), b: &(Point, u32)| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1));
    let at = points.select_nth_unstable_by(middle, by_place).1.0[axis];
    splits.push(Split { axis, at, upper: 0 });
    let (low, high) = points.split_at_mut(middle);
    build(low, splits);
    splits[split].upper = splits.len();
    build(high, splits);
}

/// The axis along which points are furthest apart.
fn widest(points: &[(Point, u32)]) -> usize {
    let spread = |axis: usize| {
        let range = (f64::INFINITY, f64::NEG_INFINITY);
        let range = points.iter().fold(range, |(low, high), (p, _)| (low.min(p[axis]), high.max(p[axis])));
        range.1 - range.0
    };
    (0..3).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
}

struct Query {
    own: u32,
    at: Point,
    count: usize,
    near: Vec<(f64, u32)>,
}

impl Query {
    fn may_be_nearer(&self, square: f64) -> bool {
        self.near.len() < self.count || self.near.last().is_some_and(|worst| square < worst.0)
    }

    fn look_at(&mut self, point: Point, number: u32) {
        let square = (0..3).map(|axis| (point[axis] - self.at[axis]).powi(2)).sum();
        if number == self.own || !self.may_be_nearer(square) {
            return;
        }
        let place = self.near.partition_point(|near| near.0 <= square);
        self.near.insert(place, (square, number));
        self.near.truncate(self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use labrys_search::Seed;
    use rand::RngExt as _;

    fn squares(points: &[Point], own: usize) -> Vec<f64> {
        let square = |p: &Point| (0..3).map(|axis| (p[axis] - points[own][axis]).powi(2)).sum();
        let mut all: Vec<f64> = (0..points.len()).filter(|&i| i != own).map(|i| square(&points[i])).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn nearest_points_are_found_wherever_they_lie() {
        let mut rng = Seed(1).stream("points", 0);
        for (n, range) in [(1, 5), (2, 5), (9, 3), (200, 1000), (300, 4), (300, 1)] {
            let points: Vec<Point> =
                (0..n).map(|_| [0, 1, 2].map(|_| f64::from(rng.random_range(0..range as u32)))).collect();
            let tree = KdTree::new(points.iter().copied());
            for own in 0..n {
                let near = tree.nearest(own as u32, points[own], 7);
                let found: Vec<f64> = near.iter().map(|near| near.0).collect();
                let expected = squares(&points, own);
                assert_eq!(found, expected[..7.min(n - 1)], "{n} {range} {own}");
            }
        }
    }

    /// 100,000 points at one place and one elsewhere: quadratic work would take minutes.
    #[test]
    fn points_at_one_place_take_no_time() {
        let mut points = vec![[1.0, 2.0, 0.0]; 100_000];
        points.push([1e9, 0.0, 0.0]);
        let tree = KdTree::new(points.iter().copied());
        for own in 0..100_000 {
            assert!(tree.nearest(own, points[own as usize], 8).iter().all(|near| near.0 == 0.0));
        }
    }
}
