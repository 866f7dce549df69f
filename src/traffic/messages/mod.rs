//! Messages: traffic that is given message by message, with what each one waits for.
//!
//! A message is sent as packets of at most its class's size, the last one as short as it has to be. It is *released* in the
//! first cycle that is neither before its time nor before all it waits for is complete, plus the delay it names. The
//! released messages of a class at a host leave in the order of their release, then of their numbers, one packet per cycle.
//!
//! What a message waits for is an earlier message from or to the host that sends it. One from this host is complete
//! when its last flit is on the channel (counts from the cycle after it), one to this host when its last packet is
//! delivered (likewise).
//!
//! Messages are read as the run goes on: a run holds those that are under way or wait, whatever the length of the trace.

pub(in crate::traffic) mod check;
mod goal;
mod trace;

pub use check::{Checked, Counts, check};

use super::{Gap, Pattern, Process, ProcessState, Share};
use crate::ids::HostId;
use crate::registry::{ArgumentError, Arguments, Registry};
use crate::rng::Stream;
use crate::units::Clock;
use fixedbitset::FixedBitSet;
use std::fmt::{self, Debug, Formatter};
use std::path::Path;
use std::sync::Arc;

/// Every source of messages a scenario can name. New ones: one file, one `mod` line, one line here.
pub static MESSAGE_SOURCES: Registry<BuildMessages> = Registry {
    kind: "message source",
    entries: &[goal::ENTRY, trace::ENTRY],
    unclear: &[],
};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Line of its file, for messages about it.
    pub line: u64,
    /// Earliest cycle in which it is released.
    pub time: u64,
    /// Sending host.
    pub source: HostId,
    /// Receiving host.
    pub destination: HostId,
    /// Number of its traffic class.
    pub class: u16,
    /// Size \[bytes\].
    pub bytes: u64,
    /// What it waits for.
    pub after: Vec<After>,
}

/// A message that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Its number in the order of the source, from 0.
    pub message: u64,
    /// Time between its completion and the release of the other \[cycles\].
    pub delay: u64,
}

impl Message {
    /// Its size \[flits\]: an empty message is one flit.
    pub fn flits(&self, flit_bytes: u32) -> u64 {
        self.bytes.div_ceil(u64::from(flit_bytes)).max(1)
    }
}

/// Something wrong with the messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {reason}", if *line == 0 { String::new() } else { format!(":{line}") })]
pub struct MessageError {
    /// The file as the scenario names it.
    pub file: String,
    /// Line, from 1; 0 = the whole file.
    pub line: u64,
    /// What is wrong and what is allowed.
    pub reason: String,
}

/// Messages on their way from a file.
pub type Messages = Box<dyn Iterator<Item = Result<Message, MessageError>> + Send>;

/// Where messages come from.
pub trait MessageSource: Debug + Send + Sync {
    /// The file as the scenario names it.
    fn file(&self) -> &str;

    /// The messages, in the order of their numbers; times do not fall.
    ///
    /// # Errors
    /// When the source cannot be read; an item is an error when one of its messages cannot.
    fn messages(&self) -> Result<Messages, MessageError>;
}

/// A class that sends messages.
#[derive(Clone, Debug)]
pub struct MessageClass {
    /// Its number.
    pub number: u16,
    /// Its name.
    pub name: String,
    /// Its hosts, ascending: rank `n` of a source is the `n`-th.
    pub hosts: Arc<[HostId]>,
}

impl MessageClass {
    /// The host of a rank; `name` says what it is there.
    fn host(&self, name: &str, rank: &str) -> Result<HostId, String> {
        let number: Option<usize> = rank.parse().ok();
        let host = number.and_then(|number| self.hosts.get(number));
        host.copied().ok_or_else(|| {
            let last = self.hosts.len() - 1;
            format!(
                "`{rank}` is no {name}: class `{}` has the hosts 0 to {last}",
                self.name
            )
        })
    }
}

/// What a source of messages may know when it is made.
#[derive(Clone, Copy, Debug)]
pub struct MessagesContext<'a> {
    /// Folder that relative file names start from.
    pub base: &'a Path,
    /// Turns times into cycles.
    pub clock: Clock,
    /// The classes that name this source, at least one.
    pub classes: &'a [MessageClass],
}

/// Makes a source of messages from its arguments.
pub type BuildMessages =
    fn(Arguments<'_>, MessagesContext<'_>) -> Result<Arc<dyn MessageSource>, ArgumentError>;

/// A source of messages that was read to its end once.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The messages.
    pub source: Arc<dyn MessageSource>,
    /// Longest delay after a message that another one waits for \[cycles\].
    pub longest_delay: u64,
    /// Time of the last message \[cycles\].
    pub last: u64,
}

/// The pattern of a class that sends messages: some hosts send, but no destination is drawn.
#[derive(Clone, Default)]
pub struct Senders(pub FixedBitSet);

impl Debug for Senders {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.ones()).finish()
    }
}

impl Pattern for Senders {
    fn destination(&self, _: HostId, _: &mut Stream) -> Option<HostId> {
        None
    }

    fn sends(&self, source: HostId) -> bool {
        self.0.contains(source.index())
    }

    /// None: nothing is drawn.
    fn shares(&self, _: HostId) -> Vec<Share<'_>> {
        Vec::new()
    }
}

/// The process of a class that sends messages: none of its packets is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Process for Silent {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, _: &mut ProcessState, _: &mut Stream) -> Gap {
        Gap::Never
    }
}
