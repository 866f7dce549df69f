//! `channels.csv`, `flows.csv`, `congestion.csv` and `timeline.csv` of a run.

use super::{ResultsError, read_text};
use crate::report::result::TimelineRow;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Use of a channel in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelUse {
    /// Sending end.
    pub from: String,
    /// Receiving end.
    pub to: String,
    /// Share of the window in which it carried flits, all lanes together.
    pub utilisation: f64,
}

impl ChannelUse {
    /// Switch or host at the sending end.
    pub fn source(&self) -> &str {
        node(&self.from)
    }

    /// Switch or host at the receiving end.
    pub fn target(&self) -> &str {
        node(&self.to)
    }

    /// Port at the sending end; hosts have none in their names.
    pub fn source_port(&self) -> Option<&str> {
        port(&self.from)
    }

    /// Port at the receiving end.
    pub fn target_port(&self) -> Option<&str> {
        port(&self.to)
    }

    /// Its ends and its share, for people.
    pub fn told(&self) -> String {
        format!("{} to {}: {:.3}", self.from, self.to, self.utilisation)
    }

    /// Whether the channel starts or ends at a host.
    pub fn is_of_host(&self) -> bool {
        node(&self.from) == self.from || node(&self.to) == self.to
    }
}

/// `S3` and `2` of `S3 port 2`; hosts have no port in their names.
fn parts(end: &str) -> Option<(&str, &str)> {
    let parts = end.rsplit_once(" port ");
    parts.filter(|(_, port)| port.parse::<u16>().is_ok())
}

fn node(end: &str) -> &str {
    parts(end).map_or(end, |(node, _)| node)
}

fn port(end: &str) -> Option<&str> {
    parts(end).map(|(_, port)| port)
}

#[derive(Deserialize)]
struct ChannelRow {
    channel: usize,
    from: String,
    to: String,
    #[serde(rename = "utilisation [fraction]")]
    utilisation: f64,
}

/// Reads the table of channels, in which every channel has a row or more: lanes without one carried nothing.
pub(super) fn channels(path: &Path) -> Result<Vec<ChannelUse>, ResultsError> {
    let mut channels: Vec<ChannelUse> = Vec::new();
    for row in rows::<ChannelRow>(path)? {
        let number = row.channel;
        if !(row.utilisation.is_finite() && row.utilisation >= 0.0) {
            let reason = format!(
                "channel {number} carries flits in {} of the time: the table is damaged",
                row.utilisation
            );
            return Err(ResultsError::new(path, reason));
        }
        let count = channels.len();
        if let Some(last) = channels.last_mut()
            && number == count - 1
        {
            last.utilisation += row.utilisation;
        } else if number == count {
            channels.push(ChannelUse {
                from: row.from,
                to: row.to,
                utilisation: row.utilisation,
            });
        } else {
            let reason = format!("channel {number} is out of order: the table is damaged");
            return Err(ResultsError::new(path, reason));
        }
    }
    Ok(channels)
}

/// What a flow of the plan did.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FlowRow {
    /// Traffic class.
    pub class: String,
    /// Size \[flits\]; `None` = without end.
    #[serde(rename = "size [flits]")]
    pub flits: Option<u64>,
    /// Received in the measurement \[fraction of link rate\].
    #[serde(rename = "received [fraction of link rate]")]
    pub rate: f64,
    /// Start to last delivery, of a complete one \[cycles\].
    #[serde(rename = "completion [cycles]")]
    pub completion: Option<u64>,
}

/// Reads the table of the flows of the plan.
pub(super) fn flows(path: &Path) -> Result<Vec<FlowRow>, ResultsError> {
    let rows: Vec<FlowRow> = rows(path)?;
    let is_wrong = |row: &FlowRow| !(row.rate.is_finite() && row.rate >= 0.0);
    match rows.iter().position(is_wrong) {
        None => Ok(rows),
        Some(flow) => {
            let rate = rows[flow].rate;
            let reason =
                format!("flow {flow} received {rate} of the link rate: the table is damaged");
            Err(ResultsError::new(path, reason))
        }
    }
}

/// A congestion tree, or a look that found none.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CongestionRow {
    /// First cycle after the look.
    #[serde(rename = "look [cycle]")]
    pub cycle: u64,
    /// Roots of the look \[output lanes\].
    #[serde(rename = "roots [output lanes]")]
    pub roots: u64,
    /// Victims of the look \[output lanes\].
    #[serde(rename = "victims [output lanes]")]
    pub victims: u64,
    /// Victims of the look that are in no tree \[output lanes\].
    #[serde(rename = "victims_in_no_tree [output lanes]")]
    pub outside: u64,
    /// Output lanes of the tree.
    #[serde(rename = "size [output lanes]")]
    pub size: Option<u64>,
    /// Levels of the tree.
    #[serde(rename = "depth [levels]")]
    pub depth: Option<u64>,
}

/// Reads the congestion trees, look by look.
pub(super) fn congestion(path: &Path) -> Result<Vec<CongestionRow>, ResultsError> {
    rows(path)
}

/// Reads the counters over time.
pub(super) fn timeline(path: &Path) -> Result<Vec<TimelineRow>, ResultsError> {
    let rows: Vec<TimelineRow> = rows(path)?;
    let too_late = |row: &&TimelineRow| row.start.checked_add(row.length).is_none();
    match rows.iter().find(too_late) {
        None => Ok(rows),
        Some(row) => {
            let reason = format!(
                "the interval from cycle {} has {} cycles, more than can be counted: the table is damaged",
                row.start, row.length
            );
            Err(ResultsError::new(path, reason))
        }
    }
}

fn rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, ResultsError> {
    let text = read_text(path)?;
    if text.is_empty() {
        return Err(ResultsError::new(path, "is damaged: it is empty"));
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().collect::<Result<Vec<T>, _>>();
    rows.map_err(|cause| {
        ResultsError::new(
            path,
            format!("is damaged or of another version of Virtlane: {cause}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_from_hosts() {
        let channel = |from: &str, to: &str| ChannelUse {
            from: from.into(),
            to: to.into(),
            utilisation: 0.0,
        };
        let between = channel("leaf 1 port 3", "spine port 12");
        assert_eq!((between.source(), between.target()), ("leaf 1", "spine"));
        assert!(!between.is_of_host());
        assert!(channel("node port x", "S0 port 1").is_of_host());
    }

    #[test]
    fn shares_that_cannot_be_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("channels.csv");
        for share in ["NaN", "inf", "-0.25"] {
            let row = format!("channel,from,to,utilisation [fraction]\n0,A,B port 1,{share}\n");
            std::fs::write(&path, row).unwrap();
            let error = channels(&path).expect_err("damaged").to_string();
            assert!(error.contains("channel 0 carries flits in"), "{error}");
        }
    }

    #[test]
    fn channels_out_of_order_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("channels.csv");
        let read = |numbers: &[u64]| {
            let rows = numbers
                .iter()
                .map(|number| format!("{number},A,B port 1,0.25\n"));
            let header = String::from("channel,from,to,utilisation [fraction]\n");
            std::fs::write(&path, header + &rows.collect::<String>()).unwrap();
            channels(&path)
        };
        let found = read(&[0, 0, 1]).unwrap();
        let found: Vec<f64> = found.iter().map(|channel| channel.utilisation).collect();
        assert_eq!(found, [0.5, 0.25]);
        for wrong in [&[1][..], &[0, 2], &[0, 1, 0], &[u64::MAX], &[0, u64::MAX]] {
            let error = read(wrong).expect_err("damaged").to_string();
            assert!(error.contains("out of order"), "{wrong:?}: {error}");
        }
    }
}
