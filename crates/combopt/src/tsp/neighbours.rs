//! The nearest cities of each city, by a k-d tree over the points, or row by row of a matrix.

use super::Cities;
use super::kd_tree::KdTree;

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
        let tree = cities.has_places().then(|| KdTree::new((0..n as u32).map(|city| cities.place(city))));
        for city in 0..n as u32 {
            let mut near: Vec<(u64, u32)> = match &tree {
                Some(tree) => {
                    let near = tree.nearest(city, cities.place(city), each);
                    near.into_iter().map(|(_, u)| (cities.distance(city, u), u)).collect()
                }
                None => nearest_in_row(cities, city, each),
            };
            near.sort_unstable();
            items.extend(near.iter().map(|&(d, u)| (u, u32::try_from(d).unwrap_or(u32::MAX))));
        }
        Self { each, items }
    }

    /// Nearest cities of one, with their distances.
    #[inline]
    pub fn of(&self, city: u32) -> &[(u32, u32)] {
        &self.items[city as usize * self.each..(city as usize + 1) * self.each]
    }
}

fn nearest_in_row(cities: &Cities, city: u32, each: usize) -> Vec<(u64, u32)> {
    let others = (0..cities.len() as u32).filter(|&u| u != city);
    let mut near: Vec<(u64, u32)> = others.map(|u| (cities.distance(city, u), u)).collect();
    if near.len() > each && each > 0 {
        near.select_nth_unstable(each - 1);
    }
    near.truncate(each);
    near
}
