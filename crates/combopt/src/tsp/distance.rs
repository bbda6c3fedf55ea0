//! Distances as TSPLIB defines them (Reinelt 1995): integers from coordinates, computed when asked for.

/// How far two cities are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Euclidean, rounded to the nearest integer.
    Euclidean,
    /// Euclidean, rounded up.
    EuclideanUp,
    /// Kilometres on a sphere; coordinates are degrees and minutes.
    Geographic,
    /// Pseudo-Euclidean, as AT&T measured.
    Att,
    /// A matrix.
    Explicit,
}

/// Cities with their distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Cities {
    metric: Metric,
    /// Coordinates; latitude and longitude in radians for [`Metric::Geographic`]. Empty without coordinates.
    points: Vec<(f64, f64)>,
    /// Lower triangle without the diagonal, row by row, for [`Metric::Explicit`].
    matrix: Vec<u32>,
    count: usize,
}

impl Cities {
    /// Cities at points. The coordinates are finite.
    ///
    /// # Panics
    /// If the metric is a matrix.
    pub fn at_points(metric: Metric, points: Vec<(f64, f64)>) -> Self {
        assert!(metric != Metric::Explicit, "a matrix has no points");
        let count = points.len();
        let points = if metric == Metric::Geographic { points.into_iter().map(radians).collect() } else { points };
        Self { metric, points, matrix: vec![], count }
    }

    /// Cities with a symmetric matrix, given as its lower triangle without the diagonal: (1,0) (2,0) (2,1) (3,0) ...
    ///
    /// # Panics
    /// If the triangle has another length.
    pub fn with_matrix(count: usize, triangle: Vec<u32>) -> Self {
        assert_eq!(triangle.len(), count * count.saturating_sub(1) / 2);
        Self { metric: Metric::Explicit, points: vec![], matrix: triangle, count }
    }

    /// Number of cities.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no city.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The kind of distance.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Coordinates in which near cities are near, unless the distances are a matrix.
    pub fn points(&self) -> Option<&[(f64, f64)]> {
        (self.metric != Metric::Explicit).then_some(&self.points)
    }

    /// Whether cities have places in space, so that the nearest ones can be found without looking at all.
    pub(super) fn has_places(&self) -> bool {
        self.metric != Metric::Explicit
    }

    /// A place in space for a city that has one: whichever of two cities is nearer there is at no greater distance.
    pub(super) fn place(&self, city: u32) -> [f64; 3] {
        let (x, y) = self.points[city as usize];
        match self.metric {
            Metric::Geographic => [x.cos() * y.cos(), x.cos() * y.sin(), x.sin()],
            _ => [x, y, 0.0],
        }
    }

    /// Length of the way between two cities.
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> u64 {
        if self.metric == Metric::Explicit {
            return self.entry(a, b);
        }
        let (p, q) = (self.points[a as usize], self.points[b as usize]);
        let (dx, dy) = (p.0 - q.0, p.1 - q.1);
        match self.metric {
            Metric::Euclidean => ((dx * dx + dy * dy).sqrt() + 0.5) as u64,
            Metric::EuclideanUp => (dx * dx + dy * dy).sqrt().ceil() as u64,
            Metric::Att => (((dx * dx + dy * dy) / 10.0).sqrt()).ceil() as u64,
            Metric::Geographic | Metric::Explicit => geographic(p, q, a == b),
        }
    }

    fn entry(&self, a: u32, b: u32) -> u64 {
        let (high, low) = (a.max(b) as usize, a.min(b) as usize);
        if high == low { 0 } else { self.matrix[high * (high - 1) / 2 + low].into() }
    }

    /// Length of a round trip.
    pub fn length(&self, tour: &[u32]) -> u64 {
        let legs = tour.iter().zip(tour.iter().cycle().skip(1));
        legs.map(|(&a, &b)| self.distance(a, b)).sum()
    }
}

/// Degrees with minutes after the point to radians, with TSPLIB's value of pi.
fn radians((latitude, longitude): (f64, f64)) -> (f64, f64) {
    #[allow(clippy::approx_constant)] // the published optima were computed with it
    const PI: f64 = 3.141592;
    let convert = |x: f64| {
        let degrees = x.trunc();
        PI * (degrees + 5.0 * (x - degrees) / 3.0) / 180.0
    };
    (convert(latitude), convert(longitude))
}

fn geographic(p: (f64, f64), q: (f64, f64), same: bool) -> u64 {
    if same {
        return 0;
    }
    const EARTH_RADIUS: f64 = 6378.388;
    let q1 = (p.1 - q.1).cos();
    let q2 = (p.0 - q.0).cos();
    let q3 = (p.0 + q.0).cos();
    let angle = (0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)).clamp(-1.0, 1.0).acos();
    (EARTH_RADIUS * angle + 1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_rounded_as_tsplib_says() {
        let points = vec![(0.0, 0.0), (3.0, 4.2), (0.0, 0.0)];
        let distance = |metric| Cities::at_points(metric, points.clone()).distance(0, 1);
        assert_eq!([Metric::Euclidean, Metric::EuclideanUp, Metric::Att].map(distance), [5, 6, 2]);
        let cities = Cities::at_points(Metric::Geographic, vec![(38.24, 20.42), (39.57, 26.15)]);
        assert_eq!(cities.distance(0, 1), 509, "ulysses16, cities 1 and 2");
        let cities = Cities::with_matrix(3, vec![7, 8, 9]);
        assert_eq!(
            [cities.distance(0, 1), cities.distance(2, 0), cities.distance(1, 2), cities.distance(2, 2)],
            [7, 8, 9, 0]
        );
        assert_eq!(cities.length(&[2, 0, 1]), 24);
    }
}
