//! What takes of links whose rates are calculated, and is not counted there (D73): classes without the algorithm, and control
//! packets in band.

use super::Resolved;
use crate::control::{Algorithm, Limit, ONE_FLIT_PER_CYCLE, WHOLE_LINK};
use crate::ids::{ChannelId, HostId, SlId};
use crate::plan::{ClassPlan, Control, FlowPlan, Plan};
use crate::routing::Tables;
use crate::routing::loads::{demand::Demand, parts_of_channels};
use crate::topology::Graph;
use std::fmt;

/// What parts of a link may be wrong by.
const ROUNDED: f64 = 2e-7;

/// Classes whose flows share links by an algorithm that calculates rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Their names.
    pub classes: Vec<String>,
    /// What rates may take of every link.
    pub part: f64,
    /// Who takes of these links more than is left out for them.
    pub others: Others,
}

/// Who takes of links without being counted.
#[derive(Clone, Debug, PartialEq)]
pub enum Others {
    /// Nobody, or no more than is left out.
    Fit,
    /// Ways are chosen packet by packet, so no link knows the flows on it.
    Adaptive,
    /// These.
    Take {
        /// In the order of classes.
        takers: Vec<Taker>,
        /// What they take of one link together at most; `None`: that is not bounded.
        most: Option<f64>,
    },
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Taker {
    /// What it is.
    pub name: String,
    /// Links that it has in common with these flows.
    pub channels: usize,
    /// What it takes of one of them at most; `None`: that is not bounded.
    pub most: Option<f64>,
}

/// All that share links in a scenario. Cost: the routes of all flows, and one pass over the ways for each other class.
pub fn shared(resolved: &Resolved) -> Vec<Shared> {
    let plan = &resolved.plan;
    let controls: Vec<(usize, &Control)> = controls(plan).collect();
    let mut all = Vec::new();
    for (place, &(_, control)) in controls.iter().enumerate() {
        let is_same = |other: &&(usize, &Control)| is_shared(control, other.1);
        if !is_shared(control, control) || controls[..place].iter().any(|one| is_same(&one)) {
            continue;
        }
        let members: Vec<usize> = controls.iter().filter(is_same).map(|one| one.0).collect();
        let part = super::resolve::quantity::of_links(resolved.scenario.fluid.reserved.value);
        let part = f64::from(part) / f64::from(WHOLE_LINK);
        let named = &resolved.scenario.traffic[members[0]].control;
        all.push(Shared {
            algorithm: (named.as_ref()).map_or_else(String::new, |part| part.name.value.clone()),
            classes: members
                .iter()
                .map(|&class| plan.classes[class].name.clone())
                .collect(),
            part,
            others: others(resolved, &members, part),
        });
    }
    all
}

fn controls(plan: &Plan) -> impl Iterator<Item = (usize, &Control)> {
    let classes = plan.classes.iter().enumerate();
    classes.filter_map(|(number, class)| Some((number, class.control.as_ref()?)))
}

fn is_shared(one: &Control, other: &Control) -> bool {
    one.algorithm.has_in_common(&other.algorithm)
}

/// Who takes of the links of these classes.
fn others(resolved: &Resolved, members: &[usize], part: f64) -> Others {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let Some(tables) = resolved.routes.tables() else {
        return Others::Adaptive;
    };
    let ways = Ways {
        plan,
        graph,
        tables,
    };
    let mut own = vec![false; graph.channels().len()];
    for (id, flow) in plan.flows.iter().enumerate() {
        if members.contains(&usize::from(flow.class)) {
            ways.way(id, flow)
                .for_each(|channel| own[channel.index()] = true);
        }
    }
    let mut sums = vec![0.0; own.len()];
    let mut takers = Vec::new();
    for (number, class) in plan.classes.iter().enumerate() {
        if members.contains(&number) {
            continue;
        }
        let amounts = ways.of_class(number, class);
        let on_own = || {
            amounts
                .iter()
                .zip(&own)
                .filter(|(amount, own)| **own && **amount > 0.0)
        };
        let channels = on_own().count();
        if channels == 0 {
            continue;
        }
        let most = on_own().map(|(&amount, _)| amount).fold(0.0, f64::max);
        for (sum, (amount, own)) in sums.iter_mut().zip(amounts.iter().zip(&own)) {
            *sum += if *own { *amount } else { 0.0 };
        }
        takers.push(Taker {
            name: called(plan, class),
            channels,
            most: most.is_finite().then_some(most),
        });
    }
    let most = sums.into_iter().fold(0.0, f64::max);
    if most <= 1.0 - part + ROUNDED {
        return Others::Fit;
    }
    Others::Take {
        takers,
        most: most.is_finite().then_some(most),
    }
}

/// What a class is called that is not counted.
fn called(plan: &Plan, class: &ClassPlan) -> String {
    match class.answers {
        Some(answered) => format!(
            "control packets of `{}`",
            plan.classes[usize::from(answered)].name
        ),
        None => format!("class `{}`", class.name),
    }
}

/// The ways of packets, and what classes take of channels, as parts of them.
struct Ways<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    tables: &'a Tables,
}

impl Ways<'_> {
    /// The channels that a flow goes over.
    fn way(&self, id: usize, flow: &FlowPlan) -> impl Iterator<Item = ChannelId> {
        let own = self.plan.routes_of_flows.as_ref();
        let own = own.map(|routes| routes.of(id).to_vec());
        let way = own.unwrap_or_else(|| {
            let levels = &self.plan.classes[usize::from(flow.class)].service_levels;
            self.path([flow.source, flow.destination], levels)
        });
        way.into_iter()
    }

    fn path(&self, [from, to]: [HostId; 2], levels: &[SlId]) -> Vec<ChannelId> {
        let level = levels.first().copied().unwrap_or(SlId(0));
        let path = self.tables.path(self.graph, from, to, level);
        let path = path.into_iter().flatten();
        path.map(|(channel, _)| channel).collect()
    }

    /// What a class takes of every channel at most; without bound: infinite.
    fn of_class(&self, number: usize, class: &ClassPlan) -> Vec<f64> {
        if class.answers.is_some() {
            return self.of_control(class);
        }
        let mut takes = vec![0.0; self.graph.channels().len()];
        if class.flows.is_some() {
            let flows = self.plan.flows.iter().enumerate();
            for (id, flow) in flows.filter(|(_, flow)| usize::from(flow.class) == number) {
                let most = match flow.limit {
                    Limit::Rate(rate) if flow.changes.is_empty() && class.control.is_none() => {
                        rate as f64 / ONE_FLIT_PER_CYCLE as f64
                    }
                    _ => f64::INFINITY,
                };
                self.add(&mut takes, self.way(id, flow), most);
            }
            return takes;
        }
        let mut demand = Demand::none(self.graph.hosts().len());
        if class.messages.is_some() {
            demand.add_among(self.graph, &class.hosts);
        } else {
            demand.add(self.graph, &*class.pattern, &class.hosts, class.load);
        }
        let is_bounded = class.messages.is_none() && !class.is_backlogged();
        let parts = parts_of_channels(self.graph, self.tables, &demand);
        let bounded = |part: f64| {
            if !is_bounded && part > 0.0 {
                f64::INFINITY
            } else {
                part
            }
        };
        parts.into_iter().map(bounded).collect()
    }

    /// What the control packets of a class take, by the class of these.
    fn of_control(&self, answers: &ClassPlan) -> Vec<f64> {
        let mut takes = vec![0.0; self.graph.channels().len()];
        let answered = answers.answers.map_or(0, usize::from);
        let control = self.plan.classes[answered].control.as_ref();
        let Some(control) = control.filter(|control| control.transport.is_none()) else {
            return takes;
        };
        // one there and one back for each look
        let most = f64::from(answers.size.largest()) * control.algorithm.packets_per_cycle();
        if most <= 0.0 {
            return takes;
        }
        let flows = self.plan.flows.iter().enumerate();
        for (id, flow) in flows.filter(|(_, flow)| usize::from(flow.class) == answered) {
            if control.algorithm.probes() {
                self.add(&mut takes, self.way(id, flow), most);
            }
            let back = self.path([flow.destination, flow.source], &answers.service_levels);
            self.add(&mut takes, back.into_iter(), most);
        }
        takes
    }

    /// Adds flits per cycle on a way.
    fn add(&self, takes: &mut [f64], way: impl Iterator<Item = ChannelId>, rate: f64) {
        for channel in way {
            let pace = self.graph.channel(channel).timing.cycles_per_flit;
            takes[channel.index()] += rate * f64::from(pace);
        }
    }
}

impl Algorithm {
    /// Control packets of a flow in the end, in each direction, per cycle; infinite where that is not known.
    fn packets_per_cycle(&self) -> f64 {
        let every = |cycles: u64| 1.0 / cycles as f64;
        match self {
            Self::Saa(own) => own.period.map_or(0.0, every),
            Self::SaaM(own) => every(own.period),
            Self::Dffa(_) | Self::DffaRounds(_) => 0.0,
            _ => f64::INFINITY,
        }
    }
}

impl fmt::Display for Shared {
    /// What rates have, without who else takes of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes: Vec<String> = self
            .classes
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let together = if classes.len() > 1 { " together" } else { "" };
        write!(
            f,
            "`{}` gives {} {:.3} of every link{together}",
            self.algorithm,
            classes.join(" and "),
            self.part
        )
    }
}

impl Shared {
    /// What makes its rates wrong, in words; `None`: nothing.
    pub fn warning(&self) -> Option<String> {
        let (takers, most) = match &self.others {
            Others::Fit => return None,
            Others::Adaptive => {
                return Some(format!(
                    "{self}, but packets choose their ways one by one: links do not know the flows on them, so rates mean little. \
                     Use routing by forwarding tables"
                ));
            }
            Others::Take { takers, most } => (takers, most),
        };
        let takers = takers.iter().map(|taker| {
            let most = taker.most.map_or_else(
                || String::from("any part"),
                |most| format!("up to {most:.4}"),
            );
            let links = if taker.channels == 1 { "link" } else { "links" };
            format!("{} ({most} of {} {links})", taker.name, taker.channels)
        });
        let takers: Vec<String> = takers.collect();
        let cure = match most {
            Some(most) if *most < 1.0 => {
                format!(
                    "`fluid: (reserved: {:.4})` leaves that out",
                    ((most - ROUNDED) * 1e4).ceil() / 1e4
                )
            }
            _ => String::from(
                "limit it, give it the same `control`, or leave a part out by `fluid: (reserved: ...)`",
            ),
        };
        Some(format!(
            "{self}, but they are not alone there: {}. {cure}",
            takers.join(", ")
        ))
    }
}
