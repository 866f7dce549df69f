//! Rules between keys of several sections, the graph and the routes.

use super::super::pairs::{Feature, Given};
use super::super::sections::{Claims, Scenario, traffic};
use super::super::syntax::Mistake;
use crate::ids::SlId;
use crate::memory::{self, Demand};
use crate::plan::{BufferSharing, FlowPlan, Forwarding, Matching, Plan, SwitchOptions};
use crate::qos::vl_arbitration::Places;
use crate::routing::adaptive::first_lane;
use crate::routing::{LARGEST_TABLE, Routes, Tables};
use crate::topology::Graph;

/// Model rule 13: a lane holds the largest packet that may use it, unless packets go flit by flit.
pub(super) fn capacity(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    if plan.switch.forwarding == Forwarding::Wormhole {
        return Ok(());
    }
    let SwitchOptions {
        lane_capacity,
        sharing,
        ..
    } = plan.switch;
    let what = match sharing {
        BufferSharing::PerLane => "lane",
        BufferSharing::PortPool => "pool",
    };
    for (number, planned) in plan.classes.iter().enumerate() {
        let largest = planned.size.largest();
        if u32::from(largest) > lane_capacity {
            return Err(scenario.fabric.switch.lane_capacity.mistake(format!(
                "a {what} of {lane_capacity} flits cannot hold the packets of {largest} flits of {}: \
                 raise it or shorten the packets",
                traffic::place(scenario, plan, number)
            )));
        }
    }
    Ok(())
}

/// D18: the rest of a packet larger than its output lane sets off when the channel has made room and takes the
/// crossbar delay; what is in the buffer keeps the channel busy meanwhile.
pub(super) fn output_lanes(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    let (buffer, delay) = (plan.switch.output_lane_buffer, plan.switch.crossbar_delay);
    if buffer == 0 || buffer > delay {
        return Ok(());
    }
    let least = delay + 1;
    for (number, planned) in plan.classes.iter().enumerate() {
        let largest = planned.size.largest();
        if u32::from(largest) > buffer {
            return Err(scenario.fabric.switch.output_lane_buffer.mistake(format!(
                "{buffer} flits, fewer than the packets of {largest} flits of {} have, cannot keep a link busy \
                 across a crossbar delay of {delay} cycles: expected at least {least} flits, or room for a packet",
                traffic::place(scenario, plan, number)
            )));
        }
    }
    Ok(())
}

/// D72: what passes the crossbar stops half-way where it is larger than the buffer behind, so that a head that goes before
/// all others could wait for another lane. `Auto` is `Off` then.
pub(super) fn claims(scenario: &Scenario, plan: &mut Plan) -> Result<(), Mistake> {
    let buffer = plan.switch.output_lane_buffer;
    if plan.switch.allocation.claims.is_none() || buffer == 0 {
        return Ok(());
    }
    for (number, planned) in plan.classes.iter().enumerate() {
        let largest = planned.size.largest();
        if u32::from(largest) > buffer {
            if scenario.fabric.switch.claims.value == Claims::Auto {
                plan.switch.allocation.claims = None;
                return Ok(());
            }
            return Err(scenario.fabric.switch.claims.mistake(format!(
                "`Every` does not go with an `output_lane_buffer` of {buffer} flits, in which the packets of {largest} flits of \
                 {} stop half-way: expected room for a packet there, or `Off` here",
                traffic::place(scenario, plan, number)
            )));
        }
    }
    Ok(())
}

/// D84: claims do not go with packets that stand in several queues. `Auto` is `Off` then.
pub(super) fn standing(scenario: &Scenario, plan: &mut Plan, routes: &Routes) {
    let given = Given {
        scenario,
        plan: Some(plan),
        routes: Some(routes),
    };
    if Feature::OpenVoq.is_on(&given) {
        plan.switch.allocation.claims = None;
    }
}

/// D70, D71: what tables may do depends on who chooses.
pub(super) fn tables(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    let (Some(planned), Some(written)) =
        (&plan.switch.vl_arbitration, &scenario.qos.vl_arbitration)
    else {
        return Ok(());
    };
    let is_input_first = plan.switch.matching == Matching::InputFirst;
    let missing = match planned.places {
        Places::InputsAndChannels if !is_input_first => "`fabric.switch.matching: InputFirst`",
        Places::InputsAndChannels if plan.switch.output_lane_buffer == 0 => {
            "`fabric.switch.output_lane_buffer`"
        }
        Places::One | Places::InputsAndChannels => return Ok(()),
    };
    Err(written.value.places.mistake(format!(
        "`InputsAndChannels` needs {missing}: without it there is one place to choose at, use `One`"
    )))
}

/// D74: the largest packet comes without an error more often than not.
pub(super) fn link_retry(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    let (Some(written), Some(retry)) = (&scenario.fabric.link.retry, plan.link_retry) else {
        return Ok(());
    };
    let what = match plan.switch.forwarding {
        Forwarding::Wormhole => "flits",
        _ => "largest packets",
    };
    let flits = plan.transmission(plan.largest_packet());
    let bytes = u64::from(flits) * u64::from(plan.flit_bytes);
    let failure = retry.failure(8 * bytes);
    if failure <= 0.5 {
        return Ok(());
    }
    let most = std::f64::consts::LN_2 / (8 * bytes) as f64;
    Err(written.bit_error_rate.mistake(format!(
        "{:.0} % of the {what}, of {bytes} B, would come with an error: a link like that is down; expected at most {most:.1e}",
        failure * 100.0
    )))
}

/// D43: looks that tell something.
pub(super) fn congestion(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    let (Some(every), Some(key)) = (plan.observe.congestion, &scenario.observe.congestion) else {
        return Ok(());
    };
    let measured = plan.phases.measure;
    if every > measured {
        return Err(key.mistake(format!(
            "{every} cycles from look to look are more than the {measured} of the measurement, in which there is none then"
        )));
    }
    Ok(())
}

/// Most cycles the engine's calendar spans: its memory grows with it.
const MOST_AHEAD: u64 = 1 << 20;

/// Packets, link speeds and latencies together must fit the engine's calendar.
pub(super) fn event_horizon(
    scenario: &Scenario,
    graph: &Graph,
    plan: &Plan,
) -> Result<(), Mistake> {
    let ahead = plan.event_horizon(graph);
    if ahead <= MOST_AHEAD {
        return Ok(());
    }
    Err(scenario.fabric.topology.name.mistake(format!(
        "largest packet, slowest link and longest latency together reach {ahead} cycles ahead; at most \
         {MOST_AHEAD} are supported: use larger flits or shorter packets and latencies"
    )))
}

/// What an entry of a forwarding table takes at least while routes are made \[bytes\].
const BYTES_PER_ENTRY: u64 = 2;

/// Forwarding tables have an entry per switch and host, lane tables one per pair of switches. Engines with more
/// rows check them themselves.
pub(super) fn table_size(scenario: &Scenario, graph: &Graph) -> Result<(), Mistake> {
    let (switches, hosts) = (graph.switches().len() as u64, graph.hosts().len() as u64);
    if switches * hosts.max(switches) <= LARGEST_TABLE {
        let table = Demand {
            count: switches * hosts,
            what: "entries of forwarding tables",
            each: BYTES_PER_ENTRY,
        };
        return memory::require(&[table]).map_err(|lack| {
            let message =
                format!("{switches} switches and {hosts} hosts: {lack}; choose a smaller fabric");
            scenario.fabric.topology.name.mistake(message)
        });
    }
    Err(scenario.fabric.topology.name.mistake(format!(
        "{switches} switches and {hosts} hosts need forwarding tables of more than {LARGEST_TABLE} entries; \
         choose a smaller fabric"
    )))
}

/// A packet carries its service level and layer as one byte.
pub(super) fn lane_keys(scenario: &Scenario, tables: &Tables) -> Result<(), Mistake> {
    let keys = tables.lanes.keys();
    if u8::try_from(keys).is_ok() {
        return Ok(());
    }
    Err(scenario.routing.name.mistake(format!(
        "{} service levels x {} path layers are {keys} lane keys; at most {} are supported: use fewer service \
         levels, or an engine with fewer layers",
        tables.lanes.service_levels,
        tables.lanes.layers,
        u8::MAX
    )))
}

/// A lane that is in neither arbitration table would never be served.
pub(super) fn arbitrated_lanes(
    scenario: &Scenario,
    plan: &Plan,
    routes: &Routes,
) -> Result<(), Mistake> {
    let Some(arbitration) = &scenario.qos.vl_arbitration else {
        return Ok(());
    };
    let entries = || arbitration.value.entries();
    let served = |lane: u8| entries().any(|&(other, weight)| other == lane && weight > 0);
    for class in plan.classes.iter().filter(|class| !class.management) {
        for &sl in &class.service_levels {
            let mut lanes = lanes_of(routes, plan, sl).into_iter();
            if let Some(lane) = lanes.find(|&lane| !served(lane)) {
                return Err(arbitration.mistake(format!(
                    "lane `{lane}` has no entry with a weight above 0, but class `{}` uses it (service \
                     level {sl})",
                    class.name
                )));
            }
        }
    }
    Ok(())
}

/// Lanes that packets of a service level may use.
pub(super) fn lanes_of(routes: &Routes, plan: &Plan, sl: SlId) -> Vec<u8> {
    match routes {
        Routes::Tables(tables) => {
            let map = &tables.lanes;
            let layers = usize::from(map.layers);
            let first = sl.index() * layers;
            let rows = map.profiles.chunks(map.keys().max(1));
            let lanes = rows.filter_map(|row| row.get(first..first + layers));
            lanes.flatten().copied().collect()
        }
        Routes::Adaptive(adaptive) => {
            let width = adaptive.routing.width();
            let first = first_lane(width, plan.switch.lanes, sl);
            (first..first + width).collect()
        }
    }
}

/// What flows exclude.
pub(super) fn flows(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    stops(scenario, plan)?;
    let class = scenario.traffic.iter().find(|class| class.flows.is_some());
    let Some(class) = class.filter(|_| plan.observe.flows) else {
        return Ok(());
    };
    let message = "`observe.flows` has rows by source and destination; a class with `flows` has a row for each of them in \
                   flows.csv anyway: leave `observe.flows` out";
    Err(class.name.mistake(message))
}

/// Stops of flows that ask, which only a file can give them: the key is refused where it is read.
fn stops(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    for (number, class) in scenario.traffic.iter().enumerate() {
        let own = |flow: &&FlowPlan| usize::from(flow.class) == number && flow.stop.is_some();
        let (Some(stopping), true) = (plan.flows.iter().find(own), class.requests.is_some()) else {
            continue;
        };
        let mut entries = class.flows.iter().flatten();
        if let Some(entry) = entries.find(|entry| entry.pairs.name.value == "Csv") {
            return Err(entry.pairs.name.mistake(format!(
                "the column `stop` of the file does not go with `requests`: the flow from host {} to host {} would keep what it was \
                 granted: use the column `bytes`",
                stopping.source.0, stopping.destination.0
            )));
        }
    }
    Ok(())
}
