//! Sections `qos` and `vl_arbitration`: lanes, their tables and VL15.

use super::values::{Read, boolean, one_of, small, whole};
use crate::ids::{INFINIBAND_LANES, MOST_LANES};
use crate::qos::VlArbitrationTables;
use crate::qos::vl_arbitration::{Accept, HighPriorityLimit, Places, Rules, Unit};
use crate::scenario::print::Printer;
use crate::scenario::syntax::{At, Item, Mistake};

/// Most entries of an arbitration table.
const MOST_ENTRIES: usize = 64;

section! {
    /// Quality of service.
    Qos = "qos" in "qos" {
        /// VL arbitration tables; None = round robin over lanes
        vl_arbitration: Option<At<VlArbitration>> = VlArbitration::read, "section" or None;
        /// Whether VL15 exists; it goes before all other lanes, beside an engine without forwarding tables by those of `UpDown()`
        management_lane: At<bool> = boolean, "true | false" or "false";
    }
}

section! {
    /// InfiniBand's two weighted round-robin tables.
    VlArbitration = "vl_arbitration" in "qos.vl_arbitration" {
        /// High-priority table; weight 0..=255 in units of 64 bytes, or what `unit` says
        high: Vec<(u8, u8)> = entries, "list of (lane, weight)" or "[]";
        /// Low-priority table
        low: Vec<(u8, u8)> = entries, "list of (lane, weight)" or "[]";
        /// High-priority data between two low packets, in units of 4096 bytes, or what `unit` says; 255 = Unlimited; the
        /// default is OpenSM's
        limit_of_high_priority: HighPriorityLimit = limit, "0..=255 | Packets(n) | Unlimited" or "0";
        /// What weights and limit count; Blocks64 = InfiniBand's units
        unit: Unit = one_of(&[Unit::Blocks64, Unit::Flits, Unit::Packets]), "Blocks64 | Flits | Packets" or "Blocks64";
        /// Who chooses; Legacy = an arbiter of 2004 that loses a cycle with every reload of a table
        rules: At<Rules> = one_of(&[Rules::InfiniBand, Rules::Legacy]), "InfiniBand | Legacy" or "InfiniBand";
        /// Where switches ask the tables; InputsAndChannels = twice, with `matching: InputFirst` and `output_lane_buffer`
        places: At<Places> = one_of(&[Places::One, Places::InputsAndChannels]), "One | InputsAndChannels" or "One";
        /// Which grants inputs accept first; HighFirst = for lanes of the high table, with `matching: OutputFirst`
        accept: At<Accept> = one_of(&[Accept::InTurn, Accept::HighFirst]), "InTurn | HighFirst" or "InTurn";
    }
}

fn entries(item: &Item<'_>) -> Read<Vec<(u8, u8)>> {
    let items = item.items()?;
    if items.len() > MOST_ENTRIES {
        let count = items.len();
        return Err(item.mistake(format!(
            "{count} entries: a table has at most {MOST_ENTRIES}"
        )));
    }
    let entry = |item: &Item<'_>| {
        let pair = item.tuple(2, "an entry: expected `(lane, weight)`")?;
        Ok((
            small(0, MOST_LANES - 1)(&pair[0])?,
            small(0, 255)(&pair[1])?,
        ))
    };
    items.iter().map(entry).collect()
}

fn limit(item: &Item<'_>) -> Read<HighPriorityLimit> {
    match item.variant() {
        Some(("Unlimited", None)) => Ok(HighPriorityLimit::Unlimited),
        Some(("Packets", Some(arguments))) => {
            let packets = arguments.tuple(1, "a number of packets such as `Packets(32)`")?;
            whole(1)(&packets[0]).map(HighPriorityLimit::Packets)
        }
        _ => match item.integer(0..=255) {
            Ok(255) => Ok(HighPriorityLimit::Unlimited),
            Ok(units) => Ok(HighPriorityLimit::Units(units as u8)),
            Err(_) => Err(item.unexpected(
                "a limit: expected 0 to 255 (units of 4096 bytes), `Packets(n)` or `Unlimited`",
            )),
        },
    }
}

impl Qos {
    /// VL15 and tables that do not fit the lanes.
    pub(in crate::scenario) fn check(&self, lanes: u8) -> Result<(), Mistake> {
        if self.management_lane.value && lanes > INFINIBAND_LANES {
            return Err(self.management_lane.mistake(format!(
                "`true` does not go with {lanes} lanes: VL15 stands beside at most {INFINIBAND_LANES} data lanes"
            )));
        }
        let Some(tables) = &self.vl_arbitration else {
            return Ok(());
        };
        // the legacy arbiter is of a fabric that numbered lanes as it liked
        let is_legacy = tables.value.rules.value == Rules::Legacy;
        if lanes > INFINIBAND_LANES && !is_legacy {
            return Err(tables.mistake(format!(
                "InfiniBand's tables know {INFINIBAND_LANES} data lanes, `fabric.switch.lanes` is {lanes}: \
                 lower it or leave the tables out"
            )));
        }
        let mut entries = tables.value.entries();
        if let Some((lane, _)) = entries.clone().find(|(lane, _)| *lane >= lanes) {
            return Err(tables.mistake(format!(
                "lane `{lane}` does not exist: `fabric.switch.lanes` is {lanes}, numbered from 0"
            )));
        }
        if entries.all(|(_, weight)| *weight == 0) {
            let message = "no lane has a weight above 0: nothing would ever be sent";
            return Err(tables.mistake(message));
        }
        Ok(())
    }

    /// The arbitration tables.
    pub(super) fn tables(&self) -> Option<VlArbitrationTables> {
        let written = &self.vl_arbitration.as_ref()?.value;
        Some(VlArbitrationTables {
            high: written.high.clone(),
            low: written.low.clone(),
            limit: written.limit_of_high_priority,
            unit: written.unit,
            rules: written.rules.value,
            places: written.places.value,
            accept: written.accept.value,
        })
    }

    /// The section.
    pub(super) fn print(&self, printer: &mut Printer) {
        match &self.vl_arbitration {
            Some(tables) => printer.block("vl_arbitration: (", "),", |printer| {
                tables.value.print(printer);
            }),
            None => printer.key("vl_arbitration", "None"),
        }
        printer.key("management_lane", self.management_lane.value);
    }
}

impl VlArbitration {
    /// The entries of both tables: (lane, weight).
    pub(in crate::scenario) fn entries(&self) -> impl Iterator<Item = &(u8, u8)> + Clone {
        self.high.iter().chain(&self.low)
    }

    fn print(&self, printer: &mut Printer) {
        printer.key("high", format_args!("{:?}", self.high));
        printer.key("low", format_args!("{:?}", self.low));
        let key = "limit_of_high_priority";
        match self.limit_of_high_priority {
            HighPriorityLimit::Units(units) => printer.key(key, units),
            HighPriorityLimit::Packets(packets) => {
                printer.key(key, format_args!("Packets({packets})"));
            }
            HighPriorityLimit::Unlimited => printer.key(key, "Unlimited"),
        }
        printer.key("unit", format_args!("{:?}", self.unit));
        printer.key("rules", format_args!("{:?}", self.rules.value));
        printer.key("places", format_args!("{:?}", self.places.value));
        printer.key("accept", format_args!("{:?}", self.accept.value));
    }
}
