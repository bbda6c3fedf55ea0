//! Ranks as threads, each with processors of its own.

use labrys_comm::{Communicator, threads};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// [`threads::run`], where each rank gets its share of the threads of the pool that this is called in, at least one.
///
/// In one pool for all, loops of the ranks would wait for one another: two ranks took as long as one.
pub fn run<T, E>(ranks: usize, body: impl Fn(&Communicator) -> Result<T, E> + Sync) -> Result<Vec<T>, E>
where
    T: Send,
    E: Send,
{
    let threads = rayon::current_num_threads();
    threads::run(ranks, |comm| {
        let _own = own_pool(threads, comm.size());
        body(comm)
    })
}

/// A rank's share of so many threads. The rank's thread is one of them, so that its loops need not wake another one.
///
/// None if the system has no more threads: loops then run in the shared pool, with the same results.
pub fn own_pool(threads: usize, ranks: usize) -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads((threads / ranks.max(1)).max(1)).use_current_thread().build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use labrys_comm::CommError;
    use rayon::prelude::*;
    use std::thread;

    #[test]
    fn loops_of_a_rank_run_on_its_threads() {
        for (threads, ranks, share) in [(1, 3, 1), (4, 2, 2), (3, 2, 1)] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let seen = pool.install(|| {
                run(ranks, |_| {
                    let inner: Vec<_> = (0..1000).into_par_iter().map(|_| thread::current().id()).collect();
                    Ok::<_, CommError>((rayon::current_num_threads(), thread::current().id(), inner))
                })
            });
            for (count, own, inner) in seen.unwrap() {
                assert_eq!(count, share);
                assert!(share > 1 || inner.iter().all(|&id| id == own));
            }
        }
    }
}
