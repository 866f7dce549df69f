//! What waits for what on all routes that may be set up beside the tables (D67 of the model), whatever the counters.
//!
//! # Algorithm
//! For each destination from every host on: all that a set-up may take at a switch, with the most hops left that it can have
//! there; who has more of them may do all that others may.
//!
//! Cost: O(destinations * channels * lanes * outputs of a switch) for each class, in parallel over destinations.

use super::dependency_graph::DependencyGraph;
use super::statement::VerifyError;
use crate::control::set_up::ANY_HOPS;
use crate::ids::{ChannelId, HostId, SlId, SwitchId, VlId};
use crate::routing::Tables;
use crate::topology::Graph;
use crate::topology::graph::{Side, TreeWays};
use rayon::prelude::*;

/// Routes of packets of a service level that may be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUpRoutes {
    /// The service level.
    pub level: SlId,
    /// Most horizontal hops of a level.
    pub hops: u32,
    /// Whether the first one may go to either side.
    pub free: bool,
}

/// What is constant.
struct Walk<'a> {
    graph: &'a Graph,
    tables: &'a Tables,
    tree: TreeWays,
    dependencies: &'a DependencyGraph<'a>,
    /// Lanes of a channel; 1: all are one.
    lanes: usize,
}

/// What was found of a destination.
#[derive(Default)]
struct Reached {
    /// Most hops left, and one more, of who comes by a (channel, lane); 0: nobody does.
    most: Vec<u32>,
    /// (Channel, lane) to go on from.
    open: Vec<(ChannelId, VlId)>,
    /// All that are not 0.
    places: Vec<usize>,
}

/// Adds all steps of set-ups; a channel has so many `lanes`, 1: all are one.
///
/// # Errors
/// When a set-up comes to where the tables lead nowhere.
pub(super) fn add(
    graph: &Graph,
    tables: &Tables,
    routes: &[SetUpRoutes],
    lanes: u8,
    dependencies: &DependencyGraph<'_>,
) -> Result<(), VerifyError> {
    let Some(tree) = TreeWays::of(graph) else {
        return Ok(());
    };
    let walk = Walk {
        graph,
        tables,
        tree,
        dependencies,
        lanes: usize::from(lanes),
    };
    let hosts: Vec<HostId> = graph.host_ids().collect();
    for &one in routes {
        let new = || Reached {
            most: vec![0; graph.channels().len() * walk.lanes],
            ..Reached::default()
        };
        let walks = hosts
            .par_iter()
            .map_init(new, |reached, &host| walk.to(one, host, reached));
        // of all errors the first, whoever finds one first
        let results: Vec<Result<(), VerifyError>> = walks.collect();
        results.into_iter().collect::<Result<(), VerifyError>>()?;
    }
    Ok(())
}

impl Walk<'_> {
    fn to(
        &self,
        routes: SetUpRoutes,
        destination: HostId,
        reached: &mut Reached,
    ) -> Result<(), VerifyError> {
        for source in self.graph.host_ids().filter(|&host| host != destination) {
            let channel = self.graph.host_channel(source);
            let lane = match self.lanes {
                1 => VlId(0),
                _ => (self.tables.lanes).injection_lane(channel, routes.level, 0),
            };
            self.reach(reached, channel, lane, 0);
        }
        while let Some((channel, lane)) = reached.open.pop() {
            let Some(switch) = self.graph.channel(channel).to.switch() else {
                continue;
            };
            let word = reached.most[self.place(channel, lane)] - 1;
            let came = self.tree.direction(self.graph.channel(channel));
            let left = if came.is_some() { word } else { routes.hops };
            let default = self.default(channel, switch, destination)?;
            let mut go =
                |port: u16| self.go((channel, lane), (switch, port), left, routes, reached);
            go(default);
            if !self.tree.is_below(switch, destination) {
                self.tree.up(switch).for_each(go);
            } else if left > 0 {
                let forced = (!routes.free).then(|| self.tree.farther(switch));
                for side in [Side::Next, Side::Before] {
                    if came.or(forced).is_none_or(|only| only == side) {
                        self.tree.across(switch, side).for_each(&mut go);
                    }
                }
            }
        }
        for place in reached.places.drain(..) {
            reached.most[place] = 0;
        }
        Ok(())
    }

    /// A set-up goes on by a port.
    fn go(
        &self,
        (from, lane): (ChannelId, VlId),
        (switch, port): (SwitchId, u16),
        left: u32,
        routes: SetUpRoutes,
        reached: &mut Reached,
    ) {
        let Some(to) = self.graph.port_channel(switch, port) else {
            return;
        };
        let next_lane = match self.lanes {
            1 => VlId(0),
            _ => self.tables.lanes.lane(from, to, routes.level, 0),
        };
        let is_inner = self.graph.channel(to).to.switch().is_some();
        if is_inner {
            self.dependencies.add_vertex(to, next_lane);
            if self.graph.channel(from).from.switch().is_some() {
                self.dependencies.add(from, lane, to, next_lane);
            }
        }
        let word = match self.tree.side(switch, port) {
            None => 0,
            Some(_) if left == ANY_HOPS => ANY_HOPS,
            Some(_) => left.saturating_sub(1),
        };
        self.reach(reached, to, next_lane, word);
    }

    fn reach(&self, reached: &mut Reached, channel: ChannelId, lane: VlId, word: u32) {
        let place = self.place(channel, lane);
        let known = &mut reached.most[place];
        let most = word.saturating_add(1);
        if *known >= most {
            return;
        }
        if *known == 0 {
            reached.places.push(place);
        }
        *known = most;
        reached.open.push((channel, lane));
    }

    fn place(&self, channel: ChannelId, lane: VlId) -> usize {
        channel.index() * self.lanes + lane.index()
    }

    /// Port of the tables for what comes by a channel.
    fn default(
        &self,
        channel: ChannelId,
        switch: SwitchId,
        destination: HostId,
    ) -> Result<u16, VerifyError> {
        let row = self.tables.row(channel, switch);
        let port = self.tables.next_port(row, destination);
        let out = port.and_then(|port| self.graph.port_channel(switch, port));
        let end = out.map(|out| self.graph.channel(out).to);
        match (port, end) {
            (Some(port), Some(end)) if end.host().is_none_or(|host| host == destination) => {
                Ok(port)
            }
            _ => Err(VerifyError::NoPath {
                from: self.graph.switches()[switch.index()].name.clone(),
                to: self.graph.hosts()[destination.index()].name.clone(),
                reason: String::from(
                    "a flow whose route is set up may come there, and the tables lead nowhere",
                ),
                is_missing: false,
            }),
        }
    }
}
