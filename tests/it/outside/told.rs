//! What is written and changes nothing, or is for another fabric, is told: with file and line where it has some.

use crate::program::virtlane;
use crate::studies::Folder;
use std::fs;
use std::path::Path;

/// A torus of 5 x 5 with this routing.
fn torus(routing: &str) -> String {
    format!(
        r#"Scenario(title: "f", seed: 1,
            fabric: (topology: Torus(radix: [5, 5]), flit: "64 B", link: (rate: "40 Gbit/s", latency: "2 cycles"),
                     switch: (lanes: 8, lane_capacity: "64 flits")),
            routing: {routing},
            traffic: [(name: "bg", pattern: Uniform(), process: Bernoulli(load: 0.1), size: "4 flits")],
            phases: (warmup: "100 cycles", measure: "1000 cycles"),
        )"#
    )
}

/// What a scenario is warned of, which is right otherwise.
fn warned(folder: &Path, text: &str) -> String {
    fs::write(folder.join("it.ron"), text).expect("it can be written");
    let (code, _, errors) = virtlane(folder, &["check", "it.ron"]);
    assert_eq!(code, Some(0), "{errors}");
    errors
}

#[test]
fn settings_of_the_subnet_manager_without_effect_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = "torus 5 5 1\nxp_link 0x200000 0x200001\nyp_link 0x200000 0x200005\n";
    let text = torus("OpenSmTorus2Qos(config: \"it.conf\")");
    fs::write(folder.path().join("it.conf"), config).expect("it can be written");
    assert_eq!(warned(folder.path(), &text), "");
    let config = format!("{config}port_order 1 2 3\nmax_changes 5\nportgroup_max_ports 4\n");
    fs::write(folder.path().join("it.conf"), config).expect("it can be written");
    let told = warned(folder.path(), &text);
    for words in [
        "it.conf:4: `port_order` changes nothing here",
        "it.conf:5: `max_changes`",
        "it.conf:6: `portgroup_max_ports`",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn rows_of_nodes_that_are_not_in_the_fabric_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("it.ron"), torus("OpenSmTorus2Qos()")).expect("it can be written");
    let (code, _, errors) = virtlane(folder.path(), &["routes", "it.ron", "--export-dir", "."]);
    assert_eq!(code, Some(0), "{errors}");
    let text = torus(
        "TableImport(lfts: \"opensm-lfts.dump\", guid2lid: \"guid2lid\", sl2vl: \"opensm-sl2vl.dump\", path_sl: \"path-sl\")",
    );
    assert_eq!(warned(folder.path(), &text), "");
    let add = |file: &str, more: &str| {
        let path = folder.path().join(file);
        let old = fs::read_to_string(&path).expect("it is there");
        fs::write(&path, format!("{more}{old}")).expect("it can be written");
    };
    add(
        "guid2lid",
        "0x00000000deadbeef 0x0ff1 0x0ff1\n\n0x00000000deadbee0 0x0ff2 0x0ff2\n\n",
    );
    add(
        "opensm-sl2vl.dump",
        "Channel Adapter 0x00000000deadbeef, base LID 4081, \"gone\"\n",
    );
    let told = warned(folder.path(), &text);
    let words = "guid2lid:1: 2 nodes are not in the fabric and left out, the first with GUID 0x00000000deadbeef";
    assert!(told.contains(words), "{told}");
    let words = "opensm-sl2vl.dump:1: 1 node is not in the fabric and left out";
    assert!(told.contains(words), "{told}");
}

#[test]
fn keys_without_effect_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = torus("DimensionOrder()");
    assert_eq!(warned(folder.path(), &plain), "");
    let queue = plain.replace("switch: (", "host: (flow_queue: 3), switch: (");
    let told = warned(folder.path(), &queue);
    assert!(
        told.contains("fabric.host.flow_queue changes nothing"),
        "{told}"
    );
    let mixed = plain.replace("\"4 flits\"", "Mixed([(\"4 flits\", 1), (\"9 flits\", 0)])");
    let told = warned(folder.path(), &mixed);
    assert!(
        told.contains("traffic[0].size: no packet has `9 flits`"),
        "{told}"
    );
}

#[test]
fn exceptions_that_say_nothing_are_told_where_they_take_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let except = |list: &str| {
        let link = format!("latency: \"2 cycles\", except: [{list}]");
        torus("DimensionOrder()").replace("latency: \"2 cycles\"", &link)
    };
    let told = warned(folder.path(), &except("(on: Dimension(1))"));
    let words = "fabric.link.except[0] changes nothing: it has neither `rate` nor `latency`";
    assert!(told.contains(words), "{told}");
    // the one before is taken back
    let again = "(on: Dimension(1), latency: \"9 cycles\"), (on: Dimension(1))";
    assert_eq!(warned(folder.path(), &except(again)), "");
    // and so is what the file says
    let edges =
        "topology Mesh(radix: [3])\nhost 0:3\nhost 1:3\nhost 2:3\n0:1 1:2 9cycles\n1:1 2:2\n";
    fs::write(folder.path().join("it.edges"), edges).expect("it can be written");
    let text = except("(on: Dimension(0))");
    let text = text.replace("Torus(radix: [5, 5])", "EdgeList(file: \"it.edges\")");
    assert_eq!(warned(folder.path(), &text), "");
}

/// The program says once what `src/scenario/resolve/notes` finds, and nothing of a key that another axis gives a meaning.
#[test]
fn what_an_axis_gives_a_meaning_is_not_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let control = "control: Dcqcn(), answers: (sl: 1)";
    let flows = format!("flows: [(pairs: Permutations(count: 1))], {control}");
    let text = torus("DimensionOrder()");
    let text = text.replace("pattern: Uniform(), process: Bernoulli(load: 0.1)", &flows);
    let told = warned(folder.path(), &text);
    let words = "traffic[0].control: `Dcqcn` hears of congestion by marks, and no switch marks";
    assert_eq!(told.matches(words).count(), 1, "{told}");
    let sweep = "sweep: (axes: [(\"fabric.switch.marking\", [None, InfiniBand()])])";
    let text = text.replace("phases:", &format!("{sweep}, phases:"));
    assert_eq!(warned(folder.path(), &text), "");
}

/// The paper's constants of DCQCN are for 40 Gbit/s; written at 400 they are told, left out they scale.
#[test]
fn constants_for_links_of_another_rate_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let with = |rate: &str, control: &str| {
        let marks = "switch: (marking: InfiniBand(), ";
        let text = torus("DimensionOrder()").replace("switch: (", marks);
        let text = text.replace("40 Gbit/s", rate);
        let control = format!("control: {control}, answers: (size: \"1 flits\", sl: 1)");
        let flows = format!("flows: [(pairs: Permutations(count: 1))], {control}");
        text.replace("pattern: Uniform(), process: Bernoulli(load: 0.1)", &flows)
    };
    let paper = "Dcqcn(increase: \"40 Mbit/s\", bytes: \"10 MB\")";
    for (rate, control) in [
        ("40 Gbit/s", paper),
        ("100 Gbit/s", paper),
        ("400 Gbit/s", "Dcqcn()"),
        ("400 Gbit/s", "Dcqcn(preset: Production)"),
    ] {
        assert_eq!(
            warned(folder.path(), &with(rate, control)),
            "",
            "{rate} {control}"
        );
    }
    let told = warned(folder.path(), &with("400 Gbit/s", paper));
    let words = "`increase` of traffic[0].control is 0.10 times what the preset has for links of 400 Gbit/s, so rates come back more slowly";
    assert!(told.contains(words), "{told}");
    assert!(
        told.contains("`bytes` of traffic[0].control is 0.10 times") && told.contains("faster"),
        "{told}"
    );
    let (code, _, error) = virtlane(folder.path(), &["describe", "control", "Dcqcn"]);
    assert_eq!(code, Some(0), "{error}");
}

/// What standard error says of a command that succeeds.
fn told(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments);
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    errors
}

#[test]
fn changes_that_an_axis_replaces_are_told_where_the_sweep_is_used() {
    let folder = Folder::new();
    let load = ["--set", "traffic.0.process.load=0.2"];
    let words = "--set gives `traffic.0.process.load`, which is an axis of the sweep: the axis gives its values";
    for command in [
        &["sweep", "small.ron", "--dry-run", "--quiet"][..],
        &["check", "small.ron"],
    ] {
        let errors = told(&folder, &[command, &load].concat());
        assert_eq!(errors.matches(words).count(), 1, "{errors}");
        let part = ["--set", "fabric.topology.radix=[2, 2]"];
        let errors = told(&folder, &[command, &part].concat());
        let words = "--set gives `fabric.topology.radix`, which is in `fabric.topology`, an axis of the sweep";
        assert!(errors.contains(words), "{errors}");
        let other = ["--set", "fabric.switch.lanes=4"];
        assert_eq!(told(&folder, &[command, &other].concat()), "");
    }
    let run = ["run", "small.ron", "--quiet", "--threads", "1"];
    assert_eq!(told(&folder, &[&run[..], &load].concat()), "");
}

#[test]
fn changes_that_a_flag_replaces_are_told() {
    let folder = Folder::new();
    let run = ["run", "small.ron", "--quiet", "--threads", "1"];
    let flags = ["--seed", "3", "--cycles", "2000"];
    let set = ["--set", "seed=4", "--set", "phases.measure=3000 cycles"];
    let errors = told(&folder, &[&run[..], &flags, &set].concat());
    for (path, flag) in [("seed", "--seed"), ("phases.measure", "--cycles")] {
        let words = format!("--set gives `{path}`, and so does {flag}: what {flag} gives counts");
        assert_eq!(errors.matches(&words).count(), 1, "{errors}");
    }
    assert_eq!(told(&folder, &[&run[..], &flags].concat()), "");
    assert_eq!(told(&folder, &[&run[..], &set].concat()), "");
}
