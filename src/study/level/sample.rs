//! What a run says about the load it was offered.

use crate::report::result::{CycleCounts, TimelineRow};
use crate::study::shortfall::HostFlits;

/// Rows of the timeline that it takes to tell a half of the measurement from the other.
const FEWEST_ROWS: usize = 4;

/// What one run says about a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Offered load \[fraction of link rate\].
    pub offered: f64,
    /// Accepted load \[fraction of link rate\].
    pub accepted: f64,
    /// Growth of the source queues, part of the packets created.
    pub growth: f64,
    /// Growth of the packets in the fabric between the halves of the measurement, part of those in the first.
    pub growth_inside: f64,
    /// Of every host.
    pub hosts: Vec<HostFlits>,
    /// Whether it deadlocked.
    pub is_deadlocked: bool,
    /// Whether its measurement was cut short because it was certainly overloaded.
    pub is_cut: bool,
}

/// Growth of the packets in the fabric between the halves of the measurement, part of those in the first; 0 where there
/// are too few rows to tell.
pub fn growth_inside(timeline: &[TimelineRow], cycles: CycleCounts) -> f64 {
    let end = cycles.warmup + cycles.measure;
    let is_measured =
        |row: &&TimelineRow| cycles.warmup <= row.start && row.start + row.length <= end;
    let rows = timeline.iter().filter(is_measured);
    let inside: Vec<f64> = rows.map(|row| row.in_flight_packets as f64).collect();
    let half = inside.len() / 2;
    let early: f64 = inside[..half].iter().sum();
    let late: f64 = inside[inside.len() - half..].iter().sum();
    if half < FEWEST_ROWS || early == 0.0 {
        return 0.0;
    }
    late / early - 1.0
}
