//! Many hosts to one.

use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::traffic::invalid;
use serde::Deserialize;

/// Registers `Incast`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "Incast",
    aliases: &["AllToOne"],
    summary: "hosts of the class to one host, one flow each",
    parameters: &[
        Parameter {
            name: "to",
            kind: "host number",
            default: None,
            summary: "the receiver; it does not send to itself",
        },
        Parameter {
            name: "from",
            kind: "None | integer >= 1",
            default: Some("None"),
            summary: "how many hosts send, the first of the class; None = all",
        },
    ],
    guarantees: &[],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Incast")]
struct Incast {
    to: u32,
    #[serde(default)]
    from: Option<usize>,
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let Incast { to, from } = arguments.parse()?;
    let to = context.host("to", to)?;
    let senders: Vec<_> = (context.hosts.iter()).filter(|&&host| host != to).collect();
    if senders.is_empty() {
        return Err(invalid(
            "the class has no host beside the receiver".to_owned(),
        ));
    }
    let count = from.unwrap_or(senders.len());
    if count == 0 || count > senders.len() {
        return Err(invalid(format!(
            "`from` is {count}: expected 1 to {}, the hosts of the class without the receiver",
            senders.len()
        )));
    }
    Ok(senders
        .into_iter()
        .take(count)
        .map(|&host| GivenFlow::between(host, to))
        .collect())
}
