//! `virtlane watch`: every event of one packet.

use super::args::{Format, Input};
use super::signals::Signals;
use crate::error::{Error, SIMULATION_FAULT};
use crate::ids::HostId;
use crate::registry::unknown;
use crate::report::packets::packet_id;
use crate::run::Settings;
use crate::run::watch::{Event, PacketName, Story, WatchError, watch};
use crate::scenario::{Parts, Resolved};
use clap::Args;
use std::fmt::Write;
use std::process::ExitCode;

/// Arguments of `watch`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Example:\n  virtlane watch study.ron --packet 12/bulk/345\n\nThe packet 345 (from 0) that host 12 makes in class \
                  `bulk`. The column `packet` of packets.csv has these names: `virtlane run study.ron --set \
                  observe.packets=All`."
)]
pub struct Watch {
    #[command(flatten)]
    pub input: Input,
    /// The packet: HOST/CLASS/NUMBER, as in packets.csv; the class by name or number
    #[arg(long, value_name = "ID")]
    pub packet: String,
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

/// Runs the scenario until the packet is delivered, and tells its events.
///
/// # Errors
/// When the scenario is wrong or never makes the packet.
pub(super) fn execute(arguments: &Watch) -> Result<ExitCode, Error> {
    let resolved = arguments.input.open()?.resolve(&Parts::registered())?;
    let name = packet(&arguments.packet, &resolved).map_err(Error::Usage)?;
    let settings = Settings {
        threads: arguments.threads.map(|threads| threads as usize),
        shards: arguments.shards.map(|shards| shards as usize),
        ..Settings::default()
    };
    let signals = Signals::listen();
    let story = match watch(&resolved, name, settings, signals.stop()) {
        Ok(story) => story,
        Err(WatchError::Stopped(cycle)) => {
            super::note(&format!("stopped at cycle {cycle}"));
            return Ok(signals.code().unwrap_or(ExitCode::FAILURE));
        }
        Err(WatchError::Threads(cause)) => return Err(Error::Fault(cause.to_string())),

        Err(error) => return Err(Error::Usage(format!("--packet: {error}"))),
    };
    match arguments.format {
        Format::Human => super::print(&table(&story))?,
        Format::Json => {
            let text = serde_json::to_string_pretty(&story);
            let text = text.map_err(|cause| Error::Fault(cause.to_string()))?;
            super::print(&(text + "\n"))?;
        }
    }
    let is_over = story.delivered.is_some() || story.dropped.is_some();
    let is_there = !is_over && story.destination.is_some();
    if is_there {
        let cycles = story.cycles;
        super::note(&format!(
            "the packet is not delivered after {cycles} cycles"
        ));
    }
    Ok(if story.is_stuck {
        super::complain("deadlock: `virtlane run` tells who waits for whom");
        ExitCode::from(SIMULATION_FAULT)
    } else {
        ExitCode::SUCCESS
    })
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

/// The story as lines for people.
fn table(story: &Story) -> String {
    let id = packet_id(story.source, &story.class, story.sequence);
    let mut text = format!("packet {id}\n\n");
    let cells = |event: &Event| {
        let cycles = if event.until == event.cycle {
            event.cycle.to_string()
        } else {
            format!("{}-{}", event.cycle, event.until)
        };
        let lane = event
            .lane
            .map_or(String::new(), |lane| format!(" lane {lane}"));
        let name = format!("{:?}", event.event).to_lowercase();
        [
            cycles,
            name,
            format!("{}{lane}", event.place),
            event.detail.clone(),
        ]
    };
    let heading = ["cycle", "event", "where", ""].map(String::from);
    let rows: Vec<_> = [heading]
        .into_iter()
        .chain(story.events.iter().map(cells))
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    for [cycles, event, place, detail] in &rows {
        let line = format!(
            "{cycles:<0$}  {event:<1$}  {place:<2$}  {detail}",
            widths[0], widths[1], widths[2]
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
