//! Small rows stand in groups: an entity is eight lanes, eight queues or eight packets, one after the other.
//!
//! An entity costs `bevy_ecs` some 60 bytes beside its components, which is more than a lane has; in groups it is less than 8 per
//! lane. A column of groups is the same memory as a column of their rows, so stages see rows. A shard's last group may have
//! rows of no port: nothing refers to them.

use bevy_ecs::component::Component;
use bytemuck::TransparentWrapper;
use serde::{Deserialize, Serialize};
use std::array::from_fn;

/// Rows of a group.
pub const GROUP: usize = 8;

/// The rows of one entity.
#[derive(Component, TransparentWrapper, Clone, Copy, Debug, Serialize, Deserialize)]
#[transparent([C; GROUP])]
#[repr(transparent)]
pub struct Group<C: Send + Sync + 'static>(pub [C; GROUP]);

impl<C: Send + Sync> Group<C> {
    /// Rows that are alike.
    pub fn of(row: C) -> Self
    where
        C: Clone,
    {
        Self(from_fn(|_| row.clone()))
    }

    /// Group `number` of a column whose rows are given by their numbers.
    pub fn by(number: usize, row: impl Fn(usize) -> C) -> Self {
        Self(from_fn(|place| row(number * GROUP + place)))
    }

    /// The rows of a column.
    pub fn rows(groups: &[Self]) -> &[C] {
        Self::peel_slice(groups).as_flattened()
    }

    /// The rows of a column.
    #[inline(always)]
    pub fn rows_mut(groups: &mut [Self]) -> &mut [C] {
        Self::peel_slice_mut(groups).as_flattened_mut()
    }
}

impl<C: Default + Send + Sync> Default for Group<C> {
    fn default() -> Self {
        Self(from_fn(|_| C::default()))
    }
}

/// How many groups hold so many rows.
pub const fn groups(rows: usize) -> usize {
    rows.div_ceil(GROUP)
}

/// A column as rows of the kind `S` points to, whether they stand in groups or not.
pub trait Flat<S> {
    /// Its rows.
    fn flat(self) -> S;
}

impl<'a, C> Flat<&'a mut [C]> for &'a mut [C] {
    #[inline(always)]
    fn flat(self) -> &'a mut [C] {
        self
    }
}

impl<'a, C: Send + Sync> Flat<&'a mut [C]> for &'a mut [Group<C>] {
    #[inline(always)]
    fn flat(self) -> &'a mut [C] {
        Group::rows_mut(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_their_groups_one_after_the_other() {
        let mut column: Vec<_> = (0..groups(2 * GROUP + 1))
            .map(|number| Group::by(number, |row| row as u32))
            .collect();
        assert_eq!(column.len(), 3);
        assert_eq!(Group::rows(&column)[GROUP..GROUP + 2], [8, 9]);
        let rows: &mut [u32] = column.as_mut_slice().flat();
        rows[2 * GROUP] = 7;
        assert_eq!(column[2].0[0], 7);
        assert_eq!((groups(0), groups(GROUP)), (0, 1));
    }
}
