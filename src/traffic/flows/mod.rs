//! Flow generators: which hosts have flows to which.
//!
//! A generator gives pairs of hosts in an order of its own, which is the order of the flows' numbers. What the flows
//! are like is said beside it.

mod incast;
mod list;
mod per_host;
mod permutations;
mod random_pairs;

use crate::ids::HostId;
use crate::registry::{ArgumentError, Arguments, Registry};
use crate::rng::{Purpose, Stream, stream};

/// Every flow generator a scenario can name. New ones: one file, one `mod` line, one line here.
pub static FLOW_GENERATORS: Registry<BuildPairs> = Registry {
    kind: "flow generator",
    entries: &[
        incast::ENTRY,
        list::ENTRY,
        per_host::ENTRY,
        permutations::ENTRY,
        random_pairs::ENTRY,
    ],
    unclear: &[],
};

/// Source and destination of a flow.
pub type Pair = (HostId, HostId);

/// What a generator may know.
#[derive(Clone, Copy, Debug)]
pub struct PairsContext<'a> {
    /// Hosts of the class, ascending.
    pub hosts: &'a [HostId],
    /// Hosts of the fabric.
    pub host_count: usize,
    /// Seed of the scenario.
    pub seed: u64,
    /// Number of the class.
    pub class: usize,
    /// Number of the entry within the class.
    pub entry: usize,
}

impl PairsContext<'_> {
    /// The stream of the generator's choices.
    fn stream(&self) -> Stream {
        let id = ((self.class as u64) << 32) | self.entry as u64;
        stream(self.seed, Purpose::Flows, id)
    }

    /// Needs two hosts of the class.
    fn need_two(&self) -> Result<(), ArgumentError> {
        if self.hosts.len() < 2 {
            return Err(super::invalid(
                "the class has one host: a flow needs two different ones",
            ));
        }
        Ok(())
    }

    /// A host of the fabric by its number.
    fn host(&self, key: &str, number: u32) -> Result<HostId, ArgumentError> {
        if number as usize >= self.host_count {
            return Err(super::invalid(format!(
                "`{key}` names host {number}: expected 0 to {}",
                self.host_count - 1
            )));
        }
        Ok(HostId(number))
    }
}

/// Makes the pairs from its arguments; the error names what is wrong and what is allowed.
pub type BuildPairs = fn(Arguments<'_>, &PairsContext<'_>) -> Result<Vec<Pair>, ArgumentError>;

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(u32, u32)> {
        let hosts: Vec<HostId> = (0..8).map(HostId).collect();
        let context = PairsContext {
            hosts: &hosts,
            host_count: 8,
            seed: 3,
            class: 0,
            entry: 0,
        };
        let (name, arguments) = text.split_at(text.find('(').unwrap());
        let build = FLOW_GENERATORS.find(name).unwrap().build;
        let pairs = build(Arguments { text: arguments }, &context);
        let pairs = pairs.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(pairs.iter().all(|(from, to)| from != to), "{text}");
        pairs.iter().map(|(from, to)| (from.0, to.0)).collect()
    }

    #[test]
    fn generators_give_what_they_say() {
        assert_eq!(pairs("List(pairs: [(1, 0), (2, 0)])"), [(1, 0), (2, 0)]);
        assert_eq!(pairs("Incast(to: 3, from: 3)"), [(0, 3), (1, 3), (2, 3)]);
        assert_eq!(pairs("Incast(to: 3)").len(), 7);
        let per_host = pairs("PerHost(count: 5)");
        for host in 0..8 {
            assert_eq!(per_host.iter().filter(|pair| pair.0 == host).count(), 5);
        }
        assert_eq!(pairs("RandomPairs(count: 100)").len(), 100);
        let permutations = pairs("Permutations(count: 3)");
        for host in 0..8 {
            assert_eq!(permutations.iter().filter(|pair| pair.1 == host).count(), 3);
        }
    }
}
