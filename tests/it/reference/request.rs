//! The requests that one round of matching sees.
//!
//! Model rules 3 and 6 (who requests, who is eligible), D3 (places of an input), D18 (open output lanes), D20 (what an
//! input prefers), D72 (what claims leave).

use super::Setting;
use super::claims::Walked;
use super::legacy_tables::Size;
use super::link::Link;
use super::packet::{Packet, PacketId};
use super::switch::{Switch, Way};
use virtlane::plan::{InputSpeedup, SwitchOptions};

/// A head that requests an open output and whose input has a place left; one for each way it requests.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) input: usize,
    pub(super) queue: usize,
    pub(super) packet: PacketId,
    pub(super) way: Way,
    pub(super) input_lane: usize,
    pub(super) size: Size,
    /// First cycle in which its packet requested anything here (D84).
    pub(super) requested: u64,
    pub(super) created: u64,
    /// Whether it fits the credits of its output lane now, the buffer of that lane is open for it (D18), and no claim bars the
    /// lane (D72).
    pub(super) fits: bool,
    /// What an input looks at before its round robin, the smallest accepted: of an open head's requests
    /// (D20) whether it is for escape and what lies downstream, the same for all others.
    pub(super) preference: (bool, u64),
}

impl Request {
    /// Place in a round robin over (input, input lane).
    pub(super) fn place(&self, lanes: usize) -> usize {
        self.input * lanes + self.input_lane
    }
}

/// Packets that `input` can still start now beside those that claims keep a place for (D72); `None` = no limit.
pub(super) fn places_left(
    options: &SwitchOptions,
    switch: &Switch,
    walked: &Walked,
    input: usize,
) -> Option<usize> {
    match options.input_speedup {
        InputSpeedup::Unlimited => None,
        InputSpeedup::Limited(places) => {
            let left = usize::from(places).checked_sub(switch.leaving(input));
            let left = left.expect("more packets leave an input than its speed-up allows");
            // those kept may be ones that are not left yet
            Some(left.saturating_sub(walked.places_kept(input)))
        }
    }
}

/// All requests of one round, by (input, input lane), those of one head in the engine's order.
pub(super) fn requests(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    packets: &[Packet],
    walked: &Walked,
    now: u64,
) -> Vec<Request> {
    let options = &setting.plan.switch;
    let mut all = Vec::new();
    for (index, input) in switch.inputs.iter().enumerate() {
        let Some(input) = input else { continue };
        if places_left(options, switch, walked, index) == Some(0) {
            continue;
        }
        for head in input.requesting(now) {
            let (ways, waiting) = (head.ways(), head.waiting);
            assert!(!ways.is_empty(), "a head without a way");
            for way in ways {
                let output = switch.outputs[way.output].as_ref().expect("connected");
                let is_barred = walked.is_barred(way);
                let is_claimed = waiting.claim.is_some_and(|claim| claim.way == way);
                assert!(is_barred || !is_claimed, "D72: a claim bars what it is for");
                if !output.is_open(now, options) || walked.is_taken(way.output) {
                    continue;
                }
                let (packet, link) = (&packets[waiting.packet], &links[output.channel]);
                let fits = link.fits(way.lane, packet.size) && output.takes(way.lane, packet.size);
                all.push(Request {
                    input: index,
                    queue: head.queue,
                    packet: waiting.packet,
                    way,
                    input_lane: head.lane,
                    size: Size::new(packet.size, setting.plan.flit_bytes),
                    requested: head.first,
                    created: packet.created,
                    fits: fits && !is_barred,
                    preference: if setting.routing.is_open() {
                        // an open output had no grant in this cycle, so its credits are those before arbitration
                        (way.escape, link.downstream(way.lane))
                    } else {
                        (false, 0)
                    },
                });
            }
        }
    }
    all
}

/// Those of a kind.
pub(super) fn of(requests: &[Request], which: impl Fn(&Request) -> bool) -> Vec<Request> {
    let chosen = requests.iter().filter(|request| which(request));
    chosen.cloned().collect()
}
