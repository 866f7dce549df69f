//! Which hosts send a class: as written, in the graph, and as text.

use crate::ids::{HostId, SwitchId};
use crate::scenario::sections::members::{Member, host, member, switch};
use crate::scenario::sections::values::{Read, list, whole};
use crate::scenario::syntax::{At, Item, Mistake};
use crate::topology::Graph;
use std::collections::HashMap;
use std::hash::Hash;

/// Which hosts send a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostSet {
    /// All of them.
    All,
    /// First to last number, both included.
    Range(u32, u32),
    /// These, in this order.
    List(Vec<At<Member>>),
    /// Every n-th from an offset on.
    EveryNth(u32, u32),
    /// All hosts at these switches, switch by switch.
    Switches(Vec<At<Member>>),
}

pub(super) fn read(item: &Item<'_>) -> Read<HostSet> {
    const EXPECTED: &str = "a set of hosts: expected `All`, `Range(first, last)`, `List([...])`, \
                            `EveryNth(n, offset)` or `Switches([...])`";
    match item.variant() {
        Some(("All", None)) => Ok(HostSet::All),
        Some(("Range", Some(arguments))) => {
            let ends = arguments.tuple(2, "a range: expected `Range(first, last)`")?;
            Ok(HostSet::Range(whole(0)(&ends[0])?, whole(0)(&ends[1])?))
        }
        Some(("EveryNth", Some(arguments))) => {
            let pair = arguments.tuple(2, "a step: expected `EveryNth(n, offset)`")?;
            Ok(HostSet::EveryNth(whole(1)(&pair[0])?, whole(0)(&pair[1])?))
        }
        Some(("List", Some(arguments))) => {
            let hosts = arguments.tuple(1, "a list: expected `List([...])`")?;
            list(member)(&hosts[0]).map(HostSet::List)
        }
        Some(("Switches", Some(arguments))) => {
            let switches = arguments.tuple(1, "a list: expected `Switches([...])`")?;
            list(member)(&switches[0]).map(HostSet::Switches)
        }
        _ => Err(item.unexpected(EXPECTED)),
    }
}

/// The hosts of a set in their order, each once.
pub(super) fn find(set: &At<HostSet>, graph: &Graph) -> Result<Vec<HostId>, Mistake> {
    let count = graph.hosts().len() as u32;
    let all = || (0..count).map(HostId);
    let hosts: Vec<HostId> = match &set.value {
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
            let hosts = members.iter().map(|member| host(member, graph));
            let hosts = hosts.collect::<Result<Vec<_>, _>>()?;
            let name = |host: HostId| graph.hosts()[host.index()].name.clone();
            once(members, &hosts, "host", name)?;
            hosts
        }
        HostSet::Switches(members) => {
            let switches = members.iter().map(|member| switch(member, graph));
            let switches = switches.collect::<Result<Vec<_>, _>>()?;
            let name = |switch: SwitchId| graph.switches()[switch.index()].name.clone();
            once(members, &switches, "switch", name)?;
            let attached = |&switch| graph.attached_hosts(switch).map(|(_, host)| host);
            switches.iter().flat_map(attached).collect()
        }
    };
    if hosts.is_empty() {
        return Err(set.mistake(format!("the set is empty: there are {count} hosts, from 0")));
    }
    Ok(hosts)
}

/// Refuses what a list names twice; `found` is what its entries mean.
fn once<T: Copy + Eq + Hash>(
    members: &[At<Member>],
    found: &[T],
    kind: &str,
    name: impl Fn(T) -> String,
) -> Result<(), Mistake> {
    let mut places: HashMap<T, usize> = HashMap::with_capacity(found.len());
    for (place, &thing) in found.iter().enumerate() {
        if let Some(first) = places.insert(thing, place) {
            return Err(members[place].mistake(format!(
                "{kind} `{}` stands here twice, first as entry {first} from 0: expected each {kind} once",
                name(thing)
            )));
        }
    }
    Ok(())
}

/// Hosts by their ranks, of `count` in all, in the shortest form.
pub(super) fn written(hosts: &[HostId], count: usize) -> String {
    let (first, last) = (hosts[0].0, hosts[hosts.len() - 1].0);
    if !hosts.is_sorted() {
        return list_of(hosts);
    }
    if hosts.len() == count {
        return "All".into();
    }
    if (last - first) as usize + 1 == hosts.len() {
        return format!("Range({first}, {last})");
    }
    let step = hosts[1].0 - first;
    let even = hosts.windows(2).all(|pair| pair[1].0 - pair[0].0 == step);
    if even && (last + step) as usize >= count {
        return format!("EveryNth({step}, {first})");
    }
    list_of(hosts)
}

fn list_of(hosts: &[HostId]) -> String {
    let numbers: Vec<_> = hosts.iter().map(ToString::to_string).collect();
    format!("List([{}])", numbers.join(", "))
}
