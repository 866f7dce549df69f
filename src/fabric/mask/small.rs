//! Masks of one word: lanes of a port, queues of an input.

use serde::{Deserialize, Serialize};
use std::ops::{BitAnd, Not};

macro_rules! small_mask {
    ($(#[$doc:meta])* $name:ident, $bits:ty, $ones:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name($bits);

        impl $name {
            /// No number.
            pub const EMPTY: Self = Self(0);

            /// One number.
            #[inline(always)]
            pub const fn only(number: u32) -> Self {
                Self(1 << number)
            }

            /// Puts a number in.
            #[inline(always)]
            pub fn insert(&mut self, number: u32) {
                self.0 |= 1 << number;
            }

            /// Takes a number out.
            #[inline(always)]
            pub fn remove(&mut self, number: u32) {
                self.0 &= !(1 << number);
            }

            /// Whether a number is in.
            #[inline(always)]
            pub fn contains(self, number: u32) -> bool {
                self.0 >> number & 1 != 0
            }

            /// Whether no number is in.
            #[inline(always)]
            pub fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// Whether more than one number is in.
            #[inline(always)]
            pub fn has_several(self) -> bool {
                self.0 & self.0.wrapping_sub(1) != 0
            }

            /// The least number; not one of the set without any.
            #[inline(always)]
            pub fn first(self) -> u32 {
                self.0.trailing_zeros()
            }

            /// Round robin: the first number at or after `pointer`, around the end; not one of the set without any.
            #[inline(always)]
            pub fn first_from(self, pointer: u8) -> u32 {
                let ahead = self.0 & (<$bits>::MAX << pointer);
                if ahead == 0 { self.0 } else { ahead }.trailing_zeros()
            }
        }

        impl BitAnd for $name {
            type Output = Self;

            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }

        impl Not for $name {
            type Output = Self;

            #[inline(always)]
            fn not(self) -> Self {
                Self(!self.0)
            }
        }

        impl FromIterator<u32> for $name {
            #[inline(always)]
            fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
                let numbers = numbers.into_iter();
                numbers.fold(Self::EMPTY, |mask, number| Self(mask.0 | 1 << number))
            }
        }

        impl IntoIterator for $name {
            type Item = u32;
            type IntoIter = $ones;

            #[inline(always)]
            fn into_iter(self) -> $ones {
                $ones(self.0)
            }
        }

        /// The numbers of a mask, ascending.
        #[derive(Clone, Debug)]
        pub struct $ones($bits);

        impl Iterator for $ones {
            type Item = u32;

            #[inline(always)]
            fn next(&mut self) -> Option<u32> {
                (self.0 != 0).then(|| {
                    let number = self.0.trailing_zeros();
                    self.0 &= self.0 - 1;
                    number
                })
            }
        }
    };
}

small_mask!(
    /// A set of lanes of a port.
    LaneMask,
    u32,
    Lanes
);
small_mask!(
    /// A set of marks of input queues, see [`Classifier`](super::super::classifier::Classifier).
    QueueMask,
    u64,
    Marks
);

impl LaneMask {
    /// The lanes as bits.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The lanes of an input whose bits, from `first` on, are in one word of a [`Mask`](super::Mask).
    #[inline(always)]
    pub fn at(word: u64, first: u16) -> Self {
        Self((word >> (first % 64)) as u32)
    }
}
