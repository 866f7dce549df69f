//! The options as the stages see them: constants where a fabric uses the defaults.
//!
//! Every stage is compiled for each [`RuleSet`]: where a set leaves a family of options out, the accessors below are
//! constants and the code behind those options is not there; what a set names is read from [`Shared`]. The set of a
//! fabric is chosen once, by `with_rules!`: the smallest that has what the fabric uses. All sets are the same
//! source.

use super::state::{Adaptation, OwnRoutes, Shared};
use crate::fabric::Classifier;
use crate::fabric::bit_errors::Errors;
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::LaneRow;
use crate::plan::{Matching, OutputArbitration};
use crate::qos::VlArbitrationTables;
use std::marker::PhantomData;
use std::ops::Deref;

/// Whether fabrics of a set have something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// None has.
    Never,
    /// Some have.
    Maybe,
    /// All have: stages do not ask.
    Always,
}

impl Use {
    /// Whether a fabric of the set may have it.
    pub const fn is_possible(self) -> bool {
        !matches!(self, Self::Never)
    }

    /// Whether the set is for a fabric that has it, or has not.
    const fn takes(self, is_there: bool) -> bool {
        match self {
            Self::Never => !is_there,
            Self::Maybe => true,
            Self::Always => is_there,
        }
    }

    /// Whether a fabric of the set has it; `is_there` is asked where the set does not say.
    #[inline(always)]
    fn is_there(self, is_there: impl FnOnce() -> bool) -> bool {
        match self {
            Self::Never => false,
            Self::Maybe => is_there(),
            Self::Always => true,
        }
    }
}

/// Families of options that a stage is compiled for.
pub trait RuleSet: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Its name.
    const NAME: &'static str;
    /// Several rounds of matching.
    const ROUNDS: bool;
    /// VL tables.
    const TABLES: bool;
    /// How else requests are chosen: arbitration of outputs, `reserve`, input-first matching, grants for lanes of the high table first.
    const ARBITRATION: bool;
    /// Input speed-up.
    const SPEEDUP: bool;
    /// Output buffers, and VL tables at inputs and channels.
    const BUFFERS: bool;
    /// Everything else: heads that request all candidates, routes of flows, link-level retry, pools, VL15, slow sinks, channels of several
    /// paces, legacy VL arbitration.
    const OTHER: bool;
    /// Queues per lane and output.
    const VOQ: Use;
    /// Output lanes.
    const LANES: Use;
    /// Adaptive routing.
    const ADAPTIVE: Use;
}

/// Declares sets by the families they have.
macro_rules! rule_sets {
    ($($(#[$meta:meta])* $name:ident: $rounds:literal $tables:literal $arbitration:literal $speedup:literal $buffers:literal $other:literal
        $voq:ident $lanes:ident $adaptive:ident;)*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl RuleSet for $name {
                const NAME: &'static str = stringify!($name);
                const ROUNDS: bool = $rounds;
                const TABLES: bool = $tables;
                const ARBITRATION: bool = $arbitration;
                const SPEEDUP: bool = $speedup;
                const BUFFERS: bool = $buffers;
                const OTHER: bool = $other;
                const VOQ: Use = Use::$voq;
                const LANES: Use = Use::$lanes;
                const ADAPTIVE: Use = Use::$adaptive;
            }
        )*
    };
}

rule_sets! {
    //          rounds tables arbitration speedup buffers other voq lanes adaptive
    /// Every option has its default.
    Plain:      false false false false false false Never Never Never;
    /// Several rounds of matching.
    Rounds:     true false false false false false Never Never Never;
    /// VL tables.
    Tabled:     false true false false false false Never Never Never;
    /// Requests are chosen in other ways.
    Arbitrated: true true true false false false Never Never Never;
    /// Inputs send several packets at a time.
    SpedUp:     true false false true false false Never Never Never;
    /// Adaptive routing whose heads request one candidate.
    Adaptive:   true false false false false false Never Never Always;
    /// Queues per lane and output.
    Queued:     true false false false false false Always Never Never;
    /// Output lanes.
    Buffered:   true false false false false false Never Always Never;
    /// Adaptive routing with queues per lane and output.
    Sorted:     true false false false false false Always Never Always;
    /// What concerns channels, routes and buffers, with switches that have their defaults.
    Special:    true false false false false true Never Never Maybe;
    /// Switches with several options, and nothing else.
    Switched:   true true true true true false Maybe Maybe Never;
    /// Any options.
    Any:        true true true true true true Maybe Maybe Maybe;
}

/// Masks of so many words belong to fabrics with every default only, see `Blueprint::shard`.
pub(in crate::cycle) const fn is_for_defaults(words: usize) -> bool {
    words == 4
}

/// The stages for masks of so many words are compiled for any options at once: wide switches whose packets change lanes are rare,
/// and others need one bit for each input. In a build with debug assertions, which is made often and not for its speed, so are more; for
/// the unit tests of the library, which ask little of a fabric as a whole, all are.
pub(in crate::cycle) const fn is_for_any(words: usize) -> bool {
    words > 8 || cfg!(test) || cfg!(debug_assertions) && words > 4
}

/// The stages for masks of so many words are compiled for the defaults, for what goes with default switches and for any options.
pub(in crate::cycle) const fn is_for_few(words: usize) -> bool {
    words > 1
}

/// Runs code for the smallest set that has all options of a fabric: `with_rules!(shared, Set => code)`; with the words of
/// its masks, `with_rules!(shared, W, Set => code)`, for one of the sets that these are compiled for. (What a constant
/// condition rules out is not compiled.)
macro_rules! with_rules {
    ($shared:expr, $words:ident, $set:ident => $code:expr) => {
        if const { $crate::cycle::rules::is_for_defaults($words) } {
            type $set = $crate::cycle::rules::Plain;
            $code
        } else if const { $crate::cycle::rules::is_for_any($words) } {
            type $set = $crate::cycle::rules::Any;
            $code
        } else if const { $crate::cycle::rules::is_for_few($words) } {
            $crate::cycle::rules::with_rules!($shared, $set => $code, Plain Special)
        } else {
            $crate::cycle::rules::with_rules!($shared, $set => $code)
        }
    };
    ($shared:expr, $set:ident => $code:expr) => {
        $crate::cycle::rules::with_rules!(
            $shared, $set => $code,
            Plain Rounds Tabled Arbitrated SpedUp Adaptive Queued Buffered Sorted Special Switched
        )
    };
    ($shared:expr, $set:ident => $code:expr, $($name:ident)*) => {{
        $(if $shared.is_within::<$crate::cycle::rules::$name>() {
            type $set = $crate::cycle::rules::$name;
            $code
        } else)* {
            type $set = $crate::cycle::rules::Any;
            $code
        }
    }};
}
pub(in crate::cycle) use with_rules;

/// Read access to tables and options.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a, P>(&'a Shared, PhantomData<P>);

impl<'a, P: RuleSet> Rules<'a, P> {
    /// The options of a fabric that uses those of the set only.
    #[inline]
    pub fn new(shared: &'a Shared) -> Self {
        Self(shared, PhantomData)
    }

    /// Tables and options, for as long as they live.
    #[inline]
    pub fn shared(&self) -> &'a Shared {
        self.0
    }
}

impl<P> Deref for Rules<'_, P> {
    type Target = Shared;

    #[inline]
    fn deref(&self) -> &Shared {
        self.0
    }
}

/// Accessors with the value they have where their family is not in the set.
macro_rules! options {
    ($($name:ident: $type:ty = $plain:expr, $family:ident;)*) => {
        impl<P: RuleSet> Rules<'_, P> {
            $(
                /// The field of the same name.
                #[inline(always)]
                pub fn $name(&self) -> $type {
                    if P::$family { self.0.switch.$name } else { $plain }
                }
            )*
        }

        impl Shared {
            /// Whether the set has all options of the fabric.
            pub(in crate::cycle) fn is_within<P: RuleSet>(&self) -> bool {
                (P::TABLES || self.tables.is_none())
                    && (P::OTHER || self.own_routes.is_none() && self.errors.is_none())
                    && P::VOQ.takes(!self.switch.classifier.is_lane())
                    && P::LANES.takes(self.switch.output_lane_buffer != 0)
                    && P::ADAPTIVE.takes(self.adaptation.is_some())
                    $(&& (P::$family || self.switch.$name == $plain))*
            }
        }
    };
}

options! {
    speedup: u16 = 1, SPEEDUP;
    output_buffer: u32 = 0, BUFFERS;
    output_arbitration: OutputArbitration = OutputArbitration::RoundRobin, ARBITRATION;
    iterations: u8 = 1, ROUNDS;
    reserve: bool = false, ARBITRATION;
    pool: bool = false, OTHER;
    stepped_credits: bool = false, SPEEDUP;
    matching: Matching = Matching::OutputFirst, ARBITRATION;
    sink_step: u16 = 0, OTHER;
    management: LaneMask = LaneMask::EMPTY, OTHER;
    uniform_pace: bool = true, OTHER;
    store_and_forward: bool = false, OTHER;
    single_flits: bool = false, OTHER;
    open: bool = false, OTHER;
    legacy_arbitration: bool = false, OTHER;
    tables_twice: bool = false, BUFFERS;
    accepted_first: Option<LaneMask> = None, ARBITRATION;
}

impl Shared {
    /// Whether every option has its default.
    pub fn is_plain(&self) -> bool {
        self.is_within::<Plain>()
    }

    /// Name of the rule set of the fabric.
    pub fn rule_set(&self) -> &'static str {
        with_rules!(self, Set => Set::NAME)
    }
}

impl<'a, P: RuleSet> Rules<'a, P> {
    /// VL arbitration tables.
    #[inline]
    pub fn tables(&self) -> Option<&'a VlArbitrationTables> {
        self.0.tables.as_ref().filter(|_| P::TABLES)
    }

    /// How packets of a lane are sorted into queues.
    #[inline(always)]
    pub fn classifier(&self) -> Classifier {
        match P::VOQ {
            Use::Never => Classifier::Lane,
            Use::Maybe => self.0.switch.classifier,
            Use::Always => Classifier::LaneAndOutput {
                outputs: self.0.outputs,
                shift: self.0.numbering.shift(),
            },
        }
    }

    /// Whether packets wait in lanes behind the crossbar.
    #[inline(always)]
    pub fn has_output_lanes(&self) -> bool {
        P::LANES.is_there(|| self.0.switch.output_lane_buffer != 0)
    }

    /// Buffer of each of these \[flits\].
    #[inline(always)]
    pub fn output_lane_buffer(&self) -> u32 {
        if P::LANES.is_possible() {
            self.0.switch.output_lane_buffer
        } else {
            0
        }
    }

    /// Whether there is adaptive routing.
    #[inline(always)]
    pub fn is_adaptive(&self) -> bool {
        P::ADAPTIVE.is_there(|| self.0.adaptation.is_some())
    }

    /// Adaptive routing.
    #[inline]
    pub fn adaptation(&self) -> Option<&'a Adaptation> {
        (self.0.adaptation.as_ref()).filter(|_| P::ADAPTIVE.is_possible())
    }

    /// Whether packets choose when they come and are sorted then (D75).
    #[inline(always)]
    pub fn sorts(&self) -> bool {
        self.is_adaptive() && !self.classifier().is_lane()
    }

    /// Routes that flows have of their own.
    #[inline(always)]
    pub fn own_routes(&self) -> Option<&'a OwnRoutes> {
        self.0.own_routes.as_ref().filter(|_| P::OTHER)
    }

    /// Errors of channels, and link-level retry.
    #[inline(always)]
    pub fn errors(&self) -> Option<&'a Errors> {
        self.0.errors.as_ref().filter(|_| P::OTHER)
    }

    /// VL arbitration tables of the crossbar's output side: with output lanes they act at the channel.
    #[inline]
    pub fn crossbar_tables(&self) -> Option<&'a VlArbitrationTables> {
        self.tables().filter(|_| !self.has_output_lanes())
    }

    /// Whether outputs may take their turns by inputs (D6): round robin, with nothing that needs a lane first.
    #[inline]
    pub fn by_inputs(&self) -> bool {
        self.matching() == Matching::OutputFirst
            && self.output_arbitration() == OutputArbitration::RoundRobin
            && !self.reserve()
            && self.crossbar_tables().is_none()
    }

    /// Whether an input lane may request several outputs at a time.
    #[inline(always)]
    pub fn chooses_within_lanes(&self) -> bool {
        !self.classifier().is_lane() || self.open()
    }

    /// Whether the credits of a lane alone say for what it has room.
    #[inline(always)]
    pub fn credits_alone(&self) -> bool {
        !self.pool() && !self.has_output_lanes()
    }

    /// Whether a packet is larger than the buffer of its output lane: it stalls half-way (D18).
    #[inline]
    pub fn stalls(&self, flits: u16) -> bool {
        self.has_output_lanes() && u32::from(flits) > self.output_lane_buffer()
    }

    /// Credits that a packet's request asks for \[flits\].
    #[inline(always)]
    pub fn request_size(&self, flits: u16) -> u16 {
        if self.single_flits() { 1 } else { flits }
    }

    /// Lane of the credit count that `lane` draws from.
    #[inline]
    pub fn credit_row(&self, lane: LaneRow) -> LaneRow {
        if self.pool() {
            self.numbering.first_beside(lane)
        } else {
            lane
        }
    }

    /// The lane that is asked next: VL15 first, then round robin from `pointer`. `lanes` is not empty.
    #[inline]
    pub fn first_lane(&self, lanes: LaneMask, pointer: u8) -> u32 {
        let management = lanes & self.management();
        if management.is_empty() {
            lanes.first_from(pointer)
        } else {
            management.first()
        }
    }
}
