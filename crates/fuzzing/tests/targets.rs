//! Every target over its seeds and 10,000 random inputs, on stable Rust. `ASSAY_FUZZ_SEED` chooses other inputs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use assay_fuzzing::{TARGETS, hammer, target};

const INPUTS: usize = 10_000;

fn run(name: &str) {
    let seed = std::env::var("ASSAY_FUZZ_SEED").map_or(1, |seed| seed.parse().unwrap());
    // A damaged record is written and read as files, which takes a hundred times as long as anything else.
    let inputs = if name == "recovery" { INPUTS / 10 } else { INPUTS };
    hammer(target(name).unwrap(), inputs, seed);
}

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { run(stringify!($name)); })*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

targets!(
    read, document, html, latex, notebook, campaign, platform, journal, recovery, stream, http, counters,
    checkpoint, bert, idx
);

#[test]
fn every_target_is_tested_and_is_a_target_of_cargo_fuzz() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, TESTED);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for name in names {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        let text = std::fs::read_to_string(folder.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(text.contains(&format!("target(\"{name}\")")), "{name}");
    }
}
