//! The graph network against equation 1 written with plain loops, and batches against single graphs.

use labrys_nn::{
    Aggregation, EdgeArrays, GraphBatch, GraphReadout, Matrix, MessagePassing, MessagePassingConfig, Params, Tape,
    Update, matrix::matmul,
};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;

const FEATURES: (usize, usize) = (5, 3);
const HIDDEN: usize = 8;

fn config(rounds: usize, aggregation: Aggregation, update: Update) -> MessagePassingConfig {
    MessagePassingConfig {
        node_features: FEATURES.0,
        edge_features: FEATURES.1,
        hidden: HIDDEN,
        rounds,
        aggregation,
        update,
    }
}

/// A multigraph with parallel edges, loops and lonely nodes.
fn graph(nodes: usize, edges: usize, seed: u64) -> GraphBatch {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut random = |rows, cols| Matrix::new(rows, cols, (0..rows * cols).map(|_| rng.random::<f32>()).collect());
    let features = (random(nodes, FEATURES.0), random(edges, FEATURES.1));
    let ends: EdgeArrays =
        (0..edges).map(|_| (rng.random_range(0..nodes as u32), rng.random_range(0..nodes as u32))).collect();
    GraphBatch::new(features.0, features.1, ends).unwrap()
}

/// A network of which nothing is zero.
fn network(config: MessagePassingConfig) -> (Params, MessagePassing) {
    let (mut params, mut rng) = (Params::new(), Pcg64Mcg::seed_from_u64(7));
    let net = MessagePassing::new(&mut params, "net", config, &mut rng);
    for id in params.ids() {
        if params.get(id).data.iter().all(|&x| x == 0.0) {
            params.get_mut(id).data.iter_mut().for_each(|x| *x = rng.random::<f32>() - 0.5);
        }
    }
    (params, net)
}

/// Equation 1, node by node and edge by edge, with the weights of the network by their names.
struct Oracle<'p> {
    params: &'p Params,
    config: MessagePassingConfig,
}

impl Oracle<'_> {
    fn get(&self, name: &str) -> &Matrix {
        self.params.get(self.params.find(&format!("net.{name}")).unwrap())
    }

    fn linear(&self, x: &[f32], weights: &str, bias: &str) -> Vec<f32> {
        let product = matmul(&Matrix::from_rows(&[x]), self.get(weights));
        product.data.iter().zip(&self.get(bias).data).map(|(x, b)| x + b).collect()
    }

    fn encode(&self, part: &str, x: &[f32]) -> Vec<f32> {
        let inner = self.linear(x, &format!("{part}.0.weights"), &format!("{part}.0.bias"));
        self.linear(&relu(inner), &format!("{part}.1.weights"), &format!("{part}.1.bias"))
    }

    /// `MLP_msg([h_s, h_t, h_e])` along or against an edge.
    fn message(&self, source: &[f32], target: &[f32], edge: &[f32], way: usize) -> Vec<f32> {
        let block = |m: &Matrix, index: usize| {
            Matrix::from_rows(&m.iter_rows().map(|row| &row[index * HIDDEN..][..HIDDEN]).collect::<Vec<_>>())
        };
        let nodes = self.get("message.nodes");
        let terms = [
            matmul(&Matrix::from_rows(&[source]), &block(nodes, 2 * way)),
            matmul(&Matrix::from_rows(&[target]), &block(nodes, 2 * way + 1)),
            matmul(&Matrix::from_rows(&[edge]), &block(self.get("message.edges"), way)),
            block(self.get("message.bias"), way),
        ];
        let inner = (0..HIDDEN).map(|i| terms.iter().map(|term| term.data[i]).sum()).collect();
        let name = ["along", "against"][way];
        self.linear(&relu(inner), &format!("message.{name}.weights"), &format!("message.{name}.bias"))
    }

    fn update(&self, h: &[f32], messages: &[Vec<f32>; 2]) -> Vec<f32> {
        let row = |x: &[f32], name: &str| matmul(&Matrix::from_rows(&[x]), self.get(name)).data;
        let own = row(h, "update.state");
        let received = add(&row(&messages[0], "update.along"), &row(&messages[1], "update.against"));
        let received = add(&received, &self.get("update.bias").data);
        if self.config.update == Update::Gru {
            return gru(&received, &own, h);
        }
        let change = self.linear(&relu(add(&own, &received)), "update.out.weights", "update.out.bias");
        if self.config.update == Update::Residual { add(h, &change) } else { change }
    }

    fn run(&self, graph: &GraphBatch) -> Vec<Vec<f32>> {
        let mut h: Vec<Vec<f32>> = graph.node_features().iter_rows().map(|x| self.encode("nodes", x)).collect();
        let edges: Vec<Vec<f32>> = graph.edge_features().iter_rows().map(|x| self.encode("edges", x)).collect();
        let ends = graph.edge_arrays();
        for _ in 0..self.config.rounds {
            let mut sums = vec![[vec![0.0; HIDDEN], vec![0.0; HIDDEN]]; h.len()];
            let mut counts = vec![[0.0f32; 2]; h.len()];
            for (edge, features) in edges.iter().enumerate() {
                let (s, t) = (ends.sources[edge] as usize, ends.targets[edge] as usize);
                for (way, node) in [t, s].into_iter().enumerate() {
                    sums[node][way] = add(&sums[node][way], &self.message(&h[s], &h[t], features, way));
                    counts[node][way] += 1.0;
                }
            }
            if self.config.aggregation == Aggregation::Mean {
                for (sum, count) in sums.iter_mut().flatten().zip(counts.iter().flatten()) {
                    sum.iter_mut().for_each(|x| *x /= count.max(1.0));
                }
            }
            h = h.iter().zip(&sums).map(|(h, messages)| self.update(h, messages)).collect();
        }
        h
    }
}

fn relu(x: Vec<f32>) -> Vec<f32> {
    x.into_iter().map(|x| x.max(0.0)).collect()
}

fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(x, y)| x + y).collect()
}

fn gru(x: &[f32], s: &[f32], h: &[f32]) -> Vec<f32> {
    let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
    let unit = |i: usize| {
        let (reset, update) = (sigmoid(x[i] + s[i]), sigmoid(x[HIDDEN + i] + s[HIDDEN + i]));
        let candidate = (x[2 * HIDDEN + i] + reset * s[2 * HIDDEN + i]).tanh();
        (1.0 - update) * candidate + update * h[i]
    };
    (0..HIDDEN).map(unit).collect()
}

fn states(net: &MessagePassing, params: &Params, graph: &GraphBatch, record: bool) -> Matrix {
    let mut tape = if record { Tape::new(params) } else { Tape::inference(params) };
    let h = net.forward(&mut tape, graph);
    tape.take(h)
}

fn variants() -> impl Strategy<Value = MessagePassingConfig> {
    let aggregations = prop_oneof![Just(Aggregation::Sum), Just(Aggregation::Mean)];
    let updates = prop_oneof![Just(Update::Residual), Just(Update::Plain), Just(Update::Gru)];
    (0..5usize, aggregations, updates).prop_map(|(rounds, aggregation, update)| config(rounds, aggregation, update))
}

proptest! {
    #[test]
    fn is_equation_1(config in variants(), nodes in 1..9usize, edges in 0..20usize, seed in 0..1000u64) {
        let graph = graph(nodes, edges, seed);
        let (params, net) = network(config);
        let expected = Matrix::from_rows(&Oracle { params: &params, config }.run(&graph));
        let found = states(&net, &params, &graph, true);
        prop_assert_eq!(found.shape(), expected.shape());
        // Sums of up to 20 messages over 4 rounds grow; so does their rounding.
        let scale = expected.data.iter().fold(1.0f32, |most, x| most.max(x.abs()));
        for (x, y) in found.data.iter().zip(&expected.data) {
            prop_assert!((x - y).abs() <= 2e-5 * scale, "{} instead of {}", x, y);
        }
        prop_assert_eq!(found, states(&net, &params, &graph, false));
    }

    #[test]
    fn a_batch_is_its_graphs_one_by_one(config in variants(), sizes in prop::collection::vec((1..40usize, 0..60usize), 1..5)) {
        let graphs: Vec<GraphBatch> = sizes.iter().enumerate().map(|(i, &(n, e))| graph(n, e, i as u64)).collect();
        let joined = GraphBatch::join(&graphs.iter().collect::<Vec<_>>());
        let (mut params, net) = network(config);
        let readout = GraphReadout::new(&mut params, "readout", HIDDEN, 2, &mut Pcg64Mcg::seed_from_u64(1));
        let run = |graph: &GraphBatch| {
            let mut tape = Tape::inference(&params);
            let h = net.forward(&mut tape, graph);
            let graphs = readout.forward(&mut tape, h, graph.graphs());
            (tape.take(h).data, tape.take(graphs).data)
        };
        let singles: Vec<_> = graphs.iter().map(run).collect();
        let whole = run(&joined);
        prop_assert_eq!(whole.0, singles.iter().flat_map(|(h, _)| h.clone()).collect::<Vec<_>>());
        prop_assert_eq!(whole.1, singles.iter().flat_map(|(_, g)| g.clone()).collect::<Vec<_>>());
    }

    #[test]
    fn gradients_point_up_hill(config in variants(), seed in 0..1000u64) {
        let graph = graph(6, 11, seed);
        let (params, net) = network(config);
        // Double precision for the sum, so that the difference of two losses is not all rounding.
        let loss = |params: &Params| states(&net, params, &graph, false).data.iter().map(|&x| f64::from(x.tanh())).sum::<f64>();
        let gradients = {
            let mut tape = Tape::new(&params);
            let h = net.forward(&mut tape, &graph);
            let squashed = tape.tanh(h);
            let sum = tape.sum(squashed);
            tape.backward(sum)
        };
        let norm = gradients.norm();
        let moved = |step: f64| {
            let mut moved = params.clone();
            for id in params.ids() {
                let direction = gradients.get(id).data.iter();
                moved.get_mut(id).data.iter_mut().zip(direction).for_each(|(x, g)| *x += (step * f64::from(*g) / norm) as f32);
            }
            loss(&moved)
        };
        // Along the gradient the loss rises by its norm. Large steps meet kinks of the rectifiers, small ones rounding; of a kink that is
        // nearer than the smallest step only one side belongs to the gradient.
        let here = loss(&params);
        let rises = [0.05, 0.02, 0.005, 0.002, 0.0005].map(|change| {
            let step = (change / norm).min(2e-3);
            let (up, down) = ((moved(step) - here) / step, (here - moved(-step)) / step);
            [(up + down) / 2.0, up, down]
        });
        let agrees = |rise: &f64| (rise - norm).abs() <= 0.03 * norm + 1e-2;
        prop_assert!(rises.as_flattened().iter().any(agrees), "rises by {:?}, but the gradient is {}", rises, norm);
    }
}

#[test]
fn sixteen_rounds_start_in_range() {
    let graph = graph(200, 1620, 1);
    for aggregation in [Aggregation::Sum, Aggregation::Mean] {
        for update in [Update::Residual, Update::Plain, Update::Gru] {
            let mut params = Params::new();
            let config = config(16, aggregation, update);
            let net = MessagePassing::new(&mut params, "net", config, &mut Pcg64Mcg::seed_from_u64(7));
            let most = states(&net, &params, &graph, false).data.iter().fold(0.0f32, |most, x| most.max(x.abs()));
            // Sums without a residual or a gate grow with every round: equation 1 as it stands wants means.
            let explodes = (aggregation, update) == (Aggregation::Sum, Update::Plain);
            assert!(explodes || most < 30.0, "{config:?}: {most}");
        }
    }
}

#[test]
fn an_empty_graph_has_no_states() {
    let (params, net) = network(config(3, Aggregation::Mean, Update::Residual));
    assert_eq!(states(&net, &params, &graph(0, 0, 1), true).shape(), (0, HIDDEN));
    let both = GraphBatch::join(&[&graph(0, 0, 1), &graph(4, 5, 1)]);
    assert_eq!(states(&net, &params, &both, true), states(&net, &params, &graph(4, 5, 1), true));
}

#[test]
fn edges_beyond_the_nodes_are_refused() {
    let build = |edges: &[(u32, u32)], features: usize| {
        GraphBatch::new(Matrix::zeros(3, 1), Matrix::zeros(features, 1), edges.iter().copied().collect())
    };
    let message = build(&[(0, 1), (2, 3)], 2).unwrap_err().to_string();
    assert_eq!(message, "edge 1 goes from node 2 to node 3, but there are 3 nodes, numbered from 0");
    assert_eq!(build(&[(0, 1)], 2).unwrap_err().to_string(), "1 edges, but features for 2");
    assert_eq!(build(&[(0, 1)], 1).unwrap().nodes(), 3);
}
