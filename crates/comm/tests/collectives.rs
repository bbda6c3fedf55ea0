//! Every collective, for 1 to 5 ranks, against what it means; and ranks that die.

use labrys_comm::{Collective, CommError, Communicator, ExactSum, communicator::share, threads};

fn on<T: Send>(ranks: usize, body: impl Fn(&Communicator) -> Result<T, CommError> + Sync) -> Vec<T> {
    threads::run(ranks, body).expect("no rank fails")
}

/// Value `index` of a rank.
fn value(rank: usize, index: usize) -> i64 {
    (rank * 1000 + index) as i64
}

#[test]
fn all_gather_puts_parts_in_the_order_of_ranks() {
    for ranks in 1..=5 {
        let counts: Vec<usize> = (0..ranks).map(|rank| rank * 2 % 5).collect();
        let expected: Vec<i64> = (0..ranks).flat_map(|rank| (0..counts[rank]).map(move |i| value(rank, i))).collect();
        let all = on(ranks, |comm| {
            let own: Vec<i64> = (0..counts[comm.rank()]).map(|i| value(comm.rank(), i)).collect();
            comm.all_gather(&own, &counts)
        });
        assert!(all.iter().all(|got| *got == expected));
    }
}

#[test]
fn reductions_sum_over_ranks() {
    for ranks in 1..=5 {
        // A few values, and more than one message has.
        for len in [0, 1, 3, 17, 300] {
            let expected: Vec<i64> = (0..len).map(|i| (0..ranks).map(|rank| value(rank, i)).sum()).collect();
            let got = on(ranks, |comm| {
                let mut values: Vec<i64> = (0..len).map(|i| value(comm.rank(), i)).collect();
                let parts: Vec<usize> = (0..ranks).map(|rank| share(len, ranks, rank).len()).collect();
                let part = comm.reduce_scatter_sum(&values, &parts)?;
                comm.all_reduce_sum(&mut values)?;
                Ok((values, part))
            });
            let parts: Vec<i64> = got.iter().flat_map(|(_, part)| part.clone()).collect();
            assert!(got.iter().all(|(all, _)| *all == expected) && parts == expected);
        }
    }
}

#[test]
fn floats_are_added_in_the_order_of_ranks() {
    let values = [1e8f32, 1.0, -1e8, 0.5];
    let sums = on(4, |comm| {
        let mut sum = [values[comm.rank()]];
        comm.all_reduce_sum(&mut sum)?;
        Ok(sum[0].to_bits())
    });
    assert_eq!(sums, [(((1e8f32 + 1.0) - 1e8) + 0.5).to_bits(); 4]);
}

#[test]
fn exact_sums_do_not_depend_on_the_number_of_ranks() {
    let addends: Vec<f32> = (0..997).map(|i| ((i * 31 % 97) as f32 - 48.0) * 1.7f32.powi(i % 40 - 20)).collect();
    let sum = |ranks: usize| {
        on(ranks, |comm| {
            let mut sum = ExactSum::zeros(1);
            addends[share(addends.len(), ranks, comm.rank())].iter().for_each(|&x| sum.add(0, &[x]));
            comm.all_reduce_exact(&mut sum)?;
            Ok(sum)
        })
    };
    let one = sum(1).swap_remove(0);
    assert!((2..=5).flat_map(sum).all(|other| other == one));
}

#[test]
fn all_to_all_and_broadcast() {
    for ranks in 1..=5 {
        let got = on(ranks, |comm| {
            let me = comm.rank();
            // Rank `me` sends `to + 1` values to each rank.
            let parts: Vec<usize> = (1..=ranks).collect();
            let send: Vec<i64> = (0..ranks).flat_map(|to| (0..=to).map(move |i| value(me, to * 10 + i))).collect();
            let counts = comm.all_to_all_counts(&parts)?;
            let received = comm.all_to_all(&send, &parts, &counts)?;
            let mut token = [if me == ranks - 1 { 42i64 } else { me as i64 }];
            comm.broadcast(&mut token, ranks - 1)?;
            Ok((received, token[0]))
        });
        for (me, (received, token)) in got.into_iter().enumerate() {
            let expected: Vec<i64> =
                (0..ranks).flat_map(|from| (0..=me).map(move |i| value(from, me * 10 + i))).collect();
            assert_eq!((received, token), (expected, 42));
        }
    }
}

#[test]
fn an_all_gather_sends_half_of_an_all_reduce() {
    let (ranks, len) = (4, 1024);
    let traffic = on(ranks, |comm| {
        let mut values = vec![1f32; len];
        comm.all_reduce_sum(&mut values)?;
        comm.all_gather(&values[..len / ranks], &vec![len / ranks; ranks])?;
        Ok(comm.traffic())
    });
    for sent in traffic {
        let (reduce, gather) = (sent.bytes(Collective::AllReduce), sent.bytes(Collective::AllGather));
        assert_eq!((reduce, gather), (2 * 3 * 1024, 3 * 1024));
        assert_eq!(sent.total_bytes(), reduce + gather);
    }
}

#[test]
fn a_rank_that_fails_ends_the_run_with_its_error() {
    #[derive(Debug, PartialEq)]
    enum Fault {
        Own,
        Comm(CommError),
    }
    let result = threads::run(4, |comm| {
        for step in 0..10 {
            if comm.rank() == 2 && step == 5 {
                return Err(Fault::Own);
            }
            comm.all_reduce_sum(&mut [1i64]).map_err(Fault::Comm)?;
        }
        Ok(())
    });
    assert_eq!(result, Err(Fault::Own));
}

#[test]
#[should_panic(expected = "rank 1 breaks")]
fn a_rank_that_panics_ends_the_run() {
    let result: Result<Vec<()>, CommError> = threads::run(3, |comm| {
        comm.barrier()?;
        assert!(comm.rank() != 1, "rank 1 breaks");
        comm.barrier()
    });
    drop(result);
}

#[test]
fn a_rank_that_leaves_early_does_not_hang_the_others() {
    // Not an error of its own, but the others wait for a message that never comes.
    let result: Result<Vec<()>, CommError> =
        threads::run(2, |comm| if comm.rank() == 0 { Ok(()) } else { comm.barrier() });
    assert_eq!(result, Err(CommError::RankDied { rank: 0 }));
}

#[test]
fn ranks_that_disagree_about_sizes_get_an_error() {
    let result: Result<Vec<Vec<f32>>, CommError> = threads::run(2, |comm| {
        let own = vec![0f32; 2 + comm.rank()];
        comm.all_gather(&own, &[2, 2])
    });
    assert!(matches!(result, Err(CommError::SizesDiffer { from: 1, expected: 8, got: 12, .. })), "{result:?}");
}

#[test]
fn parts_of_the_world_compute_on_their_own() {
    let sums = on(5, |comm| {
        let mut sums = vec![];
        for parts in [2, 3] {
            let part = comm.split(comm.rank() % parts)?;
            let mut sum = [comm.rank() as u64, 1];
            part.all_reduce_sum(&mut sum)?;
            sums.push((part.rank(), sum));
        }
        Ok(sums)
    });
    let expected = |rank: usize, parts: usize| {
        let members: Vec<u64> =
            (0..5).filter(|other| other % parts == rank % parts).map(|other| other as u64).collect();
        (rank / parts, [members.iter().sum(), members.len() as u64])
    };
    for (rank, sums) in sums.into_iter().enumerate() {
        assert_eq!(sums, [expected(rank, 2), expected(rank, 3)]);
    }
}

#[test]
fn a_rank_that_fails_frees_those_that_wait_in_a_part() {
    let result: Result<Vec<()>, CommError> = threads::run(4, |comm| {
        let part = comm.split(comm.rank() / 2)?;
        if comm.rank() == 3 {
            return Err(CommError::TooLarge { bytes: 7 });
        }
        part.barrier()?;
        comm.barrier()
    });
    assert_eq!(result, Err(CommError::TooLarge { bytes: 7 }));
}
