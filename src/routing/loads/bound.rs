//! The largest load at which no channel is asked for more than it carries.
//!
//! A load is a fraction of the rate of each sending host's own link, as in scenarios. The bound follows from
//! expected loads and credit loops alone: what a fabric sustains may be less, never more.

use super::credit_loop::CreditLoop;
use super::cuts::{self, Cut};
use super::demand::{Demand, UNIT};
use super::demand_loads::amounts;
use super::drawn;
use crate::ids::ChannelId;
use crate::routing::adaptive::AdaptiveRouting;
use crate::routing::{Routes, Tables};
use crate::topology::{Channel, Graph};
use std::fmt;

/// Loads closer together than this part are the same: their amounts are rounded.
const SAME: f64 = 1e-9;

/// What limits a load. Of several at the same load the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The channel from a host: senders send all they can.
    Sender,
    /// The channel to a host.
    Receiver,
    /// A host that consumes flits more slowly than its channel brings them.
    Sink,
    /// A channel between switches.
    Inner,
    /// All channels between switches that lead out of a set of them.
    Cut,
    /// All channels between switches, for the hops of shortest ways.
    Hops,
}

/// What is known of the loads of channels between switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// Their expected loads.
    Expected,
    /// What holds for any ways: cuts, and hops of shortest ways.
    AnyWays,
    /// Nothing.
    Unknown,
}

/// What routes packets.
#[derive(Clone, Copy, Debug)]
pub enum Router<'a> {
    /// Ports of tables.
    Tables(&'a Tables),
    /// A routing function.
    Function(&'a dyn AdaptiveRouting),
    /// Something else, or nothing that says where packets go.
    Unknown,
}

impl<'a> Router<'a> {
    /// What tells the ways of packets.
    pub fn of(routes: &'a Routes) -> Self {
        match (routes.ports(), routes.adaptive()) {
            (Some(tables), _) => Self::Tables(tables),
            (None, Some(adaptive)) => Self::Function(&*adaptive.routing),
            (None, None) => Self::Unknown,
        }
    }
}

/// What else channels are held to.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Time in which a host consumes a flit, when it is not as fast as they arrive \[cycles\].
    pub sink: Option<u32>,
    /// How long a flit keeps a channel, if longer than by its rate \[cycles\].
    pub time: &'a dyn Fn(ChannelId) -> f64,
    /// The credit loops of the lanes of a channel.
    pub loops: &'a dyn Fn(ChannelId) -> Option<CreditLoop>,
}

impl Limits<'_> {
    /// None but the pace of sinks.
    pub fn of_sink(sink: Option<u32>) -> Self {
        Self {
            sink,
            time: &|_| 0.0,
            loops: &|_| None,
        }
    }
}

/// Largest load, and what limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The load, in units of the demand: with every host at the full rate of its link, a fraction of that.
    pub load: f64,
    /// The channel that is full first.
    pub channel: ChannelId,
    /// What it is.
    pub place: Place,
    /// What it takes for a flit, or the sink behind it \[cycles\].
    pub cycles_per_flit: u32,
    /// Number of channels, of a cut or hops; else 1.
    pub channels: u32,
    /// What it carries where that is less: its credits come back too late.
    pub credit_loop: Option<CreditLoop>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Sink => "sink",
            Self::Inner => "channel between switches",
            Self::Cut => "cut",
            Self::Hops => "hops of shortest ways",
        })
    }
}

/// The bound of a demand; `None` when nothing is sent. And what it knows of channels between switches.
pub fn bound(
    graph: &Graph,
    router: Router<'_>,
    demand: &Demand,
    limits: Limits<'_>,
) -> (Option<Bound>, Inner) {
    let amounts = match router {
        Router::Tables(tables) => amounts(graph, tables, demand),
        Router::Function(_) | Router::Unknown => demand.at_hosts(graph),
    };
    let amounts: Vec<f64> = amounts.into_iter().map(|sum| sum as f64 / UNIT).collect();
    let mut bounds = of_channels(graph, &amounts, limits);
    let inner = match router {
        Router::Tables(_) => Inner::Expected,
        Router::Unknown => Inner::Unknown,
        Router::Function(routing) => {
            let (found, inner) = between_switches(graph, routing, demand, limits);
            bounds.extend(found);
            inner
        }
    };
    (first_of_least(bounds), inner)
}

/// The least bound; of several at the same load the first by place and channel.
pub(super) fn first_of_least(bounds: Vec<Bound>) -> Option<Bound> {
    let least = bounds
        .iter()
        .map(|bound| bound.load)
        .fold(f64::MAX, f64::min);
    let limiting = bounds
        .into_iter()
        .filter(|bound| bound.load <= least * (1.0 + SAME));
    limiting.min_by_key(|bound| (bound.place, bound.channel))
}

/// The bounds of all channels that are asked for something \[flits per cycle\], `[channel]`.
fn of_channels(graph: &Graph, amounts: &[f64], limits: Limits<'_>) -> Vec<Bound> {
    let found = graph.channel_ids().zip(amounts);
    let found = found.filter(|(_, amount)| **amount > 0.0);
    let bounds = found.map(|(id, amount)| of_channel(graph, id, *amount, limits));
    bounds.collect()
}

/// The bound of a channel that is asked for so much \[flits per cycle\].
pub(super) fn of_channel(graph: &Graph, id: ChannelId, amount: f64, limits: Limits<'_>) -> Bound {
    let (place, cycles_per_flit) = limit(graph.channel(id), limits.sink);
    let rate = 1.0 / f64::from(cycles_per_flit).max((limits.time)(id));
    let credit_loop = (limits.loops)(id).filter(|credits| credits.rate() < rate);
    let rate = credit_loop.map_or(rate, |credits| credits.rate());
    Bound {
        load: rate / amount,
        channel: id,
        place,
        cycles_per_flit,
        channels: 1,
        credit_loop,
    }
}

/// Bounds of the channels between switches under a routing function.
fn between_switches(
    graph: &Graph,
    routing: &dyn AdaptiveRouting,
    demand: &Demand,
    limits: Limits<'_>,
) -> (Vec<Bound>, Inner) {
    let between = demand.between(graph);
    let drawn = routing.legs();
    let drawn = drawn.and_then(|legs| drawn::amounts(graph, legs, &between));
    if let Some(amounts) = drawn {
        return (of_channels(graph, &amounts, limits), Inner::Expected);
    }
    let found = [Place::Cut, Place::Hops].into_iter();
    let found = found.zip(cuts::bounds(graph, &between, limits.loops));
    let found = found.filter_map(|(place, cut): (_, Option<Cut>)| {
        let cut = cut?;
        Some(Bound {
            load: cut.load,
            channel: cut.channel,
            place,
            cycles_per_flit: graph.channel(cut.channel).timing.cycles_per_flit,
            channels: cut.channels,
            credit_loop: None,
        })
    });
    let is_known = cuts::are_looked_for(graph);
    let inner = if is_known {
        Inner::AnyWays
    } else {
        Inner::Unknown
    };
    (found.collect(), inner)
}

/// What a channel is, and the time it takes for a flit \[cycles\].
fn limit(channel: &Channel, sink: Option<u32>) -> (Place, u32) {
    let pace = channel.timing.cycles_per_flit;
    match sink {
        _ if channel.from.host().is_some() => (Place::Sender, pace),
        _ if channel.to.host().is_none() => (Place::Inner, pace),
        Some(sink) if sink > pace => (Place::Sink, sink),
        _ => (Place::Receiver, pace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, SlId, SwitchId};
    use crate::rng::{Purpose, Stream, below, stream};
    use crate::routing::tests::conformance::{budget, engine, proof};
    use crate::routing::tests::graphs::{grid, link, switches};
    use crate::topology::{ChannelTiming, Endpoint, GraphBuilder};
    use crate::traffic::{Members, Pattern, Receivers, Share};

    /// Two switches with four hosts each, whose links take these cycles for a flit.
    fn dumbbell(cycles_per_flit: [u32; 8]) -> Graph {
        let mut builder = GraphBuilder::new();
        switches(&mut builder, 2, 5);
        link(&mut builder, (0, 1), (1, 1));
        for (number, cycles_per_flit) in (0..).zip(cycles_per_flit) {
            let timing = ChannelTiming {
                cycles_per_flit,
                latency: 1,
            };
            let host = builder.add_host(format!("H{number}"), 0);
            let end = Endpoint::Switch(SwitchId(number / 4), (number % 4) as u16 + 2);
            builder.connect(Endpoint::Host(host), end, timing).unwrap();
        }
        builder.build().unwrap()
    }

    fn of_tables(graph: &Graph, tables: &Tables, demand: &Demand, sink: Option<u32>) -> Bound {
        let limits = Limits::of_sink(sink);
        bound(graph, Router::Tables(tables), demand, limits)
            .0
            .unwrap()
    }

    fn uniform(cycles_per_flit: [u32; 8], sink: Option<u32>) -> Bound {
        let graph = dumbbell(cycles_per_flit);
        let (tables, _) = proof(&graph, "MinHop()", 1);
        of_tables(&graph, &tables, &Demand::uniform(&graph), sink)
    }

    fn assert_bound(found: Bound, load: f64, place: Place) {
        assert!((found.load - load).abs() < 1e-9, "{found:?}, not {load}");
        assert_eq!(found.place, place);
    }

    #[test]
    fn loads_are_shares_of_each_hosts_own_link() {
        // 16 of 7 * 8 paths each way over the link between the switches
        assert_bound(uniform([1; 8], None), 7.0 / 16.0, Place::Inner);
        assert_bound(uniform([2; 8], None), 7.0 / 8.0, Place::Inner);
        // four times slower host links are the bottleneck themselves
        assert_bound(uniform([4; 8], None), 1.0, Place::Sender);
        assert_bound(uniform([4; 8], Some(4)), 1.0, Place::Sender);
        assert_bound(uniform([4; 8], Some(5)), 0.8, Place::Sink);
        // one slow receiver: seven hosts send a seventh of the full rate to it, which is ten times what it takes
        let slow = [1, 1, 10, 1, 1, 1, 1, 1];
        let found = uniform(slow, None);
        assert_bound(found, 0.1, Place::Receiver);
        let graph = dumbbell(slow);
        assert_eq!(graph.channel(found.channel).to.host(), Some(HostId(2)));
        // fast senders on one side: 4 * 4 / 7 flits per cycle to slow hosts on the other, which send a quarter back
        let fast = [1, 1, 1, 1, 4, 4, 4, 4];
        assert_bound(
            uniform(fast, None),
            1.0 / (4.0 * (4.0 + 0.75) / 7.0),
            Place::Receiver,
        );
    }

    /// What every channel is asked for by the definition: path by path.
    fn by_paths(graph: &Graph, tables: &Tables, classes: &[(&dyn Pattern, f64)]) -> f64 {
        let mut busy = vec![0.0; graph.channels().len()];
        for &(pattern, load) in classes {
            for source in graph.host_ids() {
                let pace =
                    |channel: ChannelId| f64::from(graph.channel(channel).timing.cycles_per_flit);
                let rate = load / pace(graph.host_channel(source));
                for destination in graph.host_ids() {
                    let share = pattern.shares(source).into_iter().map(|share| {
                        let among = |members: &Members, others: u32| match members
                            .position(destination)
                        {
                            Some(_) if others == 1 && destination == source => 0.0,
                            Some(_) => {
                                let own = u32::from(members.position(source).is_some()) * others;
                                share.part / f64::from(members.len() - own)
                            }
                            None => 0.0,
                        };
                        match share.to {
                            Receivers::One(to) if to == destination => share.part,
                            Receivers::One(_) => 0.0,
                            Receivers::Each(members) => among(members, 0),
                            Receivers::Others(members) => among(members, 1),
                        }
                    });
                    let part: f64 = share.sum();
                    if part > 0.0 {
                        let path = tables.path(graph, source, destination, SlId(0)).unwrap();
                        for (channel, _) in path {
                            busy[channel.index()] += rate * part * pace(channel);
                        }
                    }
                }
            }
        }
        1.0 / busy.into_iter().fold(0.0, f64::max)
    }

    /// Two groups and one host, in parts that differ from source to source.
    #[derive(Debug)]
    struct Mixed([Members; 2]);

    impl Pattern for Mixed {
        fn destination(&self, _: HostId, _: &mut Stream) -> Option<HostId> {
            None
        }

        fn sends(&self, source: HostId) -> bool {
            source.0 % 5 != 4
        }

        fn shares(&self, source: HostId) -> Vec<Share<'_>> {
            let to = [
                Receivers::Others(&self.0[0]),
                Receivers::Each(&self.0[1]),
                Receivers::One(HostId(3)),
            ];
            let part = f64::from(source.0 % 3 + 1) / 6.0;
            let parts = [part / 2.0, part / 2.0, 1.0 - part];
            let shares = parts
                .into_iter()
                .zip(to)
                .map(|(part, to)| Share { part, to });
            shares.filter(|_| self.sends(source)).collect()
        }
    }

    #[test]
    fn bounds_are_those_of_the_paths_one_by_one() {
        let shape = grid(&[3, 3], false, 2);
        let mut rng = stream(7, Purpose::Routing, 0);
        for _ in 0..40 {
            let mut builder = GraphBuilder::new();
            switches(&mut builder, 9, 8);
            let mut timing = || ChannelTiming {
                cycles_per_flit: [1, 2, 4, 5, 10][below(&mut rng, 5) as usize],
                latency: 1,
            };
            for host in shape.hosts() {
                builder.add_host(host.name.clone(), 0);
            }
            for channel in shape.channels().iter().step_by(2) {
                builder.connect(channel.from, channel.to, timing()).unwrap();
            }
            let graph = builder.build().unwrap();
            let tables = engine("UpDown()").route(&graph, budget(1), 1).unwrap();
            let some = |step: usize| Members::Some(graph.host_ids().step_by(step).collect());
            let patterns = [
                Mixed([Members::All(18), some(3)]),
                Mixed([some(2), some(3)]),
            ];
            let hosts: Vec<HostId> = graph.host_ids().collect();
            let mut demand = Demand::none(18);
            for (pattern, load) in patterns.iter().zip([0.25, 1.0]) {
                demand.add(&graph, pattern, &hosts, load);
            }
            let found = of_tables(&graph, &tables, &demand, None);
            let classes = [(&patterns[0] as &dyn Pattern, 0.25), (&patterns[1], 1.0)];
            let expected = by_paths(&graph, &tables, &classes);
            assert!(
                (found.load / expected - 1.0).abs() < 1e-9,
                "{found:?}, not {expected}"
            );
            // of hosts alone it is as high or higher, and the same where a host limits
            let alone = bound(&graph, Router::Unknown, &demand, Limits::of_sink(None));
            let alone = alone.0.unwrap();
            assert!(alone.load >= found.load * (1.0 - SAME));
            if found.place != Place::Inner {
                assert!((alone.load / found.load - 1.0).abs() < 1e-9);
                assert_eq!((alone.place, alone.channel), (found.place, found.channel));
            }
        }
    }
}
