//! Proves what forwarding tables do: walks over them, the dependencies of their channels, and who reaches whom.

pub mod answers;
pub(super) mod conclude;
pub mod dependency_graph;
mod lane_walk;
pub mod own_routes;
mod pairs;
pub mod reach;
pub mod set_up;
pub mod statement;
pub mod verify;
pub(super) mod walk;

#[cfg(test)]
mod enumeration;
