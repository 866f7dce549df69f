//! Traffic classes against the graph: senders, sizes, patterns, processes.

use super::{Class, ServiceLevels, Size, hosts};
use crate::ids::{HostId, SlId};
use crate::plan::{ClassPlan, OtherProcess};
use crate::scenario::resolve::quantity::flits;
use crate::scenario::syntax::{At, Mistake, Part};
use crate::scenario::{Layout, Parts, Scenario};
use crate::topology::Graph;
use crate::traffic::messages::{Senders, Silent};
use crate::traffic::{Pattern, PatternContext, Process, ProcessContext, SizeDistribution};
use crate::units::Clock;
use std::sync::Arc;

/// Resolves all classes.
pub(in crate::scenario) fn classes(
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
    let ranks = hosts::find(&class.hosts, graph)?;
    let mut hosts = ranks.clone();
    hosts.sort_unstable();
    let size = size(&class.size, layout.clock)?;
    let management = class.sl.value == ServiceLevels::Management;
    if management && !scenario.qos.management_lane.value {
        return Err(class
            .sl
            .mistake("`Management` needs VL15: set `qos.management_lane: true`"));
    }
    let drawn = match (&class.pattern, &class.process) {
        (Some(pattern), Some(process)) => Drawn {
            pattern: self::pattern((scenario, number), parts, graph, pattern, [&hosts, &ranks])?,
            ..processes(parts, graph, process, &hosts, size.mean())?
        },
        // the senders are known when the messages are read
        _ => Drawn::default(),
    };
    Ok(ClassPlan {
        name: class.name.value.clone(),
        hosts,
        ranks,
        pattern: drawn.pattern,
        process: drawn.process,
        other_processes: drawn.other_processes,
        size,
        service_levels: match &class.sl.value {
            ServiceLevels::Data(levels) => levels.iter().map(|&level| SlId(level)).collect(),
            ServiceLevels::Management => vec![SlId(0)],
        },
        management,
        load: drawn.load,
        packets_per_host: class.packets.as_ref().map(|packets| packets.value),
        messages: None,
        flows: None,
        control: None,
        slots: None,
        requests: None,
        answers: None,
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

/// The pattern of a class by its number, with its hosts ascending and by rank; some host must send under it.
fn pattern(
    (scenario, number): (&Scenario, usize),
    parts: &Parts<'_>,
    graph: &Graph,
    part: &Part,
    [hosts, ranks]: [&[HostId]; 2],
) -> Result<Arc<dyn Pattern>, Mistake> {
    let context = PatternContext {
        graph,
        hosts,
        ranks,
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
