//! What every importer must do: any bytes give a graph or an error, never a panic.
//!
//! A graph that comes out is exported as an edge list and in the importer's own form; both must build a graph
//! with the same survey.

use super::context::{FOLDER, RATE, context, topology};
use virtlane::topology::formats::export;
use virtlane::topology::graph::link_rate;
use virtlane::topology::{BuildContext, Graph, Survey, TopologyError};
use virtlane::units::BitRate;

/// Most switches of a graph that is exported and read back.
const LARGEST: usize = 100;

/// A form: how a graph is written in it.
pub(super) type Write = fn(&Graph, &BuildContext<'_>) -> String;

/// Feeds `bytes` to the topology `reader`, whose own form is written by `write`.
pub(super) fn check(bytes: &[u8], reader: &str, write: Write) {
    let base = FOLDER.as_path();
    std::fs::write(base.join("input"), bytes).expect("the input can be written");
    let topology = topology(reader, "(file: \"input\")");
    let Ok(mut rates) = topology.own_rates(base) else {
        return;
    };
    rates.push(BitRate(RATE));
    let Some(reference) = link_rate::reference_rate(&rates) else {
        return;
    };
    let mut context = context(base);
    context.clock.reference_rate = reference.0;
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

fn read_back(reader: &str, text: &str, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
    std::fs::write(context.base.join("export"), text).expect("the export can be written");
    topology(reader, "(file: \"export\")").build(context)
}
