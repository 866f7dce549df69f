//! Directs what has come to the switches of a shard.

use super::last::TAKES_DOWN;
use super::{Arrived, Entry, FlowCounter, RouteCache, SetUps};
use crate::control::set_up::{ANY_HOPS, SET_UP, TEAR_DOWN};
use crate::cycle::mechanisms::probes::Probes;
use crate::cycle::state::set_up_flows::{Kind, Parameters, SetUpFlows};
use crate::cycle::view::{Heads, Optional, View, column};
use crate::fabric::components::NONE;
use crate::fabric::rows::{PacketRow, PortRow, Row, Rows};
use crate::ids::{HostId, SwitchId};
use crate::rng::{Stream, below};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};
use std::ops::Range;

/// The end of `Slot::Deliver`.
pub(super) fn system<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    (mut counters, mut caches): (
        Query<'_, '_, &mut FlowCounter>,
        Query<'_, '_, &mut RouteCache>,
    ),
    mut probes: ResMut<'_, Probes>,
    mut own: ResMut<'_, SetUps>,
) {
    if heads.events.lists().arrived.is_empty() {
        return;
    }
    let view = heads.view::<crate::cycle::rules::Any>(Optional::default());
    let routes = view.shared.own_routes();
    let Some(flows) = routes.and_then(|routes| routes.set_up()) else {
        return;
    };
    let mut stage = Stage {
        view,
        flows,
        counters: Rows::new(column!(counters)),
        caches: Rows::new(column!(caches)),
        probes: probes.bypass_change_detection(),
        own: own.bypass_change_detection(),
    };
    stage.collect();
    stage.run();
}

/// What directing packets works on.
struct Stage<'a, const W: usize> {
    view: View<'a, W>,
    flows: &'a SetUpFlows,
    counters: Rows<'a, PortRow, FlowCounter>,
    caches: Rows<'a, PortRow, RouteCache>,
    probes: &'a mut Probes,
    own: &'a mut SetUps,
}

/// A packet at a switch.
#[derive(Clone, Copy)]
struct Spot {
    packet: PacketRow,
    /// Its flow (global id).
    flow: u32,
    input: PortRow,
    /// First port of its switch.
    first: PortRow,
    /// Output of the tables, by its position.
    by_tables: u8,
}

impl<const W: usize> Stage<'_, W> {
    /// What is directed in this cycle, in order.
    fn collect(&mut self) {
        for &(lane, packet) in &self.view.lists.arrived {
            let record = &self.view.records[packet];
            let input = self.view.shared.numbering.port(lane);
            if record.flow == NONE || self.view.place.is_host(input) {
                continue;
            }
            let list = match self.flows.kind(record.class) {
                Kind::Other => continue,
                Kind::Follower { last_takes_down }
                    if last_takes_down && record.answer == TAKES_DOWN =>
                {
                    &mut self.own.tear_downs
                }
                Kind::Follower { .. } => &mut self.own.followers,
                Kind::Control(_) => match self.probes.probe(record.answer) {
                    None => continue,
                    Some([SET_UP, ..]) => &mut self.own.choosers,
                    Some([TEAR_DOWN, ..]) => &mut self.own.tear_downs,
                    Some(_) => &mut self.own.followers,
                },
            };
            list.push((lane, packet));
        }
        self.own.choosers.sort_unstable_by_key(|&(lane, _)| lane);
        self.own.tear_downs.sort_unstable_by_key(|&(lane, _)| lane);
    }

    fn run(&mut self) {
        let mut set_ups = std::mem::take(&mut self.own.choosers);
        for &one in &set_ups {
            let spot = self.spot(one);
            self.set_up(spot);
        }
        let mut followers = std::mem::take(&mut self.own.followers);
        for one in followers.drain(..) {
            let spot = self.spot(one);
            self.follow(spot);
        }
        self.own.followers = followers;
        let mut tear_downs = std::mem::take(&mut self.own.tear_downs);
        for one in tear_downs.drain(..) {
            let spot = self.spot(one);
            self.tear_down(spot);
        }
        self.own.tear_downs = tear_downs;
        for (lane, _) in set_ups.drain(..) {
            let input = self.view.shared.numbering.port(lane);
            let entries = self.caches[input].entries.len() as u64;
            self.own.entries_most = self.own.entries_most.max(entries);
        }
        self.own.choosers = set_ups;
    }

    fn spot(&self, (lane, packet): Arrived) -> Spot {
        let shared = &self.view.shared;
        let input: PortRow = shared.numbering.port(lane);
        let port = &self.view.ins[input];
        let destination = self.view.packets[packet].destination;
        Spot {
            packet,
            flow: self.view.records[packet].flow,
            input,
            first: self.view.switches[port.owner].first_port,
            by_tables: (shared.forwarding.next).at(port.table_start, destination),
        }
    }

    /// A set-up chooses.
    fn set_up(&mut self, spot: Spot) {
        let record = &self.view.records[spot.packet];
        let Kind::Control(parameters) = self.flows.kind(record.class) else {
            return;
        };
        let came = self.own.given.came[spot.input.index()];
        let answer = record.answer;
        let word = self.probes.probe(answer).map_or(0, |payload| payload[1]);
        let left = if came.is_some() {
            word
        } else {
            parameters.hops
        };
        let choice = self.choice(spot, &parameters, left);
        let cache = &mut self.caches[spot.input];
        let mut output = spot.by_tables;
        if choice != output {
            if (cache.entries.len() as u64) < places(parameters.cache) {
                output = choice;
                cache.entries.push(Entry {
                    connection: self.flows.connection(spot.flow),
                    output,
                });
            } else {
                self.own.full += 1;
            }
        }
        self.take(spot, output, self.flows.weight(spot.flow));
        let owner = self.view.ins[spot.input].owner;
        let is_across = self.own.given.switches[owner.index()].is_across(output.into());
        if is_across && let Some(payload) = self.probes.probe(answer) {
            payload[1] = if left == ANY_HOPS {
                ANY_HOPS
            } else {
                left.saturating_sub(1)
            };
        }
    }

    /// The output that a set-up would take if there is room for it in the cache; `left`: hops.
    fn choice(&mut self, spot: Spot, parameters: &Parameters, left: u32) -> u8 {
        let given = &self.own.given;
        let owner = self.view.ins[spot.input].owner;
        let switch = SwitchId(self.view.switches[owner].global);
        let destination = HostId(self.view.packets[spot.packet].destination);
        let ways = &given.switches[owner.index()];
        let is_below = (given.tree.as_ref()).is_none_or(|tree| tree.is_below(switch, destination));
        let (outputs, bound) = if !is_below {
            ([ways.up.clone(), 0..0], i64::MAX)
        } else if ways.is_leaf || left == 0 {
            return spot.by_tables;
        } else {
            let forced = (!parameters.free).then_some(ways.farther);
            let side = given.came[spot.input.index()].or(forced);
            let down = spot.first.plus(spot.by_tables.into());
            (ways.across(side), self.counters[down].0)
        };
        let counter = |output: u32| self.counters[spot.first.plus(output)].0;
        let stream = &mut self.caches[spot.input].stream;
        let least = least(outputs, bound, counter, stream);
        least.map_or(spot.by_tables, |output| output as u8)
    }

    /// A packet goes on by what is known of its connection; returns its output.
    fn follow(&mut self, spot: Spot) -> u8 {
        let connection = self.flows.connection(spot.flow);
        let mut entries = self.caches[spot.input].entries.iter();
        let known = entries.find(|entry| entry.connection == connection);
        let output = known.map_or(spot.by_tables, |entry| entry.output);
        self.take(spot, output, 0);
        output
    }

    /// A tear-down follows its route and takes it down.
    fn tear_down(&mut self, spot: Spot) {
        let output = self.follow(spot);
        self.take(spot, output, -self.flows.weight(spot.flow));
        let connection = self.flows.connection(spot.flow);
        let entries = &mut self.caches[spot.input].entries;
        let place = entries
            .iter()
            .position(|entry| entry.connection == connection);
        if let Some(place) = place {
            entries.remove(place);
        }
    }

    /// The packet has this output, whose counter changes by so much.
    #[inline]
    fn take(&mut self, spot: Spot, output: u8, weight: i64) {
        self.view.records[spot.packet].via = output.into();
        self.counters[spot.first.plus(output.into())].0 += weight;
    }
}

/// The places of a cache of so many.
fn places(cache: u32) -> u64 {
    if cache == u32::MAX {
        u64::MAX
    } else {
        cache.into()
    }
}

/// Of the outputs whose counter is below `bound` one with the least, drawn among several.
fn least(
    outputs: [Range<u32>; 2],
    bound: i64,
    counter: impl Fn(u32) -> i64,
    stream: &mut Stream,
) -> Option<u32> {
    let all = || outputs.iter().flat_map(Range::clone);
    let least = all().map(&counter).min()?;
    if least >= bound {
        return None;
    }
    let tied = || all().filter(|&output| counter(output) == least);
    let count = tied().count() as u32;
    let drawn = if count > 1 { below(stream, count) } else { 0 };
    tied().nth(drawn as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn only_ties_are_drawn() {
        let counters = [5, 2, 2, 7, 1, 2];
        let counter = |output: u32| counters[output as usize];
        let mut rng = stream(1, Purpose::SetUp, 3);
        let before = rng.clone();
        assert_eq!(least([0..6, 0..0], 2, counter, &mut rng), Some(4));
        assert_eq!(least([0..0, 3..5], i64::MAX, counter, &mut rng), Some(4));
        assert_eq!(least([0..6, 0..0], 1, counter, &mut rng), None);
        assert_eq!(least([0..0, 0..0], 9, counter, &mut rng), None);
        assert_eq!(rng, before);
        let mut seen = [0; 6];
        for _ in 0..300 {
            let found = least([0..4, 5..6], 3, counter, &mut rng).unwrap();
            seen[found as usize] += 1;
        }
        assert!(seen.iter().sum::<i32>() == 300 && [1, 2, 5].iter().all(|&one| seen[one] > 60));
    }
}
