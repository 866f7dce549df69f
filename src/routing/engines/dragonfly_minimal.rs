//! Routes dragonflies over at most one global link: local, global, local.
//!
//! Guarantees: in order, deadlock-free; at most 3 hops, at most one of them global, and no path within these
//! limits is shorter. Not minimal in general: between some switches two global links are shorter.
//! Needs: a dragonfly ([`Shape::Dragonfly`]) with all links within groups and at least one between any two; 2 lanes per group of service levels, or 1 when no path has local
//! hops in two groups.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes.
//! Cost: time O(switches * hosts * links between two groups), memory O(switches * hosts).
//!
//! # Algorithm
//! 1. Within the destination's group take the local link to its switch.
//! 2. From another group each link to the destination's group makes a path: a local hop unless the link starts
//!    here, the link, a local hop unless it ends at the destination's switch. Among the shortest take number
//!    (destination host mod their count), links in order of (switch, port). At the switch it leads to, the
//!    rest of that path is again among the shortest, so no second local hop follows.
//! 3. On local channels a packet that came over a global channel uses lane 1, any other lane 0; global channels
//!    use lane 0. Local channels on lane 0 wait for global ones, those for local ones on lane 1, and these for
//!    nothing but hosts. The lane follows from the input and the output port, as `InfiniBand` maps them.
//!
//! References: [`KIM_DRAGONFLY`] (MIN, minimal routing with two virtual channels)

use crate::ids::{ChannelId, HostId, SwitchId};
use crate::references::KIM_DRAGONFLY;
use crate::registry::{Arguments, Entry};
use crate::routing::balance::require_nameable_ports;
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, LaneMap, RoutingEngine, RoutingError, Tables,
    UNREACHABLE,
};
use crate::topology::graph::DragonflyShape;
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// Routing over at most one global link; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DragonflyMinimal {}

const NAME: &str = "DragonflyMinimal";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["MIN", "LocalGlobal"],
    summary: "dragonflies over at most one global link: local, global, local",
    parameters: &[],
    guarantees: &[
        "at most one global and two local hops, the fewest with at most one global hop",
        "deadlock-free on 2 lanes",
        "in order",
    ],
    references: &[KIM_DRAGONFLY],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<DragonflyMinimal>()?)),
};

impl RoutingEngine for DragonflyMinimal {
    fn is_drawn(&self) -> bool {
        false
    }

    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: |shape| matches!(shape, Shape::Dragonfly(_)),
            links: Present::Some(|_| true, ""),
        })
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let Shape::Dragonfly(shape) = graph.shape() else {
            return Err(regular::is_no(NAME, graph, "dragonfly"));
        };
        require_nameable_ports(graph, NAME)?;
        let two_locals = shape.groups > 1 && shape.switches_per_group > 1;
        let lanes_needed = if two_locals { 2 } else { 1 };
        budget.require(NAME, lanes_needed)?;
        let next = Links::complete(graph, shape, NAME)?.next(graph)?;
        let lanes = lanes(graph, shape, budget, lanes_needed);
        let guarantees = Guarantees {
            deadlock_free: true,
            lanes_needed,
            ..Guarantees::IN_ORDER
        };
        Ok(Tables::by_destination(
            graph,
            NAME,
            next,
            Vec::new(),
            lanes,
            guarantees,
        ))
    }
}

/// Step 3: the first profile is lane 0 of the group, the second lane 1.
fn lanes(graph: &Graph, shape: &DragonflyShape, budget: LaneBudget, lanes_needed: u8) -> LaneMap {
    let mut map = LaneMap::grouped(graph, budget, 1, lanes_needed, |_, _| 0);
    if lanes_needed == 2 {
        let second: Vec<u8> = map.profiles.iter().map(|lane| lane + 1).collect();
        map.profiles.extend(second);
        let is_global = |channel: ChannelId| {
            let channel = graph.channel(channel);
            let ends = channel.from.switch().zip(channel.to.switch());
            ends.is_some_and(|(from, to)| shape.group(from) != shape.group(to))
        };
        let input = |channel| u32::from(is_global(channel));
        map.by_input = graph.channel_ids().map(input).collect();
    }
    map
}

/// A global link, as seen from its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlobalLink {
    pub(super) from: SwitchId,
    pub(super) port: u16,
    pub(super) to: SwitchId,
}

/// The links of a dragonfly, by where they lead.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) shape: DragonflyShape,
    /// Port to another switch of the own group, `[switch][router]`.
    local: Vec<u16>,
    /// Links in order of (switch, port), `[group][group they lead to]`.
    global: Vec<Vec<GlobalLink>>,
}

impl Links {
    pub(super) fn new(graph: &Graph, shape: &DragonflyShape) -> Self {
        let (routers, groups) = (shape.switches_per_group as usize, shape.groups as usize);
        let mut local = vec![u16::from(UNREACHABLE); graph.switches().len() * routers];
        let mut global = vec![Vec::new(); groups * groups];
        for from in graph.switch_ids() {
            for (port, _, to) in graph.neighbors(from) {
                let (own, other) = (shape.group(from) as usize, shape.group(to) as usize);
                if own == other {
                    local[from.index() * routers + shape.router(to) as usize] = port;
                } else {
                    global[own * groups + other].push(GlobalLink { from, port, to });
                }
            }
        }
        Self {
            shape: *shape,
            local,
            global,
        }
    }

    /// The links when there are enough: all within groups, and one between any two groups.
    ///
    /// # Errors
    /// [`RoutingError::Unsupported`] that names what is not linked.
    pub(super) fn complete(
        graph: &Graph,
        shape: &DragonflyShape,
        engine: &'static str,
    ) -> Result<Self, RoutingError> {
        let links = Self::new(graph, shape);
        let name = |switch: SwitchId| &graph.switches()[switch.index()].name;
        let instead = "use `UpDown()`, which routes any connected fabric";
        for from in graph.switch_ids() {
            let first = from.0 - shape.router(from);
            for to in (first..first + shape.switches_per_group).map(SwitchId) {
                if to != from && links.local_port(from, to) == u16::from(UNREACHABLE) {
                    let reason = format!(
                        "no link is left within a group from {} to {}; {instead}",
                        name(from),
                        name(to)
                    );
                    return Err(RoutingError::unsupported(engine, reason));
                }
            }
        }
        for group in 0..shape.groups {
            for other in (0..shape.groups).filter(|&other| other != group) {
                if links.between(group, other).is_empty() {
                    let first = |group: u32| name(SwitchId(group * shape.switches_per_group));
                    let reason = format!(
                        "no link is left between the group of {} and that of {}; {instead}",
                        first(group),
                        first(other)
                    );
                    return Err(RoutingError::unsupported(engine, reason));
                }
            }
        }
        Ok(links)
    }

    /// Forwarding tables `[switch][host]`.
    fn next(&self, graph: &Graph) -> Result<Vec<u8>, RoutingError> {
        let mut next = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
        for switch in graph.switch_ids() {
            for host in graph.host_ids() {
                let port = match graph.attachment(host) {
                    Some((home, attached)) if home == switch => Some(attached),
                    Some((home, _)) => self.port(switch, home, host),
                    None => None,
                };
                let port = port.ok_or_else(|| RoutingError::Unreachable {
                    from: graph.switches()[switch.index()].name.clone(),
                    to: graph.hosts()[host.index()].name.clone(),
                })?;
                next.push(port as u8);
            }
        }
        Ok(next)
    }

    /// Port at `here` for `host` on another switch, `home`; `None` without a link between the groups.
    fn port(&self, here: SwitchId, home: SwitchId, host: HostId) -> Option<u16> {
        if self.shape.group(here) == self.shape.group(home) {
            return Some(self.local_port(here, home)); // step 1
        }
        let shortest = || self.shortest(here, home); // step 2
        let count = shortest().count();
        let chosen = host.index().checked_rem(count)?;
        shortest().nth(chosen).map(|link| self.port_to(here, link))
    }

    /// Links from the group of a switch to another group.
    pub(super) fn between(&self, group: u32, other: u32) -> &[GlobalLink] {
        &self.global[(group * self.shape.groups + other) as usize]
    }

    /// The links with fewest local hops on the way between switches of different groups.
    pub(super) fn shortest(
        &self,
        here: SwitchId,
        home: SwitchId,
    ) -> impl Iterator<Item = &GlobalLink> {
        let links = self.between(self.shape.group(here), self.shape.group(home));
        let locals =
            move |link: &GlobalLink| u32::from(link.from != here) + u32::from(link.to != home);
        let least = links.iter().map(locals).min();
        links.iter().filter(move |link| Some(locals(link)) == least)
    }

    /// Hops between two switches over at most one global link.
    pub(super) fn hops(&self, here: SwitchId, home: SwitchId) -> u32 {
        if here == home {
            0
        } else if self.shape.group(here) == self.shape.group(home) {
            1
        } else {
            let link = self.shortest(here, home).next();
            link.map_or(0, |link| {
                1 + u32::from(link.from != here) + u32::from(link.to != home)
            })
        }
    }

    /// Port at `here` towards a global link of its group.
    pub(super) fn port_to(&self, here: SwitchId, link: &GlobalLink) -> u16 {
        if link.from == here {
            link.port
        } else {
            self.local_port(here, link.from)
        }
    }

    /// Port to another switch of the own group.
    pub(super) fn local_port(&self, from: SwitchId, to: SwitchId) -> u16 {
        let routers = self.shape.switches_per_group as usize;
        self.local[from.index() * routers + self.shape.router(to) as usize]
    }
}
