//! Control networks beside the data network (D49): at every channel a server with a queue, for each class. What they carry
//! beside control packets are copies of broadcasts, whose own part is in `broadcasts` (D68).

use super::Setting;
use super::broadcasts::Copied;
use super::own_routes;
use super::packet::Saying;
use super::routing::Routing;
use super::visits::Agents;
use virtlane::ids::{ChannelId, HostId};
use virtlane::plan::OutOfBand;
use virtlane::topology::{Channel, Endpoint};

/// Index into the list of all control packets, or of all copies, that were created.
pub(super) type Id = usize;

/// What a channel carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Packet(Id),
    Copy(Id),
}

/// A control packet that is no packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// Class of its flow.
    pub(super) class: usize,
    pub(super) saying: Saying,
    pub(super) created: u64,
    pub(super) delivered: Option<u64>,
}

/// A server at one end of a channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Server {
    /// In the order in which they have joined.
    pub(super) queue: Vec<Item>,
    /// What is served, and until when.
    served: Option<(Item, u64)>,
}

impl Server {
    /// What has a service that ends in this cycle.
    pub(super) fn end(&mut self, now: u64) -> Option<Item> {
        let ended = self.served.take_if(|served| served.1 == now);
        ended.map(|(item, _)| item)
    }

    /// If it is free, it takes the first of its queue, for so long.
    pub(super) fn begin(&mut self, length: impl Fn(Item) -> u64, now: u64) {
        if self.served.is_none() && !self.queue.is_empty() {
            let item = self.queue.remove(0);
            self.served = Some((item, now + length(item)));
        }
    }

    /// What it has, in its queue or served.
    fn items(&self) -> impl Iterator<Item = Item> {
        let served = self.served.iter().map(|&(item, _)| item);
        self.queue.iter().copied().chain(served)
    }
}

/// One that has left a server.
#[derive(Clone, Copy, Debug)]
struct Moving {
    item: Item,
    channel: ChannelId,
    /// Cycle in which it is at its host, or joins the next queue.
    due: u64,
}

/// The network of one class.
#[derive(Debug)]
pub(super) struct Network {
    /// Class of the flows.
    pub(super) class: usize,
    pub(super) times: OutOfBand,
    /// At the sending ends, by channel.
    pub(super) servers: Vec<Server>,
    /// Those of copies at the far ends, by channel (D68).
    pub(super) inputs: Vec<Server>,
    moving: Vec<Moving>,
    /// Copies that are at a host, until its element hears them in this cycle.
    pub(super) at_hosts: Vec<(HostId, Id)>,
    /// Words of the broadcasts that hosts have wanted in the last cycle.
    pub(super) wanted: Vec<(HostId, u32)>,
}

/// The networks of all classes.
#[derive(Debug)]
pub(super) struct Networks {
    pub(super) by_class: Vec<Network>,
    /// All control packets that were created, in order.
    pub(super) all: Vec<Carried>,
    /// All copies of broadcasts, likewise.
    pub(super) copies: Vec<Copied>,
}

impl Networks {
    pub(super) fn new(setting: Setting<'_>) -> Self {
        let classes = setting.plan.classes.iter().enumerate();
        let networks = classes.filter_map(|(class, plan)| {
            let times = plan.control.as_ref()?.transport?;
            assert!(times.serialisation >= 1 && times.propagation >= 1, "D49");
            let servers = vec![Server::default(); setting.graph.channels().len()];
            Some(Network {
                class,
                times,
                servers: servers.clone(),
                inputs: servers,
                moving: Vec::new(),
                at_hosts: Vec::new(),
                wanted: Vec::new(),
            })
        });
        Self {
            by_class: networks.collect(),
            all: Vec::new(),
            copies: Vec::new(),
        }
    }

    /// That of a class.
    pub(super) fn of_class(&mut self, class: usize) -> &mut Network {
        let mut networks = self.by_class.iter_mut();
        let network = networks.find(|network| network.class == class);
        network.expect("a class out of band")
    }

    /// A host creates some in this cycle, in this order.
    pub(super) fn create(&mut self, setting: Setting<'_>, sayings: Vec<Saying>, now: u64) {
        for saying in sayings {
            let class = usize::from(setting.plan.flows[saying.flow].class);
            let item = Item::Packet(self.all.len());
            let channel = setting.graph.host_channel(saying.ends(setting).0);
            let server = &mut self.of_class(class).servers[channel.index()];
            server.queue.push(item);
            self.all.push(Carried {
                class,
                saying,
                created: now,
                delivered: None,
            });
        }
    }

    /// One cycle, after everything of it was created.
    pub(super) fn cycle(&mut self, setting: Setting<'_>, agents: &mut Agents, now: u64) {
        for network in &mut self.by_class {
            network.arrive(setting, &mut self.all, now);
            network.end_services(setting, &mut self.all, agents, now);
            network.hear_at_switches(setting, &mut self.copies, &mut agents.elements, now);
            network.begin_services(setting, &self.all, now);
        }
    }

    /// Conservation: what is not delivered, or heard, is in one place.
    pub(super) fn check(&self) {
        let mut packets = vec![0; self.all.len()];
        let mut copies = vec![0; self.copies.len()];
        for network in &self.by_class {
            assert!(network.at_hosts.is_empty(), "heard in the cycle it came");
            let servers = network.servers.iter().chain(&network.inputs);
            let moving = network.moving.iter().map(|moving| moving.item);
            for item in servers.flat_map(Server::items).chain(moving) {
                match item {
                    Item::Packet(id) => packets[id] += 1,
                    Item::Copy(id) => copies[id] += 1,
                }
            }
        }
        for (carried, places) in self.all.iter().zip(packets) {
            assert_eq!(places, u32::from(carried.delivered.is_none()));
        }
        for (copy, places) in self.copies.iter().zip(copies) {
            assert_eq!(places, u32::from(copy.heard.is_none()), "{copy:?}");
        }
    }
}

impl Network {
    /// Those that are due join the next queue, in the order of the inputs, or are at their host.
    fn arrive(&mut self, setting: Setting<'_>, all: &mut [Carried], now: u64) {
        for channel in by_port(setting, |channel| channel.to) {
            let due = |moving: &mut Moving| moving.channel == channel && moving.due == now;
            let due: Vec<Moving> = self.moving.extract_if(.., due).collect();
            assert!(due.len() <= 1, "a channel brings one per cycle");
            for Moving { item, .. } in due {
                match (item, setting.graph.channel(channel).to) {
                    (Item::Packet(id), Endpoint::Host(host)) => {
                        assert_eq!(host, all[id].saying.ends(setting).1, "another host");
                        assert_eq!(all[id].delivered.replace(now), None);
                    }
                    (Item::Packet(id), Endpoint::Switch(..)) => {
                        let next = next(setting, channel, all[id].saying);
                        self.servers[next.index()].queue.push(item);
                    }
                    (Item::Copy(id), Endpoint::Host(host)) => self.at_hosts.push((host, id)),
                    (Item::Copy(_), Endpoint::Switch(..)) => {
                        self.inputs[channel.index()].queue.push(item);
                    }
                }
            }
        }
    }

    /// Those whose service ends visit, at one switch in the order of its outputs, and leave; copies visit nothing.
    fn end_services(
        &mut self,
        setting: Setting<'_>,
        all: &mut [Carried],
        agents: &mut Agents,
        now: u64,
    ) {
        for channel in by_port(setting, |channel| channel.from) {
            let Some(item) = self.servers[channel.index()].end(now) else {
                continue;
            };
            if let Item::Packet(id) = item {
                agents.take(setting, channel.index(), &mut all[id].saying, now);
            }
            let routing = match setting.graph.channel(channel).to {
                Endpoint::Host(_) => 0,
                Endpoint::Switch(..) => self.times.routing,
            };
            self.moving.push(Moving {
                item,
                channel,
                due: now + u64::from(self.times.propagation) + u64::from(routing),
            });
        }
    }

    /// Servers that are free take the first of their queue.
    fn begin_services(&mut self, setting: Setting<'_>, all: &[Carried], now: u64) {
        let times = self.times;
        let broadcast = || times.broadcast.expect("D68: a class with elements");
        for channel in setting.graph.channel_ids() {
            let is_switch = matches!(setting.graph.channel(channel).from, Endpoint::Switch(..));
            let length = |item| match item {
                Item::Packet(id) => {
                    let mut says = all[id].saying.says;
                    let processes = is_switch && says.shown().is_some();
                    let processing = if processes { times.processing } else { 0 };
                    u64::from(times.serialisation) + u64::from(processing)
                }
                Item::Copy(_) => broadcast().serialisation.into(),
            };
            self.servers[channel.index()].begin(length, now);
            let heard = |_| broadcast().processing.into();
            self.inputs[channel.index()].begin(heard, now);
        }
    }
}

/// All channels, in the order of the ports at one of their ends; hosts have one port.
pub(super) fn by_port(setting: Setting<'_>, end: impl Fn(&Channel) -> Endpoint) -> Vec<ChannelId> {
    let mut channels: Vec<ChannelId> = setting.graph.channel_ids().collect();
    channels.sort_by_key(|&channel| match end(setting.graph.channel(channel)) {
        Endpoint::Host(_) => 0,
        Endpoint::Switch(_, port) => port,
    });
    channels
}

/// The output of the switch behind a channel.
fn next(setting: Setting<'_>, from: ChannelId, saying: Saying) -> ChannelId {
    let Routing::Tables(tables) = setting.routing else {
        panic!("D49: tables only")
    };
    if let Some(route) = own_routes::of_saying(setting, saying) {
        return own_routes::next(route, from);
    }
    let (_, destination) = saying.ends(setting);
    let switch = setting.graph.channel(from).to.switch().expect("a switch");
    let port = tables.next_port(tables.row(from, switch), destination);
    let output = setting.graph.port_channel(switch, port.expect("a route"));
    output.expect("connected")
}
