//! The linear relaxation: nodes whose value is 0 or 1 are decided by it (Nemhauser & Trotter 1975).

use super::kernel::Kernel;
use super::matching::half_integral;

impl Kernel {
    /// Decides every node that the relaxation decides; says whether there was one. Afterwards one half for every node is the only
    /// optimum of the relaxation.
    pub(super) fn linear(&mut self) -> bool {
        let ids: Vec<u32> = (0..self.capacity() as u32).filter(|&v| self.is_alive(v)).collect();
        let mut number = vec![u32::MAX; self.capacity()];
        ids.iter().zip(0..).for_each(|(&id, i)| number[id as usize] = i);
        let rows: Vec<Vec<u32>> =
            ids.iter().map(|&id| self.row(id).iter().map(|&u| number[u as usize]).collect()).collect();
        let free = half_integral(&rows);
        let decided: Vec<u32> = ids.iter().zip(&free).filter(|&(_, &free)| free).map(|(&id, _)| id).collect();
        for &id in &decided {
            if self.is_alive(id) {
                self.free(id);
            }
        }
        !decided.is_empty()
    }
}
