//! The sections of a scenario, a file each: its keys with documentation and defaults, its type, how it is read, what it
//! means in the plan, and how the plan is printed as a scenario again.
//!
//! A key has a default only where the standard or the literature has one; the others must be given.
//!
//! A new key is one entry in its section's `section!`, and what is made of it; a new section is a file here and a line
//! in [`SECTIONS`], from which come `virtlane list`, `virtlane describe section` and the messages about unknown keys.

#[macro_use]
mod section;

pub mod admission;
pub mod claims;
pub mod dropping;
pub mod expect;
pub mod fabric;
pub mod faults;
pub mod fluid;
pub mod host;
pub mod link;
pub mod marking;
pub mod members;
pub mod observe;
pub mod phases;
pub mod presets;
pub mod qos;
pub mod scenario;
pub mod sweep;
pub mod switch;
pub mod traffic;
mod values;

pub use admission::Admission;
pub use claims::Claims;
pub use dropping::Dropping;
pub use expect::Expectation;
pub use fabric::Fabric;
pub use faults::Faults;
pub use fluid::Fluid;
pub use host::Host;
pub use link::{Except, HostLink, Link, LinkRetry};
pub use marking::{EcnMarking, InfiniBandMarking, Marking, Marks};
pub use observe::Observe;
pub use phases::{AutoMeasure, AutoWarmup, Phases, UntilFlows, UntilMessages};
pub use presets::PRESETS;
pub use qos::{Qos, VlArbitration};
pub use scenario::Scenario;
pub use section::{Held, Section};
pub use sweep::{Quick, Sweep};
pub use switch::Switch;
pub use traffic::Class;

/// All sections in the order of a scenario.
pub static SECTIONS: &[Section] = &[
    Scenario::SECTION,
    Fabric::SECTION,
    Link::SECTION,
    Except::SECTION,
    LinkRetry::SECTION,
    HostLink::SECTION,
    Switch::SECTION,
    Marking::SECTION,
    InfiniBandMarking::SECTION,
    EcnMarking::SECTION,
    Dropping::SECTION,
    Host::SECTION,
    Faults::SECTION,
    Qos::SECTION,
    VlArbitration::SECTION,
    Class::SECTION,
    traffic::Requests::SECTION,
    Admission::SECTION,
    Phases::SECTION,
    AutoWarmup::SECTION,
    AutoMeasure::SECTION,
    traffic::Flows::SECTION,
    traffic::Slots::SECTION,
    traffic::Answers::SECTION,
    traffic::OutOfBand::SECTION,
    traffic::Broadcast::SECTION,
    UntilMessages::SECTION,
    UntilFlows::SECTION,
    Observe::SECTION,
    Fluid::SECTION,
    Sweep::SECTION,
    Quick::SECTION,
    Expectation::SECTION,
];
