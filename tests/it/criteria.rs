//! What admission controls are judged by (S22 of seed 003, C55), from one set of results.

use crate::program::virtlane;
use std::fs;

/// Two calls, one of them to a host whose channel somebody fills, under two controls.
const STUDY: &str = r#"Scenario(
    title: "two calls", seed: 1,
    fabric: (topology: Complete(switches: 1, hosts_per_switch: 4), flit: "64 B",
             link: (rate: "100 Gbit/s", latency: "3 cycles"), switch: (lanes: 2, lane_capacity: "64 flits")),
    routing: MinHop(),
    traffic: [
        (name: "calls", flows: [(pairs: List(pairs: [(0, 1), (2, 3)]), limit: Rate(0.1))],
         requests: (peak: 0.1, delay: "10 cycles", jitter: "1 cycles"), size: "4 flits"),
        (name: "bulk", flows: [(pairs: List(pairs: [(1, 3)]), limit: Rate(0.83))], size: "8 flits"),
    ],
    admission: (control: AdmitAll(), gap: "100 cycles", empty: 1),
    phases: (warmup: "0 cycles", measure: "4000 cycles"),
    observe: (percentiles: true),
    sweep: (axes: [("admission.control", [
        JitterProbing(packets: 4, gap: "40 cycles", look: "300 cycles", accept_zero: true), AdmitAll(),
    ])]),
)"#;

/// Alone, the admitted call keeps its bounds; beside the other traffic the second one does not. Who admits both carries more.
#[test]
fn controls_are_ranked_by_what_they_are_judged_by() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("study.ron"), STUDY).expect("a writable folder");
    for arguments in [
        &["sweep", "study.ron", "--quiet", "--out", "study"][..],
        &["report", "study", "--out", "study.html"],
    ] {
        let (code, _, errors) = virtlane(folder.path(), arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {errors}");
    }
    let page = fs::read_to_string(folder.path().join("study.html")).unwrap();
    let start = page.find("What admission is judged by").expect("the table");
    let table = &page[start..start + page[start..].find("</table>").unwrap()];
    let cells = |row: usize| -> Vec<String> {
        let row = table.split("<tr>").nth(2 + row).expect("a row");
        let cells = row.split("<td>").skip(1);
        let texts = cells.map(|cell| cell.split('<').next().unwrap_or_default().to_owned());
        texts.collect()
    };
    let (probing, all) = (cells(0), cells(1));
    assert_eq!(probing[1], "1.0000 (1)", "{table}");
    // 507 packets of calls and bulk in 4,000 cycles; the 12 probes would make it 0.1298
    assert_eq!(probing[3], "0.1268 (2)", "{table}");
    assert_eq!(all[1], "0.5000 (2)", "{table}");
    assert!(all[3].ends_with("(1)"), "{table}");
}
