//! A training run as a library call: vertex covers of random graphs, measured against min-degree greedy.
//!
//! `cargo run --release -p labrys-combopt --example learn -- FOLDER er|ba|both STEPS [KEY=VALUE ...]`

use labrys_combopt::cover::{self, greedy};
use labrys_combopt::learned::dataset::{DataConfig, Family};
use labrys_combopt::learned::training::{LearningConfig, Team};
use labrys_combopt::learned::{DqnConfig, ExchangeMode, LearningRun, ModelConfig, Ranks, VertexCover};
use labrys_comm::Communicator;
use std::ops::ControlFlow;

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, family, steps, settings @ ..] = &args[..] else {
        return Err("FOLDER er|ba|both STEPS [KEY=VALUE ...]".into());
    };
    let families = match &family[..] {
        "er" => vec![Family::Er],
        "ba" => vec![Family::Ba],
        _ => vec![Family::Er, Family::Ba],
    };
    let dataset = DataConfig { families, ..DataConfig::default() }
        .generate(|graph| cover::size(&greedy::min_degree(graph)) as f64);
    let config = LearningConfig { steps: steps.parse()?, ..LearningConfig::default() };
    let mut model = ModelConfig::default();
    let mut dqn = DqnConfig { double: true, n_step: 2, ..DqnConfig::default() };
    for setting in settings {
        let (key, value) = setting.split_once('=').ok_or("KEY=VALUE")?;
        match key {
            "lr" => dqn.learning_rate = value.parse()?,
            "last" => dqn.last_learning_rate = Some(value.parse()?),
            "n" => dqn.n_step = value.parse()?,
            "batch" => dqn.minibatch = value.parse()?,
            "discount" => dqn.discount = value.parse()?,
            "epsilon" => dqn.epsilon.1 = value.parse()?,
            "layers" => model.layers = value.parse()?,
            "target" => dqn.target_every = value.parse()?,
            _ => return Err(format!("no setting {key}").into()),
        }
    }
    let comm = Communicator::alone();
    let ranks = Ranks { comm: &comm, mode: ExchangeMode::AllGather };
    let problem = VertexCover::default();
    let settings = (config, model, dqn);
    let mut run =
        LearningRun::open(folder.as_ref(), settings, &problem, &dataset, Team::spatial(ranks), Default::default())?;
    run.run(|progress| {
        if let Some(figures) = progress.validation {
            println!("{} {figures:?}", progress.steps);
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
