//! The flow level: flows as fluids on fixed routes, without packets.
//!
//! [`rates`] gives every flow of a [`Network`](network::Network) its share: links with a capacity, flows with a route, a
//! weight and an application. The model is exact where flows are long, always have data and keep to their rates.
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK)

pub mod check;
pub mod network;
pub mod rates;
