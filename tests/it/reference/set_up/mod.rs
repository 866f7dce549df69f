//! Routes set up by packets (D67): what switches keep, and how they direct the packets of classes that set up.
//!
//! Where tear-downs come behind all packets of their flows, a tear-down that takes another output than the set-up before it is
//! found where it happens.

mod packets;
mod plan;
mod tree;
mod waits;

pub(super) use packets::directed;
pub(super) use plan::{are_any, check_plan, is_in_order, set_up_of, successor, told_start};

use super::own_routes;
use super::packet::{Packet, PacketId};
use super::routing::Routing;
use super::switch::{Switch, Waiting, Way};
use super::{Fabric, Setting};
pub(crate) use waits::can_wait_in_a_circle;

use packets::{payload_mut, sets_up, tears_down};
use plan::{Parameters, connection};
use tree::{Place, Side};
use virtlane::ids::{ChannelId, SwitchId};
use virtlane::plan::Queues;
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::routing::Tables;

/// Any number of hops.
const ANY: u32 = u32::MAX;

/// A packet that is to be directed.
#[derive(Clone, Debug)]
pub(super) struct Coming {
    packet: PacketId,
    lane: usize,
    arrived: u64,
    /// Cycle in which it is.
    ready: u64,
}

/// A flow that is set up over an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    flow: usize,
    output: usize,
}

/// An entry of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    connection: usize,
    output: usize,
}

/// What a switch keeps.
#[derive(Debug)]
pub(super) struct SetUps {
    place: Place,
    /// By output port.
    counters: Vec<i64>,
    held: Vec<Held>,
    /// By input port, each in the order in which they were entered.
    caches: Vec<Vec<Entry>>,
    /// Draws of the set-ups that came by an input port; none where nothing is connected.
    streams: Vec<Option<Stream>>,
    /// By input port, in the order of arrival.
    coming: Vec<Vec<Coming>>,
    full: u64,
    /// Most entries of one cache at the end of a cycle.
    entries_most: usize,
}

/// What is counted (D67).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SetUpCounts {
    /// Choices beside that of the tables for which a cache had no place.
    pub(crate) full: u64,
    pub(crate) entries_most: u64,
    /// Entries of all caches at the end.
    pub(crate) entries: u64,
    /// Sum of all counters at the end, modulo 2^64.
    pub(crate) weight: u64,
}

impl SetUps {
    /// Before cycle 0; `None`: no class sets up.
    pub(super) fn new(setting: Setting<'_>, id: SwitchId) -> Option<Self> {
        if !are_any(setting) {
            return None;
        }
        let ports = setting.graph.ports(id);
        let draws = |channel: ChannelId| {
            let came_by = u64::from(channel.reverse().0);
            stream(setting.plan.seed, Purpose::SetUp, came_by)
        };
        Some(Self {
            place: Place::of(setting.graph, id),
            counters: vec![0; ports.len()],
            held: Vec::new(),
            caches: vec![Vec::new(); ports.len()],
            streams: ports.iter().map(|port| port.map(draws)).collect(),
            coming: vec![Vec::new(); ports.len()],
            full: 0,
            entries_most: 0,
        })
    }

    /// The output with the least counter; several alike are drawn from.
    fn least(&mut self, outputs: &[usize], input: usize) -> usize {
        let counters = outputs.iter().map(|&output| self.counters[output]);
        let least = counters.min().expect("an output");
        let is_least = |output: &usize| self.counters[*output] == least;
        let alike: Vec<usize> = outputs.iter().copied().filter(is_least).collect();
        let draws = self.streams[input].as_mut().expect("connected");
        match alike[..] {
            [only] => only,
            _ => alike[below(draws, alike.len() as u32) as usize],
        }
    }

    /// Outputs that lead to this side, in port order.
    fn outputs(&self, side: Side) -> Vec<usize> {
        let sides = self.place.sides.iter().enumerate();
        let to = sides.filter(|(_, found)| **found == Some(side));
        to.map(|(output, _)| output).collect()
    }

    /// c of D67.
    fn choice(
        &mut self,
        (packet, parameters): (&Packet, Parameters),
        (input, by_tables): (usize, usize),
        left: u32,
    ) -> usize {
        if !self.place.below.contains(&packet.destination) {
            let up = self.outputs(Side::Up);
            return self.least(&up, input);
        }
        if self.place.is_leaf || left == 0 {
            return by_tables;
        }
        let came_from = self.place.sides[input].expect("connected");
        let sides = if came_from.is_horizontal() {
            vec![came_from.opposite()]
        } else if parameters.forced {
            vec![self.place.farther]
        } else {
            vec![Side::Next, Side::Before]
        };
        let mut outputs: Vec<usize> = sides.iter().flat_map(|&side| self.outputs(side)).collect();
        outputs.sort_unstable();
        let counter = self.counters[by_tables];
        outputs.retain(|&output| self.counters[output] < counter);
        if outputs.is_empty() {
            return by_tables;
        }
        self.least(&outputs, input)
    }

    /// Output of a set-up of a flow, which rewrites its hops left.
    fn set_up(
        &mut self,
        setting: Setting<'_>,
        (packet, flow): (&mut Packet, usize),
        (input, by_tables): (usize, usize),
    ) -> usize {
        let parameters = set_up_of(setting, flow).expect("D67");
        let came_from = self.place.sides[input].expect("connected");
        let payload = payload_mut(packet);
        let left = if came_from.is_horizontal() {
            payload[1]
        } else {
            parameters.hops.unwrap_or(ANY)
        };
        let choice = self.choice((packet, parameters), (input, by_tables), left);
        let connection = connection(setting, flow);
        let cache = &mut self.caches[input];
        let is_known = cache.iter().any(|entry| entry.connection == connection);
        assert!(!is_known || !is_in_order(setting), "two routes");
        let has_room = parameters
            .places
            .is_none_or(|places| cache.len() < places as usize);
        let output = if choice == by_tables {
            choice
        } else if has_room {
            cache.push(Entry {
                connection,
                output: choice,
            });
            choice
        } else {
            self.full += 1;
            by_tables
        };
        self.counters[output] += i64::from(setting.plan.flows[flow].weight);
        self.held.push(Held { flow, output });
        let side = self.place.sides[output].expect("connected");
        if side.is_horizontal() && left != ANY {
            payload_mut(packet)[1] = left.saturating_sub(1);
        } else if side.is_horizontal() {
            payload_mut(packet)[1] = ANY;
        }
        output
    }

    /// Output of anything else of a flow.
    fn look_up(
        &self,
        setting: Setting<'_>,
        flow: usize,
        (input, by_tables): (usize, usize),
    ) -> usize {
        let connection = connection(setting, flow);
        let mut cache = self.caches[input].iter();
        let entry = cache.find(|entry| entry.connection == connection);
        entry.map_or(by_tables, |entry| entry.output)
    }

    /// A flow that takes this output is torn down.
    fn tear_down(&mut self, setting: Setting<'_>, flow: usize, (input, output): (usize, usize)) {
        let mut held = self.held.iter();
        match held.position(|held| *held == Held { flow, output }) {
            Some(place) => drop(self.held.remove(place)),
            None => assert!(!is_in_order(setting), "flow {flow} is not set up there"),
        }
        self.counters[output] -= i64::from(setting.plan.flows[flow].weight);
        let connection = connection(setting, flow);
        let cache = &mut self.caches[input];
        let mut entries = cache.iter();
        if let Some(oldest) = entries.position(|entry| entry.connection == connection) {
            cache.remove(oldest);
        }
    }

    /// What is counted, of one switch.
    pub(super) fn counts(&self) -> SetUpCounts {
        let entries: usize = self.caches.iter().map(Vec::len).sum();
        SetUpCounts {
            full: self.full,
            entries_most: self.entries_most as u64,
            entries: entries as u64,
            weight: self.counters.iter().sum::<i64>() as u64,
        }
    }
}

fn tables(setting: Setting<'_>) -> &Tables {
    match setting.routing {
        Routing::Tables(tables) => tables,
        Routing::Adaptive(_) => panic!("D67: no adaptive routing"),
    }
}

impl Fabric<'_> {
    /// What is counted of all switches together.
    pub(super) fn set_up_counts(&self) -> SetUpCounts {
        let switches = self.switches.iter();
        let set_ups = switches.filter_map(|switch| switch.set_ups.as_ref());
        let counts = set_ups.map(SetUps::counts);
        counts.fold(SetUpCounts::default(), |all, one| SetUpCounts {
            full: all.full + one.full,
            entries_most: all.entries_most.max(one.entries_most),
            entries: all.entries + one.entries,
            weight: all.weight.wrapping_add(one.weight),
        })
    }
}

impl Switch {
    /// A packet that is directed has come in over `input`.
    pub(super) fn expect(
        &mut self,
        input: usize,
        (packet, lane): (PacketId, usize),
        (arrived, ready): (u64, u64),
    ) {
        let set_ups = self.set_ups.as_mut().expect("D67");
        let before = set_ups.coming[input].last();
        // all channels have one pace
        assert!(before.is_none_or(|before| before.arrived < arrived && before.ready < ready));
        set_ups.coming[input].push(Coming {
            packet,
            lane,
            arrived,
            ready,
        });
    }

    /// Packets that may request from this cycle on are directed.
    pub(super) fn direct(&mut self, setting: Setting<'_>, packets: &mut [Packet], now: u64) {
        let Some(mut set_ups) = self.set_ups.take() else {
            return;
        };
        let mut due: Vec<(usize, Coming)> = Vec::new();
        for (input, coming) in set_ups.coming.iter_mut().enumerate() {
            let (now_due, later) = coming.drain(..).partition(|coming| coming.ready == now);
            *coming = later;
            let now_due: Vec<Coming> = now_due;
            due.extend(now_due.into_iter().map(|coming| (input, coming)));
        }
        due.sort_by_key(|(input, coming)| (*input, coming.lane));
        let flow = |packets: &[Packet], coming: &Coming| {
            directed(setting, &packets[coming.packet]).expect("D67")
        };
        let by_tables = |switch: &Self, packet: &Packet, input| {
            let way = switch.table_way(&setting.plan.switch, tables(setting), packet, input);
            way.output
        };
        let mut taken = vec![None; due.len()];
        for (taken, (input, coming)) in taken.iter_mut().zip(&due) {
            if sets_up(&packets[coming.packet]) {
                let ports = (*input, by_tables(self, &packets[coming.packet], *input));
                let flow = flow(packets, coming);
                *taken = Some(set_ups.set_up(setting, (&mut packets[coming.packet], flow), ports));
            }
        }
        for (taken, (input, coming)) in taken.iter_mut().zip(&due) {
            if taken.is_none() {
                let ports = (*input, by_tables(self, &packets[coming.packet], *input));
                *taken = Some(set_ups.look_up(setting, flow(packets, coming), ports));
            }
        }
        for (taken, (input, coming)) in taken.iter().zip(&due) {
            if tears_down(setting, &packets[coming.packet]) {
                let ports = (*input, taken.expect("directed"));
                set_ups.tear_down(setting, flow(packets, coming), ports);
            }
        }
        let most = set_ups.caches.iter().map(Vec::len).max().unwrap_or(0);
        set_ups.entries_most = set_ups.entries_most.max(most);
        self.set_ups = Some(set_ups);
        for ((input, coming), taken) in due.iter().zip(taken) {
            let output = taken.expect("directed");
            let way = self.way_to(setting, &packets[coming.packet], *input, output);
            self.enter(setting, (*input, coming), way, now);
        }
    }

    /// The way over an output, on the lane of a packet with a route (D66).
    fn way_to(&self, setting: Setting<'_>, packet: &Packet, input: usize, output: usize) -> Way {
        let from = self.inputs[input].as_ref().expect("connected").channel;
        let to = self.outputs[output].as_ref().expect("connected").channel;
        let channels = (ChannelId::from(from), ChannelId::from(to));
        Way {
            output,
            lane: if packet.management {
                usize::from(setting.plan.switch.lanes)
            } else {
                own_routes::lane(tables(setting), channels, packet.sl)
            },
            escape: false,
        }
    }

    /// A packet that was directed joins its queue, by its arrival.
    fn enter(
        &mut self,
        setting: Setting<'_>,
        (input, coming): (usize, &Coming),
        way: Way,
        now: u64,
    ) {
        let index = match setting.plan.switch.queues {
            Queues::Fifo => coming.lane,
            Queues::Voq => coming.lane * self.outputs.len() + way.output,
        };
        let input = self.inputs[input].as_mut().expect("connected");
        let waiting = Waiting {
            packet: coming.packet,
            ways: vec![way],
            told: None,
            arrived: coming.arrived,
            ready: coming.ready,
            claim: None,
        };
        input.queues[index].enter(waiting, now);
    }
}
