//! Stage Route with an adaptive engine (D20): courses, candidates and choices of heads.
//!
//! A head that requests for the first time is told its course and its candidates and chooses what it requests; every
//! other head asks again in every cycle and must be told the same. Heads of one cycle choose one after the other, and what waits
//! for a way is counted anew before each.

use super::Setting;
use super::link::Link;
use super::output::Output;
use super::packet::Packet;
use super::routing::{Routing, group};
use super::switch::{Switch, Way};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use virtlane::ids::{HostId, SwitchId};
use virtlane::plan::BufferSharing;
use virtlane::rng::{Stream, below};
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Local, Selection};
use virtlane::topology::Endpoint;

/// What the engine said to a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    course: Course,
    candidates: Vec<Candidate>,
}

/// Flits that wait for an (output, lane) of a switch.
type Waiting = BTreeMap<(usize, usize), u64>;

/// What a head may look at and draw from.
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
    /// The flits of all heads whose request stands, those that have chosen in this cycle so far included.
    fn waiting(&self, packets: &[Packet], pooled: bool, now: u64) -> Waiting {
        let mut waiting = Waiting::new();
        for queue in self.inputs.iter().flatten().flat_map(|input| &input.queues) {
            let Some((head, _)) = queue.request(now).filter(|(head, _)| head.told.is_some()) else {
                continue;
            };
            let places = head.ways.iter();
            let places = places.map(|way| (way.output, if pooled { 0 } else { way.lane }));
            // a head that requests several lanes of a pool waits for the pool once
            for place in places.collect::<BTreeSet<_>>() {
                *waiting.entry(place).or_default() += u64::from(packets[head.packet].size);
            }
        }
        waiting
    }

    /// Every head that requests is told what to request.
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
        let at = self.id;
        let pooled = setting.plan.switch.sharing == BufferSharing::PortPool;
        for number in 0..self.inputs.len() {
            let queues = self.inputs[number]
                .as_ref()
                .map_or(0, |input| input.queues.len());
            for queue in 0..queues {
                let waiting = self.waiting(packets, pooled, now);
                let input = self.inputs[number].as_mut().expect("it has queues");
                let from = setting.graph.channels()[input.channel].from;
                let is_first = matches!(from, Endpoint::Host(_));
                let queue = &mut input.queues[queue];
                let Some((_, since)) = queue.request(now) else {
                    continue;
                };
                let head = &mut queue.packets[0];
                let packet = &mut packets[head.packet];
                if let Some(told) = &head.told {
                    let course = packet.course.expect("departed");
                    let candidates = ask(setting, routing, at, packet.destination, course);
                    let again = Told { course, candidates };
                    assert_eq!(*told, again, "a head changes its mind");
                    continue;
                }
                assert_eq!(since, now, "a head asks when it first requests");
                assert_eq!(packet.course.is_none(), is_first, "one departure each");
                let mut here = Here {
                    outputs: &self.outputs,
                    links,
                    lanes: group(routing, &setting.plan.switch, packet),
                    waiting,
                    pooled,
                    stream: &mut input.streams[queue.lane],
                };
                let course = course(routing, at, packet, &mut here);
                packet.course = Some(course);
                let candidates = ask(setting, routing, at, packet.destination, course);
                let chosen = choose(routing.selection(), &candidates, &mut here);
                let ways = chosen.iter();
                head.ways = ways
                    .map(|c| way(&here.lanes, c.port, c.lane, c.escape))
                    .collect();
                head.told = Some(Told { course, candidates });
            }
        }
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

/// The candidates a head requests.
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
