//! Tables from outside: OpenSM's dumps, or whatever writes the same files.
//!
//! Guarantees: the entries of the files, in order; all else is for the proof to find out.
//! Needs: a table for every switch, an entry for every host, both found by GUID, else by name; as many lanes as
//! the files use.
//! Fails with: [`RoutingError::File`], with the line, when a file cannot be read, names what the graph has not, or
//! leads where there is no link; [`RoutingError::TooFewLanes`], [`RoutingError::Unsupported`].
//! Cost: O(text) time and memory.
//!
//! # Algorithm
//! 1. `lfts` is read in the form of `opensm-lfts.dump`, of `opensm.fdbs` or of what the tools `dump_fts` and
//!    `ibroute` print.
//! 2. The owner of a LID is told by `guid2lid`, else by the comments of `lfts`; without either, LIDs are those
//!    of the fabric file, or those that [`Identities`] gives. Packets do not go to LIDs of switches.
//! 3. `path_sl` gives the service level of each path, which becomes its path layer; all hosts of a switch must
//!    have the same to a destination, and none may be missing.
//! 4. `sl2vl` gives the lane of (input, output, service level). Service level `s` of the scenario with layer `l` of
//!    `n` is InfiniBand's service level `s * n + l`. Without it every layer is a lane.
//!
//! # Deviations
//! A lane map that drops packets (lane 15) on a way in use is refused: the simulator loses none.
//!
//! References: [`IBA`]

mod levels;

use crate::ids::SwitchId;
use crate::references::IBA;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::dump::{DumpError, Row, read_guid2lid, read_lfts};
use crate::routing::identities::{EndPort, Identities};
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, LaneMap, RoutingEngine, RoutingError, Tables,
    UNREACHABLE,
};
use crate::text_file;
use crate::topology::Graph;
use crate::warnings;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableImport {
    lfts: String,
    #[serde(default)]
    guid2lid: Option<String>,
    #[serde(default)]
    sl2vl: Option<String>,
    #[serde(default)]
    path_sl: Option<String>,
}

pub(super) const NAME: &str = "TableImport";

const FILE: &str = "path, relative to the scenario";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "forwarding tables from files in the form of OpenSM's dumps",
    parameters: &[
        Parameter {
            name: "lfts",
            kind: FILE,
            default: None,
            summary: "forwarding tables: opensm-lfts.dump or opensm.fdbs",
        },
        Parameter {
            name: "guid2lid",
            kind: FILE,
            default: Some("None"),
            summary: "LIDs; None = as the comments of `lfts` say",
        },
        Parameter {
            name: "sl2vl",
            kind: FILE,
            default: Some("None"),
            summary: "lanes: opensm-sl2vl.dump; None = a lane per layer",
        },
        Parameter {
            name: "path_sl",
            kind: FILE,
            default: Some("None"),
            summary: "service level of every path as `source-LID destination-LID level`; None = 0",
        },
    ],
    guarantees: &["in order", "not deadlock-free unless verified"],
    references: &[IBA],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<TableImport>()?)),
};

/// Rows of nodes that the fabric does not have: a dump may be of more than is simulated.
#[derive(Debug, Default)]
struct Strangers {
    count: usize,
    /// Line and GUID.
    first: Option<(usize, u64)>,
}

impl Strangers {
    fn add(&mut self, line: usize, guid: u64) {
        self.count += 1;
        self.first.get_or_insert((line, guid));
    }

    /// Says that they are left out.
    fn tell(&self, file: &str) {
        if let Some((line, guid)) = self.first {
            let rows = match self.count {
                1 => String::from("1 node is"),
                count => format!("{count} nodes are"),
            };
            warnings::once(&format!(
                "{file}:{line}: {rows} not in the fabric and left out, the first with GUID {guid:#018x}"
            ));
        }
    }
}

impl RoutingEngine for TableImport {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, seed: u64) -> Result<Tables, RoutingError> {
        self.route_from(graph, budget, seed, Path::new("."))
    }

    fn route_from(
        &self,
        graph: &Graph,
        budget: LaneBudget,
        _seed: u64,
        base: &Path,
    ) -> Result<Tables, RoutingError> {
        let import = Import::new(graph, base);
        let rows = import.read(&self.lfts, read_lfts)?;
        let owners = import.owners(self, &rows)?;
        let next = import.next(&self.lfts, &rows, &owners)?;
        let path_layer = match &self.path_sl {
            Some(file) => import.path_layers(file, &owners, &next)?,
            None => Vec::new(),
        };
        let layers = path_layer.iter().max().map_or(1, |&most| most + 1);
        let lanes = import.lanes(self.sl2vl.as_deref(), budget, layers)?;
        let lanes_needed = most_lanes(&lanes);
        let path_layer = if layers == 1 { Vec::new() } else { path_layer };
        let guarantees = Guarantees {
            lanes_needed,
            ..Guarantees::IN_ORDER
        };
        Ok(Tables::by_destination(
            graph, NAME, next, path_layer, lanes, guarantees,
        ))
    }

    /// Files have tables of the whole fabric, and may lack entries.
    fn route_reachable(
        &self,
        graph: &Graph,
        budget: LaneBudget,
        seed: u64,
        base: &Path,
    ) -> Result<Tables, RoutingError> {
        self.route_from(graph, budget, seed, base)
    }

    fn gives_lanes(&self) -> bool {
        self.sl2vl.is_some()
    }

    fn management(&self, graph: &Graph, base: &Path) -> Option<Vec<u8>> {
        let import = Import::new(graph, base);
        let rows = import.read(&self.lfts, read_lfts).ok()?;
        let owners = import.owners(self, &rows).ok()?;
        let count = graph.switches().len();
        let mut ports = vec![UNREACHABLE; count * count];
        let mut is_any = false;
        for row in &rows {
            let Some(EndPort::Switch(from)) = import.find(Some(row.guid), row.name.as_deref())
            else {
                return None;
            };
            for entry in &row.entries {
                if let (Some(EndPort::Switch(to)), Some(port)) =
                    (owners.get(&entry.lid), entry.port)
                {
                    ports[from.index() * count + to.index()] = port;
                    is_any = true;
                }
            }
        }
        // a file may have entries for hosts only
        is_any.then_some(ports)
    }
}

/// Most different lanes that one service level uses.
fn most_lanes(lanes: &LaneMap) -> u8 {
    let layers = usize::from(lanes.layers);
    let counts = (0..usize::from(lanes.service_levels)).map(|level| {
        let rows = lanes.profiles.chunks(lanes.keys());
        let used = rows.flat_map(|row| &row[level * layers..][..layers]);
        used.fold(0u16, |set, &lane| set | 1 << lane).count_ones()
    });
    counts.max().unwrap_or(1) as u8
}

/// A graph that is given tables from files.
struct Import<'a> {
    graph: &'a Graph,
    base: &'a Path,
    identities: Identities,
    by_guid: HashMap<u64, EndPort>,
    /// The first node of each name.
    by_name: HashMap<&'a str, EndPort>,
}

/// The owner of each LID that is known.
type Owners = BTreeMap<u32, EndPort>;

fn at(file: &str, line: usize, reason: impl Into<String>) -> RoutingError {
    RoutingError::File {
        file: file.to_owned(),
        line,
        reason: reason.into(),
    }
}

fn name(graph: &Graph, end: EndPort) -> &str {
    match end {
        EndPort::Switch(switch) => &graph.switches()[switch.index()].name,
        EndPort::Host(host) => &graph.hosts()[host.index()].name,
    }
}

impl<'a> Import<'a> {
    fn new(graph: &'a Graph, base: &'a Path) -> Self {
        let identities = Identities::new(graph);
        let ends = identities.end_ports();
        let mut import = Self {
            graph,
            base,
            by_guid: ends
                .iter()
                .map(|&end| (identities.guid(end), end))
                .collect(),
            by_name: HashMap::with_capacity(ends.len()),
            identities,
        };
        for end in ends {
            let name = name(graph, end);
            import.by_name.entry(name).or_insert(end);
        }
        import
    }

    fn read<T>(
        &self,
        file: &str,
        parse: impl Fn(&str) -> Result<T, DumpError>,
    ) -> Result<T, RoutingError> {
        let text = text_file::read_lossy(&self.base.join(file)).map_err(|error| {
            let reason = format!(
                "cannot be read: {error}; relative names start from the folder of the scenario"
            );
            at(file, 0, reason)
        })?;
        parse(&text).map_err(|error| at(file, error.line, error.reason))
    }

    /// The node with a GUID, else the one with a name.
    fn find(&self, guid: Option<u64>, name: Option<&str>) -> Option<EndPort> {
        let by_guid = guid.and_then(|guid| self.by_guid.get(&guid));
        let found = by_guid.or_else(|| name.and_then(|name| self.by_name.get(name)));
        found.copied()
    }

    fn name(&self, end: EndPort) -> &str {
        name(self.graph, end)
    }

    /// Step 2.
    fn owners(&self, files: &TableImport, rows: &[Row]) -> Result<Owners, RoutingError> {
        let mut owners = Owners::new();
        if let Some(file) = &files.guid2lid {
            // it may remember nodes that are gone
            let mut strangers = Strangers::default();
            for (line, guid, lid) in self.read(file, read_guid2lid)? {
                let Some(owner) = self.find(Some(guid), None) else {
                    strangers.add(line, guid);
                    continue;
                };
                if let Some(other) = owners.insert(lid, owner)
                    && other != owner
                {
                    let (name, other) = (self.name(owner), self.name(other));
                    return Err(at(file, line, format!("LID {lid} of {name} is {other}'s")));
                }
            }
            strangers.tell(file);
            return Ok(owners);
        }
        for entry in rows.iter().flat_map(|row| &row.entries) {
            if (entry.guid.is_some() || entry.name.is_some()) && !owners.contains_key(&entry.lid) {
                let owner = self
                    .find(entry.guid, entry.name.as_deref())
                    .ok_or_else(|| {
                        let name = entry.name.as_deref().unwrap_or_default();
                        let guid = entry.guid.unwrap_or_default();
                        let reason =
                            format!("no host or switch has GUID {guid:#018x} or the name `{name}`");
                        at(&files.lfts, entry.line, reason)
                    })?;
                owners.insert(entry.lid, owner);
            }
        }
        if owners.is_empty() {
            let ends = self.identities.end_ports().into_iter();
            owners.extend(ends.map(|end| (self.identities.lid(end), end)));
        }
        Ok(owners)
    }

    /// Step 1.
    fn next(&self, file: &str, rows: &[Row], owners: &Owners) -> Result<Vec<u8>, RoutingError> {
        let hosts = self.graph.hosts().len();
        let mut next = vec![UNREACHABLE; self.graph.switches().len() * hosts];
        let mut first_line = vec![None; self.graph.switches().len()];
        for row in rows {
            let name = row.name.as_deref();
            let Some(EndPort::Switch(switch)) = self.find(Some(row.guid), name) else {
                let name = name.map_or(String::new(), |name| format!(" or the name `{name}`"));
                let reason = format!("no switch has GUID {:#018x}{name}", row.guid);
                return Err(at(file, row.line, reason));
            };
            if let Some(line) = first_line[switch.index()].replace(row.line) {
                let name = self.name(EndPort::Switch(switch));
                let reason = format!("{name} already has a table on line {line}");
                return Err(at(file, row.line, reason));
            }
            for entry in &row.entries {
                let Some(&owner) = owners.get(&entry.lid) else {
                    return Err(at(file, entry.line, self.ownerless(entry.lid)));
                };
                if let (EndPort::Host(host), Some(port)) = (owner, entry.port) {
                    self.require_link(file, entry.line, switch, port)?;
                    let old = &mut next[switch.index() * hosts + host.index()];
                    if ![UNREACHABLE, port].contains(old) {
                        let (name, lid) = (self.name(owner), entry.lid);
                        let reason = format!(
                            "LID {lid:#06x}: {name} has port {old} before, and port {port} here"
                        );
                        return Err(at(file, entry.line, reason));
                    }
                    *old = port;
                }
            }
        }
        if let Some(missing) = first_line.iter().position(Option::is_none) {
            let name = &self.graph.switches()[missing].name;
            let guid = self.identities.switch_guids[missing];
            let reason = format!("no table for {name} (GUID {guid:#018x})");
            return Err(at(file, 0, reason));
        }
        Ok(next)
    }

    fn require_link(
        &self,
        file: &str,
        line: usize,
        switch: SwitchId,
        port: u8,
    ) -> Result<(), RoutingError> {
        if self.graph.port_channel(switch, u16::from(port)).is_some() {
            return Ok(());
        }
        let name = self.name(EndPort::Switch(switch));
        Err(at(file, line, format!("{name} has no link at port {port}")))
    }

    /// What to say about a LID without an owner.
    fn ownerless(&self, lid: u32) -> String {
        let nodes = self.graph.switches().iter().map(|node| node.lid);
        let nodes = nodes.chain(self.graph.hosts().iter().map(|node| node.lid));
        let hint = if nodes.max().unwrap_or(0) > 0 {
            "is the file of another fabric?"
        } else {
            "the fabric has no LIDs of its own: say whose they are by `guid2lid`, or import it by `Ibnetdiscover`"
        };
        format!("LID {lid:#06x} belongs to no node of the fabric; {hint}")
    }
}
