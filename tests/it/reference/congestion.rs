//! Congestion trees (D43, with single flits D79): looks between two cycles.

use super::switch::Switch;
use super::{Fabric, wormhole};
use std::collections::{BTreeMap, BTreeSet};
use virtlane::plan::{BufferSharing, Marking};
use virtlane::topology::Endpoint;

/// What a look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreesSeen {
    /// Cycle before which it was.
    pub(crate) cycle: u64,
    pub(crate) victims: usize,
    /// Victims that are in no tree.
    pub(crate) outside: usize,
    /// By channel and lane of the root.
    pub(crate) trees: Vec<TreeSeen>,
}

/// A tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeSeen {
    /// Channel and lane.
    pub(crate) root: (usize, usize),
    /// Members.
    pub(crate) size: usize,
    /// Levels.
    pub(crate) depth: usize,
    /// Sum of the fills of the members.
    pub(crate) flits: u64,
}

/// An output lane of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    channel: usize,
    lane: usize,
}

/// A congested output lane.
#[derive(Clone, Debug)]
struct Congested {
    fill: u64,
    is_victim: bool,
    /// Buffers, each the lane at the end of a channel, of which packets wait for it, or come from which it is held.
    waiting_in: BTreeSet<Place>,
}

impl Fabric<'_> {
    /// Before every stage of a cycle: the look that is due.
    pub(super) fn look_for_trees(&mut self, now: u64) {
        let plan = self.setting.plan;
        let Some(every) = plan.observe.congestion else {
            return;
        };
        assert_eq!(plan.switch.output_lane_buffer, 0, "D43");
        let (start, length) = (plan.phases.warmup, plan.phases.measure);
        let is_due = |since: u64| since >= 1 && since <= length && since.is_multiple_of(every);
        if now.checked_sub(start).is_some_and(is_due) {
            self.trees.push(self.trees_at(now));
        }
    }

    fn trees_at(&self, now: u64) -> TreesSeen {
        let all = self.congested(now - 1);
        let victims = all.values().filter(|one| one.is_victim);
        let victims = victims.count();
        let mut in_trees = BTreeSet::new();
        let roots = all.iter().filter(|(_, one)| !one.is_victim);
        let trees = roots.map(|(&root, _)| {
            let levels = self.levels(&all, root);
            in_trees.extend(levels.iter().flatten().copied());
            let members = || levels.iter().flatten();
            TreeSeen {
                root: (root.channel, root.lane),
                size: members().count(),
                depth: levels.len(),
                flits: members().map(|place| all[place].fill).sum(),
            }
        });
        let trees: Vec<TreeSeen> = trees.collect();
        let is_outside =
            |(place, one): &(&Place, &Congested)| one.is_victim && !in_trees.contains(place);
        TreesSeen {
            cycle: now,
            victims,
            outside: all.iter().filter(is_outside).count(),
            trees,
        }
    }

    /// Members of the tree of a root, level by level.
    fn levels(&self, all: &BTreeMap<Place, Congested>, root: Place) -> Vec<Vec<Place>> {
        let mut levels = vec![vec![root]];
        loop {
            let last = levels.last().expect("the root");
            let is_below = |victim: &Place| {
                let is_filled = |member: &Place| {
                    let mut buffers = all[member].waiting_in.iter();
                    buffers.any(|&buffer| self.is_one_buffer(buffer, *victim))
                };
                last.iter().any(is_filled)
            };
            let is_new = |place: &Place| !levels.iter().flatten().any(|other| other == place);
            let victims = all.iter().filter(|(_, one)| one.is_victim);
            let next: Vec<Place> = victims
                .map(|(&place, _)| place)
                .filter(|place| is_new(place) && is_below(place))
                .collect();
            if next.is_empty() {
                return levels;
            }
            levels.push(next);
        }
    }

    /// Whether two lanes at the end of a channel are one buffer.
    fn is_one_buffer(&self, one: Place, other: Place) -> bool {
        let is_pool = self.setting.plan.switch.sharing == BufferSharing::PortPool;
        one.channel == other.channel && (is_pool || one.lane == other.lane)
    }

    /// Congested output lanes as the last stage of a cycle has left them.
    fn congested(&self, last: u64) -> BTreeMap<Place, Congested> {
        let lanes = usize::from(self.setting.plan.switch.lane_count());
        let mut all = BTreeMap::new();
        for switch in &self.switches {
            for (output, connected) in switch.outputs.iter().enumerate() {
                let Some(connected) = connected else { continue };
                for lane in 0..lanes {
                    let fill = self.fill_with_holder(switch, (output, lane), last);
                    if !self.is_congested(fill) {
                        continue;
                    }
                    let channel = connected.channel;
                    let congested = Congested {
                        fill,
                        is_victim: self.is_held_back(channel, lane),
                        waiting_in: Self::waiting_in(switch, (output, lane), last),
                    };
                    all.insert(Place { channel, lane }, congested);
                }
            }
        }
        all
    }

    /// The fill of an output lane (D36), with single flits with what has not passed of the packet that holds it.
    fn fill_with_holder(&self, switch: &Switch, (output, lane): (usize, usize), last: u64) -> u64 {
        let waiting = switch.fill(&self.packets, output, lane, last);
        let mut holders = switch.ports.holders();
        let holder = holders.find(|holder| (holder.0, holder.1) == (output, lane));
        let rest = holder.map_or(0, |(.., (_, _, next))| {
            u64::from(self.packets[next.packet].size - next.index)
        });
        waiting + rest
    }

    /// Whether an output lane is congested with this fill.
    fn is_congested(&self, fill: u64) -> bool {
        let switch = &self.setting.plan.switch;
        let capacity = u64::from(switch.lane_capacity);
        match switch.marking {
            Some(Marking::InfiniBand { threshold, .. }) if threshold > 0 => {
                let sixteenths = (16 - u64::from(threshold)) * capacity;
                fill >= sixteenths.div_ceil(16).max(1)
            }
            _ => 2 * fill >= capacity,
        }
    }

    /// Whether the switch behind a channel holds a congested lane of it back.
    fn is_held_back(&self, channel: usize, lane: usize) -> bool {
        let (plan, graph) = (self.setting.plan, self.setting.graph);
        let asked = if wormhole::is_on(plan) {
            1
        } else {
            plan.largest_packet()
        };
        let to = graph.channels()[channel].to;
        matches!(to, Endpoint::Switch(..)) && !self.links[channel].fits(lane, asked)
    }

    /// Buffers with packets that wait for an output lane, and with single flits that from which the packet comes that holds it.
    fn waiting_in(switch: &Switch, (output, lane): (usize, usize), last: u64) -> BTreeSet<Place> {
        let mut found = BTreeSet::new();
        let holders = switch.ports.holders();
        let mine = holders.filter(|holder| (holder.0, holder.1) == (output, lane));
        let from: Vec<(usize, usize)> =
            mine.map(|(.., (input, queue, _))| (input, queue)).collect();
        for (number, input) in switch.inputs.iter().enumerate() {
            let Some(input) = input else { continue };
            for (index, queue) in input.queues.iter().enumerate() {
                let mut staying = queue.staying();
                let waits = staying.any(|waiting| waiting.waits_for((output, lane), last));
                if waits || from.contains(&(number, index)) {
                    found.insert(Place {
                        channel: input.channel,
                        lane: queue.lane,
                    });
                }
            }
            // D84
            let standing = input.standing.iter();
            let mine = standing.filter(|one| one.waiting.waits_for((output, lane), last));
            found.extend(mine.map(|one| Place {
                channel: input.channel,
                lane: one.lane,
            }));
        }
        found
    }
}
