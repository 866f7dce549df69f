//! Classes that send messages: one source for all that name the same.

use super::Size;
use crate::plan::{ClassPlan, Until};
use crate::scenario::syntax::{Mistake, Part};
use crate::scenario::{Layout, Parts, Scenario};
use crate::traffic::messages::{MessageClass, MessagesContext, Senders, Workload, check};
use std::path::Path;
use std::sync::Arc;

/// The sources of all classes that send messages, read once and checked; enters in the classes what they send.
pub(in crate::scenario) fn workloads(
    scenario: &Scenario,
    parts: &Parts<'_>,
    layout: &Layout,
    base: &Path,
    classes: &mut [ClassPlan],
) -> Result<Vec<Workload>, Mistake> {
    let of = |number: usize| Some((number, scenario.traffic[number].messages.as_ref()?));
    let named: Vec<_> = (0..classes.len()).filter_map(of).collect();
    if let (true, Some((Until::Messages, bound))) = (named.is_empty(), scenario.phases.until()) {
        let mistake = "no traffic class has `messages`: expected a time or `Auto(...)`";
        return Err(bound.mistake(mistake));
    }
    alone(scenario, &named)?;
    let mut workloads = Vec::new();
    for (place, &(_, part)) in named.iter().enumerate() {
        let is_same = |other: &&(usize, &Part)| {
            (&other.1.name.value, other.1.arguments()) == (&part.name.value, part.arguments())
        };
        if named[..place].iter().any(|other| is_same(&other)) {
            continue;
        }
        let sharing: Vec<_> = named.iter().filter(is_same).map(|other| other.0).collect();
        workloads.push(workload(parts, layout, base, part, &sharing, classes)?);
    }
    Ok(workloads)
}

/// What does not go with messages.
fn alone(scenario: &Scenario, named: &[(usize, &Part)]) -> Result<(), Mistake> {
    for &(number, part) in named {
        let class = &scenario.traffic[number];
        if let Some(packets) = scenario.fabric.host.source_queue {
            return Err(part.name.mistake(format!(
                "`messages` do not go with `fabric.host.source_queue: {packets}`, which rejects packets"
            )));
        }
        if matches!(class.size.value, Size::Mixed(_)) {
            return Err(class.size.mistake(
                "`Mixed` does not go with `messages`: expected one size, that of the largest packet",
            ));
        }
    }
    Ok(())
}

/// The source that `part` names, for the classes of these numbers.
fn workload(
    parts: &Parts<'_>,
    layout: &Layout,
    base: &Path,
    part: &Part,
    sharing: &[usize],
    classes: &mut [ClassPlan],
) -> Result<Workload, Mistake> {
    let class = |&number: &usize| MessageClass {
        number: number as u16,
        name: classes[number].name.clone(),
        hosts: Arc::from(&classes[number].ranks[..]),
    };
    let sending: Vec<_> = sharing.iter().map(class).collect();
    let context = MessagesContext {
        base,
        clock: layout.clock,
        classes: &sending,
    };
    let make = part.entry(parts.messages)?.build;
    let source = part.build(|arguments| make(arguments, context))?;
    let sizes: Vec<_> = classes.iter().map(|class| class.size.largest()).collect();
    let hosts = layout.graph.hosts().len();
    let checked = check(&*source, hosts, &sizes, layout.clock.flit_bytes);
    let checked = checked.map_err(|error| part.parameter_mistake("file", &error.to_string()))?;
    for &number in sharing {
        let (class, counts) = (&mut classes[number], &checked.counts[number]);
        if counts.messages == 0 {
            let message = format!(
                "`{}` has no message of class `{}`",
                source.file(),
                class.name
            );
            return Err(part.parameter_mistake("file", &message));
        }
        class.messages = Some(counts.messages);
        class.pattern = Arc::new(Senders(counts.senders.clone()));
    }
    Ok(Workload {
        source,
        longest_delay: checked.longest_delay,
        last: checked.last,
    })
}
