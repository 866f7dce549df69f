//! Section `faults`: which switches and links fail, and the graph without them.

use super::members::{self, Member, member, switch};
use super::values::{Read, boolean, list, long, whole};
use crate::ids::{ChannelId, LinkId, SwitchId};
use crate::scenario::print::Printer;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::topology::Graph;
use crate::topology::faults::{self, Failed, Failing, FaultKind, FaultPlan};
use std::collections::BTreeSet;

section! {
    /// Switches and links that fail before the run: taken out of the topology before it is routed.
    Faults = "faults" in "faults" {
        /// Failed switches, by number from 0 or by name; their hosts and links disappear, and hosts are numbered anew
        switches: At<Failures<At<Member>>> = |item| failures(item, "`List([switches])`", member),
            "None | Count(n) | Fraction(f) | List([switches])" or "None";
        /// Failed links, after the switches; random ones are between switches, a fraction is rounded. A pair of
        /// switches names one link, given again the next parallel one; a host goes with its link
        links: At<Failures<At<FailedLink>>> =
            |item| failures(item, "`List([(switch, switch), Port(switch, port)])`", failed_link),
            "None | Count(n) | Fraction(f) | List([(switch, switch), Port(switch, port)])" or "None";
        /// Whether random faults that would cut the fabric in two are drawn again, and listed ones refused
        keep_connected: bool = boolean, "true | false" or "true";
        /// Seed of random faults; None = that of the scenario
        seed: Option<u64> = long(0), "None | integer >= 0" or None;
    }
}

/// Which things of one kind fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Failures<T> {
    /// None of them.
    None,
    /// So many, at random.
    Count(u32),
    /// This fraction of them, at random.
    Fraction(f64),
    /// These.
    List(Vec<T>),
}

/// A link of a list of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailedLink {
    /// The link at the lowest port between two switches that is not listed yet.
    Between(At<Member>, At<Member>),
    /// The link of a switch at a port.
    Port(At<Member>, u16),
}

/// `None`, `Count(3)`, `Fraction(0.05)` or `List([...])`.
fn failures<T>(
    item: &Item<'_>,
    all: &str,
    read: impl Fn(&Item<'_>) -> Read<T>,
) -> Read<Failures<T>> {
    if item.is_word("None") {
        return Ok(Failures::None);
    }
    let expected = format!("one of `None`, `Count(3)`, `Fraction(0.05)`, {all}");
    let Some((name, Some(arguments))) = item.variant() else {
        return Err(item.unexpected(&expected));
    };
    let argument = &arguments.tuple(1, &expected)?[0];
    match name {
        "Count" => whole(0)(argument).map(Failures::Count),
        "Fraction" => match argument.number()? {
            fraction if (0.0..=1.0).contains(&fraction) => Ok(Failures::Fraction(fraction)),
            _ => Err(argument.unexpected("a fraction from 0 to 1")),
        },
        "List" => list(read)(argument).map(Failures::List),
        _ => Err(item.unexpected(&expected)),
    }
}

/// `("S0", "S1")` or `Port("S0", 7)`.
fn failed_link(item: &Item<'_>) -> Read<At<FailedLink>> {
    let expected = "a link such as `(\"S0\", \"S1\")` or `Port(\"S0\", 7)`";
    let failed = if let Some(("Port", Some(arguments))) = item.variant() {
        let pair = arguments.tuple(2, expected)?;
        let port = pair[1].integer(1..=u64::from(u16::MAX))?;
        FailedLink::Port(member(&pair[0])?, port as u16)
    } else {
        let pair = item.tuple(2, expected)?;
        FailedLink::Between(member(&pair[0])?, member(&pair[1])?)
    };
    Ok(item.at(failed))
}

impl Faults {
    /// The graph without what failed, and what that is; `seed` is that of the scenario.
    pub(in crate::scenario) fn apply(
        &self,
        graph: &Graph,
        seed: u64,
    ) -> Result<(Graph, Failed), Mistake> {
        let switches = failing(&self.switches.value, |list| {
            list.iter().map(|member| switch(member, graph)).collect()
        })?;
        let links = failing(&self.links.value, |list| links(list, graph))?;
        let plan = FaultPlan {
            switches,
            links,
            keep_connected: self.keep_connected,
            seed: self.seed.unwrap_or(seed),
        };
        let degraded = faults::apply(graph, &plan).map_err(|error| match error.kind {
            FaultKind::Switches => self.switches.mistake(error.reason),
            FaultKind::Links => self.links.mistake(error.reason),
        })?;
        if degraded.graph.hosts().is_empty() {
            let lost = degraded.failed.hosts.len();
            let at_fault = if degraded.failed.switches.is_empty() {
                self.links.mistake(no_host(lost))
            } else {
                self.switches.mistake(no_host(lost))
            };
            return Err(at_fault);
        }
        Ok((degraded.graph, degraded.failed))
    }

    /// The section; `seed` is that of the scenario.
    pub(super) fn print(&self, printer: &mut Printer, seed: u64) {
        let switch = |switch: &At<Member>| members::print(&switch.value);
        printer.key("switches", written(&self.switches.value, switch));
        let link = |link: &At<FailedLink>| match &link.value {
            FailedLink::Between(a, b) => format!("({}, {})", switch(a), switch(b)),
            FailedLink::Port(at, port) => format!("Port({}, {port})", switch(at)),
        };
        printer.key("links", written(&self.links.value, link));
        printer.key("keep_connected", self.keep_connected);
        printer.key("seed", self.seed.unwrap_or(seed));
    }
}

fn no_host(lost: usize) -> String {
    format!(
        "no host is left, all {lost} disappear with their switches or links: expected fewer faults"
    )
}

fn failing<T, U>(
    failures: &Failures<T>,
    find: impl FnOnce(&[T]) -> Result<Vec<U>, Mistake>,
) -> Result<Failing<U>, Mistake> {
    Ok(match failures {
        Failures::None => Failing::Count(0),
        Failures::Count(count) => Failing::Count(*count),
        Failures::Fraction(fraction) => Failing::Fraction(*fraction),
        Failures::List(list) => Failing::List(find(list)?),
    })
}

/// The links of a list, each named once.
fn links(list: &[At<FailedLink>], graph: &Graph) -> Result<Vec<LinkId>, Mistake> {
    let mut taken = BTreeSet::new();
    let mut links = Vec::with_capacity(list.len());
    for entry in list {
        let link = match &entry.value {
            FailedLink::Between(a, b) => {
                let (a, b) = (switch(a, graph)?, switch(b, graph)?);
                let between = between(graph, a, b);
                let free = between.iter().find(|link| !taken.contains(*link)).copied();
                free.ok_or_else(|| {
                    let [a, b] = [a, b].map(|switch| &graph.switches()[switch.index()].name);
                    let count = match between.len() {
                        0 => "there is none".to_owned(),
                        1 => "there is 1, listed before".to_owned(),
                        count => format!("there are {count}, listed before"),
                    };
                    entry.mistake(format!("no link left between `{a}` and `{b}`: {count}"))
                })?
            }
            FailedLink::Port(member, port) => {
                let switch = switch(member, graph)?;
                let channel = graph.port_channel(switch, *port);
                channel.map(ChannelId::link).ok_or_else(|| {
                    let ports: Vec<_> = graph
                        .connected_ports(switch)
                        .map(|(port, _)| port.to_string())
                        .collect();
                    let name = &graph.switches()[switch.index()].name;
                    let ports = ports.join(", ");
                    entry.mistake(format!(
                        "port {port} of `{name}` has no link: expected one of {ports}"
                    ))
                })?
            }
        };
        taken.insert(link);
        links.push(link);
    }
    Ok(links)
}

/// Links between two switches, by the port at the first.
fn between(graph: &Graph, a: SwitchId, b: SwitchId) -> Vec<LinkId> {
    graph
        .neighbors(a)
        .filter(|(.., neighbor)| *neighbor == b)
        .map(|(_, channel, _)| channel.link())
        .collect()
}

/// As it is written.
fn written<T>(failures: &Failures<T>, print: impl Fn(&T) -> String) -> String {
    match failures {
        Failures::None => "None".into(),
        Failures::Count(count) => format!("Count({count})"),
        Failures::Fraction(fraction) => format!("Fraction({fraction:?})"),
        Failures::List(list) => {
            let list: Vec<_> = list.iter().map(print).collect();
            format!("List([{}])", list.join(", "))
        }
    }
}
