//! `virtlane watch`: every event of one packet, or of one flow.

use super::args::{Format, Input};
use super::signals::Signals;
use crate::error::{Error, SIMULATION_FAULT};
use crate::ids::HostId;
use crate::measure::packet_id;
use crate::registry::unknown;
use crate::run::Settings;
use crate::run::watch::{
    Event, FlowEvent, FlowStory, PacketName, Story, WatchError, watch, watch_flow,
};
use crate::scenario::{Parts, Resolved};
use clap::{ArgGroup, Args};
use serde::Serialize;
use std::fmt::{Debug, Write};
use std::process::ExitCode;

/// Arguments of `watch`.
#[derive(Args, Clone, Debug)]
#[command(
    group(ArgGroup::new("what").required(true).args(["packet", "flow"])),
    after_help = "Examples:\n  virtlane watch study.ron --packet 12/bulk/345\n  virtlane watch study.ron --flow 7 --from 1000 \
                  --until 2000\n\nThe packet 345 (from 0) that host 12 makes in class `bulk`; the flow with the id 7. The \
                  columns `packet` and `flow` of packets.csv have these names: `virtlane run study.ron --set \
                  observe.packets=All`; flows.csv has every flow."
)]
pub struct Watch {
    #[command(flatten)]
    pub input: Input,
    /// The packet: HOST/CLASS/NUMBER, as in packets.csv; the class by name or number
    #[arg(long, value_name = "ID")]
    pub packet: Option<String>,
    /// The flow: its id, as in flows.csv
    #[arg(long, value_name = "ID", value_parser = flow)]
    pub flow: Option<u32>,
    /// First cycle that is told, of a flow
    #[arg(long, value_name = "CYCLE", conflicts_with = "packet")]
    pub from: Option<u64>,
    /// Cycle from which nothing is told, of a flow; default: until all of it is delivered, or the measurement ends
    #[arg(long, value_name = "CYCLE", conflicts_with = "packet")]
    pub until: Option<u64>,
    /// Worker threads; default: one per core. Events do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Parts the fabric is cut into. Events do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub shards: Option<u32>,
    /// Form of the result on standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The id of a flow.
fn flow(text: &str) -> Result<u32, String> {
    let expected =
        "expected the id of a flow: a number from 0, as in the column `flow` of flows.csv";
    text.parse().map_err(|_| String::from(expected))
}

/// Runs the scenario until the packet or the flow is delivered, and tells its events.
///
/// # Errors
/// When the scenario is wrong, never makes the packet or has no such flow.
pub(super) fn execute(arguments: &Watch) -> Result<ExitCode, Error> {
    let cycles = arguments.from.unwrap_or(0)..arguments.until.unwrap_or(u64::MAX);
    if cycles.is_empty() {
        let (from, until) = (cycles.start, cycles.end);
        return Err(Error::Usage(format!(
            "--until: {until} is not after the first cycle that is told, {from}"
        )));
    }
    let resolved = arguments.input.open()?.resolve(&Parts::registered())?;
    let settings = Settings {
        threads: arguments.threads.map(|threads| threads as usize),
        shards: arguments.shards.map(|shards| shards as usize),
        ..Settings::default()
    };
    let signals = Signals::listen();
    let stop = signals.stop();
    let told = match (&arguments.packet, arguments.flow) {
        (_, Some(id)) => watch_flow(&resolved, id, cycles, settings, stop).map(Told::Flow),
        (name, None) => {
            let name = name.as_deref().unwrap_or_default();
            let name = packet(name, &resolved).map_err(Error::Usage)?;
            watch(&resolved, name, settings, stop).map(Told::Packet)
        }
    };
    let told = match told {
        Ok(told) => told,
        Err(WatchError::Stopped(cycle)) => {
            super::note(&format!("stopped at cycle {cycle}"));
            return Ok(signals.code().unwrap_or(ExitCode::FAILURE));
        }
        Err(WatchError::Threads(cause)) => return Err(Error::Fault(cause.to_string())),
        Err(error) => {
            let key = arguments.flow.map_or("--packet", |_| "--flow");
            return Err(Error::Usage(format!("{key}: {error}")));
        }
    };
    match arguments.format {
        Format::Human => super::print(&told.table())?,
        Format::Json => {
            let text = serde_json::to_string_pretty(&told);
            let text = text.map_err(|cause| Error::Fault(cause.to_string()))?;
            super::print(&(text + "\n"))?;
        }
    }
    if let Some(note) = told.note() {
        super::note(&note);
    }
    Ok(if told.is_stuck() {
        super::complain("deadlock: `virtlane run` tells who waits for whom");
        ExitCode::from(SIMULATION_FAULT)
    } else {
        ExitCode::SUCCESS
    })
}

/// What is told.
#[derive(Serialize)]
#[serde(untagged)]
enum Told {
    Packet(Story),
    Flow(FlowStory),
}

impl Told {
    fn is_stuck(&self) -> bool {
        match self {
            Self::Packet(story) => story.is_stuck,
            Self::Flow(story) => story.is_stuck,
        }
    }

    /// What has not happened.
    fn note(&self) -> Option<String> {
        match self {
            Self::Packet(story) => {
                let is_over = story.delivered.is_some() || story.dropped.is_some();
                let is_there = !is_over && story.destination.is_some();
                let cycles = story.cycles;
                is_there.then(|| format!("the packet is not delivered after {cycles} cycles"))
            }
            Self::Flow(story) => {
                let is_left = story.size.is_some() && story.complete.is_none();
                let (cycles, dropped) = (story.cycles, story.dropped);
                let lost = lost(dropped);
                is_left.then(|| format!("the flow is not complete after {cycles} cycles{lost}"))
            }
        }
    }

    /// As lines for people.
    fn table(&self) -> String {
        match self {
            Self::Packet(story) => {
                let id = packet_id(story.source, &story.class, story.sequence);
                let heading = ["cycle", "event", "where", ""].map(String::from);
                let rows = story.events.iter().map(packet_cells);
                format!("packet {id}\n\n{}", lines(heading, rows))
            }
            Self::Flow(story) => {
                let (id, class) = (story.flow, &story.class);
                let (from, to) = (story.source, story.destination);
                let heading = ["cycle", "event", "packet", "where", ""].map(String::from);
                let rows = story.events.iter().map(flow_cells);
                let title = format!("flow {id} of class {class}, host {from} to host {to}");
                format!("{title}\n\n{}", lines(heading, rows))
            }
        }
    }
}

fn packet_cells(event: &Event) -> [String; 4] {
    [
        cycles(event.cycle, event.until),
        name(event.event),
        place(&event.place, event.lane),
        event.detail.clone(),
    ]
}

fn flow_cells(event: &FlowEvent) -> [String; 5] {
    [
        cycles(event.cycle, event.until),
        name(event.event),
        event.packet.clone().unwrap_or_default(),
        place(&event.place, event.lane),
        event.detail.clone(),
    ]
}

fn cycles(first: u64, last: u64) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}-{last}")
    }
}

fn name(event: impl Debug) -> String {
    format!("{event:?}").to_lowercase()
}

fn place(place: &str, lane: Option<u8>) -> String {
    let lane = lane.map_or(String::new(), |lane| format!(" lane {lane}"));
    format!("{place}{lane}")
}

/// What was dropped of a flow, behind what has not happened; nothing where nothing was.
fn lost(dropped: u64) -> String {
    match dropped {
        0 => String::new(),
        1 => String::from(": 1 packet of it was dropped"),
        _ => format!(": {dropped} packets of it were dropped"),
    }
}

/// Columns as wide as what is in them.
fn lines<const N: usize>(heading: [String; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N - 1).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, &width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        line += &row[N - 1];
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The packet that `text` names.
fn packet(text: &str, resolved: &Resolved) -> Result<PacketName, String> {
    let form = || format!("--packet: `{text}` is not HOST/CLASS/NUMBER, such as `12/bulk/345`");
    let (host, rest) = text.split_once('/').ok_or_else(form)?;
    let (class, number) = rest.rsplit_once('/').ok_or_else(form)?;
    let source: u32 = host.parse().map_err(|_| form())?;
    let sequence: u64 = number.parse().map_err(|_| form())?;
    let hosts = resolved.layout.graph.hosts().len();
    if source as usize >= hosts {
        let last = hosts - 1;
        return Err(format!(
            "--packet: there is no host {source}, expected 0 to {last}"
        ));
    }
    let names = || {
        resolved
            .plan
            .classes
            .iter()
            .map(|class| class.name.as_str())
    };
    let by_name = names().position(|name| name == class);
    let by_number = class
        .parse()
        .ok()
        .filter(|number| *number < names().count());
    let Some(class) = by_name.or(by_number) else {
        return Err(format!(
            "--packet: {}",
            unknown("traffic class", class, names())
        ));
    };
    Ok(PacketName {
        source: HostId(source),
        class: class as u16,
        sequence,
    })
}

#[cfg(test)]
mod tests {
    use super::lost;

    #[test]
    fn one_packet_is_one() {
        assert_eq!(lost(0), "");
        assert_eq!(lost(1), ": 1 packet of it was dropped");
        assert_eq!(lost(2), ": 2 packets of it were dropped");
    }
}
