//! Who sends what to whom, and when: pattern x process x size, per class.
//!
//! Pure state machines on their own random streams, shared by the engine and the reference model. A
//! source draws one gap at a time and sleeps in between, so a cycle costs nothing for silent hosts.

pub mod flows;
pub mod messages;
pub mod pattern;
pub mod process;
pub mod slots;
pub mod source;
mod table;

pub use flows::FLOW_GENERATORS;
pub use messages::MESSAGE_SOURCES;
pub use pattern::{Members, PATTERNS};
pub use process::PROCESSES;
pub use slots::{SLOT_SOURCES, SlotSource, SlotState};
pub use source::{Creation, Source};

use crate::ids::HostId;
use crate::registry::{ArgumentError, Arguments};
use crate::rng::Stream;
use crate::topology::Graph;
use process::aggregate::AggregateState;
use process::normal_poisson::WindowState;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::Arc;

/// Where packets go.
pub trait Pattern: Debug + Send + Sync {
    /// Destination of the next packet of `source`; `None` when this host does not send under the pattern
    /// (a fixed point of a permutation that excludes itself, a host outside all pairs).
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId>;

    /// Whether `source` ever sends; must agree with [`Self::destination`] returning `Some`.
    fn sends(&self, source: HostId) -> bool;

    /// Where the packets of `source` go on average: parts that add up to 1, or none when it does not send. Must
    /// agree with [`Self::destination`].
    fn shares(&self, source: HostId) -> Vec<Share<'_>>;

    /// Whether every source has one destination only, so that each source is one flow.
    fn is_fixed(&self) -> bool {
        false
    }
}

/// A part of the packets of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share<'a> {
    /// How much of them \[fraction\].
    pub part: f64,
    /// Where it goes.
    pub to: Receivers<'a>,
}

/// Hosts that receive a part of the packets of a source, each as much as the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receivers<'a> {
    /// One host.
    One(HostId),
    /// All of these.
    Each(&'a Members),
    /// All of these but the source itself.
    Others(&'a Members),
}

/// When packets are made.
pub trait Process: Debug + Send + Sync {
    /// Makes the state of one source.
    fn start(&self, rng: &mut Stream) -> ProcessState;

    /// Cycles from the last creation (or from cycle 0, for the first call, where the result may be 0) to
    /// the next; at least 1 after the first.
    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap;
}

/// What a pattern may know when it is made.
#[derive(Clone, Copy, Debug)]
pub struct PatternContext<'a> {
    /// The fabric.
    pub graph: &'a Graph,
    /// Hosts that send this class, ascending.
    pub hosts: &'a [HostId],
    /// The same hosts by their ranks.
    pub ranks: &'a [HostId],
    /// Seed of the scenario.
    pub seed: u64,
    /// Number of the class, for its stream.
    pub class: usize,
}

/// Makes a pattern from its arguments; the error names what is wrong and what is allowed.
pub type BuildPattern =
    fn(Arguments<'_>, &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ArgumentError>;

/// What a process may know when it is made.
#[derive(Clone, Copy, Debug)]
pub struct ProcessContext {
    /// Mean packet size \[flits\].
    pub mean_size: f64,
    /// Cycles a flit takes on the hosts' links.
    pub cycles_per_flit: u32,
}

/// A process with the load it offers.
#[derive(Clone, Debug)]
pub struct OfferedProcess {
    /// The process.
    pub process: Arc<dyn Process>,
    /// Offered load, fraction of the host's link rate.
    pub load: f64,
}

/// Makes a process from its arguments.
pub type BuildProcess = fn(Arguments<'_>, ProcessContext) -> Result<OfferedProcess, ArgumentError>;

/// Arguments that parse but make no sense together or for this fabric.
fn invalid(message: impl Into<String>) -> ArgumentError {
    ArgumentError {
        message: message.into(),
        line: 1,
        column: 1,
    }
}

/// State of a process at one source; what the fields mean is the process's own business.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessState {
    /// Fixed-point phase or the packets left in a burst.
    pub phase: u64,
    /// Calls of `gap` so far, for processes that treat the first one differently.
    pub calls: u64,
    /// What only some processes have: elsewhere it costs a word.
    pub part: Option<Box<ProcessPart>>,
}

/// State that only some processes have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProcessPart {
    /// ON/OFF sources and their counter.
    Aggregate(AggregateState),
    /// Arrivals that are still to come in a window.
    Window(WindowState),
}

/// When the next packet of a source is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// After this many cycles.
    After(u64),
    /// One cycle after the previous packet of this source has left its source queue: always backlogged.
    WhenSent,
    /// Never again.
    Never,
}

/// How long packets are \[flits\].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeDistribution {
    /// (size in flits, weight), at least one entry, sizes at least 1.
    entries: Vec<(u16, u32)>,
    total: u32,
}

impl SizeDistribution {
    /// Always `flits`.
    pub fn fixed(flits: u16) -> Self {
        Self {
            entries: vec![(flits.max(1), 1)],
            total: 1,
        }
    }

    /// A mix of sizes with integer weights.
    ///
    /// # Errors
    /// Names what is wrong: no entry, a size of 0, or all weights 0.
    pub fn mixed(entries: Vec<(u16, u32)>) -> Result<Self, String> {
        let total = entries
            .iter()
            .try_fold(0u32, |sum, &(_, weight)| sum.checked_add(weight));
        match total {
            _ if entries.is_empty() => Err("a mix needs at least one size".into()),
            _ if entries.iter().any(|&(flits, _)| flits == 0) => {
                Err("a packet has at least 1 flit".into())
            }
            None => Err("the weights add up to more than 2^32 - 1".into()),
            Some(0) => Err("at least one weight must be above 0".into()),
            Some(total) => Ok(Self { entries, total }),
        }
    }

    /// Draws a size; a fixed size takes no draw.
    pub fn draw(&self, rng: &mut Stream) -> u16 {
        if let [(flits, _)] = self.entries[..] {
            return flits;
        }
        let mut ticket = crate::rng::below(rng, self.total);
        for &(flits, weight) in &self.entries {
            if ticket < weight {
                return flits;
            }
            ticket -= weight;
        }
        self.entries[self.entries.len() - 1].0
    }

    /// Largest size with a weight above 0 \[flits\].
    pub fn largest(&self) -> u16 {
        self.entries
            .iter()
            .filter(|(_, weight)| *weight > 0)
            .map(|(flits, _)| *flits)
            .max()
            .unwrap_or(1)
    }

    /// Smallest size with a weight above 0 \[flits\].
    pub fn smallest(&self) -> u16 {
        self.entries
            .iter()
            .filter(|(_, weight)| *weight > 0)
            .map(|(flits, _)| *flits)
            .min()
            .unwrap_or(1)
    }

    /// Mean size \[flits\].
    pub fn mean(&self) -> f64 {
        let sum: u64 = self
            .entries
            .iter()
            .map(|&(flits, weight)| u64::from(flits) * u64::from(weight))
            .sum();
        sum as f64 / f64::from(self.total)
    }

    /// Variance over the square of the mean.
    pub fn variation(&self) -> f64 {
        let squares = (self.entries.iter())
            .map(|&(flits, weight)| f64::from(flits).powi(2) * f64::from(weight));
        squares.sum::<f64>() / f64::from(self.total) / self.mean().powi(2) - 1.0
    }

    /// The (size, weight) entries.
    pub fn entries(&self) -> &[(u16, u32)] {
        &self.entries
    }
}
