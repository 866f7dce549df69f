//! A trace of messages as flows: a message is a flow of its size that starts at its time.
//!
//! Deviations from messages of a class (D21): nothing is waited for, so a source with dependencies is refused; messages of
//! a host are under way side by side, as its scheduler has it, not one after the other.
//! Cost: a flow in memory for each message.

use super::{BuildFlows, FlowsContext, GivenFlow, LATEST, MOST_FLOWS, Own};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::traffic::invalid;
use crate::traffic::messages::{MESSAGE_SOURCES, Message, MessageClass, MessagesContext};
use ron::value::RawValue;
use serde::Deserialize;

/// Registers `Messages`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "Messages",
    aliases: &[],
    summary: "a flow for every message of a message source, of its size and from its time on",
    parameters: &[Parameter {
        name: "source",
        kind: "message source",
        default: None,
        summary: "such as Trace(file: \"messages.csv\"), of this class alone; messages that wait for others are refused",
    }],
    guarantees: &["flows go in the order of the messages"],
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
    for message in messages {
        let message = message.map_err(|error| in_source(&error.to_string()))?;
        let flow = flow(&message, context).map_err(|reason| {
            let (file, line) = (listed.file(), message.line);
            in_source(&format!("{file}:{line}: {reason}"))
        });
        flows.push(flow?);
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

/// The flow of a message, or why there is none.
fn flow(message: &Message, context: &FlowsContext<'_>) -> Result<GivenFlow, String> {
    if let Some(after) = message.after.first() {
        return Err(format!(
            "it waits for message {}, but a flow starts at a given time: leave `after` out, or send the class by \
             `messages`",
            after.message
        ));
    }
    if message.time >= LATEST {
        let time = message.time;
        return Err(format!("its time is cycle {time}: expected below {LATEST}"));
    }
    let flow = context.flow(message.source.0, message.destination.0)?;
    let own = Own {
        start: Some(message.time),
        flits: Some(context.flits(message.bytes)?),
        ..Own::default()
    };
    Ok(GivenFlow {
        own: Some(Box::new(own)),
        ..flow
    })
}
