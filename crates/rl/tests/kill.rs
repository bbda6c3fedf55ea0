//! A run that is killed by the system, as by `kill -9`, goes on to the same bytes. Also the plainest supervised objective.

use labrys_nn::{Activation, Matrix, Mlp, ModelCard, Params, Tape};
use labrys_rl::{Example, Figures, Objective, TrainingConfig, TrainingRun};
use labrys_search::Seed;
use rand::RngExt as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names the folder of the child's run.
const FOLDER: &str = "LABRYS_TEST_KILL_FOLDER";
const STEPS: u64 = 400;

/// The product of two numbers.
struct Product(Mlp);

impl Product {
    fn differentiate<'a>(&self, params: &'a Params, seed: Seed) -> (Tape<'a>, labrys_nn::Var) {
        let mut rng = seed.stream("pair", 0);
        let (a, b) = (rng.random::<f32>(), rng.random::<f32>());
        let mut tape = Tape::new(params);
        let x = tape.constant(Matrix::from_rows(&[[a, b]]));
        let y = self.0.forward(&mut tape, x);
        let loss = tape.squared_error(y, &Matrix::column(vec![a * b]));
        (tape, loss)
    }
}

impl Objective for Product {
    fn example(&self, params: &Params, seed: Seed) -> Example {
        let (tape, loss) = self.differentiate(params, seed);
        let figures = Figures::from([("loss", f64::from(tape.value(loss).scalar()))]);
        Example { gradients: tape.backward(loss), figures }
    }

    fn held_back(&self) -> usize {
        50
    }

    fn validate(&self, params: &Params, index: usize, _: Seed) -> Figures {
        let (tape, loss) = self.differentiate(params, Seed(index as u64));
        Figures::from([("score", -f64::from(tape.value(loss).scalar()))])
    }
}

fn train(folder: &Path, step: impl Fn()) -> f64 {
    let mut params = Params::new();
    let net = Mlp::new(&mut params, "net", &[2, 16, 1], Activation::Tanh, &mut Seed(1).stream("init", 0));
    let (validate_every, save_every) = (20, 15);
    let config =
        TrainingConfig { steps: STEPS, learning_rate: 0.01, validate_every, save_every, ..TrainingConfig::default() };
    let mut run = TrainingRun::open(folder, config, params, ModelCard::default()).unwrap();
    let heard = |_: &labrys_rl::Progress| {
        step();
        ControlFlow::Continue(())
    };
    run.run(&Product(net), heard).unwrap().best.unwrap()
}

/// The child: a slow run in the given folder. Does nothing when it is called with the other tests.
#[test]
fn child() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        train(Path::new(&folder), || std::thread::sleep(Duration::from_millis(2)));
    }
}

#[test]
fn a_run_killed_twice_goes_on_to_the_same_bytes() {
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let best = train(whole.path(), || ());
    assert!(best > -0.02, "mean squared error {}", -best);
    let state = killed.path().join(labrys_rl::run::STATE);
    for _ in 0..2 {
        let before = std::fs::read(&state).ok();
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", "child"]).env(FOLDER, killed.path()).stdout(Stdio::null());
        let mut child = child.spawn().unwrap();
        // As soon as it has saved again, in the midst of its next steps.
        while std::fs::read(&state).ok() == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "the child was done before it could be killed");
    }
    train(killed.path(), || ());
    for file in ["state.safetensors", "best.safetensors", "metrics.jsonl", "curves.svg"] {
        let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
        assert_eq!(read(whole.path()), read(killed.path()), "{file}");
    }
}
