//! Reads all messages once before a run, so that none is wrong in the middle of it.

use super::{Message, MessageError, MessageSource};
use crate::ids::HostId;
use fixedbitset::FixedBitSet;

/// What a class sends in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages.
    pub messages: u64,
    /// Hosts that send at least one.
    pub senders: FixedBitSet,
    /// Packets, `[host]`; empty without messages.
    packets: Vec<u64>,
}

/// What is known of all messages of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// By class.
    pub counts: Vec<Counts>,
    /// Longest delay after a message that another one waits for \[cycles\].
    pub longest_delay: u64,
    /// Time of the last message \[cycles\]: none is later.
    pub last: u64,
}

/// Most packets of a class at a host: they are numbered.
const MOST_PACKETS: u64 = u32::MAX as u64;

/// Times and delays are below \[cycles\]: sums of a few cannot overflow.
pub(super) const LATEST: u64 = 1 << 53;

/// Counts the messages of every class and checks each one; `sizes` are the largest packets of all classes \[flits\].
///
/// Cost: one pass over the source; 8 bytes per message when any waits for another.
///
/// # Errors
/// The first message that cannot be: its time is before the one before, it stays at its host, it waits for a message that is not
/// earlier or of no concern to its host, or there are too many.
pub fn check(
    source: &dyn MessageSource,
    hosts: usize,
    sizes: &[u16],
    flit_bytes: u32,
) -> Result<Checked, MessageError> {
    let mut checked = Checked {
        counts: vec![Counts::default(); sizes.len()],
        longest_delay: 0,
        last: 0,
    };
    let mut ends: Vec<[HostId; 2]> = Vec::new();
    for message in source.messages()? {
        let message = message?;
        let wrong = |reason: String| MessageError {
            file: source.file().to_owned(),
            line: message.line,
            reason,
        };
        if message.time < checked.last {
            return Err(wrong(format!(
                "its time is cycle {}, before cycle {} of the message before: sort by time",
                message.time, checked.last
            )));
        }
        checked.last = message.time;
        waits(&message, &ends).map_err(wrong)?;
        ends.push([message.source, message.destination]);
        let delays = message.after.iter().map(|after| after.delay);
        checked.longest_delay = delays.fold(checked.longest_delay, u64::max);
        let class = usize::from(message.class);
        let count = &mut checked.counts[class];
        if count.packets.is_empty() {
            count.packets = vec![0; hosts];
            count.senders = FixedBitSet::with_capacity(hosts);
        }
        count.messages += 1;
        count.senders.insert(message.source.index());
        let packets = &mut count.packets[message.source.index()];
        let more = message.flits(flit_bytes).div_ceil(u64::from(sizes[class]));
        *packets = packets.saturating_add(more);
        if *packets > MOST_PACKETS {
            return Err(wrong(format!(
                "host {} sends more than {MOST_PACKETS} packets: use larger ones",
                message.source
            )));
        }
    }
    Ok(checked)
}

/// Whether the message can wait for what it names; `ends` are those of all earlier messages.
pub(in crate::traffic) fn waits(message: &Message, ends: &[[HostId; 2]]) -> Result<(), String> {
    let (source, number) = (message.source, ends.len());
    if source == message.destination {
        return Err(format!(
            "host {source} sends to itself: a message has two hosts"
        ));
    }
    let delays = message.after.iter().map(|after| after.delay);
    if delays.chain([message.time]).any(|time| time >= LATEST) {
        return Err(format!("a time or delay of {LATEST} cycles or more"));
    }
    for after in &message.after {
        let Some([from, to]) = ends.get(after.message as usize) else {
            return Err(format!(
                "message {number} waits for message {}: it can wait for earlier ones only",
                after.message
            ));
        };
        if *from != source && *to != source {
            return Err(format!(
                "message {number} of host {source} waits for message {} from host {from} to host {to}, of which its \
                 host knows nothing",
                after.message
            ));
        }
    }
    Ok(())
}
