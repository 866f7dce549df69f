//! Real fabrics, agreement of both sides, names and damage.

use super::*;
use crate::topology::formats::fabric_file::LineError;
use crate::topology::formats::records::record_graph::{self, unique_names};
use crate::topology::survey::Survey;
use crate::topology::tests::context;
use crate::units::Clock;

fn graph(text: &str, context: &BuildContext<'_>) -> Result<Graph, LineError> {
    let records = parse(text)?;
    record_graph::graph(
        &records,
        &record_graph::cables(&records)?,
        &Speeds::File,
        None,
        context,
    )
}

fn rates(text: &str) -> Result<Vec<BitRate>, LineError> {
    let records = parse(text)?;
    Ok(record_graph::rates(
        &record_graph::cables(&records)?,
        &Speeds::File,
    ))
}

const PSMN: &str = include_str!("../../../../assets/fabrics/psmn_x5.ibnetdiscover");
const LOGINOFF: &str = include_str!("../../../../assets/fabrics/loginoff_8sw.ibnetdiscover");

fn at(gigabit: u64) -> BuildContext<'static> {
    let clock = Clock {
        flit_bytes: 64,
        reference_rate: gigabit * 1_000_000_000,
    };
    BuildContext { clock, ..context() }
}

fn error(text: &str) -> String {
    let error = graph(text, &at(160)).unwrap_err();
    error.in_file("fabric").to_string()
}

#[test]
fn real_fabrics_have_the_known_counts() {
    let psmn = graph(PSMN, &at(32)).unwrap();
    let survey = Survey::new(&psmn);
    let counts = (survey.switches, survey.hosts, survey.switch_links);
    assert_eq!(counts, (11, 89, 70));
    let loginoff = graph(LOGINOFF, &at(160)).unwrap();
    let survey = Survey::new(&loginoff);
    let counts = (survey.switches, survey.hosts, survey.switch_links);
    assert_eq!(counts, (8, 145, 47));
    assert_eq!(survey.components.len(), 1);
    // an adapter with two cables is two hosts
    let both = loginoff
        .hosts()
        .iter()
        .filter(|host| host.name.contains("/P"));
    assert_eq!(both.count(), 2);
    assert_eq!(loginoff.switches()[0].name, "MF0;ib5:SX6036/U1");
    assert_eq!(loginoff.switches()[0].guid, 0xf452_1403_0011_65a0);
}

#[test]
fn links_have_their_own_rates() {
    let gigabit = |text| {
        let rates = rates(text).unwrap();
        rates
            .iter()
            .map(|rate| rate.0 / 1_000_000_000)
            .collect::<Vec<_>>()
    };
    assert_eq!(gigabit(PSMN), [16, 32]);
    assert_eq!(gigabit(LOGINOFF), [32, 40]);
    let psmn = graph(PSMN, &at(32)).unwrap();
    let slow = psmn
        .channels()
        .iter()
        .filter(|channel| channel.timing.cycles_per_flit == 2);
    assert_eq!(slow.count(), 2 * 23);
    let mut file = Ibnetdiscover {
        file: "assets/fabrics/loginoff_8sw.ibnetdiscover".to_owned(),
        speeds: Speeds::File,
    };
    let error = file.build(&at(32)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "assets/fabrics/loginoff_8sw.ibnetdiscover:29: link rate 40 Gbit/s is not a whole fraction of \
         the reference rate 32 Gbit/s, expected a reference rate such as 160 Gbit/s"
    );
    file.file = "nowhere".to_owned();
    assert!(file.own_rates(Path::new(".")).is_err());
}

/// A cut-off file is refused, unless what is missing says nothing about the fabric.
#[test]
fn a_truncated_file_is_refused() {
    let whole = graph(PSMN, &at(32)).unwrap();
    let ends = (0..PSMN.len())
        .step_by(101)
        .chain(PSMN.len() - 200..PSMN.len());
    for end in ends {
        if let Ok(part) = graph(&PSMN[..end], &at(32)) {
            assert_eq!(part, whole, "cut at {end}");
        }
    }
    assert_eq!(
        error(""),
        "fabric: no record of a switch or host: the file is empty or of another format"
    );
    let cut = |lines: usize| PSMN.lines().take(lines).collect::<Vec<_>>().join("\n");
    assert_eq!(
        error(&cut(100)),
        "fabric:11: `S-0008f10500200b50` port 1 leads to `S-0008f10500108c5c` port 15, which is not in \
         the file"
    );
    let end = PSMN.find("lid 79").unwrap();
    assert!(error(&PSMN[..end]).starts_with("fabric:15: no link speed at the end of the text"));
    assert_eq!(
        error(&PSMN[..end - 3]),
        "fabric:15: the description has no closing quote (is the file cut off here?)"
    );
}

const PAIR: &str = "Switch 4 \"S-a\"\n[1] \"S-b\"[2]\t# \"b\" lid 1 4xQDR\n\n\
                    Switch 4 \"S-b\"\n[2] \"S-a\"[1]\t# \"a\" lid 2 4xQDR\n";

#[test]
fn both_sides_must_agree() {
    assert!(graph(PAIR, &at(32)).is_ok());
    let cases = [
        (
            ("[2] \"S-a\"[1]", "[2] \"S-a\"[3]"),
            "fabric:2: `S-a` port 1 leads to `S-b` port 2, which leads to `S-a` port 3 (line 5)",
        ),
        (
            ("[2] \"S-a\"[1]", "[3] \"S-a\"[1]"),
            "fabric:2: `S-a` port 1 leads to `S-b` port 2, which does not list the link (is the file \
             cut off?)",
        ),
        (
            ("\"S-b\"[2]", "\"S-b\"[5]"),
            "fabric:2: `S-a` port 1 leads to `S-b` port 5, but `S-b` has ports 1..=4",
        ),
        (
            ("\"S-b\"[2]", "\"S-b\"[0]"),
            "fabric:2: `S-a` port 1 leads to `S-b` port 0, but `S-b` has ports 1..=4",
        ),
        (
            ("\"S-b\"[2]", "\"S-a\"[1]"),
            "fabric:2: `S-a` port 1 leads to `S-a` port 1, which is the same port",
        ),
        (
            ("\"S-b\"[2]", "\"S-c\"[2]"),
            "fabric:2: `S-a` port 1 leads to `S-c` port 2, which is not in the file",
        ),
        (
            ("4 \"S-b\"", "4 \"S-a\""),
            "fabric:4: node `S-a` is already on line 1",
        ),
    ];
    for ((from, to), message) in cases {
        assert_eq!(error(&PAIR.replacen(from, to, 1)), message);
    }
    let hosts = "Ca 1 \"H-a\"\n[1] \"H-b\"[1]\n\nCa 1 \"H-b\"\n[1] \"H-a\"[1]\n";
    assert_eq!(
        error(hosts),
        "fabric:2: `H-a` port 1 leads to `H-b` port 1, which is no switch; every host must be \
         connected to a switch"
    );
}

#[test]
fn the_lower_of_two_speeds_is_taken_and_told() {
    let cycles = |text: &str| {
        let graph = graph(text, &at(32)).unwrap();
        let timing = graph.channels()[0].timing;
        assert_eq!(graph.channels()[1].timing, timing);
        (timing.cycles_per_flit, graph.notes().to_vec())
    };
    assert_eq!(cycles(PAIR), (1, vec![]));
    let slow = cycles(&PAIR.replacen("2 4xQDR", "2 4xDDR", 1));
    let note = "1 link has different speeds at both ends, the lower is taken: `S-a` port 1 says 4xQDR (line 2), \
                `S-b` port 2 4xDDR (line 5)";
    assert_eq!(slow, (2, vec![note.to_owned()]));
    let narrow = cycles(&PAIR.replacen("1 4xQDR", "1 1xQDR", 1));
    assert_eq!(narrow.0, 4);
    // eight lanes of one speed are four of the next: the same rate, and still not the same
    let same_rate = cycles(&PAIR.replacen("1 4xQDR", "1 8xDDR", 1));
    assert_eq!((same_rate.0, same_rate.1.len()), (1, 1));
}

#[test]
fn speeds_can_be_replaced() {
    let file = |speeds: &str| {
        let text = format!("(file: \"assets/fabrics/psmn_x5.ibnetdiscover\", speeds: {speeds})");
        (ENTRY.build)(crate::registry::Arguments { text: &text }).unwrap()
    };
    let rates = |speeds: &str| {
        let rates = file(speeds).own_rates(Path::new("."));
        rates.map(|rates| {
            rates
                .iter()
                .map(|rate| rate.0 / 1_000_000_000)
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(rates("File").unwrap(), [16, 32]);
    assert_eq!(rates("Scenario").unwrap(), [0u64; 0]);
    assert_eq!(
        rates("Replace({\"4xDDR\": \"100 Gbit/s\"})").unwrap(),
        [32, 100]
    );
    assert_eq!(
        rates("Replace({\"4xFDR\": \"100 Gbit/s\"})")
            .unwrap_err()
            .to_string(),
        "`speeds`: no link has the speed `4xFDR`, expected one of `4xDDR`, `4xQDR`"
    );
    let text =
        "(file: \"x\", speeds: Replace({\"4xDDR\": \"100 Gbit/s\", \"4xDDR\": \"50 Gbit/s\"}))";
    let twice = (ENTRY.build)(crate::registry::Arguments { text });
    let message = twice.map(drop).unwrap_err().message;
    assert!(
        message.contains("speed `4xDDR` stands here twice"),
        "{message}"
    );
    let graph = file("Scenario").build(&at(7)).unwrap();
    assert!(
        graph
            .channels()
            .iter()
            .all(|channel| channel.timing.cycles_per_flit == 1)
    );
}

#[test]
fn lids_are_kept() {
    let graph = graph(PSMN, &at(32)).unwrap();
    let lids: Vec<u32> = graph.switches().iter().map(|node| node.lid).collect();
    let lines = PSMN.lines().filter(|line| line.starts_with("Switch"));
    let expected = lines.map(|line| {
        let (_, lid) = line.split_once(" lid ").unwrap();
        lid.split(' ').next().unwrap().parse().unwrap()
    });
    assert_eq!(lids, expected.collect::<Vec<u32>>());
    assert!(lids.iter().all(|&lid| lid > 0));
    let all: std::collections::BTreeSet<u32> = graph
        .hosts()
        .iter()
        .map(|node| node.lid)
        .chain(lids)
        .collect();
    assert_eq!(all.len(), 100);
    let first = PSMN.lines().find(|line| line.starts_with("[1](")).unwrap();
    let guid = u64::from_str_radix(first[4..].split(')').next().unwrap(), 16).unwrap();
    let host = graph.hosts().iter().find(|host| host.guid == guid).unwrap();
    assert!(
        first.contains(&format!("# lid {} lmc 0", host.lid)),
        "{first}"
    );
}

#[test]
fn an_unknown_speed_is_that_of_the_other_side_or_the_default() {
    let one = PAIR.replacen("4xQDR", "4x???", 1);
    let cycles = |text: &str| {
        let graph = graph(text, &at(96)).unwrap();
        graph.channels()[0].timing.cycles_per_flit
    };
    assert_eq!(cycles(&one), 3);
    assert_eq!(cycles(&one.replacen("4xQDR", "4x???", 1)), 1);
}

#[test]
fn a_speed_that_does_not_exist_needs_a_rate() {
    for word in ["4xGDR", "3xQDR", "4x", "99999999999999999999xQDR"] {
        let expected = format!(
            "fabric:5: unknown link speed `{word}`, expected a width (1x, 2x, 4x, 8x, 12x) and a speed (SDR, DDR, QDR, FDR10, FDR, \
             EDR, HDR, NDR, XDR) such as `4xQDR`, or `4x???`; `speeds: Replace({{\"{word}\": \"100 Gbit/s\"}})` gives it a rate"
        );
        // the end that says it is told, the other one is of no help
        let text = PAIR.replace("\"a\" lid 2 4xQDR", &format!("\"a\" lid 2 {word}"));
        assert_eq!(error(&text), expected);
        let records = parse(&text).unwrap();
        let cables = record_graph::cables(&records).unwrap();
        let cycles = |speeds: Speeds| {
            let made = record_graph::graph(&records, &cables, &speeds, None, &at(160));
            made.map(|graph| graph.channels()[0].timing.cycles_per_flit)
        };
        assert_eq!(cycles(Speeds::Scenario), Ok(1));
        let replaced =
            |name: &str| Speeds::Replace([(name.to_owned(), BitRate(40_000_000_000))].into());
        assert_eq!(cycles(replaced(word)), Ok(4));
        assert!(cycles(replaced("4xQDR")).is_err());
    }
}

#[test]
fn lines_that_mean_nothing_are_told() {
    assert_eq!(skipped::note("fabric", PSMN), None);
    assert_eq!(skipped::note("fabric", LOGINOFF), None);
    let text = format!("{PAIR}\nibwarn: [7] timeout\nsomething 5\n");
    assert_eq!(
        skipped::note("fabric", &text).as_deref(),
        Some(
            "fabric: 2 lines are skipped, neither comment nor node, port or `name=value`: the first is line 7, \
             `ibwarn: [7] timeout`"
        )
    );
}

#[test]
fn names_differ_even_when_descriptions_imitate_them() {
    let node = |id: &str, description: &str| format!("Switch 4 \"{id}\" # \"{description}\"\n");
    let text = [
        node("S-a", "x"),
        node("S-b", "x"),
        node("S-c", "x (S-a)"),
        node("S-d", ""),
        node("S-e", "S-d"),
    ]
    .concat();
    let names = unique_names(&parse(&text).unwrap());
    assert_eq!(names, ["x (S-a)", "x (S-b)", "x (S-a)'", "S-d", "S-d'"]);
}

#[test]
fn ids_that_are_no_guid_are_names() {
    let text = "# two hosts\nHca\t2 \"H0\"\n[1]\t\"S0\"[2]\n[2]\t\"S0\"[1]\n\n\
                Switch\t2 \"S0\"\n[2]\t\"H0\"[1]\n[1]\t\"H0\"[2]\n";
    let graph = graph(text, &at(32)).unwrap();
    let hosts: Vec<&str> = graph
        .hosts()
        .iter()
        .map(|host| host.name.as_str())
        .collect();
    assert_eq!(hosts, ["H0/P1", "H0/P2"]);
    assert_eq!(
        graph.attachment(crate::ids::HostId(0)),
        Some((crate::ids::SwitchId(0), 2))
    );
    assert_eq!(graph.switches()[0].guid, 0);
}

/// Few large adapters make many hosts.
#[test]
fn too_many_hosts_are_refused() {
    let ports: Vec<String> = (1..=254)
        .map(|port| format!("[{port}] \"S-1\"[1]\n"))
        .collect();
    let adapter = parse(&format!("Ca 254 \"H-1\"\n{}", ports.concat()))
        .unwrap()
        .remove(0);
    let error =
        record_graph::graph(&vec![adapter; 4000], &[], &Speeds::File, None, &at(160)).unwrap_err();
    assert_eq!(error.reason, "1016000 hosts, expected at most 1000000");
}

/// Random edits of a real file are read or refused, never a panic.
#[test]
fn garbled_files_do_no_harm() {
    use crate::rng::{Purpose, below, stream};
    let mut rng = stream(1, Purpose::Pattern, 0);
    let alphabet = b"[]()\"#x0129\n \tSCa=?-";
    let mut refused = 0;
    for _ in 0..300 {
        let mut bytes = PSMN.as_bytes().to_vec();
        for _ in 0..below(&mut rng, 4) {
            let place = below(&mut rng, bytes.len() as u32) as usize;
            bytes[place] = alphabet[below(&mut rng, alphabet.len() as u32) as usize];
        }
        let text = String::from_utf8_lossy(&bytes);
        refused += usize::from(graph(&text, &at(32)).is_err());
    }
    assert!((1..300).contains(&refused));
}

/// A LID that no port can have is no LID that was not said.
#[test]
fn lids_beyond_the_unicast_ones_are_refused() {
    let with = |lid: u32| PAIR.replace("lid 2 ", &format!("lid {lid} "));
    for lid in [0, 2, 0xBFFF, 0xFFFF] {
        assert!(parse(&with(lid)).is_ok(), "{lid}");
    }
    for lid in [0xC000, 0xFFFE, 70_000] {
        let error = format!("{:?}", parse(&with(lid)).err());
        assert!(
            error.contains(&format!("`lid {lid}` is no unicast LID")),
            "{error}"
        );
        assert!(error.contains("49151"), "{error}");
    }
}
