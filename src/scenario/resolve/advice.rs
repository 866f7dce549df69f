//! What would help where routes are refused: only what was tried and works.
//!
//! Guarantees: an engine, a number of lanes or an option that is named was routed, accepted and proved for this fabric and
//! plan; what is refused with it, too, is not named.
//! Cost: that of routing and proving a few engines; in fabrics of more than [`LARGEST`] pairs of switch and host nothing is
//! tried, and only what holds for every fabric is said.

use super::super::prove::{Refusal, prove};
use super::super::sections::Scenario;
use super::super::syntax::{At, Part};
use super::layout::Layout;
use super::parts::Parts;
use super::stages::plan;
use super::{carry, routes, set_up};
use crate::ids::{INFINIBAND_LANES, MOST_LANES};
use crate::plan::{BufferSharing, InputTurns, Plan};
use crate::routing::{Routes, RoutingError};
use crate::topology::Shape;
use std::borrow::Cow;
use std::path::Path;

/// Largest fabric in which other engines are tried \[switches x hosts\].
const LARGEST: u64 = 1 << 20;
/// Engines that are named, at most.
const MOST_NAMED: usize = 3;
/// Engines for every connected fabric, in the order in which they are tried: those that are known best, then those of one lane,
/// then by the lanes they take.
const FOR_ALL: &[&str] = &[
    "UpDown",
    "Lash",
    "Dfsssp",
    "OpenSmUpDown",
    "SegmentRouting",
    "TurnProhibition",
    "SpanningTree",
    "OpenSmLash",
    "OpenSmDfsssp",
    "MpLash",
    "MinimalAdaptive",
];
/// Those of them that are tried where an engine is made for the fabric.
const BESIDE_SPECIAL: usize = 2;
/// Times that more lanes are tried: an engine may need more as it gets more.
const TRIALS: usize = 3;

/// What was asked for.
#[derive(Clone, Copy)]
pub(super) struct Advice<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) parts: &'a Parts<'a>,
    pub(super) layout: &'a Layout,
    pub(super) plan: &'a Plan,
    pub(super) base: &'a Path,
}

/// Why a trial failed.
enum Failed {
    /// So many lanes are needed.
    Lanes(u8),
    /// Something else.
    Other,
}

impl Advice<'_> {
    /// What helps against an engine that cannot route; empty for errors that say it themselves.
    pub(super) fn against(&self, error: &RoutingError) -> String {
        let RoutingError::TooFewLanes {
            needed, available, ..
        } = error
        else {
            return String::new();
        };
        if *available < self.plan.switch.lanes {
            // it uses fewer lanes than there are
            return self.or_engines(if *needed <= self.plan.switch.lanes {
                "raise its `layers`"
            } else {
                "raise its `layers` and `fabric.switch.lanes`"
            });
        }
        match self.lanes(*needed) {
            Some(lanes) => {
                let beyond = if lanes > INFINIBAND_LANES {
                    format!(" (InfiniBand has at most {INFINIBAND_LANES})")
                } else {
                    String::new()
                };
                format!("raise `fabric.switch.lanes` to {lanes}{beyond}")
            }
            None if *needed > MOST_LANES => self.or_engines(&format!(
                "a channel has at most {MOST_LANES}, so raising `fabric.switch.lanes` does not help"
            )),
            None => self.or_engines("raising `fabric.switch.lanes` alone does not help"),
        }
    }

    /// What helps against routes that may deadlock, with all that is to be said of them.
    pub(super) fn against_refusal(&self, refusal: Refusal, found: &Routes) -> String {
        let (what, circle) = match refusal {
            Refusal::Wrong(message) => return message,
            Refusal::Circle { what, circle } => (what, circle),
        };
        let mut ways: Vec<String> = Vec::new();
        if self.plan.switch.joins_lanes() && self.works_with_lanes_apart(found) {
            ways.push("`sharing: PerLane` with `input_turns: Flits`".into());
        }
        if let Some(engines) = self.engines() {
            ways.push(format!("`routing` {engines}"));
        }
        ways.push("`allow_deadlock: true`".into());
        let lanes = found.guarantees().lanes_needed;
        let engine = found.engine();
        let lanes = match lanes {
            1 => format!("{engine} uses one lane for each service level"),
            lanes => format!("{engine} uses {lanes} lanes for each service level"),
        };
        format!(
            "{what}: set {}; {lanes}, so more of them change nothing; the channels that may wait in a circle:\n{circle}",
            ways.join(", or ")
        )
    }

    /// Fewest lanes with which the engine as written works, from `needed` on.
    fn lanes(&self, needed: u8) -> Option<u8> {
        let mut lanes = needed;
        for _ in 0..TRIALS {
            if lanes > MOST_LANES {
                return None;
            }
            if self.is_large() {
                return Some(lanes);
            }
            match self.works(&self.scenario.routing, lanes) {
                Ok(_) => return Some(lanes),
                Err(Failed::Lanes(more)) if more > lanes => lanes = more,
                Err(_) => return None,
            }
        }
        None
    }

    fn or_engines(&self, why: &str) -> String {
        match self.engines() {
            Some(engines) => format!("{why}; set `routing` {engines}"),
            None => why.to_owned(),
        }
    }

    /// Engines that work: "to `DragonflyMinimal()` or `Ugal()` with 3 lanes".
    fn engines(&self) -> Option<String> {
        if self.is_large() {
            // one lane, any connected fabric
            let is_plain = self.plan.routes_of_flows.is_none() && !self.plan.sets_up();
            return is_plain.then(|| "to `UpDown()`".into());
        }
        let own = &self.scenario.routing.name.value;
        let own = self
            .parts
            .engines
            .find(own)
            .map_or(&**own, |entry| entry.name);
        let mut named: Vec<String> = Vec::new();
        for name in self.candidates() {
            if name == own || named.len() == MOST_NAMED {
                continue;
            }
            let at = At {
                value: name.to_owned(),
                place: self.scenario.routing.name.place,
                path: self.scenario.routing.name.path.clone(),
            };
            let part = Part::new(at, None);
            let lanes = self.plan.switch.lanes;
            match self.works(&part, lanes) {
                Ok(1) => named.push(format!("`{name}()` (1 lane)")),
                Ok(used) => named.push(format!("`{name}()` ({used} lanes)")),
                Err(Failed::Lanes(more))
                    if more <= MOST_LANES && self.works(&part, more).is_ok() =>
                {
                    named.push(format!("`{name}()` with `fabric.switch.lanes: {more}`"));
                }
                Err(_) => {}
            }
        }
        let last = named.pop()?;
        Some(if named.is_empty() {
            format!("to {last}")
        } else {
            format!("to {} or {last}", named.join(", "))
        })
    }

    /// Engines made for this fabric, then those for every fabric; of these all where none is made for it.
    fn candidates(&self) -> impl Iterator<Item = &'static str> + use<> {
        let special: &[&str] = match self.layout.graph.shape() {
            Shape::Dragonfly(_) => &["DragonflyMinimal", "Ugal"],
            Shape::Grid(_) | Shape::Hypercube(_) | Shape::ConcentratedMesh(_) => {
                &["DimensionOrder"]
            }
            Shape::HyperX(_) => &["DimensionOrder", "Ugal"],
            Shape::Tree(_) | Shape::EnrichedTree(_) | Shape::Xgft(_) => &["FatTree"],
            Shape::Fly(_) => &["DestinationTag"],
            Shape::Irregular => &[],
        };
        let more = match special {
            [] => FOR_ALL,
            _ => &FOR_ALL[..BESIDE_SPECIAL],
        };
        special.iter().chain(more).copied()
    }

    fn is_large(&self) -> bool {
        let graph = &self.layout.graph;
        graph.switches().len() as u64 * graph.hosts().len() as u64 > LARGEST
    }

    /// Lanes that an engine uses for a service level, when it works with so many lanes.
    fn works(&self, engine: &Part, lanes: u8) -> Result<u8, Failed> {
        let other = |_| Failed::Other;
        let mut scenario = self.scenario.clone();
        scenario.routing = engine.clone();
        let mut plan = Cow::Borrowed(self.plan);
        if lanes != plan.switch.lanes {
            scenario.fabric.switch.lanes.value = lanes;
            let switch = &scenario.fabric.switch;
            switch.check(&scenario.qos).map_err(other)?;
            scenario.qos.check(lanes).map_err(other)?;
            let anew = self::plan(&scenario, self.parts, self.layout, self.base);
            plan = Cow::Owned(anew.map_err(other)?);
        }
        let entry = engine.entry(self.parts.engines).map_err(other)?;
        let engine = engine.build(entry.build).map_err(other)?;
        let graph = &self.layout.graph;
        let found = routes::compute(&engine, graph, &plan, self.base);
        let found = found.map_err(|error| match error {
            RoutingError::TooFewLanes { needed, .. } => Failed::Lanes(needed),
            _ => Failed::Other,
        })?;
        routes::accept(&scenario, &plan, &found).map_err(other)?;
        set_up::check(&scenario, graph, &found, &plan).map_err(other)?;
        if plan.routes_of_flows.is_some() {
            let plan = plan.to_mut();
            carry::enter(&scenario, self.parts, graph, &found, plan).map_err(other)?;
        }
        let proof = prove(graph, &found, &plan).map_err(|_| Failed::Other)?;
        if proof.acyclic {
            Ok(found.guarantees().lanes_needed)
        } else {
            Err(Failed::Other)
        }
    }

    /// Whether the same routes are free of deadlock where no lane stops another one.
    fn works_with_lanes_apart(&self, found: &Routes) -> bool {
        let mut plan = self.plan.clone();
        plan.switch.sharing = BufferSharing::PerLane;
        plan.switch.input_turns = InputTurns::Flits;
        prove(&self.layout.graph, found, &plan).is_ok_and(|proof| proof.acyclic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Document;

    /// What a fabric without structure is refused with under this engine, in its first line.
    fn refused(routing: &str, switch: &str) -> String {
        let text = format!(
            "Scenario(
                fabric: (topology: Irregular(switches: 20, degree: 4, seed: 3), link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
                         switch: (lane_capacity: \"32 flits\", {switch})),
                routing: {routing},
                traffic: [(name: \"all\", pattern: Uniform, process: Bernoulli(load: 0.1), size: \"4 flits\")],
                phases: (warmup: \"100 cycles\", measure: \"1000 cycles\"))"
        );
        let document = Document::parse("t.ron", &text, Path::new("")).expect("a scenario");
        let error = document.resolve(&Parts::registered());
        let error = error.expect_err("it is refused").to_string();
        error.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn engines_for_every_fabric_are_there_once() {
        let parts = Parts::registered();
        for (place, name) in FOR_ALL.iter().enumerate() {
            assert!(parts.engines.names().any(|known| known == *name), "{name}");
            assert!(!FOR_ALL[..place].contains(name), "{name}");
        }
    }

    #[test]
    fn fabrics_without_structure_have_more_than_two_ways_out() {
        let message = refused("MinHop()", "lanes: 8");
        let engines = ["`UpDown()` (1 lane), `Lash()` (", " or `Dfsssp()` ("];
        assert!(
            engines.iter().all(|words| message.contains(words)),
            "{message}"
        );
        // lanes of a pool stop each other, so that engines of one lane are left
        let message = refused("MinHop()", "lanes: 8, sharing: PortPool");
        let engines =
            "`UpDown()` (1 lane), `SegmentRouting()` (1 lane) or `TurnProhibition()` (1 lane)";
        assert!(message.contains(engines), "{message}");
    }
}
