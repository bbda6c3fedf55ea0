//! `labrys train placement-order`: search for good orders, then imitate them.

use super::{Listener, TrainFlags, descend, read_config};
use crate::error::CliError;
use crate::output;
use labrys_placement::guide::OrderPolicy;
use labrys_placement::guide::imitation::{self, Data, Expert, Imitation};
use labrys_placement::guide::policy::Shape;
use labrys_rl::TrainingConfig;
use labrys_search::Seed;
use serde::Deserialize;
use std::path::Path;

/// Training data in the folder of a run: one expert a line, after a line with what they were made from.
const DATA: &str = "experts.jsonl";
/// Experts between two looks at Ctrl-C.
const BATCH: u64 = 50;

/// The settings of a run.
#[derive(Default, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    data: Data,
    network: Shape,
    training: TrainingConfig,
}

pub(super) fn run(flags: &TrainFlags) -> Result<(), CliError> {
    let config: Config = read_config(flags)?;
    if config.data.graphs == 0 {
        return Err(CliError::input(format!("{}: data.graphs must be at least 1", flags.config.display())));
    }
    std::fs::create_dir_all(&flags.output)
        .map_err(|error| CliError::input(format!("cannot make {}: {error}", flags.output.display())))?;
    let listener = Listener::new();
    let experts = experts(&config.data, &flags.output.join(DATA), &listener)?;
    if experts.len() as u64 != config.data.graphs + config.data.held_back {
        return Ok(());
    }
    let policy = OrderPolicy::new(config.network, Seed(config.training.seed));
    let objective = Imitation::new(policy.clone(), &config.data, &experts).map_err(CliError::bug)?;
    let words = format!(
        "{} synthetic graphs of REGAL's A.1.4, seed {}, unfiltered; orders of {} moves of annealing on one device",
        config.data.graphs, config.data.seed, config.data.work
    );
    let card = policy.card(words, objective.sizes()).map_err(CliError::bug)?;
    descend(flags, config.training, (policy.params, card), &objective, &listener)
}

/// The experts of a run: those on file, and the missing ones, which are added to the file. Fewer than asked for after Ctrl-C.
fn experts(data: &Data, path: &Path, listener: &Listener) -> Result<Vec<Expert>, CliError> {
    let mut experts = read_experts(data, path)?;
    let wanted = data.graphs + data.held_back;
    while (experts.len() as u64) < wanted && !listener.interrupted() {
        let next = experts.len() as u64;
        experts.extend(imitation::experts(data, next..wanted.min(next + BATCH)));
        write_experts(data, &experts, path)?;
        output::say(&format!("{} of {wanted} orders", experts.len()));
    }
    experts.truncate(wanted as usize);
    Ok(experts)
}

/// What experts are made from: they can be used again for any number of graphs.
fn origin(data: &Data) -> String {
    format!("{{\"seed\":{},\"work\":{}}}", data.seed, data.work)
}

fn read_experts(data: &Data, path: &Path) -> Result<Vec<Expert>, CliError> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(vec![]) };
    let in_file = |reason: String| CliError::input(format!("{}: {reason}", path.display()));
    let mut lines = text.lines();
    if lines.next() != Some(&origin(data)) {
        return Err(in_file("orders of another seed or search; give another folder, or delete this file".to_owned()));
    }
    lines.map(|line| serde_json::from_str(line).map_err(|error| in_file(error.to_string()))).collect()
}

fn write_experts(data: &Data, experts: &[Expert], path: &Path) -> Result<(), CliError> {
    output::write(path, |out| {
        writeln!(out, "{}", origin(data))?;
        for expert in experts {
            output::json(out, expert)?;
        }
        Ok(())
    })
}
