//! One output of a switch: when it can be granted, and its pointers.
//!
//! Model rules 2 (holding), 10 and D10 (output buffer), D2 (crossbar delay), D18 and D79 (output lanes), D74 (what keeps the channel).

use super::Setting;
use super::lane_choice::LaneChooser;
use super::marking::Marks;
use super::output_lanes::OutputLanes;
use super::packet::{Flit, PacketId};
use super::wormhole::FlitLanes;
use virtlane::ids::ChannelId;
use virtlane::plan::{Forwarding, SwitchOptions};
use virtlane::rng::{Purpose, Stream, stream};

/// An output port.
#[derive(Debug)]
pub(super) struct Output {
    /// Outgoing channel.
    pub(super) channel: usize,
    pub(super) cycles_per_flit: u64,
    /// Without an output buffer: cycle from which it can be granted (rule 2). With one: cycle from which
    /// the channel is free (D10).
    free_at: u64,
    granted_at: Option<u64>,
    /// D18, when there are output lanes.
    pub(super) lanes: Option<OutputLanes>,
    /// D79, when there are output lanes and flits go one by one.
    pub(super) flit_lanes: Option<FlitLanes>,
    /// D6: lane pointer of the output, or its VL tables.
    pub(super) chooser: LaneChooser,
    /// D6, by inputs: next input.
    pub(super) input_pointer: usize,
    /// D6, by inputs: next input lane per input.
    pub(super) input_lane_pointers: Vec<usize>,
    /// D7: next (input, lane) per output lane.
    pub(super) request_pointers: Vec<usize>,
    /// D8: next (input, lane) among the proposals of inputs.
    pub(super) proposal_pointer: usize,
    /// Random arbitration.
    pub(super) stream: Stream,
    /// D37, D38.
    pub(super) marks: Marks,
}

impl Output {
    /// The output to `channel` of a switch with so many input ports.
    pub(super) fn new(setting: Setting<'_>, channel: ChannelId, inputs: usize) -> Self {
        let options = &setting.plan.switch;
        let timing = setting.graph.channel(channel).timing;
        let cycles_per_flit = u64::from(timing.cycles_per_flit);
        let has_lanes = options.output_lane_buffer > 0;
        let single = has_lanes && options.forwarding == Forwarding::Wormhole;
        Self {
            channel: channel.index(),
            cycles_per_flit,
            free_at: 0,
            granted_at: None,
            chooser: if has_lanes {
                // VL tables act at the channel
                LaneChooser::round_robin(options)
            } else {
                LaneChooser::new(options)
            },
            lanes: OutputLanes::new(options, cycles_per_flit),
            flit_lanes: single.then(|| FlitLanes::new(options, cycles_per_flit)),
            input_pointer: 0,
            input_lane_pointers: vec![0; inputs],
            request_pointers: vec![0; usize::from(options.lane_count())],
            proposal_pointer: 0,
            stream: stream(
                setting.plan.seed,
                Purpose::Arbitration,
                u64::from(channel.0),
            ),
            marks: Marks::new(setting, channel),
        }
    }

    /// Whether it can be granted now (rules 2 and 10, D10).
    pub(super) fn is_open(&self, now: u64, options: &SwitchOptions) -> bool {
        if options.output_lane_buffer > 0 {
            return self.granted_at != Some(now);
        }
        let ahead = u64::from(options.output_buffer) * self.cycles_per_flit;
        now + ahead >= self.free_at && self.granted_at != Some(now)
    }

    /// D18: whether the output lane is open for `size` flits now.
    pub(super) fn takes(&self, lane: usize, size: u16) -> bool {
        let lanes = self.lanes.as_ref();
        lanes.is_none_or(|lanes| lanes.is_open(lane, size))
    }

    /// D79: a flit passes the crossbar to its output lane.
    pub(super) fn store_flit(&mut self, lane: usize, flit: Flit, now: u64) {
        self.granted_at = Some(now);
        let lanes = self.flit_lanes.as_mut().expect("output lanes");
        lanes.store(lane, flit, now);
    }

    /// Grants `lane` to a packet of that many flits now, which keeps the channel for what it is late by (D74); returns when
    /// the first crosses the channel (D2, D10), `None` when that is not known yet (D18).
    pub(super) fn grant(
        &mut self,
        options: &SwitchOptions,
        lane: usize,
        (packet, size): (PacketId, u16),
        delay: u64,
        now: u64,
    ) -> Option<u64> {
        self.granted_at = Some(now);
        if let Some(lanes) = &mut self.lanes {
            lanes.expect(lane, packet, size, now);
            return None;
        }
        let through = now + u64::from(options.crossbar_delay);
        let length = u64::from(size) * self.cycles_per_flit;
        if options.output_buffer == 0 {
            self.free_at = now + length + delay;
            return Some(through);
        }
        let start = through.max(self.free_at);
        self.free_at = start + length + delay;
        Some(start)
    }
}
