//! Scenario text as a tree in which every value knows where it was written.
//!
//! The syntax is RON. A tree of its own, instead of RON's deserializer, gives every mistake its file, line,
//! column and key path, lets `--set` and sweeps change values before anything is interpreted, and hands
//! each part (topology, pattern, ...) its arguments untouched.

pub mod doubles;
pub mod edit;
pub mod item;
pub mod parser;
pub mod part;
pub mod path;
pub mod place;
pub mod sense;
pub mod tree;

pub use item::{At, Fields, Item};
pub use part::Part;
pub use place::{Mistake, Place, ScenarioError, Sources};
pub use tree::{Field, Node, Value};
