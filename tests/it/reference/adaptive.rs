//! Stage Route with an adaptive engine (D20): courses, candidates and choices of heads, with VOQ of all packets that come (D75, D84).
//!
//! A head that requests for the first time, with VOQ a packet that may request from now on, is told its course and its candidates and
//! chooses what it requests, with an open engine all of them; whoever has chosen asks again in every cycle and must be told the same. Those of one cycle choose one
//! after the other, and what waits for a way is counted anew before each. Packets of VL15 know their ways by tables, and nobody
//! looks at that lane (D83).

use super::Setting;
use super::input::Input;
use super::link::Link;
use super::output::Output;
use super::packet::{Packet, PacketId};
use super::routing::{Routing, group, tables_of};
use super::switch::{Switch, Way};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use virtlane::ids::{HostId, SwitchId};
use virtlane::plan::{BufferSharing, Queues};
use virtlane::rng::{Stream, below};
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Local, Selection};
use virtlane::topology::Endpoint;

/// What the engine said to a packet that chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Cycle of the choice.
    pub(super) since: u64,
    course: Course,
    candidates: Vec<Candidate>,
}

/// Flits that wait for an (output, lane) of a switch.
type Waiting = BTreeMap<(usize, usize), u64>;

/// What a packet that chooses may look at and draw from.
struct Here<'a> {
    outputs: &'a [Option<Output>],
    links: &'a [Link],
    lanes: Range<usize>,
    /// With a pool all lanes of an output count as lane 0.
    waiting: Waiting,
    pooled: bool,
    stream: &'a mut Stream,
}

impl Here<'_> {
    /// What waits for a way.
    fn waiting(&self, port: u16, lane: u8) -> u64 {
        let way = way(&self.lanes, port, lane, false);
        let place = (way.output, if self.pooled { 0 } else { way.lane });
        self.waiting.get(&place).copied().unwrap_or(0)
    }
}

impl Local for Here<'_> {
    fn load(&self, port: u16, lane: u8) -> u32 {
        let way = way(&self.lanes, port, lane, false);
        let output = self.outputs[way.output].as_ref().expect("connected");
        let load = self.links[output.channel].downstream(way.lane);
        load.try_into().expect("a load is at most the capacity")
    }

    fn below(&mut self, bound: u32) -> u32 {
        below(self.stream, bound)
    }
}

/// An output port (from 1) and a lane of a group as the switch numbers them.
fn way(lanes: &Range<usize>, port: u16, lane: u8, escape: bool) -> Way {
    assert!(usize::from(lane) < lanes.len(), "a lane beside the group");
    Way {
        output: usize::from(port) - 1,
        lane: lanes.start + usize::from(lane),
        escape,
    }
}

impl Switch {
    /// The flits of all packets that have chosen and are not granted, those that have chosen in this cycle so far included: heads
    /// whose request stands, with VOQ any packets in queues (D75); and of those that hold lanes (D76).
    fn waiting(&self, packets: &[Packet], pooled: bool) -> Waiting {
        let mut waiting = Waiting::new();
        let inputs = self.inputs.iter().flatten();
        for one in inputs.flat_map(Input::staying) {
            let places = one.ways.iter();
            let places = places.map(|way| (way.output, if pooled { 0 } else { way.lane }));
            // a head that requests several lanes of a pool waits for the pool once
            for place in places.collect::<BTreeSet<_>>() {
                *waiting.entry(place).or_default() += u64::from(packets[one.packet].size);
            }
        }
        // D76
        for (output, lane, (.., flit)) in self.ports.holders() {
            let size = packets[flit.packet].size;
            *waiting.entry((output, lane)).or_default() += u64::from(size);
        }
        waiting
    }

    /// Whoever has to choose in this cycle chooses, by input, lane and arrival; all others are told the same as before.
    pub(super) fn route(
        &mut self,
        setting: Setting<'_>,
        links: &[Link],
        packets: &mut [Packet],
        now: u64,
    ) {
        let Routing::Adaptive(routing) = setting.routing else {
            return;
        };
        self.ask_again((setting, routing), packets);
        for input in 0..self.inputs.len() {
            match setting.plan.switch.queues {
                Queues::Fifo => self.direct_heads((setting, routing), links, packets, (input, now)),
                Queues::Voq => self.direct_all((setting, routing), links, packets, (input, now)),
            }
        }
    }

    /// D20: the candidates of whoever has chosen are the same as long as it is here.
    fn ask_again(
        &self,
        (setting, routing): (Setting<'_>, &dyn AdaptiveRouting),
        packets: &[Packet],
    ) {
        let inputs = self.inputs.iter().flatten();
        for waiting in inputs.flat_map(Input::staying) {
            let Some(told) = &waiting.told else { continue };
            let packet = &packets[waiting.packet];
            let course = packet.course.expect("departed");
            let candidates = ask(setting, routing, self.id, packet.destination, course);
            let again = Told {
                since: told.since,
                course,
                candidates,
            };
            assert_eq!(*told, again, "a packet changes its mind");
        }
    }

    /// D20: heads of an input that first request choose what.
    fn direct_heads(
        &mut self,
        with: (Setting<'_>, &dyn AdaptiveRouting),
        links: &[Link],
        packets: &mut [Packet],
        (number, now): (usize, u64),
    ) {
        let queues = self.inputs[number].as_ref().map_or(0, |i| i.queues.len());
        for index in 0..queues {
            let queue = &self.inputs[number].as_ref().expect("connected").queues[index];
            let Some((head, since)) = queue.request(now).filter(|(head, _)| head.ways.is_empty())
            else {
                continue;
            };
            assert_eq!(head.told, None, "a choice without a way");
            assert_eq!(since, now, "a head asks when it first requests");
            let (packet, lane) = (head.packet, queue.lane);
            let (setting, _) = with;
            let (ways, told) = if let Some(tables) = tables_of(setting, &packets[packet]) {
                let way = self.table_way(&setting.plan.switch, tables, &packets[packet], number);
                (vec![way], None)
            } else {
                let from = (number, lane, packet);
                let (ways, told) = self.chosen(with, links, packets, from, now);
                (ways, Some(told))
            };
            let queue = &mut self.inputs[number].as_mut().expect("connected").queues[index];
            let head = &mut queue.packets[0];
            (head.ways, head.told) = (ways, told);
        }
    }

    /// D75: packets of an input that may request from now on choose and join their queues; D84: they stand, those of VL15 by tables (D83).
    fn direct_all(
        &mut self,
        with: (Setting<'_>, &dyn AdaptiveRouting),
        links: &[Link],
        packets: &mut [Packet],
        (number, now): (usize, u64),
    ) {
        let outputs = self.outputs.len();
        let (setting, _) = with;
        let stands = setting.routing.has_standing(&setting.plan.switch);
        let Some(input) = self.inputs[number].as_mut() else {
            return;
        };
        let undecided = std::mem::take(&mut input.undecided);
        let (mut due, later): (Vec<_>, Vec<_>) = undecided
            .into_iter()
            .partition(|(_, waiting)| waiting.ready <= now);
        input.undecided = later;
        due.sort_by_key(|(lane, waiting)| (*lane, waiting.arrived));
        for (lane, mut waiting) in due {
            if waiting.ways.is_empty() {
                let from = (number, lane, waiting.packet);
                let (ways, told) = self.chosen(with, links, packets, from, now);
                (waiting.ways, waiting.told) = (ways, Some(told));
            }
            let input = self.inputs[number].as_mut().expect("connected");
            if stands {
                input.stand(lane, waiting, now);
                continue;
            }
            let [way] = waiting.ways[..] else {
                panic!("D75: one choice")
            };
            input.queues[lane * outputs + way.output].join(waiting, now);
        }
    }

    /// D20: course, candidates and choice of a packet that came in over a lane of an input.
    fn chosen(
        &mut self,
        (setting, routing): (Setting<'_>, &dyn AdaptiveRouting),
        links: &[Link],
        packets: &mut [Packet],
        (number, lane, packet): (usize, usize, PacketId),
        now: u64,
    ) -> (Vec<Way>, Told) {
        let at = self.id;
        let pooled = setting.plan.switch.sharing == BufferSharing::PortPool;
        let waiting = match routing.selection() {
            // D20: nothing compares what waits
            Selection::Open => Waiting::new(),
            _ => self.waiting(packets, pooled),
        };
        let input = self.inputs[number].as_mut().expect("connected");
        let from = setting.graph.channels()[input.channel].from;
        let is_first = matches!(from, Endpoint::Host(_));
        let packet = &mut packets[packet];
        assert_eq!(packet.course.is_none(), is_first, "one departure each");
        let mut here = Here {
            outputs: &self.outputs,
            links,
            lanes: group(routing, &setting.plan.switch, packet),
            waiting,
            pooled,
            stream: &mut input.streams[lane],
        };
        let course = course(routing, at, packet, &mut here);
        packet.course = Some(course);
        let candidates = ask(setting, routing, at, packet.destination, course);
        let chosen = choose(routing.selection(), &candidates, &mut here);
        let ways = chosen.iter();
        let ways = ways.map(|c| way(&here.lanes, c.port, c.lane, c.escape));
        let told = Told {
            since: now,
            course,
            candidates,
        };
        (ways.collect(), told)
    }
}

/// The course from this switch on.
fn course(
    routing: &dyn AdaptiveRouting,
    at: SwitchId,
    packet: &Packet,
    here: &mut Here<'_>,
) -> Course {
    let Some(course) = packet.course else {
        return routing.depart(at, packet.destination, here);
    };
    let next = || routing.advance(at, packet.destination, course);
    assert_eq!(next(), next(), "a pure function");
    next()
}

/// The candidates, checked.
fn ask(
    setting: Setting<'_>,
    routing: &dyn AdaptiveRouting,
    at: SwitchId,
    destination: HostId,
    course: Course,
) -> Vec<Candidate> {
    let (home, port) = setting.graph.attachment(destination).expect("a switch");
    let any = routing.any_lane().is_some();
    let lanes = if any { 0..routing.width() } else { 0..1 };
    let eject: Vec<Candidate> = lanes
        .map(|lane| Candidate {
            port,
            lane,
            escape: any,
        })
        .collect();
    // what the list held before must not matter
    let mut found = [&eject[..], &eject[..]].concat();
    routing.candidates(at, destination, course, &mut found);
    if at == home {
        assert_eq!(found, eject, "lanes of the ejection");
        return found;
    }
    assert!(!found.is_empty(), "no way to {destination} from {at}");
    for (index, candidate) in found.iter().enumerate() {
        let channel = setting.graph.port_channel(at, candidate.port);
        let to = setting.graph.channel(channel.expect("connected")).to;
        assert!(to.switch().is_some(), "{candidate:?} leads to a host");
        let place = |c: &Candidate| (c.port, c.lane);
        let before = &found[..index];
        assert!(
            before.iter().all(|c| place(c) != place(candidate)),
            "{candidate:?} is listed twice"
        );
    }
    found
}

/// The candidates that are requested.
fn choose(selection: Selection, candidates: &[Candidate], here: &mut Here<'_>) -> Vec<Candidate> {
    match selection {
        Selection::Open => candidates.to_vec(),
        Selection::First => vec![candidates[0]],
        Selection::Random => vec![draw(candidates, here)],
        Selection::LeastLoad => {
            let waiting = |c: &Candidate| here.waiting(c.port, c.lane);
            let least = candidates.iter().map(waiting).min().expect("a candidate");
            let ties = candidates.iter().filter(|c| waiting(c) == least);
            let ties: Vec<Candidate> = ties.copied().collect();
            vec![draw(&ties, here)]
        }
    }
}

/// One of them; no draw when there is one only.
fn draw(candidates: &[Candidate], here: &mut Here<'_>) -> Candidate {
    match candidates {
        [only] => *only,
        several => several[here.below(several.len() as u32) as usize],
    }
}
