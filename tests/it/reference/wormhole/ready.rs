//! Which lanes of an output are ready, for a flit of the packet that holds them or for headers (D65, D76), and which header goes (D7).

use super::switch::{may_leave, one_flit};
use crate::reference::Setting;
use crate::reference::link::Link;
use crate::reference::output::Output;
use crate::reference::packet::{Flit, Packet};
use crate::reference::request::Request;
use crate::reference::switch::{Switch, Way};
use crate::reference::turns::{deterministic_winner, draw};
use virtlane::plan::{OutputArbitration, SwitchOptions};
use virtlane::topology::Endpoint;

/// The flit that would go next on an output lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) input: usize,
    /// Of that input: that of its lane, or one of them (D4).
    pub(super) queue: usize,
    pub(super) flit: Flit,
    /// Cycle in which its packet requested the output lane.
    pub(super) requested: u64,
    /// Whether it is a header that requests an escape (D76).
    pub(super) asks_escape: bool,
}

/// What makes a lane of a free output ready.
#[derive(Debug)]
pub(super) enum Ready {
    /// The next flit of the packet that holds it.
    Held(Next),
    /// Headers, by (input, input lane); none: it is not ready.
    Requested(Vec<Request>),
}

impl Ready {
    pub(super) fn is_it(&self) -> bool {
        match self {
            Self::Held(_) => true,
            Self::Requested(requests) => !requests.is_empty(),
        }
    }
}

/// What makes a lane of a free output ready in this cycle; `asked`: all headers that request the output.
pub(super) fn ready(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    (asked, output, lane): (&[Request], usize, usize),
    now: u64,
) -> Ready {
    let options = &setting.plan.switch;
    let state = switch.outputs[output].as_ref().expect("connected");
    if !is_open(state, lane, now) {
        return Ready::Requested(Vec::new());
    }
    let is_free = |input, packet| switch.ports.is_free(options, (input, packet), now);
    let Some(next) = switch.ports.held(output, lane) else {
        let mut requests: Vec<Request> = asked.to_vec();
        requests.retain(|request| request.way.lane == lane);
        requests.dedup_by_key(|request| (request.input, request.queue));
        requests.retain(|request| {
            let packet = switch.header(request).flit.packet;
            is_free(request.input, packet) && has_room(setting, switch, links, &request.way)
        });
        return Ready::Requested(requests);
    };
    let input = switch.inputs[next.input].as_ref().expect("connected");
    let goes = links[state.channel].fits(lane, 1)
        && may_leave(options, &links[input.channel], next.flit, now)
        && is_free(next.input, next.flit.packet);
    if goes {
        Ready::Held(next)
    } else {
        Ready::Requested(Vec::new())
    }
}

/// D79: whether a lane of an output takes a flit behind the crossbar; without output lanes always.
pub(super) fn is_open(output: &Output, lane: usize, now: u64) -> bool {
    let lanes = output.flit_lanes.as_ref();
    lanes.is_none_or(|lanes| lanes.is_open(lane, now))
}

/// All requests of headers, by (input, input lane) and in the order of their ways.
pub(super) fn requests(
    setting: Setting<'_>,
    switch: &Switch,
    packets: &[Packet],
    now: u64,
) -> Vec<Request> {
    let mut requests = Vec::new();
    for (number, input) in switch.inputs.iter().enumerate() {
        let queues = input.iter().flat_map(|input| &input.queues);
        for (index, queue) in queues.enumerate() {
            let Some((head, requested)) = queue.request(now) else {
                continue;
            };
            assert!(!head.ways.is_empty(), "a header without a way");
            requests.extend(head.ways.iter().map(|&way| Request {
                input: number,
                queue: index,
                packet: head.packet,
                way,
                input_lane: queue.lane,
                size: one_flit(setting),
                requested,
                created: packets[head.packet].created,
                fits: true,
                preference: (false, 0),
            }));
        }
    }
    requests
}

/// Whether a header that requests a lane finds a credit that counts, and where it needs an empty one (D76) all of them.
pub(in crate::reference) fn has_room(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    way: &Way,
) -> bool {
    let output = switch.outputs[way.output].as_ref().expect("connected");
    let link = &links[output.channel];
    let is_used = link.downstream(way.lane) > 0;
    link.fits(way.lane, 1) && !(is_used && needs_empty(setting, output.channel, way))
}

/// D76: whether a request is for an empty lane only: with open engines one that is no escape, but for lanes to hosts and VL15
/// (D83).
pub(in crate::reference) fn needs_empty(setting: Setting<'_>, channel: usize, way: &Way) -> bool {
    let to = setting.graph.channels()[channel].to;
    let is_chosen = way.lane < usize::from(setting.plan.switch.lanes);
    let is_open = is_chosen && setting.routing.is_open();
    is_open && !way.escape && matches!(to, Endpoint::Switch(..))
}

/// D7 among the headers that make a lane ready; the output has picked it.
pub(super) fn winner(
    options: &SwitchOptions,
    output: &mut Output,
    lane: usize,
    requests: &[Request],
) -> Request {
    let winner = if options.output_arbitration == OutputArbitration::Random {
        draw(&mut output.stream, requests)
    } else {
        deterministic_winner(options, output.request_pointers[lane], requests)
    };
    winner.expect("a ready lane")
}

impl Switch {
    /// The header that makes a request.
    pub(super) fn header(&self, request: &Request) -> Next {
        let input = self.inputs[request.input].as_ref().expect("connected");
        Next {
            input: request.input,
            queue: request.queue,
            flit: Flit {
                packet: input.queues[request.queue].packets[0].packet,
                index: 0,
            },
            requested: request.requested,
            asks_escape: request.way.escape,
        }
    }
}
