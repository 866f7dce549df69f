//! Open engines with VOQ (D84): a packet stands in the queues of all outputs that it may take, and is head of some of them.
//!
//! What stands at an input is one list, in the order in which it came. The queue of (lane, output) is what stands there of this lane
//! and may take this output, behind the packet that is leaving the queue: only that one is in a queue of `input`.

use super::input::{Input, Waiting, Way};
use super::packet::PacketId;
use super::switch::Switch;
use std::collections::BTreeSet;

/// A packet that stands.
#[derive(Debug)]
pub(super) struct Standing {
    /// Input lane.
    pub(super) lane: usize,
    pub(super) waiting: Waiting,
    /// Outputs of whose queues it is head, and since when of each.
    heads: Vec<(usize, u64)>,
}

impl Standing {
    /// Those in whose queues it stands.
    fn outputs(&self) -> BTreeSet<usize> {
        self.waiting.ways.iter().map(|way| way.output).collect()
    }
}

/// A head of a queue that requests now; one that stands is met once for each queue that it is head of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requesting<'a> {
    pub(super) queue: usize,
    /// Input lane.
    pub(super) lane: usize,
    pub(super) waiting: &'a Waiting,
    /// Of one that stands: the output of this queue.
    output: Option<usize>,
    /// Cycle of its requests in this queue.
    pub(super) since: u64,
    /// First cycle in which it requested anything at this switch.
    pub(super) first: u64,
}

impl Requesting<'_> {
    /// What it requests in this queue, in the engine's order.
    pub(super) fn ways(&self) -> Vec<Way> {
        let ways = self.waiting.ways.iter();
        let is_here = |way: &&Way| self.output.is_none_or(|output| way.output == output);
        ways.filter(is_here).copied().collect()
    }
}

impl Input {
    /// With VOQ one for each output.
    fn queues_per_lane(&self) -> usize {
        self.queues.len() / self.output_pointers.len()
    }

    /// A packet has come and stands from now on, behind all that came before it.
    pub(super) fn stand(&mut self, lane: usize, waiting: Waiting, now: u64) {
        assert_eq!(waiting.ready, now, "D84: it comes when it may request");
        self.standing.push(Standing {
            lane,
            waiting,
            heads: Vec::new(),
        });
    }

    /// A packet, if it stands, stands nowhere any more.
    pub(super) fn stop_standing(&mut self, packet: PacketId) -> Option<Standing> {
        let mut all = self.standing.iter();
        let place = all.position(|one| one.waiting.packet == packet)?;
        Some(self.standing.remove(place))
    }

    /// A packet is granted an output: if it stands, it becomes the first of the queue that it leaves.
    pub(super) fn settle(&mut self, packet: PacketId, queue: usize, output: usize) {
        let Some(granted) = self.stop_standing(packet) else {
            return;
        };
        assert_eq!(queue, granted.lane * self.queues_per_lane() + output);
        let mut heads = granted.heads.iter();
        let head = heads.find(|head| head.0 == output);
        let &(_, since) = head.expect("heads are granted");
        let queue = &mut self.queues[queue];
        assert!(queue.packets.is_empty() && !queue.leaving, "D4");
        queue.head_since = since;
        queue.packets.push(granted.waiting);
    }

    /// Who is head of a queue from now on, if nobody was.
    fn note_heads(&mut self, now: u64) {
        if self.standing.is_empty() {
            return;
        }
        let outputs = self.queues_per_lane();
        // queues that a packet leaves, or in which somebody stands
        let queues = self.queues.iter();
        let mut is_taken: Vec<bool> = queues.map(|queue| queue.leaving).collect();
        for one in &mut self.standing {
            for output in one.outputs() {
                let queue = one.lane * outputs + output;
                let is_head = !std::mem::replace(&mut is_taken[queue], true);
                let was_head = one.heads.iter().any(|head| head.0 == output);
                assert!(is_head || !was_head, "D84: a head stays head");
                if is_head && !was_head {
                    one.heads.push((output, now));
                }
            }
        }
    }

    /// All heads that request now, by queue.
    pub(super) fn requesting(&self, now: u64) -> Vec<Requesting<'_>> {
        let mut all = Vec::new();
        for (index, queue) in self.queues.iter().enumerate() {
            let Some((waiting, since)) = queue.request(now) else {
                continue;
            };
            all.push(Requesting {
                queue: index,
                lane: queue.lane,
                waiting,
                output: None,
                since,
                first: since,
            });
        }
        let outputs = self.queues_per_lane();
        for one in &self.standing {
            let Some(first) = one.heads.iter().map(|head| head.1).min() else {
                continue;
            };
            for &(output, since) in &one.heads {
                all.push(Requesting {
                    queue: one.lane * outputs + output,
                    lane: one.lane,
                    waiting: &one.waiting,
                    output: Some(output),
                    since,
                    first,
                });
            }
        }
        all.sort_by_key(|head| head.queue);
        all
    }
}

impl Switch {
    /// After the drops of a cycle, before Arbitrate: heads of queues in which packets stand.
    pub(super) fn note_heads(&mut self, now: u64) {
        for input in self.inputs.iter_mut().flatten() {
            input.note_heads(now);
        }
    }
}
