//! Files as other programs write them, and lists as users write them: read as they stand, or told.

mod fabrics;
mod lists;
mod told;

use std::path::Path;
use virtlane::scenario::{Document, Parts, Resolved};

/// A scenario with this fabric and class, whose files are in a folder.
fn resolve_in(folder: &Path, topology: &str, class: &str, lanes: u8) -> Result<Resolved, String> {
    let text = format!(
        r#"Scenario(
            fabric: (topology: {topology}, flit: "64 B", link: (rate: "10 Gbit/s", latency: "100 ns"),
                     switch: (lanes: {lanes}, lane_capacity: "64 flits")),
            routing: UpDown(),
            traffic: [(name: "a", size: "1 KiB", {class})],
            phases: (warmup: "0 cycles", measure: "1000 cycles"),
        )"#
    );
    let document =
        Document::parse("outside.ron", &text, folder).map_err(|error| error.to_string())?;
    document
        .resolve(&Parts::registered())
        .map_err(|error| error.to_string())
}

const UNIFORM: &str = "pattern: Uniform, process: Bernoulli(load: 0.1)";
