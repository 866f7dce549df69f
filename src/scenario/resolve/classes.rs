//! Traffic classes against the graph: senders, sizes, patterns, processes.

use super::super::schema::{Class, Demand, HostSet, Member, Scenario, ServiceLevels, Size};
use super::super::syntax::{At, Mistake, Part};
use super::{Layout, Parts, flits};
use crate::ids::{HostId, SlId, SwitchId};
use crate::plan::{ClassPlan, OtherProcess};
use crate::registry::nearest;
use crate::topology::Graph;
use crate::traffic::messages::{Senders, Silent};
use crate::traffic::{Pattern, PatternContext, Process, ProcessContext, SizeDistribution};
use crate::units::Clock;
use std::sync::Arc;

/// Resolves all classes.
pub(super) fn classes(
    scenario: &Scenario,
    parts: &Parts<'_>,
    layout: &Layout,
) -> Result<Vec<ClassPlan>, Mistake> {
    let one = |(number, class)| self::class(scenario, parts, layout, number, class);
    scenario.traffic.iter().enumerate().map(one).collect()
}

fn class(
    scenario: &Scenario,
    parts: &Parts<'_>,
    layout: &Layout,
    number: usize,
    class: &Class,
) -> Result<ClassPlan, Mistake> {
    let graph = &layout.graph;
    let hosts = hosts(&class.hosts, graph)?;
    let size = size(&class.size, layout.clock)?;
    let management = class.service_levels.value == ServiceLevels::Management;
    if management && !scenario.management_lane.value {
        return Err(class
            .service_levels
            .mistake("`Management` needs VL15: set `qos.management_lane: true`"));
    }
    let drawn = match &class.demand {
        Demand::Packets { pattern, process } => Drawn {
            pattern: self::pattern(scenario, parts, graph, number, pattern, &hosts)?,
            ..processes(parts, graph, process, &hosts, size.mean())?
        },
        // the senders are known when the messages are read
        Demand::Messages(_) => Drawn::default(),
    };
    Ok(ClassPlan {
        name: class.name.value.clone(),
        hosts,
        pattern: drawn.pattern,
        process: drawn.process,
        other_processes: drawn.other_processes,
        size,
        service_levels: match &class.service_levels.value {
            ServiceLevels::Data(levels) => levels.iter().map(|&level| SlId(level)).collect(),
            ServiceLevels::Management => vec![SlId(0)],
        },
        management,
        load: drawn.load,
        packets_per_host: class.packets,
        messages: None,
    })
}

/// What a class draws its packets from.
struct Drawn {
    pattern: Arc<dyn Pattern>,
    process: Arc<dyn Process>,
    other_processes: Vec<OtherProcess>,
    load: f64,
}

impl Default for Drawn {
    /// No packet.
    fn default() -> Self {
        Self {
            pattern: Arc::new(Senders::default()),
            process: Arc::new(Silent),
            other_processes: Vec::new(),
            load: 0.0,
        }
    }
}

/// The pattern of a class; some host must send under it.
fn pattern(
    scenario: &Scenario,
    parts: &Parts<'_>,
    graph: &Graph,
    number: usize,
    part: &Part,
    hosts: &[HostId],
) -> Result<Arc<dyn Pattern>, Mistake> {
    let context = PatternContext {
        graph,
        hosts,
        seed: scenario.seed,
        class: number,
    };
    let make_pattern = part.entry(parts.patterns)?.build;
    let pattern = part.build(|arguments| make_pattern(arguments, &context))?;
    if !hosts.iter().any(|&host| pattern.sends(host)) {
        let message = format!("under `{}` none of the hosts sends", part.name.value);
        return Err(part.name.mistake(message));
    }
    Ok(pattern)
}

/// The process of the hosts with the first host's link speed, and of those with other speeds; no pattern.
fn processes(
    parts: &Parts<'_>,
    graph: &Graph,
    part: &Part,
    hosts: &[HostId],
    mean_size: f64,
) -> Result<Drawn, Mistake> {
    let make_process = part.entry(parts.processes)?.build;
    let process = |cycles_per_flit| {
        let context = ProcessContext {
            mean_size,
            cycles_per_flit,
        };
        part.build(|arguments| make_process(arguments, context))
    };
    let mut speeds = by_speed(hosts, graph).into_iter();
    let offered = process(speeds.next().map_or(1, |(speed, _)| speed))?;
    let load = offered.load;
    if !(load > 0.0 && load <= 1.0) {
        return Err(part.parameter_mistake(
            "load",
            &format!(
                "`{load}` is not a load: expected a fraction of the link rate above 0, at most 1"
            ),
        ));
    }
    let other_processes = speeds
        .map(|(speed, members)| Ok((members, process(speed)?.process)))
        .collect::<Result<_, Mistake>>()?;
    Ok(Drawn {
        process: offered.process,
        other_processes,
        load,
        ..Drawn::default()
    })
}

fn size(size: &At<Size>, clock: Clock) -> Result<SizeDistribution, Mistake> {
    let packet = |amount| flits(amount, clock, 1, u64::from(u16::MAX)).map(|flits| flits as u16);
    match &size.value {
        Size::Fixed(amount) => packet(amount).map(SizeDistribution::fixed),
        Size::Mixed(entries) => {
            let entries = entries
                .iter()
                .map(|(amount, weight)| Ok((packet(amount)?, *weight)))
                .collect::<Result<_, Mistake>>()?;
            SizeDistribution::mixed(entries).map_err(|message| size.mistake(message))
        }
    }
}

/// The hosts by the speed of their links \[cycles per flit\], the first host's speed first: loads are
/// fractions of the link rate, so each speed has a process of its own.
fn by_speed(hosts: &[HostId], graph: &Graph) -> Vec<(u32, Vec<HostId>)> {
    let mut groups: Vec<(u32, Vec<HostId>)> = Vec::new();
    for &host in hosts {
        let speed = graph
            .channel(graph.host_channel(host))
            .timing
            .cycles_per_flit;
        match groups.iter_mut().find(|(known, _)| *known == speed) {
            Some((_, members)) => members.push(host),
            None => groups.push((speed, vec![host])),
        }
    }
    groups
}

/// The hosts of a set, ascending.
fn hosts(set: &At<HostSet>, graph: &Graph) -> Result<Vec<HostId>, Mistake> {
    let count = graph.hosts().len() as u32;
    let all = || (0..count).map(HostId);
    let mut hosts: Vec<HostId> = match &set.value {
        HostSet::All => all().collect(),
        &HostSet::Range(first, last) => {
            if first > last || last >= count {
                let message = format!(
                    "`Range({first}, {last})` is not a range of hosts: expected first <= last <= {}",
                    count - 1
                );
                return Err(set.mistake(message));
            }
            (first..=last).map(HostId).collect()
        }
        &HostSet::EveryNth(step, offset) => all()
            .skip(offset as usize)
            .step_by(step.max(1) as usize)
            .collect(),
        HostSet::List(members) => {
            let names = || graph.hosts().iter().map(|host| host.name.as_str());
            let number = |member| number(member, "host", names);
            members
                .iter()
                .map(|member| number(member).map(HostId))
                .collect::<Result<_, _>>()?
        }
        HostSet::Switches(members) => {
            let mut hosts = Vec::new();
            for member in members {
                let switch = switch(member, graph)?;
                hosts.extend(graph.attached_hosts(switch).map(|(_, host)| host));
            }
            hosts
        }
    };
    hosts.sort_unstable();
    hosts.dedup();
    if hosts.is_empty() {
        return Err(set.mistake(format!("the set is empty: there are {count} hosts, from 0")));
    }
    Ok(hosts)
}

/// The switch given by number or name.
pub(super) fn switch(member: &At<Member>, graph: &Graph) -> Result<SwitchId, Mistake> {
    let names = || graph.switches().iter().map(|switch| switch.name.as_str());
    number(member, "switch", names).map(SwitchId)
}

/// Number of a host or switch given by number or name.
fn number<'a, I: Iterator<Item = &'a str>>(
    member: &At<Member>,
    kind: &str,
    names: impl Fn() -> I,
) -> Result<u32, Mistake> {
    let count = names().count();
    match &member.value {
        Member::Number(number) if (*number as usize) < count => Ok(*number),
        Member::Number(number) => Err(member.mistake(format!(
            "there is no {kind} `{number}`: there are {count}, numbered from 0"
        ))),
        Member::Name(name) => {
            let found = names().position(|other| other == name);
            found.map(|index| index as u32).ok_or_else(|| {
                let near = nearest(name, names());
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                member.mistake(format!("there is no {kind} named `{name}`{hint}"))
            })
        }
    }
}
