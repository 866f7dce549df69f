//! Feeds messages to the shards of their hosts, as far ahead as the run goes next.
//!
//! Cost: O(messages) over a run; the files are read as the run goes on.

use super::shard::Shard;
use crate::cycle::mechanisms::replay::{MessageKey, Post, Replay};
use crate::fabric::placement::Placement;
use crate::fabric::rows::HostRow;
use crate::plan::Plan;
use crate::traffic::messages::{After, Message, MessageError, Messages, Workload};
use bevy_ecs::world::Mut;
use std::iter::Peekable;

/// Bits of a message's number within its source; those above are the number of the source.
const NUMBER_BITS: u32 = 48;

/// All sources of messages of a run.
pub(super) struct Feed {
    workloads: Vec<Workload>,
    streams: Vec<Stream>,
    /// Shard and row of each host.
    places: Vec<(u32, HostRow)>,
    /// Largest packet of each class \[flits\].
    sizes: Vec<u16>,
    flit_bytes: u32,
    /// Number of the next packet, `[class * hosts + host]`.
    next: Vec<u32>,
    /// Whether all messages are read.
    is_over: bool,
}

/// Messages of a shard.
fn replay(shards: &mut [Box<dyn Shard>], shard: usize) -> Option<Mut<'_, Replay>> {
    shards[shard].world_mut().get_resource_mut::<Replay>()
}

/// A source that is being read.
struct Stream {
    messages: Peekable<Messages>,
    /// Messages read.
    read: u64,
}

impl Feed {
    /// The feed of a plan; `None` when no class sends messages.
    pub(super) fn new(plan: &Plan, placement: &Placement) -> Option<Self> {
        let hosts = placement.host_shard.len();
        let place = |host: usize| {
            let shard = placement.host_shard[host];
            let first = placement.first_host_port[shard as usize];
            (shard, HostRow(placement.host_port[host].minus(first)))
        };
        (!plan.workloads.is_empty()).then(|| Self {
            workloads: plan.workloads.clone(),
            streams: Vec::new(),
            places: (0..hosts).map(place).collect(),
            sizes: plan
                .classes
                .iter()
                .map(|class| class.size.largest())
                .collect(),
            flit_bytes: plan.flit_bytes,
            next: vec![0; plan.classes.len() * hosts],
            is_over: false,
        })
    }

    /// Whether all messages are read.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Hands over the messages of all cycles before `until`.
    ///
    /// # Errors
    /// When a source cannot be read, or has become wrong since it was checked.
    pub(super) fn post(
        &mut self,
        until: u64,
        shards: &mut [Box<dyn Shard>],
    ) -> Result<(), MessageError> {
        if self.is_over {
            return Ok(());
        }
        self.each_before(until, |post, [from, to]| {
            // the sender first: what it waits for was read earlier
            if let Some(mut replay) = replay(shards, from.0 as usize) {
                replay.send(post, from.1);
            }
            if let Some(mut replay) = replay(shards, to.0 as usize) {
                replay.expect(post);
            }
        })?;
        if self.is_over {
            for shard in 0..shards.len() {
                if let Some(mut replay) = replay(shards, shard) {
                    replay.finish();
                }
            }
        }
        Ok(())
    }

    /// Leaves out the messages of all cycles before `now`: a saved state has them.
    ///
    /// # Errors
    /// As [`Self::post`].
    pub(super) fn skip(&mut self, now: u64) -> Result<(), MessageError> {
        self.each_before(now, |_, _| {})
    }

    /// Reads on up to cycle `until`; `act` gets each message and the places of its hosts.
    fn each_before(
        &mut self,
        until: u64,
        mut act: impl FnMut(&Post, [(u32, HostRow); 2]),
    ) -> Result<(), MessageError> {
        if self.streams.is_empty() {
            for workload in &self.workloads {
                self.streams.push(Stream {
                    messages: workload.source.messages()?.peekable(),
                    read: 0,
                });
            }
        }
        for index in 0..self.streams.len() {
            let is_due = |next: &Result<Message, _>| {
                next.as_ref().map_or(true, |message| message.time < until)
            };
            while let Some(message) = self.streams[index].messages.next_if(is_due) {
                let message = message?;
                let first = (index as u64) << NUMBER_BITS;
                let number = first + self.streams[index].read;
                self.streams[index].read += 1;
                let post = self.number(&message, first, number);
                let ends = [message.source, message.destination];
                act(&post, ends.map(|host| self.places[host.index()]));
            }
        }
        let mut streams = self.streams.iter_mut();
        self.is_over = streams.all(|stream| stream.messages.peek().is_none());
        Ok(())
    }

    /// The message with the numbers of its packets; `first` is the number of the first message of its source.
    fn number(&mut self, message: &Message, first: u64, number: u64) -> Post {
        let class = usize::from(message.class);
        let flits = message.flits(self.flit_bytes);
        let packets = flits.div_ceil(u64::from(self.sizes[class])) as u32;
        let next = &mut self.next[class * self.places.len() + message.source.index()];
        let key = MessageKey {
            source: message.source.0,
            class: message.class,
            first: *next,
        };
        *next += packets;
        let after = |after: &After| (first + after.message, after.delay);
        Post {
            number,
            key,
            destination: message.destination.0,
            time: message.time,
            flits,
            packets,
            after: message.after.iter().map(after).collect(),
        }
    }
}
