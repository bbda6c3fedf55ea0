//! Trained policies as the guide of a solver.

use super::blocks::LocalGraph;
use super::environment::{Features, IndependentSet, MaxCut, Problem, Reward, VertexCover};
use super::incremental::incremental_until;
use super::model::{Model, ModelError};
use super::rollout::{Rollout, Selection};
use labrys_comm::CommError;
use labrys_graph::Graph;
use labrys_nn::Checkpoint;
use labrys_search::{Guide, Stopwatch};

/// The policies for covers that come with the program: of Erdos-Renyi and of Barabasi-Albert graphs.
const RELEASED: [&[u8]; 2] = [
    include_bytes!("../../../../models/vertex-cover-er.safetensors"),
    include_bytes!("../../../../models/vertex-cover-ba.safetensors"),
];

/// One policy with the problem that it was trained for, or several of the same problem, of which the best solution counts.
pub struct Learned {
    policies: Vec<(Model, Box<dyn Problem>)>,
    /// How many nodes each evaluation picks.
    pub selection: Selection,
    watch: Option<Stopwatch>,
}

impl Learned {
    /// The policies for vertex cover that come with the program.
    ///
    /// # Errors
    /// None in a program that was built from a whole repository.
    pub fn released() -> Result<Self, ModelError> {
        let policies =
            RELEASED.iter().map(|bytes| policy(&Checkpoint::from_bytes(bytes)?)).collect::<Result<_, _>>()?;
        Ok(Self { policies, selection: Selection::One, watch: None })
    }

    /// The policy in a file of `labrys train vertex-cover`, `independent-set` or `max-cut`.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Result<Self, ModelError> {
        Ok(Self { policies: vec![policy(checkpoint)?], selection: Selection::One, watch: None })
    }

    /// Gives up when a watch rings: there is no advice then.
    #[must_use]
    pub fn until(self, watch: Stopwatch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Name of the problem.
    pub fn problem(&self) -> &'static str {
        self.policies.first().map_or("", |(_, problem)| problem.name())
    }

    /// The networks.
    pub fn models(&self) -> impl Iterator<Item = &Model> {
        self.policies.iter().map(|(model, _)| model)
    }

    /// The solution that the best policy constructs alone; none if there was no time for one.
    pub fn construct(&self, graph: &Graph) -> Result<Option<Rollout>, CommError> {
        let graph = LocalGraph::whole(graph);
        let mut stop = || self.watch.as_ref().is_some_and(Stopwatch::rings);
        let mut best: Option<Rollout> = None;
        for (model, problem) in &self.policies {
            let found = incremental_until(model, &**problem, &graph, self.selection, &mut stop)?;
            let value = |found: &Rollout| if problem.minimises() { -found.objective } else { found.objective };
            if found.complete && best.as_ref().is_none_or(|best| value(&found) > value(best)) {
                best = Some(found);
            }
        }
        Ok(best)
    }
}

fn policy(checkpoint: &Checkpoint) -> Result<(Model, Box<dyn Problem>), ModelError> {
    let card = &checkpoint.card;
    let features = card.details.get("features").cloned().unwrap_or_default();
    let features: Features =
        serde_json::from_value(features).map_err(|error| ModelError::Card(format!("features: {error}")))?;
    let problem: Box<dyn Problem> = match &card.problem[..] {
        "vertex-cover" => Box::new(VertexCover { features, reward: Reward::Steps }),
        "independent-set" => Box::new(IndependentSet { features, reward: Reward::Steps }),
        "max-cut" => Box::new(MaxCut { features }),
        other => return Err(ModelError::Card(format!("it was trained for {other:?}"))),
    };
    let model = Model::from_checkpoint(checkpoint)?;
    if model.config.features != problem.features() {
        return Err(ModelError::Card("the network takes another number of features than its problem has".into()));
    }
    Ok((model, problem))
}

impl Guide<Graph> for Learned {
    type Advice = Vec<f32>;

    /// Nodes in the order in which the policy picks them: the first has the highest score, those that it never picks have
    /// 0. An independent set is what a cover leaves: those that it picks first have the lowest scores.
    fn advise(&self, graph: &Graph) -> Vec<f32> {
        // One rank does not fail; without advice a solver goes its own way.
        let Some(found) = self.construct(graph).ok().flatten() else { return vec![] };
        let sign = if self.problem() == "independent-set" { -1.0 } else { 1.0 };
        let mut scores = vec![0.0; graph.nodes()];
        for (place, &node) in found.solution.iter().enumerate() {
            scores[node as usize] = sign * (found.solution.len() - place) as f32;
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cover;
    use crate::learned::model::ModelConfig;
    use labrys_graph::generate;
    use labrys_nn::ModelCard;
    use labrys_search::{Limits, Runner, Seed};

    fn card(problem: &str) -> ModelCard {
        let features = serde_json::to_value(Features::State).unwrap();
        ModelCard {
            problem: problem.into(),
            details: [("features".to_owned(), features)].into(),
            ..ModelCard::default()
        }
    }

    #[test]
    fn advice_orders_the_picked_nodes() {
        let config = ModelConfig { features: VertexCover::default().features(), ..ModelConfig::default() };
        let checkpoint = Model::new(config, Seed(1)).unwrap().to_checkpoint(card("vertex-cover")).unwrap();
        let guide = Learned::from_checkpoint(&checkpoint).unwrap();
        let graph = Graph::from_edges(50, generate::erdos_renyi(50, 0.1, &mut Seed(2).stream("graph", 0)));
        let (advice, found) = (guide.advise(&graph), guide.construct(&graph).unwrap().unwrap());
        assert!(found.solution.windows(2).all(|pair| advice[pair[0] as usize] > advice[pair[1] as usize]));
        assert_eq!(advice.iter().filter(|&&score| score > 0.0).count(), found.solution.len());
    }

    /// The cover that the advice of a policy for independent sets leads to is what its set leaves.
    #[test]
    fn sets_are_what_covers_leave() {
        let config = ModelConfig { features: IndependentSet::default().features(), ..ModelConfig::default() };
        let checkpoint = Model::new(config, Seed(1)).unwrap().to_checkpoint(card("independent-set")).unwrap();
        let guide = Learned::from_checkpoint(&checkpoint).unwrap();
        let graph = Graph::from_edges(60, generate::erdos_renyi(60, 0.1, &mut Seed(3).stream("graph", 0)));
        let found = guide.construct(&graph).unwrap().unwrap();
        let cover = cover::greedy::by_advice(&graph, &guide.advise(&graph));
        assert!(cover::size(&cover) <= 60 - found.solution.len());
    }

    #[test]
    fn released_policies_agree_with_their_best_and_stop_in_time() {
        let guide = Learned::released().unwrap();
        let graph = Graph::from_edges(80, generate::barabasi_albert(80, 4, &mut Seed(2).stream("graph", 0)));
        let best = guide.construct(&graph).unwrap().unwrap().objective;
        let alone = |bytes| Learned::from_checkpoint(&Checkpoint::from_bytes(bytes).unwrap()).unwrap();
        let each = RELEASED.map(|bytes| alone(bytes).construct(&graph).unwrap().unwrap().objective);
        assert_eq!(each.into_iter().min(), Some(best));
        let limits = Limits { time: Some(std::time::Duration::ZERO), work: None };
        let late = guide.until(Runner::<()>::new(limits, Seed(0)).stopwatch());
        assert_eq!((late.construct(&graph), late.advise(&graph)), (Ok(None), vec![]));
    }

    #[test]
    fn other_models_are_refused() {
        let config = ModelConfig { features: 3, ..ModelConfig::default() };
        let model = Model::new(config, Seed(1)).unwrap();
        for problem in ["vertex-cover", "placement/makespan"] {
            assert!(Learned::from_checkpoint(&model.to_checkpoint(card(problem)).unwrap()).is_err());
        }
    }
}
