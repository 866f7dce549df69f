//! Integration tests, one binary: each module is one subject.

// The program as a user runs it.
mod program;
// Wrong scenarios and command lines: what the user reads.
mod bad_input;
// Texts of scenarios, resolved and run.
mod runs;
// What runs of a large set.
mod drawn;
// Seeded random small fabrics, options and traffic.
mod random_fabric;
// A second, naive simulator of the same model: what the engine is compared with.
mod reference;
// The reference alone against closed forms and conservation.
mod reference_checks;
// The engine against the reference model, packet by packet.
mod differential;
// Damaged fabric files: what the fuzz targets check.
#[path = "../fuzz/context.rs"]
mod context;
#[path = "../fuzz/importer.rs"]
mod importer;
mod importers;
// Real fabrics through the program.
mod imported;
#[path = "../fuzz/messages.rs"]
mod message_input;
// Files of other programs, lists of users: nothing is dropped without a word.
mod outside;
// Networks that others have published: the same graphs, port by port.
mod networks;
mod open_heads;
// What a refusal advises is followed: it works.
mod advice;
// Regular topologies found in imported fabrics, whole or with missing links.
mod structure;
// Every routing engine on every topology it accepts, run with the laws checked.
mod engines_by_topologies;
// Results known from theory, on the shipped scenarios.
mod validation;
// Loads of channels at the edges of windows.
mod channel_loads;
// Tables and metrics of runs: sums, scales, windows, and values by hand.
mod tables;
// Algorithms that calculate rates by messages, against the solvers.
mod rates;
// Runs that are stopped and go on.
mod checkpoints;
mod claims;
mod congestion;
mod criteria;
// What is done between two cycles.
mod acts;
// Reservations of flows that end.
mod admission_ends;
// Outputs of switches that drop.
mod dropping;

// Choices by load, and bounds.
mod adaptive;
// Messages of traces, replayed.
mod messages;
// Records of packets and flows.
mod records;
// Full disks, killed runs, two runs to one place: what is kept and what is told.
mod keeping;
// Places and memory that there are not.
mod places;
// One packet watched.
mod watch;
// The systems of a cycle.
mod schedule;
// What engine and reference share, in a second form.
mod second_forms;
// Arrival processes through the program.
mod sources;
// The flow level through the program.
mod flow_level;
// Flows with routes of their own.
mod own_routes;
// Options by pairs: what does not go together, and that everything else does.
mod pairs;
// Routes set up by packets.
mod set_up;
// Sweeps and other studies of many runs, through the program.
mod studies;
// Pages and figures of runs: what they say, that they stand alone, and what is refused.
mod reports;
// The table of acceptance checks of the sources.
mod acceptance;
// The shape of `src/`: circles of imports, arrows into mechanisms.
mod house;
// The shape of `src/`: layers, headers, sizes.
mod layers;
