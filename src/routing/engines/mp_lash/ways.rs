//! The shortest paths of further addresses: as many distinct ones as there are, over the channels with the least load.
//!
//! Cost: time O(destination switches * switches * addresses^2 * ports) at worst; memory six bytes per (destination
//! switch, switch) beside the tables.
//!
//! # Algorithm
//! 1. Destination switches are taken in turn, for each the switches nearest first. What the addresses do from the
//!    next switches on is known; addresses on the same path from there are in one class.
//! 2. An address may take any exit that leads nearer. A maximum matching of addresses to (exit, class) makes
//!    as many paths distinct as what is chosen nearer to the destination allows; the first address keeps its exit.
//!    Exits are tried in the order of the addresses that have taken them, then of their price. The addresses left
//!    over take the (exit, class) of the fewest addresses.
//! 3. The price of an exit is that of `balance/by_load.rs`, the growth of load^3, plus the price of the rest of the
//!    way. Load counts the paths of all pairs of hosts over all addresses, those of the first address beforehand.

use crate::ids::SwitchId;
use crate::routing::balance::Destination;
use crate::routing::paths::UNREACHED;
use crate::routing::paths::steps::{Step, Steps};
use crate::topology::Graph;

/// No exit, no channel.
const NONE: u32 = u32::MAX;

/// Adds addresses to `next`, channels by `[target][switch]` of one address, until there are `addresses`. Gives the
/// number of distinct paths between the switches of `ends`.
pub(super) fn add_addresses(
    graph: &Graph,
    ends: &[&Destination],
    next: &mut Vec<Vec<u32>>,
    addresses: usize,
) -> u64 {
    let steps = Steps::by_destination(graph, |_| true);
    let mut senders = vec![0u64; steps.len()];
    for end in ends {
        senders[end.switch.index()] = end.hosts.len() as u64;
    }
    next.resize(addresses * ends.len(), vec![NONE; steps.len()]);
    let mut loads = Loads {
        channels: vec![0; graph.channels().len()],
        senders,
        flow: vec![0; steps.len()],
    };
    let orders: Vec<_> = ends.iter().map(|end| Nearest::new(&steps, end)).collect();
    for (order, (end, next)) in orders.iter().zip(ends.iter().zip(&*next)) {
        loads.add(order, next, end.hosts.len(), graph);
    }
    let mut distinct = 0;
    for (place, (end, order)) in ends.iter().zip(&orders).enumerate() {
        let mut choice = Choice::new(&steps, addresses);
        for &switch in &order.switches[1..] {
            let switch = switch as usize;
            choice.choose(order, &loads, switch, next[place][switch]);
            for (address, &exit) in choice.exits.iter().enumerate() {
                next[address * ends.len() + place][switch] = choice.steps.out(switch)[exit].channel;
            }
            if loads.senders[switch] > 0 {
                distinct += choice.distinct(switch);
            }
        }
        for address in 1..addresses {
            let next = &next[address * ends.len() + place];
            loads.add(order, next, end.hosts.len(), graph);
        }
    }
    distinct
}

/// Distances to a destination.
struct Nearest {
    hops: Vec<u16>,
    /// Switches with a way, nearest first; the first is the destination.
    switches: Vec<u32>,
}

impl Nearest {
    fn new(steps: &Steps, end: &Destination) -> Self {
        let hops = steps.hops_to(end.switch);
        let mut switches: Vec<u32> = (0..hops.len() as u32).collect();
        switches.retain(|&switch| hops[switch as usize] != UNREACHED);
        switches.sort_by_key(|&switch| hops[switch as usize]);
        Self { hops, switches }
    }
}

/// Paths per channel.
struct Loads {
    channels: Vec<u64>,
    /// Hosts of every switch.
    senders: Vec<u64>,
    flow: Vec<u64>,
}

impl Loads {
    /// Adds the paths to `hosts` hosts over one table.
    fn add(&mut self, order: &Nearest, next: &[u32], hosts: usize, graph: &Graph) {
        self.flow.fill(0);
        for &switch in order.switches[1..].iter().rev() {
            let switch = switch as usize;
            self.flow[switch] += self.senders[switch] * hosts as u64;
            let channel = next[switch] as usize;
            self.channels[channel] += self.flow[switch];
            if let Some(SwitchId(to)) = graph.channels()[channel].to.switch() {
                self.flow[to as usize] += self.flow[switch];
            }
        }
    }

    /// What one more path costs on a channel.
    fn price(&self, step: &Step) -> f64 {
        let pace = f64::from(step.pace);
        let load = self.channels[step.channel as usize] as f64 * pace;
        3.0 * load * (load + pace) + pace * pace
    }
}

/// An exit an address may take.
#[derive(Clone, Copy)]
struct Candidate {
    /// Place among the steps of the switch.
    place: usize,
    /// Addresses that took it before.
    users: usize,
    /// Price of the whole way.
    price: f64,
}

/// Steps 2 and 3 for one destination switch.
struct Choice<'a> {
    steps: &'a Steps,
    addresses: usize,
    /// The first address on the same path, `[switch][address]`; 0 at the destination.
    class: Vec<u8>,
    /// Price of the way from `[switch][address]`.
    cost: Vec<f64>,
    /// Place among the steps of the switch at hand, `[address]`.
    exits: Vec<usize>,
    /// Address that has taken `[place][class]`, or [`NONE`].
    owner: Vec<u32>,
    tried: Vec<bool>,
    /// Exits an address may take, in the order in which they are tried.
    candidates: Vec<Vec<Candidate>>,
}

impl<'a> Choice<'a> {
    fn new(steps: &'a Steps, addresses: usize) -> Self {
        Self {
            steps,
            addresses,
            class: vec![0; steps.len() * addresses],
            cost: vec![0.0; steps.len() * addresses],
            exits: vec![0; addresses],
            owner: Vec::new(),
            tried: Vec::new(),
            candidates: vec![Vec::new(); addresses],
        }
    }

    /// The place of (exit, class) for an address that takes the exit.
    fn node(&self, switch: usize, place: usize, address: usize) -> usize {
        let to = self.steps.out(switch)[place].to as usize;
        place * self.addresses + usize::from(self.class[to * self.addresses + address])
    }

    /// Fills `exits` for `switch`; the first address keeps the channel `first`.
    fn choose(&mut self, order: &Nearest, loads: &Loads, switch: usize, first: u32) {
        let out = self.steps.out(switch);
        let nearer = |step: &Step| order.hops[step.to as usize] + 1 == order.hops[switch];
        self.owner.clear();
        self.owner.resize(out.len() * self.addresses, NONE);
        let mut left = Vec::new();
        for address in 0..self.addresses {
            let exits = (0..).zip(out).filter(|(_, step)| nearer(step));
            let exits = exits.filter(|(_, step)| address > 0 || step.channel == first);
            let candidate = |(place, step): (usize, &Step)| Candidate {
                place,
                users: self.users(place),
                price: self.cost[step.to as usize * self.addresses + address] + loads.price(step),
            };
            let mut list: Vec<_> = exits.map(candidate).collect();
            list.sort_by(|a, b| a.users.cmp(&b.users).then(a.price.total_cmp(&b.price)));
            self.candidates[address] = list;
            self.tried.clear();
            self.tried.resize(self.owner.len(), false);
            if !self.find(switch, address) {
                left.push(address);
            }
        }
        self.fill(switch, &left);
        self.classify(switch);
    }

    /// Addresses that have taken an exit.
    fn users(&self, place: usize) -> usize {
        let owners = &self.owner[place * self.addresses..][..self.addresses];
        owners.iter().filter(|&&owner| owner != NONE).count()
    }

    /// One augmenting path of the matching; the first address has one candidate only and is never moved.
    fn find(&mut self, switch: usize, address: usize) -> bool {
        for i in 0..self.candidates[address].len() {
            let place = self.candidates[address][i].place;
            let node = self.node(switch, place, address);
            if std::mem::replace(&mut self.tried[node], true) {
                continue;
            }
            let owner = self.owner[node];
            if owner == NONE || self.find(switch, owner as usize) {
                self.owner[node] = address as u32;
                self.exits[address] = place;
                return true;
            }
        }
        false
    }

    /// Exits of the addresses without one of their own.
    fn fill(&mut self, switch: usize, left: &[usize]) {
        let mut users: Vec<u32> = self.owner.iter().map(|&o| u32::from(o != NONE)).collect();
        for &address in left {
            let node = |place| self.node(switch, place, address);
            let places = self.candidates[address].iter().map(|c| c.place);
            if let Some(place) = places.min_by_key(|&place| users[node(place)]) {
                users[node(place)] += 1;
                self.exits[address] = place;
            }
        }
    }

    /// Classes and prices from `switch` on.
    fn classify(&mut self, switch: usize) {
        for address in 0..self.addresses {
            let place = self.exits[address];
            let node = self.node(switch, place, address);
            let same = |&other: &usize| self.node(switch, self.exits[other], other) == node;
            let first = (0..address).find(same).unwrap_or(address);
            self.class[switch * self.addresses + address] = first as u8;
            let chosen = self.candidates[address].iter().find(|c| c.place == place);
            self.cost[switch * self.addresses + address] = chosen.map_or(0.0, |c| c.price);
        }
    }

    /// Distinct paths from `switch`.
    fn distinct(&self, switch: usize) -> u64 {
        let classes = &self.class[switch * self.addresses..][..self.addresses];
        let first = |&(address, &class): &(usize, &u8)| usize::from(class) == address;
        classes.iter().enumerate().filter(first).count() as u64
    }
}
