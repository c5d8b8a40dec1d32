//! The rooms and their imports are as `docs/architecture.md` says.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Edges = BTreeMap<String, BTreeSet<String>>;

/// The table of rooms in the documentation: room to allowed imports.
fn documented() -> Edges {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split(',')
            .map(|name| name.trim().trim_matches('`').to_owned())
            .filter(|name| name != "-")
            .collect()
    };
    let rooms = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').collect();
        let [room, _, imports, ..] = cells.as_slice() else { return None };
        Some((room.trim().trim_matches('`').to_owned(), names(imports)))
    });
    rooms.collect()
}

/// The imports that Cargo knows of, without those for tests.
fn real() -> Edges {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let room = |package: &str| match package {
        "assay" => Some("cli".to_owned()),
        other => other.strip_prefix("assay-").map(str::to_owned),
    };
    let packages = metadata["packages"].as_array().unwrap();
    let rooms = packages.iter().filter_map(|package| {
        let imports = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|dependency| dependency["kind"].is_null());
        let imports = imports.filter_map(|dependency| room(dependency["name"].as_str().unwrap()));
        Some((room(package["name"].as_str().unwrap())?, imports.collect()))
    });
    rooms.collect()
}

#[test]
fn every_room_is_documented_and_imports_only_what_it_may() {
    let (documented, real) = (documented(), real());
    let names = |edges: &Edges| edges.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(
        names(&documented),
        names(&real),
        "the rooms of docs/architecture.md and those of the workspace"
    );
    for (room, imports) in &real {
        let forbidden: Vec<&String> = imports.difference(&documented[room]).collect();
        assert!(
            forbidden.is_empty(),
            "`{room}` imports {forbidden:?}, which docs/architecture.md does not allow"
        );
    }
}

#[test]
fn the_table_allows_no_circle() {
    let mut left = documented();
    while !left.is_empty() {
        let free = left.iter().find(|(_, imports)| imports.iter().all(|import| !left.contains_key(import)));
        let free =
            free.map(|(room, _)| room.clone()).unwrap_or_else(|| panic!("a circle among {:?}", left.keys()));
        left.remove(&free);
    }
}

/// The files directly in the source directory of a room, and the comment at the top of its crate.
fn files_and_map(sources: &Path) -> Option<(BTreeSet<String>, String)> {
    let top = ["lib.rs", "main.rs"].map(|name| sources.join(name)).into_iter().find(|path| path.exists())?;
    let text = std::fs::read_to_string(&top).unwrap();
    let map = text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    let entries = std::fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|ending| ending == "rs") && *path != top);
    let names = files.map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    Some((names.filter(|name| !["tests.rs", "sample.rs"].contains(&name.as_str())).collect(), map))
}

#[test]
fn every_file_of_a_room_stands_in_its_map() {
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for room in std::fs::read_dir(rooms).unwrap() {
        let room = room.unwrap().path();
        let Some((files, map)) = files_and_map(&room.join("src")).filter(|(files, _)| files.len() > 1) else {
            continue;
        };
        let missing: Vec<&String> = files.iter().filter(|name| !map.contains(&format!("`{name}`"))).collect();
        assert!(missing.is_empty(), "the map at the top of {} lacks {missing:?}", room.display());
    }
}
