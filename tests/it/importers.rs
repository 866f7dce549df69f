//! Fabric files, whole and damaged: what the fuzz targets check, on their seeds and without a fuzzer.

use crate::importer::{Write, check};
use crate::message_input;
use virtlane::topology::formats::export;

const FORMS: [(&str, &str, Write); 4] = [
    ("edge_list", "EdgeList", export::edge_list),
    ("graph_ml", "GraphMl", export::graph_ml),
    ("ibnetdiscover", "Ibnetdiscover", export::ibnetdiscover),
    ("ibsim", "Ibsim", export::ibsim),
];

/// Every prefix, every line left out or doubled, and every byte replaced by some that matter in a grammar.
fn damaged(seed: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..=seed.len()).map(|end| seed[..end].to_vec()).collect();
    let lines: Vec<&[u8]> = seed.split_inclusive(|&byte| byte == b'\n').collect();
    for i in 0..lines.len() {
        let without = [&lines[..i], &lines[i + 1..]].concat();
        all.push(without.concat());
        let twice = [&lines[..=i], &lines[i..]].concat();
        all.push(twice.concat());
    }
    for place in 0..seed.len() {
        for byte in *b"0\"[\n#<" {
            let mut text = seed.to_vec();
            text[place] = byte;
            all.push(text);
        }
    }
    all
}

#[test]
fn damaged_files_give_a_graph_or_an_error() {
    for (folder, reader, write) in FORMS {
        let entries = std::fs::read_dir(format!("tests/fuzz/seeds/{folder}"));
        for entry in entries.expect("tests run in the repository") {
            let seed = std::fs::read(entry.expect("readable").path()).expect("readable");
            for text in damaged(&seed) {
                check(&text, reader, write);
            }
        }
    }
}

#[test]
fn damaged_messages_give_messages_or_an_error() {
    for (folder, source) in [("trace", "Trace"), ("goal", "Goal")] {
        let seed = std::fs::read(format!("tests/fuzz/seeds/messages/{folder}")).expect("readable");
        let sound = message_input::check(&seed, source);
        assert!(sound > Some(3), "{folder}");
        let found = damaged(&seed).into_iter();
        let still = found.filter(|text| message_input::check(text, source).is_some());
        assert!(still.count() > 10, "{folder}");
    }
}
