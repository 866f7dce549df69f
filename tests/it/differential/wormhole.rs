//! Wormhole switching (D77) through one switch, in cases so small that what differs can be followed by hand; `reference_checks` has the
//! same numbers.

use super::{differences, engine, reference};
use crate::random_fabric::{Adaptive, Case, Way};
use crate::reference::Routing;
use crate::reference_checks::{backlogged, plan, star_of, timing};
use std::sync::Arc;
use virtlane::ids::{HostId, SwitchId};
use virtlane::plan::{ClassPlan, Forwarding, Marking, Plan, SwitchOptions};
use virtlane::routing::Routes;
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Selection};
use virtlane::topology::Graph;

/// Heads of one switch, of which each has one candidate.
#[derive(Debug)]
struct OneSwitch(Selection);

impl AdaptiveRouting for OneSwitch {
    fn width(&self) -> u8 {
        1
    }

    fn selection(&self) -> Selection {
        self.0
    }

    fn candidates(&self, _: SwitchId, to: HostId, _: Course, found: &mut Vec<Candidate>) {
        *found = vec![Candidate {
            port: to.0 as u16 + 1,
            lane: 0,
            escape: false,
        }];
    }
}

/// What differs in the first 60 cycles.
fn differs<R>((plan, graph): (Plan, &Graph), routing: R, routes: &Routes) -> Option<String>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let case = Case {
        plan,
        graph: graph.clone(),
        routing,
        cycles: 60,
        fork: None,
        way: Way::alone(),
    };
    differences(&reference(&case), &engine::run(&case, routes))
}

/// Packets of a host.
fn packets(host: u32, destination: u32, size: u16, lane: u8, count: u64) -> ClassPlan {
    let mut class = backlogged(&[host], destination, size, lane);
    class.packets_per_host = Some(count);
    class
}

fn options(lanes: u8) -> SwitchOptions {
    SwitchOptions {
        lanes,
        lane_capacity: 32,
        forwarding: Forwarding::Wormhole,
        ..SwitchOptions::default()
    }
}

/// Two flits for a slow channel, passed in 2 and 3, of which the second one waits in the output buffer until 5.
#[test]
fn wormhole_channels_count_what_is_passed() {
    let (graph, tables) = star_of(&[timing(1, 1), timing(1, 1), timing(3, 1)], 2);
    let routes = Routes::Tables(tables.clone());
    let mut found = Vec::new();
    for lane in [0, 1] {
        for cycle in 0..8 {
            let classes = vec![packets(0, 2, 1, 0, 1), packets(1, 2, 1, lane, 1)];
            let options = SwitchOptions {
                output_buffer: 1,
                ..options(2)
            };
            let mut plan = plan(classes, options);
            (plan.phases.warmup, plan.phases.measure) = (cycle, 1);
            let text = differs((plan, &graph), tables.clone(), &routes);
            found.extend(text.map(|text| format!("lane {lane}, cycle {cycle}: {text}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Two packets of four flits of each of two hosts, by tables and as heads that choose.
#[test]
fn wormhole_marks_by_fill_of_what_has_chosen() {
    let (graph, tables) = star_of(&[timing(1, 1); 3], 1);
    let mut found = Vec::new();
    for selection in [None, Some(Selection::First), Some(Selection::Open)] {
        for (routing_delay, count, fill) in [
            (1, 1, 1),
            (1, 1, 4),
            (1, 2, 4),
            (1, 2, 5),
            (0, 2, 4),
            (0, 2, 5),
        ] {
            let options = SwitchOptions {
                marking: Some(Marking::Ecn {
                    least: fill - 1,
                    most: fill,
                    probability: 0,
                }),
                routing_delay,
                allocation_delay: 1 - routing_delay,
                ..options(1)
            };
            let classes = vec![packets(0, 2, 4, 0, count), packets(1, 2, 4, 0, count)];
            let plan = plan(classes, options);
            let text = match selection {
                None => differs(
                    (plan, &graph),
                    tables.clone(),
                    &Routes::Tables(tables.clone()),
                ),
                Some(selection) => {
                    let function = Arc::new(OneSwitch(selection));
                    let routing = Adaptive {
                        function,
                        deadlock_free: true,
                    };
                    let routes = routing.routes();
                    differs((plan, &graph), routing, &routes)
                }
            };
            let name =
                format!("{selection:?}, routing delay {routing_delay}, {count}, fill {fill}");
            found.extend(text.map(|text| format!("{name}: {text}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
