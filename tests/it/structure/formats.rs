//! Structure through files of every form, and through the program.

use super::graph;
use super::mixed::{Mix, mixed};
use crate::context::context;
use crate::program;
use std::path::Path;
use virtlane::registry::Arguments;
use virtlane::topology::formats::export;
use virtlane::topology::{BuildContext, Graph, TOPOLOGIES};

/// A form: the file, and the topology that reads it.
type Form = (
    &'static str,
    fn(&Graph, &BuildContext<'_>) -> String,
    &'static str,
);

const FORMS: [Form; 4] = [
    (
        "net.edges",
        export::edge_list,
        "EdgeList(file: \"net.edges\")",
    ),
    (
        "net.graphml",
        export::graph_ml,
        "GraphMl(file: \"net.graphml\")",
    ),
    (
        "net.ibnetdiscover",
        export::ibnetdiscover,
        "Ibnetdiscover(file: \"net.ibnetdiscover\")",
    ),
    ("net.net", export::ibsim, "Ibsim(file: \"net.net\")"),
];

#[test]
fn files_of_every_form_are_recognised() {
    let folder = tempfile::tempdir().expect("a folder");
    let context = context(folder.path());
    for form in [
        "KAryNTree(k: 3, n: 3)",
        "Torus(radix: [5, 6])",
        "HyperX(sizes: [3, 4])",
        "Dragonfly(p: 2, a: 4, h: 2)",
        "Mesh(radix: [5, 4])",
    ] {
        let fabric = mixed(&graph(form), Mix::All, 2);
        let told = fabric.clone().recognised().structures()[0].told();
        for (file, write, reader) in FORMS {
            let path = folder.path().join(file);
            std::fs::write(&path, write(&fabric, &context)).expect("written");
            let (name, text) = reader.split_at(reader.find('(').expect("arguments"));
            let entry = TOPOLOGIES.find(name).expect("registered");
            let read = (entry.build)(Arguments { text }).expect("arguments fit");
            let read = read.build(&context).expect("read").recognised();
            let found: Vec<String> = read.structures().iter().map(|found| found.told()).collect();
            assert_eq!(found.first(), Some(&told), "{form} as {file}");
        }
    }
}

fn scenario(folder: &Path, name: &str, topology: &str, routing: &str) {
    let text = format!(
        "Scenario(title: \"tree\", seed: 1,
          fabric: (topology: {topology}, flit: \"64 B\", link: (rate: \"100 Gbit/s\", latency: \"100 ns\"),
            switch: (lanes: 3, lane_capacity: \"64 flits\")),
          routing: {routing},
          traffic: [(name: \"u\", pattern: Uniform, process: Bernoulli(load: 0.5), size: \"1 KiB\", sl: 0)],
          phases: (warmup: \"2000 cycles\", measure: \"10000 cycles\"))"
    );
    std::fs::write(folder.join(name), text).expect("written");
}

/// Offered and accepted load of a run.
fn loads(folder: &Path, name: &str) -> (f64, f64) {
    let (code, text, errors) = program::virtlane(folder, &["run", name]);
    assert_eq!(code, Some(0), "{errors}");
    let line = text
        .lines()
        .find(|line| line.starts_with("u "))
        .expect("a class");
    let words: Vec<f64> = line
        .split_whitespace()
        .skip(2)
        .filter_map(|word| word.parse().ok())
        .collect();
    (words[1], words[2])
}

/// The program's own export of a 4-ary 3-tree carries what the generated one does.
#[test]
fn an_exported_tree_is_routed_as_the_generated_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let tree = "KAryNTree(k: 4, n: 3)";
    scenario(folder, "built.ron", tree, "FatTree()");
    let (code, text, errors) = program::virtlane(
        folder,
        &["topology", "built.ron", "--export", "ibnetdiscover"],
    );
    assert_eq!(code, Some(0), "{errors}");
    std::fs::write(folder.join("tree.ibnetdiscover"), text).expect("written");
    let file = "Ibnetdiscover(file: \"tree.ibnetdiscover\")";
    for engine in ["FatTree()", "AdaptiveAscent()"] {
        scenario(folder, "built.ron", tree, engine);
        scenario(folder, "read.ron", file, engine);
        let (built, read) = (loads(folder, "built.ron"), loads(folder, "read.ron"));
        if engine == "FatTree()" {
            assert_eq!((built, read), ((0.4968, 0.4950), (0.4968, 0.4950)));
        }
        assert!(
            // ties of adaptive choices are drawn by other switches
            (read.1 - built.1).abs() < 0.003,
            "{engine}: {read:?} {built:?}"
        );
    }
    let (_, text, _) = program::virtlane(folder, &["topology", "read.ron"]);
    assert!(
        text.contains("structure               a 4-ary 3-tree, found in the graph\n"),
        "{text}"
    );
    let (_, text, _) = program::virtlane(folder, &["routes", "read.ron"]);
    assert!(
        text.contains("routed as               a 4-ary 3-tree, found in the graph\n"),
        "{text}"
    );
}
