//! Every kind of sample, every option: written at all, the same each time, of the size asked for.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use std::collections::BTreeMap;

use assay_samples::{KINDS, OptionValues, SampleError, SampleKind, write};
use proptest::prelude::*;

fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn bytes(kind: &str, pairs: &[(&str, &str)], seed: u64, size: Option<u64>) -> Vec<u8> {
    let mut out = Vec::new();
    write(kind, &options(pairs), seed, size, &mut out).unwrap();
    out
}

fn text(kind: &str, pairs: &[(&str, &str)], seed: u64) -> String {
    String::from_utf8(bytes(kind, pairs, seed, None)).unwrap()
}

/// Values of an option that are worth a try: every word, and small numbers.
fn values(choice: OptionValues) -> Vec<String> {
    match choice {
        OptionValues::Words(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        OptionValues::Whole(least, most) => {
            [least, 3.clamp(least, most)].map(|number| number.to_string()).to_vec()
        }
        OptionValues::Number(least, most) => {
            [least, 1.0_f64.clamp(least, most)].map(|number| number.to_string()).to_vec()
        }
    }
}

#[test]
fn names_are_unique_and_defaults_are_allowed() {
    for (index, kind) in KINDS.iter().enumerate() {
        assert!(KINDS[..index].iter().all(|other| other.name != kind.name), "{}", kind.name);
        assert!(!kind.summary.is_empty());
        for (index, choice) in kind.options.iter().enumerate() {
            assert!(kind.options[..index].iter().all(|other| other.name != choice.name), "{}", choice.name);
            // A default is a value like any other, so giving it changes nothing.
            let given = bytes(kind.name, &[(choice.name, choice.default)], 3, None);
            assert!(given == bytes(kind.name, &[], 3, None), "{} {}", kind.name, choice.name);
        }
    }
}

#[test]
fn the_seed_decides_everything() {
    for kind in KINDS {
        let first = bytes(kind.name, &[], 11, None);
        assert!(first == bytes(kind.name, &[], 11, None), "{}", kind.name);
        assert!(first != bytes(kind.name, &[], 12, None), "{}", kind.name);
    }
}

#[test]
fn every_value_of_every_option_writes_something() {
    for kind in KINDS {
        for choice in kind.options {
            for value in values(choice.values) {
                let out = bytes(kind.name, &[(choice.name, &value)], 5, None);
                assert!(!out.is_empty(), "{} {}={value}", kind.name, choice.name);
            }
        }
    }
}

#[test]
fn sizes_are_reached_within_five_per_cent() {
    let near = |kind: &SampleKind, pairs: &[(&str, &str)], size: u64| {
        let length = bytes(kind.name, pairs, 8, Some(size)).len() as u64;
        assert!(length.abs_diff(size) * 20 <= size, "{} {pairs:?}: {length} for {size}", kind.name);
    };
    for kind in KINDS {
        near(kind, &[], 700_000);
        if ["cerebras", "tqdm", "nanogpt", "prose", "metrics"].contains(&kind.name) {
            near(kind, &[], 4_000_000);
            near(kind, &[("ranks", "2"), ("ansi", "true"), ("crlf", "true"), ("rubbish", "true")], 700_000);
        }
    }
}

#[test]
fn a_size_below_the_least_gives_the_least() {
    for kind in KINDS {
        assert!(!bytes(kind.name, &[], 1, Some(0)).is_empty(), "{}", kind.name);
    }
}

#[test]
fn terminals_and_launchers_dress_every_line() {
    for kind in KINDS.iter().filter(|kind| kind.name != "write-up") {
        let plain = text(kind.name, &[], 2);
        let crlf = text(kind.name, &[("crlf", "true")], 2);
        assert_eq!(crlf.replace("\r\n", "\n"), plain, "{}", kind.name);
        assert_eq!(crlf.matches("\r\n").count(), plain.matches('\n').count());
        let ansi = text(kind.name, &[("ansi", "true")], 2);
        assert_eq!(ansi.replace("\u{1b}[32m", "").replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""), plain);
        for (style, prefix) in [("mpi", "[1,0]<stdout>:"), ("torchrun", "[rank0]:"), ("slurm", "0: ")] {
            let ranks = text(kind.name, &[("ranks", "3"), ("rank-style", style)], 2);
            assert_eq!(ranks.lines().count(), 3 * plain.lines().count(), "{}", kind.name);
            assert!(ranks.split('\n').step_by(3).all(|line| line.is_empty() || line.starts_with(prefix)));
        }
        let rubbish = bytes(kind.name, &[("rubbish", "true")], 2, None);
        assert!(std::str::from_utf8(&rubbish).is_err(), "{}", kind.name);
        // The lines themselves are those of a sample without rubbish.
        let mut lines = rubbish.split(|byte| *byte == b'\n');
        let first = plain.lines().next().unwrap().as_bytes();
        assert!(lines.any(|line| line == first), "{}", kind.name);
    }
}

#[test]
fn mistakes_are_told_with_what_was_meant() {
    let mut out = Vec::new();
    let error = write("cerebra", &options(&[]), 1, None, &mut out).unwrap_err();
    assert_eq!(error.to_string(), "unknown sample kind `cerebra`");
    assert_eq!(error.hint().unwrap(), "did you mean `cerebras`?");
    let error = write("zzzzzz", &options(&[]), 1, None, &mut out).unwrap_err();
    assert!(error.hint().unwrap().starts_with("known: cerebras, poptorch"));
    let error = write("tqdm", &options(&[("step", "3")]), 1, None, &mut out).unwrap_err();
    assert_eq!(error.to_string(), "sample kind `tqdm` has no option `step`");
    assert_eq!(error.hint().unwrap(), "did you mean `steps`?");
    let error = write("tqdm", &options(&[("steps", "many")]), 1, None, &mut out).unwrap_err();
    assert_eq!(
        error.to_string(),
        "option `steps` of sample kind `tqdm` cannot be `many`: it takes an integer from 1 to 1073741824"
    );
    assert!(matches!(
        write("cerebras", &options(&[("fail", "often")]), 1, None, &mut out),
        Err(SampleError::BadValue { name: "fail", .. })
    ));
    assert!(out.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is chosen together, something is written and nothing panics.
    #[test]
    fn any_choice_can_be_written(kind in 0..KINDS.len(), seed: u64, picks in prop::collection::vec(0_usize..5, 20), small: bool) {
        let kind = &KINDS[kind];
        let mut chosen = BTreeMap::new();
        for (choice, pick) in kind.options.iter().zip(picks) {
            if let Some(value) = values(choice.values).get(pick) {
                chosen.insert(choice.name.to_owned(), value.clone());
            }
        }
        let mut out = Vec::new();
        write(kind.name, &chosen, seed, small.then_some(20_000), &mut out).unwrap();
        prop_assert!(!out.is_empty());
    }
}
