//! Reads OpenSM's dumps into rows; what they mean for a graph is up to the caller.
//!
//! Guarantees: never panics; every row has its line; LIDs are unicast (1 to 0xBFFF), service levels and lanes
//! 0 to 15. Comments (`#`) and empty lines are skipped.
//! Fails with: [`DumpError`] for the first line that is neither.
//! Cost: O(text) time and memory.
//!
//! References: OpenSM `osm_dump.c`

/// Largest unicast LID.
const LARGEST_LID: u32 = 0xBFFF;

/// Something wrong in a dump.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct DumpError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong and what is expected.
    pub reason: String,
}

/// The forwarding table of one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Line of its header, from 1.
    pub line: usize,
    /// Node GUID.
    pub guid: u64,
    /// Name, when the form has one.
    pub name: Option<String>,
    /// Entries in the order of the file.
    pub entries: Vec<LidRow>,
}

/// One entry of a forwarding table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LidRow {
    /// Line, from 1.
    pub line: usize,
    /// Destination.
    pub lid: u32,
    /// Output port, 0 = the switch itself; `None` when there is no route.
    pub port: Option<u8>,
    /// Port GUID of the destination, when the form has it.
    pub guid: Option<u64>,
    /// Name of the destination, when the form has it.
    pub name: Option<String>,
}

/// The lane map of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchLanes {
    /// Line of its header, from 1.
    pub line: usize,
    /// Node GUID of a switch, port GUID of a host.
    pub guid: u64,
    /// Name.
    pub name: Option<String>,
    /// Line, input port, output port, and the lane of each service level; 0 and 0 for a host.
    pub rows: Vec<(usize, u16, u16, [u8; 16])>,
}

/// The service level of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathLevels {
    /// Line, from 1.
    pub line: usize,
    /// LID of the source.
    pub source: u32,
    /// LID of the destination.
    pub destination: u32,
    /// Service level.
    pub level: u8,
}

fn error(line: usize, reason: impl Into<String>) -> DumpError {
    let reason = reason.into();
    DumpError { line, reason }
}

/// Lines from 1, without blanks at the ends; empty ones and comments are left out.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = text.lines().enumerate();
    all.map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// `0x0012`, hexadecimal.
fn hexadecimal(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x")?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}

fn unicast(lid: Option<u64>, line: usize, word: &str) -> Result<u32, DumpError> {
    lid.and_then(|lid| u32::try_from(lid).ok())
        .filter(|lid| (1..=LARGEST_LID).contains(lid))
        .ok_or_else(|| {
            error(
                line,
                format!("`{word}` is no unicast LID, expected 1 to 0xBFFF"),
            )
        })
}

/// The text between the first and the last `quote`.
fn quoted(text: &str, quote: char) -> Option<String> {
    let (_, rest) = text.split_once(quote)?;
    let (name, _) = rest.rsplit_once(quote)?;
    Some(name.to_owned())
}

/// The GUID after a keyword: `guid 0x0000000000200000 ...`.
fn guid_after(text: &str, keyword: &str) -> Option<u64> {
    let (_, rest) = text.split_once(keyword)?;
    let word = rest.split_whitespace().next()?;
    hexadecimal(word.trim_end_matches([',', ':']))
}

/// Column titles of OpenSM and of the diagnostic tools.
fn is_heading(content: &str) -> bool {
    let mut words = content.split_whitespace();
    matches!(
        (words.next(), words.next()),
        (Some("LID"), _) | (Some("Lid"), Some("Out")) | (Some("Port"), Some("Info"))
    )
}

/// Reads `opensm-lfts.dump`, `opensm.fdbs` or what `dump_fts` and `ibroute` print.
///
/// # Errors
/// [`DumpError`]; also for a table that is cut off.
pub fn read_lfts(text: &str) -> Result<Vec<Row>, DumpError> {
    let mut rows: Vec<Row> = Vec::new();
    // line of a table of `opensm-lfts.dump` that is not closed yet
    let mut open = None;
    for (line, content) in lines(text) {
        if content.starts_with("Unicast lids") || content.starts_with("dump_ucast_routes:") {
            let is_dump = content.starts_with("Unicast");
            let keyword = if is_dump { " guid " } else { "Switch " };
            let guid = guid_after(content, keyword)
                .ok_or_else(|| error(line, format!("no `{}` with a GUID", keyword.trim())))?;
            require_closed(open)?;
            open = is_dump.then_some(line);
            rows.push(Row {
                line,
                guid,
                name: quoted(content, '\''),
                entries: Vec::new(),
            });
        } else if content.ends_with("lids dumped") {
            open = None;
        } else if !is_heading(content) {
            let row = rows.last_mut().ok_or_else(|| {
                error(
                    line,
                    "expected `Unicast lids ...` or `dump_ucast_routes: Switch ...` first",
                )
            })?;
            row.entries.push(entry(line, content)?);
        }
    }
    require_closed(open)?;
    if rows.is_empty() {
        return Err(error(1, "no forwarding table (is the file empty?)"));
    }
    Ok(rows)
}

fn require_closed(open: Option<usize>) -> Result<(), DumpError> {
    match open {
        Some(line) => Err(error(
            line,
            "the table has no line `... lids dumped` at its end (is the file cut off?)",
        )),
        None => Ok(()),
    }
}

/// `0x0001 003 # Channel Adapter portguid 0x0000000000100001: 'H0'`, the same with `: (` instead of `#`, or
/// `0x0001 : 003  : 01   : yes`.
fn entry(line: usize, content: &str) -> Result<LidRow, DumpError> {
    let parts = content
        .split_once(": (")
        .or_else(|| content.split_once('#'));
    let (table, comment) = parts.unwrap_or((content, ""));
    let mut words = table
        .split([' ', '\t', ':'])
        .filter(|word| !word.is_empty());
    let (Some(lid), Some(port)) = (words.next(), words.next()) else {
        return Err(error(
            line,
            format!("`{content}` is no entry such as `0x0001 003` (is the file cut off?)"),
        ));
    };
    let port = match (port, port.parse()) {
        ("UNREACHABLE", _) | (_, Ok(255)) => None,
        (_, Ok(port)) => Some(port),
        _ => {
            let reason = format!("`{port}` is no port, expected 0 to 254 or `UNREACHABLE`");
            return Err(error(line, reason));
        }
    };
    Ok(LidRow {
        line,
        lid: unicast(hexadecimal(lid), line, lid)?,
        port,
        guid: guid_after(comment, "portguid "),
        name: quoted(comment, '\''),
    })
}

/// Reads `opensm-sl2vl.dump`.
///
/// # Errors
/// [`DumpError`].
pub fn read_sl2vl(text: &str) -> Result<Vec<SwitchLanes>, DumpError> {
    let mut nodes: Vec<SwitchLanes> = Vec::new();
    for (line, content) in lines(text) {
        let kind = ["Switch ", "Channel Adapter ", "Router "]
            .into_iter()
            .find(|kind| content.starts_with(kind));
        if let Some(kind) = kind {
            let guid = guid_after(content, kind)
                .ok_or_else(|| error(line, format!("no GUID after `{}`", kind.trim())))?;
            nodes.push(SwitchLanes {
                line,
                guid,
                name: quoted(content, '"'),
                rows: Vec::new(),
            });
            continue;
        }
        let node = nodes
            .last_mut()
            .ok_or_else(|| error(line, "expected `Switch 0x...` first"))?;
        let row = lanes(content).ok_or_else(|| {
            let reason = format!(
                "`{content}` is no row of two ports and 16 lanes 0 to 15, such as `1 2 : 0 1 2 ...` (is \
                 the file cut off?)"
            );
            error(line, reason)
        })?;
        node.rows.push((line, row.0, row.1, row.2));
    }
    if nodes.is_empty() {
        return Err(error(1, "no lane map (is the file empty?)"));
    }
    Ok(nodes)
}

/// `1   2   : 0  1  2 ...`
fn lanes(content: &str) -> Option<(u16, u16, [u8; 16])> {
    let (ports, lanes) = content.split_once(':')?;
    let mut ports = ports.split_whitespace().map(str::parse);
    let (input, output) = (ports.next()?.ok()?, ports.next()?.ok()?);
    let lanes: Option<Vec<u8>> = lanes
        .split_whitespace()
        .map(|word| word.parse().ok().filter(|&lane| lane < 16))
        .collect();
    let lanes = lanes?.try_into().ok()?;
    ports.next().is_none().then_some((input, output, lanes))
}

/// Reads `guid2lid`: (line, port GUID, first LID).
///
/// # Errors
/// [`DumpError`]; also for ports with several LIDs.
pub fn read_guid2lid(text: &str) -> Result<Vec<(usize, u64, u32)>, DumpError> {
    let mut all = Vec::new();
    for (line, content) in lines(text) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let [guid, first, last] = words[..] else {
            let reason = format!(
                "`{content}` is no entry such as `0x0000000000100001 0x0001 0x0001` (is the file cut off?)"
            );
            return Err(error(line, reason));
        };
        let guid = hexadecimal(guid)
            .ok_or_else(|| error(line, format!("`{guid}` is no GUID such as `0x200001`")))?;
        let lid = unicast(hexadecimal(first), line, first)?;
        if unicast(hexadecimal(last), line, last)? != lid {
            let reason = "a port has several LIDs; one per port is supported (LMC 0)";
            return Err(error(line, reason));
        }
        all.push((line, guid, lid));
    }
    Ok(all)
}

/// Reads `path-sl`: source LID, destination LID and service level of a path on each line, decimal.
///
/// # Errors
/// [`DumpError`].
pub fn read_path_sl(text: &str) -> Result<Vec<PathLevels>, DumpError> {
    let path = |(line, content): (usize, &str)| {
        let words: Vec<&str> = content.split_whitespace().collect();
        let [source, destination, level] = words[..] else {
            let reason = format!("`{content}` is no path such as `1 5 0` (is the file cut off?)");
            return Err(error(line, reason));
        };
        let level = level
            .parse()
            .ok()
            .filter(|&level| level < 16)
            .ok_or_else(|| {
                error(
                    line,
                    format!("`{level}` is no service level, expected 0 to 15"),
                )
            })?;
        Ok(PathLevels {
            line,
            source: unicast(source.parse().ok(), line, source)?,
            destination: unicast(destination.parse().ok(), line, destination)?,
            level,
        })
    };
    lines(text).map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_forwarding_tables_are_read() {
        let dump = "Unicast lids [0-3] of switch Lid 2 guid 0x0000000000200000 ('it's S0'):\n\
                    0x0001 003 # Channel Adapter portguid 0x0000000000100001: 'H 0'\n\
                    0x0003 UNREACHABLE\n2 lids dumped\n";
        let rows = read_lfts(dump).unwrap();
        assert_eq!(rows[0].name.as_deref(), Some("it's S0"));
        let first = &rows[0].entries[0];
        assert_eq!((first.lid, first.port), (1, Some(3)));
        assert_eq!(
            (first.guid, first.name.as_deref()),
            (Some(0x10_0001), Some("H 0"))
        );
        assert_eq!(rows[0].entries[1].port, None);
        let routes = "dump_ucast_routes: Switch 0x0000000000200000\nLID    : Port : Hops : Optimal\n\
                      0x000A : 003  : 01   : yes\n0x0002 : UNREACHABLE\n";
        let rows = read_lfts(routes).unwrap();
        assert_eq!(
            (rows[0].entries[0].lid, rows[0].entries[0].port),
            (10, Some(3))
        );
        assert_eq!(rows[0].entries[1].port, None);
    }

    #[test]
    fn wrong_dumps_are_told_with_their_line() {
        let lfts = |text: &str| read_lfts(text).unwrap_err().to_string();
        assert_eq!(lfts(""), "line 1: no forwarding table (is the file empty?)");
        assert!(lfts("0x0001 003").starts_with("line 1: expected `Unicast lids"));
        let head = "Unicast lids [0-3] of switch Lid 2 guid 0x0000000000200000 ('S0'):\n";
        assert!(lfts(head).contains("is the file cut off?"));
        for (entry, reason) in [
            ("0x0001", "`0x0001` is no entry"),
            ("0x0001 xyz", "`xyz` is no port"),
            ("0x0001 256", "`256` is no port"),
            ("0xC000 001", "`0xC000` is no unicast LID"),
            ("17 001", "`17` is no unicast LID"),
        ] {
            let message = lfts(&format!("{head}{entry}\n"));
            assert!(
                message.starts_with(&format!("line 2: {reason}")),
                "{message}"
            );
        }
        assert!(read_sl2vl("1 2 : 0").unwrap_err().reason.contains("first"));
        let short = read_sl2vl("Switch 0x20, base LID 2, \"S\"\n1 2 : 0 1 16").unwrap_err();
        assert_eq!(short.line, 2);
        assert!(
            read_guid2lid("0x1 0x2 0x3")
                .unwrap_err()
                .reason
                .contains("LMC 0")
        );
        assert!(read_path_sl("1 2 16").unwrap_err().reason.contains("`16`"));
    }
}
