//! Lines, speeds and what is malformed.

use super::*;

fn error(text: &str) -> (usize, String) {
    let error = parse(text).unwrap_err();
    (error.line, error.reason)
}

#[test]
fn widths_are_those_of_the_standard() {
    assert_eq!(data_rate(4, "SDR"), Some(BitRate(8_000_000_000)));
    assert_eq!(
        [0, 3, u64::MAX].map(|lanes| data_rate(lanes, "NDR")),
        [None; 3]
    );
}

#[test]
fn data_rates_are_those_of_the_standard() {
    let gigabit = |word| speed(vec![word]).unwrap().rate.unwrap().0 as f64 / 1e9;
    for (word, rate) in [
        ("4xSDR", 8.0),
        ("4xDDR", 16.0),
        ("4xQDR", 32.0),
        ("4xFDR10", 40.0),
        ("4xFDR", 54.545_454_545),
        ("4xEDR", 100.0),
        ("4xHDR", 200.0),
        ("4xNDR", 400.0),
        ("4xXDR", 800.0),
        ("1xSDR", 2.0),
        ("2xHDR", 100.0),
        ("12xQDR", 96.0),
    ] {
        assert!((gigabit(word) - rate).abs() < 1e-9, "{word}");
    }
    assert_eq!(speed(vec!["4x???"]), None);
    assert_eq!(speed(vec!["??x???"]), None);
}

#[test]
fn both_kinds_of_port_line_are_read() {
    let text = "stray message\nvendid=0x2c9\ncaguid=0x100004\n\
         Ca\t2 \"H-0000000000100003\"\t\t# \"node; #7 4xSDR\"\n\
         [2](100005) \t\"S-0000000000200001\"[7][ext 3]\t\t# lid 7 lmc 0 \"S1\" lid 3 4xQDR s=4\n\
         ibwarn: [123] something\n\
         [0]\t\"S-0\"[1]\n\n\
         Switch\t36 \"S-0000000000200001\"\t\t# \"S1\" base port 0 lid 3 lmc 0\r\n\
         [7][ext 3] \"H-0000000000100003\"[2](100005)\t# \"n\" lid 7 4x???\r\n";
    let records = parse(text).unwrap();
    let (adapter, switch) = (&records[0], &records[1]);
    assert_eq!((adapter.kind, adapter.guid), (NodeKind::Adapter, 0x10_0004));
    assert_eq!(adapter.description, "node; #7 4xSDR");
    let port = &adapter.ports[&2];
    assert_eq!((port.guid, port.peer_port), (Some(0x10_0005), 7));
    assert_eq!(port.speed.as_ref().unwrap().text, "4xQDR");
    assert_eq!((switch.guid, switch.port_count), (0x20_0001, 36));
    assert_eq!(switch.ports[&7].peer, "H-0000000000100003");
    assert_eq!(switch.ports[&7].speed, None);
    assert_eq!(adapter.ports.len() + switch.ports.len(), 2);
}

#[test]
fn malformed_lines_are_told() {
    let switch = "Switch 4 \"S-1\"\n";
    let cases = [
        (
            "[1] \"S-1\"[1]".to_owned(),
            1,
            "port line outside a node, expected `Switch` or `Ca` before it",
        ),
        (
            format!("{switch}{switch}"),
            2,
            "node `S-1` is already on line 1",
        ),
        (
            format!("{switch}[5] \"S-2\"[1]"),
            2,
            "port 5 of `S-1`, expected 1..=4",
        ),
        (
            format!("{switch}[99999999999] \"S-2\"[1]"),
            2,
            "port 99999999999 of `S-1`, expected 1..=4",
        ),
        (
            format!("{switch}[1] \"S-2\"[1]\n[1] \"S-2\"[2]"),
            3,
            "port 1 of `S-1` is already on line 2",
        ),
        (
            format!("{switch}[1] \"S-2\"[1"),
            2,
            "malformed port, expected such as `[1] \"S-0002c90200417670\"[36]`",
        ),
        (
            format!("{switch}[1] \"S-2\"[1] # \"spi"),
            2,
            "the description has no closing quote (is the file cut off here?)",
        ),
        (
            "Switch 255 \"S-1\"".to_owned(),
            1,
            "`S-1` has 255 ports, expected 1..=254",
        ),
        (
            "Switch 4 \"S-".to_owned(),
            1,
            "malformed node, expected such as `Switch 36 \"S-0002c90200417670\"`",
        ),
        (
            "switchguid=0xg".to_owned(),
            1,
            "`switchguid=0xg` is not a GUID such as `0x200001`",
        ),
    ];
    for (text, line, reason) in cases {
        assert_eq!(error(&text), (line, reason.to_owned()), "{text}");
    }
}

#[test]
fn a_blank_line_ends_a_node() {
    let reason = "port line outside a node, expected `Switch` or `Ca` before it";
    let text = "Switch 4 \"S-1\"\n\n[1] \"S-2\"[1]";
    assert_eq!(error(text), (3, reason.to_owned()));
}
