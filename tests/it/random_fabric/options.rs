//! Random options of switches and hosts.

use super::Dice;
use virtlane::plan::{
    Allocation, BufferSharing, Forwarding, HostOptions, InputSpeedup, Marking, Matching,
    OutputArbitration, Queues, SwitchOptions, Victims,
};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::{Accept, HighPriorityLimit, Places, Rules, Unit};
use virtlane::routing::adaptive::Selection;

/// Takes away what D20 excludes with open engines, `reserve`, and VOQ, which `standing` draws for them (D84).
pub(super) fn allow_adaptive(options: &mut SwitchOptions, selection: Selection) {
    if selection == Selection::Open {
        options.queues = Queues::Fifo;
        options.reserve = false;
    }
}

/// D70, D71: tables are at one place but with input-first matching and output lanes, and inputs accept in turn but with
/// output-first matching and a limited speed-up.
pub(super) fn settle_tables(options: &mut SwitchOptions) {
    let Some(tables) = &mut options.vl_arbitration else {
        return;
    };
    let input_first = options.matching == Matching::InputFirst;
    if !input_first || options.output_lane_buffer == 0 {
        tables.places = Places::One;
    }
    if input_first || options.input_speedup == InputSpeedup::Unlimited {
        tables.accept = Accept::InTurn;
    }
}

/// Which options of switches and hosts are drawn; the cycle is compiled for such families.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// None: what the fast path has.
    Plain,
    /// Rounds of matching; all families below have them, too.
    Rounds,
    Arbitration,
    Speedup,
    /// VOQ, with arbitration and speed-up.
    Voq,
    /// Buffers behind the crossbar, with arbitration and speed-up.
    Buffers,
    All,
}

impl Family {
    /// One of those between nothing and everything.
    pub(super) fn single(dice: &mut Dice) -> Self {
        dice.pick(&[
            Self::Rounds,
            Self::Arbitration,
            Self::Speedup,
            Self::Voq,
            Self::Buffers,
        ])
    }

    /// Whether VL15 goes with it.
    pub(super) fn may_have_vl15(self) -> bool {
        matches!(self, Self::Plain | Self::All)
    }

    /// What the family has of options in any combination.
    fn of(self, all: SwitchOptions) -> SwitchOptions {
        let (default, all) = (SwitchOptions::default(), &all);
        let pick = |families: &[Self]| {
            if families.contains(&self) {
                all
            } else {
                &default
            }
        };
        let crossbar = [Self::Voq, Self::Buffers];
        let arbitration = pick(&[&crossbar[..], &[Self::Arbitration]].concat());
        let buffers = pick(&[Self::Buffers]);
        SwitchOptions {
            matching: arbitration.matching,
            output_arbitration: arbitration.output_arbitration,
            reserve: arbitration.reserve,
            vl_arbitration: arbitration.vl_arbitration.clone(),
            input_speedup: pick(&[&crossbar[..], &[Self::Speedup]].concat()).input_speedup,
            output_buffer: buffers.output_buffer,
            output_lane_buffer: buffers.output_lane_buffer,
            queues: match self {
                Self::Voq => Queues::Voq,
                _ => Queues::Fifo,
            },
            sharing: default.sharing,
            forwarding: default.forwarding,
            input_turns: default.input_turns,
            management_lane: false,
            ..all.clone()
        }
    }
}

/// Slow sinks with all options only.
pub(super) fn host_options(dice: &mut Dice, family: Family) -> HostOptions {
    let all = family == Family::All;
    HostOptions {
        sink_cycles_per_flit: (all && dice.chance(25)).then(|| dice.between(1, 4)),
        source_queue: dice.chance(30).then(|| dice.between(1, 5)),
        ..HostOptions::default()
    }
}

/// Lanes, buffer space and delays as they come; at least one cycle of delay. Everything else is what a scenario has
/// that does not name it.
fn plain_options(dice: &mut Dice, lanes: u8, largest: u16) -> SwitchOptions {
    let largest = u32::from(largest);
    let mut options = SwitchOptions {
        lanes,
        lane_capacity: dice.pick(&[largest, largest + 1, 2 * largest, 4 * largest]),
        routing_delay: dice.between(0, 3),
        allocation_delay: dice.pick(&[0, 0, 1, 2]),
        crossbar_delay: dice.pick(&[0, 0, 1, 3]),
        credit_latency: None,
        ..SwitchOptions::default()
    };
    if options.routing_delay + options.allocation_delay + options.crossbar_delay == 0 {
        options.routing_delay = 1;
    }
    if dice.chance(50) {
        let longest = dice.pick(&[5, 5, 5, 40]);
        options.credit_latency = Some(dice.between(1, longest));
    }
    options
}

/// The options of a family.
pub(super) fn family_options(
    dice: &mut Dice,
    lanes: u8,
    management_lane: bool,
    largest: u16,
    family: Family,
) -> SwitchOptions {
    let mut options = match family {
        Family::Plain => SwitchOptions {
            management_lane,
            ..plain_options(dice, lanes, largest)
        },
        Family::All => switch_options(dice, lanes, management_lane, largest),
        family => family.of(switch_options(dice, lanes, false, largest)),
    };
    settle_tables(&mut options);
    options
}

/// Options in every combination that D1-D18 and D54 allow: unlimited speed-up and `reserve` not with
/// input-first, `reserve` not with random arbitration, no VL15 with a pool, one kind of output buffer, legacy tables in one
/// round and not with VL15. What tables do of D70 and D71 is not settled yet.
fn switch_options(
    dice: &mut Dice,
    lanes: u8,
    management_lane: bool,
    largest: u16,
) -> SwitchOptions {
    use OutputArbitration::{FirstComeFirstServed, OldestFirst, Random, RoundRobin};
    let output_arbitration = dice.pick(&[
        RoundRobin,
        RoundRobin,
        FirstComeFirstServed,
        OldestFirst,
        Random,
    ]);
    let matching = if dice.chance(30) {
        Matching::InputFirst
    } else {
        Matching::OutputFirst
    };
    let output_first = matching == Matching::OutputFirst;
    let mut options = SwitchOptions {
        management_lane,
        queues: dice.pick(&[Queues::Fifo, Queues::Fifo, Queues::Voq]),
        sharing: BufferSharing::PerLane,
        input_speedup: if output_first && dice.chance(25) {
            InputSpeedup::Unlimited
        } else {
            InputSpeedup::Limited(dice.pick(&[1, 1, 2, 3]))
        },
        output_buffer: dice.pick(&[0, 0, 0, 1, 2, 5, 16]),
        output_lane_buffer: 0,
        matching,
        allocation: Allocation::rounds(dice.pick(&[1, 1, 2, 3])),
        output_arbitration,
        reserve: output_first && output_arbitration != Random && dice.chance(25),
        forwarding: if dice.chance(25) {
            Forwarding::StoreAndForward
        } else {
            Forwarding::CutThrough
        },
        vl_arbitration: dice.chance(40).then(|| vl_tables(dice, lanes)),
        ..plain_options(dice, lanes, largest)
    };
    if !management_lane && dice.chance(20) {
        options.sharing = BufferSharing::PortPool;
    }
    if options.output_buffer == 0 {
        options.output_lane_buffer = output_lane_buffer(dice, &options, largest.into());
    }
    if dice.chance(60) {
        options.marking = Some(marking(dice, options.output_lane_buffer > 0));
    }
    if let Some(tables) = &mut options.vl_arbitration {
        tables.unit = dice.pick(&[Unit::Blocks64, Unit::Blocks64, Unit::Flits, Unit::Packets]);
        if !management_lane && dice.chance(40) {
            tables.rules = Rules::Legacy;
            options.allocation.iterations = 1;
        }
        // one draw for both: no matching allows the one and the other
        (tables.places, tables.accept) = dice.pick(&[
            (Places::One, Accept::InTurn),
            (Places::InputsAndChannels, Accept::HighFirst),
        ]);
    }
    options
}

/// A marking, so early that it marks. What is drawn for InfiniBand's with output lanes comes from numbers of its own: the rest of a
/// case is drawn as for RoCE's.
pub(super) fn marking(dice: &mut Dice, has_lanes: bool) -> Marking {
    match dice.between(0, 9) {
        0..3 => Marking::Requests(dice.between(0, 20)),
        3..7 if !has_lanes => infiniband(dice),
        kind => {
            let mut aside = Dice(dice.0.clone());
            aside.0.jump();
            let least = dice.pick(&[0, 0, 1, 2, 5, 12]);
            let probability = match dice.between(0, 5) {
                0 => 0,
                1 => 1 << 32,
                _ => dice.between(0, u32::MAX - 1).into(),
            };
            let ecn = Marking::Ecn {
                least,
                most: least + dice.pick(&[1, 3, 10, 40]),
                probability,
            };
            if kind < 7 {
                infiniband(&mut aside)
            } else {
                ecn
            }
        }
    }
}

pub(super) fn infiniband(dice: &mut Dice) -> Marking {
    Marking::InfiniBand {
        threshold: match dice.between(0, 19) {
            0 => 0,
            1..4 => dice.between(1, 7) as u8,
            _ => dice.between(8, 15) as u8,
        },
        hysteresis: dice.pick(&[0, 0, 1, 3, 8, 40]),
        packet: dice.pick(&[0, 0, 1, 2, 3, 8]),
        rate: dice.pick(&[0, 0, 0, 1, 2, 5]),
        victims: dice.pick(&[Victims::None, Victims::Hosts, Victims::All]),
    }
}

/// Flits of each output lane. A packet larger than the buffer needs X + 1 of them: its next flit sets off when
/// a place comes free and takes X cycles, while the channel sends on.
fn output_lane_buffer(dice: &mut Dice, options: &SwitchOptions, largest: u32) -> u32 {
    match dice.pick(&[0, 0, 0, 1, 2, 5, 16, 40]) {
        0 => 0,
        places if places >= largest => places,
        places => places.max(options.crossbar_delay + 1),
    }
}

/// Tables in which every lane has an entry with a weight, plus some entries more.
pub(super) fn vl_tables(dice: &mut Dice, lanes: u8) -> VlArbitrationTables {
    let (mut high, mut low) = (Vec::new(), Vec::new());
    for lane in 0..lanes {
        let entry = (lane, dice.between(1, 12) as u8);
        if dice.chance(50) {
            high.push(entry);
        } else {
            low.push(entry);
        }
    }
    for _ in 0..dice.between(0, 3) {
        let entry = (
            dice.between(0, u32::from(lanes) - 1) as u8,
            dice.between(0, 5) as u8,
        );
        let table = if dice.chance(50) { &mut high } else { &mut low };
        let place = dice.between(0, table.len() as u32) as usize;
        table.insert(place, entry);
    }
    let limit = match dice.between(0, 3) {
        0 => HighPriorityLimit::Unlimited,
        1 => HighPriorityLimit::Packets(dice.between(0, 4)),
        _ => HighPriorityLimit::Units(dice.between(0, 2) as u8),
    };
    VlArbitrationTables {
        high,
        low,
        limit,
        ..VlArbitrationTables::default()
    }
}
