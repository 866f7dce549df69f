//! Checkpoints: the whole state of a run between two steps, in one file.
//!
//! A run that is continued from its checkpoint is the run that was not interrupted, to the bit: the file holds
//! every column, worklist, calendar slot, random stream and counter of every shard as it is, and what the
//! driver knows. The number of shards is part of the state; threads are not.
//!
//! A *fork* starts another run from the state of the fabric: the same network, other loads, seeds or lengths
//! of the phases. Its sources start anew at the cycle of the checkpoint.

mod driver;
mod file;
mod flows;

pub use driver::{Driver, Mark};
pub use file::{CheckpointError, FORMAT, check_kind, check_place, is_state};

use self::flows::FlowMarks;
use super::packet_sink::PacketSink;
use super::simulation::State;
use crate::plan::{ClassPlan, Plan};
use crate::routing::Routes;
use crate::scenario::{Parts, Resolved, print};
use crate::topology::Graph;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The state of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Cycles done.
    pub cycle: u64,
    /// The complete plan, as `virtlane check --print-plan` shows it.
    plan: String,
    /// Checksum of graph, tables, switches and hosts.
    network: u32,
    /// Traffic classes.
    classes: Vec<Class>,
    /// Flows.
    flows: FlowMarks,
    /// Flows have routes of their own.
    is_carried: bool,
    /// Length of the warm-up \[cycles\].
    warmup: u64,
    /// Shards the partition was asked for.
    asked_shards: usize,
    /// What the driver knows.
    pub driver: Driver,
    /// The state of the simulation.
    pub state: State,
}

/// Checkpoints to make on the way.
#[derive(Clone, Debug)]
pub struct Keeping {
    /// Where the latest one is: when it is due, or the run is stopped from outside.
    pub file: PathBuf,
    /// Least distance of two \[cycles\]; `None` = only when stopped.
    pub every: Option<u64>,
    /// Whether the end of the scenario's own wall time saves one, too.
    pub at_wall_time: bool,
    /// Where the one at the end of the warm-up goes.
    pub warm: Option<PathBuf>,
    /// Cycle of the latest.
    pub last: u64,
}

/// How a run goes on from earlier ones and is prepared for later ones.
#[derive(Default)]
pub struct Continuation<'a> {
    /// Where it starts.
    pub start: Start,
    /// What it leaves behind.
    pub keeping: Option<Keeping>,
    /// Takes the records of packets, where the scenario asks for them.
    pub packets: Option<&'a mut dyn PacketSink>,
}

/// Where a run starts.
#[derive(Clone, Debug, Default)]
pub enum Start {
    /// At cycle 0.
    #[default]
    Fresh,
    /// Where this checkpoint of the same run was made.
    Resume(Box<Checkpoint>),
    /// With the fabric of this checkpoint, and sources of its own.
    Fork(Box<Checkpoint>),
}

impl Start {
    /// Cycles that are done already.
    pub fn cycle(&self) -> u64 {
        match self {
            Self::Fresh => 0,
            Self::Resume(checkpoint) | Self::Fork(checkpoint) => checkpoint.cycle,
        }
    }

    /// Shards to run with when `asked` are asked for: those of the state.
    ///
    /// # Errors
    /// [`CheckpointError::OtherShards`] when they are not the same.
    pub fn shards(&self, asked: Option<usize>) -> Result<Option<usize>, CheckpointError> {
        let (Self::Resume(checkpoint) | Self::Fork(checkpoint)) = self else {
            return Ok(asked);
        };
        match asked {
            Some(now) if now != checkpoint.asked_shards => Err(CheckpointError::OtherShards {
                then: checkpoint.asked_shards,
                now,
            }),
            _ => Ok(Some(checkpoint.asked_shards)),
        }
    }
}

impl Checkpoint {
    /// Joins the parts of a state.
    pub fn new(
        resolved: &Resolved,
        cycle: u64,
        driver: Driver,
        asked_shards: usize,
        state: State,
    ) -> Self {
        Self {
            cycle,
            asked_shards,
            plan: print::plan(resolved, &Parts::registered()),
            network: network(&resolved.layout.graph, &resolved.routes, &resolved.plan),
            classes: classes(&resolved.plan),
            flows: FlowMarks::of(&resolved.plan),
            is_carried: has_routes(&resolved.plan),
            warmup: resolved.plan.phases.warmup,
            driver,
            state,
        }
    }

    /// Checks that this is a state of the run that `resolved` describes.
    ///
    /// # Errors
    /// [`CheckpointError::OtherPlan`] with the first line that differs, [`CheckpointError::OtherNetwork`] or
    /// [`CheckpointError::OtherFlows`] when a file that the plan names has changed.
    pub fn require_same_run(&self, resolved: &Resolved) -> Result<(), CheckpointError> {
        let plan = print::plan(resolved, &Parts::registered());
        let ours = plan
            .lines()
            .map(str::trim)
            .chain(std::iter::repeat(""))
            .take(1 << 20);
        let saved = self
            .plan
            .lines()
            .map(str::trim)
            .chain(std::iter::repeat(""));
        if self.plan != plan
            && let Some((now, then)) = ours.zip(saved).find(|(now, then)| now != then)
        {
            return Err(CheckpointError::OtherPlan {
                then: then.to_owned(),
                now: now.to_owned(),
            });
        }
        self.flows.require_same(&FlowMarks::of(&resolved.plan))?;
        self.require_same_network(resolved)
    }

    /// Checks that the run that `resolved` describes can start from this state.
    ///
    /// # Errors
    /// [`CheckpointError::OtherNetwork`], [`CheckpointError::OtherClasses`], [`CheckpointError::OtherFlows`],
    /// [`CheckpointError::Messages`], [`CheckpointError::Admission`], [`CheckpointError::Routes`], or [`CheckpointError::TooLate`] when the state is from after
    /// a warm-up, its own or the new one.
    pub fn require_forkable(&self, resolved: &Resolved) -> Result<(), CheckpointError> {
        if self.is_carried || has_routes(&resolved.plan) {
            return Err(CheckpointError::Routes);
        }
        self.require_same_network(resolved)?;
        let classes = classes(&resolved.plan);
        let kinds = |classes: &[Class]| {
            classes
                .iter()
                .map(|class| (class.backlogged, class.messages))
                .collect::<Vec<_>>()
        };
        if kinds(&classes) != kinds(&self.classes) {
            return Err(CheckpointError::OtherClasses {
                then: list(&self.classes),
                now: list(&classes),
            });
        }
        if !resolved.plan.workloads.is_empty() {
            return Err(CheckpointError::Messages);
        }
        if resolved.plan.admission.is_some() {
            return Err(CheckpointError::Admission);
        }
        self.flows.require_forkable(&resolved.plan)?;
        let end = self.warmup.min(resolved.plan.phases.warmup);
        if self.cycle > end {
            return Err(CheckpointError::TooLate {
                cycle: self.cycle,
                end,
            });
        }
        Ok(())
    }

    fn require_same_network(&self, resolved: &Resolved) -> Result<(), CheckpointError> {
        if network(&resolved.layout.graph, &resolved.routes, &resolved.plan) == self.network {
            Ok(())
        } else {
            Err(CheckpointError::OtherNetwork)
        }
    }
}

/// What a fork must have in common with its origin.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Class {
    name: String,
    /// Always backlogged.
    backlogged: bool,
    /// Sends messages.
    messages: bool,
}

fn classes(plan: &Plan) -> Vec<Class> {
    let classes = plan.classes.iter();
    let class = |class: &ClassPlan| Class {
        name: class.name.clone(),
        backlogged: class.is_backlogged(),
        messages: class.messages.is_some(),
    };
    classes.map(class).collect()
}

/// Whether flows have routes of their own, known or set up.
fn has_routes(plan: &Plan) -> bool {
    plan.routes_of_flows.is_some() || plan.sets_up()
}

/// The classes as people read them.
fn list(classes: &[Class]) -> String {
    let classes = classes.iter().map(|class| {
        let kind = match (class.backlogged, class.messages) {
            (true, _) => " (saturating)",
            (_, true) => " (messages)",
            _ => "",
        };
        format!("`{}`{kind}", class.name)
    });
    classes.collect::<Vec<_>>().join(", ")
}

/// Checksum of everything that rows and their contents depend on, traffic excepted.
fn network(graph: &Graph, routes: &Routes, plan: &Plan) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    for channel in graph.channels() {
        sum.update(format!("{channel:?}").as_bytes());
    }
    match routes {
        Routes::Tables(tables) => {
            for entries in [&tables.next, &tables.hop_layer, &tables.path_layer] {
                sum.update(&entries.checksum().to_le_bytes());
            }
            sum.update(format!("{:?}", tables.lanes).as_bytes());
        }
        Routes::Adaptive(adaptive) => sum.update(format!("{adaptive:?}").as_bytes()),
    }
    sum.update(format!("{:?}{:?}{:?}", plan.switch, plan.host, plan.link_retry).as_bytes());
    if let Some(routes) = &plan.routes_of_flows {
        for route in routes.iter() {
            sum.update(format!("{route:?}").as_bytes());
        }
    }
    sum.finalize()
}
