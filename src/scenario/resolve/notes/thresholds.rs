//! Thresholds of switches that nothing reaches: more than can wait for an output lane, or larger than any packet.

use super::super::checks::lanes_of;
use super::varied::Varied;
use crate::plan::{BufferSharing, ClassPlan, DropRule, Marking, Plan};
use crate::routing::Tables;
use crate::scenario::Resolved;
use crate::scenario::sections::Marks;
use crate::scenario::sections::dropping::Rule;

/// Keys of the thresholds, and those that say what may wait.
const KEYS: [&str; 14] = [
    "fabric.switch.marking",
    "fabric.switch.drop",
    "fabric.switch.lanes",
    "fabric.switch.lane_capacity",
    "fabric.switch.sharing",
    "fabric.topology",
    "fabric.flit",
    "faults",
    "routing",
    "traffic.*.size",
    "traffic.*.sl",
    "traffic.*.flows",
    "traffic.*.messages",
    "traffic.*.answers",
];

/// What is said of those of marking and dropping.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let switch = &resolved.plan.switch;
    let has_thresholds = switch.marking.is_some() || switch.drop.is_some();
    if !has_thresholds || KEYS.iter().any(|key| varied.includes(key)) {
        return Vec::new();
    }
    let inputs = Inputs::of(resolved);
    let mut notes = Vec::new();
    notes.extend(marking(resolved, &inputs));
    notes.extend(packet_size(resolved));
    notes.extend(dropping(resolved, &inputs));
    notes
}

/// The threshold of marking.
fn marking(resolved: &Resolved, inputs: &Inputs) -> Option<String> {
    let plan = &resolved.plan;
    let written = &resolved.scenario.fabric.switch.marking.as_ref()?.value;
    match (written, plan.switch.marking?) {
        (Marks::Requests(written), Marking::Requests(least)) => {
            let path = &written.threshold.path;
            inputs
                .heads(plan)
                .below(least, &format!("{path} is never reached"))
        }
        (Marks::Ecn(written), Marking::Ecn { least, .. }) => {
            // with as much as that nothing is marked
            let (path, least) = (&written.k_min.path, least.saturating_add(1));
            let most = inputs.buffers(plan, "leaves");
            most.below(least, &format!("{path} is never passed"))
        }
        _ => None,
    }
}

/// The smallest packet that InfiniBand's marking marks.
fn packet_size(resolved: &Resolved) -> Option<String> {
    let (plan, switch) = (&resolved.plan, &resolved.scenario.fabric.switch);
    let marks = switch.marking.as_ref()?;
    let (Marks::InfiniBand(written), Marking::InfiniBand { packet, .. }) =
        (&marks.value, plan.switch.marking?)
    else {
        return None;
    };
    let is_marked = |class: &&ClassPlan| class.answers.is_none() && !class.management;
    let sizes = plan.classes.iter().filter(is_marked);
    let largest = sizes.map(|class| class.size.largest()).max()?;
    let key = match &written.packet_size {
        Some(size) => size.path.clone(),
        None => format!("{}.preset", marks.path),
    };
    (packet > largest).then(|| {
        format!("{key}: no packet is marked: the smallest that would be has {packet} flits, and the largest of any class {largest}")
    })
}

/// The threshold of dropping.
fn dropping(resolved: &Resolved, inputs: &Inputs) -> Option<String> {
    let drop = resolved.scenario.fabric.switch.drop.as_ref()?;
    let Rule::Threshold(size) = &drop.value.rule else {
        return None;
    };
    let DropRule::Threshold(least) = resolved.plan.switch.drop.as_ref()?.rule else {
        return None;
    };
    let path = size.path.trim_end_matches("[0]");
    let most = inputs.buffers(&resolved.plan, "comes");
    most.below(least, &format!("{path} is never reached"))
}

/// What stands before an output lane of a switch, at most.
struct Inputs {
    /// Inputs whose packets may have the output.
    ports: u64,
    /// Lanes of each of them whose packets may have the lane.
    lanes: u64,
}

/// The most that can wait for an output lane.
struct Most {
    flits: u64,
    /// What that is.
    words: String,
}

impl Most {
    /// What is said of a key that takes so many flits at least, behind `said`.
    fn below(&self, least: u32, said: &str) -> Option<String> {
        let Self { flits, words } = self;
        (u64::from(least) > *flits).then(|| format!("{said}: it takes {least} flits, and {words}"))
    }
}

impl Inputs {
    /// Those of the switch with the most ports.
    fn of(resolved: &Resolved) -> Self {
        let graph = &resolved.layout.graph;
        let ports = graph
            .switch_ids()
            .map(|switch| graph.connected_ports(switch).count());
        let ports = ports.max().unwrap_or(1).max(1) as u64;
        Self {
            ports: ports - u64::from(ports > 1 && !turns_back(resolved)),
            lanes: lanes(resolved),
        }
    }

    /// Heads of queues, which alone request: each input has one for each lane, whatever its queues. The packet that leaves
    /// was one of them, and the next of its queue requests when it has left.
    fn heads(&self, plan: &Plan) -> Most {
        let (heads, largest) = (
            self.ports * self.lanes - 1,
            u64::from(plan.largest_packet()),
        );
        let flits = heads * largest;
        let most = self.buffers(plan, "leaves");
        if most.flits < flits {
            return most;
        }
        let words = format!(
            "at most {flits} can wait for an output lane beside the packet that leaves: {heads} heads of queues, of at most {largest} \
             flits each"
        );
        Most { flits, words }
    }

    /// All that is in buffers, but the packet that is looked at, which takes room there as well: it `leaves` or `comes`.
    fn buffers(&self, plan: &Plan, does: &str) -> Most {
        let lanes = match plan.switch.sharing {
            BufferSharing::PerLane => self.lanes,
            BufferSharing::PortPool => 1,
        };
        let (ports, each) = (self.ports, lanes * u64::from(plan.switch.lane_capacity));
        let flits = (ports * each).saturating_sub(smallest(plan));
        let words = format!(
            "the buffers hold at most {flits} for an output lane beside the packet that {does}: {ports} inputs have {each} each"
        );
        Most { flits, words }
    }
}

/// Whether packets may go back to where they come from: tables that lead on by destination alone would do so for ever.
fn turns_back(resolved: &Resolved) -> bool {
    let plan = &resolved.plan;
    let has_own_ways = plan.routes_of_flows.is_some() || plan.sets_up();
    let by_destination = |tables: &Tables| tables.input_row.is_empty();
    has_own_ways || !resolved.routes.tables().is_some_and(by_destination)
}

/// Lanes of an input from which packets may come to one output lane, at most.
fn lanes(resolved: &Resolved) -> u64 {
    if resolved.routes.tables().is_some_and(keeps_lanes) {
        return 1;
    }
    u64::from(data_lanes(resolved).count_ones().max(1))
}

/// Lanes that packets of data may have, a bit for each.
pub(super) fn data_lanes(resolved: &Resolved) -> u32 {
    let (plan, routes) = (&resolved.plan, &resolved.routes);
    let data = plan.classes.iter().filter(|class| !class.management);
    let levels = data.flat_map(|class| &class.service_levels);
    let lanes = levels.flat_map(|&level| lanes_of(routes, plan, level));
    lanes.fold(0, |mask, lane| mask | 1 << lane)
}

/// Whether every packet has one lane on its whole way.
fn keeps_lanes(tables: &Tables) -> bool {
    let map = &tables.lanes;
    let profiles = &map.by_output;
    let is_alike = profiles.iter().all(|profile| *profile == profiles[0]);
    is_alike && map.by_input.is_empty() && tables.hop_layer.is_empty()
}

/// The smallest packet \[flits\]; the last one of a flow or message has what is left.
fn smallest(plan: &Plan) -> u64 {
    let has_ends = plan.flows.iter().any(|flow| flow.flits.is_some())
        || plan.classes.iter().any(|class| class.messages.is_some());
    let sizes = plan.classes.iter().map(|class| class.size.smallest());
    let smallest = sizes.min().unwrap_or(1);
    if has_ends { 1 } else { smallest.into() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, UNIFORM, of_flows, said, said_beside};

    /// What is said of these options of switches, with five ports each and packets of 4 flits.
    fn of(switch: &str) -> Vec<String> {
        said(&[UNIFORM, ("SWITCH", &format!(", {switch}"))])
    }

    const MARKING: &str = "fabric.switch.marking";

    #[test]
    fn marking_by_more_than_can_request_is_told() {
        let told = |flits: u32, words: &str| {
            [format!(
                "{MARKING}.threshold is never reached: it takes {flits} flits, and {words}"
            )]
        };
        let heads = "at most 12 can wait for an output lane beside the packet that leaves: 3 heads of queues, of at most 4 \
                     flits each";
        assert_eq!(of("marking: (threshold: \"13 flits\")"), told(13, heads));
        assert_eq!(of("marking: (threshold: \"12 flits\")"), NOTHING);
        let voq = "queues: Voq, marking: (threshold: \"1000 flits\")";
        assert_eq!(of(voq), told(1000, heads));
        let pool = "sharing: PortPool, marking: (threshold: \"13 flits\")";
        assert_eq!(of(pool), told(13, heads));
        let large = [
            UNIFORM,
            ("size: \"4 flits\"", "size: \"40 flits\""),
            ("SWITCH", ", marking: (threshold: \"121 flits\")"),
        ];
        let heads = heads.replace("12 can", "120 can");
        let heads = heads.replace("most 4 flits", "most 40 flits");
        assert_eq!(said(&large), told(121, &heads));
    }

    #[test]
    fn thresholds_beyond_the_buffers_are_told() {
        let told = |key: &str, flits: u32, does: &str| {
            [format!(
                "fabric.switch.{key}: it takes {flits} flits, and the buffers hold at most 252 for an output lane \
                 beside the packet that {does}: 4 inputs have 64 each"
            )]
        };
        let ecn = |least: u32| {
            of(&format!(
                "marking: Ecn(k_min: \"{least} flits\", k_max: \"999 flits\")"
            ))
        };
        assert_eq!(
            ecn(252),
            told("marking.k_min is never passed", 253, "leaves")
        );
        assert_eq!(ecn(251), NOTHING);
        let drop = |least: u32, more: &str| {
            of(&format!(
                "drop: (sl: [0], rule: Threshold(\"{least} flits\")){more}"
            ))
        };
        assert_eq!(
            drop(253, ""),
            told("drop.rule is never reached", 253, "comes")
        );
        assert_eq!(
            drop(253, ", sharing: PortPool"),
            told("drop.rule is never reached", 253, "comes")
        );
        assert_eq!(drop(252, ""), NOTHING);
        assert_eq!(of("drop: (sl: [0])"), NOTHING);
        let threshold = (
            "SWITCH",
            ", drop: (sl: [0], rule: Threshold(\"999 flits\"))",
        );
        for varied in [
            "fabric.switch.drop.rule",
            "fabric.switch.lane_capacity",
            "traffic.u.size",
            "routing",
        ] {
            assert_eq!(
                said_beside(&[varied], &[UNIFORM, threshold]),
                NOTHING,
                "{varied}"
            );
        }
        // the last packet of a flow may be of one flit
        let last = |least: u32| {
            let drop = format!(", drop: (sl: [0], rule: Threshold(\"{least} flits\"))");
            of_flows("bytes: \"64 KiB\"", &[("SWITCH", &*drop)])
        };
        assert_eq!(last(255), NOTHING);
        assert_eq!(last(256).len(), 1);
    }

    #[test]
    fn packets_of_other_lanes_count_where_lanes_change() {
        let torus = |least: u32| {
            let drop = format!(", drop: (sl: [0], rule: Threshold(\"{least} flits\"))");
            said(&[
                UNIFORM,
                (
                    "Complete(switches: 2, hosts_per_switch: 4)",
                    "Torus(radix: [5, 5])",
                ),
                ("MinHop()", "DimensionOrder()"),
                ("SWITCH", &*drop),
            ])
        };
        // four neighbours and a host, less the output itself, with a lane on both sides of each dateline
        assert_eq!(torus(508), NOTHING);
        assert_eq!(
            torus(509),
            [
                "fabric.switch.drop.rule is never reached: it takes 509 flits, and the buffers hold at most 508 for an output lane \
              beside the packet that comes: 4 inputs have 128 each"
            ]
        );
    }

    #[test]
    fn packets_too_small_to_be_marked_are_told() {
        let told = |key: &str, packet: u32| {
            [format!(
                "{MARKING}.{key}: no packet is marked: the smallest that would be has {packet} flits, and the largest of any class 4"
            )]
        };
        let of = |keys: &str| of(&format!("marking: InfiniBand({keys})"));
        assert_eq!(of("packet_size: \"5 flits\""), told("packet_size", 5));
        assert_eq!(of("packet_size: \"4 flits\""), NOTHING);
        for threshold in 1..=15 {
            assert_eq!(of(&format!("threshold: {threshold}")), NOTHING);
        }
    }
}
