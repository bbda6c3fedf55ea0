//! A trained policy as the guide of a solver.

use super::blocks::LocalGraph;
use super::environment::{Features, MaxCut, Problem, Reward, VertexCover};
use super::incremental::incremental;
use super::model::{Model, ModelError};
use super::rollout::{Rollout, Selection};
use labrys_comm::CommError;
use labrys_graph::Graph;
use labrys_nn::Checkpoint;
use labrys_search::Guide;

/// A policy with the problem that it was trained for.
pub struct Learned {
    model: Model,
    problem: Box<dyn Problem>,
    /// How many nodes each evaluation picks.
    pub selection: Selection,
}

impl Learned {
    /// The policy in a file of `labrys train vertex-cover` or `max-cut`.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Result<Self, ModelError> {
        let card = &checkpoint.card;
        let features = card.details.get("features").cloned().unwrap_or_default();
        let features: Features =
            serde_json::from_value(features).map_err(|error| ModelError::Card(format!("features: {error}")))?;
        let problem: Box<dyn Problem> = match &card.problem[..] {
            "vertex-cover" => Box::new(VertexCover { features, reward: Reward::Steps }),
            "max-cut" => Box::new(MaxCut { features }),
            other => return Err(ModelError::Card(format!("it was trained for {other:?}"))),
        };
        let model = Model::from_checkpoint(checkpoint)?;
        if model.config.features != problem.features() {
            return Err(ModelError::Card("the network takes another number of features than its problem has".into()));
        }
        Ok(Self { model, problem, selection: Selection::One })
    }

    /// Name of the problem.
    pub fn problem(&self) -> &'static str {
        self.problem.name()
    }

    /// The network.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The solution that the policy constructs alone.
    pub fn construct(&self, graph: &Graph) -> Result<Rollout, CommError> {
        incremental(&self.model, &*self.problem, &LocalGraph::whole(graph), self.selection)
    }
}

impl Guide<Graph> for Learned {
    type Advice = Vec<f32>;

    /// Nodes in the order in which the policy picks them: the first has the highest score. Those that it never picks, 0.
    fn advise(&self, graph: &Graph) -> Vec<f32> {
        let mut scores = vec![0.0; graph.nodes()];
        // One rank does not fail; without advice a solver goes its own way.
        let picked = self.construct(graph).map(|found| found.solution).unwrap_or_default();
        let count = picked.len();
        for (place, node) in picked.into_iter().enumerate() {
            scores[node as usize] = (count - place) as f32;
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learned::model::ModelConfig;
    use labrys_graph::generate;
    use labrys_nn::ModelCard;
    use labrys_search::Seed;

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
        let (advice, found) = (guide.advise(&graph), guide.construct(&graph).unwrap());
        assert!(found.solution.windows(2).all(|pair| advice[pair[0] as usize] > advice[pair[1] as usize]));
        assert_eq!(advice.iter().filter(|&&score| score > 0.0).count(), found.solution.len());
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
