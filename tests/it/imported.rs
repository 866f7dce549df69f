//! Real fabrics through the program: mixed speeds, LIDs, forwarding dumps, short names of engines.

use crate::program;
use std::path::Path;

/// Runs the program on a scenario with a topology and a routing; exit code, output, errors.
fn virtlane(
    folder: &Path,
    command: &str,
    (topology, routing): (&str, &str),
    more: &[&str],
) -> (Option<i32>, String, String) {
    let text = format!(
        "Scenario(title: \"imported\", fabric: (topology: {topology}, link: (rate: \"100 Gbit/s\", latency: \"100 ns\"), \
         switch: (lanes: 8, lane_capacity: \"8 KiB\")), routing: {routing}, traffic: [(name: \"bulk\", pattern: Uniform, \
         process: Bernoulli(load: 0.05), size: \"2 KiB\")], phases: (warmup: \"1000 cycles\", measure: \"5000 cycles\"), \
         allow_deadlock: true)"
    );
    std::fs::write(folder.join("scenario.ron"), text).expect("can be written");
    program::virtlane(folder, &[&[command, "scenario.ron"], more].concat())
}

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    format!("\"{}\"", path.display())
}

#[test]
fn fdr_ndr_and_hdr100_run_in_one_fabric() {
    let folder = tempfile::tempdir().expect("a folder");
    let topology = format!(
        "Ibnetdiscover(file: {})",
        file("tests/networks/mixed_speeds.ibnetdiscover")
    );
    let parts = (topology.as_str(), "MinHop()");
    let (code, text, errors) = virtlane(folder.path(), "topology", parts, &[]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        text.contains("links of switches       4, 1 of them from a switch to itself"),
        "{text}"
    );
    assert!(
        errors.contains("the lower is taken: `S-000000000000a001` port 2 says 4xHDR (line 6)"),
        "{errors}"
    );
    let out = folder.path().join("run");
    let out = ["--check", "--out", out.to_str().expect("text")];
    let (code, text, errors) = virtlane(folder.path(), "run", parts, &out);
    assert_eq!(code, Some(0), "{text}{errors}");
}

/// Rates that ibsim has no word for are told as the fabric is written; all others come back.
#[test]
fn rates_that_a_form_cannot_say_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |form: &str, topology: &str| {
        let parts = (topology, "MinHop()");
        let (code, text, errors) = virtlane(folder.path(), "topology", parts, &["--export", form]);
        assert_eq!(code, Some(0), "{errors}");
        (text, errors)
    };
    // 4xFDR10 between switches, in a scenario of 100 Gbit/s
    let loginoff = format!(
        "Ibnetdiscover(file: {})",
        file("assets/fabrics/loginoff_8sw.ibnetdiscover")
    );
    let (_, errors) = of("ibsim", &loginoff);
    let told = " links are not kept, for which ibsim has no width and speed (the first: MF0;ib5:SX6036/U1 port 21 to \
                MF0;ib8:SX6036/U1 port 26, 40 Gbit/s): who reads the file takes those of the scenario";
    assert!(
        errors.contains("the rates of ") && errors.contains(told),
        "{errors}"
    );
    let (_, errors) = of("ibnetdiscover", &loginoff);
    assert!(!errors.contains("not kept"), "{errors}");
    // 4xQDR, in the same scenario
    let quad = format!(
        "Ibnetdiscover(file: {})",
        file("assets/fabrics/psmn_x5.ibnetdiscover")
    );
    let (text, errors) = of("ibsim", &quad);
    assert!(
        !errors.contains("not kept") && text.contains("w=2 s=4"),
        "{errors}"
    );
    std::fs::write(folder.path().join("again.net"), &text).expect("can be written");
    let again = "Ibsim(file: \"again.net\")";
    assert_eq!(of("ibsim", again).0, text);
    assert_eq!(of("edges", again).0, of("edges", &quad).0);
    // latencies have a word in neither, nor has a rate of one way
    let own = "EdgeList(links: [(0, 1, \"50 Gbit/s\", \"/\", \"7 cycles\")], hosts: [0, 1])";
    for form in ["ibsim", "ibnetdiscover"] {
        let (_, errors) = of(form, own);
        for words in [
            "the rates of 1 link are not kept",
            "the latencies of 1 link are not kept",
        ] {
            assert!(errors.contains(words), "{form}: {errors}");
        }
    }
    for form in ["edges", "graphml", "dot"] {
        assert!(!of(form, own).1.contains("not kept"), "{form}");
    }
}

/// What the program writes beside each other fits: the fabric with its LIDs, and forwarding tables of all LIDs.
#[test]
fn exported_fabric_and_tables_have_the_same_lids() {
    let folder = tempfile::tempdir().expect("a folder");
    let topology = format!(
        "Ibnetdiscover(file: {})",
        file("assets/fabrics/psmn_x5.ibnetdiscover")
    );
    let parts = (topology.as_str(), "minhop()");
    let tables = folder.path().join("tables");
    let export = ["--export-dir", tables.to_str().expect("text")];
    let (code, _, errors) = virtlane(folder.path(), "routes", parts, &export);
    assert_eq!(code, Some(0), "{errors}");
    let lfts = std::fs::read_to_string(tables.join("opensm-lfts.dump")).expect("written");
    // 11 switches, 11 + 89 LIDs
    assert_eq!(
        lfts.lines().filter(|line| line.starts_with("0x")).count(),
        11 * 100
    );
    assert!(
        lfts.contains("0x0009 000 # Switch portguid 0x0008f10500200b50"),
        "{lfts}"
    );
    let (_, fabric, _) = virtlane(
        folder.path(),
        "topology",
        parts,
        &["--export", "ibnetdiscover"],
    );
    std::fs::write(folder.path().join("again"), &fabric).expect("can be written");
    // `opensm.fdbs` names nobody: only the LIDs of the fabric file tell whose they are
    let import = format!("TableImport(lfts: {:?})", tables.join("opensm.fdbs"));
    let again = ("Ibnetdiscover(file: \"again\")", import.as_str());
    let (code, dump, errors) = virtlane(folder.path(), "routes", again, &["--dump"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(dump, lfts);
    // a map of service levels that lacks a pair
    let levels = std::fs::read_to_string(tables.join("path-sl")).expect("written");
    let short: Vec<&str> = levels
        .lines()
        .filter(|line| !line.starts_with("93 "))
        .collect();
    std::fs::write(folder.path().join("path-sl"), short.join("\n")).expect("can be written");
    let import = format!(
        "TableImport(lfts: {:?}, path_sl: \"path-sl\")",
        tables.join("opensm.fdbs")
    );
    let lacking = ("Ibnetdiscover(file: \"again\")", import.as_str());
    let (code, _, errors) = virtlane(folder.path(), "routes", lacking, &[]);
    // other hosts of its switch have listed all but the path to it
    assert_eq!(code, Some(0), "{errors}");
    let none: Vec<&str> = levels
        .lines()
        .filter(|line| !line.contains(" 93 "))
        .collect();
    std::fs::write(folder.path().join("path-sl"), none.join("\n")).expect("can be written");
    let (code, _, errors) = virtlane(folder.path(), "routes", lacking, &[]);
    assert_eq!(code, Some(2));
    assert!(
        errors.contains("paths have no service level, the first from"),
        "{errors}"
    );
}

#[test]
fn short_names_are_those_of_opensm() {
    let folder = tempfile::tempdir().expect("a folder");
    let torus = format!(
        "Ibsim(file: {})",
        file("tests/opensm/torus_4x4/torus_4x4.net")
    );
    for (name, engine) in [
        ("minhop", "OpenSmMinHop"),
        ("lash", "OpenSmLash"),
        ("dfsssp", "OpenSmDfsssp"),
        ("sssp", "OpenSmSssp"),
        ("dor", "OpenSmDor"),
        ("updn", "OpenSmUpDown"),
    ] {
        let routing = if name == "updn" {
            "updn(root: 0)".to_owned()
        } else {
            format!("{name}()")
        };
        let (code, text, errors) = virtlane(folder.path(), "routes", (&torus, &routing), &[]);
        assert_eq!(code, Some(0), "{errors}");
        assert!(
            text.starts_with(&format!("engine                  {engine}\n")),
            "{text}"
        );
    }
    for (name, meant) in [
        ("LASH", "`Lash` (with options) or `OpenSmLash`"),
        ("dnup", "`OpenSmUpDown` or `UpDown`"),
    ] {
        let (code, _, errors) =
            virtlane(folder.path(), "routes", (&torus, &format!("{name}()")), &[]);
        assert_eq!(code, Some(2));
        assert!(
            errors.contains(&format!(
                "the routing engine `{name}` is not clear: expected {meant}"
            )),
            "{errors}"
        );
    }
    let (code, text, errors) = virtlane(
        folder.path(),
        "routes",
        (&torus, "OpenSmTorus2Qos()"),
        &["--verify"],
    );
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        text.contains("torus                   4 x 4 torus, origin S000, +x S001, +y S004"),
        "{text}"
    );
}
