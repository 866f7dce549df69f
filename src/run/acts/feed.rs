//! Feeds messages to the shards of their hosts, some cycles before they may be released.
//!
//! Messages of all sources are handed over in the order of their times, those of one time in the order of the sources. Those of a class
//! at a host have its service levels in turn, in the order of their source (D81).
//!
//! Cost: O(messages) over a run; the files are read as the run goes on.

use super::{GlobalAct, LastingAct};
use crate::cycle::mechanisms::replay::Replay;
use crate::cycle::state::messages::{MessageKey, Post};
use crate::ids::{HostId, SlId};
use crate::plan::Plan;
use crate::run::outcome::RunError;
use crate::run::shards::Shards;
use crate::traffic::messages::{After, Message, MessageError, Messages, Workload};
use std::iter::Peekable;

/// Bits of a message's number within its source; those above are the number of the source.
const NUMBER_BITS: u32 = 48;

/// Times of the messages that are read at once \[cycles\]: few enough to hold them, many enough for long windows.
const AHEAD: u64 = 1024;

/// All sources of messages of a run.
pub(in crate::run) struct Feed {
    workloads: Vec<Workload>,
    streams: Vec<Stream>,
    hosts: usize,
    /// Largest packet of each class \[flits\].
    sizes: Vec<u16>,
    /// Service levels of each class, at least one.
    levels: Vec<Vec<SlId>>,
    flit_bytes: u32,
    /// What a host has been given of a class, `[class * hosts + host]`.
    given: Vec<Given>,
    /// Messages of earlier cycles are read.
    until: u64,
    /// Time of the first message that is not read; `None` when all are.
    first_left: Option<u64>,
    /// Time of the last message read.
    last: u64,
}

/// What a host has been given of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Given {
    messages: u32,
    packets: u32,
}

/// A source that is being read.
struct Stream {
    messages: Peekable<Messages>,
    /// Messages read.
    read: u64,
}

impl Stream {
    /// Time of the next message, 0 of one that cannot be read.
    fn time(&mut self) -> Option<u64> {
        let next = self.messages.peek()?;
        Some(next.as_ref().map_or(0, |message| message.time))
    }
}

impl GlobalAct for Feed {
    fn next(&self, from: u64) -> Option<u64> {
        self.first_left.map(|time| time.max(from))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        self.read(at + AHEAD, |post| {
            let [from, to] =
                [post.key.source, post.destination].map(|host| shards.place(HostId(host)));
            // the sender first: what it waits for was read earlier
            if let Some(mut replay) = shards.resource_mut::<Replay>(from.shard) {
                replay.send(post, from.row);
            }
            if let Some(mut replay) = shards.resource_mut::<Replay>(to.shard) {
                replay.expect(post);
            }
        })?;
        if self.first_left.is_none() {
            for mut replay in shards.each_mut::<Replay>() {
                replay.finish();
            }
        }
        Ok(())
    }
}

impl LastingAct for Feed {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn is_over(&self, now: u64) -> bool {
        self.first_left.is_none() && self.last < now
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&self.until)
    }

    /// The messages that were read are in the states of the shards.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        let until = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
        self.read(until, |_| {}).map_err(|cause| cause.to_string())
    }
}

impl Feed {
    /// The feed of a plan for so many hosts; `None` when no class sends messages.
    pub(in crate::run) fn new(plan: &Plan, hosts: usize) -> Option<Self> {
        let sizes = plan.classes.iter().map(|class| class.size.largest());
        let levels = plan.classes.iter().map(|class| {
            let levels = class.service_levels.clone();
            if levels.is_empty() {
                vec![SlId(0)]
            } else {
                levels
            }
        });
        (!plan.workloads.is_empty()).then(|| Self {
            workloads: plan.workloads.clone(),
            streams: Vec::new(),
            hosts,
            sizes: sizes.collect(),
            levels: levels.collect(),
            flit_bytes: plan.flit_bytes,
            given: vec![Given::default(); plan.classes.len() * hosts],
            until: 0,
            first_left: Some(0),
            last: 0,
        })
    }

    /// Reads the messages of all cycles before `until`; `act` gets each.
    ///
    /// # Errors
    /// When a source cannot be read, or has become wrong since it was checked.
    fn read(&mut self, until: u64, mut act: impl FnMut(&Post)) -> Result<(), MessageError> {
        if self.streams.is_empty() {
            for workload in &self.workloads {
                self.streams.push(Stream {
                    messages: workload.source.messages()?.peekable(),
                    read: 0,
                });
            }
        }
        self.until = until;
        loop {
            let streams = self.streams.iter_mut().enumerate();
            let first = streams.filter_map(|(index, stream)| Some((stream.time()?, index)));
            let first = first.min();
            self.first_left = first.map(|(time, _)| time);
            let Some((time, index)) = first.filter(|&(time, _)| time < until) else {
                return Ok(());
            };
            let stream = &mut self.streams[index];
            let Some(message) = stream.messages.next() else {
                return Ok(());
            };
            let message = message?;
            let first = (index as u64) << NUMBER_BITS;
            let number = first + stream.read;
            stream.read += 1;
            self.last = time;
            act(&self.number(&message, first, number));
        }
    }

    /// The message with its service level and the numbers of its packets; `first` is the number of the first message of its source.
    fn number(&mut self, message: &Message, first: u64, number: u64) -> Post {
        let class = usize::from(message.class);
        let flits = message.flits(self.flit_bytes);
        let packets = flits.div_ceil(u64::from(self.sizes[class])) as u32;
        let given = &mut self.given[class * self.hosts + message.source.index()];
        let key = MessageKey {
            source: message.source.0,
            class: message.class,
            first: given.packets,
        };
        let levels = &self.levels[class];
        let sl = levels[given.messages as usize % levels.len()];
        given.packets += packets;
        given.messages += 1;
        let after = |after: &After| (first + after.message, after.delay);
        Post {
            number,
            key,
            destination: message.destination.0,
            sl,
            time: message.time,
            flits,
            packets,
            after: message.after.iter().map(after).collect(),
        }
    }
}
