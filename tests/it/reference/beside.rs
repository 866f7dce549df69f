//! Control networks beside the data network (D49): at every channel a server with a queue, for each class.

use super::Setting;
use super::own_routes;
use super::packet::Saying;
use super::routing::Routing;
use super::visits::Agents;
use virtlane::ids::ChannelId;
use virtlane::plan::OutOfBand;
use virtlane::topology::Endpoint;

/// Index into the list of all that were created.
type Id = usize;

/// A control packet that is no packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// Class of its flow.
    pub(super) class: usize,
    pub(super) saying: Saying,
    pub(super) created: u64,
    pub(super) delivered: Option<u64>,
}

/// The server of one channel.
#[derive(Clone, Debug, Default)]
struct Server {
    /// In the order in which they have joined.
    queue: Vec<Id>,
    /// What is served, and until when.
    served: Option<(Id, u64)>,
}

/// One that has left a server.
#[derive(Clone, Copy, Debug)]
struct Moving {
    id: Id,
    channel: ChannelId,
    /// Cycle in which it is delivered, or joins the next queue.
    due: u64,
}

/// The network of one class.
#[derive(Debug)]
struct Network {
    /// Class of the flows.
    class: usize,
    times: OutOfBand,
    /// By channel.
    servers: Vec<Server>,
    moving: Vec<Moving>,
}

/// The networks of all classes.
#[derive(Debug)]
pub(super) struct Networks {
    networks: Vec<Network>,
    /// Everything that was created, in order.
    pub(super) all: Vec<Carried>,
}

impl Networks {
    pub(super) fn new(setting: Setting<'_>) -> Self {
        let classes = setting.plan.classes.iter().enumerate();
        let networks = classes.filter_map(|(class, plan)| {
            let times = plan.control.as_ref()?.transport?;
            assert!(times.serialisation >= 1 && times.propagation >= 1, "D49");
            Some(Network {
                class,
                times,
                servers: vec![Server::default(); setting.graph.channels().len()],
                moving: Vec::new(),
            })
        });
        Self {
            networks: networks.collect(),
            all: Vec::new(),
        }
    }

    /// A host creates some in this cycle, in this order.
    pub(super) fn create(&mut self, setting: Setting<'_>, sayings: Vec<Saying>, now: u64) {
        for saying in sayings {
            let class = usize::from(setting.plan.flows[saying.flow].class);
            let mut networks = self.networks.iter_mut();
            let network = networks.find(|network| network.class == class);
            let network = network.expect("a class out of band");
            let channel = setting.graph.host_channel(saying.ends(setting).0);
            network.servers[channel.index()].queue.push(self.all.len());
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
        for network in &mut self.networks {
            network.arrive(setting, &mut self.all, now);
            network.end_services(setting, &mut self.all, agents, now);
            network.begin_services(setting, &self.all, now);
        }
    }

    /// Conservation: what is not delivered is in one place.
    pub(super) fn check(&self) {
        let mut places = vec![0; self.all.len()];
        for network in &self.networks {
            for server in &network.servers {
                let served = server.served.iter().map(|served| &served.0);
                for &id in server.queue.iter().chain(served) {
                    places[id] += 1;
                }
            }
            for moving in &network.moving {
                places[moving.id] += 1;
            }
        }
        for (carried, places) in self.all.iter().zip(places) {
            assert_eq!(places, u32::from(carried.delivered.is_none()));
        }
    }
}

impl Network {
    /// Those that are due join the next queue, in the order of the inputs, or are delivered.
    fn arrive(&mut self, setting: Setting<'_>, all: &mut [Carried], now: u64) {
        let (mut due, later): (Vec<Moving>, Vec<Moving>) =
            self.moving.iter().partition(|moving| moving.due == now);
        self.moving = later;
        due.sort_by_key(|moving| match setting.graph.channel(moving.channel).to {
            Endpoint::Host(_) => 0,
            Endpoint::Switch(_, port) => port,
        });
        for Moving { id, channel, .. } in due {
            let carried = &mut all[id];
            let (_, destination) = carried.saying.ends(setting);
            match setting.graph.channel(channel).to {
                Endpoint::Host(host) => {
                    assert_eq!(host, destination, "delivered to another host");
                    assert_eq!(carried.delivered.replace(now), None);
                }
                Endpoint::Switch(..) => {
                    let next = next(setting, channel, carried.saying);
                    self.servers[next.index()].queue.push(id);
                }
            }
        }
    }

    /// Those whose service ends visit, and leave.
    fn end_services(
        &mut self,
        setting: Setting<'_>,
        all: &mut [Carried],
        agents: &mut Agents,
        now: u64,
    ) {
        for channel in setting.graph.channel_ids() {
            let served = &mut self.servers[channel.index()].served;
            let Some((id, _)) = served.take_if(|served| served.1 == now) else {
                continue;
            };
            agents.take(setting, channel.index(), &mut all[id].saying, now);
            let routing = match setting.graph.channel(channel).to {
                Endpoint::Host(_) => 0,
                Endpoint::Switch(..) => self.times.routing,
            };
            self.moving.push(Moving {
                id,
                channel,
                due: now + u64::from(self.times.propagation) + u64::from(routing),
            });
        }
    }

    /// Servers that are free take the first of their queue.
    fn begin_services(&mut self, setting: Setting<'_>, all: &[Carried], now: u64) {
        for channel in setting.graph.channel_ids() {
            let server = &mut self.servers[channel.index()];
            if server.served.is_some() || server.queue.is_empty() {
                continue;
            }
            let id = server.queue.remove(0);
            let mut says = all[id].saying.says;
            let is_switch = matches!(setting.graph.channel(channel).from, Endpoint::Switch(..));
            let processing = match says.shown() {
                Some(_) if is_switch => self.times.processing,
                _ => 0,
            };
            let length = u64::from(self.times.serialisation) + u64::from(processing);
            server.served = Some((id, now + length));
        }
    }
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
