//! Graph to routes, with a proof: forwarding tables, or a function that packets ask on their way.

pub mod adaptive;
mod balance;
pub mod dump;
pub mod empty_network;
pub mod engines;
pub mod entries;
pub mod layers;
pub mod loads;
pub mod parts;
mod paths;
pub mod proof;
pub mod regular;
pub mod tables;
#[cfg(test)]
mod tests;

pub use crate::topology::graph::identities::{self, Identities};
pub use adaptive::Adaptive;
pub use proof::own_routes::{Beside, OwnRoute};
pub use proof::set_up::SetUpRoutes;
pub use proof::statement::{Choices, Proof, VerifyError, VerifyOptions};
pub use proof::verify::{verify, verify_with};
pub use regular::Need;
pub use tables::{Guarantees, LARGEST_TABLE, LaneBudget, LaneMap, Tables, UNREACHABLE};

use crate::registry::{ArgumentError, Arguments, Registry};
use crate::topology::Graph;
use std::path::Path;

/// A routing engine with its parameters: graph to tables.
///
/// What comes back is InfiniBand's own interface of an engine: forwarding tables, path layers (service
/// levels), lane map, and the guarantees it declares, which [`verify()`] checks independently.
pub trait RoutingEngine: std::fmt::Debug + Send + Sync {
    /// Computes tables for every (switch, host).
    ///
    /// # Errors
    /// When the graph is not one the engine can route, or the lanes do not suffice.
    fn route(&self, graph: &Graph, budget: LaneBudget, seed: u64) -> Result<Tables, RoutingError>;

    /// As [`Self::route`], for engines that read files: relative names start from `base`.
    ///
    /// # Errors
    /// As [`Self::route`]; [`RoutingError::File`].
    fn route_from(
        &self,
        graph: &Graph,
        budget: LaneBudget,
        seed: u64,
        _base: &Path,
    ) -> Result<Tables, RoutingError> {
        self.route(graph, budget, seed)
    }

    /// As [`Self::route_from`], for fabrics in which some hosts have no way to others: such pairs have no entry. By
    /// default each connected part is routed by itself.
    ///
    /// # Errors
    /// As [`Self::route_from`].
    fn route_reachable(
        &self,
        graph: &Graph,
        budget: LaneBudget,
        seed: u64,
        base: &Path,
    ) -> Result<Tables, RoutingError> {
        parts::route(graph, budget, |part| {
            regular::tables(self, part, budget, seed, base)
        })
    }

    /// Which regular structure of a fabric it routes by; `None`: it routes any fabric by its links.
    fn need(&self) -> Option<Need> {
        None
    }

    /// Whether it says itself which lanes every service level has; else groups of lanes are given out level by level.
    fn gives_lanes(&self) -> bool {
        false
    }

    /// Whether the tables depend on the seed. Those of an engine that draws nothing are computed once for all seeds of a
    /// study.
    fn is_drawn(&self) -> bool {
        true
    }

    /// Output ports `[switch][switch]` towards the management ports of switches, 0 at the switch itself; `None` for
    /// engines that route to hosts only. No packet of the simulator goes there; dumps of the tables have them.
    fn management(&self, _graph: &Graph, _base: &Path) -> Option<Vec<u8>> {
        None
    }
}

/// An engine that routes while packets travel, with its parameters: graph to a routing function.
///
/// What it promises is declared in [`Adaptive::guarantees`] and checked by [`adaptive::verify`].
pub trait AdaptiveEngine: std::fmt::Debug + Send + Sync {
    /// Makes the routing function of a graph.
    ///
    /// # Errors
    /// When the graph is not one the engine can route, or the lanes do not suffice.
    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError>;

    /// Which regular structure of a fabric it routes by; `None`: it routes any fabric by its links.
    fn need(&self) -> Option<Need> {
        None
    }
}

/// A routing engine of either kind.
#[derive(Debug)]
pub enum Engine {
    /// Computes forwarding tables.
    Tables(Box<dyn RoutingEngine>),
    /// Routes while packets travel.
    Adaptive(Box<dyn AdaptiveEngine>),
}

impl Engine {
    /// An engine that computes tables.
    pub fn tables(engine: impl RoutingEngine + 'static) -> Self {
        Self::Tables(Box::new(engine))
    }

    /// An engine that adapts.
    pub fn adaptive(engine: impl AdaptiveEngine + 'static) -> Self {
        Self::Adaptive(Box::new(engine))
    }

    /// Whether it says itself which lanes every service level has.
    pub fn gives_lanes(&self) -> bool {
        matches!(self, Self::Tables(engine) if engine.gives_lanes())
    }

    /// Whether the routes depend on the seed; those found while packets travel never do.
    pub fn is_drawn(&self) -> bool {
        matches!(self, Self::Tables(engine) if engine.is_drawn())
    }

    /// The routes of a graph; relative names of files start from `base`.
    ///
    /// # Errors
    /// As [`RoutingEngine::route_from`] and [`AdaptiveEngine::adapt`].
    pub fn route(
        &self,
        graph: &Graph,
        budget: LaneBudget,
        seed: u64,
        base: &Path,
    ) -> Result<Routes, RoutingError> {
        Ok(match self {
            Self::Tables(engine) => {
                Routes::Tables(regular::tables(&**engine, graph, budget, seed, base)?)
            }
            Self::Adaptive(engine) => {
                Routes::Adaptive(regular::adaptive(&**engine, graph, budget)?)
            }
        })
    }

    /// As [`Self::route`], without entries for pairs of hosts without a way; adaptive engines need one for every pair.
    ///
    /// # Errors
    /// As [`Self::route`].
    pub fn route_reachable(
        &self,
        graph: &Graph,
        budget: LaneBudget,
        seed: u64,
        base: &Path,
    ) -> Result<Routes, RoutingError> {
        match self {
            Self::Tables(engine) => {
                let tables = engine.route_reachable(graph, budget, seed, base)?;
                Ok(Routes::Tables(tables))
            }
            Self::Adaptive(_) => self.route(graph, budget, seed, base),
        }
    }
}

/// What a routing engine returns.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a fabric has one")]
pub enum Routes {
    /// Forwarding tables.
    Tables(Tables),
    /// A routing function that packets ask on their way.
    Adaptive(Adaptive),
}

impl Routes {
    /// Registered name of the engine.
    pub fn engine(&self) -> &str {
        match self {
            Self::Tables(tables) => &tables.engine,
            Self::Adaptive(adaptive) => &adaptive.engine,
        }
    }

    /// What the engine promises.
    pub fn guarantees(&self) -> &Guarantees {
        match self {
            Self::Tables(tables) => &tables.guarantees,
            Self::Adaptive(adaptive) => &adaptive.guarantees,
        }
    }

    /// Forwarding tables, when they are what routes.
    pub fn tables(&self) -> Option<&Tables> {
        match self {
            Self::Tables(tables) => Some(tables),
            Self::Adaptive(_) => None,
        }
    }

    /// Tables that tell the port of every hop, whatever its lane; `None` when packets choose their ways.
    pub fn ports(&self) -> Option<&Tables> {
        match self {
            Self::Tables(tables) => Some(tables),
            Self::Adaptive(adaptive) => Some(adaptive.routing.any_lane()?.tables()),
        }
    }

    /// The routing function, when one routes.
    pub fn adaptive(&self) -> Option<&Adaptive> {
        match self {
            Self::Tables(_) => None,
            Self::Adaptive(adaptive) => Some(adaptive),
        }
    }
}

/// Makes a routing engine from its arguments.
pub type BuildEngine = fn(Arguments<'_>) -> Result<Engine, ArgumentError>;

/// Every routing engine a scenario can name. New ones: one file, one `mod` line, one line here.
pub static ENGINES: Registry<BuildEngine> = Registry {
    kind: "routing engine",
    entries: &[
        engines::adaptive::ascent::ENTRY,
        engines::adaptive::cqr::ENTRY,
        engines::destination_tag::ENTRY,
        engines::dfsssp::ENTRY,
        engines::grid::dimension_order::ENTRY,
        engines::grid::direction_order::ENTRY,
        engines::dragonfly_minimal::ENTRY,
        engines::fat_tree::ENTRY,
        engines::adaptive::goal::ENTRY,
        engines::lash::ENTRY,
        engines::min_hop::ENTRY,
        engines::adaptive::minimal::ENTRY,
        engines::mp_lash::ENTRY,
        engines::opensm::dfsssp::ENTRY,
        engines::opensm::dor::ENTRY,
        engines::opensm_ftree::ENTRY,
        engines::opensm::lash::ENTRY,
        engines::opensm::min_hop::ENTRY,
        engines::opensm::sssp::ENTRY,
        engines::opensm::torus_2qos::ENTRY,
        engines::opensm::up_down::ENTRY,
        engines::adaptive::planar_adaptive::ENTRY,
        engines::adaptive::romm::ENTRY,
        engines::segment::ENTRY,
        engines::spanning_tree::ENTRY,
        engines::sssp::ENTRY,
        engines::table_import::ENTRY,
        engines::turn_prohibition::ENTRY,
        engines::adaptive::ugal::ENTRY,
        engines::up_down::ENTRY,
        engines::adaptive::valiant::ENTRY,
        engines::adaptive::xy_yx::ENTRY,
    ],
    // OpenSM's own names, in lower case as it writes them, mean its engines
    unclear: &[
        (
            "MINHOP",
            "`MinHop` (balanced here) or `OpenSmMinHop` (OpenSM's tables; also `minhop`)",
        ),
        (
            "UPDN",
            "`UpDown` (free of deadlock) or `OpenSmUpDown` (OpenSM's tables; also `updn`)",
        ),
        (
            "LASH",
            "`Lash` (with options) or `OpenSmLash` (OpenSM's tables and layers; also `lash`)",
        ),
        (
            "DOR",
            "`DimensionOrder` (with datelines) or `OpenSmDor` (OpenSM's tables; also `dor`)",
        ),
        (
            "SSSP",
            "`Sssp` (with options) or `OpenSmSssp` (OpenSM's tables; also `sssp`)",
        ),
        (
            "DFSSSP",
            "`Dfsssp` (with options) or `OpenSmDfsssp` (OpenSM's tables and layers; also `dfsssp`)",
        ),
        (
            "dnup",
            "`OpenSmUpDown` or `UpDown`; OpenSM's dnup is not here",
        ),
        (
            "nue",
            "`OpenSmDfsssp` or `Dfsssp`; OpenSM's nue is not here",
        ),
        ("file", "`TableImport(lfts: \"...\")`"),
        ("torus2qos", "`OpenSmTorus2Qos`"),
    ],
};

/// Every way routing can fail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoutingError {
    /// The engine cannot route this kind of graph.
    #[error("{engine} cannot route this fabric: {reason}")]
    Unsupported {
        /// Registered name of the engine.
        engine: &'static str,
        /// What is missing, and what to use instead.
        reason: String,
    },
    /// More lanes are needed than there are.
    #[error("{engine} needs {needed} lanes, {available} are there")]
    TooFewLanes {
        /// Registered name of the engine.
        engine: &'static str,
        /// Lanes needed.
        needed: u8,
        /// Lanes there are.
        available: u8,
    },
    /// A file of tables is wrong; `line` counts from 1, 0 = the whole file.
    #[error("{file}{}: {reason}", if *line == 0 { String::new() } else { format!(":{line}") })]
    File {
        /// Path as given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Two hosts cannot reach each other.
    #[error("no path from {from} to {to}")]
    Unreachable {
        /// Name of the switch or host the path starts from.
        from: String,
        /// Name of the host it should lead to.
        to: String,
    },
}

impl RoutingError {
    /// A graph that `engine` cannot route.
    pub(crate) fn unsupported(engine: &'static str, reason: impl Into<String>) -> Self {
        Self::Unsupported {
            engine,
            reason: reason.into(),
        }
    }
}
