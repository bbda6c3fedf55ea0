//! One short training run and one solution on ranks of either engine; `.ci/mpi` compares what comes out.
//!
//! `ranks threads RANKS FOLDER`, or `mpirun -np RANKS ranks mpi halo|all-gather|all-reduce|die FOLDER` with feature `mpi`.

use labrys_combopt::learned::dataset::DataConfig;
use labrys_combopt::learned::training::{LearningConfig, LearningError, Team};
use labrys_combopt::learned::{
    DqnConfig, ExchangeMode, LearningRun, LocalGraph, ModelConfig, Ranks, Selection, VertexCover, ranks, rollout,
};
use labrys_comm::Communicator;
use std::ops::ControlFlow;
use std::path::Path;

/// Trains, then solves; says what the solution is.
fn body(comm: &Communicator, mode: ExchangeMode, dies: bool, folder: &Path) -> Result<String, LearningError> {
    let data = DataConfig { nodes: (30, 60), graphs: 4, held_back: 2, ..DataConfig::default() };
    let dataset = data.generate(|graph| graph.nodes() as f64);
    let config = LearningConfig { steps: 40, validate_every: 20, save_every: 20, ..LearningConfig::default() };
    let dqn = DqnConfig { minibatch: 4, n_step: 2, double: true, ..DqnConfig::default() };
    let problem = VertexCover::default();
    let together = Ranks { comm, mode };
    let team = Team::spatial(together);
    let mut run =
        LearningRun::open(folder, (config, ModelConfig::default(), dqn), &problem, &dataset, team, Default::default())?;
    run.run(|progress| {
        assert!(!(dies && comm.rank() == 1 && progress.steps == 10), "this rank dies");
        ControlFlow::Continue(())
    })?;
    let graph = data.graph("solve", 0);
    let local = LocalGraph::new(&graph, comm.size(), comm.rank(), mode);
    let found = rollout(&run.learner().model, &problem, &local, together, Selection::One)?;
    Ok(format!("{} nodes, cover of {}: {:?}", graph.nodes(), found.objective, found.solution))
}

/// One rank of the world that `mpirun` started.
#[cfg(feature = "mpi")]
fn on_mpi(mode: ExchangeMode, dies: bool, folder: &Path) -> Result<Option<String>, Box<dyn std::error::Error>> {
    #[allow(clippy::print_stderr)]
    let report = |error: &LearningError| eprintln!("error: {error}");
    let on_rank = |comm: &Communicator| {
        let _own = ranks::own_pool(1, 1);
        Ok((comm.rank(), body(comm, mode, dies, folder)?))
    };
    let (rank, said) = labrys_comm::mpi::run(on_rank, report)?;
    Ok((rank == 0).then_some(said))
}

#[cfg(not(feature = "mpi"))]
fn on_mpi(_: ExchangeMode, _: bool, _: &Path) -> Result<Option<String>, Box<dyn std::error::Error>> {
    Err("built without the feature mpi".into())
}

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [engine, how, folder] = &args[..] else { return Err("threads RANKS FOLDER, or mpi MODE FOLDER".into()) };
    let mode = match &how[..] {
        "all-gather" => ExchangeMode::AllGather,
        "all-reduce" => ExchangeMode::AllReduce,
        _ => ExchangeMode::Halo,
    };
    let said = if engine == "mpi" {
        on_mpi(mode, how == "die", folder.as_ref())?
    } else {
        ranks::run(how.parse()?, |comm| body(comm, mode, false, folder.as_ref()))?.into_iter().next()
    };
    said.into_iter().for_each(|said| println!("{said}"));
    Ok(())
}
