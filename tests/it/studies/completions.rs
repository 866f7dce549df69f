//! Sweeps of jobs: completion comes first, in cycles and time, and what runs beside is told.

use super::Folder;
use std::fs;

/// An incast of three flows of 256 flits, and a load of which two hosts ask one for 0.2 or 1.8 of its link.
const JOBS: &str = r#"Scenario(
    title: "jobs", seed: 1,
    fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 8), flit: "64 B", link: (rate: "40 Gbit/s", latency: "10 ns"),
             switch: (lanes: 2, lane_capacity: "64 flits")),
    routing: UpDown(),
    traffic: [
        (name: "in", flows: [(pairs: List(pairs: [(1, 0), (2, 0), (3, 0)]), bytes: "64 KiB")], size: "1 KiB"),
        (name: "u", hosts: Range(4, 5), pattern: HotSpot(targets: [6], fraction: 1.0), process: Bernoulli(load: 0.1),
         size: "256 B", sl: 1),
    ],
    phases: (warmup: "0 cycles", measure: Flows(at_most: "50000 cycles")),
    sweep: (axes: [("traffic.u.process.load", [0.1, 0.9])], seeds: 2),
)"#;

#[test]
fn table_and_page_begin_with_completion_and_say_what_is_saturated_beside() {
    let folder = Folder::new();
    fs::write(folder.path("jobs.ron"), JOBS).expect("writable");
    let table = folder.succeeds(&["sweep", "jobs.ron", "--out", "out"]);
    let heading = table.lines().find(|line| line.starts_with("point"));
    let heading: Vec<&str> = heading.expect("a heading").split_whitespace().collect();
    let expected = [
        "verdict",
        "beside",
        "runs",
        "completion",
        "+-",
        "time",
        "offered",
    ];
    assert_eq!(heading[2..9], expected, "{table}");
    // 3 * 1024 flits over one link take 39.3 us and a little
    for (start, beside) in [("1  ", "u steady"), ("2  ", "u saturated")] {
        let row = table.lines().find(|line| line.starts_with(start));
        let row = row.expect("a row");
        assert!(
            row.contains(" complete ") && row.contains(&format!("  {beside}  ")),
            "{table}"
        );
        assert!(row.contains(" 39.") && row.contains(" us"), "{table}");
    }
    folder.succeeds(&["report", "out", "--out", "page.html"]);
    let page = fs::read_to_string(folder.path("page.html")).expect("a page");
    let head = &page[..page.find("<section>").expect("sections")];
    let completion = head.find("completion 3").expect(head);
    let complete = head.find("complete up to").expect(head);
    assert!(completion < complete, "{head}");
    assert!(head.contains("\u{b5}s"), "{head}");
    assert!(
        head.contains("beside it u is steady up to offered load"),
        "{head}"
    );
    assert!(head.contains("(saturated)"), "{head}");
    assert!(page.contains("<th>completion</th>"), "{page}");
}
