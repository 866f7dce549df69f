//! Generators of flows: pairs by hand, properties of drawn ones, and what is refused.

use super::*;

/// The flows of a class of hosts 1 to 8 of 10, in a folder with a table of that text.
fn build_with(table: &str, text: &str) -> Result<Vec<GivenFlow>, ArgumentError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let hosts: Vec<HostId> = (1..9).map(HostId).collect();
    let context = FlowsContext {
        hosts: &hosts,
        members: &hosts,
        host_count: 10,
        base: folder.path(),
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 32_000_000_000,
        },
        seed: 3,
        class: 0,
        name: "data",
        entry: 0,
    };
    let (name, arguments) = text.split_at(text.find('(').unwrap());
    let build = FLOW_GENERATORS.find(name).unwrap().build;
    build(Arguments { text: arguments }, &context)
}

fn pairs(text: &str) -> Vec<(u32, u32)> {
    let flows = build_with("", text);
    let flows = flows.unwrap_or_else(|error| panic!("{text}: {error}"));
    let pairs = flows.iter().map(|flow| {
        assert!(flow.own.is_none(), "{text}");
        (flow.source.0, flow.destination.0)
    });
    let pairs: Vec<_> = pairs.collect();
    assert!(pairs.iter().all(|(from, to)| from != to), "{text}");
    pairs
}

#[test]
fn impossible_flows_are_refused_with_what_is_allowed() {
    for (text, message) in [
        ("PerHost(count: 0)", "`count` is 0: expected 1 to 8388608"),
        ("PerHost(count: 4000000000)", "expected 1 to 8388608"),
        ("Permutations(count: 9000000)", "at most 67108864 flows"),
        ("RandomPairs(count: 70000000)", "expected 1 to 67108864"),
        ("Independent(max_flows: 0)", "`max_flows` is 0: expected 1"),
        ("Incast(to: 10)", "`to` names host 10: expected 0 to 9"),
        ("Incast(to: 3, from: 8)", "expected 1 to 7"),
        ("Incast(to: 9, from: 9)", "expected 1 to 8"),
        (
            "List(pairs: [(1, 10)])",
            "`pairs`: there is no host 10: expected 0 to 9",
        ),
        ("List(pairs: [(0, 1)])", "host 0 is not among the hosts"),
        ("List(pairs: [])", "expected at least one pair"),
        (
            "NodePairs(hosts_per_node: 4)",
            "`hosts_per_node` is 4: expected a divisor of the 10 hosts",
        ),
        ("NodePairs(hosts_per_node: 10)", "two nodes or more"),
        (
            "HotNodes(count: 5, hosts_per_node: 2)",
            "`count` is 5: expected 1 to 4",
        ),
        ("List(pairs: [(2, 2)])", "from host 2 to itself"),
        (
            "Applications(count: 3)",
            "`count` times `fragments` is 3: expected a divisor of the 8 hosts",
        ),
        (
            "Applications(count: 0)",
            "expected a divisor of the 8 hosts",
        ),
        ("Applications(count: 8)", "each application has one host"),
        (
            "Applications(count: 2, max_permutations: 0)",
            "`max_permutations` is 0: expected 1 to 8388608",
        ),
    ] {
        let error = build_with("", text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn generators_give_what_they_say() {
    assert_eq!(pairs("List(pairs: [(1, 0), (2, 0)])"), [(1, 0), (2, 0)]);
    assert_eq!(pairs("Incast(to: 3, from: 3)"), [(1, 3), (2, 3), (4, 3)]);
    assert_eq!(pairs("Incast(to: 3)").len(), 7);
    let per_host = pairs("PerHost(count: 5)");
    for host in 1..9 {
        assert_eq!(per_host.iter().filter(|pair| pair.0 == host).count(), 5);
    }
    let independent = pairs("Independent(max_flows: 3)");
    let of_host = |host| independent.iter().filter(|pair| pair.0 == host).count();
    assert!((1..9).all(|host| (1..=3).contains(&of_host(host))));
    assert!((1..9).any(|host| of_host(host) != of_host(1)));
    assert_eq!(pairs("Independent(max_flows: 1)").len(), 8);
    assert_eq!(pairs("RandomPairs(count: 100)").len(), 100);
    let permutations = pairs("Permutations(count: 3)");
    for host in 1..9 {
        assert_eq!(permutations.iter().filter(|pair| pair.1 == host).count(), 3);
    }
}

/// Every application has groups of neighbours of its own, and every host of it sends and receives as many flows.
#[test]
fn applications_keep_to_their_groups() {
    let text = "Applications(count: 2, fragments: 2, max_permutations: 3)";
    let flows = build_with("", text).unwrap();
    let application = |flow: &GivenFlow| flow.own.as_ref().unwrap().application.unwrap();
    let mut hosts = [Vec::new(), Vec::new()];
    for flow in &flows {
        hosts[application(flow) as usize].push(flow.source.0);
        let back = flows
            .iter()
            .filter(|other| other.destination == flow.source);
        assert!(
            back.clone()
                .all(|other| application(other) == application(flow))
        );
        let sent = flows.iter().filter(|other| other.source == flow.source);
        assert_eq!(back.count(), sent.count());
        assert_ne!(flow.source, flow.destination);
    }
    for own in &mut hosts {
        own.sort_unstable();
        let flows = own.len();
        own.dedup();
        assert!(own.len() == 4 && [4, 8, 12].contains(&flows), "{own:?}");
        // groups of two: hosts 1 and 2, 3 and 4, ..
        assert!(
            own.chunks(2)
                .all(|pair| pair[0] % 2 == 1 && pair[1] == pair[0] + 1)
        );
    }
}

#[test]
fn all_to_all_begins_with_the_next_host() {
    let pairs = pairs("AllToAll()");
    assert_eq!(pairs.len(), 8 * 7);
    assert_eq!(pairs[..3], [(1, 2), (1, 3), (1, 4)]);
    assert_eq!(pairs[55 - 6..56 - 6], [(8, 1)]);
    let mut different = pairs.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 56);
    // the first flows of all hosts go to different ones
    let mut first: Vec<u32> = pairs.iter().step_by(7).map(|pair| pair.1).collect();
    first.sort_unstable();
    assert!(first.into_iter().eq(1..9));
}

#[test]
fn tables_of_flows_have_columns_by_name() {
    let table = "# flows\nbytes, destination,source, start [ns],rate,weight,stop [cycles]\n\n\
                 100,9,1,,0.25,,\n,3,2,160,,7,40\n";
    let flows = build_with(table, CSV).unwrap();
    let flow = |source, destination, own| GivenFlow {
        source: HostId(source),
        destination: HostId(destination),
        own: Some(Box::new(own)),
    };
    let first = Own {
        flits: Some(2),
        rate: Some(0.25),
        ..Own::default()
    };
    // a cycle is 16 ns
    let second = Own {
        start: Some(10),
        stop: Some(40),
        weight: Some(7),
        ..Own::default()
    };
    assert_eq!(flows, [flow(1, 9, first), flow(2, 3, second)]);
    let plain = build_with("source,destination\n1,2\n", CSV).unwrap();
    assert_eq!(plain, [GivenFlow::between(HostId(1), HostId(2))]);
}

#[test]
fn matrices_have_a_flow_for_every_entry() {
    let mut rows = vec![["0"; 8]; 8];
    (rows[0][1], rows[2][0], rows[7][6]) = ("65", "1", "128");
    let text: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    let text = text.join("\n");
    let read = |entries: &str| {
        let flows = build_with(
            &text,
            &format!("Matrix(file: \"t.csv\", entries: {entries})"),
        );
        let flows = flows.unwrap().into_iter();
        flows
            .map(|flow| (flow.source.0, flow.destination.0, *flow.own.unwrap()))
            .collect::<Vec<_>>()
    };
    let bytes = |flits| Own {
        flits: Some(flits),
        ..Own::default()
    };
    assert_eq!(
        read("Bytes"),
        [(1, 2, bytes(2)), (3, 1, bytes(1)), (8, 7, bytes(2))]
    );
    let weight = |weight| Own {
        weight: Some(weight),
        ..Own::default()
    };
    assert_eq!(
        read("Weights"),
        [(1, 2, weight(65)), (3, 1, weight(1)), (8, 7, weight(128))]
    );
}

#[test]
fn every_message_is_a_flow() {
    let table = "time [cycles],source,destination,bytes,class\n0,0,7,100,data\n30,2,1,0,data\n";
    let flows = build_with(table, TRACE).unwrap();
    let flow = |source, destination, start, flits| GivenFlow {
        source: HostId(source),
        destination: HostId(destination),
        own: Some(Box::new(Own {
            start: Some(start),
            flits: Some(flits),
            ..Own::default()
        })),
    };
    assert_eq!(flows, [flow(1, 8, 0, 2), flow(3, 2, 30, 1)]);
    let table =
        "time [cycles],source,destination,bytes,after\n0,0,7,100,\n0,7,2,64,0\n9,2,3,64,1+20 1\n";
    let flows = build_with(table, TRACE).unwrap();
    let after = |flow: &GivenFlow| flow.own.as_ref().unwrap().after.clone();
    let wait = |message, delay| After { message, delay };
    assert_eq!(after(&flows[0]), []);
    assert_eq!(after(&flows[1]), [wait(0, 0)]);
    assert_eq!(after(&flows[2]), [wait(1, 20), wait(1, 0)]);
    let goal = "num_ranks 8\nrank 0 {\nl1: send 128b to 3 tag 0\n}\nrank 3 {\nl1: recv 128b from 0 tag 0\n}\n";
    let flows = build_with(goal, "Messages(source: Goal(file: \"t.csv\"))").unwrap();
    assert_eq!(flows, [flow(1, 4, 0, 2)]);
}

const TRACE: &str = "Messages(source: Trace(file: \"t.csv\"))";

#[test]
fn what_is_wrong_in_a_trace_is_told_with_its_line() {
    let header = "time [cycles],source,destination,bytes,after\n";
    for (source, rows, message) in [
        (
            "Trace(file: \"t.csv\")",
            "",
            "`source`: t.csv has no message",
        ),
        (
            "Trace(file: \"t.csv\")",
            "0,0,1,5,\n0,2,0,5,0\n",
            "`source`: t.csv:3: message 1 of host 3 waits for message 0 from host 1 to host 2, of which its host knows nothing",
        ),
        (
            "Trace(file: \"t.csv\")",
            "0,0,1,5,\n0,1,0,5,1\n",
            "t.csv:3: message 1 waits for message 1: it can wait for earlier ones only",
        ),
        (
            "Trace(file: \"t.csv\")",
            "0,1,1,5,\n",
            "t.csv:2: a flow from host 2 to itself",
        ),
        (
            "Trace(file: \"t.csv\")",
            "1000000000000000,1,2,5,\n",
            "t.csv:2: its time is cycle 1000000000000000: expected below",
        ),
        (
            "Trace(file: \"t.csv\")",
            "0,1,8,5,\n",
            "`8` is no destination: class `data` has the hosts 0 to 7",
        ),
        (
            "Trace(file: \"u.csv\")",
            "",
            "`source`: u.csv: cannot be read",
        ),
        ("Trace(files: 3)", "", "`source`: unknown parameter `files`"),
        ("Trac(file: \"t.csv\")", "", "did you mean `Trace`?"),
    ] {
        let text = format!("Messages(source: {source})");
        let error = build_with(&format!("{header}{rows}"), &text).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(message), "{rows}: {error}");
    }
}

const CSV: &str = "Csv(file: \"t.csv\")";

/// A text in place of a table of flows, and what is said of it.
const WRONG: &[(&str, &str)] = &[
    ("", "`file`: t.csv, line 1: is empty: expected a header"),
    (
        "source,bytes\n",
        "line 1: the column `destination` is missing",
    ),
    ("source,destination,byte\n", "did you mean `bytes`?"),
    (
        "source,destination,source\n",
        "the column `source` is there twice",
    ),
    (
        "source,destination,start\n",
        "line 1: the column `start` has no unit",
    ),
    (
        "source,destination,stop [days]\n",
        "unknown unit of time `days`",
    ),
    (
        "source,destination,rate [s]\n",
        "the column `rate` has no such unit",
    ),
    ("source,destination\n", "`file`: t.csv has no flow"),
    (
        "source,destination\n\n1,2,3\n",
        "line 3: 3 columns, but the header has 2",
    ),
    (
        "source,destination\n1,x\n",
        "line 2, column 2 (`destination`): `x` is no host number",
    ),
    (
        "source,destination\n1,10\n",
        "line 2: there is no host 10: expected 0 to 9",
    ),
    (
        "source,destination\n1,1\n",
        "line 2: a flow from host 1 to itself",
    ),
    (
        "source,destination\n0,1\n",
        "host 0 is not among the hosts of the class",
    ),
    (
        "source,destination,bytes\n1,2,-3\n",
        "column 3 (`bytes`): `-3` is no number of bytes",
    ),
    (
        "source,destination,bytes\n1,2,99999999999999\n",
        "(`bytes`): 99999999999999 bytes are more than",
    ),
    (
        "source,destination,rate\n1,2,1.5\n",
        "(`rate`): `1.5` is no fraction of the link rate from 0 to 1",
    ),
    ("source,destination,rate\n1,2,NaN\n", "(`rate`): `NaN`"),
    (
        "source,destination,weight\n1,2,0\n",
        "(`weight`): `0` is no weight from 1 to 65535",
    ),
    (
        "source,destination,start [ns]\n1,2,-1\n",
        "(`start`): `-1` is no time",
    ),
];

#[test]
fn what_is_wrong_in_a_table_is_told_with_line_and_column() {
    for (table, message) in WRONG {
        let error = build_with(table, CSV).unwrap_err().to_string();
        assert!(error.contains(message), "{table}: {error}");
    }
    let error = build_with("", "Csv(file: \"u.csv\")").unwrap_err();
    let message = "`file`: u.csv cannot be read";
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn what_is_wrong_in_a_matrix_is_told_with_line_and_column() {
    let square = |row: &str| format!("{}{row}\n", "0,0,0,0,0,0,0,0\n".repeat(7));
    for (table, entries, message) in [
        (
            "0,0\n",
            "Bytes",
            "line 1: 2 columns, but the class has 8 hosts",
        ),
        (
            "0,0,0,0,0,0,0,0\n",
            "Bytes",
            "has 1 rows, but the class has 8 hosts",
        ),
        (
            &square("0,0,0,0,0,0,x,0"),
            "Bytes",
            "line 8, column 7: `x` is no number of bytes",
        ),
        (
            &square("0,0,0,0,0,0,0,3"),
            "Bytes",
            "line 8, column 8: a flow from host 8 to itself",
        ),
        (
            &square("0,0,0,0,0,0,65536,0"),
            "Weights",
            "line 8, column 7: `65536` is no weight from 1 to 65535, or 0",
        ),
        (
            &square("0,0,0,0,0,0,0,0"),
            "Bytes",
            "`file`: t.csv has no flow",
        ),
    ] {
        let text = format!("Matrix(file: \"t.csv\", entries: {entries})");
        let error = build_with(table, &text).unwrap_err().to_string();
        assert!(error.contains(message), "{table}: {error}");
    }
}
