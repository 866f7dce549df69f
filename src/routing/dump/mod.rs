//! Forwarding tables in the files OpenSM writes, both ways.
//!
//! | file | holds |
//! |---|---|
//! | `opensm-lfts.dump` | output port per (switch, LID) |
//! | `opensm.fdbs` | the same with hops |
//! | `opensm-sl2vl.dump` | virtual lane per (switch, input port, output port, service level) |
//! | `guid2lid` | LIDs per port GUID |
//! | `path-sl` | service level per (source LID, destination LID); OpenSM answers it path by path, in no file |
//!
//! InfiniBand has one service level where the simulator has a service level and a path layer: level `s` with layer
//! `l` of `n` is written as service level `s * n + l`, at most 16 in all. What InfiniBand cannot say is refused:
//! more levels, rows by input port, and layers that change on the way.

mod read;
mod write;

pub use read::{
    DumpError, LidRow, PathLevels, Row, SwitchLanes, read_guid2lid, read_lfts, read_path_sl,
    read_sl2vl,
};
pub use write::{
    InexpressibleError, management, require_destination_only, write_fdbs, write_guid2lid,
    write_lfts, write_path_sl, write_sl2vl,
};

#[cfg(test)]
mod tests;
