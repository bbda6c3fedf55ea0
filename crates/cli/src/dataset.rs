//! Real models as data sets (REGAL A.1.2): found in a folder, without repetitions and without hopeless ones, split by topology.

use crate::error::CliError;
use crate::load::ModelFlags;
use labrys_dataflow::Graph;
use labrys_placement::learned::augment::{Split, fingerprint};
use labrys_placement::solve::{self, Method};
use labrys_placement::{Objective, Problem, Settings, Weights};
use labrys_search::{Limits, Runner, Seed};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names the folder of instances.
const VARIABLE: &str = "LABRYS_INSTANCES";
/// Where they are in a checkout beside which the data lie.
const BESIDE: &str = "../shared/data";
/// Folders of models within it.
const FOLDERS: [&str; 3] = ["onnx", "hlo", "hlo-production"];
/// Graphs on which uniform BRKGA of 5,000 evaluations is closer than this to a proven bound have no room for improvement.
const LEAST_ROOM: f64 = 0.01;

/// One model.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    pub(crate) name: String,
    pub(crate) fingerprint: String,
    pub(crate) graph: Graph,
}

/// Models for training and validation; the others are for tests.
pub(crate) struct Sets {
    pub(crate) training: Vec<Topology>,
    pub(crate) validation: Vec<Topology>,
}

/// The folder that the user names, or that of the environment, or the usual one.
pub(crate) fn folder(named: Option<&Path>) -> PathBuf {
    let from_environment = || std::env::var_os(VARIABLE).map(PathBuf::from);
    named.map(Path::to_owned).or_else(from_environment).unwrap_or_else(|| BESIDE.into())
}

/// Every model below a folder with at most `most_ops` ops, distinct by topology, with room for improvement; sorted by number of
/// ops, then name.
pub(crate) fn topologies(
    folder: &Path,
    objective: Objective,
    devices: usize,
    most_ops: usize,
) -> Result<Vec<Topology>, CliError> {
    let mut seen = BTreeSet::new();
    let mut all: Vec<Topology> = paths(folder)?.iter().filter_map(|path| read(path)).collect();
    all.retain(|topology| topology.graph.op_count() <= most_ops);
    all.sort_by(|a, b| (a.graph.op_count(), &a.name).cmp(&(b.graph.op_count(), &b.name)));
    all.retain(|topology| seen.insert(topology.fingerprint.clone()));
    let room: Vec<bool> =
        all.par_iter().map(|topology| has_room(&problem(topology.graph.clone(), objective, devices))).collect();
    let mut room = room.into_iter();
    all.retain(|_| room.next() == Some(true));
    if all.is_empty() {
        let hint = format!("give the folder with --data or {VARIABLE}");
        return Err(CliError::input(format!("{} holds no models to use", folder.display())).with_hint(Some(hint)));
    }
    Ok(all)
}

/// Training and validation sets of models sorted by size.
pub(crate) fn split(all: Vec<Topology>) -> Sets {
    let mut sets = Sets { training: vec![], validation: vec![] };
    for (rank, topology) in all.into_iter().enumerate() {
        match Split::of_rank(rank) {
            Split::Train => sets.training.push(topology),
            Split::Validation => sets.validation.push(topology),
            Split::Test => {}
        }
    }
    sets
}

/// The paper's problem: equal devices, free links, weights not counted.
pub(crate) fn problem(graph: Graph, objective: Objective, devices: usize) -> Problem {
    let mut settings = Settings::new(devices, objective);
    settings.weights = Weights::Ignored;
    settings.problem(graph).expect("plain settings fit every graph")
}

/// Whether there is something to gain over BRKGA 5K.
fn has_room(problem: &Problem) -> bool {
    let mut run = Runner::new(Limits { work: Some(5_000), time: None }, Seed(0));
    solve::solve(problem, Method::Brkga, solve::Effort::Search, None, &mut run);
    let value = run.best_score().map_or(0.0, |score| score.value as f64);
    value > (1.0 + LEAST_ROOM) * solve::bound(problem).max(1) as f64
}

/// All files in the known folders, or in the folder itself if it has none of them.
fn paths(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let known: Vec<PathBuf> = FOLDERS.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()).collect();
    let folders = if known.is_empty() { vec![folder.to_owned()] } else { known };
    let mut paths = vec![];
    for folder in folders {
        let failed = |error: std::io::Error| CliError::input(format!("{}: {error}", folder.display()));
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            paths.extend(path.is_file().then_some(path));
        }
    }
    paths.sort();
    Ok(paths)
}

/// The model in a file with the run times of the default device, if it is one.
fn read(path: &Path) -> Option<Topology> {
    let loaded = ModelFlags::default().load(&path.to_string_lossy()).ok()?;
    let graph = Graph::clone(&problem(loaded.graph, Objective::Makespan, 1).graph);
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(Topology { name, fingerprint: fingerprint(&graph), graph })
}
