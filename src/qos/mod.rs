//! Service levels, SL-to-VL mapping and VL arbitration as pure state machines.

pub mod vl_arbitration;

pub use vl_arbitration::{VlArbiter, VlArbitrationTables};
