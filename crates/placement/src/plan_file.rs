//! The plan as a JSON file, with everything that [`check`](crate::check()) needs to judge it (`docs/plan.schema.json`).

use crate::arena::{self, ArenaPlan, Buffer, Content, DeviceArena, Overlap};
use crate::problem::{Cost, DeviceId, Plan, Problem, Step};
use crate::settings::Settings;
use crate::simulate::{Observer, Simulator};
use crate::solve;
use labrys_dataflow::{Graph, OpId, TensorId};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Value of [`PlanFile::schema`].
pub const SCHEMA: &str = "labrys-plan";
/// Value of [`PlanFile::version`] that this code writes and reads.
pub const VERSION: u32 = 1;

/// A plan with its problem's settings and what it costs.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile<'a> {
    /// [`SCHEMA`].
    pub schema: Cow<'a, str>,
    /// [`VERSION`].
    pub version: u32,
    /// Which model this is a plan for.
    pub model: ModelInfo,
    /// Under which assumptions.
    pub settings: Settings,
    /// How the model was read: symbolic dimensions, and the file of measured times.
    pub input: InputInfo,
    /// Value of the objective: nanoseconds or bytes.
    pub objective: u64,
    /// Proven lower bound on the objective.
    pub bound: u64,
    /// End of the last step in nanoseconds.
    pub makespan_ns: u64,
    /// What each device does.
    pub devices: Vec<DeviceUse>,
    /// Device of each op, in file order.
    pub placement: Vec<u32>,
    /// All steps in order.
    pub steps: Vec<StepRecord<'a>>,
    /// Where everything lies in its device's arena.
    pub memory: Vec<Allocation>,
}

/// Identifies a model.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct ModelInfo {
    /// Name from the file.
    pub name: String,
    /// Number of ops.
    pub ops: usize,
    /// Number of tensors.
    pub tensors: usize,
    /// Hash of structure and sizes, in hexadecimal; run times are not part of it.
    pub fingerprint: String,
}

/// How the model was read.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct InputInfo {
    /// Sizes of symbolic dimensions.
    pub dims: BTreeMap<String, u64>,
    /// File of measured times, if any.
    pub times: Option<String>,
}

/// What one device does.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct DeviceUse {
    /// Its name.
    pub name: String,
    /// Ops that run on it.
    pub ops: usize,
    /// Time in which it runs ops, in nanoseconds.
    pub busy_ns: u64,
    /// Peak memory in bytes.
    pub peak_bytes: u64,
    /// Bytes of resident weights in that.
    pub weight_bytes: u64,
    /// Height in bytes of the one arena that holds everything at the offsets of [`PlanFile::memory`].
    pub arena_bytes: u64,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum StepRecord<'a> {
    /// An op runs.
    Run {
        /// Name of the op.
        run: Cow<'a, str>,
        /// Its number in file order, from 0.
        op: u32,
        /// Where.
        device: u32,
        /// When it starts.
        start_ns: u64,
        /// When it ends.
        end_ns: u64,
    },
    /// A tensor is copied.
    Transfer {
        /// Name of the tensor.
        transfer: Cow<'a, str>,
        /// Its number.
        tensor: u32,
        /// Where it was produced.
        from: u32,
        /// Where it is needed.
        to: u32,
        /// When the transfer starts.
        start_ns: u64,
        /// When it ends.
        end_ns: u64,
    },
}

/// What an allocation holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// A copy of the tensor with this number.
    Tensor(u32),
    /// The scratch memory of the op with this number.
    Scratch(u32),
    /// The resident weight with this number.
    Weight(u32),
}

impl From<Content> for Holds {
    fn from(content: Content) -> Self {
        match content {
            Content::Tensor(tensor) => Self::Tensor(tensor.0),
            Content::Scratch(op) => Self::Scratch(op.0),
            Content::Weight(weight) => Self::Weight(weight.0),
        }
    }
}

/// A piece of a device's arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Allocation {
    /// What it holds.
    pub holds: Holds,
    /// The device.
    pub device: u32,
    /// First byte in the device's arena.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
}

/// Why a file is no plan for a model.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanFileError {
    /// Another kind of file.
    #[error("the schema is '{0}', expected '{SCHEMA}'")]
    Schema(String),
    /// Written by another version.
    #[error("the plan has version {0}, this program reads version {VERSION}")]
    Version(u32),
    /// Made for another model.
    #[error("the plan was made for another model: '{}' with {} ops, fingerprint {}; this one is '{}' with {} ops, fingerprint {}",
        .plan.name, .plan.ops, .plan.fingerprint, .model.name, .model.ops, .model.fingerprint)]
    OtherModel {
        /// The model in the plan.
        plan: Box<ModelInfo>,
        /// The model at hand.
        model: Box<ModelInfo>,
    },
    /// The numbers in the file are not those of the plan.
    #[error("the file claims {what} {claimed}, but it is {actual}")]
    WrongClaim {
        /// Which number.
        what: Cow<'static, str>,
        /// In the file.
        claimed: u64,
        /// Found by the checker.
        actual: u64,
    },
    /// A device has another name than in the settings.
    #[error("device {device} is called '{claimed}', but in the settings of the file it is '{actual}'")]
    WrongName {
        /// Its number.
        device: usize,
        /// In the list of devices.
        claimed: String,
        /// In the settings.
        actual: String,
    },
    /// A step has other times, names or devices than the plan gives it.
    #[error("step {0}: its times, names or devices are not those that the plan gives it")]
    WrongStep(usize),
    /// The memory plan leaves something out, or gives it another size.
    #[error("the memory plan has no place of the right size for {0:?} on device {1}")]
    Unallocated(Holds, u32),
    /// The memory plan holds something that no step needs.
    #[error("the memory plan holds {0:?} on device {1}, which no step needs there")]
    Unneeded(Holds, u32),
    /// Two things share bytes at the same time.
    #[error("the memory plan is wrong: {0}")]
    Overlap(Overlap),
}

impl ModelInfo {
    /// The identity of a graph.
    pub fn of(graph: &Graph) -> Self {
        Self {
            name: graph.name().to_owned(),
            ops: graph.op_count(),
            tensors: graph.tensor_count(),
            fingerprint: format!("{:016x}", fingerprint(graph)),
        }
    }
}

/// FNV-1a over names, edges and sizes.
fn fingerprint(graph: &Graph) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for op in graph.ops() {
        add(graph.op_name(op).as_bytes());
        graph.preds(op).iter().for_each(|before| add(&before.0.to_le_bytes()));
        graph.inputs(op).iter().for_each(|tensor| add(&tensor.0.to_le_bytes()));
        graph.outputs(op).iter().for_each(|&tensor| add(&graph.bytes(tensor).to_le_bytes()));
    }
    hash
}

fn allocations(arenas: &ArenaPlan) -> Vec<Allocation> {
    let of_device = |arena: &'_ DeviceArena| {
        let device = arena.device.0;
        let allocation =
            move |b: &Buffer| Allocation { holds: Holds::from(b.content), device, offset: b.offset, bytes: b.bytes };
        arena.buffers.iter().map(allocation).collect::<Vec<_>>()
    };
    arenas.devices.iter().flat_map(of_device).collect()
}

/// Records the steps while they are simulated.
struct Recorder<'a> {
    graph: &'a Graph,
    steps: Vec<StepRecord<'a>>,
    busy: Vec<u64>,
}

impl Observer for Recorder<'_> {
    fn ran(&mut self, op: OpId, device: DeviceId, start: u64, end: u64, _: u64) {
        self.busy[device.0 as usize] += end - start;
        let run = Cow::Borrowed(self.graph.op_name(op));
        self.steps.push(StepRecord::Run { run, op: op.0, device: device.0, start_ns: start, end_ns: end });
    }

    fn transferred(&mut self, tensor: TensorId, [from, to]: [DeviceId; 2], start: u64, end: u64, _: [u64; 2]) {
        let transfer = Cow::Borrowed(self.graph.tensor_name(tensor));
        let (from, to) = (from.0, to.0);
        self.steps.push(StepRecord::Transfer { transfer, tensor: tensor.0, from, to, start_ns: start, end_ns: end });
    }
}

impl<'a> PlanFile<'a> {
    /// The file for a valid plan and its memory plan.
    pub fn new(
        problem: &'a Problem,
        plan: &Plan,
        arenas: &ArenaPlan,
        settings: Settings,
        input: InputInfo,
        bound: u64,
    ) -> Self {
        let graph = &*problem.graph;
        let mut recorder =
            Recorder { graph, steps: Vec::with_capacity(plan.steps.len()), busy: vec![0; problem.device_count()] };
        let cost = Simulator::new(problem).observe(plan, &mut recorder);
        let device_use = |d: DeviceId| DeviceUse {
            name: problem.devices[d.0 as usize].name.clone(),
            ops: plan.device.iter().filter(|&&device| device == d).count(),
            busy_ns: recorder.busy[d.0 as usize],
            peak_bytes: cost.peaks[d.0 as usize],
            weight_bytes: problem.resident_weights(&plan.device, d),
            arena_bytes: arenas.devices[d.0 as usize].height,
        };
        Self {
            schema: SCHEMA.into(),
            version: VERSION,
            model: ModelInfo::of(graph),
            settings,
            input,
            objective: problem.score(&cost).value,
            bound,
            makespan_ns: cost.makespan,
            devices: problem.device_ids().map(device_use).collect(),
            placement: plan.device.iter().map(|device| device.0).collect(),
            steps: recorder.steps,
            memory: allocations(arenas),
        }
    }

    /// Whether this is a plan that this program understands, for this model.
    ///
    /// # Errors
    /// Another schema, version or model.
    pub fn matches(&self, graph: &Graph) -> Result<(), PlanFileError> {
        if self.schema != SCHEMA {
            return Err(PlanFileError::Schema(self.schema.clone().into_owned()));
        }
        if self.version != VERSION {
            return Err(PlanFileError::Version(self.version));
        }
        let model = ModelInfo::of(graph);
        let same = (model.ops, model.tensors, &model.fingerprint)
            == (self.model.ops, self.model.tensors, &self.model.fingerprint);
        if same {
            Ok(())
        } else {
            Err(PlanFileError::OtherModel { plan: Box::new(self.model.clone()), model: Box::new(model) })
        }
    }

    /// The plan itself, as the file states it; [`check`](crate::check()) tells whether it is valid.
    pub fn plan(&self) -> Plan {
        let step = |record: &StepRecord<'_>| match *record {
            StepRecord::Run { op, .. } => Step::Run(OpId(op)),
            StepRecord::Transfer { tensor, to, .. } => Step::Transfer { tensor: TensorId(tensor), to: DeviceId(to) },
        };
        Plan {
            device: self.placement.iter().map(|&device| DeviceId(device)).collect(),
            steps: self.steps.iter().map(step).collect(),
        }
    }

    /// Whether everything that the file says beyond the plan itself is true: objective, times, memory, offsets, the bound.
    ///
    /// # Errors
    /// The first claim that is not.
    pub fn confirm(&self, problem: &Problem, cost: &Cost) -> Result<(), PlanFileError> {
        let claim = |what: Cow<'static, str>, claimed, actual| match claimed == actual {
            true => Ok(()),
            false => Err(PlanFileError::WrongClaim { what, claimed, actual }),
        };
        claim("the objective".into(), self.objective, problem.score(cost).value)?;
        claim("the makespan".into(), self.makespan_ns, cost.makespan)?;
        let plan = self.plan();
        let arenas = self.arenas(problem, &plan)?;
        let bound = solve::bound(problem);
        if self.bound > bound {
            return claim("the bound".into(), self.bound, bound);
        }
        let truth = PlanFile::new(problem, &plan, &arenas, self.settings.clone(), self.input.clone(), self.bound);
        claim("a number of devices of".into(), self.devices.len() as u64, truth.devices.len() as u64)?;
        for (device, (ours, theirs)) in truth.devices.iter().zip(&self.devices).enumerate() {
            let name = &ours.name;
            if theirs.name != *name {
                let (claimed, actual) = (theirs.name.clone(), name.clone());
                return Err(PlanFileError::WrongName { device, claimed, actual });
            }
            claim(format!("the peak memory of {name}").into(), theirs.peak_bytes, ours.peak_bytes)?;
            claim(format!("the weights of {name}").into(), theirs.weight_bytes, ours.weight_bytes)?;
            claim(format!("the arena of {name}").into(), theirs.arena_bytes, ours.arena_bytes)?;
            claim(format!("the busy time of {name}").into(), theirs.busy_ns, ours.busy_ns)?;
            claim(format!("the ops of {name}").into(), theirs.ops as u64, ours.ops as u64)?;
        }
        match self.steps.iter().zip(&truth.steps).position(|(theirs, ours)| theirs != ours) {
            Some(step) => Err(PlanFileError::WrongStep(step)),
            None => Ok(()),
        }
    }

    /// The memory plan of the file, if it holds exactly what the plan needs and no two things overlap.
    fn arenas(&self, problem: &Problem, plan: &Plan) -> Result<ArenaPlan, PlanFileError> {
        let mut places: BTreeMap<(u32, Holds), (u64, u64)> =
            self.memory.iter().map(|a| ((a.device, a.holds), (a.offset, a.bytes))).collect();
        let mut arenas = arena::without_offsets(problem, plan);
        for arena in &mut arenas.devices {
            for buffer in &mut arena.buffers {
                let place = places.remove(&(arena.device.0, Holds::from(buffer.content)));
                match place.filter(|(_, bytes)| *bytes == buffer.bytes) {
                    Some((offset, _)) => buffer.offset = offset,
                    None => return Err(PlanFileError::Unallocated(Holds::from(buffer.content), arena.device.0)),
                }
            }
            arena.height = arena.buffers.iter().map(|b| b.offset.saturating_add(b.bytes)).max().unwrap_or(0);
        }
        if let Some(((device, holds), _)) = places.pop_first() {
            return Err(PlanFileError::Unneeded(holds, device));
        }
        arenas.validate().map_err(PlanFileError::Overlap)?;
        Ok(arenas)
    }
}
