//! The flow level: flows as fluids on fixed routes, without packets.
//!
//! [`routes`] gives every flow its links, by forwarding tables or flow by flow by what links carry; [`rates`] gives
//! every flow its share of them. Between the two stands the [`Network`](network::Network): links with a capacity, flows
//! with a weight and an application. The model is exact where flows are long, always have data and keep to their rates.
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK)

pub mod check;
pub mod dafa;
pub mod link_worker;
pub mod network;
pub mod rates;
pub mod routes;
