//! Every operation's gradient against central differences of its value.

use labrys_nn::{Activation, Aggregation, EdgeArrays, Gradients, GraphBatch, Matrix, Params, Segments, Tape, Var};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Step of the central differences: the third derivative and the rounding of `f32` both stay below the tolerance.
const STEP: f32 = 1e-2;
const TOLERANCE: f32 = 4e-3;

fn random(rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    Matrix::new(rows, cols, (0..rows * cols).map(|_| 2.0 * rng.random::<f32>() - 1.0).collect())
}

/// Weighted sum with fixed odd weights, so that every value of a result counts differently.
fn weigh(tape: &mut Tape, x: Var) -> Var {
    let (rows, cols) = tape.value(x).shape();
    let weights = tape.constant(random(rows, cols, 99));
    let product = tape.mul(x, weights);
    tape.sum(product)
}

fn check(inputs: &[Matrix], build: impl Fn(&mut Tape<'static>, &[Var]) -> Var) {
    let mut params = Params::new();
    let ids: Vec<_> = inputs.iter().enumerate().map(|(i, m)| params.push(&format!("x{i}"), m.clone())).collect();
    let run = |params: &Params, back: bool| -> (f32, Option<Gradients>) {
        let params = leaked(params);
        let mut tape = Tape::new(params);
        let vars: Vec<_> = ids.iter().map(|&id| tape.param(id)).collect();
        let result = build(&mut tape, &vars);
        let loss = weigh(&mut tape, result);
        (tape.value(loss).scalar(), back.then(|| tape.backward(loss)))
    };
    let gradients = run(&params, true).1.unwrap();
    for &id in &ids {
        for place in 0..params.get(id).data.len() {
            let at = |step: f32| {
                let mut moved = params.clone();
                moved.get_mut(id).data[place] += step;
                run(&moved, false).0
            };
            let numeric = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            let exact = gradients.get(id).data[place];
            assert!(
                (numeric - exact).abs() <= TOLERANCE * exact.abs().max(1.0),
                "{id:?}[{place}]: {exact} by the tape, {numeric} by differences"
            );
        }
    }
}

/// A copy that lives as long as the test process.
fn leaked(params: &Params) -> &'static Params {
    Box::leak(Box::new(params.clone()))
}

#[test]
fn products() {
    check(&[random(3, 4, 1), random(4, 2, 2)], |tape, v| tape.matmul(v[0], v[1]));
    check(&[random(5, 3, 1), random(3, 2, 2), random(1, 2, 3)], |tape, v| tape.linear(v[0], v[1], v[2]));
    check(&[random(3, 3, 1)], |tape, v| tape.matmul(v[0], v[0]));
    let terms = [random(4, 3, 1), random(3, 2, 2), random(1, 2, 3), random(4, 2, 4), random(4, 2, 5), random(2, 2, 6)];
    for activation in [None, Some(Activation::Tanh)] {
        check(&terms, |tape, v| tape.affine(&[(v[0], v[1]), (v[4], v[5])], &[v[2], v[3]], activation));
        check(&terms, |tape, v| tape.affine(&[(v[0], v[1])], &[v[3], v[2]], activation));
    }
}

#[test]
fn elementwise() {
    let pair = [random(3, 4, 1), random(3, 4, 2)];
    check(&pair, |tape, v| tape.add(v[0], v[1]));
    check(&pair, |tape, v| tape.sub(v[0], v[1]));
    check(&pair, |tape, v| tape.mul(v[0], v[1]));
    check(&pair, |tape, v| tape.mul(v[0], v[0]));
    check(&pair[..1], |tape, v| tape.scale(v[0], -2.5));
    check(&pair[..1], |tape, v| tape.tanh(v[0]));
    check(&pair[..1], |tape, v| tape.sigmoid(v[0]));
    check(&pair[..1], |tape, v| tape.exp(v[0]));
    check(&[Matrix::from_rows(&[[0.5, -0.3], [-0.9, 0.1]])], |tape, v| tape.relu(v[0]));
}

#[test]
fn dropout_scales_what_it_keeps() {
    check(&[random(4, 5, 1)], |tape, v| tape.dropout(v[0], 0.4, &mut Pcg64Mcg::seed_from_u64(7)));
    let params = Params::new();
    let mut tape = Tape::new(&params);
    let ones = tape.constant(Matrix::new(100, 100, vec![1.0; 10_000]));
    let dropped = tape.dropout(ones, 0.25, &mut Pcg64Mcg::seed_from_u64(1));
    let mean = tape.mean(dropped);
    assert!((tape.value(mean).scalar() - 1.0).abs() < 0.02);
}

#[test]
fn shapes() {
    let pair = [random(3, 4, 1), random(3, 2, 2)];
    check(&pair, |tape, v| tape.concat(&[v[1], v[0], v[1]]));
    check(&pair[..1], |tape, v| tape.columns(v[0], 1..3));
    check(&pair[..1], |tape, v| tape.rows(v[0], 1..3));
    check(&pair[..1], |tape, v| tape.stack(&[v[0], v[0]]));
    check(&pair[..1], |tape, v| tape.reshape(v[0], 2, 6));
    check(&pair[..1], |tape, v| tape.gather(v[0], vec![2, 0, 2, 2]));
    check(&pair[..1], |tape, v| tape.pick(v[0], vec![3, 0, 1]));
}

#[test]
fn reductions() {
    let segments: &'static Segments = Box::leak(Box::new(Segments::new([2, 0, 3])));
    let x = [random(5, 3, 1)];
    check(&x, |tape, v| tape.sum(v[0]));
    check(&x, |tape, v| tape.mean(v[0]));
    check(&x, |tape, v| tape.row_sum(v[0]));
    check(&x, |tape, v| tape.segment_sum(v[0], segments));
    check(&x, |tape, v| tape.segment_mean(v[0], segments));
}

#[test]
fn losses() {
    let segments: &'static Segments = Box::leak(Box::new(Segments::new([2, 0, 3])));
    let x = [random(3, 4, 1)];
    let target = random(3, 4, 5);
    check(&x, |tape, v| tape.log_softmax(v[0]));
    check(&[random(5, 1, 1)], |tape, v| tape.segment_log_softmax(v[0], segments));
    check(&x, |tape, v| {
        let logs = tape.log_softmax(v[0]);
        tape.entropy(logs)
    });
    check(&x, |tape, v| tape.squared_error(v[0], &target));
    check(&x, |tape, v| tape.huber(v[0], &target, 0.35));
}

#[test]
fn recurrent_cells() {
    let segments: &'static Segments = Box::leak(Box::new(Segments::new([4, 0, 1, 2])));
    check(&[random(3, 6, 1), random(3, 6, 2), random(3, 2, 3)], |tape, v| tape.gru_cell(v[0], v[1], v[2]));
    check(&[random(3, 6, 1), random(3, 2, 3)], |tape, v| tape.gru_cell(v[0], v[0], v[1]));
    check(&[random(7, 8, 1), random(2, 8, 2)], |tape, v| tape.lstm(v[0], v[1], segments));
}

#[test]
fn typed_messages() {
    let types = [vec![(0, 1), (0, 1), (2, 0)], vec![], vec![(3, 3), (1, 2)]];
    let edges: Vec<EdgeArrays> = types.into_iter().map(|edges| edges.into_iter().collect()).collect();
    let edges: &'static [EdgeArrays] = Vec::leak(edges);
    check(&[random(4, 3, 1), random(9, 2, 2)], |tape, v| tape.typed_messages(v[0], v[1], edges, 5));
}

#[test]
fn edge_messages() {
    // Sums of these stay away from the kink of the rectifier: odd multiples of 0.1 plus even ones are never zero.
    let grid = |rows: usize, cols: usize, seed: u64, odd: f32| {
        let mut m = random(rows, cols, seed);
        m.data.iter_mut().for_each(|x| *x = ((*x * 5.0).round() * 2.0 + odd) * 0.1);
        m
    };
    let edges: EdgeArrays = [(0, 1), (0, 1), (1, 2), (3, 2), (2, 2), (2, 0)].into_iter().collect();
    let batch = GraphBatch::new(Matrix::zeros(5, 1), Matrix::zeros(6, 1), edges).unwrap();
    let batch: &'static GraphBatch = Box::leak(Box::new(batch));
    for aggregation in [Aggregation::Sum, Aggregation::Mean] {
        check(&[grid(5, 12, 1, 0.0), grid(6, 6, 2, 1.0)], |tape, v| tape.edge_messages(v[0], v[1], batch, aggregation));
    }
}
