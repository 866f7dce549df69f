//! What every importer must do: any bytes give a graph or an error, never a panic.
//!
//! A graph that comes out is exported as an edge list and in the importer's own form; both must build a graph
//! with the same survey.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use virtlane::registry::Arguments;
use virtlane::topology::{
    BuildContext, ChannelTiming, Graph, Survey, TOPOLOGIES, Topology, TopologyError, export,
    link_rate,
};
use virtlane::units::{BitRate, Clock};

/// Folder of the files this process writes its input to; it stays behind.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let shared_memory = Path::new("/dev/shm");
    let parent = if shared_memory.is_dir() {
        shared_memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let folder = parent.join(format!("virtlane-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    folder
});

/// Most switches of a graph that is exported and read back.
const LARGEST: usize = 100;

/// A form: how a graph is written in it.
pub(super) type Write = fn(&Graph, &BuildContext<'_>) -> String;

/// Feeds `bytes` to the topology `reader`, whose own form is written by `write`.
pub(super) fn check(bytes: &[u8], reader: &str, write: Write) {
    let base = FOLDER.as_path();
    std::fs::write(base.join("input"), bytes).expect("the input can be written");
    let topology = topology(reader, "input");
    let Ok(mut rates) = topology.own_rates(base) else {
        return;
    };
    rates.push(BitRate(10_000_000_000));
    let Some(reference) = link_rate::reference_rate(&rates) else {
        return;
    };
    let context = BuildContext {
        seed: 1,
        clock: Clock {
            flit_bytes: 64,
            reference_rate: reference.0,
        },
        switch_link: ChannelTiming::default(),
        host_link: ChannelTiming::default(),
        base,
    };
    let Ok(graph) = topology.build(&context) else {
        return;
    };
    if graph.switches().len() > LARGEST {
        return;
    }
    for (reader, write) in [("EdgeList", export::edge_list as Write), (reader, write)] {
        let again = read_back(reader, &write(&graph, &context), &context)
            .unwrap_or_else(|error| panic!("the export for {reader} is refused: {error}"));
        assert_eq!(Survey::new(&graph), Survey::new(&again));
    }
}

fn topology(reader: &str, file: &str) -> Box<dyn Topology> {
    let entry = TOPOLOGIES.find(reader).expect("registered");
    let text = format!("(file: \"{file}\")");
    (entry.build)(Arguments { text: &text }).expect("arguments fit")
}

fn read_back(reader: &str, text: &str, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
    std::fs::write(context.base.join("export"), text).expect("the export can be written");
    topology(reader, "export").build(context)
}
