//! Service levels, SL-to-VL mapping and VL arbitration as pure state machines, and what follows from them in closed form.

pub mod available_bandwidth;
pub mod legacy_arbitration;
pub mod vl_arbitration;
pub mod worst_case;

pub use legacy_arbitration::LegacyArbiter;
pub use vl_arbitration::{VlArbiter, VlArbitrationTables};
