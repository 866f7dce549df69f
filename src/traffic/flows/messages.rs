//! A trace of messages as flows: a message is a flow of its size that starts when the message is released.
//!
//! Deviations from messages of a class (D21): messages of a host that are released are under way side by side, as its
//! scheduler has it, not one after the other; all of them are in memory from the beginning.
//! Cost: a flow in memory for each message, and 32 bytes for each that it waits for.

use super::{BuildFlows, FlowsContext, GivenFlow, LATEST, MOST_FLOWS, MOST_WAITS, Own};
use crate::ids::HostId;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::traffic::invalid;
use crate::traffic::messages::{MESSAGE_SOURCES, Message, MessageClass, MessagesContext, check};
use ron::value::RawValue;
use serde::Deserialize;

/// Registers `Messages`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "Messages",
    aliases: &[],
    summary: "a flow for every message of a message source, of its size, from its release on",
    parameters: &[Parameter {
        name: "source",
        kind: "message source",
        default: None,
        summary: "such as Trace(file: \"messages.csv\"), of this class alone; what a message waits for its flow waits for",
    }],
    guarantees: &[
        "flows go in the order of the messages",
        "a flow starts at the time of its message, or when all it waits for is complete: sent, if it is from its source; \
         received, if it is to it",
    ],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Messages")]
struct Messages {
    source: Box<RawValue>,
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let Messages { source } = arguments.parse()?;
    let text = source.get_ron().trim();
    let (name, arguments) = text.split_at(text.find('(').unwrap_or(text.len()));
    let found = MESSAGE_SOURCES.lookup(name.trim());
    let make = found.map_err(|reason| invalid(format!("`source`: {reason}")))?;
    let classes = [MessageClass {
        number: 0,
        name: context.name.to_owned(),
        hosts: context.hosts.into(),
    }];
    let inner = MessagesContext {
        base: context.base,
        clock: context.clock,
        classes: &classes,
    };
    let arguments = Arguments { text: arguments };
    let in_source = |reason: &str| invalid(format!("`source`: {reason}"));
    let listed = (make.build)(arguments, inner).map_err(|error| in_source(&error.message))?;
    let messages = listed.messages();
    let messages = messages.map_err(|error| in_source(&error.to_string()))?;
    let mut flows = Vec::new();
    let mut ends: Vec<[HostId; 2]> = Vec::new();
    let mut waits = 0;
    for message in messages {
        let message = message.map_err(|error| in_source(&error.to_string()))?;
        waits += message.after.len() as u64;
        let flow = flow(&message, &ends, context).map_err(|reason| {
            let (file, line) = (listed.file(), message.line);
            in_source(&format!("{file}:{line}: {reason}"))
        });
        flows.push(flow?);
        ends.push([message.source, message.destination]);
        if waits > MOST_WAITS {
            let file = listed.file();
            let reason = format!("the messages of {file} wait for more than {MOST_WAITS} others");
            return Err(in_source(&reason));
        }
        if flows.len() as u64 > MOST_FLOWS {
            let file = listed.file();
            let reason = format!("{file} has more than {MOST_FLOWS} messages: a flow each");
            return Err(in_source(&reason));
        }
    }
    if flows.is_empty() {
        return Err(in_source(&format!("{} has no message", listed.file())));
    }
    Ok(flows)
}

/// The flow of a message, or why there is none; `ends` are those of all earlier messages.
fn flow(
    message: &Message,
    ends: &[[HostId; 2]],
    context: &FlowsContext<'_>,
) -> Result<GivenFlow, String> {
    if message.time >= LATEST {
        let time = message.time;
        return Err(format!("its time is cycle {time}: expected below {LATEST}"));
    }
    let flow = context.flow(message.source.0, message.destination.0)?;
    check::waits(message, ends)?;
    let own = Own {
        start: Some(message.time),
        flits: Some(context.flits(message.bytes)?),
        after: message.after.clone(),
        ..Own::default()
    };
    Ok(GivenFlow {
        own: Some(Box::new(own)),
        ..flow
    })
}
