//! Builds what classes apart have in a shard.

use super::carry::{self, carriers};
use super::elements::Elements;
use super::network::{Far, Network, Station};
use super::{Given, Probes, visits};
use crate::control::Agent;
use crate::control::probe::Place;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::mechanisms::control::answers::Way;
use crate::cycle::mechanisms::flows::{Flows, lane_of};
use crate::cycle::slot::Slot;
use crate::cycle::state::Fact;
use crate::cycle::ties::Carrier;
use crate::fabric::rows::{HostRow, PortRow};
use crate::ids::ChannelId;
use crate::plan::{Control, FlowPlan};
use crate::topology::Endpoint;

/// Control packets of classes apart as a mechanism.
pub struct Probing;

impl Mechanism for Probing {
    fn of(site: &Site<'_>) -> Option<Self> {
        let mut flows = site.plan.flows.iter();
        flows
            .any(|flow| apart(site, flow).is_some())
            .then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        let channels = channels(&site);
        let rows: Vec<u32> = {
            let flows = shard.built::<Flows>();
            flows.rows().iter().map(|flow| flow.id).collect()
        };
        let probes = probes(&site, &channels, &rows);
        if probes.visits_in_band() {
            shard.subscribe(Fact::Granted);
        }
        Self::account(shard, &probes);
        carry::add(shard, &probes);
        shard.resource(probes);
        shard.carrier(Carrier {
            keep: |world, content| world.resource_mut::<Probes>().keep(content),
            join: |world, network, at, parcel| {
                world.resource_mut::<Probes>().join(network, at, parcel);
            },
        });
        shard.alarm(|world, from| {
            let probes = world.resource::<Probes>();
            (probes.next_due().min(probes.next_out_of_band())).max(from)
        });
        shard.system(Slot::React, "probes", visits::system);
    }
}

/// Control of a flow whose class is apart.
fn apart<'a>(site: &Site<'a>, flow: &FlowPlan) -> Option<&'a Control> {
    let control = site.plan.classes[usize::from(flow.class)].control.as_ref();
    control.filter(|control| control.is_apart())
}

/// Outgoing channels of the ports of the shard, by port row.
fn channels(site: &Site<'_>) -> Vec<ChannelId> {
    let switches = (site.placement).switch_channels(site.graph, site.number);
    let hosts = site.placement.hosts[site.number].iter();
    let hosts = hosts.map(|&host| site.graph.host_channel(host));
    switches.chain(hosts).collect()
}

fn probes(site: &Site<'_>, channels: &[ChannelId], rows: &[u32]) -> Probes {
    let plan = site.plan;
    let first = plan.first_answers();
    let controls = plan.classes[first..].iter().map(|class| {
        let answered = usize::from(class.answers?);
        let control = plan.classes[answered].control.as_ref()?;
        control.is_apart().then_some(control)
    });
    let controls: Vec<Option<&Control>> = controls.collect();
    let common = common(&controls);
    // those that a class has in common with one before it are that one's
    let own = |number: usize| controls[number].filter(|_| usize::from(common[number]) == number);
    let agents = |number: usize| -> Vec<Agent> {
        let Some(control) = own(number) else {
            return Vec::new();
        };
        let agents = channels
            .iter()
            .map(|&channel| agent(site, control, channel));
        agents.flatten().collect()
    };
    let network = |control: Option<&Control>| match control {
        Some(control) if control.transport.is_some() => {
            Network::new(channels.len(), has_elements(control))
        }
        _ => Network::default(),
    };
    let numbers = 0..controls.len();
    let elements = numbers.clone().map(|number| elements(site, own(number)));
    Probes {
        agents: numbers.map(agents).collect(),
        elements: elements.collect(),
        networks: controls.iter().copied().map(network).collect(),
        given: Given {
            common: common.clone(),
            ..given(site, &controls, channels, rows)
        },
        ..Probes::default()
    }
}

/// Number of the class whose agents and elements each class has (D73).
fn common(controls: &[Option<&Control>]) -> Vec<u16> {
    let has_in_common = |one: &Control, other: Option<&Control>| {
        other.is_some_and(|other| one.algorithm.has_in_common(&other.algorithm))
    };
    let common = controls.iter().enumerate().map(|(number, control)| {
        let first = control.and_then(|own| {
            let mut before = controls[..number].iter();
            before.position(|other| has_in_common(own, *other))
        });
        first.unwrap_or(number) as u16
    });
    common.collect()
}

/// `controls`: by class of control packets; `rows`: the flows by row.
fn given(
    site: &Site<'_>,
    controls: &[Option<&Control>],
    channels: &[ChannelId],
    rows: &[u32],
) -> Given {
    let algorithms = (controls.iter()).map(|control| Some(control.as_ref()?.algorithm.clone()));
    let times = controls.iter().map(|control| control.as_ref()?.transport);
    let apart = || controls.iter().flatten();
    let stations = if apart().any(|control| control.transport.is_some()) {
        let stations = channels.iter().map(|&channel| station(site, channel));
        stations.collect()
    } else {
        Vec::new()
    };
    let first_flows = if apart().any(|control| has_elements(control)) {
        first_flows(site, rows)
    } else {
        Vec::new()
    };
    Given {
        first: site.plan.first_answers() as u16,
        algorithms: algorithms.collect(),
        times: times.collect(),
        common: Vec::new(),
        stations,
        ways: rows.iter().map(|&id| way(site, id)).collect(),
        first_flows,
        carriers: carriers(site),
    }
}

/// Whether the switches and hosts of a class have elements.
fn has_elements(control: &Control) -> bool {
    let broadcast = control.transport.and_then(|times| times.broadcast);
    broadcast.is_some() && control.algorithm.has_elements()
}

fn elements(site: &Site<'_>, control: Option<&Control>) -> Elements {
    let Some(control) = control.filter(|control| has_elements(control)) else {
        return Elements::default();
    };
    let switches = site.placement.switches[site.number].len();
    let hosts = site.placement.hosts[site.number].len();
    Elements::new(&control.algorithm, switches, hosts)
}

/// First row of the flows of each host, and the end of all; `rows`: the flows by row, those of one host together.
fn first_flows(site: &Site<'_>, rows: &[u32]) -> Vec<u32> {
    let hosts = site.placement.hosts[site.number].iter();
    let before = |host| rows.partition_point(|&id| site.plan.flows[id as usize].source < host);
    let firsts = hosts.map(|&host| before(host) as u32);
    firsts.chain([rows.len() as u32]).collect()
}

fn agent(site: &Site<'_>, control: &Control, channel: ChannelId) -> Option<Agent> {
    let channel = site.graph.channel(channel);
    let (pace, to_host) = (channel.timing.cycles_per_flit, channel.to.host().is_some());
    let sink = site.plan.host.sink_cycles_per_flit.filter(|_| to_host);
    control.algorithm.agent(Place {
        pace: pace as u16,
        drain: pace.max(sink.unwrap_or(0)) as u16,
        from_host: channel.from.host().is_some(),
        to_host,
    })
}

/// Where the probes of a flow go.
fn way(site: &Site<'_>, id: u32) -> Option<Way> {
    let flow = &site.plan.flows[id as usize];
    let class = apart(site, flow)?.answers;
    let (key, lane) = lane_of(site, [flow.source, flow.destination], id, class);
    let port = site.placement.host_port[flow.source.index()];
    let first = site.placement.first_host_port[site.number];
    Some(Way {
        host: HostRow(port.minus(first)),
        source: flow.source.0,
        destination: flow.destination.0,
        flow: id,
        class,
        size: site.plan.classes[usize::from(class)].size.largest(),
        packets: 1,
        key,
        lane,
    })
}

/// The port of an outgoing channel.
fn station(site: &Site<'_>, channel: ChannelId) -> Station {
    let (graph, placement) = (site.graph, site.placement);
    let ends = graph.channel(channel);
    let (shard, port) = placement.row_of(ends.to);
    let to = if ends.to.host().is_some() {
        Far::Host(port)
    } else if shard as usize == site.number {
        Far::Switch(port)
    } else {
        Far::Border(shard, port)
    };
    let tables = site.routes.tables();
    let switches = &placement.switches[site.number];
    let (first, ports, element) = match ends.from {
        Endpoint::Switch(switch, _) => {
            let first = placement.first_port[switch.index()];
            let row = switches.partition_point(|&other| other < switch);
            (first, graph.connected_ports(switch).count(), row as u32)
        }
        Endpoint::Host(host) => {
            let port = placement.host_port[host.index()];
            let row = port.minus(placement.first_host_port[site.number]);
            (PortRow(0), 0, switches.len() as u32 + row)
        }
    };
    Station {
        to,
        table_start: tables.map_or(0, |tables| tables.start_behind(graph, channel.reverse())),
        first,
        end: first.plus(ports as u32),
        element,
    }
}
