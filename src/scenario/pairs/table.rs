//! The pairs that do not go together, each with its reason.

use super::{Feature, Pair};

/// Who must know the ways of flows.
const WAYS: &str = "the ways of flows must be known: use forwarding tables";

macro_rules! pairs {
    ($($first:ident not with $second:ident: $why:expr;)*) => {
        /// All of them: the first one's key is told, with the second one and the reason.
        pub const PAIRS: &[Pair] = &[$(
            Pair { first: Feature::$first, second: Feature::$second, why: $why },
        )*];
    };
}

pairs! {
    Unlimited not with InputFirst: "it needs a limit on inputs";
    KeptInputs not with Unlimited: "nobody waits for an input there";
    KeptInputs not with Speedup: "packets keep one input, and several leave it there";
    Reserve not with InputFirst: "outputs choose among proposals there: use `OutputFirst`";
    Reserve not with Random: "nobody has a turn there";
    PortPool not with Vl15: "VL15 has a buffer of its own";
    OutputLanes not with OutputBuffer: "an output has one buffer, or one for each of its lanes";
    LegacyTables not with Vl15: "it knows no lane that goes before all others";
    LegacyTables not with Rounds: "it is consulted once in a cycle";
    HighFirst not with InputFirst: "inputs propose there: use `InTurn`";
    HighFirst not with Unlimited: "inputs accept every grant there: use `InTurn`";
    Claims not with Wormhole: "packets stop half-way there: use `Off`";
    Claims not with VlTables: "the tables say which lane goes first: use `Off`";
    Claims not with Vl15: "VL15 goes before all other lanes: use `Off`";
    Trees not with OutputLanes: "packets hold credits while they wait there: use `output_buffer`, or `None` here";
    Looks not with OutputLanes: "what has left an output is not known there: use `output_buffer`";
    Looks not with Adaptive: "no output is known before a packet is head";
    OutOfBand not with Adaptive: "it goes by forwarding tables: use `InBand`";
    Reservation not with Adaptive: WAYS;
    Admission not with Adaptive: WAYS;
    Carry not with Adaptive: WAYS;
    SetUp not with Adaptive: WAYS;
    Wormhole not with OpenVoq: "no rule says how packets that stop half-way stand in several queues: use `Fifo`";
    Claims not with OpenVoq: "packets stand in several queues there: use `Off`";
    Reserve not with Open: "a head would keep the turns of outputs that it does not take: use `false`";
    Messages not with BoundedSources: "a message is whole, and these reject packets";
    Wormhole not with PortPool: "a packet that holds a lane would wait for room that flits of others have taken";
    Carry not with Admission: "it decides by the ways that tables give";
    Carry not with SetUp: "routes are either those of the flow level or set up by packets";
    Carry not with Looks: "tables say which outputs these are";
    SetUp not with Admission: "it decides by the ways that tables give";
    Looks not with SetUp: "tables say which outputs these are";
    OutOfBand not with SetUp: "packets that set up go the way of the data";
    BoundedAnswers not with SetUp: "an answer that does not come leaves a route half set up: use `None`";
    SharedSender not with SetUp: "its flows begin one by one";
    Delays not with RateScheduler: "a delay is no rate";
    SharedSender not with RateScheduler: "it has no rate for each of them";
}
