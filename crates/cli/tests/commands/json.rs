//! `docs/json.md` names every key that `--json` prints.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bench::Bench;

const CAMPAIGN: &str = r#"
name = "keys"
question = "Which keys are there?"
[workload]
command = "echo speed=$(({group} * 100 + {repeat})) samples/s"
[vary]
group = [1, 2]
[read]
headline = "speed"
[[read.metric]]
name = "speed"
unit = "samples/s"
[[gate]]
metric = "speed"
min = 1
"#;

/// Objects whose keys are the user's own, or facts about a machine that the page does not list one by one.
const FREE: [&str; 5] = ["settings", "common", "machine", "jitter", "gate"];

fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                if !FREE.contains(&key.as_str()) {
                    keys(value, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

fn page() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    std::fs::read_to_string(path).unwrap()
}

/// The words in code spans of the section about a command; of a path such as `answer.name` each part.
fn documented(command: &str) -> BTreeSet<String> {
    let page = page();
    let section = page.split("\n## ").find(|section| {
        let title = section.lines().next().unwrap_or_default();
        title.contains(&format!("`{command}`"))
    });
    assert!(section.is_some(), "docs/json.md has no section `{command}`");
    let spans = section.unwrap_or_default().split('`').skip(1).step_by(2);
    spans
        .flat_map(|span| span.split(['.', '…', '[', ']']))
        .map(str::to_owned)
        .filter(|word| !word.is_empty())
        .collect()
}

fn output(bench: &Bench, arguments: &[&str]) -> Value {
    let output = bench.command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_key_is_documented() {
    let bench = Bench::new().file("keys.toml", CAMPAIGN);
    for record in ["before", "after"] {
        bench.run(&["run", "keys.toml", "--quiet", "--record", record]);
    }
    let commands: [(&str, &[&str]); 6] = [
        ("assay show --json", &["show", "before", "--json"]),
        ("assay compare --json", &["compare", "before", "after", "--json"]),
        ("assay plan --json", &["plan", "keys.toml", "--json"]),
        ("assay list --json", &["list", "--json"]),
        ("assay doctor --json", &["doctor", "--json"]),
        ("assay doctor data --json", &["doctor", "data", "--json"]),
    ];
    for (command, arguments) in commands {
        let value = output(&bench, arguments);
        assert_eq!(value["schema"], 1, "{command}");
        let mut found = BTreeSet::new();
        keys(&value, &mut found);
        found.remove("schema");
        let mut known = documented(command);
        if command == "assay compare --json" {
            // Its estimates, effects and metric are those of an answer, which the page describes once.
            known.extend(documented("assay show --json"));
        }
        let missing: Vec<&String> = found.difference(&known).collect();
        assert!(missing.is_empty(), "docs/json.md does not document {missing:?} of `{command}`");
    }
}

#[test]
fn every_documented_key_of_an_answer_exists() {
    let bench = Bench::new().file("keys.toml", CAMPAIGN);
    bench.run(&["run", "keys.toml", "--quiet"]);
    let mut found = BTreeSet::new();
    keys(&output(&bench, &["show", "--json"]), &mut found);
    let page = page();
    let section = page.split("\n## ").find(|section| section.starts_with("`assay show --json`")).unwrap();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let first = row.split('|').nth(1).unwrap();
        for path in first.split('`').skip(1).step_by(2) {
            let key = path.rsplit('.').find(|part| !part.is_empty()).unwrap();
            let key = key.trim_start_matches('…').trim_end_matches("[]");
            assert!(found.contains(key), "`{path}` is documented and not printed");
        }
    }
}
