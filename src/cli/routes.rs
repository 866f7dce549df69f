//! `virtlane routes`: the forwarding of a scenario, surveyed, verified or dumped.

use super::args::Routes;
use super::print;
use crate::error::Error;
use crate::ids::{HostId, SwitchId};
use crate::routing::Tables;
use crate::scenario::{Parts, Resolved};
use crate::topology::Graph;
use std::fmt::Write;
use std::process::ExitCode;

/// Routes the fabric and prints what came out.
///
/// # Errors
/// When the scenario is wrong, or a proof is asked for and there is none.
pub(super) fn execute(arguments: &Routes) -> Result<ExitCode, Error> {
    let mut document = arguments.input.open()?;
    document.assign(
        "allow_deadlock",
        if arguments.verify { "false" } else { "true" },
    )?;
    let resolved = document.resolve(&Parts::registered())?;
    print(&if arguments.dump {
        dump(&resolved.layout.graph, &resolved.tables)
    } else {
        survey(&resolved)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What follows from the tables alone, under uniform traffic.
#[derive(Default)]
struct Static {
    /// Pairs of hosts by inter-switch channels crossed.
    hops: Vec<u64>,
    /// Pairs of hosts without a path.
    unreachable: u64,
    /// Paths over each channel, one per pair of hosts.
    load: Vec<u64>,
}

/// Walks every path once per (switch, destination).
fn walk(graph: &Graph, tables: &Tables) -> Static {
    let mut found = Static {
        load: vec![0; graph.channels().len()],
        ..Static::default()
    };
    for destination in graph.host_ids() {
        for source in graph.switch_ids() {
            let hosts = graph.attached_hosts(source);
            let senders = hosts.filter(|&(_, host)| host != destination).count() as u64;
            if senders > 0 {
                follow(graph, tables, source, destination, senders, &mut found);
            }
        }
    }
    for host in graph.host_ids() {
        found.load[graph.host_channel(host).index()] = graph.hosts().len() as u64 - 1;
    }
    found
}

fn follow(
    graph: &Graph,
    tables: &Tables,
    source: SwitchId,
    destination: HostId,
    senders: u64,
    found: &mut Static,
) {
    let (mut switch, mut path) = (source, Vec::new());
    while path.len() <= graph.switches().len() {
        let port = tables.next_port(switch, destination);
        let Some(channel) = port.and_then(|port| graph.port_channel(switch, port)) else {
            break;
        };
        path.push(channel);
        let to = graph.channel(channel).to;
        if let Some(next) = to.switch() {
            switch = next;
            continue;
        }
        if to.host() == Some(destination) {
            let hops = path.len() - 1;
            if found.hops.len() <= hops {
                found.hops.resize(hops + 1, 0);
            }
            found.hops[hops] += senders;
            for channel in path {
                found.load[channel.index()] += senders;
            }
            return;
        }
        break;
    }
    found.unreachable += senders;
}

fn survey(resolved: &Resolved) -> String {
    let (graph, tables) = (&resolved.layout.graph, &resolved.tables);
    let found = walk(graph, tables);
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<22}{value}");
    };
    let yes = |holds| if holds { "yes" } else { "no" }.to_owned();
    line("engine", tables.engine.clone());
    line("deadlock-free", yes(resolved.proof.deadlock_free));
    line("minimal", yes(resolved.proof.minimal));
    line("in order", yes(tables.guarantees.in_order));
    line("lanes needed", tables.guarantees.lanes_needed.to_string());
    line("layers", tables.lanes.layers.to_string());
    let pairs: u64 = found.hops.iter().sum();
    line(
        "pairs of hosts",
        format!("{pairs} with a path, {} without", found.unreachable),
    );
    let weighted = (0u64..).zip(&found.hops).map(|(hops, count)| hops * count);
    let mean = weighted.sum::<u64>() as f64 / (pairs.max(1)) as f64;
    line("mean hops", format!("{mean:.3} channels between switches"));
    for (hops, count) in found
        .hops
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
    {
        line("", format!("{hops} hops: {count} pairs"));
    }
    // uniform traffic at load x puts x * paths / (hosts - 1) flits per cycle on a channel of full rate
    let destinations = (graph.hosts().len() - 1).max(1) as f64;
    let timed = graph.channels().iter().zip(&found.load);
    let slowest = |(channel, paths): (&crate::topology::Channel, &u64)| {
        *paths as f64 * f64::from(channel.timing.cycles_per_flit) / destinations
    };
    let most = timed.map(slowest).fold(0.0, f64::max);
    if most > 0.0 {
        let bound = (1.0 / most).min(1.0);
        line(
            "busiest channel",
            format!("{most:.3} x the load of a host, uniform traffic"),
        );
        line(
            "throughput bound",
            format!("{bound:.3} flits per host per cycle, uniform traffic"),
        );
    }
    text
}

/// Forwarding tables as OpenSM's `ibroute` prints them.
fn dump(graph: &Graph, tables: &Tables) -> String {
    let mut text = String::new();
    let last = graph.hosts().len();
    for switch in graph.switch_ids() {
        let node = &graph.switches()[switch.index()];
        let (guid, name) = (node.guid, &node.name);
        let _ = writeln!(
            text,
            "Unicast lids [0x0-{last:#x}] of switch guid {guid:#018x} ({name}):"
        );
        let _ = writeln!(text, "  Lid  Out   Destination\n       Port     Info");
        let mut valid = 0;
        for host in graph.host_ids() {
            if let Some(port) = tables.next_port(switch, host) {
                let node = &graph.hosts()[host.index()];
                let (lid, guid) = (host.0 + 1, node.guid);
                let info = format!("(Channel Adapter portguid {guid:#018x}: '{}')", node.name);
                let _ = writeln!(text, "{lid:#06x} {port:03} : {info}");
                valid += 1;
            }
        }
        let _ = writeln!(text, "{valid} valid lids dumped\n");
    }
    text
}
