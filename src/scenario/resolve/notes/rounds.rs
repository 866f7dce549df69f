//! Further rounds of matching, where the first leaves nothing for them: they serve those whom an input has refused in it.

use super::thresholds::data_lanes;
use super::varied::Varied;
use super::vl_tables::LANES;
use crate::plan::{Forwarding, InputSpeedup, Matching, Queues, SwitchOptions};
use crate::qos::vl_arbitration::Accept;
use crate::scenario::Resolved;

/// What is said of them. A head that may go to several outputs can be refused by one for another whatever the speed-up is.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let (plan, switch) = (&resolved.plan, &resolved.plan.switch);
    let has_one_output = resolved.routes.tables().is_some() && !plan.sets_up();
    let is_for_others = ["fabric.switch", "routing", "qos"]
        .into_iter()
        .any(|key| varied.includes(key));
    if switch.allocation.iterations == 1 || !has_one_output || is_for_others {
        return None;
    }
    let accept = switch.vl_arbitration.as_ref().map(|tables| tables.accept);
    let is_whole = switch.forwarding != Forwarding::Wormhole;
    let is_first = switch.matching == Matching::OutputFirst && accept != Some(Accept::HighFirst);
    let why = match (switch.input_speedup, queues(resolved, switch, varied)) {
        (InputSpeedup::Unlimited, _) if is_first => {
            "with `input_speedup: Unlimited` it refuses none".to_owned()
        }
        (_, Some(1)) => "all packets of an input are in one queue".to_owned(),
        (InputSpeedup::Limited(most), Some(queues))
            if is_first && is_whole && u32::from(most) >= queues =>
        {
            format!("`input_speedup: {most}` lets all {queues} queues of an input send at once")
        }
        _ => return None,
    };
    Some(format!(
        "fabric.switch.iterations changes nothing: further rounds serve outputs whose packets an input has refused, and {why}"
    ))
}

/// Queues of an input that packets come to, at most; `None` where there is one for each output.
fn queues(resolved: &Resolved, switch: &SwitchOptions, varied: &Varied<'_>) -> Option<u32> {
    let are_known = !LANES.iter().any(|key| varied.includes(key));
    let mut classes = resolved.plan.classes.iter();
    let management = u32::from(classes.any(|class| class.management));
    let used = data_lanes(resolved).count_ones() + management;
    (switch.queues == Queues::Fifo).then(|| {
        if are_known {
            used
        } else {
            switch.lane_count().into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, UNIFORM, said_beside};

    const NOTE: &str = "fabric.switch.iterations changes nothing: further rounds serve outputs whose packets an input has refused, and";

    /// What is said of these options of switches, packets of two lanes.
    fn of(switch: &str, varied: &[&str]) -> Vec<String> {
        let class = format!("{}, sl: [0, 1]", UNIFORM.1);
        let switch = format!(", iterations: 3, {switch}");
        said_beside(varied, &[("CLASS", &*class), ("SWITCH", &*switch)])
    }

    #[test]
    fn rounds_after_inputs_that_refuse_nothing_are_told() {
        let unlimited = [format!(
            "{NOTE} with `input_speedup: Unlimited` it refuses none"
        )];
        assert_eq!(of("input_speedup: Unlimited", &[]), unlimited);
        assert_eq!(of("input_speedup: Unlimited, queues: Voq", &[]), unlimited);
        let both = [format!(
            "{NOTE} `input_speedup: 2` lets all 2 queues of an input send at once"
        )];
        assert_eq!(of("input_speedup: 2", &[]), both);
        for switch in [
            "input_speedup: 1",
            "input_speedup: 2, queues: Voq",
            "input_speedup: 2, matching: InputFirst",
        ] {
            assert_eq!(of(switch, &[]), NOTHING, "{switch}");
        }
        for varied in ["fabric.switch.input_speedup", "routing"] {
            assert_eq!(of("input_speedup: Unlimited", &[varied]), NOTHING);
        }
        assert_eq!(of("input_speedup: 2", &["traffic.u.sl"]), both);
    }

    #[test]
    fn rounds_of_inputs_with_one_queue_are_told() {
        let of = |switch: &str, varied: &[&str]| {
            let switch = format!(", iterations: 3{switch}");
            said_beside(varied, &[UNIFORM, ("SWITCH", &*switch)])
        };
        let one = [format!("{NOTE} all packets of an input are in one queue")];
        assert_eq!(of("", &[]), one);
        assert_eq!(of(", matching: InputFirst", &[]), one);
        assert_eq!(of(", queues: Voq", &[]), NOTHING);
        assert_eq!(of("", &["traffic.u.sl"]), NOTHING);
    }

    /// Packets that choose among outputs may be picked by two.
    #[test]
    fn rounds_of_packets_with_several_outputs_are_not() {
        let adaptive = [
            UNIFORM,
            ("SWITCH", ", iterations: 3, input_speedup: Unlimited"),
            (
                "Complete(switches: 2, hosts_per_switch: 4)",
                "KAryNTree(k: 2, n: 3)",
            ),
            ("MinHop()", "AdaptiveAscent()"),
        ];
        assert_eq!(said_beside(&[], &adaptive), NOTHING);
    }
}
