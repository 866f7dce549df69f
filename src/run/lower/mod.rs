//! Lowers graph, routes and plan to the rows of every shard.
//!
//! Cost: O(switches * hosts) for the forwarding table, O(ports * lanes) for the rest.

mod forwarding;

use crate::cycle::rules::{Any, Rules};
use crate::cycle::state::{
    Adaptation, Border, Management, OwnRoutes, Shared, SwitchRules, Traffic, flow_ends,
};
use crate::fabric::Classifier;
use crate::fabric::bit_errors::Errors;
use crate::fabric::components::{InPort, OutLane, OutPort, Peer, Queue, Switch};
use crate::fabric::mask::{LaneMask, Mask, QueueMask};
use crate::fabric::numbering::Numbering;
use crate::fabric::placement::{Placement, credit_latency};
use crate::fabric::rows::{BorderRow, FarEnd, QueueRow, Row, SwitchRow, TurnRow};
use crate::ids::{ChannelId, SlId};
use crate::plan::{ClassPlan, DropRule, Plan, Queues};
use crate::routing::adaptive::{Adaptive, Selection, first_lane};
use crate::routing::{Routes, Tables};
use crate::topology::Graph;
use std::sync::Arc;

/// Rows of one shard, ready to be spawned.
#[derive(Debug)]
pub struct Rows<const W: usize> {
    /// Switches.
    pub switches: Vec<Switch<W>>,
    /// Ports: both sides.
    pub ports: Vec<(OutPort, InPort)>,
    /// A lane at cycle 0; all are alike.
    pub lane: OutLane<W>,
    /// Number of lanes.
    pub lane_count: usize,
    /// How packets of a lane are sorted into queues.
    pub classifier: Classifier,
    /// Pairs of an output and an input of one switch, where lanes take turns within an input.
    pub turn_count: usize,
    /// Channels that leave the shard.
    pub border: Vec<Border>,
}

impl<const W: usize> Rows<W> {
    /// What hops touch of them often \[bytes\]; of the queues of a lane few have packets.
    pub fn bytes(&self) -> usize {
        let port = size_of::<OutPort>() + size_of::<InPort>();
        let lane = size_of::<OutLane<W>>() + size_of::<Queue>();
        size_of_val(self.switches.as_slice()) + port * self.ports.len() + lane * self.lane_count
    }

    /// No switch and no port yet.
    fn new(plan: &Plan, shared: &Shared) -> Self {
        Self {
            switches: Vec::new(),
            ports: Vec::new(),
            lane: OutLane {
                ramp_start: 0,
                sent: 0,
                credits: plan.switch.lane_capacity,
                ramp_flits: 0,
                ramp_step: 1,
                pointer: 0,
                need: 0,
                requests: Mask::EMPTY,
            },
            lane_count: 0,
            classifier: shared.switch.classifier,
            turn_count: 0,
            border: Vec::new(),
        }
    }
}

/// Tables and options for all shards.
///
/// # Panics
/// When the lane map has more than 255 keys; checked when the plan is resolved.
pub fn shared(graph: &Graph, routes: &Routes, plan: &Plan, placement: &Placement) -> Shared {
    let mut switch = SwitchRules::new(&plan.switch);
    let sink = plan.host.sink_cycles_per_flit.unwrap_or(0) as u16;
    switch.uniform_pace = is_uniform(graph, sink);
    switch.sink_step = match sink {
        0 if plan.bounded().next().is_some() => SwitchRules::AS_LINK,
        pace => pace,
    };
    let outputs = widest(graph);
    if plan.switch.queues == Queues::Voq {
        let lanes = Numbering::new(plan.switch.lane_count()).lanes();
        let shift = lanes.trailing_zeros();
        switch.classifier = Classifier::LaneAndOutput { outputs, shift };
    }
    // a dropped packet leaves beside the one that its input sends
    let several = switch.speedup != 1 || plan.switch.drop.is_some();
    let is_shared = switch.pool || !switch.classifier.is_lane();
    // ... and by a threshold beside the one that leaves its own queue
    let rule = plan.switch.drop.as_ref().map(|drop| drop.rule);
    let by_threshold = matches!(rule, Some(DropRule::Threshold(_)));
    // ... and what wakes an output with lanes behind the crossbar looks at their room
    let has_lanes = switch.single_flits && plan.switch.output_lane_buffer > 0;
    switch.stepped_credits = is_shared && several || by_threshold || has_lanes;
    let mut forwarding = forwarding::lower(graph, routes.tables(), plan, placement);
    let adaptation = match routes {
        Routes::Tables(_) => None,
        Routes::Adaptive(adaptive) => {
            switch.open = adaptive.routing.selection() == Selection::Open;
            let adaptation = adaptation(graph, adaptive, plan, placement);
            forwarding.management_key = adaptation.management_key();
            Some(adaptation)
        }
    };
    let mut numbering = Numbering::new(plan.switch.lane_count());
    // of groups of one lane, adaptive routing has no other to choose
    let width = adaptation.as_ref().map_or(1, |adaptation| adaptation.width);
    if width == 1 && forwarding.keeps_lanes() {
        numbering = numbering.with_lanes_kept();
    }
    Shared {
        numbering,
        forwarding,
        traffic: Traffic {
            classes: plan.classes.clone(),
            saturating: plan.classes.iter().map(ClassPlan::is_backlogged).collect(),
            largest: plan.largest_packet(),
            flit_bytes: plan.flit_bytes,
        },
        switch,
        outputs,
        tables: plan.switch.vl_arbitration.clone(),
        adaptation,
        own_routes: OwnRoutes::new(graph, plan, placement),
        errors: Errors::new(plan),
        flow_ends: flow_ends(plan, placement),
    }
}

/// What adaptive routing needs in place of tables.
fn adaptation(
    graph: &Graph,
    adaptive: &Adaptive,
    plan: &Plan,
    placement: &Placement,
) -> Adaptation {
    let routing = &adaptive.routing;
    let (width, lanes) = (routing.width(), plan.switch.lanes);
    let levels = 0..plan.service_level_count();
    let mut entries = 0;
    let first_entry = placement.port_index.iter().map(|index| {
        entries += index.len() as u32;
        entries - index.len() as u32
    });
    let least_step = graph.switch_ids().map(|switch| {
        let ports = graph.connected_ports(switch);
        let steps = ports.map(|(_, channel)| graph.channel(channel).timing.cycles_per_flit as u16);
        steps.min().unwrap_or(1)
    });
    Adaptation {
        routing: Arc::clone(routing),
        selection: routing.selection(),
        width,
        first_lane: levels
            .map(|sl| first_lane(width, lanes, SlId(sl)))
            .chain([lanes])
            .collect(),
        first_entry: first_entry.collect(),
        port_index: placement.port_index.concat(),
        least_step: least_step.collect(),
        capacity: plan.switch.lane_capacity,
        management: (plan.management_tables.as_deref())
            .map(|tables| management(graph, tables, placement)),
    }
}

/// Where packets of VL15 go beside those that choose.
fn management(graph: &Graph, tables: &Tables, placement: &Placement) -> Management {
    let port_step = graph.switch_ids().flat_map(|switch| {
        let ports = 1..=placement.port_index[switch.index()].len();
        ports.map(move |port| {
            let channel = graph.port_channel(switch, port as u16);
            channel.map_or(1, |channel| {
                graph.channel(channel).timing.cycles_per_flit as u16
            })
        })
    });
    Management {
        next: tables.next.clone(),
        port_step: port_step.collect(),
    }
}

/// Most connected ports of a switch.
fn widest(graph: &Graph) -> u32 {
    let ports = graph
        .switch_ids()
        .map(|switch| graph.connected_ports(switch).count());
    ports.max().unwrap_or(1) as u32
}

/// Whether all channels and sinks run at one pace.
fn is_uniform(graph: &Graph, sink_step: u16) -> bool {
    let mut steps = graph
        .channels()
        .iter()
        .map(|channel| channel.timing.cycles_per_flit as u16);
    let first = steps.next().unwrap_or(1);
    steps.all(|step| step == first) && (sink_step == 0 || sink_step == first)
}

/// The rows of one shard.
pub fn rows<const W: usize>(
    graph: &Graph,
    tables: Option<&Tables>,
    plan: &Plan,
    placement: &Placement,
    shared: &Shared,
    number: usize,
) -> Rows<W> {
    let mut rows = Rows::new(plan, shared);
    let lanes_take_turns = Rules::<Any>::new(shared).by_inputs() && !shared.numbering.is_single();
    let mut builder = Lowering {
        graph,
        tables,
        plan,
        placement,
        shared,
        shard: number,
        border: Vec::new(),
    };
    for (row, &switch) in placement.switches[number].iter().enumerate() {
        let free = if shared.switch.speedup == 1 {
            Mask::EMPTY
        } else {
            Mask::FULL
        };
        let first_port = placement.first_port[switch.index()];
        rows.switches.push(Switch {
            free,
            first_port,
            global: switch.0,
        });
        let inputs = if lanes_take_turns {
            graph.connected_ports(switch).count()
        } else {
            0
        };
        for (index, (_, channel)) in graph.connected_ports(switch).enumerate() {
            let (mut out, input) = builder.port(channel, SwitchRow::of(row), index as u8);
            out.turns = TurnRow::of(rows.turn_count);
            rows.turn_count += inputs;
            rows.ports.push((out, input));
        }
    }
    for (row, &host) in placement.hosts[number].iter().enumerate() {
        rows.ports
            .push(builder.port(graph.host_channel(host), SwitchRow::of(row), 0));
    }
    rows.lane_count = shared.numbering.rows(rows.ports.len());
    rows.border = builder.border;
    rows
}

struct Lowering<'a> {
    graph: &'a Graph,
    tables: Option<&'a Tables>,
    plan: &'a Plan,
    placement: &'a Placement,
    shared: &'a Shared,
    shard: usize,
    border: Vec<Border>,
}

impl Lowering<'_> {
    /// Both sides of the port whose outgoing channel is `channel`.
    fn port(&mut self, channel: ChannelId, owner: SwitchRow, index: u8) -> (OutPort, InPort) {
        let ends = *self.graph.channel(channel);
        let from_switch = ends.from.switch().is_some();
        let (to, peer) = self.peer(channel);
        let crossbar = if from_switch {
            self.plan.switch.crossbar_latency()
        } else {
            0
        };
        let latency = ends.timing.latency + crossbar;
        let step = ends.timing.cycles_per_flit as u16;
        let (profile, profile_offset) = self.profiles(channel);
        let out = OutPort {
            free_at: 0,
            to,
            latency,
            owner,
            profile,
            turns: TurnRow(0),
            step,
            request_lanes: LaneMask::EMPTY,
            lane_pointer: 0,
            input_pointer: 0,
            index,
            peer: if peer == Peer::Host && self.is_boundless(channel, latency) {
                Peer::Sink
            } else {
                peer
            },
            wake_scheduled: false,
            visited: false,
        };
        let input = InPort {
            free_at: 0,
            granted_in: u64::MAX,
            grant: 0,
            from: to,
            credit_latency: credit_latency(self.graph, self.plan, channel.reverse()),
            leaving_queue: QueueRow::NONE,
            owner,
            profile_offset,
            table_start: self.table_start(channel.reverse()),
            occupied: QueueMask::EMPTY,
            leaving: 0,
            accept_pointer: 0,
            index,
            peer,
            wake_scheduled: false,
        };
        (out, input)
    }

    /// Lane profile of a channel, and what its opposite adds to that of an output; 0 without tables.
    fn profiles(&self, channel: ChannelId) -> (u32, u32) {
        let profiles = self.tables.map(|tables| {
            let (lanes, keys) = (&tables.lanes, tables.lanes.keys() as u32 + 1);
            let offset = lanes.by_input.get(channel.reverse().index());
            let offset = offset.copied().unwrap_or(0);
            (lanes.by_output[channel.index()] * keys, offset * keys)
        });
        profiles.unwrap_or_default()
    }

    /// Start of the table row of what comes over a channel; 0 without tables.
    fn table_start(&self, channel: ChannelId) -> u32 {
        let start = |tables: &Tables| tables.start_behind(self.graph, channel);
        self.tables.map_or(0, start)
    }

    /// Row and kind of a channel's far end; far ends in other shards get a border entry.
    fn peer(&mut self, channel: ChannelId) -> (FarEnd, Peer) {
        let end = self.graph.channel(channel).to;
        let (shard, row) = self.placement.row_of(end);
        if shard as usize == self.shard {
            return (
                row.into(),
                if end.host().is_some() {
                    Peer::Host
                } else {
                    Peer::Switch
                },
            );
        }
        let switch = end.switch().map_or(u32::MAX, |switch| switch.0);
        self.border.push(Border {
            shard,
            port: row,
            switch,
            table_start: self.table_start(channel),
        });
        (BorderRow::of(self.border.len() - 1).into(), Peer::Border)
    }

    /// Whether a host at the end of `channel` always has room: it consumes as flits arrive, and what can
    /// be under way or uncredited leaves space for the largest packet.
    fn is_boundless(&self, channel: ChannelId, latency: u32) -> bool {
        let round_trip = latency + credit_latency(self.graph, self.plan, channel);
        let step = self.graph.channel(channel).timing.cycles_per_flit;
        self.shared.switch.sink_step == 0
            // adaptive routing looks at credits as loads, and they decide what is dropped
            && self.tables.is_some()
            && self.plan.switch.drop.is_none()
            && self.shared.switch.output_buffer + self.shared.switch.output_lane_buffer == 0
            && (round_trip - 1) / step + u32::from(self.shared.traffic.largest)
                <= self.plan.switch.lane_capacity
    }
}
