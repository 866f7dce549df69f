//! What waits for which output lane in all shards.

use super::trees::{Rules, Waiting};
use crate::cycle::columns::Held;
use crate::cycle::ledger::Channels;
use crate::cycle::{Columns, Inspect};
use crate::fabric::rows::{LaneRow, PacketRow};
use crate::ids::ChannelId;
use crate::run::shards::Shards;

/// Collects it from one shard after the other.
pub(super) struct Collect<'a> {
    rules: &'a Rules,
    /// Outgoing channel of every port row of every shard.
    channels: &'a [Vec<ChannelId>],
    /// Shard that comes next.
    shard: usize,
    /// Last cycle that was simulated: credits that come later are not in hand in any shard.
    last: u64,
    waiting: Waiting,
}

impl<'a> Collect<'a> {
    /// What waits before cycle `at`.
    pub(super) fn waiting(rules: &'a Rules, at: u64, shards: &'a Shards) -> Waiting {
        let mut collect = Self {
            rules,
            channels: shards.port_channels(),
            shard: 0,
            last: at - 1,
            waiting: Waiting::default(),
        };
        shards.inspect(&mut collect);
        collect.waiting
    }
}

impl Inspect for Collect<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let channels = Channels::new(&self.channels[self.shard]);
        self.shard += 1;
        self.waiting
            .reserve(self.rules, view.shared().numbering.lanes() as usize);
        self.credits(view, channels);
        self.packets(view, channels);
        if self.rules.has_holders {
            self.holders(view, channels);
        }
    }
}

impl Collect<'_> {
    /// Notes the output lanes of switches that lack credits.
    fn credits(&mut self, view: &dyn Columns, channels: Channels<'_>) {
        let (shared, place) = (view.shared(), view.place());
        for (port, _) in view.outs().enumerate() {
            if place.is_host(port) {
                break;
            }
            for lane in shared.numbering.lanes_of(port) {
                let credits = view.credits_in(shared.credit_lane(lane), self.last);
                let number = shared.numbering.number(lane);
                let lane = self.waiting.number(channels[port], number);
                self.waiting.short[lane] = credits < self.rules.least;
            }
        }
    }

    /// Counts the packets in the input queues of switches.
    fn packets(&mut self, view: &dyn Columns, channels: Channels<'_>) {
        let (shared, place) = (view.shared(), view.place());
        let numbering = shared.numbering;
        let requests = view.requests();
        let waiting = &mut self.waiting;
        let mut wait = |lane: LaneRow, wanted: LaneRow, flits: u16| {
            let input = channels[numbering.port(lane)].reverse();
            let buffer = numbering.number(shared.credit_lane(lane));
            let buffer = waiting.number(input, buffer);
            let channel = channels[numbering.port(wanted)];
            let wanted = waiting.number(channel, numbering.number(wanted));
            waiting.wait(wanted, buffer, flits);
        };
        if let Some(stands) = view.shown().standing {
            let inputs = view.outs().enumerate().map(|(input, _)| input);
            let inputs = inputs.take_while(|&input| !place.is_host(input));
            for lane in inputs.flat_map(|input| numbering.lanes_of(input)) {
                for stand in stands(view.world(), lane) {
                    let flits = view.packets()[stand.packet].size;
                    wait(lane, stand.request.lane, flits);
                }
            }
            return;
        }
        for (row, queue) in view.queues().enumerate() {
            let lane = shared.switch.classifier.lane(row);
            let input = numbering.port(lane);
            if place.is_host(input) {
                break;
            }
            if queue.head == PacketRow::NONE {
                continue;
            }
            if shared.adaptation.is_some() && !shared.sorts() {
                if queue.requesting {
                    let wanted = requests(row).into_iter();
                    let flits = view.packets()[queue.head].size;
                    wanted.for_each(|wanted| wait(lane, wanted, flits));
                }
                continue;
            }
            for packet in queue.packets(view.packets()) {
                let flits = view.packets()[packet].size;
                wait(lane, view.next_hop(input, packet), flits);
            }
        }
    }

    /// Counts what is left of the packets that hold output lanes of switches, in the buffers that they come from.
    fn holders(&mut self, view: &dyn Columns, channels: Channels<'_>) {
        let numbering = view.shared().numbering;
        let waiting = &mut self.waiting;
        for (held_lane, held) in view.grouped::<LaneRow, Held>().enumerate() {
            let Some((queue, _)) = held.holder() else {
                continue;
            };
            let number = |channel: ChannelId, lane| waiting.number(channel, numbering.number(lane));
            let lane = view.shared().switch.classifier.lane(queue);
            let buffer = number(channels[numbering.port(lane)].reverse(), lane);
            let wanted = number(channels[numbering.port(held_lane)], held_lane);
            waiting.wait(wanted, buffer, held.left());
        }
    }
}
