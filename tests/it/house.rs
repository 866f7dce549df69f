//! The shape of the imports between the files of `src/`, measured: circles, arrows from the core into mechanisms, wide structs.
//!
//! Every figure is a bound that only falls: whoever makes one smaller writes the smaller one here, and no change makes one larger.
//! An import is a `use`, or a path with `crate` or `super` in front; what a `mod.rs` hands on (`pub use`) is not one of its own, and
//! leads to the file that has it. Visibilities and tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// Circles of files that import each other: how many, files in them, files of the largest.
const CIRCLES: [usize; 3] = [25, 117, 19];
/// Imports of mechanisms by the rest of `cycle`, and by `run`.
const INTO_MECHANISMS: [usize; 2] = [0, 10];
/// Structs with so many fields or more, and how many they have.
const WIDE: usize = 20;
const WIDE_STRUCTS: [(&str, usize); 5] = [
    ("Flow", 23),
    ("RunResult", 33),
    ("SwitchOptions", 21),
    ("SwitchRules", 24),
    ("Worklists", 21),
];

type Module = Vec<String>;

/// What a file imports and declares.
#[derive(Default)]
struct File {
    module: Module,
    /// Paths, and whether they are handed on.
    paths: Vec<(Module, bool)>,
    structs: Vec<(String, usize)>,
}

/// Whether an item is there in tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg")
            && list.is_ok_and(|list| list.tokens.to_string().starts_with("test"))
    })
}

impl File {
    fn enter(&mut self, tree: &syn::UseTree, mut path: Module, is_public: bool) {
        match tree {
            syn::UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.enter(&part.tree, path, is_public);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.enter(tree, path.clone(), is_public);
                }
            }
            syn::UseTree::Name(part) if part.ident == "self" => self.paths.push((path, is_public)),
            syn::UseTree::Name(syn::UseName { ident })
            | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
                path.push(ident.to_string());
                self.paths.push((path, is_public));
            }
            syn::UseTree::Glob(_) => self.paths.push((path, is_public)),
        }
    }
}

impl<'ast> Visit<'ast> for File {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        self.enter(&item.tree, Module::new(), is_public);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.structs
            .push((item.ident.to_string(), item.fields.len()));
        visit::visit_item_struct(self, item);
    }

    /// It names a module and imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let first = &path.segments[0].ident;
        if first == "crate" || first == "super" {
            let names = path.segments.iter().map(|part| part.ident.to_string());
            self.paths.push((names.collect(), false));
        }
        visit::visit_path(self, path);
    }
}

/// All files by path.
fn files() -> BTreeMap<PathBuf, File> {
    let mut found = BTreeMap::new();
    read(Path::new("src"), &mut found);
    found
}

fn read(folder: &Path, found: &mut BTreeMap<PathBuf, File>) {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    for path in entries.map(|entry| entry.expect("it is there").path()) {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            read(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && name != "tests" {
            let text = std::fs::read_to_string(&path).expect("it can be read");
            let mut file = File::default();
            let below = path
                .strip_prefix("src")
                .expect("it is below")
                .with_extension("");
            file.module = (below.iter().map(|part| part.to_string_lossy().into_owned())).collect();
            if ["mod", "lib", "main"].contains(&&*name) {
                file.module.pop();
            }
            file.visit_file(&syn::parse_file(&text).expect("it compiles"));
            found.insert(path, file);
        }
    }
}

/// The files, and who imports whom, by number.
struct Graph {
    files: Vec<(PathBuf, File)>,
    modules: BTreeMap<Module, usize>,
    /// What a module hands on: (module, name) to a path.
    faces: BTreeMap<(Module, String), Module>,
}

impl Graph {
    fn new() -> Self {
        let mut graph = Self {
            files: files().into_iter().collect(),
            modules: BTreeMap::new(),
            faces: BTreeMap::new(),
        };
        for (number, (path, file)) in graph.files.iter().enumerate() {
            if !path.ends_with("main.rs") {
                graph.modules.insert(file.module.clone(), number);
            }
        }
        let mut faces = Vec::new();
        for (_, file) in &graph.files {
            for (path, _) in file.paths.iter().filter(|(_, is_public)| *is_public) {
                if let Some(target) = graph.absolute(&file.module, path)
                    && let Some(name) = target.last()
                {
                    faces.push(((file.module.clone(), name.clone()), target));
                }
            }
        }
        graph.faces = faces.into_iter().collect();
        graph
    }

    /// A path from the root of the crate; `None`: it leads out of the crate.
    fn absolute(&self, module: &Module, path: &Module) -> Option<Module> {
        let supers = path.iter().take_while(|name| *name == "super").count();
        let start = match &*path[0] {
            "crate" => return Some(path[1..].to_vec()),
            "self" => [module.as_slice(), &path[1..]].concat(),
            "super" => [
                module.get(..module.len().checked_sub(supers)?)?,
                &path[supers..],
            ]
            .concat(),
            _ => [module.as_slice(), path].concat(),
        };
        let is_own = self
            .modules
            .contains_key(&start[..(module.len() + 1).min(start.len())]);
        (supers > 0 || path[0] == "self" || is_own).then_some(start)
    }

    /// The file that has what a path names.
    fn target(&self, path: &[String], depth: usize) -> Option<usize> {
        let length = (0..=path.len())
            .rev()
            .find(|&length| self.modules.contains_key(&path[..length]))?;
        let (module, rest) = path.split_at(length);
        let face = rest
            .first()
            .and_then(|name| self.faces.get(&(module.to_vec(), name.clone())));
        match face {
            Some(face) if depth < 6 && face != path => {
                self.target(&[face.as_slice(), &rest[1..]].concat(), depth + 1)
            }
            _ => self.modules.get(module).copied(),
        }
    }

    /// Imports of every file.
    fn arrows(&self) -> Vec<BTreeSet<usize>> {
        let all = self.files.iter().enumerate();
        let arrows = all.map(|(number, (path, file))| {
            let hands_on = path.ends_with("mod.rs");
            let own = file
                .paths
                .iter()
                .filter(|(_, is_public)| !(*is_public && hands_on));
            let targets = own.filter_map(|(path, _)| {
                let path = self.absolute(&file.module, path)?;
                self.target(&path, 0)
            });
            targets.filter(|&target| target != number).collect()
        });
        arrows.collect()
    }
}

/// Files from which each other one can be reached and that can be reached from it; the largest group first.
fn circles(arrows: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reached = |start: usize| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
        while let Some(number) = next.pop() {
            next.extend(arrows[number].iter().filter(|&&other| seen.insert(other)));
        }
        seen
    };
    let reached: Vec<BTreeSet<usize>> = (0..arrows.len()).map(reached).collect();
    let mut left: BTreeSet<usize> = (0..arrows.len()).collect();
    let mut circles = Vec::new();
    while let Some(first) = left.pop_first() {
        let both =
            |other: &usize| reached[first].contains(other) && reached[*other].contains(&first);
        let others: Vec<usize> = left.iter().copied().filter(both).collect();
        if !others.is_empty() {
            left.retain(|other| !others.contains(other));
            circles.push([vec![first], others].concat());
        }
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

/// What to do about a figure that is another one than its bound.
fn advice(what: &str, bound: &impl std::fmt::Debug, found: &impl std::fmt::Debug) -> String {
    format!(
        "{what}: {found:?}, the bound is {bound:?}. A larger figure: turn the import round, or split by concept; a smaller one: write it \
         into this file"
    )
}

#[test]
fn circles_of_files_only_get_fewer_and_smaller() {
    let graph = Graph::new();
    let circles = circles(&graph.arrows());
    let lengths = circles.iter().map(Vec::len);
    let found = [
        circles.len(),
        lengths.clone().sum(),
        lengths.max().unwrap_or(0),
    ];
    let mut text = advice("circles, files in them, largest", &CIRCLES, &found);
    for circle in circles.iter().take(3) {
        let names = circle.iter().map(|&number| graph.files[number].0.display());
        let names: Vec<String> = names.map(|name| name.to_string()).collect();
        let _ = write!(text, "\n{}: {}", circle.len(), names.join(" "));
    }
    assert_eq!(found, CIRCLES, "{text}");
}

#[test]
fn the_core_and_the_driver_know_no_more_mechanisms() {
    let graph = Graph::new();
    let arrows = graph.arrows();
    let is_mechanism = |number: &usize| graph.files[*number].0.starts_with("src/cycle/mechanisms");
    let into = |folder: &str| {
        let own = (0..arrows.len()).filter(|number| graph.files[*number].0.starts_with(folder));
        let own = own.filter(|number| !is_mechanism(number));
        own.flat_map(|number| {
            arrows[number]
                .iter()
                .filter(|target| is_mechanism(target))
                .map(move |&target| (number, target))
        })
        .collect::<Vec<_>>()
    };
    let imports = ["src/cycle", "src/run"].map(into);
    let found = [imports[0].len(), imports[1].len()];
    let mut text = advice("imports of mechanisms", &INTO_MECHANISMS, &found);
    for (from, to) in imports.iter().flatten() {
        let [from, to] = [from, to].map(|number| graph.files[*number].0.display());
        let _ = write!(text, "\n{from} imports {to}");
    }
    assert_eq!(found, INTO_MECHANISMS, "{text}");
}

#[test]
fn no_struct_gets_wider() {
    let files = files();
    let all = files.values().flat_map(|file| &file.structs);
    let mut wide: Vec<(&str, usize)> = all
        .filter(|(_, fields)| *fields >= WIDE)
        .map(|(name, fields)| (&**name, *fields))
        .collect();
    wide.sort_unstable();
    assert_eq!(
        wide,
        WIDE_STRUCTS,
        "{}",
        advice("structs and their fields", &WIDE_STRUCTS, &wide)
    );
}
