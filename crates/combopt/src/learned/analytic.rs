//! The paper's model of run time (section 6, equations 3 to 7), and the same for the kernels here.

/// Sizes of a problem: symbols of table 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    /// B, graphs in a batch.
    pub batch: f64,
    /// N, nodes of a graph.
    pub nodes: f64,
    /// Probability of an edge.
    pub density: f64,
    /// K, length of an embedding.
    pub dimension: f64,
    /// L, rounds.
    pub layers: f64,
}

/// What a machine takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Machine {
    /// Seconds for a unit of work of the formulas.
    pub work: f64,
    /// Seconds until a message arrives: alpha.
    pub latency: f64,
    /// Seconds for a value of a message: beta.
    pub value: f64,
}

/// Work, numbers of messages one after the other, and values sent, for some ranks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Units of work of the busiest rank.
    pub work: f64,
    /// Messages that wait for one another.
    pub messages: f64,
    /// Values that a rank sends.
    pub values: f64,
}

impl Cost {
    /// Seconds on a machine.
    pub fn seconds(&self, machine: &Machine) -> f64 {
        self.work * machine.work + self.messages * machine.latency + self.values * machine.value
    }

    fn plus(self, other: Self) -> Self {
        Self {
            work: self.work + other.work,
            messages: self.messages + other.messages,
            values: self.values + other.values,
        }
    }
}

/// Equation 3: embeddings of a batch on `ranks` ranks. With one rank it is equation 4.
pub fn embedding(size: &Size, ranks: f64) -> Cost {
    let Size { batch, nodes, density, dimension: k, layers } = *size;
    let inner = density + layers + (2.0 + k + k * layers + 3.0 * layers) / nodes;
    Cost {
        work: nodes * nodes / ranks * batch * k * inner,
        messages: layers * ranks.log2(),
        values: if ranks > 1.0 { layers * batch * k * nodes } else { 0.0 },
    }
}

/// Equation 5: scores of a batch on `ranks` ranks. With one rank it is equation 6.
pub fn action(size: &Size, ranks: f64) -> Cost {
    let Size { batch, nodes, dimension: k, .. } = *size;
    Cost {
        work: batch * k * nodes / ranks * (5.0 + k + k * ranks / nodes),
        messages: ranks.log2(),
        values: if ranks > 1.0 { batch * k } else { 0.0 },
    }
}

/// Section 6 (3): candidates, states and training data of the environment, without messages.
pub fn environment(size: &Size, ranks: f64) -> Cost {
    let arcs = size.nodes * size.nodes * size.density;
    let work = arcs * (1.0 / (ranks * ranks) + 1.0 / ranks) + 4.0 * arcs * size.batch / ranks;
    Cost { work, messages: 0.0, values: 0.0 }
}

/// A step of inference by the paper's formulas.
pub fn inference_step(size: &Size, ranks: f64) -> Cost {
    embedding(size, ranks).plus(action(size, ranks)).plus(environment(size, ranks))
}

/// The same for the kernels here: each arc is read once in every round but the first, rows go through L + 1 products, and
/// ranks exchange their blocks of rows, an all-gather.
pub fn inference_step_here(size: &Size, ranks: f64) -> Cost {
    let Size { batch, nodes, density, dimension: k, layers } = *size;
    let arcs = nodes * nodes * density;
    let rounds = layers - 1.0;
    Cost {
        work: batch * k / ranks * (arcs * rounds + nodes * k * (rounds + 1.0)),
        messages: (rounds + 2.0) * ranks.log2(),
        values: rounds * batch * k * nodes * (ranks - 1.0) / ranks,
    }
}

/// T(1) / (P T(P)), equation 7 for the part that a cost describes.
pub fn efficiency(cost: impl Fn(f64) -> Cost, ranks: f64, machine: &Machine) -> f64 {
    cost(1.0).seconds(machine) / (ranks * cost(ranks).seconds(machine))
}

/// The machine whose steps are nearest to measured ones, by ratio: seconds of work are fitted, messages are measured.
pub fn fit(measured: &[(Cost, f64)], latency: f64, value: f64) -> Machine {
    let logs = measured.iter().map(|(cost, seconds)| {
        let messages = cost.messages * latency + cost.values * value;
        ((seconds - messages).max(seconds * 1e-3) / cost.work).ln()
    });
    let work = (logs.sum::<f64>() / measured.len().max(1) as f64).exp();
    Machine { work, latency, value }
}

/// The paper's figure 7: nodes of the ER graph, ranks, seconds of a step of inference and of training.
pub const FIGURE_7: [(f64, f64, f64, f64); 4] = [
    (19_200.0, 6.0, 10.9, 96.9),
    (19_200.0, 192.0, 0.2, 3.2),
    (24_000.0, 6.0, 19.2, 151.0),
    (24_000.0, 192.0, 0.4, 4.7),
];

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { batch: 1.0, nodes: 19_200.0, density: 0.15, dimension: 16.0, layers: 2.0 };
    const FAST: Machine = Machine { work: 1e-9, latency: 1e-6, value: 1e-9 };

    #[test]
    fn one_rank_is_the_sequential_formula() {
        let Size { batch: b, nodes: n, density: rho, dimension: k, layers: l } = SIZE;
        let sequential = n * n * b * k * (rho + l + (2.0 + k + k * l + 3.0 * l) / n);
        assert_eq!(embedding(&SIZE, 1.0), Cost { work: sequential, messages: 0.0, values: 0.0 });
        assert_eq!(action(&SIZE, 1.0).work, b * k * n * (5.0 + k + k / n));
    }

    #[test]
    fn efficiency_is_near_one_for_large_graphs_and_falls_with_ranks() {
        let at = |ranks: f64| efficiency(|ranks| inference_step(&SIZE, ranks), ranks, &FAST);
        assert!((at(1.0) - 1.0).abs() < 1e-12 && at(6.0) > 0.99 && at(192.0) > 0.9 && at(192.0) < at(6.0) + 0.1);
    }

    #[test]
    fn a_fit_finds_the_machine_again() {
        let costs = [2.0, 4.0, 8.0].map(|ranks| inference_step_here(&SIZE, ranks));
        let measured = costs.map(|cost| (cost, cost.seconds(&FAST)));
        let found = fit(&measured, FAST.latency, FAST.value);
        assert!((found.work / FAST.work - 1.0).abs() < 1e-9);
    }
}
