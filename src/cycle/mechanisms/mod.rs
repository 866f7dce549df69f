//! What only some fabrics have: each a [`Mechanism`](crate::cycle::Mechanism), in one file or folder.

pub mod adaptive;
pub mod ahead;
pub mod answer_rooms;
pub mod barriers;
pub mod bounded_queues;
pub mod claims;
pub mod congestion;
pub mod control;
pub mod dropping;
pub mod flows;
pub mod joined;
pub mod meters;
pub mod occupancy;
pub mod output_lanes;
pub mod packet_records;
pub mod probes;
pub mod registered;
pub mod replay;
pub mod retry;
pub mod set_up;
pub mod sink;
pub mod trials;
pub mod vl_tables;
pub mod waits;
pub mod wormhole;
