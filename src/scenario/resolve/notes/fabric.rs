//! Keys of the fabric that change nothing: faults that nothing has, seeds that nothing is drawn by, links of hosts without values, VL15
//! that nobody uses, buffers of output lanes and turns of packets at inputs where there is one lane, turns kept where all ask for one flit.

use super::thresholds::data_lanes;
use super::varied::Varied;
use super::vl_tables::LANES;
use crate::ids::LinkId;
use crate::plan::{BufferSharing, Forwarding, InputTurns};
use crate::scenario::Resolved;
use crate::scenario::pairs::{Feature, Given};
use crate::scenario::sections::Claims;
use crate::scenario::sections::faults::{Failures, Faults};
use crate::scenario::syntax::At;
use crate::topology::Graph;

/// All of them.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let mut notes = faults(resolved, varied);
    notes.extend(host_link(resolved, varied));
    notes.extend(management_lane(resolved, varied));
    notes.extend(output_lanes(resolved, varied));
    notes.extend(input_turns(resolved, varied));
    notes.extend(reserve(resolved, varied));
    notes.extend(sharing(resolved, varied));
    notes
}

/// Faults that are none.
fn faults(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let Some(faults) = &resolved.scenario.faults else {
        return Vec::new();
    };
    let is_none = matches!(faults.switches.value, Failures::None)
        && matches!(faults.links.value, Failures::None);
    if is_none {
        let is_for_others = varied.includes("faults.switches") || varied.includes("faults.links");
        let note = "faults changes nothing: neither `switches` nor `links` says what fails";
        let note = (!is_for_others).then(|| note.to_owned());
        return note.into_iter().collect();
    }
    if let Some(note) = counted_none(faults, varied) {
        return vec![note];
    }
    let (graph, failed) = (&resolved.layout.graph, &resolved.layout.failed);
    let switches = (graph.switches().len(), ["switch", "switches"]);
    let links = (
        links_between(graph),
        ["link between switches", "links between switches"],
    );
    let of_switches = failed.switches.is_empty();
    let of_switches = of_switches.then(|| rounded(&faults.switches, switches));
    let of_links = failed.links.is_empty();
    let of_links = of_links.then(|| rounded(&faults.links, links));
    let both = [of_switches, of_links].into_iter().flatten();
    both.chain([seed(faults, varied)]).flatten().collect()
}

/// A count of 0 with nothing beside it.
fn counted_none(faults: &Faults, varied: &Varied<'_>) -> Option<String> {
    let name = match (&faults.switches.value, &faults.links.value) {
        (Failures::Count(0), Failures::None) => "switches",
        (Failures::None, Failures::Count(0)) => "links",
        _ => return None,
    };
    let is_for_others = varied.includes("faults.switches") || varied.includes("faults.links");
    (!is_for_others).then(|| format!("faults changes nothing: `{name}` is `Count(0)`"))
}

/// A seed of faults of which none is drawn.
fn seed(faults: &Faults, varied: &Varied<'_>) -> Option<String> {
    faults.seed?;
    let is_drawn = draws(&faults.switches.value) || draws(&faults.links.value);
    let keys = ["faults.switches", "faults.links", "faults.seed"];
    let is_for_others = keys.iter().any(|key| varied.includes(key));
    (!is_drawn && !is_for_others).then(|| {
        String::from(
            "faults.seed changes nothing: neither `switches` nor `links` draws any by `Count` or `Fraction`",
        )
    })
}

/// Whether what fails is drawn.
fn draws<T>(failures: &Failures<T>) -> bool {
    match *failures {
        Failures::None | Failures::List(_) => false,
        Failures::Count(count) => count > 0,
        Failures::Fraction(fraction) => fraction > 0.0,
    }
}

/// A fraction of so many things of which none has failed; what one and several of them are called.
fn rounded<T>(
    failures: &At<Failures<T>>,
    (all, [one, several]): (usize, [&str; 2]),
) -> Option<String> {
    let things = if all == 1 { one } else { several };
    match failures.value {
        Failures::Fraction(fraction) if fraction > 0.0 => Some(format!(
            "{}: `Fraction({fraction:?})` of {all} {things} rounds to 0, so none fails: the least is `Count(1)`",
            failures.path
        )),
        _ => None,
    }
}

/// Links that random faults may hit.
fn links_between(graph: &Graph) -> usize {
    let links = (0..graph.link_count()).map(LinkId::from);
    let between = links.filter(|&link| {
        let mut ends = graph.link_ends(link).into_iter();
        ends.all(|end| end.switch().is_some())
    });
    between.count()
}

/// Links of hosts that do not differ.
fn host_link(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let link = resolved.scenario.fabric.host_link.as_ref()?;
    let is_empty = link.rate.is_none() && link.latency.is_none();
    (is_empty && !varied.includes("fabric.host_link")).then(|| {
        String::from("fabric.host_link changes nothing: it has neither `rate` nor `latency`")
    })
}

/// VL15 without packets.
fn management_lane(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let plan = &resolved.plan;
    let is_used = plan.classes.iter().any(|class| class.management);
    let is_for_others = varied.includes("traffic.*.sl") || varied.includes("traffic.*.answers.sl");
    let is_idle = plan.switch.management_lane && !is_used && !is_for_others;
    let scenario = &resolved.scenario;
    // what claims do not go with beside VL15
    let buffer = plan.switch.output_lane_buffer;
    let given = Given {
        scenario,
        plan: Some(plan),
        routes: Some(&resolved.routes),
    };
    let ends_claims = scenario.fabric.switch.claims.value == Claims::Auto
        && !Feature::OpenVoq.is_on(&given)
        && plan.switch.forwarding != Forwarding::Wormhole
        && plan.switch.vl_arbitration.is_none()
        && (buffer == 0 || u32::from(plan.largest_packet()) <= buffer);
    let what = if ends_claims {
        "does nothing but end `fabric.switch.claims: Auto`"
    } else {
        "changes nothing"
    };
    is_idle.then(|| {
        format!(
            "{} {what}: no class and no answers are on VL15 (`sl: Management`)",
            scenario.qos.management_lane.path
        )
    })
}

/// Buffers of output lanes where every output has one lane: the crossbar is as fast as the channel behind it, and a packet has its
/// credits when it crosses (D18), so nothing ever waits there.
fn output_lanes(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let plan = &resolved.plan;
    let is_alone = plan.switch.lanes == 1 && !plan.switch.management_lane;
    let others = ["fabric.switch.lanes", "fabric.switch.output_lane_buffer"];
    let is_for_others = others.iter().any(|other| varied.includes(other));
    let is_idle = plan.switch.output_lane_buffer != 0 && is_alone && !is_for_others;
    is_idle.then(|| {
        String::from(
            "fabric.switch.output_lane_buffer changes nothing: packets of several lanes wait for a channel behind the crossbar, and \
             `fabric.switch.lanes` is 1",
        )
    })
}

/// Turns that are kept for want of credits, where all requests of a lane need one flit's (D78).
fn reserve(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let switch = &resolved.plan.switch;
    let is_idle = switch.reserve && switch.forwarding == Forwarding::Wormhole;
    (is_idle && !varied.includes("fabric.switch")).then(|| {
        String::from(
            "fabric.switch.reserve changes nothing: it keeps the turn of a packet that needs more credits than others do, and with \
             `forwarding: Wormhole` all need one flit's",
        )
    })
}

/// Inputs that packets keep until their last flit has passed, where all packets are in one queue of each: no other could come between.
fn input_turns(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let (plan, switch) = (&resolved.plan, &resolved.plan.switch);
    if switch.input_turns != InputTurns::Packets || varied.includes("fabric.switch") {
        return None;
    }
    let used = data_lanes(resolved);
    let are_known = !LANES.iter().any(|key| varied.includes(key));
    let has_management = plan.classes.iter().any(|class| class.management);
    let why = if switch.lanes == 1 && !switch.management_lane {
        String::from("`fabric.switch.lanes` is 1")
    } else if used.is_power_of_two() && are_known && !has_management {
        format!("all packets are on lane {}", used.trailing_zeros())
    } else {
        return None;
    };
    Some(format!(
        "{} changes nothing: with `Packets` flits of other lanes wait until a packet has left an input, and {why}",
        resolved.scenario.fabric.switch.input_turns.path
    ))
}

/// A pool of one lane.
fn sharing(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let switch = &resolved.plan.switch;
    let is_idle = switch.sharing == BufferSharing::PortPool && switch.lane_count() == 1;
    (is_idle && !varied.includes("fabric.switch")).then(|| {
        format!(
            "{} changes nothing: the lanes of an input share a pool, and `fabric.switch.lanes` is 1",
            resolved.scenario.fabric.switch.sharing.path
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, UNIFORM, said_beside};
    use super::LANES;

    #[test]
    fn pools_of_one_lane_are_told() {
        let of = |lanes: &str, varied: &[&str]| {
            let pool = ("SWITCH", ", sharing: PortPool");
            said_beside(varied, &[UNIFORM, ("lanes: 2", lanes), pool])
        };
        let told = "fabric.switch.sharing changes nothing: the lanes of an input share a pool, and `fabric.switch.lanes` is 1";
        assert_eq!(of("lanes: 1", &[]), [told]);
        assert_eq!(of("lanes: 1", &["fabric.switch.lanes"]), NOTHING);
        assert_eq!(of("lanes: 2", &[]), NOTHING);
    }

    #[test]
    fn seeds_of_faults_that_are_listed_are_told() {
        let of = |faults: &str, varied: &[&str]| {
            let section =
                format!(", allow_unreachable: true, faults: ({faults}, keep_connected: false)");
            said_beside(varied, &[UNIFORM, ("SCENARIO", &*section)])
        };
        let idle = "faults.seed changes nothing: neither `switches` nor `links` draws any by `Count` or `Fraction`";
        for listed in [
            "links: List([(0, 1)])",
            "switches: List([1])",
            "switches: List([1]), links: Count(0)",
            "switches: List([1]), links: Fraction(0)",
        ] {
            assert_eq!(of(&format!("{listed}, seed: 5"), &[]), [idle], "{listed}");
            assert_eq!(of(listed, &[]), NOTHING, "{listed}");
        }
        assert_eq!(of("links: Count(1), seed: 5", &[]), NOTHING);
        assert_eq!(of("switches: Fraction(0.5), seed: 5", &[]), NOTHING);
        for varied in ["faults.links", "faults.switches", "faults.seed", "faults"] {
            let found = of("switches: List([1]), seed: 5", &[varied]);
            assert_eq!(found, NOTHING, "{varied}");
        }
    }

    #[test]
    fn buffers_of_single_output_lanes_are_told() {
        let of = |lanes: &str, rest: &str, varied: &[&str]| {
            let switch = format!(", output_lane_buffer: \"8 flits\"{rest}");
            said_beside(
                varied,
                &[UNIFORM, ("lanes: 2", lanes), ("SWITCH", &*switch)],
            )
        };
        let idle = "fabric.switch.output_lane_buffer changes nothing: packets of several lanes wait for a channel behind the crossbar, \
                    and `fabric.switch.lanes` is 1";
        assert_eq!(of("lanes: 1", "", &[]), [idle]);
        assert_eq!(of("lanes: 2", "", &[]), NOTHING);
        for varied in ["fabric.switch.lanes", "fabric.switch"] {
            assert_eq!(of("lanes: 1", "", &[varied]), NOTHING, "{varied}");
        }
    }

    #[test]
    fn turns_kept_where_all_need_one_flit_are_told() {
        let of =
            |switch: &str, varied: &[&str]| said_beside(varied, &[UNIFORM, ("SWITCH", switch)]);
        let idle = "fabric.switch.reserve changes nothing: it keeps the turn of a packet that needs more credits than others do, and \
                    with `forwarding: Wormhole` all need one flit's";
        assert_eq!(of(", forwarding: Wormhole, reserve: true", &[]), [idle]);
        assert_eq!(of(", forwarding: Wormhole", &[]), NOTHING);
        assert_eq!(of(", reserve: true", &[]), NOTHING);
        for varied in ["fabric.switch.forwarding", "fabric.switch.reserve"] {
            let switch = ", forwarding: Wormhole, reserve: true";
            assert_eq!(of(switch, &[varied]), NOTHING, "{varied}");
        }
    }

    #[test]
    fn inputs_that_packets_of_one_lane_keep_are_told() {
        let of = |lanes: &str, turns: &str, varied: &[&str]| {
            let switch = format!(", forwarding: Wormhole, input_turns: {turns}");
            said_beside(
                varied,
                &[UNIFORM, ("lanes: 2", lanes), ("SWITCH", &*switch)],
            )
        };
        let idle = "fabric.switch.input_turns changes nothing: with `Packets` flits of other lanes wait until a packet has left an \
                    input, and `fabric.switch.lanes` is 1";
        assert_eq!(of("lanes: 1", "Packets", &[]), [idle]);
        assert_eq!(of("lanes: 1", "Flits", &[]), NOTHING);
        let several = "fabric.switch.input_turns changes nothing: with `Packets` flits of other lanes wait until a packet has left an \
                       input, and all packets are on lane 0";
        assert_eq!(of("lanes: 2", "Packets", &[]), [several]);
        for varied in ["fabric.switch.lanes", "fabric.switch.input_turns"] {
            assert_eq!(of("lanes: 1", "Packets", &[varied]), NOTHING, "{varied}");
            assert_eq!(of("lanes: 2", "Packets", &[varied]), NOTHING, "{varied}");
        }
        for varied in LANES {
            assert_eq!(of("lanes: 2", "Packets", &[varied]), NOTHING, "{varied}");
        }
    }

    #[test]
    fn inputs_that_packets_of_several_lanes_share_are_not() {
        let of = |class: &str, more: &[(&str, &str)]| {
            let kept = ("SWITCH", ", forwarding: Wormhole, input_turns: Packets");
            let class = format!("{}, {class}", UNIFORM.1);
            said_beside(&[], &[&[("CLASS", &*class), kept][..], more].concat())
        };
        // engines have a lane for each service level
        let told = |lane: u8| {
            [format!(
                "fabric.switch.input_turns changes nothing: with `Packets` flits of other lanes wait until a packet has left an input, \
                 and all packets are on lane {lane}"
            )]
        };
        assert_eq!(of("sl: 1", &[]), told(1));
        assert_eq!(of("sl: [0, 1]", &[]), NOTHING);
        let beside = |level: &str| {
            let other = "pattern: Uniform, process: Bernoulli(load: 0.1), size: \"4 flits\"";
            of(&format!("sl: 1), (name: \"v\", {other}, sl: {level}"), &[])
        };
        assert_eq!(beside("1"), told(1));
        assert_eq!(beside("0"), NOTHING);
        // both lanes of a ring, on the two sides of its dateline
        let ring = [
            (
                "Complete(switches: 2, hosts_per_switch: 4)",
                "Torus(radix: [5])",
            ),
            ("MinHop()", "DimensionOrder()"),
            ("SCENARIO", ", allow_deadlock: true"),
        ];
        assert_eq!(of("sl: 0", &ring), NOTHING);
        let control = |level: u8| {
            let flows = format!(
                "flows: [(pairs: AllToAll)], control: Saa(), sl: 0, answers: (sl: {level})"
            );
            let kept = ("SWITCH", ", forwarding: Wormhole, input_turns: Packets");
            said_beside(&[], &[("CLASS", &*flows), kept])
        };
        assert_eq!(control(0), told(0));
        assert_eq!(control(1), NOTHING);
    }
}
