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

/// Most flows of a fabric; a flow takes some hundred bytes.
pub const MOST_FLOWS: u64 = 1 << 26;

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

    /// Whether `count` times `each` flows between two hosts of the class can be made.
    fn check_count(&self, count: u32, each: usize) -> Result<(), ArgumentError> {
        if self.hosts.len() < 2 {
            return Err(super::invalid(
                "the class has one host: a flow needs two different ones",
            ));
        }
        let most = MOST_FLOWS / each as u64;
        if count == 0 || u64::from(count) > most {
            return Err(super::invalid(format!(
                "`count` is {count}: expected 1 to {most}, so that there are at most {MOST_FLOWS} flows"
            )));
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

    fn build(text: &str) -> Result<Vec<Pair>, ArgumentError> {
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
        build(Arguments { text: arguments }, &context)
    }

    fn pairs(text: &str) -> Vec<(u32, u32)> {
        let pairs = build(text);
        let pairs = pairs.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(pairs.iter().all(|(from, to)| from != to), "{text}");
        pairs.iter().map(|(from, to)| (from.0, to.0)).collect()
    }

    #[test]
    fn impossible_flows_are_refused_with_what_is_allowed() {
        for (text, message) in [
            ("PerHost(count: 0)", "`count` is 0: expected 1 to 8388608"),
            ("PerHost(count: 4000000000)", "expected 1 to 8388608"),
            ("Permutations(count: 9000000)", "at most 67108864 flows"),
            ("RandomPairs(count: 70000000)", "expected 1 to 67108864"),
            ("Incast(to: 8)", "`to` names host 8: expected 0 to 7"),
            ("Incast(to: 3, from: 8)", "expected 1 to 7"),
            ("List(pairs: [])", "expected at least one pair"),
            ("List(pairs: [(2, 2)])", "from host 2 to itself"),
        ] {
            let error = build(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
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
