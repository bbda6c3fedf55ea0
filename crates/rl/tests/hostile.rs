//! Whatever a network answers, choices are within range.

use labrys_nn::Matrix;
use labrys_rl::Choice;
use labrys_search::Seed;

#[test]
fn choices_stay_within_range() {
    let (nan, least) = (f32::NAN, f32::NEG_INFINITY);
    let rows = [[nan; 3], [least; 3], [f32::INFINITY; 3], [0.0, nan, least], [-1e30, 1e30, 0.0], [-50.0; 3]];
    for choice in [Choice::Sample, Choice::Greedy] {
        for number in 0..100 {
            let taken = choice.take(&Matrix::from_rows(&rows), &mut Seed(0).stream("choice", number));
            assert!(taken.len() == rows.len() && taken.iter().all(|&choice| choice < 3), "{taken:?}");
        }
    }
}

#[test]
fn samples_follow_their_probabilities() {
    let mut rng = Seed(1).stream("choice", 0);
    let logs = Matrix::from_rows(&vec![[0.2f32.ln(), 0.5f32.ln(), 0.3f32.ln()]; 20_000]);
    let taken = Choice::Sample.take(&logs, &mut rng);
    for (choice, share) in [(0, 0.2), (1, 0.5), (2, 0.3)] {
        let found = taken.iter().filter(|&&taken| taken == choice).count() as f64 / 20_000.0;
        // Four standard deviations.
        assert!((found - share).abs() < 0.015, "{choice}: {found}");
    }
    assert!(Choice::Greedy.take(&logs, &mut rng).iter().all(|&choice| choice == 1));
}
