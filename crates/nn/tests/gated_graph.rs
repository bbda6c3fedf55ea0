//! The gated graph network: gradients of all its parameters, and batches that change no bit.

use labrys_nn::{EdgeArrays, GatedGraph, GatedReadout, Gradients, Gru, Matrix, ParamId, Params, Segments, Tape, Var};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

const HIDDEN: usize = 4;
/// Step of the central differences.
const STEP: f32 = 1e-2;
const TOLERANCE: f32 = 4e-3;

fn random(rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    Matrix::new(rows, cols, (0..rows * cols).map(|_| 2.0 * rng.random::<f32>() - 1.0).collect())
}

/// Compares the gradient of `loss` by every parameter with central differences.
fn check(params: &Params, loss: impl Fn(&mut Tape<'_>) -> Var) {
    let value = |params: &Params| {
        let mut tape = Tape::new(params);
        let loss = loss(&mut tape);
        tape.value(loss).scalar()
    };
    let mut tape = Tape::new(params);
    let root = loss(&mut tape);
    let gradients: Gradients = tape.backward(root);
    for id in params.ids() {
        for place in 0..params.get(id).data.len() {
            let at = |step: f32| {
                let mut moved = params.clone();
                moved.get_mut(id).data[place] += step;
                value(&moved)
            };
            let (numeric, exact) = ((at(STEP) - at(-STEP)) / (2.0 * STEP), gradients.get(id).data[place]);
            let error = (numeric - exact).abs();
            assert!(error <= TOLERANCE * exact.abs().max(1.0), "{}[{place}]: {exact}, not {numeric}", params.name(id));
        }
    }
}

#[test]
fn a_gated_unit_has_exact_gradients_over_three_steps() {
    let mut params = Params::new();
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let unit = Gru::new(&mut params, "unit", 3, HIDDEN, &mut rng);
    let (start, inputs) = (params.push("start", random(2, HIDDEN, 2)), params.push("inputs", random(2, 3, 3)));
    check(&params, |tape| {
        let (mut h, x) = (tape.param(start), tape.param(inputs));
        for _ in 0..3 {
            h = unit.forward(tape, x, h);
        }
        let square = tape.mul(h, h);
        tape.sum(square)
    });
}

struct Net {
    params: Params,
    graph: GatedGraph,
    readout: GatedReadout,
    x: ParamId,
}

fn net(nodes: usize) -> Net {
    let mut params = Params::new();
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let graph = GatedGraph::new(&mut params, "graph", (2, HIDDEN, 3), &mut rng);
    let readout = GatedReadout::new(&mut params, "readout", (HIDDEN, 5, 2), &mut rng);
    let x = params.push("x", random(nodes, HIDDEN, 6));
    Net { params, graph, readout, x }
}

/// A path, its edges forward of one type and backward of the other, from a first node on.
fn path(nodes: u32, first: u32) -> [EdgeArrays; 2] {
    let forward: EdgeArrays = (first..first + nodes - 1).map(|node| (node, node + 1)).collect();
    let backward = EdgeArrays { sources: forward.targets.clone(), targets: forward.sources.clone() };
    [forward, backward]
}

fn outputs<'a>(net: &Net, tape: &mut Tape<'a>, edges: &'a [EdgeArrays], graphs: &'a Segments) -> Var {
    let x = tape.param(net.x);
    let h = net.graph.forward(tape, x, edges);
    let nodes = net.readout.nodes(tape, h, x);
    let sums = tape.segment_sum(nodes, graphs);
    net.readout.graphs(tape, sums, |_, x| x)
}

#[test]
fn the_network_has_exact_gradients() {
    let net = net(5);
    let edges = path(5, 0);
    let (edges, graphs): (&'static [EdgeArrays], _) = (Vec::leak(edges.to_vec()), Segments::new([3, 2]));
    let graphs: &'static Segments = Box::leak(Box::new(graphs));
    check(&net.params, |tape| {
        let values = outputs(&net, tape, edges, graphs);
        let squares = tape.mul(values, values);
        tape.sum(squares)
    });
}

#[test]
fn a_batch_gives_the_bits_of_its_graphs_and_so_does_inference() {
    let net = net(5);
    let [mut forward, mut backward] = path(3, 0);
    let [more_forward, more_backward] = path(2, 3);
    for (all, more) in [(&mut forward, more_forward), (&mut backward, more_backward)] {
        all.sources.extend(more.sources);
        all.targets.extend(more.targets);
    }
    let (edges, graphs) = ([forward, backward], Segments::new([3, 2]));
    let mut tape = Tape::inference(&net.params);
    let both = outputs(&net, &mut tape, &edges, &graphs);
    let both = tape.take(both);
    for (number, rows) in [(0, 0..3), (1, 3..5)] {
        let mut alone = Net { params: net.params.clone(), ..self::net(5) };
        let x = net.params.get(net.x);
        let rows: Vec<&[f32]> = rows.map(|row| x.row(row)).collect();
        *alone.params.get_mut(alone.x) = Matrix::from_rows(&rows);
        let (edges, graphs) = (path(rows.len() as u32, 0), Segments::new([rows.len()]));
        let mut tape = Tape::new(&alone.params);
        let values = outputs(&alone, &mut tape, &edges, &graphs);
        assert_eq!(tape.value(values).row(0), both.row(number));
    }
}
