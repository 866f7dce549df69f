//! Credit loops of a scenario: what classes can send over a channel at most, because their credits come back after a round trip, or the
//! headers of wormhole packets are routed one by one.
//!
//! # Algorithm
//! A packet leaves a buffer at the pace of the slower of the channels before and behind it, that of a host at the sink's; where packets go
//! different ways the fastest of the channels behind it counts. Packets take the lanes that their service levels may have on some channel. Of classes whose packets all take lanes of one set
//! the loops of these lanes together hold the sum; so do the queues of an input, of which VOQ has one for every output. Looked at are the lanes of every class, with all classes that have no others,
//! and those of all classes that are linked by lanes in common: where lanes are nested or apart no set of lanes holds less.
//! Where a class may take several lanes, but each of its packets the one that its service level and its way give it, what is asked
//! of a lane is to be set against the loop of one as well ([`Loops::of_each_lane`]).

use super::Resolved;
use super::class_lanes::{channels, counts_of_lanes, lanes, lanes_to_hosts, used};
use crate::ids::ChannelId;
use crate::plan::{ClassPlan, DropRule, Forwarding, InputSpeedup, Queues};
use crate::routing::loads::bound::Place;
use crate::routing::loads::credit_loop::{Channel, CreditLoop, Limit};

/// The loops of the packets of some classes.
pub struct Loops<'a> {
    resolved: &'a Resolved,
    /// Number of lanes that they may take on a channel, at most, and on one to a host.
    lanes: [u32; 2],
    /// Whether packets of one class may take several lanes.
    is_parted: bool,
    /// Smallest and largest packet \[flits\].
    sizes: [u32; 2],
    is_wormhole: bool,
    /// Largest mean size of the packets of a class \[flits\].
    mean: f64,
    /// Smallest and largest pace of a channel \[cycles per flit\].
    paces: [u32; 2],
    /// Channels that their packets may go over, where queues are counted by them.
    used: Option<Vec<bool>>,
}

/// The channel of a kind on which a class can send least.
#[derive(Clone, Debug, PartialEq)]
pub struct OfKind {
    /// Name of the class.
    pub class: String,
    /// Kind of channel.
    pub place: Place,
    /// The channel.
    pub channel: ChannelId,
    /// The loop of all lanes that the class takes there.
    pub credit_loop: CreditLoop,
    /// What passes it at most \[fraction of the channel\].
    pub part: f64,
    /// Names of other classes that may take lanes of the class on this channel.
    pub beside: Vec<String>,
}

impl<'a> Loops<'a> {
    /// Those of these classes together, at least one.
    pub fn of(resolved: &'a Resolved, classes: &[&ClassPlan]) -> Self {
        let channels = resolved.layout.graph.channels().iter();
        let paces = || {
            channels
                .clone()
                .map(|channel| channel.timing.cycles_per_flit)
        };
        let smallest = classes.iter().map(|class| class.size.smallest());
        let largest = classes.iter().map(|class| class.size.largest());
        let switch = &resolved.plan.switch;
        let is_wormhole = switch.forwarding == Forwarding::Wormhole;
        let sizes = [smallest.min(), largest.max()].map(|size| u32::from(size.unwrap_or(1)));
        let count = |of: fn(&Resolved, &ClassPlan) -> u64| {
            let all = classes.iter().map(|class| of(resolved, class));
            all.fold(0, |all, its| all | its).count_ones()
        };
        Self {
            resolved,
            lanes: [count(lanes), count(lanes_to_hosts)],
            is_parted: classes
                .iter()
                .any(|class| lanes(resolved, class).count_ones() > 1),
            sizes,
            is_wormhole,
            mean: classes
                .iter()
                .map(|class| class.size.mean())
                .fold(1.0, f64::max),
            paces: [paces().min(), paces().max()].map(|pace| pace.unwrap_or(1)),
            used: (is_wormhole && switch.queues == Queues::Voq).then(|| used(resolved, classes)),
        }
    }

    /// Those of packets that all take one lane.
    #[must_use]
    pub fn of_one_lane(&self) -> Self {
        Self {
            lanes: [1; 2],
            used: self.used.clone(),
            ..*self
        }
    }

    /// Those of single lanes, where packets of a class may take several and one of these carries less than its channel.
    pub fn of_each_lane(&self) -> Option<Self> {
        let one = self.of_one_lane();
        (self.is_parted && one.matter()).then_some(one)
    }

    /// Whether some channel, or a lane of it that is looked at by itself, carries more than its credits let through.
    pub fn may_hold(&self) -> bool {
        self.matter() || self.of_each_lane().is_some()
    }

    /// The same of packets that may go over any channel.
    #[must_use]
    pub fn anywhere(self) -> Self {
        Self { used: None, ..self }
    }

    /// Whether some channel carries more than its credits let through.
    pub fn matter(&self) -> bool {
        let graph = &self.resolved.layout.graph;
        graph
            .channel_ids()
            .any(|channel| self.part(channel, &self.at(channel)) < 1.0)
    }

    /// What a loop lets through \[fraction of the channel\].
    fn part(&self, channel: ChannelId, credit_loop: &CreditLoop) -> f64 {
        let timing = self.resolved.layout.graph.channel(channel).timing;
        credit_loop.rate() * f64::from(timing.cycles_per_flit)
    }

    /// The loop of a channel, of all lanes together, wherever its packets go next.
    pub fn at(&self, channel: ChannelId) -> CreditLoop {
        self.before(channel, self.next_pace(channel), self.queues(channel))
    }

    /// The same of packets that all take the channel `next` then.
    pub fn at_before(&self, channel: ChannelId, next: ChannelId) -> CreditLoop {
        let next = self.resolved.layout.graph.channel(next).timing;
        self.before(channel, next.cycles_per_flit, 1)
    }

    /// Queues of a lane behind a channel that packets may join.
    fn queues(&self, channel: ChannelId) -> u32 {
        let graph = &self.resolved.layout.graph;
        match (
            graph.channel(channel).to.switch(),
            self.resolved.plan.switch.queues,
        ) {
            (Some(switch), Queues::Voq) => {
                let outputs = graph.connected_ports(switch).map(|(_, channel)| channel);
                let is_used = |channel: &ChannelId| {
                    let used = self.used.as_ref();
                    used.is_none_or(|used| used[channel.index()])
                };
                (outputs.filter(is_used).count() as u32).max(1)
            }
            _ => 1,
        }
    }

    /// What flits of wormhole packets hold of a lane, and the routing of their headers in so many queues of it; `way` is without that.
    fn of_flits(&self, way: Channel, queues: u32) -> CreditLoop {
        let (plan, routes) = (&self.resolved.plan, &self.resolved.routes);
        let (sizes, delay) = ((self.sizes, self.mean), plan.switch.routing_delay);
        let [lanes, _] = self.lanes;
        let credits = CreditLoop::new(way, [1; 2]).times(lanes);
        let rule = plan.switch.drop.as_ref().map(|drop| drop.rule);
        let joins_first = routes.tables().is_none() && plan.switch.queues == Queues::Fifo;
        if matches!(rule, Some(DropRule::Threshold(_))) && !joins_first {
            // what is dropped is not routed
            return credits;
        }
        if queues == 1 {
            return CreditLoop::of_flits(way, sizes, delay).times(lanes);
        }
        let headers = CreditLoop::of_headers(self.mean, [way.pace, way.gap], delay);
        let headers = headers.times(lanes.saturating_mul(queues));
        if headers.rate() < credits.rate() {
            headers
        } else {
            credits
        }
    }

    /// Smallest pace of a channel out of the switch behind a channel, not back.
    fn next_pace(&self, channel: ChannelId) -> u32 {
        let graph = &self.resolved.layout.graph;
        let [least, most] = self.paces;
        let Some(switch) = graph.channel(channel).to.switch().filter(|_| least < most) else {
            return least;
        };
        let next = graph.connected_ports(switch).map(|(_, next)| next);
        let next = next.filter(|next| *next != channel.reverse());
        let paces = next.map(|next| graph.channel(next).timing.cycles_per_flit);
        paces.min().unwrap_or(least)
    }

    /// The loop of a channel whose packets leave the buffer behind it, so many queues of a lane, on one of that pace.
    fn before(&self, channel: ChannelId, next_pace: u32, queues: u32) -> CreditLoop {
        let (graph, switch) = (&self.resolved.layout.graph, &self.resolved.plan.switch);
        let ends = graph.channel(channel);
        let back = graph.channel(channel.reverse()).timing.latency;
        let mut way = Channel {
            capacity: switch.lane_capacity,
            latency: ends.timing.latency.into(),
            delay: 0,
            credit_latency: switch.credit_latency.unwrap_or(back).into(),
            pace: ends.timing.cycles_per_flit,
            gap: 1,
        };
        if ends.from.switch().is_some() {
            way.latency += u64::from(switch.crossbar_delay);
        }
        let is_routed = ends.to.switch().is_some();
        if is_routed && self.is_wormhole {
            way.delay = u64::from(switch.allocation_delay);
            // an output buffer, where inputs may let several flits pass, and a packet that is dropped, takes a flit in every cycle
            let has_places = switch.input_speedup != InputSpeedup::Limited(1);
            let is_fast = switch.output_buffer > 0 && has_places || switch.drop.is_some();
            way.pace = if is_fast { 1 } else { next_pace };
            way.gap = if has_places { 1 } else { way.pace };
            return self.of_flits(way, queues);
        }
        if is_routed {
            way.delay = u64::from(switch.routing_delay) + u64::from(switch.allocation_delay);
            if switch.forwarding == Forwarding::StoreAndForward {
                // the tail comes first, then every flit goes on as fast as the next channel takes it
                way.delay += u64::from(self.sizes[0] - 1) * u64::from(way.pace);
                way.pace = next_pace;
            } else {
                way.pace = way.pace.max(next_pace);
            }
        } else if let Some(sink) = self.resolved.plan.host.sink_cycles_per_flit {
            // a sink takes whole packets, flit by flit
            way.pace = way.pace.max(sink);
        }
        let [lanes, to_hosts] = self.lanes;
        let lanes = if is_routed { lanes } else { to_hosts };
        let sizes = if self.is_wormhole { [1; 2] } else { self.sizes };
        CreditLoop::new(way, sizes).times(lanes)
    }
}

/// Groups of these classes whose loops are to be looked at: every class by itself, those that share the lanes of one, and those
/// linked by lanes in common; each group once.
pub(crate) fn groups<'p>(
    resolved: &Resolved,
    classes: &[&'p ClassPlan],
) -> Vec<Vec<&'p ClassPlan>> {
    let own: Vec<u64> = classes.iter().map(|class| lanes(resolved, class)).collect();
    let linked = |mut lanes: u64| {
        loop {
            let touching = own.iter().filter(|&&its| its & lanes != 0);
            let all = touching.fold(lanes, |all, its| all | its);
            if all == lanes {
                return lanes;
            }
            lanes = all;
        }
    };
    let mut sets: Vec<u64> = own.iter().flat_map(|&its| [its, linked(its)]).collect();
    sets.sort_unstable();
    sets.dedup();
    let mut groups: Vec<Vec<usize>> = (0..classes.len()).map(|place| vec![place]).collect();
    for set in sets {
        let inside = (0..classes.len()).filter(|&place| own[place] & !set == 0);
        let inside: Vec<usize> = inside.collect();
        if !groups.contains(&inside) {
            groups.push(inside);
        }
    }
    let names = |group: Vec<usize>| group.into_iter().map(|place| classes[place]).collect();
    groups.into_iter().map(names).collect()
}

/// Every class and kind of channel that it goes over whose credit loops carry less than the channel does.
pub fn of_kinds(resolved: &Resolved) -> Vec<OfKind> {
    let classes = &resolved.plan.classes;
    let mut used: Vec<Option<Vec<bool>>> = vec![None; classes.len()];
    let mut found: Vec<OfKind> = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        let loops = Loops::of(resolved, &[class]);
        if !loops.may_hold() {
            continue;
        }
        let counts = loops
            .of_each_lane()
            .and_then(|_| counts_of_lanes(resolved, class));
        let own = used[number].get_or_insert_with(|| channels(resolved, class));
        for mut of_kind in least(&loops, class, own, counts.as_deref()) {
            let its = lanes(resolved, class);
            for (place, other) in classes.iter().enumerate() {
                if place == number || lanes(resolved, other) & its == 0 {
                    continue;
                }
                let used = used[place].get_or_insert_with(|| channels(resolved, other));
                if used[of_kind.channel.index()] {
                    of_kind.beside.push(other.name.clone());
                }
            }
            found.push(of_kind);
        }
    }
    found
}

/// The channel of every kind on which a class can send least, of those that it goes over; with the number of lanes that its packets
/// take on each of them, where that is known.
fn least(
    loops: &Loops<'_>,
    class: &ClassPlan,
    used: &[bool],
    counts: Option<&[u32]>,
) -> Vec<OfKind> {
    let graph = &loops.resolved.layout.graph;
    let one = loops.of_one_lane();
    let mut least: [Option<OfKind>; 3] = [None, None, None];
    let count = |id: ChannelId| counts.map(|counts| counts[id.index()]);
    let is_used = |id: ChannelId| used[id.index()] && count(id) != Some(0);
    let all = graph.channel_ids().zip(graph.channels());
    for (id, channel) in all.filter(|(id, _)| is_used(*id)) {
        let (kind, place) = match (channel.from.host(), channel.to.host()) {
            (Some(_), _) => (Place::Sender, &mut least[0]),
            (None, Some(_)) => (Place::Receiver, &mut least[1]),
            (None, None) => (Place::Inner, &mut least[2]),
        };
        let credit_loop = count(id).map_or_else(|| loops.at(id), |count| one.at(id).times(count));
        let part = loops.part(id, &credit_loop);
        if part < 1.0 && place.as_ref().is_none_or(|least| part < least.part) {
            *place = Some(OfKind {
                class: class.name.clone(),
                place: kind,
                channel: id,
                credit_loop,
                part,
                beside: Vec::new(),
            });
        }
    }
    least.into_iter().flatten().collect()
}

/// A loop in words.
pub fn words(credit_loop: &CreditLoop) -> String {
    let rounded = |number: f64| (number * 1000.0).round() / 1000.0;
    let [flits, cycles] = [credit_loop.flits, credit_loop.cycles].map(rounded);
    match credit_loop.limit {
        Limit::Credits => format!("{flits} flits per credit round trip of {cycles} cycles"),
        Limit::Headers => {
            format!(
                "{flits} flits in {cycles} cycles, since a lane routes a header behind the last flit before it"
            )
        }
    }
}

/// What of a channel lets no more through, with its verb.
pub fn holder(credit_loop: &CreditLoop) -> (&'static str, &'static str) {
    match credit_loop.limit {
        Limit::Credits => ("credits of", "let"),
        Limit::Headers => ("buffer behind", "lets"),
    }
}

/// Whose loop it is, in words.
pub fn name(credit_loop: &CreditLoop) -> &'static str {
    match credit_loop.limit {
        Limit::Credits => "credit loop",
        Limit::Headers => "routing of headers",
    }
}

/// What a channel with such a bound carries, in words: all that it can, or what its credits or the routing of headers let through.
pub fn carried(credit_loop: Option<&CreditLoop>) -> String {
    let Some(credit_loop) = credit_loop else {
        return String::from("what it carries");
    };
    let who = match credit_loop.limit {
        Limit::Credits => "its credits let",
        Limit::Headers => "the buffer behind it lets",
    };
    format!("what {who} through, {}", words(credit_loop))
}
