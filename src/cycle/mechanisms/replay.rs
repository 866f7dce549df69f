//! Messages under way: which wait for what, which may leave, which are complete.
//!
//! Part of `Slot::Generate`, `Slot::Inject` and `Slot::Consume`; there only when some class sends messages.
//!
//! # Rules
//! 1. A message is released in the first cycle not before its time and not before all it waits for is complete, plus its
//!    delay there (D21).
//! 2. The released messages of a (host, class) leave in the order (cycle of release, number), one packet per cycle.
//! 3. The packets of a message have its service level (D81).
//! 4. Sent = its last flit is on the first channel; received = its last packet is delivered; either counts from the next cycle.
//!
//! Cost: O(log messages under way) per packet made, sent or delivered; memory grows with the messages under way.

use crate::cycle::joints::Messages;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::snapshot::Persistent;
use crate::cycle::state::messages::{MessageKey, Post};
use crate::fabric::rows::HostRow;
use crate::ids::{HostId, SlId};
use crate::plan::{ClassPlan, Plan};
use crate::traffic::Creation;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// A message of a local host whose last packet has not started.
#[derive(Debug, Serialize, Deserialize)]
struct Outgoing {
    number: u64,
    /// (host, class) of its line.
    row: u32,
    destination: u32,
    /// Service level of its packets.
    sl: u8,
    /// Flits that are in no packet yet.
    flits: u64,
    /// Number of the next packet.
    next: u32,
    /// Packets that have not started.
    unsent: u32,
    /// Messages it waits for.
    waits: u32,
    /// Cycle of its release as far as is known.
    release: u64,
    waiting: Vec<Dependent>,
}

/// A message to a local host whose last packet has not been delivered.
#[derive(Debug, Serialize, Deserialize)]
struct Incoming {
    number: u64,
    /// Packets that have not been delivered.
    left: u32,
    /// Cycle in which the first of its packets was made.
    created: u64,
    waiting: Vec<Dependent>,
}

/// A message that waits for another one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Dependent {
    key: MessageKey,
    delay: u64,
}

/// All messages of the hosts of a shard that are under way or wait.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Replay {
    /// Largest packet of each class \[flits\]; 0 = the class sends no messages.
    sizes: Vec<u16>,
    /// Longest delay after a message that another one waits for \[cycles\].
    longest_delay: u64,
    /// Whether no message will come any more.
    is_read: bool,
    outgoing: BTreeMap<MessageKey, Outgoing>,
    incoming: BTreeMap<MessageKey, Incoming>,
    /// Keys of both by number.
    keys: BTreeMap<u64, MessageKey>,
    /// Since when a message is complete at a host, for as long as a delay after it may matter.
    complete: BTreeMap<(u64, u32), u64>,
    /// The same in the order in which they became so: cycle, number, host.
    completed: VecDeque<(u64, u64, u32)>,
    /// Messages whose release is known: cycle, number, key.
    released: BinaryHeap<Reverse<(u64, u64, MessageKey)>>,
    /// Messages that leave, `[host * classes + class]`.
    lines: Vec<VecDeque<MessageKey>>,
    /// Rows of the lines that are not empty.
    active: Vec<u32>,
}

impl Persistent for Replay {}

/// Messages as a mechanism; packets are made and sent by the core's stages.
pub struct Replaying(Replay);

impl Mechanism for Replaying {
    fn of(site: &Site<'_>) -> Option<Self> {
        let hosts = site.placement.hosts[site.number].len();
        Replay::new(site.plan, hosts).map(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(self.0);
        shard.alarm(|world, from| world.resource::<Replay>().next(from));
    }
}

impl Replay {
    /// Nothing yet, for a shard of so many hosts; `None` when no class sends messages.
    fn new(plan: &Plan, hosts: usize) -> Option<Self> {
        let size = |class: &ClassPlan| class.messages.map_or(0, |_| class.size.largest());
        let sizes: Vec<_> = plan.classes.iter().map(size).collect();
        let delays = plan.workloads.iter().map(|workload| workload.longest_delay);
        sizes.iter().any(|&size| size > 0).then(|| Self {
            lines: vec![VecDeque::new(); hosts * sizes.len()],
            longest_delay: delays.max().unwrap_or(0),
            sizes,
            ..Self::default()
        })
    }

    /// No message will come any more.
    pub fn finish(&mut self) {
        self.is_read = true;
        self.complete.clear();
        self.completed.clear();
    }

    /// Takes a message to a local host.
    pub fn expect(&mut self, post: &Post) {
        self.forget(post.time);
        self.keys.insert(post.number, post.key);
        let incoming = Incoming {
            number: post.number,
            left: post.packets,
            created: u64::MAX,
            waiting: Vec::new(),
        };
        self.incoming.insert(post.key, incoming);
    }

    /// Takes a message of the local host `host`. What it waits for was taken before, and is complete when it is not
    /// known any more.
    pub fn send(&mut self, post: &Post, host: HostRow) {
        self.forget(post.time);
        let (mut waits, mut release) = (0, post.time);
        for &(number, delay) in &post.after {
            let at = (number, post.key.source);
            if let Some(since) = self.complete.get(&at) {
                release = release.max(since + delay);
            } else if let Some(waiting) = self.waiting_for(number, post.key.source) {
                waiting.push(Dependent {
                    key: post.key,
                    delay,
                });
                waits += 1;
            }
        }
        self.keys.insert(post.number, post.key);
        let outgoing = Outgoing {
            number: post.number,
            row: host.0 * self.sizes.len() as u32 + u32::from(post.key.class),
            destination: post.destination,
            sl: post.sl.0,
            flits: post.flits,
            next: post.key.first,
            unsent: post.packets,
            waits,
            release,
            waiting: Vec::new(),
        };
        if waits == 0 {
            let entry = (release, post.number, post.key);
            self.released.push(Reverse(entry));
        }
        self.outgoing.insert(post.key, outgoing);
    }

    /// Who waits at `host` for a message that is not complete there; `None` when it is.
    fn waiting_for(&mut self, number: u64, host: u32) -> Option<&mut Vec<Dependent>> {
        let key = self.keys.get(&number)?;
        if key.source == host {
            Some(&mut self.outgoing.get_mut(key)?.waiting)
        } else {
            Some(&mut self.incoming.get_mut(key)?.waiting)
        }
    }

    /// Forgets completions that are too early to hold back a message of cycle `time` or later.
    fn forget(&mut self, time: u64) {
        while let Some(&(since, number, host)) = self.completed.front()
            && since + self.longest_delay <= time
        {
            self.completed.pop_front();
            self.complete.remove(&(number, host));
        }
    }

    /// The message is complete at `host` from cycle `since` on: what waits for it there goes on.
    fn complete(&mut self, number: u64, host: u32, since: u64, waiting: Vec<Dependent>) {
        for Dependent { key, delay } in waiting {
            let Some(message) = self.outgoing.get_mut(&key) else {
                continue;
            };
            message.waits -= 1;
            message.release = message.release.max(since + delay);
            if message.waits == 0 {
                let entry = (message.release, message.number, key);
                self.released.push(Reverse(entry));
            }
        }
        if !self.is_read {
            self.complete.insert((number, host), since);
            self.completed.push_back((since, number, host));
        }
    }
}

impl Messages for Replay {
    #[inline]
    fn next(&self, from: u64) -> u64 {
        if !self.active.is_empty() {
            return from;
        }
        let next = self.released.peek();
        next.map_or(u64::MAX, |Reverse((cycle, ..))| from.max(*cycle))
    }

    fn collect(&mut self, now: u64, due: &mut Vec<u32>) {
        while let Some(&Reverse((cycle, _, key))) = self.released.peek()
            && cycle <= now
        {
            self.released.pop();
            let row = self.outgoing[&key].row;
            if self.lines[row as usize].is_empty() {
                self.active.push(row);
            }
            self.lines[row as usize].push_back(key);
        }
        due.extend_from_slice(&self.active);
    }

    fn create(&mut self, row: u32, class: &ClassPlan) -> Option<Creation> {
        let line = &mut self.lines[row as usize];
        let message = self.outgoing.get_mut(line.front()?)?;
        let size = u64::from(class.size.largest()).min(message.flits);
        let creation = Creation {
            destination: HostId(message.destination),
            sl: SlId(message.sl),
            size: size as u16,
            sequence: u64::from(message.next),
        };
        message.next += 1;
        message.flits -= size;
        if message.flits == 0 {
            line.pop_front();
        }
        Some(creation)
    }

    fn settle(&mut self) {
        let lines = &self.lines;
        self.active.retain(|&row| !lines[row as usize].is_empty());
    }

    #[inline]
    fn sends(&self, class: u16) -> bool {
        self.sizes[usize::from(class)] > 0
    }

    fn sent(&mut self, packet: MessageKey, free: u64) {
        let Some((&key, message)) = self.outgoing.range_mut(..=packet).next_back() else {
            return;
        };
        message.unsent -= 1;
        if message.unsent > 0 {
            return;
        }
        if let Some(message) = self.outgoing.remove(&key) {
            if !self.incoming.contains_key(&key) {
                self.keys.remove(&message.number);
            }
            self.complete(message.number, key.source, free, message.waiting);
        }
    }

    fn delivered(&mut self, packet: MessageKey, created: u64, host: u32, now: u64) -> Option<u64> {
        let (&key, message) = self.incoming.range_mut(..=packet).next_back()?;
        message.left -= 1;
        message.created = message.created.min(created);
        if message.left > 0 {
            return None;
        }
        let message = self.incoming.remove(&key)?;
        if !self.outgoing.contains_key(&key) {
            self.keys.remove(&message.number);
        }
        self.complete(message.number, host, now + 1, message.waiting);
        Some(message.created)
    }
}
