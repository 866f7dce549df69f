//! Destination-tag routing of k-ary n-flies: in every stage one digit of the destination is the output.
//!
//! Guarantees: every packet passes one switch of each stage, also one to a host of the same switch; in order;
//! deadlock-free on one lane, as channels wait for channels of later stages only.
//! Needs: a k-ary n-fly ([`Shape::Fly`]), 1 lane.
//! Fails with: [`RoutingError::Unsupported`] for other shapes.
//! Cost: time and memory O(switches * hosts).
//!
//! # Algorithm
//! Switches of the first and the last stage are one (see [`FlyShape`](crate::topology::graph::FlyShape)) and have two
//! rows: packets from hosts are looked up in that of the first stage, the others in that of the last.
//!
//! References: [`DALLY_TOWLES`] section 8.4.1

use crate::ids::HostId;
use crate::references::DALLY_TOWLES;
use crate::registry::{Arguments, Entry};
use crate::routing::balance::require_nameable_ports;
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables, UNREACHABLE,
};
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// Routing by the digits of the destination; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DestinationTag {}

const NAME: &str = "DestinationTag";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["dest_tag"],
    summary: "k-ary n-flies: the digits of the destination are the outputs, stage by stage",
    parameters: &[],
    guarantees: &[
        "every packet passes one switch of each stage",
        "deadlock-free on 1 lane",
        "in order",
    ],
    references: &[DALLY_TOWLES],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<DestinationTag>()?)),
};

impl RoutingEngine for DestinationTag {
    fn is_drawn(&self) -> bool {
        false
    }

    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: |shape| matches!(shape, Shape::Fly(_)),
            links: Present::All(
                "there is one way only to each host; use `UpDown()`, which routes any connected fabric",
            ),
        })
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let Shape::Fly(shape) = graph.shape() else {
            return Err(regular::is_no(NAME, graph, "k-ary n-fly"));
        };
        require_nameable_ports(graph, NAME)?;
        let (k, per_stage) = (shape.arity, shape.switches_per_stage());
        let switches = graph.switches().len() as u32;
        // the rows of the last stage come after those of all switches
        let last_rows = if shape.stages == 1 { 0 } else { per_stage };
        let entry = |row: u32, host: HostId| {
            let stage = if row < switches {
                row / per_stage
            } else {
                shape.stages - 1
            };
            let output = shape.output(stage, host.0);
            if stage + 1 < shape.stages {
                (k + 1 + output) as u8
            } else if row % per_stage == host.0 / k {
                1 + output as u8
            } else {
                UNREACHABLE
            }
        };
        let rows = 0..switches + last_rows;
        let next = rows.flat_map(|row| graph.host_ids().map(move |host| entry(row, host)));
        let next: Vec<u8> = next.collect();
        let guarantees = Guarantees {
            deadlock_free: true,
            ..Guarantees::IN_ORDER
        };
        let mut tables = Tables::on_one_lane(graph, NAME, next, budget, guarantees);
        if last_rows > 0 {
            let row = graph.channels().iter().map(|channel| {
                let to = channel.to.switch()?.0;
                let is_last = to < per_stage && channel.from.host().is_none();
                Some(if is_last { switches + to } else { to })
            });
            tables.input_row = row.map(Option::unwrap_or_default).collect();
        }
        Ok(tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::loads::bound::{Limits, Place, Router, bound};
    use crate::routing::loads::demand::Demand;
    use crate::routing::tests::conformance::{agrees_with_paths, budget, engine, proof};
    use crate::routing::tests::graphs::tree;
    use crate::topology::tests::{built, context};
    use crate::traffic::{PATTERNS, PatternContext};

    fn fly(k: u32, n: u32) -> Graph {
        built(&format!("KAryNFly(k: {k}, n: {n})"), &context())
    }

    #[test]
    fn every_packet_passes_every_stage_and_there_is_no_circle() {
        for (k, n) in [(2_u32, 1), (3, 2), (4, 2), (2, 3), (3, 3), (2, 5)] {
            let graph = fly(k, n);
            let (tables, proof) = proof(&graph, "DestinationTag()", 1);
            assert!(proof.acyclic, "{k} {n}");
            let hosts = u64::from(k.pow(n));
            assert_eq!(proof.max_hops, n - 1);
            assert_eq!(proof.hop_histogram[n as usize - 1], hosts * (hosts - 1));
            // one direction of every link between stages
            assert_eq!(proof.channels_used as u64, u64::from(n - 1) * hosts);
            agrees_with_paths(&graph, &tables, &proof, 1);
        }
    }

    /// Load at which the first channel between switches is full.
    fn limit(k: u32, n: u32, pattern: &str, text: &str) -> (f64, Place) {
        let graph = fly(k, n);
        let (tables, _) = proof(&graph, "DestinationTag()", 1);
        let hosts: Vec<HostId> = graph.host_ids().collect();
        let context = PatternContext {
            graph: &graph,
            hosts: &hosts,
            ranks: &hosts,
            seed: 1,
            class: 0,
        };
        let build = PATTERNS.find(pattern).unwrap().build;
        let pattern = build(Arguments { text }, &context).unwrap();
        let mut demand = Demand::none(hosts.len());
        demand.add(&graph, &*pattern, &hosts, 1.0);
        let limits = Limits::of_sink(None);
        let found = bound(&graph, Router::Tables(&tables), &demand, limits);
        let found = found.0.unwrap();
        (found.load, found.place)
    }

    /// Uniform traffic fills every channel alike (capacity 1); to other hosts only, those on no way of a host to
    /// itself carry N / (N - 1). The transpose of 64 hosts puts four senders on one channel.
    #[test]
    fn capacities_are_the_known_ones() {
        for (k, n) in [(2_u32, 2), (4, 2), (2, 4), (4, 3)] {
            let hosts = f64::from(k.pow(n));
            let (load, _) = limit(k, n, "Uniform", "(self_traffic: true)");
            assert!((load - 1.0).abs() < 1e-9, "{k} {n}: {load}");
            let (load, place) = limit(k, n, "Uniform", "");
            assert!(
                (load - (hosts - 1.0) / hosts).abs() < 1e-9,
                "{k} {n}: {load}"
            );
            assert_eq!(place, Place::Inner);
        }
        let (load, place) = limit(2, 6, "Transpose", "");
        assert_eq!(place, Place::Inner);
        assert!((load - 0.25).abs() < 1e-9, "{load}");
    }

    #[test]
    fn other_shapes_are_refused() {
        let error = engine("DestinationTag()").route(&tree(2, 2), budget(1), 1);
        assert!(error.unwrap_err().to_string().contains("no k-ary n-fly"));
    }
}
