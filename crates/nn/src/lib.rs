//! Neural networks over plain edge arrays: a reverse-mode tape over `f32` matrices, message passing, Adam, checkpoints.
//!
//! Every sum has a fixed order, so that the same input gives the same bytes, and a batch of graphs gives the same
//! numbers as its graphs one by one. A tape runs on one thread; callers run one tape per graph in parallel.
//!
//! Suggested reading order: [`matrix`], [`params`], [`tape`], then [`graph_batch`] and [`layers`].
//!
//! ```
//! use labrys_nn::{Activation, Adam, Matrix, Mlp, Params, Tape};
//! use rand::SeedableRng as _;
//!
//! let mut params = Params::new();
//! let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(0);
//! let net = Mlp::new(&mut params, "net", &[2, 8, 1], Activation::Tanh, &mut rng);
//! let mut adam = Adam::new(&params, 0.05);
//! let (x, y) = (Matrix::from_rows(&[&[0.0, 1.0], &[1.0, 1.0]]), Matrix::from_rows(&[&[1.0], &[0.0]]));
//! let mut losses = vec![];
//! for _ in 0..50 {
//!     let mut tape = Tape::new(&params);
//!     let input = tape.input(&x);
//!     let output = net.forward(&mut tape, input);
//!     let errors = tape.squared_error(output, &y);
//!     let loss = tape.mean(errors);
//!     losses.push(tape.value(loss).scalar());
//!     let gradients = tape.backward(loss);
//!     adam.step(&mut params, &gradients);
//! }
//! assert!(losses[49] < 0.1 * losses[0]);
//! ```

pub mod adam;
pub mod checkpoint;
pub mod graph_batch;
pub mod layers;
mod math;
pub mod matrix;
pub mod params;
pub mod tape;

pub use adam::Adam;
pub use checkpoint::{Checkpoint, CheckpointError, ModelCard};
pub use graph_batch::{EdgeArrays, GraphBatch, Segments};
pub use layers::{
    Activation, Aggregation, GatedGraph, GatedReadout, GraphReadout, Gru, Lstm, MessagePassing, MessagePassingConfig,
    Mlp, Update,
};
pub use matrix::Matrix;
pub use params::{Gradients, Init, ParamId, Params};
pub use tape::{Backward, Flow, Tape, Var};
