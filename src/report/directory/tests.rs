//! Run directories: written as a whole, never over another, with the error that names what is kept.

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_appears_only_when_finished() {
    let base = tempfile::tempdir().unwrap();
    let root = base.path().join("deep/runs");
    let run = RunDirectory::create_in(&root, "10-ary 3-tree, uniform", 1).unwrap();
    run.write("summary.json", b"{}").unwrap();
    assert!(names(&root)[0].starts_with(".10-ary-3-tree-uniform-1.partial-"));
    let path = run.finish().unwrap();
    assert_eq!(path, root.join("10-ary-3-tree-uniform-1"));
    assert_eq!(names(&root), ["10-ary-3-tree-uniform-1"]);
    assert_eq!(names(&path), ["summary.json"]);
}

#[test]
fn a_dropped_run_leaves_nothing() {
    let base = tempfile::tempdir().unwrap();
    let run = RunDirectory::create_at(&base.path().join("a/b/c")).unwrap();
    run.write("summary.json", b"{}").unwrap();
    drop(run);
    assert!(names(base.path()).is_empty());
}

#[test]
fn files_get_their_names_when_all_are_written() {
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().join("a/b");
    let (one, two) = (("one", "1"), ("two", "2"));
    // the folder of the last one is not there
    let error = replace_files(&folder, &[one, two, ("no/three", "3")]).unwrap_err();
    assert!(error.to_string().contains("no/three"), "{error}");
    assert!(names(base.path()).is_empty());
    replace_files(&folder, &[one, two]).unwrap();
    assert_eq!(names(&folder), ["one", "two"]);
    let others = [("one", "other"), ("no/three", "3")];
    assert!(replace_files(&folder, &others).is_err());
    assert_eq!(names(&folder), ["one", "two"]);
    assert_eq!(fs::read(folder.join("one")).unwrap(), b"1");
    replace_files(&folder, &others[..1]).unwrap();
    assert_eq!(fs::read(folder.join("one")).unwrap(), b"other");
}

#[test]
fn taken_names_are_numbered() {
    let base = tempfile::tempdir().unwrap();
    let create = || RunDirectory::create_in(base.path(), "Test!", 7).unwrap();
    // two at a time
    let (first, second) = (create(), create());
    for (run, name) in [
        (second, "test-7-2"),
        (first, "test-7"),
        (create(), "test-7-3"),
    ] {
        assert_eq!(run.place(), base.path().join(name));
        run.write("summary.json", name.as_bytes()).unwrap();
        assert_eq!(run.finish().unwrap(), base.path().join(name));
    }
    assert_eq!(
        fs::read(base.path().join("test-7/summary.json")).unwrap(),
        b"test-7"
    );
}

#[test]
fn a_given_place_must_be_free() {
    let base = tempfile::tempdir().unwrap();
    let place = base.path().join("out");
    fs::create_dir(&place).unwrap();
    let run = RunDirectory::create_at(&place).unwrap();
    run.write(manifest::FILE, b"()").unwrap();
    assert_eq!(run.finish().unwrap(), place);
    let error = RunDirectory::create_at(&place).unwrap_err();
    assert!(matches!(error, ReportError::Finished(_)));
    let error = RunDirectory::create_at(base.path()).unwrap_err();
    assert!(matches!(error, ReportError::NotEmpty(_)));
    assert_eq!(names(base.path()), ["out"]);
}

#[test]
fn a_name_is_taken_from_the_start() {
    let base = tempfile::tempdir().unwrap();
    let place = base.path().join("out");
    let first = RunDirectory::create_at(&place).unwrap();
    let refusal = RunDirectory::create_at(&place).unwrap_err().to_string();
    let process = format!("process {} on", std::process::id());
    assert!(refusal.contains(&process), "{refusal}");
    // nothing of the second is left, and the first goes on
    assert_eq!(names(base.path()), [".out.partial-run"]);
    drop(first);
    drop(RunDirectory::create_at(&place).unwrap());
    assert!(names(base.path()).is_empty());
}

#[test]
fn a_place_that_is_taken_meanwhile_costs_no_results() {
    let base = tempfile::tempdir().unwrap();
    let place = base.path().join("out");
    let run = RunDirectory::create_at(&place).unwrap();
    run.write("summary.json", b"{}").unwrap();
    fs::create_dir(&place).unwrap();
    fs::write(place.join("thesis.tex"), b"").unwrap();
    assert_eq!(run.finish().unwrap(), base.path().join("out-2"));
    assert_eq!(names(base.path()), ["out", "out-2"]);
    assert_eq!(names(&base.path().join("out-2")), ["summary.json"]);
}

#[test]
fn impossible_places_are_named() {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = RunDirectory::create_at(&file).unwrap_err();
    assert!(matches!(
        error,
        ReportError::NotADirectory {
            why: "it is a file",
            ..
        }
    ));
    let error = RunDirectory::create_in(&file, "x", 1).unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
    assert!(RunDirectory::create_at(&file.join("a/b")).is_err());
    assert!(RunDirectory::create_at(Path::new("/")).is_err());
    assert_eq!(names(base.path()), ["file"]);
}

#[test]
fn slugs_are_file_names() {
    assert_eq!(slug("k=4, n=2: \u{fc}ber ../x"), "k-4-n-2-ber-x");
    assert_eq!(slug("///"), "run");
    assert!(slug(&"a b".repeat(99)).len() <= 60);
}
