//! What a case has of input-first matching, thresholds of dropping and output lanes with wormhole switching (D79).

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::Matching;
use virtlane::plan::{
    DropRule, Forwarding, InputSpeedup, InputTurns, Marking, OutputArbitration, Plan, Queues,
};
use virtlane::qos::vl_arbitration::{Places, Rules};
use virtlane::routing::adaptive::Selection;

pub(super) fn wormhole_matching<R>(case: &Case<R>) -> Vec<String>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let plan = &case.plan;
    let switch = &plan.switch;
    if switch.forwarding != Forwarding::Wormhole {
        return Vec::new();
    }
    let rule = switch.drop.as_ref().map(|drop| drop.rule);
    let options = [
        (
            "input-first matching",
            switch.matching == Matching::InputFirst,
        ),
        ("a threshold", matches!(rule, Some(DropRule::Threshold(_)))),
        ("output lanes", switch.output_lane_buffer > 0),
    ];
    let first = case.graph.channels()[0].timing.cycles_per_flit;
    let mut paces = case.graph.channels().iter();
    let are_several = paces.any(|channel| channel.timing.cycles_per_flit != first);
    let routing = match (&case.routing).into() {
        Routing::Tables(_) => [false; 2],
        Routing::Adaptive(routing) => {
            let is_open = routing.selection() == Selection::Open;
            [!is_open, is_open]
        }
    };
    let mut found = Vec::new();
    for (name, _) in options.into_iter().filter(|option| option.1) {
        found.push(format!("wormhole with {name}"));
        let beside = options.into_iter().filter(|(other, _)| *other != name);
        let beside = beside.chain(goes_with(plan)).chain([
            ("channels of several paces", are_several),
            ("choices", routing[0]),
            ("open heads", routing[1]),
        ]);
        let met = beside.filter(|other| other.1);
        found.extend(met.map(|(other, _)| format!("wormhole with {name} and {other}")));
    }
    found
}

/// What each of them may go with.
fn goes_with(plan: &Plan) -> [(&'static str, bool); 20] {
    let switch = &plan.switch;
    let tables = switch.vl_arbitration.as_ref();
    let rules = tables.map(|tables| tables.rules);
    [
        (
            "lanes smaller than a packet",
            switch.lane_capacity < plan.largest_packet().into(),
        ),
        ("queues by output", switch.queues == Queues::Voq),
        (
            "several places",
            matches!(switch.input_speedup, InputSpeedup::Limited(2..)),
        ),
        (
            "unlimited places",
            switch.input_speedup == InputSpeedup::Unlimited,
        ),
        ("kept inputs", switch.input_turns == InputTurns::Packets),
        ("rounds", switch.allocation.iterations > 1),
        (
            "random arbitration",
            switch.output_arbitration == OutputArbitration::Random,
        ),
        (
            "the first come first",
            switch.output_arbitration == OutputArbitration::FirstComeFirstServed,
        ),
        (
            "the oldest first",
            switch.output_arbitration == OutputArbitration::OldestFirst,
        ),
        ("VL tables", rules == Some(Rules::InfiniBand)),
        ("legacy tables", rules == Some(Rules::Legacy)),
        (
            "tables at both places",
            tables.is_some_and(|tables| tables.places == Places::InputsAndChannels),
        ),
        ("VL15", plan.classes.iter().any(|class| class.management)),
        ("output buffers", switch.output_buffer > 0),
        ("a crossbar delay", switch.crossbar_delay > 0),
        (
            "InfiniBand's marking",
            matches!(switch.marking, Some(Marking::InfiniBand { .. })),
        ),
        (
            "other marks",
            matches!(
                switch.marking,
                Some(Marking::Requests(_) | Marking::Ecn { .. })
            ),
        ),
        (
            "slow sinks",
            plan.host.sink_cycles_per_flit.is_some_and(|pace| pace > 1),
        ),
        ("retry", plan.link_retry.is_some()),
        ("what is held dropped", {
            let rule = switch.drop.as_ref().map(|drop| drop.rule);
            rule == Some(DropRule::Held)
        }),
    ]
}
