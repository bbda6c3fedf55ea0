//! The nearest cities of each city, by a grid over the points, or row by row of a matrix.

use super::Cities;

/// Lists of equal length, nearest first, with distances.
#[derive(Clone, Debug)]
pub struct Neighbours {
    each: usize,
    items: Vec<(u32, u32)>,
}

impl Neighbours {
    /// The `most` nearest cities of each, or all others if there are fewer.
    pub fn new(cities: &Cities, most: usize) -> Self {
        let n = cities.len();
        let each = most.min(n.saturating_sub(1));
        let mut items = Vec::with_capacity(n * each);
        let grid = cities.points().map(|points| Grid::new(points, 3.0));
        let mut near: Vec<(u64, u32)> = vec![];
        for city in 0..n as u32 {
            near.clear();
            match &grid {
                Some(grid) => grid.nearest(city, each, cities, &mut near),
                None => near.extend((0..n as u32).filter(|&u| u != city).map(|u| (cities.distance(city, u), u))),
            }
            if near.len() > each && each > 0 {
                near.select_nth_unstable(each - 1);
                near.truncate(each);
            }
            near.sort_unstable();
            items.extend(near.iter().take(each).map(|&(d, u)| (u, u32::try_from(d).unwrap_or(u32::MAX))));
        }
        Self { each, items }
    }

    /// Nearest cities of one, with their distances.
    #[inline]
    pub fn of(&self, city: u32) -> &[(u32, u32)] {
        &self.items[city as usize * self.each..(city as usize + 1) * self.each]
    }
}

/// Points in square cells.
struct Grid<'c> {
    points: &'c [(f64, f64)],
    low: (f64, f64),
    side: f64,
    columns: usize,
    rows: usize,
    /// Cities by cell.
    starts: Vec<u32>,
    cities: Vec<u32>,
}

impl<'c> Grid<'c> {
    /// Cells that hold about `per_cell` points if these are spread evenly.
    fn new(points: &'c [(f64, f64)], per_cell: f64) -> Self {
        let fold = |pick: fn(&(f64, f64)) -> f64, start: f64, with: fn(f64, f64) -> f64| {
            points.iter().map(pick).fold(start, with)
        };
        let low = (fold(|p| p.0, f64::INFINITY, f64::min), fold(|p| p.1, f64::INFINITY, f64::min));
        let high = (fold(|p| p.0, f64::NEG_INFINITY, f64::max), fold(|p| p.1, f64::NEG_INFINITY, f64::max));
        let (width, height) = ((high.0 - low.0).max(0.0), (high.1 - low.1).max(0.0));
        let cells = (points.len() as f64 / per_cell).max(1.0);
        let longest = width.max(height);
        let side = (width * height / cells).sqrt().max(longest / cells).max(f64::MIN_POSITIVE);
        let count = |length: f64| ((length / side) as usize + 1).min(points.len() + 1);
        let (columns, rows) = (count(width), count(height));
        let mut grid = Self {
            points,
            low,
            side,
            columns,
            rows,
            starts: vec![0; columns * rows + 1],
            cities: vec![0; points.len()],
        };
        let cell: Vec<usize> = points.iter().map(|&p| grid.cell(p)).map(|(c, r)| r * columns + c).collect();
        cell.iter().for_each(|&cell| grid.starts[cell + 1] += 1);
        (0..columns * rows).for_each(|i| grid.starts[i + 1] += grid.starts[i]);
        let mut next = grid.starts.clone();
        for (city, &cell) in cell.iter().enumerate() {
            grid.cities[next[cell] as usize] = city as u32;
            next[cell] += 1;
        }
        grid
    }

    fn cell(&self, (x, y): (f64, f64)) -> (usize, usize) {
        let column = (((x - self.low.0) / self.side) as usize).min(self.columns - 1);
        (column, (((y - self.low.1) / self.side) as usize).min(self.rows - 1))
    }

    /// Collects at least the `count` nearest: rings of cells until what is further out cannot be nearer.
    fn nearest(&self, city: u32, count: usize, cities: &Cities, near: &mut Vec<(u64, u32)>) {
        let (column, row) = self.cell(self.points[city as usize]);
        let furthest = self.columns.max(self.rows);
        let mut enough_at = None;
        for ring in 0..=furthest {
            self.ring(column, row, ring, |u| {
                if u != city {
                    near.push((cities.distance(city, u), u));
                }
            });
            if enough_at.is_none() && near.len() >= count {
                enough_at = Some(ring);
            }
            // A point in the corner of a ring is further than one beside the next ring but one.
            if enough_at.is_some_and(|first| ring as f64 >= (first as f64 + 1.0) * std::f64::consts::SQRT_2) {
                return;
            }
        }
    }

    fn ring(&self, column: usize, row: usize, ring: usize, mut visit: impl FnMut(u32)) {
        let rows = row.saturating_sub(ring)..=(row + ring).min(self.rows - 1);
        for r in rows {
            let edge = r + ring == row || r == row + ring;
            let step = if edge || ring == 0 { 1 } else { 2 * ring };
            let mut c = column as i64 - ring as i64;
            while c <= (column + ring) as i64 {
                if (0..self.columns as i64).contains(&c) {
                    let cell = r * self.columns + c as usize;
                    let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                    self.cities[range].iter().for_each(|&u| visit(u));
                }
                c += step as i64;
            }
        }
    }
}
