//! Lowers graph, tables and plan to the rows of every shard.
//!
//! Only connected ports get rows; they keep the order of their port numbers, so round robin goes round in
//! port order. Cost: O(switches * hosts) for the forwarding table, O(ports * lanes) for the rest.

use crate::cycle::state::{Border, Shared};
use crate::fabric::components::{InPort, NONE, OutLane, OutPort, Peer, Switch};
use crate::ids::{ChannelId, HostId, SwitchId};
use crate::routing::Tables;
use crate::scenario::plan::{BufferSharing, ClassPlan, Plan, Queues};
use crate::topology::{Endpoint, Graph};

/// Where every switch, host and port of the fabric lives.
#[derive(Debug)]
pub struct Layout {
    /// Shard of each switch.
    pub shard_of: Vec<u32>,
    /// Number of shards.
    pub shard_count: usize,
    /// Row of each switch in its shard.
    pub switch_row: Vec<u32>,
    /// First port row of each switch in its shard.
    pub first_port: Vec<u32>,
    /// Shard of each host.
    pub host_shard: Vec<u32>,
    /// Port row of each host in its shard.
    pub host_port: Vec<u32>,
    /// Global ids of the switches of each shard, in row order.
    pub switches: Vec<Vec<SwitchId>>,
    /// Global ids of the hosts of each shard, in row order.
    pub hosts: Vec<Vec<HostId>>,
    /// First host port row of each shard.
    pub first_host_port: Vec<u32>,
    /// Index among the connected ports, `[switch][port - 1]`.
    port_index: Vec<Vec<u8>>,
}

impl Layout {
    /// Numbers everything for the given partition.
    ///
    /// # Panics
    /// When a host has no switch: the graph builder makes no such graph.
    pub fn new(graph: &Graph, shard_of: Vec<u32>) -> Self {
        let shard_count = shard_of.iter().max().map_or(1, |&shard| shard as usize + 1);
        let mut layout = Self {
            shard_count,
            switch_row: Vec::new(),
            first_port: Vec::new(),
            host_shard: Vec::new(),
            host_port: Vec::new(),
            switches: vec![Vec::new(); shard_count],
            hosts: vec![Vec::new(); shard_count],
            first_host_port: vec![0; shard_count],
            port_index: Vec::new(),
            shard_of,
        };
        for switch in graph.switch_ids() {
            let shard = layout.shard_of[switch.index()] as usize;
            layout.switch_row.push(layout.switches[shard].len() as u32);
            layout.first_port.push(layout.first_host_port[shard]);
            layout.switches[shard].push(switch);
            let mut index = vec![0; graph.ports(switch).len()];
            for (place, (port, _)) in graph.connected_ports(switch).enumerate() {
                index[usize::from(port) - 1] = place as u8;
            }
            layout.first_host_port[shard] += graph.connected_ports(switch).count() as u32;
            layout.port_index.push(index);
        }
        for host in graph.host_ids() {
            let (switch, _) = graph
                .attachment(host)
                .expect("the graph builder checks attachments");
            let shard = layout.shard_of[switch.index()] as usize;
            layout.host_shard.push(shard as u32);
            layout
                .host_port
                .push(layout.first_host_port[shard] + layout.hosts[shard].len() as u32);
            layout.hosts[shard].push(host);
        }
        layout
    }

    /// Index of a switch port among the connected ones.
    pub fn index_of(&self, switch: SwitchId, port: u16) -> u8 {
        self.port_index[switch.index()][usize::from(port) - 1]
    }

    /// Shard and port row of an endpoint.
    pub fn row_of(&self, end: Endpoint) -> (u32, u32) {
        match end {
            Endpoint::Switch(switch, port) => {
                let row = self.first_port[switch.index()] + u32::from(self.index_of(switch, port));
                (self.shard_of[switch.index()], row)
            }
            Endpoint::Host(host) => (self.host_shard[host.index()], self.host_port[host.index()]),
        }
    }

    /// Cycles a window may last: the least time from a shard to another, over flits and credits.
    pub fn window(&self, graph: &Graph, plan: &Plan) -> u64 {
        let mut window = u64::MAX;
        for channel in graph.channel_ids() {
            let ends = graph.channel(channel);
            if self.row_of(ends.from).0 != self.row_of(ends.to).0 {
                let flits =
                    u64::from(ends.timing.latency) + u64::from(plan.switch.crossbar_latency());
                window = window
                    .min(flits)
                    .min(u64::from(credit_latency(graph, plan, channel)));
            }
        }
        window
    }
}

/// Credit latency of a channel (D15).
fn credit_latency(graph: &Graph, plan: &Plan, channel: ChannelId) -> u32 {
    plan.switch
        .credit_latency
        .unwrap_or_else(|| graph.channel(channel.reverse()).timing.latency)
}

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
    /// Queues per lane, when a lane has more than its own.
    pub voq_stride: usize,
    /// Channels that leave the shard.
    pub border: Vec<Border>,
}

/// Tables and options for all shards.
///
/// # Panics
/// When the lane map has more than 255 keys; checked when the plan is resolved.
pub fn shared(graph: &Graph, tables: &Tables, plan: &Plan, layout: &Layout) -> Shared {
    let sink_step = plan.host.sink_cycles_per_flit.unwrap_or(0) as u16;
    let lanes = u32::from(plan.switch.lane_count()).next_power_of_two();
    let voq = plan.switch.queues == Queues::Voq;
    let pool = plan.switch.sharing == BufferSharing::PortPool;
    let management = u16::from(plan.switch.management_lane) << plan.switch.lanes;
    let mut shared = Shared {
        next: Vec::with_capacity(tables.next.len()),
        hop_layer: tables.hop_layer.clone(),
        path_layer: tables.path_layer.clone(),
        profiles: Vec::new(),
        layers: tables.lanes.layers,
        management_key: u8::try_from(tables.lanes.keys())
            .expect("checked when the plan is resolved"),
        host_count: tables.host_count,
        host_switch: host_switches(graph),
        output_first: Vec::new(),
        output_step: Vec::new(),
        uniform_pace: is_uniform(graph, sink_step),
        saturating: plan.classes.iter().map(ClassPlan::is_backlogged).collect(),
        classes: plan.classes.clone(),
        lane_shift: lanes.trailing_zeros(),
        lane_mask: lanes - 1,
        management,
        largest: plan.largest_packet(),
        flit_bytes: plan.flit_bytes,
        request_delay: 0,
        crossbar_delay: 0,
        store_and_forward: false,
        speedup: 1,
        output_buffer: 0,
        output_lane_buffer: 0,
        voq_stride: if voq { widest(graph) } else { 0 },
        pool,
        stepped_credits: false,
        output_arbitration: plan.switch.output_arbitration,
        matching: plan.switch.matching,
        iterations: 1,
        reserve: false,
        tables: None,
        marking_threshold: None,
        sink_step,
        source_queue: plan.host.source_queue,
    };
    shared.set_options(&plan.switch);
    shared.stepped_credits = (pool || voq) && shared.speedup != 1;
    lower_forwarding(graph, tables, layout, &mut shared);
    for profile in tables.lanes.profiles.chunks(tables.lanes.keys()) {
        shared.profiles.extend_from_slice(profile);
        shared.profiles.push(plan.switch.lanes);
    }
    shared
}

/// Switch of each host.
fn host_switches(graph: &Graph) -> Vec<u32> {
    let attachments = graph.host_ids().filter_map(|host| graph.attachment(host));
    attachments.map(|(switch, _)| switch.0).collect()
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

fn lower_forwarding(graph: &Graph, tables: &Tables, layout: &Layout, shared: &mut Shared) {
    let rows = tables.next.chunks(tables.host_count.max(1));
    for (row, switch) in rows.zip(tables.row_switches(graph)) {
        let index = &layout.port_index[switch.index()];
        let local = |&port: &u8| {
            let known = index.get(usize::from(port).wrapping_sub(1));
            known.copied().unwrap_or(u8::MAX)
        };
        shared.next.extend(row.iter().map(local));
    }
    for switch in graph.switch_ids() {
        shared.output_first.push(shared.output_step.len() as u32);
        let steps = graph
            .connected_ports(switch)
            .map(|(_, channel)| graph.channel(channel).timing.cycles_per_flit);
        shared.output_step.extend(steps.map(|step| step as u16));
    }
}

/// The rows of one shard.
pub fn rows<const W: usize>(
    graph: &Graph,
    tables: &Tables,
    plan: &Plan,
    layout: &Layout,
    shared: &Shared,
    number: usize,
) -> Rows<W> {
    let mut rows = Rows {
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
            requests: [0; W],
        },
        lane_count: 0,
        voq_stride: shared.voq_stride as usize,
        border: Vec::new(),
    };
    let mut builder = Lowering {
        graph,
        tables,
        plan,
        layout,
        shared,
        shard: number,
        border: Vec::new(),
    };
    for (row, &switch) in layout.switches[number].iter().enumerate() {
        let open = if shared.speedup == 1 { 0 } else { u64::MAX };
        let first_port = layout.first_port[switch.index()];
        rows.switches.push(Switch {
            free: [open; W],
            first_port,
            global: switch.0,
        });
        for (index, (_, channel)) in graph.connected_ports(switch).enumerate() {
            rows.ports
                .push(builder.port(channel, row as u32, index as u8));
        }
    }
    for (row, &host) in layout.hosts[number].iter().enumerate() {
        rows.ports
            .push(builder.port(graph.host_channel(host), row as u32, 0));
    }
    rows.lane_count = rows.ports.len() << shared.lane_shift;
    rows.border = builder.border;
    rows
}

struct Lowering<'a> {
    graph: &'a Graph,
    tables: &'a Tables,
    plan: &'a Plan,
    layout: &'a Layout,
    shared: &'a Shared,
    shard: usize,
    border: Vec<Border>,
}

impl Lowering<'_> {
    /// Both sides of the port whose outgoing channel is `channel`.
    fn port(&mut self, channel: ChannelId, owner: u32, index: u8) -> (OutPort, InPort) {
        let ends = *self.graph.channel(channel);
        let from_switch = ends.from.switch().is_some();
        let (to, peer) = self.peer(channel);
        let crossbar = if from_switch {
            self.plan.switch.crossbar_latency()
        } else {
            0
        };
        let keys = self.tables.lanes.keys() as u32 + 1;
        let latency = ends.timing.latency + crossbar;
        let step = ends.timing.cycles_per_flit as u16;
        let offset = self
            .tables
            .lanes
            .by_input
            .get(channel.reverse().index())
            .copied()
            .unwrap_or(0);
        let boundless = peer == Peer::Host && self.is_boundless(channel, latency);
        let out = OutPort {
            free_at: 0,
            to,
            latency,
            owner,
            profile: self.tables.lanes.by_output[channel.index()] * keys,
            step,
            request_lanes: 0,
            lane_pointer: 0,
            index,
            peer,
            wake_scheduled: false,
            visited: false,
            boundless,
        };
        let input = InPort {
            free_at: 0,
            granted_in: u64::MAX,
            grant: 0,
            from: to,
            credit_latency: credit_latency(self.graph, self.plan, channel.reverse()),
            leaving_queue: NONE,
            owner,
            profile_offset: offset * keys,
            table_row: self.tables.row_behind(self.graph, channel.reverse()),
            occupied: 0,
            leaving: 0,
            accept_pointer: 0,
            index,
            peer,
            wake_scheduled: false,
        };
        (out, input)
    }

    /// Row and kind of a channel's far end; far ends in other shards get a border entry.
    fn peer(&mut self, channel: ChannelId) -> (u32, Peer) {
        let end = self.graph.channel(channel).to;
        let (shard, row) = self.layout.row_of(end);
        if shard as usize == self.shard {
            return (
                row,
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
            table_row: self.tables.row_behind(self.graph, channel),
        });
        (self.border.len() as u32 - 1, Peer::Border)
    }

    /// Whether a host at the end of `channel` always has room: it consumes as flits arrive, and what can
    /// be under way or uncredited leaves space for the largest packet.
    fn is_boundless(&self, channel: ChannelId, latency: u32) -> bool {
        let round_trip = latency + credit_latency(self.graph, self.plan, channel);
        let step = self.graph.channel(channel).timing.cycles_per_flit;
        self.shared.sink_step == 0
            && self.shared.output_buffer + self.shared.output_lane_buffer == 0
            && (round_trip - 1) / step + u32::from(self.shared.largest)
                <= self.plan.switch.lane_capacity
    }
}
