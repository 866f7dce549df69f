//! Virtlane: a parallel, cycle-accurate simulator of lossless cluster fabrics.
//!
//! Simulated are InfiniBand-like fabrics: switches with virtual lanes, credits and forwarding tables, links with
//! a rate and a latency of their own, hosts that make and take packets. One cycle is the time of one flit on
//! the reference link. Work is done per packet and hop, never for idle ports, and every flit, credit and
//! grant still has its exact cycle; `docs/model.md` has the rules, `tests/it/reference` their naive second form.
//!
//! # From text to files
//!
//! One type per step; each step reads the types before it only.
//!
//! ```text
//! scenario file ── parse ──> Document ── decode ──> Scenario
//! Scenario ── topology ──> Graph ── routing engine ──> Routes ── verify ──> Proof     no proof, no run
//! Scenario + Graph ── resolve ──> Plan
//! Plan + Graph + Routes ── lower ──> one World per shard   +   the schedule of a cycle
//! shards ── windows of cycles in parallel, mail in between ──> Records
//! Records ── merge, estimate ──> RunResult ── write ──> run directory
//! ```
//!
//! # Map
//!
//! From the bottom up; a module imports its own layer and lower ones only (`tests/it/layers.rs` checks it).
//!
//! | module | holds |
//! |---|---|
//! | [`ids`] | typed numbers of switches, hosts, ports, channels, lanes |
//! | [`units`] | cycles, flits, rates and times as a user writes them |
//! | [`rng`] | one random stream per seed, purpose and entity |
//! | [`warnings`] | what is said about inputs that go on all the same |
//! | [`machine`] | its name, and which processes run |
//! | [`memory`] | whether what is about to be made fits |
//! | [`registry`] | tables of the parts a scenario can name |
//! | [`references`] | the papers and standards that doc comments and `describe` cite |
//! | [`topology`] | what is connected to what: [`Graph`](topology::Graph) |
//! | [`routing`] | graph to forwarding tables or adaptive routing, with a proof |
//! | [`qos`] | service levels and VL arbitration |
//! | [`traffic`] | who sends what to whom, and when |
//! | [`control`] | algorithms that set what flows may send |
//! | [`measure`] | counters, histograms, the digest |
//! | [`plan`] | a scenario as numbers: everything that can be chosen |
//! | [`fluid`] | flows as fluids: routes by counters, rates by solvers |
//! | [`metrics`] | the values of a run that have a name, each a function of its result |
//! | [`scenario`] | text to [`Plan`](plan::Plan), and back |
//! | [`fabric`] | the hardware as components of `bevy_ecs`, its invariants |
//! | [`cycle`] | the stages of a cycle and the schedule that orders them |
//! | [`run`] | shards, windows, phases, watchdog, verdict |
//! | [`report`] | results as tables and files |
//! | [`flow_level`] | a scenario as fluids: runs, tables, summary |
//! | [`study`] | many runs: sweeps, replications, tables of means |
//! | [`claims`] | the claims of a scenario against what was found |
//! | [`results`] | run and sweep directories read back: points, curves |
//! | [`chart`] | axes, curves, bars and coloured cells as SVG and PNG |
//! | [`figures`] | what a study or a run is drawn as, one file per figure |
//! | [`html_report`] | the page that shows it all |
//! | [`error`] | what a command can fail with, and its exit code |
//! | [`cli`] | the command line |
//!
//! # Where to start
//!
//! [`cycle`] is what happens; [`fabric`] is what it happens to; [`plan`] is everything that can be chosen.
//!
//! # How to add a part
//!
//! A part is one file with an [`Entry`](registry::Entry), and one line in the table of its folder:
//! [`TOPOLOGIES`](topology::TOPOLOGIES), [`ENGINES`](routing::ENGINES), [`PATTERNS`](traffic::PATTERNS),
//! [`PROCESSES`](traffic::PROCESSES), [`FLOW_GENERATORS`](traffic::FLOW_GENERATORS), [`MESSAGE_SOURCES`](traffic::MESSAGE_SOURCES),
//! [`ALGORITHMS`](control::ALGORITHMS), [`SOLVERS`](fluid::rates::SOLVERS) or [`POLICIES`](fluid::routes::POLICIES). From the entry come the constructor, the messages, `virtlane list` and
//! `virtlane describe`; tests run over the whole table. Recipes with file names are in `CONTRIBUTING.md`.

pub mod admission;
pub mod chart;
pub mod claims;
pub mod cli;
pub mod control;
pub mod cycle;
pub mod error;
pub mod fabric;
pub mod figures;
pub mod flow_level;
pub mod fluid;
pub mod html_report;
pub mod ids;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod metrics;
pub mod plan;
pub mod qos;
pub mod references;
pub mod registry;
pub mod report;
pub mod results;
pub mod rng;
pub mod routing;
pub mod run;
pub mod scenario;
pub mod study;
pub mod text_file;
pub mod topology;
pub mod traffic;
pub mod units;
pub mod warnings;
