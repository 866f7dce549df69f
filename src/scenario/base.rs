//! A scenario that starts from another one: `base` names its file, own sections stand in place of those of the base,
//! and `changes` sets single values of the others by their key paths, as `--set` does.
//!
//! What is read afterwards is one scenario, in which every value knows the file it was written in. A base may have a
//! base. Files that a base names by itself (fabrics, traces) are looked for where those of the scenario are.

use super::syntax::doubles::{Assigned, read};
use super::syntax::edit;
use super::syntax::{At, Field, Mistake, Node, Place, Sources, Value};
use std::path::{Path, PathBuf};

/// Keys of a scenario that are about its base.
const BASE: &str = "base";
const CHANGES: &str = "changes";
/// Bases of bases at most: more is a circle, or nobody can follow it.
const DEEPEST: usize = 8;

/// The text of a base.
pub(super) struct Found {
    /// What messages call it.
    pub name: String,
    /// The scenario.
    pub text: String,
    /// Where the base it may have itself is looked for.
    pub folder: PathBuf,
}

/// Finds the text of a base by the folder of the scenario that names it and the name, or says why not.
pub(super) type Find<'a> = &'a dyn Fn(&Path, &str) -> Result<Found, String>;

/// A base in a file.
pub(super) fn of_file(folder: &Path, name: &str) -> Result<Found, String> {
    let path = folder.join(name);
    let text = crate::text_file::read(&path);
    let text = text.map_err(|cause| format!("cannot read `{}`: {cause}", path.display()))?;
    Ok(Found {
        name: path.display().to_string(),
        text,
        folder: path.parent().unwrap_or(Path::new("")).to_owned(),
    })
}

/// What a scenario says of its base.
struct Said {
    base: Option<Field>,
    changes: Option<Field>,
}

/// Puts the base of a scenario below it; returns it as it was, if the scenario has one.
///
/// # Errors
/// When there is no such base, it is not RON, or a change leads nowhere.
pub(super) fn merge(
    root: &mut Node,
    sources: &mut Sources,
    (folder, find): (&Path, Find<'_>),
) -> Result<Option<Node>, Mistake> {
    below(root, sources, (folder, find), 0)
}

fn below(
    root: &mut Node,
    sources: &mut Sources,
    (folder, find): (&Path, Find<'_>),
    depth: usize,
) -> Result<Option<Node>, Mistake> {
    let Some(own) = edit::sections(root) else {
        return Ok(None);
    };
    let said = Said {
        base: taken(own, BASE),
        changes: taken(own, CHANGES),
    };
    let Some(base) = said.base else {
        return match said.changes {
            None => Ok(None),
            Some(changes) => {
                let message = "there is no base that it could change: name one with `base`, or write the values where they belong";
                Err(Mistake::new(changes.place, CHANGES, message))
            }
        };
    };
    let wrong = |message: String| Mistake::new(base.value.place, BASE, message);
    let Value::Text(name) = &base.value.value else {
        let found = base.value.quoted();
        return Err(wrong(format!(
            "expected the name of a scenario file in quotes, such as \"base.ron\", found {found}"
        )));
    };
    if depth == DEEPEST {
        return Err(wrong(format!(
            "the {DEEPEST}th base of a base: do they go round?"
        )));
    }
    let found = find(folder, name).map_err(wrong)?;
    let source = sources.add_base(found.name, &found.text);
    let mut merged = read(&found.text, source)?;
    below(&mut merged, sources, (&found.folder, find), depth + 1)?;
    let before = merged.clone();
    if let Some(changes) = said.changes {
        change(&mut merged, &changes.value, own)?;
    }
    let Some(sections) = edit::sections(&mut merged) else {
        return Err(wrong("it is no scenario".into()));
    };
    for field in own.drain(..) {
        match sections.iter_mut().find(|other| other.key == field.key) {
            Some(other) => *other = field,
            None => sections.push(field),
        }
    }
    *root = merged;
    Ok(Some(before))
}

/// Takes a key out of a scenario.
fn taken(sections: &mut Vec<Field>, key: &str) -> Option<Field> {
    let index = sections.iter().position(|field| field.key == key)?;
    Some(sections.remove(index))
}

/// Sets the values of a list of (key path, value), none of which is lost to another one.
fn change(root: &mut Node, changes: &Node, own: &[Field]) -> Result<(), Mistake> {
    let expected = |node: &Node, index: Option<usize>| {
        let path = index.map_or(CHANGES.into(), |index| format!("{CHANGES}[{index}]"));
        let what = "expected key paths with their values, such as [(\"fabric.switch.lanes\", 2)]";
        Mistake::new(node.place, path, format!("{what}, found {}", node.quoted()))
    };
    let Value::List(list) = &changes.value else {
        return Err(expected(changes, None));
    };
    let mut assigned = Assigned::default();
    for (index, pair) in list.iter().enumerate() {
        let (path, value, place) = of_pair(pair).ok_or_else(|| expected(pair, Some(index)))?;
        let wrong = |message: String| Mistake::new(place, format!("{CHANGES}[{index}]"), message);
        let section = path.split(['.', '[']).next().unwrap_or(path);
        if [BASE, CHANGES].contains(&section) {
            return Err(wrong(format!(
                "`{path}` is about the base, and no value of it"
            )));
        }
        if own.iter().any(|field| field.key == section) {
            return Err(wrong(format!(
                "`{section}` is written in this file, in place of that of the base: change it there"
            )));
        }
        let next = At {
            value: path.to_owned(),
            place,
            path: format!("{CHANGES}[{index}]"),
        };
        assigned.add(root, &next)?;
        edit::put(root, path, value.clone(), place)?;
    }
    Ok(())
}

fn of_pair(pair: &Node) -> Option<(&str, &Node, Place)> {
    let Value::Tuple(nodes) = &pair.value else {
        return None;
    };
    match &nodes[..] {
        [path, value] => match &path.value {
            Value::Text(text) => Some((text, value, path.place)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Document, ScenarioError};

    const FABRIC: &str = "Scenario(
        title: \"fabric\", seed: 7,
        fabric: (
            topology: KAryNTree(k: 2, n: 2),
            link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
            switch: (lanes: 2, lane_capacity: \"16 flits\"),
        ),
        routing: FatTree(),
        traffic: [(name: \"bulk\", pattern: Uniform, process: Bernoulli(load: 0.5), size: \"8 flits\")],
        phases: (warmup: \"100 cycles\", measure: \"1000 cycles\"),
    )";
    const LARGE: &str = "Scenario(
        base: \"fabric.ron\",
        changes: [(\"fabric.topology.k\", 3), (\"fabric.switch.lanes\", 4)],
        title: \"large\",
    )";

    fn find(_: &Path, name: &str) -> Result<Found, String> {
        let texts = [("fabric.ron", FABRIC), ("large.ron", LARGE)];
        let found = texts.iter().find(|(file, _)| *file == name);
        let (name, text) = found.ok_or("there is none")?;
        Ok(Found {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
            folder: PathBuf::new(),
        })
    }

    fn document(text: &str) -> Result<Document, ScenarioError> {
        Document::with_bases("own.ron", text, Path::new(""), &find)
    }

    #[test]
    fn own_sections_and_changes_stand_in_place_of_those_of_the_base() {
        let own = "Scenario(
            base: \"large.ron\",
            changes: [(\"traffic.bulk.process.load\", 0.25), (\"fabric.switch.lanes\", 8), (\"traffic[0].sl\", 0)],
            title: \"own\",
            phases: (warmup: \"5 cycles\", measure: \"50 cycles\"),
        )";
        let found = document(own).unwrap();
        let whole = FABRIC
            .replace("k: 2", "k: 3")
            .replace("lanes: 2", "lanes: 8")
            .replace("size: \"8 flits\"", "size: \"8 flits\", sl: 0")
            .replace("load: 0.5", "load: 0.25")
            .replace("1000 cycles", "50 cycles")
            .replace("100 cycles", "5 cycles");
        let whole = document(&whole).unwrap();
        assert_eq!(found.settings(), {
            let mut settings = whole.settings();
            settings.insert("title".into(), "\"own\"".into());
            settings
        });
        assert_eq!(found.identity(), whole.identity());
        assert_eq!(found.scenario().unwrap().title, "own");
        // the text says all by itself
        let again = Document::parse("again.ron", &found.to_text(), Path::new("")).unwrap();
        assert_eq!(again.settings(), found.settings());
        assert!(again.changes_of_base().is_none());
    }

    #[test]
    fn what_is_other_than_in_the_base_is_told() {
        let changes = document(LARGE).unwrap().changes_of_base().unwrap();
        let told =
            |(path, there, here): &(String, String, String)| format!("{path}: {there}, {here}");
        let told: Vec<String> = changes.iter().map(told).collect();
        assert_eq!(
            told,
            ["fabric.switch.lanes: 2, 4", "fabric.topology.k: 2, 3"]
        );
        let same = document("Scenario(base: \"fabric.ron\", title: \"same\")").unwrap();
        assert_eq!(same.changes_of_base(), Some(Vec::new()));
    }

    #[test]
    fn mistakes_lead_to_the_file_they_are_in() {
        let error = |text: &str| {
            document(text)
                .and_then(|found| found.scenario())
                .unwrap_err()
        };
        let own = "Scenario(\n    base: \"large.ron\",\n    changes: [(\"phases.measured\", \"7 cycles\")],\n)";
        assert_eq!(error(own).place, "own.ron:3:16");
        let mut found = document(LARGE).unwrap();
        found.set("base=fabric.ron").unwrap();
        let message = found.scenario().unwrap_err().to_string();
        assert!(message.contains("cannot be set"), "{message}");
        // a name in quotes is no word because it comes from a base
        let quoted = FABRIC.replace("pattern: Uniform", "pattern: \"Uniform\"");
        let quoted = quoted.as_str();
        let find = |_: &Path, _: &str| {
            Ok(Found {
                name: "quoted.ron".into(),
                text: quoted.to_owned(),
                folder: PathBuf::new(),
            })
        };
        let found = Document::with_bases("own.ron", "Scenario(base: \"q\")", Path::new(""), &find);
        let error = found.unwrap().scenario().unwrap_err();
        assert!(error.place.starts_with("quoted.ron:"), "{error}");
    }
}
