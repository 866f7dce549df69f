//! What every source of messages must do: any bytes give messages or an error, never a panic.
//!
//! Messages that come out and pass the check wait for earlier ones of their host only, in the order of their times.

use super::context::{FOLDER, context};
use virtlane::ids::HostId;
use virtlane::registry::Arguments;
use virtlane::traffic::MESSAGE_SOURCES;
use virtlane::traffic::messages::{self, MessageClass, MessagesContext};

/// Hosts of the class.
const HOSTS: u32 = 8;

/// Feeds `bytes` to the message source `name`; returns the messages of a sound input.
pub(super) fn check(bytes: &[u8], name: &str) -> Option<u64> {
    std::fs::write(FOLDER.join("messages"), bytes).expect("the input can be written");
    let class = MessageClass {
        number: 0,
        name: "data".into(),
        hosts: (0..HOSTS).map(HostId).collect(),
    };
    let surroundings = MessagesContext {
        base: &FOLDER,
        clock: context(&FOLDER).clock,
        classes: &[class],
    };
    let entry = MESSAGE_SOURCES.find(name).expect("registered");
    let arguments = Arguments {
        text: "(file: \"messages\")",
    };
    let source = (entry.build)(arguments, surroundings).expect("arguments fit");
    let checked = messages::check(&*source, HOSTS as usize, &[4], 64).ok()?;
    let (mut ends, mut time) = (Vec::new(), 0);
    for message in source.messages().expect("just read") {
        let message = message.expect("just read");
        assert!(message.time >= time);
        time = message.time;
        for after in &message.after {
            let [from, to]: [HostId; 2] = ends[after.message as usize];
            assert!(from == message.source || to == message.source);
            assert!(after.delay <= checked.longest_delay);
        }
        ends.push([message.source, message.destination]);
    }
    assert_eq!(ends.len() as u64, checked.counts[0].messages);
    Some(checked.counts[0].messages)
}
