//! Any bytes as an `ibnetdiscover` file: a graph or an error with a line, never a panic.
//!
//! A graph that comes out is exported as an edge list, which must build a graph with the same survey.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use virtlane::registry::Arguments;
use virtlane::topology::ibnetdiscover::Ibnetdiscover;
use virtlane::topology::{
    BuildContext, ChannelTiming, Survey, TOPOLOGIES, Topology, export, link_rate,
};
use virtlane::units::{BitRate, Clock};

/// Folder of the one file this process writes its input to.
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

fuzz_target!(|bytes: &[u8]| {
    let base = FOLDER.as_path();
    std::fs::write(base.join("input"), bytes).expect("the input can be written");
    let fabric = Ibnetdiscover {
        file: "input".into(),
    };
    let Ok(mut rates) = fabric.own_rates(base) else {
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
    let Ok(graph) = fabric.build(&context) else {
        return;
    };
    if graph.switches().len() > 100 {
        return;
    }
    std::fs::write(base.join("edges"), export::edge_list(&graph, &context))
        .expect("the export can be written");
    let edges = TOPOLOGIES.find("EdgeList").expect("registered");
    let text = r#"(file: "edges")"#;
    let again = (edges.build)(Arguments { text })
        .expect("arguments fit")
        .build(&context)
        .unwrap_or_else(|error| panic!("the export is refused: {error}"));
    assert_eq!(Survey::new(&graph), Survey::new(&again));
});
