//! Algorithms that calculate rates: their machines alone, with packets that take random times over random networks, against
//! the solvers; and in the engine.

mod classes;
mod dffa;
mod engine;
mod network;
mod saa;
mod saa_m;
