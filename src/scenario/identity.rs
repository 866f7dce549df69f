//! What makes two scenarios the same: every value as written, and every file they name.
//!
//! Comments, blanks and the order of keys do not count; a default that is written out does.

use super::syntax::sense::sense;
use super::syntax::{Field, Node, Value};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Keys that change nothing in a run.
const NO_MATTER: [&str; 3] = ["title", "sweep", "expect"];
/// Bytes of an identity: 128 bits never collide by chance.
const BYTES: usize = 16;

/// Values by key path, such as `fabric.switch.lanes` to `4`.
pub type Settings = BTreeMap<String, String>;

/// Every value of a scenario by its key path.
pub(super) fn settings(root: &Node) -> Settings {
    let mut settings = Settings::new();
    collect(content(root), "", &mut settings);
    settings
}

/// What stands between the parentheses of `Scenario(...)`.
fn content(root: &Node) -> &Node {
    match &root.value {
        Value::Named(name, arguments) if name == "Scenario" => arguments,
        _ => root,
    }
}

/// The sections that change something in a run.
fn sections_that_matter(root: &Node) -> impl Iterator<Item = &Field> {
    let fields = match &content(root).value {
        Value::Struct(fields) => &fields[..],
        _ => &[],
    };
    let matters = |field: &&Field| !NO_MATTER.contains(&field.key.as_str());
    fields.iter().filter(matters)
}

/// What is other in `here`: key path, value there, value here; `-` for none. Keys that change nothing in a run are left out.
pub(super) fn differences(there: &Settings, here: &Settings) -> Vec<(String, String, String)> {
    let paths: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let matters = |path: &&String| {
        let section = path.split(['.', '[']).next().unwrap_or(path);
        !NO_MATTER.contains(&section)
    };
    let value = |settings: &Settings, path: &String| {
        let value = settings.get(path);
        value.map_or_else(|| "-".to_owned(), Clone::clone)
    };
    let both = paths.into_iter().filter(matters);
    let both = both.map(|path| (path.clone(), value(there, path), value(here, path)));
    both.filter(|(_, there, here)| there != here).collect()
}

fn collect(node: &Node, path: &str, settings: &mut Settings) {
    match &node.value {
        Value::Struct(fields) => {
            for field in fields {
                let dot = if path.is_empty() { "" } else { "." };
                collect(&field.value, &format!("{path}{dot}{}", field.key), settings);
            }
        }
        // `name: Name(key: value)` is a name and its keys
        Value::Named(name, arguments) => {
            settings.insert(path.to_owned(), name.clone());
            collect(arguments, path, settings);
        }
        // a list of sections is walked, a list of plain values is one value
        Value::List(nodes) if nodes.iter().any(is_section) => {
            for (index, node) in nodes.iter().enumerate() {
                collect(node, &format!("{path}[{index}]"), settings);
            }
        }
        Value::Tuple(nodes) if nodes.is_empty() && settings.contains_key(path) => {}
        Value::Tuple(_) if settings.contains_key(path) => {
            let arguments = node.to_text();
            settings
                .entry(path.to_owned())
                .or_default()
                .push_str(&arguments);
        }
        _ => {
            settings.insert(path.to_owned(), node.to_text());
        }
    }
}

fn is_section(node: &Node) -> bool {
    matches!(node.value, Value::Struct(_) | Value::Named(..))
}

/// Bytes of a file that are read at a time.
const PIECE: usize = 1 << 16;

/// SHA-256 of every file below `base` that a text of the scenario names.
pub(super) fn files(root: &Node, base: &Path) -> Settings {
    let mut files = Settings::new();
    texts(root, &mut |text| add_file(base, text, &mut files));
    files
}

/// A scenario holds few texts, and those that are no file name do not exist as one.
fn add_file(base: &Path, text: &str, files: &mut Settings) {
    if let Ok(digest) = digest(&base.join(text)) {
        files.insert(text.to_owned(), digest);
    }
}

/// SHA-256 of a file, read in pieces: a trace may be larger than the memory.
fn digest(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            length => hash.update(&piece[..length]),
        }
    }
}

fn texts(node: &Node, visit: &mut impl FnMut(&str)) {
    match &node.value {
        Value::Text(text) => visit(text),
        Value::Named(_, arguments) => texts(arguments, visit),
        Value::Struct(fields) => {
            for field in fields {
                texts(&field.value, visit);
            }
        }
        Value::List(nodes) | Value::Tuple(nodes) => {
            for node in nodes {
                texts(node, visit);
            }
        }
        Value::Map(entries) => {
            for (_, value) in entries {
                texts(value, visit);
            }
        }
        Value::Number(_) | Value::Word(_) | Value::Verbatim(_) => {}
    }
}

/// One number for a run: program version, settings that matter (the seed among them) and the files that they name.
///
/// Cost: the sections that matter; claims, which are long, are not looked at.
pub(super) fn identity(root: &Node, base: &Path) -> String {
    let (mut settings, mut files) = (Settings::new(), Settings::new());
    for section in sections_that_matter(root) {
        collect(&section.value, &section.key, &mut settings);
        texts(&section.value, &mut |text| add_file(base, text, &mut files));
    }
    let pairs = settings.iter().chain(&files);
    let texts = pairs.flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    digest_of([env!("CARGO_PKG_VERSION")].into_iter().chain(texts))
}

/// One number for what the settings that matter say, however they are spelled.
pub(super) fn sense_of(root: &Node) -> String {
    let sections = sections_that_matter(root);
    let sections = sections.map(|section| (section.key.as_str(), sense(&section.value)));
    let sections: BTreeMap<&str, String> = sections.collect();
    let texts = sections.iter();
    digest_of(texts.flat_map(|(name, value)| [*name, value.as_str()]))
}

/// One number for texts.
fn digest_of<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        // lengths in front keep neighbouring texts apart
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hexadecimal(&hash.finalize()[..BYTES])
}

/// Two digits per byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use std::path::Path;

    const TEXT: &str = r#"Scenario(
        title: "a", seed: 3,
        fabric: (topology: EdgeList(file: "net.txt"), switch: (lanes: 2)), // two lanes
        routing: UpDown(),
        traffic: [(name: "bulk", pattern: Uniform, size: Mixed([("64 B", 3)]), sl: [0, 1])],
    )"#;

    fn document(text: &str, base: &Path) -> Document {
        Document::parse("a.ron", text, base).unwrap()
    }

    #[test]
    fn settings_name_every_value() {
        let settings = document(TEXT, Path::new("")).settings();
        let lines = settings
            .iter()
            .map(|(path, value)| format!("{path} = {value}"));
        let lines: Vec<_> = lines.collect();
        assert_eq!(
            lines,
            [
                "fabric.switch.lanes = 2",
                "fabric.topology = EdgeList",
                "fabric.topology.file = \"net.txt\"",
                "routing = UpDown",
                "seed = 3",
                "title = \"a\"",
                "traffic[0].name = \"bulk\"",
                "traffic[0].pattern = Uniform",
                "traffic[0].size = Mixed([(\"64 B\", 3)])",
                "traffic[0].sl = [0, 1]",
            ]
        );
    }

    #[test]
    fn only_what_changes_a_run_changes_its_identity() {
        let base = tempfile::tempdir().unwrap();
        let of = |from: &str, to: &str| {
            assert!(TEXT.contains(from), "{from}");
            document(&TEXT.replace(from, to), base.path()).identity()
        };
        let first = of("title", "title");
        assert_eq!(of("// two lanes", "// more lanes would do"), first);
        assert_eq!(of("title: \"a\"", "title: \"b\""), first);
        assert_eq!(
            of("title: \"a\", seed: 3,", "seed: 3, title: \"a\","),
            first
        );
        assert_ne!(of("seed: 3", "seed: 4"), first);
        assert_ne!(of("lanes: 2", "lanes: 3"), first);
        assert_ne!(of("[0, 1]", "[0, 2]"), first);
        // another spelling is another run, that says the same
        let sense = |to: &str| document(&TEXT.replace("seed: 3", to), base.path()).sense();
        assert_ne!(of("seed: 3", "seed: 03"), first);
        assert_eq!(sense("seed: 03"), sense("seed: 3"));
        assert_ne!(sense("seed: 4"), sense("seed: 3"));
        std::fs::write(base.path().join("net.txt"), "one").unwrap();
        let with_file = of("title", "title");
        assert_ne!(with_file, first);
        std::fs::write(base.path().join("net.txt"), "two").unwrap();
        assert_ne!(of("title", "title"), with_file);
    }
}
