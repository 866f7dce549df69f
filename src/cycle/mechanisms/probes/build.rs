//! Builds what classes apart have in a shard.

use super::network::{Far, Network, Station};
use super::{Given, Probes, visits};
use crate::control::Agent;
use crate::control::probe::Place;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::mechanisms::control::answers::Way;
use crate::cycle::mechanisms::flows::{Flows, lane_of};
use crate::cycle::slot::Slot;
use crate::cycle::state::Fact;
use crate::fabric::rows::{HostRow, PortRow};
use crate::ids::ChannelId;
use crate::plan::{Control, FlowPlan};

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
            shard.subscribe(Fact::Sent);
        }
        Self::account(shard, &probes);
        shard.resource(probes);
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
    let agents = |control: Option<&Control>| -> Vec<Agent> {
        let Some(control) = control else {
            return Vec::new();
        };
        let agents = channels
            .iter()
            .map(|&channel| agent(site, control, channel));
        agents.flatten().collect()
    };
    let network = |control: Option<&Control>| match control {
        Some(control) if control.transport.is_some() => Network::new(channels.len()),
        _ => Network::default(),
    };
    let is_out_of_band = controls
        .iter()
        .flatten()
        .any(|control| control.transport.is_some());
    Probes {
        agents: controls.iter().copied().map(agents).collect(),
        networks: controls.iter().copied().map(network).collect(),
        given: Given {
            first: first as u16,
            algorithms: controls
                .iter()
                .map(|control| Some(control.as_ref()?.algorithm.clone()))
                .collect(),
            times: controls
                .iter()
                .map(|control| control.as_ref()?.transport)
                .collect(),
            stations: if is_out_of_band {
                channels
                    .iter()
                    .map(|&channel| station(site, channel))
                    .collect()
            } else {
                Vec::new()
            },
            ways: rows.iter().map(|&id| way(site, id)).collect(),
        },
        ..Probes::default()
    }
}

fn agent(site: &Site<'_>, control: &Control, channel: ChannelId) -> Option<Agent> {
    let channel = site.graph.channel(channel);
    control.algorithm.agent(Place {
        pace: channel.timing.cycles_per_flit as u16,
        from_host: channel.from.host().is_some(),
        to_host: channel.to.host().is_some(),
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
    let ends = site.graph.channel(channel);
    let (shard, port) = site.placement.row_of(ends.to);
    let to = if ends.to.host().is_some() {
        Far::Host
    } else if shard as usize == site.number {
        Far::Switch(port)
    } else {
        Far::Border(shard, port)
    };
    let tables = site.routes.tables();
    let first = ends
        .from
        .switch()
        .map(|switch| site.placement.first_port[switch.index()]);
    Station {
        to,
        table_row: tables.map_or(0, |tables| tables.row_behind(site.graph, channel.reverse())),
        first: first.unwrap_or(PortRow(0)),
    }
}
