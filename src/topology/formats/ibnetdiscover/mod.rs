//! Real fabrics, from the output of `ibnetdiscover`.
//!
//! Guarantees: every node and cable of the file, nothing else; every link is listed on both sides; a file that
//! was cut off is refused.
//! Fails with: [`TopologyError::File`] with the line, when the file cannot be read or does not describe a
//! fabric, or when a link's rate is not a whole fraction of the reference rate.
//! Cost: O(text) time and memory.
//!
//! Switches and hosts keep the order of the file. Every cabled port of a channel adapter (or router) is one
//! host; its GUID is the port GUID. Names are the node descriptions: `/P2` is added for port 2 of an adapter
//! with several cables, and the node id in parentheses where several nodes have the same description.
//! A link has the data rate of its width and speed (`4xQDR`: 32 Gbit/s) and the latency of the scenario;
//! a side that does not say its speed, or does not know it (`4x???`), takes that of the other; when neither says it, the
//! link has what `speeds` has for "unknown", else the rate of the scenario, and a warning says so. Where the sides differ the
//! lower speed is taken, and a warning says so, too; `speeds` gives links other rates than the file does. A speed that does not exist
//! is refused where `speeds` leaves it. A warning names lines that mean nothing. LIDs are
//! kept: forwarding tables are written and read with them.
//!
//! # Deviations
//!
//! Descriptions that are no UTF-8 are made so. Port GUIDs that the file leaves out are node GUID + port.
//!
//! References: [`IBA`]

use super::records::parse;
use super::records::record_graph::Source;
use super::records::skipped;
use super::records::speeds::{SPEEDS, Speeds};
use crate::references::IBA;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::Graph;
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use crate::units::BitRate;
use serde::Deserialize;
use std::path::Path;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Ibnetdiscover",
    aliases: &[],
    summary: "real fabric from a file made by `ibnetdiscover`",
    parameters: &[
        Parameter {
            name: "file",
            kind: "path, relative to the scenario",
            default: None,
            summary: "output of `ibnetdiscover`, such as assets/fabrics/psmn_x5.ibnetdiscover",
        },
        SPEEDS,
    ],
    guarantees: &[
        "every node and cable of the file; each link listed on both sides",
        "every cabled port of a channel adapter is one host",
        "links have the data rate of their width and speed",
    ],
    references: &[IBA],
    build: |arguments| Ok(Box::new(arguments.parse::<Ibnetdiscover>()?)),
};

/// Parameters of a fabric file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ibnetdiscover {
    /// Path, relative to the scenario.
    pub file: String,
    /// Where the rates of links come from.
    #[serde(default)]
    pub speeds: Speeds,
}

impl Ibnetdiscover {
    fn source(&self) -> Source<'_> {
        Source {
            file: &self.file,
            parse,
            speeds: &self.speeds,
            skipped: skipped::note,
        }
    }
}

impl Topology for Ibnetdiscover {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        self.source().build(context)
    }

    fn own_rates(&self, base: &Path) -> Result<Vec<BitRate>, TopologyError> {
        self.source().own_rates(base)
    }
}

#[cfg(test)]
mod tests;
