//! Routes and proofs that a study has computed before: it has many runs, few fabrics and few engines.
//!
//! Guarantees: what is remembered is what would be computed again: a question has everything that enters its answer. Each is
//! answered once, whoever asks first; others wait.
//! Needs: one study, that is one folder of files and one set of registries; threads that ask are none of rayon's, for the
//! answers come from these.
//! Cost: of each question a graph, tables of up to `MOST_BYTES` in all, and a proof.

use super::super::prove::{proved_levels, set_ups};
use super::routes::Unroutable;
use crate::ids::SlId;
use crate::plan::Plan;
use crate::routing::{LaneBudget, Proof, Routes, SetUpRoutes};
use crate::topology::Graph;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Memory of all tables that are kept \[bytes\]: those beyond are computed again for every run.
const MOST_BYTES: u64 = 1 << 28;

/// What routes depend on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// Name and arguments of the engine.
    pub(super) engine: String,
    pub(super) budget: LaneBudget,
    pub(super) allow_unreachable: bool,
    /// The seed, for engines that draw.
    pub(super) seed: Option<u64>,
}

/// What a proof depends on beside the routes.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the plan by itself"
)]
struct ProofQuestion {
    lanes: u8,
    service_levels: Vec<SlId>,
    set_ups: [Vec<SetUpRoutes>; 2],
    joins_lanes: bool,
    has_management: bool,
    allow_deadlock: bool,
    allow_unreachable: bool,
}

type Answer<T, E> = OnceLock<Result<T, E>>;

/// What a study knows of its routes.
#[derive(Debug)]
pub struct Known {
    /// Where what is found is kept; `None` = nowhere.
    shelf: Option<Shelf>,
}

/// Everything that is kept.
#[derive(Debug, Default)]
struct Shelf {
    entries: Mutex<Vec<Arc<Entry>>>,
    bytes: AtomicU64,
    routed: AtomicUsize,
    proved: AtomicUsize,
}

/// Routes by a question, with what was proved of them.
#[derive(Debug)]
pub(super) struct Entry {
    graph: Arc<Graph>,
    question: Question,
    /// The routes; without them when there is no room to keep them.
    routes: Answer<Option<Routes>, Unroutable>,
    proofs: Mutex<Vec<(ProofQuestion, Arc<Answer<Proof, String>>)>>,
}

impl Known {
    /// Remembers.
    pub fn new() -> Self {
        Self {
            shelf: Some(Shelf::default()),
        }
    }

    /// Remembers nothing: for single runs.
    pub const fn nothing() -> Self {
        Self { shelf: None }
    }

    /// How often routes and proofs were computed.
    pub fn computed(&self) -> (usize, usize) {
        self.shelf.as_ref().map_or((0, 0), |shelf| {
            (
                shelf.routed.load(Ordering::Relaxed),
                shelf.proved.load(Ordering::Relaxed),
            )
        })
    }

    /// The routes of a graph, with the entry that proofs of them are kept in.
    pub(super) fn routes(
        &self,
        graph: &Graph,
        question: Question,
        compute: impl Fn() -> Result<Routes, Unroutable>,
    ) -> Result<(Routes, Option<Arc<Entry>>), Unroutable> {
        let Some(store) = &self.shelf else {
            return Ok((compute()?, None));
        };
        let entry = store.entry(graph, question);
        let mut fresh = None;
        let kept = entry.routes.get_or_init(|| {
            store.routed.fetch_add(1, Ordering::Relaxed);
            let routes = compute()?;
            let bytes = bytes(graph);
            let is_kept = store.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST_BYTES;
            let kept = is_kept.then(|| routes.clone());
            fresh = Some(routes);
            Ok(kept)
        });
        let routes = match (fresh, kept) {
            (_, Err(error)) => return Err(error.clone()),
            (Some(routes), _) => routes,
            (None, Ok(Some(routes))) => routes.clone(),
            (None, Ok(None)) => compute()?,
        };
        Ok((routes, Some(entry)))
    }

    /// The proof of the routes of an entry for a plan.
    pub(super) fn proof(
        &self,
        entry: Option<&Entry>,
        plan: &Plan,
        prove: impl FnOnce() -> Result<Proof, String>,
    ) -> Result<Proof, String> {
        // routes of flows are the plan's own
        let is_own = plan.routes_of_flows.is_some();
        let (Some(store), Some(entry), false) = (&self.shelf, entry, is_own) else {
            return prove();
        };
        let answer = entry.proof(ProofQuestion::of(plan));
        answer
            .get_or_init(|| {
                store.proved.fetch_add(1, Ordering::Relaxed);
                prove()
            })
            .clone()
    }
}

impl Default for Known {
    fn default() -> Self {
        Self::new()
    }
}

impl Shelf {
    fn entry(&self, graph: &Graph, question: Question) -> Arc<Entry> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |entry: &&Arc<Entry>| *entry.graph == *graph;
        let known = entries.iter().filter(same);
        if let Some(entry) = known.clone().find(|entry| entry.question == question) {
            return Arc::clone(entry);
        }
        let shared = known.map(|entry| Arc::clone(&entry.graph)).next();
        let entry = Arc::new(Entry {
            graph: shared.unwrap_or_else(|| Arc::new(graph.clone())),
            question,
            routes: OnceLock::new(),
            proofs: Mutex::default(),
        });
        entries.push(Arc::clone(&entry));
        entry
    }
}

impl Entry {
    fn proof(&self, question: ProofQuestion) -> Arc<Answer<Proof, String>> {
        let mut proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = proofs.iter().find(|(other, _)| *other == question) {
            return Arc::clone(answer);
        }
        let answer = Arc::default();
        proofs.push((question, Arc::clone(&answer)));
        answer
    }
}

impl ProofQuestion {
    fn of(plan: &Plan) -> Self {
        Self {
            lanes: plan.switch.lanes,
            service_levels: proved_levels(plan),
            set_ups: set_ups(plan),
            joins_lanes: plan.switch.joins_lanes(),
            has_management: plan.classes.iter().any(|class| class.management),
            allow_deadlock: plan.allow_deadlock,
            allow_unreachable: plan.allow_unreachable,
        }
    }
}

/// Memory of the tables of a graph, about \[bytes\]: a port and a layer for every switch and host.
fn bytes(graph: &Graph) -> u64 {
    let (switches, hosts) = (graph.switches().len() as u64, graph.hosts().len() as u64);
    2 * switches * hosts.max(switches) + 64 * graph.channels().len() as u64
}
