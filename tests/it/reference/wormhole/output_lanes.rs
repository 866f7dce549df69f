//! Buffers of single flits between crossbar and channel, one for each lane of an output (D79).

use crate::reference::lane_choice::LaneChooser;
use crate::reference::legacy_tables::Size;
use crate::reference::link::{Link, Moving};
use crate::reference::output_lanes::channel_chooser;
use crate::reference::packet::Flit;
use virtlane::plan::SwitchOptions;

/// A lane of an output.
#[derive(Clone, Debug, Default)]
struct FlitLane {
    /// Flits that have passed and not taken the channel, the oldest first, with the cycles in which they passed.
    flits: Vec<(Flit, u64)>,
    /// Cycle in which the last one passed.
    last: Option<u64>,
}

/// All lanes of an output, and its channel.
#[derive(Debug)]
pub(in crate::reference) struct FlitLanes {
    /// Flits that each lane holds.
    places: usize,
    /// Of the channel, and of the crossbar to each lane.
    cycles_per_flit: u64,
    crossbar_delay: u64,
    lanes: Vec<FlitLane>,
    /// Lane choice of the channel.
    chooser: LaneChooser,
    /// Cycle from which on the channel is free.
    free_at: u64,
}

impl FlitLanes {
    pub(in crate::reference) fn new(options: &SwitchOptions, cycles_per_flit: u64) -> Self {
        assert_eq!(options.output_buffer, 0, "D18");
        Self {
            places: options.output_lane_buffer as usize,
            cycles_per_flit,
            crossbar_delay: options.crossbar_delay.into(),
            lanes: vec![FlitLane::default(); usize::from(options.lane_count())],
            chooser: channel_chooser(options),
            free_at: 0,
        }
    }

    /// Whether the crossbar side of a lane is free, and the lane has room.
    pub(super) fn is_open(&self, lane: usize, now: u64) -> bool {
        let lane = &self.lanes[lane];
        let is_free = lane
            .last
            .is_none_or(|last| last + self.cycles_per_flit <= now);
        is_free && lane.flits.len() < self.places
    }

    /// A flit passes the crossbar.
    pub(in crate::reference) fn store(&mut self, lane: usize, flit: Flit, now: u64) {
        assert!(self.is_open(lane, now), "D79: room, and a crossbar side");
        let lane = &mut self.lanes[lane];
        lane.last = Some(now);
        lane.flits.push((flit, now));
    }

    /// The channel's stage: a free one takes a flit; returns whether it did.
    pub(in crate::reference) fn send(
        &mut self,
        link: &mut Link,
        flit_bytes: u32,
        now: u64,
    ) -> bool {
        if now < self.free_at {
            return false;
        }
        let is_past = |&(_, passed): &(Flit, u64)| passed + self.crossbar_delay <= now;
        let lanes = self.lanes.iter();
        let eligible: Vec<bool> = lanes
            .map(|lane| lane.flits.first().is_some_and(is_past))
            .collect();
        let Some(choice) = self.chooser.choose(&eligible) else {
            return false;
        };
        self.chooser.accepted(choice, Size::new(1, flit_bytes));
        let (flit, passed) = self.lanes[choice.lane].flits.remove(0);
        let late = link.start(choice.lane, 1, now);
        link.hand_over(Moving {
            flit,
            lane: choice.lane,
            past_crossbar: passed + self.crossbar_delay,
            crosses: now,
            late,
        });
        self.free_at = now + self.cycles_per_flit + late;
        true
    }

    /// Flits that have passed and not taken the channel, of a lane.
    pub(super) fn waiting(&self, lane: usize) -> usize {
        self.lanes[lane].flits.len()
    }

    /// All of them.
    pub(in crate::reference) fn flits(&self) -> impl Iterator<Item = Flit> {
        let flits = self.lanes.iter().flat_map(|lane| &lane.flits);
        flits.map(|&(flit, _)| flit)
    }
}
