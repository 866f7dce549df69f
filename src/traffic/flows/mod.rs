//! Flow generators: which hosts have flows to which.
//!
//! A generator gives pairs of hosts in an order of its own, which is the order of the flows' numbers. What the flows
//! are like is said beside it, unless the generator says it of a flow itself.

mod all_to_all;
mod applications;
mod csv;
mod hot_nodes;
mod incast;
mod independent;
mod list;
mod matrix;
mod messages;
mod node_pairs;
mod per_host;
mod permutations;
mod random_pairs;
#[cfg(test)]
mod tests;

use crate::ids::HostId;
use crate::memory::{self, Demand};
use crate::plan::FlowPlan;
use crate::registry::{ArgumentError, Arguments, Registry};
use crate::rng::{Purpose, Stream, below, stream};
use crate::traffic::messages::After;
use crate::units::Clock;
use std::path::Path;

/// Every flow generator a scenario can name. New ones: one file, one `mod` line, one line here.
pub static FLOW_GENERATORS: Registry<BuildFlows> = Registry {
    kind: "flow generator",
    entries: &[
        all_to_all::ENTRY,
        applications::ENTRY,
        csv::ENTRY,
        hot_nodes::ENTRY,
        incast::ENTRY,
        independent::ENTRY,
        list::ENTRY,
        matrix::ENTRY,
        messages::ENTRY,
        node_pairs::ENTRY,
        per_host::ENTRY,
        permutations::ENTRY,
        random_pairs::ENTRY,
    ],
    unclear: &[],
};

/// Most flows of a fabric; a flow takes some hundred bytes.
pub const MOST_FLOWS: u64 = 1 << 26;

/// Most flows that the flows of an entry wait for, counted for each: 16 bytes in the fabric for one.
pub const MOST_WAITS: u64 = 1 << 27;

/// Largest size of a flow \[flits\]: its time on any link can be counted.
pub const LARGEST_FLOW: u64 = 1 << 40;

/// Cycles of which a flow can start or stop in one: below this, far beyond any run.
const LATEST: u64 = 1_000_000_000_000_000;

/// A flow as a generator gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenFlow {
    /// Sending host.
    pub source: HostId,
    /// Receiving host, another one.
    pub destination: HostId,
    /// What this flow has of its own, if anything.
    pub own: Option<Box<Own>>,
}

/// What a flow has of its own, each in place of what is said beside the generator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Own {
    /// First cycle of its activity.
    pub start: Option<u64>,
    /// Cycle from which it makes no packet.
    pub stop: Option<u64>,
    /// What it sends in all \[flits\], 1 to [`LARGEST_FLOW`].
    pub flits: Option<u64>,
    /// Limit, 0 to 1 \[fraction of the link rate of its host\].
    pub rate: Option<f64>,
    /// Weight, at least 1.
    pub weight: Option<u16>,
    /// Its application among those of the generator.
    pub application: Option<u32>,
    /// Earlier flows of the generator that it waits for, by their numbers there.
    pub after: Vec<After>,
}

impl GivenFlow {
    /// A flow that is what is said beside the generator.
    const fn between(source: HostId, destination: HostId) -> Self {
        Self {
            source,
            destination,
            own: None,
        }
    }
}

/// What a generator may know.
#[derive(Clone, Copy, Debug)]
pub struct FlowsContext<'a> {
    /// Hosts of the class by their ranks.
    pub hosts: &'a [HostId],
    /// The same hosts, ascending.
    pub members: &'a [HostId],
    /// Hosts of the fabric.
    pub host_count: usize,
    /// Folder that relative file names start from.
    pub base: &'a Path,
    /// Length of a cycle, size of a flit.
    pub clock: Clock,
    /// Seed of the scenario.
    pub seed: u64,
    /// Number of the class.
    pub class: usize,
    /// Its name.
    pub name: &'a str,
    /// Number of the entry within the class.
    pub entry: usize,
}

/// Whether there is memory for so many flows.
///
/// # Errors
/// What they need and what there is, in words.
pub fn room_for(count: u64) -> Result<(), String> {
    let flows = Demand {
        count,
        what: "flows",
        each: size_of::<GivenFlow>() as u64 + size_of::<FlowPlan>() as u64,
    };
    memory::require(&[flows]).map_err(|lack| format!("{lack}: choose fewer"))
}

impl FlowsContext<'_> {
    /// The stream of the generator's choices.
    fn stream(&self) -> Stream {
        let id = ((self.class as u64) << 32) | self.entry as u64;
        stream(self.seed, Purpose::Flows, id)
    }

    /// A stream of choices that are the same for all classes; no class has so high a number.
    fn common_stream(&self, id: u64) -> Stream {
        stream(self.seed, Purpose::Flows, 1 << 63 | id)
    }

    /// A host of the class other than that of the rank.
    fn other(&self, rank: usize, rng: &mut Stream) -> HostId {
        let drawn = below(rng, self.hosts.len() as u32 - 1) as usize;
        self.hosts[drawn + usize::from(drawn >= rank)]
    }

    /// Whether so many times `each` flows between two hosts of the class can be made; `key` says how many.
    fn check_count(&self, key: &str, count: u32, each: usize) -> Result<(), ArgumentError> {
        if self.hosts.len() < 2 {
            return Err(super::invalid(
                "the class has one host: a flow needs two different ones",
            ));
        }
        let most = MOST_FLOWS / each as u64;
        if count == 0 || u64::from(count) > most {
            return Err(super::invalid(format!(
                "`{key}` is {count}: expected 1 to {most}, so that there are at most {MOST_FLOWS} flows"
            )));
        }
        room_for(u64::from(count) * each as u64)
            .map_err(|lack| super::invalid(format!("`{key}` is {count}: {lack}")))
    }

    /// A host of the fabric by its number.
    fn host(&self, key: &str, number: u32) -> Result<HostId, ArgumentError> {
        let host = self.known(number);
        host.map_err(|expected| super::invalid(format!("`{key}` names host {number}: {expected}")))
    }

    fn known(&self, number: u32) -> Result<HostId, String> {
        if number as usize >= self.host_count {
            return Err(format!("expected 0 to {}", self.host_count - 1));
        }
        Ok(HostId(number))
    }

    /// A flow from a host of the class to another host of the fabric, by their numbers.
    fn flow(&self, from: u32, to: u32) -> Result<GivenFlow, String> {
        let host = |number| {
            let host = self.known(number);
            host.map_err(|expected| format!("there is no host {number}: {expected}"))
        };
        let (source, destination) = (host(from)?, host(to)?);
        if source == destination {
            return Err(format!("a flow from host {from} to itself"));
        }
        if self.members.binary_search(&source).is_err() {
            return Err(format!("host {from} is not among the hosts of the class"));
        }
        Ok(GivenFlow::between(source, destination))
    }

    /// A size \[flits\].
    fn flits(&self, bytes: u64) -> Result<u64, String> {
        let flits = bytes.div_ceil(u64::from(self.clock.flit_bytes)).max(1);
        if flits > LARGEST_FLOW {
            return Err(format!("{bytes} bytes are more than {LARGEST_FLOW} flits"));
        }
        Ok(flits)
    }

    /// The text of a file.
    fn read(&self, file: &str) -> Result<String, ArgumentError> {
        crate::text_file::read(&self.base.join(file)).map_err(|cause| {
            super::invalid(format!(
                "`file`: {file} cannot be read: {cause}; relative names start from the folder of the scenario"
            ))
        })
    }
}

/// What is wrong in a file, and where.
fn wrong(file: &str, line: usize, reason: &str) -> ArgumentError {
    super::invalid(format!("`file`: {file}, line {line}: {reason}"))
}

/// The lines of a table with their numbers from 1, without empty ones and comments.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines());
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
}

/// Makes the flows from its arguments; the error names what is wrong and what is allowed.
pub type BuildFlows = fn(Arguments<'_>, &FlowsContext<'_>) -> Result<Vec<GivenFlow>, ArgumentError>;
