//! The cycle: every system that runs, in the order it runs.
//!
//! Each stage is one plain function over the shard's columns ([`View`]), wrapped in one system that stands in a
//! [`Slot`]. The order of the slots is the model's (section 4); what swapping two neighbours would change:
//!
//! | slot | owner | after the next stage instead |
//! |---|---|---|
//! | `Credits` | channel | a packet would wait one more cycle for credits that count now |
//! | `Deliver` | channel | every hop would take one more cycle |
//! | `Route` | switch | a head would wait one more cycle for its first arbitration |
//! | `Arbitrate` | switch | - |
//! | `Cross` | switch | a packet could not leave its output lane in the cycle of its grant |
//! | `Transmit` | switch | - (marks look at requests for the crossbar) |
//! | `Mark` | switch | heads that arrive in this cycle are counted either way |
//! | `Generate` | host | a packet could not start in the cycle of its creation |
//! | `Inject` | host | - |
//! | `Consume` | host | - (what leaves the shard is put into its mail; it is there for nobody in this cycle) |
//!
//! `React`, `Admit`, `Notify` and `Observe` have no stage of the core. What only some fabrics have is a
//! [`Mechanism`]: `Transmit`, `Mark`, input-first allocation and what passes single flits are systems of mechanisms. Stages know none of them:
//! they ask [`joints`], over [`columns`] and [`state`] that lie below; the list of [`mechanisms`] adds both. Within a stage the order of
//! entities does not matter: switches read other switches' state only through events of earlier cycles and credit
//! ramps that start later than now.

#![expect(
    clippy::inline_always,
    reason = "small steps of a hop with two or three call sites; measured"
)]

pub mod columns;
pub mod counts;
pub mod executor;
pub mod joints;
pub mod ledger;
pub mod look;
pub mod mechanism;
pub mod mechanisms;
pub mod pass;
pub mod prefetch;
pub mod profile;
pub mod records;
pub mod rules;
pub mod schedule;
pub mod shown;
pub mod slot;
pub mod snapshot;
pub mod stages;
pub mod state;
pub mod systems;
pub mod ties;
pub mod view;
pub mod wake;

pub use look::{Columns, Inspect};
pub use mechanism::{Mechanism, ShardBuilder, Site, Wanted};
pub use mechanisms::registered::build;
pub use schedule::{Cycle, CycleBuilder};
pub use slot::{Slot, Stage};
pub use view::View;
