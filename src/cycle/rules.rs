//! The options as the stages see them: constants where a fabric uses the defaults.
//!
//! Every stage is compiled twice per mask width. With `PLAIN` the accessors below are constants and the code
//! behind other options is not there; without it they read [`Shared`]. Which one runs is decided once, by
//! [`Shared::is_plain`]; both are the same source.

use super::mechanisms::adaptive::Adaptation;
use super::state::{Grant, Shared};
use crate::plan::{Matching, OutputArbitration};
use crate::qos::VlArbitrationTables;
use std::ops::Deref;

/// Read access to tables and options.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a, const PLAIN: bool>(pub &'a Shared);

impl<const PLAIN: bool> Deref for Rules<'_, PLAIN> {
    type Target = Shared;

    #[inline]
    fn deref(&self) -> &Shared {
        self.0
    }
}

/// Accessors with the value they have in a plain fabric.
macro_rules! options {
    ($($name:ident: $type:ty = $plain:expr;)*) => {
        impl<const PLAIN: bool> Rules<'_, PLAIN> {
            $(
                /// The field of the same name.
                #[inline]
                pub fn $name(&self) -> $type {
                    if PLAIN { $plain } else { self.0.switch.$name }
                }
            )*
        }

        impl Shared {
            /// Whether every option has the value that the fast path is compiled for.
            pub fn is_plain(&self) -> bool {
                self.tables.is_none() && self.adaptation.is_none() $(&& self.switch.$name == $plain)*
            }
        }
    };
}

options! {
    voq_stride: u32 = 0;
    speedup: u16 = 1;
    output_buffer: u32 = 0;
    output_lane_buffer: u32 = 0;
    pool: bool = false;
    stepped_credits: bool = false;
    output_arbitration: OutputArbitration = OutputArbitration::RoundRobin;
    matching: Matching = Matching::OutputFirst;
    iterations: u8 = 1;
    reserve: bool = false;
    sink_step: u16 = 0;
    management: u16 = 0;
    uniform_pace: bool = true;
    store_and_forward: bool = false;
    open: bool = false;
}

impl<'a, const PLAIN: bool> Rules<'a, PLAIN> {
    /// VL arbitration tables.
    #[inline]
    pub fn tables(&self) -> Option<&'a VlArbitrationTables> {
        if PLAIN { None } else { self.0.tables.as_ref() }
    }

    /// Adaptive routing.
    #[inline]
    pub fn adaptation(&self) -> Option<&'a Adaptation> {
        if PLAIN {
            None
        } else {
            self.0.adaptation.as_ref()
        }
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

    /// Lane row of the credit count that `lane` draws from.
    #[inline]
    pub fn credit_row(&self, lane: u32) -> u32 {
        if self.pool() {
            lane & !self.lane_mask
        } else {
            lane
        }
    }

    /// Row of the VL arbiter a grant belongs to: the output's, or the input's when it acts there.
    #[inline]
    pub fn arbiter_row(&self, grant: &Grant) -> u32 {
        match self.matching() {
            Matching::OutputFirst => grant.out,
            Matching::InputFirst => grant.input,
        }
    }

    /// The lane that is asked next: VL15 first, then round robin from `pointer`. `lanes` is not empty.
    #[inline]
    pub fn first_lane(&self, lanes: u16, pointer: u8) -> u32 {
        let management = lanes & self.management();
        let ahead = lanes & (u16::MAX << pointer);
        let first = if management != 0 {
            management
        } else if ahead != 0 {
            ahead
        } else {
            lanes
        };
        first.trailing_zeros()
    }

    /// Word and mask of an input's lanes among the request bits of its switch.
    #[inline]
    pub fn input_lanes(&self, index: u8) -> (usize, u64) {
        self.lanes_beside(u16::from(index) << self.lane_shift)
    }

    /// The same for the input that has the request bit `bit`.
    #[inline]
    pub fn lanes_beside(&self, bit: u16) -> (usize, u64) {
        let first = u32::from(bit) & !self.lane_mask;
        (
            (first / 64) as usize,
            (u64::MAX >> (63 - self.lane_mask)) << (first % 64),
        )
    }
}
