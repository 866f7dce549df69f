//! The pairs that do not go together, each with its reason.

use super::Pair;
use super::feature::Feature::{
    self, Adaptive, Admission, BoundedAnswers, BoundedSources, Carry, Claims, DropByFill,
    HighFirst, InputFirst, KeptInputs, LegacyTables, Looks, MarksByPace, Messages, Open, OutOfBand,
    OutputBuffer, OutputLanes, PortPool, Random, Reservation, Reserve, Rounds, SetUp, SlowSink,
    Speedup, Trees, Unlimited, Vl15, VlTables, Voq, Waits, Wormhole,
};

const fn pair(first: Feature, second: Feature, why: &'static str) -> Pair {
    Pair { first, second, why }
}

/// One open head stands for several outputs.
const SEVERAL: &str = "packets request several outputs at once there";
/// A rule is there for packets as units only.
const HALF_WAY: &str = "no rule says what it means for packets that stop half-way";
/// Who must know the ways of flows.
const WAYS: &str = "the ways of flows must be known: use forwarding tables";

/// All of them: the first one's key is told, with the second one and the reason.
pub const PAIRS: &[Pair] = &[
    pair(Unlimited, InputFirst, "it needs a limit on inputs"),
    pair(KeptInputs, Unlimited, "nobody waits for an input there"),
    pair(
        Reserve,
        InputFirst,
        "outputs choose among proposals there: use `OutputFirst`",
    ),
    pair(Reserve, Random, "nobody has a turn there"),
    pair(PortPool, Vl15, "VL15 has a buffer of its own"),
    pair(
        OutputLanes,
        OutputBuffer,
        "an output has one buffer, or one for each of its lanes",
    ),
    pair(
        LegacyTables,
        Vl15,
        "it knows no lane that goes before all others",
    ),
    pair(LegacyTables, Rounds, "it is consulted once in a cycle"),
    pair(HighFirst, InputFirst, "inputs propose there: use `InTurn`"),
    pair(
        HighFirst,
        Unlimited,
        "inputs accept every grant there: use `InTurn`",
    ),
    pair(Claims, Wormhole, "packets stop half-way there: use `Off`"),
    pair(
        Claims,
        VlTables,
        "the tables say which lane goes first: use `Off`",
    ),
    pair(Claims, Vl15, "VL15 goes before all other lanes: use `Off`"),
    pair(
        Trees,
        OutputLanes,
        "packets hold credits while they wait there: use `output_buffer`, or `None` here",
    ),
    pair(
        Looks,
        OutputLanes,
        "what has left an output is not known there: use `output_buffer`",
    ),
    pair(
        Looks,
        Adaptive,
        "no output is known before a packet is head",
    ),
    pair(
        OutOfBand,
        Adaptive,
        "it goes by forwarding tables: use `InBand`",
    ),
    pair(Reservation, Adaptive, WAYS),
    pair(Admission, Adaptive, WAYS),
    pair(Carry, Adaptive, WAYS),
    pair(SetUp, Adaptive, WAYS),
    pair(Vl15, Adaptive, "VL15 is routed by tables"),
    pair(
        Voq,
        Open,
        "in one queue they would wait for one of their outputs, their escape lost: use `Fifo`",
    ),
    pair(
        InputFirst,
        Open,
        "an input would propose one of them only: use `OutputFirst`",
    ),
    pair(Speedup, Open, SEVERAL),
    pair(Unlimited, Open, SEVERAL),
    pair(
        Reserve,
        Open,
        "a head would keep the turns of outputs that it does not take: use `false`",
    ),
    pair(
        Messages,
        BoundedSources,
        "a message is whole, and these reject packets",
    ),
    pair(Wormhole, Voq, HALF_WAY),
    pair(
        Wormhole,
        PortPool,
        "a packet that holds a lane would wait for room that flits of others have taken",
    ),
    pair(Wormhole, Speedup, HALF_WAY),
    pair(Wormhole, OutputLanes, HALF_WAY),
    pair(Wormhole, InputFirst, HALF_WAY),
    pair(Wormhole, Reserve, HALF_WAY),
    pair(Wormhole, MarksByPace, HALF_WAY),
    pair(Wormhole, DropByFill, HALF_WAY),
    pair(Wormhole, Vl15, HALF_WAY),
    pair(Wormhole, SlowSink, HALF_WAY),
    pair(Wormhole, BoundedAnswers, HALF_WAY),
    pair(Wormhole, Looks, HALF_WAY),
    pair(Wormhole, Messages, HALF_WAY),
    pair(Wormhole, Waits, HALF_WAY),
    pair(Wormhole, Trees, HALF_WAY),
    pair(Wormhole, Carry, HALF_WAY),
    pair(Wormhole, SetUp, HALF_WAY),
    pair(Carry, Admission, "it decides by the ways that tables give"),
    pair(
        Carry,
        SetUp,
        "routes are either those of the flow level or set up by packets",
    ),
    pair(Carry, Looks, "tables say which outputs these are"),
    pair(SetUp, Admission, "it decides by the ways that tables give"),
    pair(Looks, SetUp, "tables say which outputs these are"),
    pair(
        OutOfBand,
        SetUp,
        "packets that set up go the way of the data",
    ),
    pair(
        BoundedAnswers,
        SetUp,
        "an answer that does not come leaves a route half set up: use `None`",
    ),
];
