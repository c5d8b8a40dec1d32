//! Settings in the name of a file: `bert_bs512.log`, `mnist-epochs20.out`, `run_ntasks=8.txt`.

use assay_model::names::setting;
use assay_model::{SettingFact, Source, Standing};

use crate::user::setting_value;
use crate::writeup::setting_name;

/// Settings that are on or off. A number behind such a word counts files: `profiler-3.log`.
const SWITCHES: [&str; 3] = [setting::PROFILER, setting::WARMUP, setting::COMPILE_CACHE];

/// The settings that a file's name declares.
pub(super) fn settings(file: &str) -> Vec<SettingFact> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut found: Vec<SettingFact> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for part in parts(stem) {
        if !part.starts_with(|first: char| first.is_ascii_digit()) {
            words.push(part);
            continue;
        }
        let named = (words.len().saturating_sub(2)..words.len())
            .find_map(|from| words.get(from..).and_then(|words| setting_name(&words.join(" "))));
        // A number that begins with a nought counts files too: `batch-003.log`.
        let counts_files = part.len() > 1 && part.starts_with('0');
        let is_new = |name: &&str| !SWITCHES.contains(name) && found.iter().all(|fact| fact.name != **name);
        if let Some(name) = named.filter(is_new).filter(|_| !counts_files) {
            found.push(SettingFact {
                name: name.to_owned(),
                value: setting_value(&part),
                standing: Standing::Declared,
                by: "file name".to_owned(),
                arithmetic: None,
                source: Source::new(file.to_owned(), 0),
            });
        }
        words.clear();
    }
    found
}

/// Runs of letters and runs of digits.
fn parts(stem: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut last = ' ';
    for letter in stem.chars() {
        let joins = (letter.is_ascii_digit() && last.is_ascii_digit())
            || (letter.is_alphabetic() && last.is_alphabetic());
        match parts.last_mut() {
            Some(part) if joins => part.push(letter),
            _ if letter.is_alphanumeric() => parts.push(letter.to_string()),
            _ => {}
        }
        last = letter;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> Vec<(String, String)> {
        settings(file).into_iter().map(|fact| (fact.name, fact.value.to_string())).collect()
    }

    #[test]
    fn names_with_settings_are_read() {
        assert_eq!(read("logs/bert_bs512.log"), [("batch_size".into(), "512".into())]);
        assert_eq!(read("mnist-epochs20.out"), [("epochs".into(), "20".into())]);
        assert_eq!(read("run_ntasks=8.txt"), [("tasks".into(), "8".into())]);
        assert_eq!(read("batch_size_64_epochs_3.log").len(), 2);
        assert_eq!(read("2024-04-08.log"), []);
        assert_eq!(read("-"), []);
        assert_eq!(read("profiler-001.md"), []);
        assert_eq!(read("warm_up-3.md"), []);
        assert_eq!(read("batch-003.log"), []);
    }
}
