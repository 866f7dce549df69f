//! Section `switch`: buffers, allocation, delays, flow control.

use super::values::{Read, amount, automatic, boolean, one_of, small, time};
use super::{Claims, Dropping, Marks, Qos, presets};
use crate::ids::MOST_LANES;
use crate::plan::{
    Allocation, BufferSharing, Forwarding, InputSpeedup, InputTurns, Matching, OutputArbitration,
    Queues, SwitchOptions,
};
use crate::scenario::print::Printer;
use crate::scenario::resolve::quantity::{buffer, delay};
use crate::scenario::syntax::parser::parse;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::units::{Amount, Clock, Time};
use BufferSharing::{PerLane, PortPool};
use Forwarding::{CutThrough, StoreAndForward, Wormhole};
use InputTurns::{Flits, Packets};
use Matching::{InputFirst, OutputFirst};
use OutputArbitration::{FirstComeFirstServed, OldestFirst, Random, RoundRobin};
use Queues::{Fifo, Voq};

section! {
    /// The switch: buffers, allocation, delays, flow control.
    Switch = "switch" in "fabric.switch" {
        /// Values of a whole switch for all keys that are not written beside it (`virtlane list switch`); `switch: Preset(NAME)` is short for `(preset: NAME)`
        preset: Option<&'static str> = presets::name, "None | Ethernet51T | FlitRouter | InfiniBandNdr" or None;
        /// Data lanes (virtual lanes) of every channel; InfiniBand requires 1 and has at most 15
        lanes: At<u8> = small(1, MOST_LANES), "integer 1..=32" or "1";
        /// Buffer of a lane, or of the port's pool; must hold the largest packet, unless `forwarding` is `Wormhole`
        lane_capacity: At<Amount> = amount, "size";
        /// One FIFO per lane, or one queue per (lane, output) in the same space
        queues: At<Queues> = one_of(&[Fifo, Voq]), "Fifo | Voq" or "Fifo";
        /// Each lane has `lane_capacity`, or all lanes of a port share one pool of that size
        sharing: At<BufferSharing> = one_of(&[PerLane, PortPool]), "PerLane | PortPool" or "PerLane";
        /// Packets that may leave an input port at the same time
        input_speedup: At<InputSpeedup> = speedup, "integer >= 1 | Unlimited" or "1";
        /// Buffer of each output; 0 = none
        output_buffer: At<Amount> = amount, "size" or "\"0 flits\"";
        /// Buffer of each lane of an output, with VL arbitration of the link behind it; 0 = none
        output_lane_buffer: At<Amount> = amount, "size" or "\"0 flits\"";
        /// Who chooses first in the separable allocation; VL arbitration acts there
        matching: At<Matching> = one_of(&[OutputFirst, InputFirst]), "OutputFirst | InputFirst" or "OutputFirst";
        /// Rounds of the allocation per cycle
        iterations: u8 = small(1, 255), "integer 1..=255" or "1";
        /// Packets that have waited for more than a time for an output, at most for twice as long, are served before all
        /// others; Every(time) = from look to look at who has waited, Auto = Every("65536 cycles") where it goes (not with
        /// wormhole switching, VL tables, VL15, output lanes smaller than a packet), Off = all take their turns
        claims: At<Claims> = Claims::read, "Auto | Every(time, at least 1 cycle) | Off" or "Auto";
        /// Choice among the requests of one output lane
        output_arbitration: At<OutputArbitration> =
            one_of(&[RoundRobin, FirstComeFirstServed, OldestFirst, Random]),
            "RoundRobin | FirstComeFirstServed | OldestFirst | Random" or "RoundRobin";
        /// A round-robin winner that does not fit the credits keeps its turn; without it small packets may overtake
        reserve: At<bool> = boolean, "true | false" or "false";
        /// When a packet may leave; Wormhole = flit by flit, lanes take turns with single flits
        forwarding: At<Forwarding> =
            one_of(&[CutThrough, StoreAndForward, Wormhole]), "CutThrough | StoreAndForward | Wormhole" or "CutThrough";
        /// With what the lanes of an input take turns in the crossbar, with `forwarding: Wormhole`; Packets = each keeps the input to its last flit
        input_turns: At<InputTurns> = one_of(&[Flits, Packets]), "Flits | Packets" or "Flits";
        /// Route computation, from a header's arrival to its request
        routing_delay: At<Time> = time, "time" or "\"1 cycles\"";
        /// Allocation pipeline, added to the routing delay
        allocation_delay: At<Time> = time, "time" or "\"0 cycles\"";
        /// From grant to channel; the three delays add up to at least 1 cycle
        crossbar_delay: At<Time> = time, "time" or "\"0 cycles\"";
        /// Credit return; Auto = latency of the opposite channel
        credit_latency: Option<At<Time>> = automatic, "Auto | time, at least 1 cycle" or "Auto";
        /// Congestion marking (FECN) at outputs
        marking: Option<At<Marks>> = Marks::read, "section | InfiniBand(...) | Ecn(...)" or None;
        /// Packets that switches drop
        drop: Option<At<Dropping>> = Dropping::read, "section" or None;
    }
}

impl Default for SwitchOptions {
    /// A switch of which nothing is written but lanes of 16 flits: what the documented defaults mean in the plan. Nobody
    /// looks at heads that wait, which does not go with everything (D72).
    ///
    /// # Panics
    /// Never: tests read all defaults.
    fn default() -> Self {
        let [switch, qos] = ["(lane_capacity: \"16 flits\", claims: Off)", "()"]
            .map(|text| parse(text, 0).expect("the text is a section"));
        let item = |node| Item {
            node,
            path: String::new(),
        };
        // any clock will do: the defaults are flits and cycles
        let clock = Clock {
            flit_bytes: 64,
            reference_rate: 100_000_000_000,
        };
        let read = Switch::read(&item(&switch)).and_then(|switch| {
            let qos = Qos::read(&item(&qos))?;
            switch.plan(&qos, clock)
        });
        read.expect("the documented defaults go together")
    }
}

fn speedup(item: &Item<'_>) -> Read<InputSpeedup> {
    if item.is_word("Unlimited") {
        return Ok(InputSpeedup::Unlimited);
    }
    item.integer(1..=u64::from(u16::MAX))
        .map(|value| InputSpeedup::Limited(value as u16))
        .map_err(|_| item.unexpected("a whole number from 1 to 65535 or `Unlimited`"))
}

impl Switch {
    /// Reads the section, with the values of its preset.
    pub(super) fn of(item: &Item<'_>) -> Read<Self> {
        let filled = presets::filled(item)?;
        let node = filled.as_ref().unwrap_or(item.node);
        Self::read(&Item {
            node,
            path: item.path.clone(),
        })
    }

    /// Options that others need.
    pub(in crate::scenario) fn check(&self, qos: &Qos) -> Result<(), Mistake> {
        if self.input_turns.value == Packets && self.forwarding.value != Wormhole {
            return Err(self.input_turns.mistake(
                "`Packets` goes with `forwarding: Wormhole` only: packets that travel as units take turns as such anyway",
            ));
        }
        Claims::check(self, qos)
    }

    /// The options in cycles and flits.
    pub(in crate::scenario) fn plan(
        &self,
        qos: &Qos,
        clock: Clock,
    ) -> Result<SwitchOptions, Mistake> {
        let options = SwitchOptions {
            lanes: self.lanes.value,
            management_lane: qos.management_lane.value,
            lane_capacity: buffer(&self.lane_capacity, clock, 1)?,
            queues: self.queues.value,
            sharing: self.sharing.value,
            input_speedup: self.input_speedup.value,
            output_buffer: buffer(&self.output_buffer, clock, 0)?,
            output_lane_buffer: buffer(&self.output_lane_buffer, clock, 0)?,
            matching: self.matching.value,
            allocation: Allocation {
                iterations: self.iterations,
                claims: Claims::plan(self, qos, clock)?,
            },
            output_arbitration: self.output_arbitration.value,
            reserve: self.reserve.value,
            forwarding: self.forwarding.value,
            input_turns: self.input_turns.value,
            routing_delay: delay(&self.routing_delay, clock, 0)?,
            allocation_delay: delay(&self.allocation_delay, clock, 0)?,
            crossbar_delay: delay(&self.crossbar_delay, clock, 0)?,
            credit_latency: match &self.credit_latency {
                Some(time) => Some(delay(time, clock, 1)?),
                None => None,
            },
            vl_arbitration: qos.tables(),
            marking: match &self.marking {
                Some(marking) => Some(marking.value.plan(clock)?),
                None => None,
            },
            drop: match &self.drop {
                Some(drop) => Some(drop.value.plan(clock)?),
                None => None,
            },
        };
        if options.routing_delay + options.allocation_delay + options.crossbar_delay == 0 {
            return Err(self.routing_delay.mistake(
                "routing, allocation and crossbar delay are all 0 cycles: expected at least 1 in total",
            ));
        }
        Ok(options)
    }

    /// The section with the values of the plan.
    pub(super) fn print(printer: &mut Printer, switch: &SwitchOptions) {
        printer.key("lanes", switch.lanes);
        printer.flits("lane_capacity", switch.lane_capacity);
        printer.key("queues", format_args!("{:?}", switch.queues));
        printer.key("sharing", format_args!("{:?}", switch.sharing));
        match switch.input_speedup {
            InputSpeedup::Limited(packets) => printer.key("input_speedup", packets),
            InputSpeedup::Unlimited => printer.key("input_speedup", "Unlimited"),
        }
        printer.flits("output_buffer", switch.output_buffer);
        printer.flits("output_lane_buffer", switch.output_lane_buffer);
        printer.key("matching", format_args!("{:?}", switch.matching));
        printer.key("iterations", switch.allocation.iterations);
        printer.key("claims", Claims::print(switch.allocation.claims));
        printer.key(
            "output_arbitration",
            format_args!("{:?}", switch.output_arbitration),
        );
        printer.key("reserve", switch.reserve);
        printer.key("forwarding", format_args!("{:?}", switch.forwarding));
        printer.key("input_turns", format_args!("{:?}", switch.input_turns));
        printer.cycles("routing_delay", switch.routing_delay);
        printer.cycles("allocation_delay", switch.allocation_delay);
        printer.cycles("crossbar_delay", switch.crossbar_delay);
        match switch.credit_latency {
            Some(cycles) => printer.cycles("credit_latency", cycles),
            None => printer.key("credit_latency", "Auto"),
        }
        printer.or_none("marking", switch.marking.map(Marks::print));
        printer.or_none("drop", switch.drop.as_ref().map(Dropping::print));
    }
}
