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

/// Families of options that a stage is compiled for.
pub trait RuleSet: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Its name.
    const NAME: &'static str;
    /// Several rounds of matching.
    const ROUNDS: bool;
    /// How requests are chosen: arbitration of outputs, VL tables, `reserve`, input-first matching.
    const ARBITRATION: bool;
    /// Input speed-up.
    const SPEEDUP: bool;
    /// Queues per lane and output.
    const VOQ: bool;
    /// Buffers behind the crossbar.
    const BUFFERS: bool;
    /// Everything else: adaptive routing, routes of flows, link-level retry, pools, VL15, slow sinks, channels of several paces, legacy VL arbitration.
    const OTHER: bool;
}

/// Declares sets by the families they have.
macro_rules! rule_sets {
    ($($(#[$meta:meta])* $name:ident: $rounds:literal $arbitration:literal $speedup:literal $voq:literal $buffers:literal $other:literal;)*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl RuleSet for $name {
                const NAME: &'static str = stringify!($name);
                const ROUNDS: bool = $rounds;
                const ARBITRATION: bool = $arbitration;
                const SPEEDUP: bool = $speedup;
                const VOQ: bool = $voq;
                const BUFFERS: bool = $buffers;
                const OTHER: bool = $other;
            }
        )*
    };
}

rule_sets! {
    //          rounds arbitration speedup voq buffers other
    /// Every option has its default.
    Plain:      false false false false false false;
    /// Several rounds of matching.
    Rounds:     true false false false false false;
    /// Requests are chosen in other ways.
    Arbitrated: true true false false false false;
    /// Inputs send several packets at a time.
    SpedUp:     true false true false false false;
    /// Queues per lane and output, with what is used beside them.
    Queued:     true true true true false false;
    /// Buffers behind the crossbar, with what is used beside them.
    Buffered:   true true true false true false;
    /// Adaptive routing and what else concerns channels and buffers, with switches that have their defaults.
    Adaptive:   true false false false false true;
    /// Any options.
    Any:        true true true true true true;
}

/// Masks of so many words belong to fabrics with every default only, see `Blueprint::shard`.
pub(in crate::cycle) const fn is_for_defaults(words: usize) -> bool {
    words == 4
}

/// The stages for masks of so many words are compiled for any options at once: wide switches whose packets change lanes are rare,
/// and others need one bit for each input. In a build with debug assertions, which is made often and not for its speed, so are more.
pub(in crate::cycle) const fn is_for_any(words: usize) -> bool {
    words > 8 || cfg!(debug_assertions) && words > 4
}

/// The stages for masks of so many words are compiled for the defaults, for adaptive routing and for any options.
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
            $crate::cycle::rules::with_rules!($shared, $set => $code, Plain Adaptive)
        } else {
            $crate::cycle::rules::with_rules!($shared, $set => $code)
        }
    };
    ($shared:expr, $set:ident => $code:expr) => {
        $crate::cycle::rules::with_rules!(
            $shared, $set => $code, Plain Rounds Arbitrated SpedUp Adaptive Queued Buffered
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
                (P::ARBITRATION || self.tables.is_none())
                    && (P::OTHER || self.adaptation.is_none() && self.own_routes.is_none() && self.errors.is_none())
                    $(&& (P::$family || self.switch.$name == $plain))*
            }
        }
    };
}

options! {
    classifier: Classifier = Classifier::Lane, VOQ;
    speedup: u16 = 1, SPEEDUP;
    output_buffer: u32 = 0, BUFFERS;
    output_lane_buffer: u32 = 0, BUFFERS;
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
        self.0.tables.as_ref().filter(|_| P::ARBITRATION)
    }

    /// Adaptive routing.
    #[inline]
    pub fn adaptation(&self) -> Option<&'a Adaptation> {
        self.0.adaptation.as_ref().filter(|_| P::OTHER)
    }

    /// Whether packets choose when they come and are sorted then (D75).
    #[inline(always)]
    pub fn sorts(&self) -> bool {
        P::VOQ && P::OTHER && self.0.sorts()
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
        self.tables().filter(|_| self.output_lane_buffer() == 0)
    }

    /// Whether outputs may take their turns by inputs (D6): round robin, with nothing that needs a lane first.
    #[inline]
    pub fn by_inputs(&self) -> bool {
        self.matching() == Matching::OutputFirst
            && self.output_arbitration() == OutputArbitration::RoundRobin
            && !self.reserve()
            && self.crossbar_tables().is_none()
    }

    /// Whether the credits of a lane alone say for what it has room.
    #[inline(always)]
    pub fn credits_alone(&self) -> bool {
        !self.pool() && self.output_lane_buffer() == 0
    }

    /// Whether a packet is larger than the buffer of its output lane: it stalls half-way (D18).
    #[inline]
    pub fn stalls(&self, flits: u16) -> bool {
        self.output_lane_buffer() != 0 && u32::from(flits) > self.output_lane_buffer()
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
