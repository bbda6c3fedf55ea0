//! `labrys bench rewrite --figures FOLDER`: figures 4 and 6 of the draft, from training runs that differ in their seeds.

use super::curves::{Curve, chart, run_folder, table};
use crate::error::CliError;
use crate::output;
use crate::train::rewrite::{Config, train};
use crate::train::{Listener, read_config_file};
use clap::Args;
use labrys_compiler::value::explore::Algorithm;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub(crate) struct FigureFlags {
    /// Train networks with several seeds and write the draft's figures 4 and 6 into this folder as SVG and JSON, instead of the table
    /// of methods; runs that are there go on, or are taken as they are
    #[arg(long, value_name = "FOLDER", requires = "configs")]
    figures: Option<PathBuf>,
    /// Settings of the runs, one file for each set of expressions, as for `labrys train rewrite`
    #[arg(long = "config", value_name = "FILE", requires = "figures")]
    configs: Vec<PathBuf>,
    /// Runs of each kind
    #[arg(long, value_name = "N", default_value_t = 10, requires = "figures")]
    runs: u64,
}

/// What a network learns from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Variant {
    /// A*, as the settings say.
    AStar,
    /// Monte Carlo tree search (appendix C).
    Mcts,
    /// A*, without message passing: the network sees no structure.
    NoGraph,
}

impl Variant {
    const ALL: [Self; 3] = [Self::AStar, Self::Mcts, Self::NoGraph];

    fn name(self) -> &'static str {
        match self {
            Self::AStar => "astar",
            Self::Mcts => "mcts",
            Self::NoGraph => "no-graph",
        }
    }

    fn settings(self, config: &Config, seed: u64) -> Config {
        let mut config = config.clone();
        config.training.seed = seed;
        config.search.compare = true;
        match self {
            Self::AStar => config.search.algorithm = Algorithm::AStar,
            Self::Mcts => config.search.algorithm = Algorithm::Mcts,
            Self::NoGraph => config.network.rounds = 0,
        }
        config
    }
}

/// The curves of one set of expressions.
#[derive(serde::Serialize)]
struct Study {
    name: String,
    /// Totals that are no curves: the start, and methods that do not learn.
    references: Vec<(String, f64)>,
    /// By training and test algorithm.
    curves: Vec<Curve>,
}

impl FigureFlags {
    /// The folder to write figures to, if there shall be any.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.figures.as_deref()
    }

    /// Trains, reads the curves, and writes figures and tables; `references` gives the totals of methods that do not learn.
    pub(crate) fn run(
        &self,
        folder: &Path,
        references: impl Fn(&Config) -> Result<Vec<(String, f64)>, CliError>,
    ) -> Result<(), CliError> {
        let listener = Listener::new();
        let mut text = String::new();
        for path in &self.configs {
            let config: Config = read_config_file(path, &[])?;
            let name = path.file_stem().map_or_else(|| "set".into(), |name| name.to_string_lossy().into_owned());
            let study = self.study(folder, name, &config, references(&config)?, &listener)?;
            study.write(folder)?;
            text.push_str(&study.text());
        }
        output::to_stdout(|out| out.write_all(text.as_bytes()))
    }

    fn study(
        &self,
        folder: &Path,
        name: String,
        config: &Config,
        references: Vec<(String, f64)>,
        listener: &Listener,
    ) -> Result<Study, CliError> {
        let expressions = config.data.explorer(config.search)?.held_back();
        let mut curves = vec![];
        for variant in Variant::ALL {
            let run = |seed: u64| run_folder(folder, &format!("{name}-{}", variant.name()), seed);
            let runs: Vec<PathBuf> = (0..self.runs).map(run).collect();
            for (seed, run) in runs.iter().enumerate() {
                train(&variant.settings(config, seed as u64), run, listener)?;
                if listener.interrupted() {
                    return Err(CliError::input("interrupted; the same command goes on from here"));
                }
            }
            for (test, figure) in [("A*", "cost"), ("MCTS", "mcts-cost")] {
                curves.push(Curve::read(&format!("{}, {test}", variant.name()), figure, expressions, &runs)?);
            }
        }
        Ok(Study { name, references, curves })
    }
}

impl Study {
    /// Curves of a figure by their places: training with A*, MCTS, A* without a graph, each tested with A*, then with MCTS.
    fn figure(&self, title: &str, which: &[usize]) -> String {
        let curves: Vec<&Curve> = which.iter().map(|&place| &self.curves[place]).collect();
        chart(&format!("{}: {title}", self.name), &curves, self.references.clone())
    }

    fn write(&self, folder: &Path) -> Result<(), CliError> {
        let figures = [
            ("figure-4", "learned A*, with and without message passing", &[0, 4][..]),
            ("figure-6a", "what it is trained with, tested with A*", &[0, 2]),
            ("figure-6b", "what it is tested with, trained with A*", &[0, 1]),
            ("figure-6c", "training and test", &[0, 1, 2, 3]),
        ];
        for (file, title, which) in figures {
            let svg = self.figure(title, which);
            output::write(&folder.join(format!("{}-{file}.svg", self.name)), |out| out.write_all(svg.as_bytes()))?;
        }
        output::write(&folder.join(format!("{}.json", self.name)), |out| output::json(out, self))
    }

    fn text(&self) -> String {
        let curves: Vec<&Curve> = self.curves.iter().collect();
        let title = format!("{}: total cost, median [second, eighth of ten]", self.name);
        let mut text = table(&title, &curves);
        for (name, total) in &self.references {
            text.push_str(&format!("{name}: {total:.1}\n"));
        }
        text
    }
}
