//! A host or switch by number or name: as written, in the graph, and as text.

use super::values::{Read, whole};
use crate::ids::{HostId, SwitchId};
use crate::registry::nearest;
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::topology::Graph;

/// A host or switch by number or name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// Number, from 0.
    Number(u32),
    /// Name.
    Name(String),
}

/// Reads one.
pub(super) fn member(item: &Item<'_>) -> Read<At<Member>> {
    match whole(0)(item) {
        Ok(number) => Ok(item.at(Member::Number(number))),
        Err(_) => item
            .text("a number or a name in quotes")
            .map(|name| item.at(Member::Name(name.to_owned()))),
    }
}

/// As it is written.
pub(super) fn print(member: &Member) -> String {
    match member {
        Member::Number(number) => number.to_string(),
        Member::Name(name) => quote(name),
    }
}

/// The switch that is meant.
pub(super) fn switch(member: &At<Member>, graph: &Graph) -> Result<SwitchId, Mistake> {
    let names = || graph.switches().iter().map(|switch| switch.name.as_str());
    number(member, "switch", names).map(SwitchId)
}

/// The host that is meant.
pub(super) fn host(member: &At<Member>, graph: &Graph) -> Result<HostId, Mistake> {
    let names = || graph.hosts().iter().map(|host| host.name.as_str());
    number(member, "host", names).map(HostId)
}

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
