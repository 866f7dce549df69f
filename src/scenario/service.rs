//! What a scenario promises its traffic: shares of a saturated channel, and how long a packet may wait.
//!
//! Both follow from tables alone; processes and patterns do not matter. Adaptive routing has neither, nor have fabrics where flows
//! have routes of their own.

use super::Resolved;
use crate::ids::SlId;
use crate::plan::{ClassPlan, Forwarding, Plan};
use crate::qos::available_bandwidth::{Form, Shares};
use crate::qos::vl_arbitration::Rules;
use crate::qos::worst_case::latency;
use crate::routing::loads::waits::{self, Wait};
use crate::routing::{LaneMap, Tables};
use std::collections::BTreeSet;

/// What is promised.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// The longest waits by switches on the way, fewest first.
    pub waits: Vec<Wait>,
    /// Time of the largest packet on the slowest channel \[cycles\].
    pub transmission: u64,
    /// Parts of a channel, with InfiniBand's VL arbitration of whole packets.
    pub shares: Option<LevelShares>,
}

/// What service levels get of a channel on which all lanes of the arbitration tables have packets.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelShares {
    /// All packets have this size \[bytes\]: the largest of the scenario.
    pub packet_bytes: u64,
    /// Each service level of a class, ascending.
    pub levels: Vec<LevelShare>,
    /// Each class that does not go on VL15, by its name: that of all its service levels \[fraction of the channel\].
    pub classes: Vec<(String, f64)>,
}

/// What one service level gets.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelShare {
    /// The service level.
    pub level: SlId,
    /// Of the channel where it gets least \[fraction\].
    pub share: f64,
    /// Other service levels that have lanes with it, and so part of its share.
    pub beside: Vec<SlId>,
}

impl Service {
    /// The service of a scenario; `None` when routing is adaptive, or flows have routes of their own. Cost: that of [`waits::longest`].
    pub fn of(resolved: &Resolved) -> Option<Self> {
        let tables = resolved.routes.tables()?;
        let (graph, plan) = (&resolved.layout.graph, &resolved.plan);
        if plan.routes_of_flows.is_some() || plan.sets_up() {
            return None;
        }
        let paces = graph.channels().iter().map(|c| c.timing.cycles_per_flit);
        Some(Self {
            waits: waits::longest(graph, tables),
            transmission: u64::from(plan.largest_packet()) * u64::from(paces.max().unwrap_or(1)),
            shares: LevelShares::of(plan, tables),
        })
    }

    /// The longest wait of all pairs \[cycles\], with the pair; `None` without pairs.
    pub fn longest(&self) -> Option<(&Wait, u128)> {
        let longest = self.waits.iter().max_by_key(|wait| wait.packets)?;
        Some((longest, self.cycles(longest)))
    }

    /// A wait \[cycles\].
    pub fn cycles(&self, wait: &Wait) -> u128 {
        latency(self.transmission, wait.packets)
    }
}

impl LevelShares {
    fn of(plan: &Plan, tables: &Tables) -> Option<Self> {
        let arbitration = plan.switch.vl_arbitration.as_ref()?;
        // a wormhole lane idles while its next header is routed, and others have its turns
        let is_promised = plan.switch.forwarding != Forwarding::Wormhole;
        if arbitration.rules == Rules::Legacy || !is_promised {
            return None;
        }
        let (flits, flit_bytes) = (plan.largest_packet(), plan.flit_bytes);
        let packet_bytes = u64::from(flits) * u64::from(flit_bytes);
        let size = arbitration.size(flits, flit_bytes);
        let shares = Shares::new(arbitration, size, Form::Exact);
        let map = &tables.lanes;
        let least = |levels: &[SlId]| {
            let rows = 0..map.profiles.len() / map.keys().max(1);
            let sum = |lanes: BTreeSet<u8>| lanes.iter().map(|&lane| shares.of_lane(lane)).sum();
            let each = rows.map(|row| sum(lanes_of(map, row, levels)));
            each.reduce(f64::min).unwrap_or(0.0)
        };
        let classes = plan.classes.iter().filter(|class| !class.management);
        let used = |class: &ClassPlan| class.service_levels.clone();
        let levels: BTreeSet<SlId> = classes.clone().flat_map(used).collect();
        let one = |&level: &SlId| LevelShare {
            level,
            share: least(&[level]),
            beside: levels
                .iter()
                .copied()
                .filter(|&other| other != level && do_meet(map, level, other))
                .collect(),
        };
        Some(Self {
            packet_bytes,
            levels: levels.iter().map(one).collect(),
            classes: classes
                .map(|class| (class.name.clone(), least(&class.service_levels)))
                .collect(),
        })
    }
}

/// Lanes of these service levels in a row of the map.
pub(super) fn lanes_of(map: &LaneMap, row: usize, levels: &[SlId]) -> BTreeSet<u8> {
    let layers = usize::from(map.layers);
    let profile = &map.profiles[row * map.keys()..][..map.keys()];
    let of = |level: &SlId| profile.get(level.index() * layers..(level.index() + 1) * layers);
    let lanes = levels.iter().filter_map(of).flatten();
    lanes.copied().collect()
}

/// Whether two service levels have a lane in common somewhere.
fn do_meet(map: &LaneMap, one: SlId, other: SlId) -> bool {
    let mut rows = 0..map.profiles.len() / map.keys().max(1);
    rows.any(|row| {
        let [one, other] = [one, other].map(|level| lanes_of(map, row, &[level]));
        !one.is_disjoint(&other)
    })
}
