//! Kautz graphs: most switches for a degree and diameter among digraphs that route by shifting words.
//!
//! Guarantees: `(b + 1) * b^k` switches, `(b + 1) * b^(k+1)` links; no two switches are further apart than
//! `k + 1` hops.
//! Fails with: [`TopologyError::Parameter`] when `degree` is 0 or the network is too large.
//! Cost: O(links + hosts) time and memory.
//!
//! # Algorithm
//!
//! 1. Switches are the words of `k + 1` letters out of `b + 1` whose neighbouring letters differ, in
//!    lexicographic order.
//! 2. From each word, ascending, an arc leads to every word made by dropping its first letter and adding one
//!    at the end, that letter ascending. Every arc is one full-duplex link, so that two opposite arcs are two
//!    parallel links.
//! 3. Hosts take the first ports, then each link the next free one at both ends.
//!
//! Switch `K012` is the word 0 1 2 (letters above 9 are separated by dots).
//!
//! References: [`KAUTZ`]

use super::parameters::{HOSTS_PER_SWITCH, direct_network, one};
use super::wiring::Wiring;
use crate::references::KAUTZ;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, node_count, parameter_error, port_count};
use crate::topology::graph::{Graph, Shape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use serde::Deserialize;

/// Largest `k`: of degree 2 and more, networks are too large long before.
const LONGEST: u32 = 32;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Kautz",
    aliases: &[],
    summary: "Kautz graph, every arc a full-duplex link",
    parameters: &[
        Parameter {
            name: "degree",
            kind: "integer, 1..=126",
            default: None,
            summary: "arcs that leave a switch, b; it has 2 b links",
        },
        Parameter {
            name: "k",
            kind: "integer, 0..=32",
            default: None,
            summary: "letters of a word, less one; no two switches are further apart than k + 1 hops",
        },
        HOSTS_PER_SWITCH,
    ],
    guarantees: &["(b + 1) * b^k switches of degree 2 b, diameter at most k + 1"],
    references: &[KAUTZ],
    build: |arguments| Ok(Box::new(arguments.parse::<Kautz>()?)),
};

/// Parameters of a Kautz graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kautz {
    /// Arcs that leave a switch.
    pub degree: u32,
    /// Letters of a word, less one.
    pub k: u32,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
}

impl Kautz {
    /// The words in lexicographic order.
    fn words(self) -> Vec<Vec<u32>> {
        let mut words: Vec<Vec<u32>> = (0..=self.degree).map(|letter| vec![letter]).collect();
        for _ in 0..self.k {
            let longer = words.iter().flat_map(|word| {
                let letters = (0..=self.degree).filter(|letter| word.last() != Some(letter));
                letters.map(|letter| [&word[..], &[letter]].concat())
            });
            words = longer.collect();
        }
        words
    }
}

impl Topology for Kautz {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        at_least("degree", self.degree, 1)?;
        if self.k > LONGEST {
            let reason = format!("{} is too large, expected at most {LONGEST}", self.k);
            return Err(parameter_error("k", reason));
        }
        port_count("degree", 2 * u64::from(self.degree))?;
        let switches = u64::from(self.degree).checked_pow(self.k);
        let switches = switches.and_then(|words| words.checked_mul(u64::from(self.degree) + 1));
        let switches = node_count("k", "switches", switches)?;
        direct_network(
            switches,
            self.hosts_per_switch,
            2 * u64::from(self.degree),
            "degree",
        )?;
        let words = self.words();
        let mut links = Vec::new();
        for (from, word) in words.iter().enumerate() {
            for letter in (0..=self.degree).filter(|letter| word.last() != Some(letter)) {
                let next = [&word[1..], &[letter]].concat();
                if let Ok(to) = words.binary_search(&next) {
                    links.push((from as u32, to as u32));
                }
            }
        }
        let separator = if self.degree < 10 { "" } else { "." };
        let name = |word: &Vec<u32>| {
            let letters: Vec<String> = word.iter().map(ToString::to_string).collect();
            format!("K{}", letters.join(separator))
        };
        let wiring = Wiring {
            switches: words.iter().map(name).collect(),
            hosts_per_switch: self.hosts_per_switch,
            links: &links,
            least_ports: 0,
            blamed: "degree",
            shape: Shape::Irregular,
        };
        wiring.build(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;
    use std::collections::BTreeMap;

    fn kautz(degree: u32, k: u32) -> Result<Graph, TopologyError> {
        let kautz = Kautz {
            degree,
            k,
            hosts_per_switch: 1,
        };
        kautz.build(&context())
    }

    #[test]
    fn counts_and_distances_are_as_known() {
        for (b, k) in [(2, 0), (2, 2), (2, 4), (3, 1), (3, 2), (4, 1)] {
            let survey = Survey::new(&kautz(b, k).unwrap());
            let switches = (b + 1) as usize * b.pow(k) as usize;
            assert_eq!(survey.switches, switches);
            assert_eq!(survey.switch_links, switches * b as usize);
            assert_eq!(survey.degrees, BTreeMap::from([(2 * b as usize, switches)]));
            assert!(survey.diameter <= k + 1);
        }
        let graph = kautz(2, 2).unwrap();
        assert_eq!(graph.switches()[0].name, "K010");
        assert_eq!(graph.switches()[11].name, "K212");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |degree, k| kautz(degree, k).unwrap_err().to_string();
        assert_eq!(
            message(0, 1),
            "`degree`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(2, 100),
            "`k`: 100 is too large, expected at most 32"
        );
        assert_eq!(
            message(127, 1),
            "`hosts_per_switch`: this makes switches of 255 ports, expected at most 254"
        );
    }
}
