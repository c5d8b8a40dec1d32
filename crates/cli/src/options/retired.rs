//! Verbs of earlier versions: what each one is called now, and names that scripts of old records still use.

use std::ffi::OsString;

use crate::failure::Mistake;

/// The old verb, and its replacement.
const RETIRED: [(&str, &str); 5] = [
    ("report", "assay show [RECORD] -o FILE"),
    ("export", "assay query TABLE [RECORD] -o FILE"),
    ("peak", "assay doctor peak"),
    ("data", "assay doctor data"),
    ("train", "assay bench bert train-head"),
];

/// Verbs that scripts in the run directories of earlier records call; they are parts of `internal` now.
const INTERNAL: [&str; 2] = ["work", "exercise"];

/// The command line with internal verbs in their place, or the error for a retired verb.
pub fn current(arguments: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Mistake> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let verb = arguments.get(1).and_then(|verb| verb.to_str()).unwrap_or_default().to_owned();
    if let Some((old, new)) = RETIRED.iter().find(|(old, _)| *old == verb) {
        return Err(Mistake::new(format!("`assay {old}` was renamed"), format!("use `{new}`")));
    }
    if INTERNAL.contains(&verb.as_str()) {
        arguments.insert(1, OsString::from("internal"));
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<Vec<OsString>, Mistake> {
        current(words.iter().map(OsString::from))
    }

    #[test]
    fn retired_verbs_name_their_replacement_and_internal_ones_still_run() {
        assert_eq!(of(&["assay", "work", "lm"]).unwrap(), ["assay", "internal", "work", "lm"]);
        assert_eq!(of(&["assay", "show", "report"]).unwrap(), ["assay", "show", "report"]);
        assert_eq!(of(&["assay"]).unwrap(), ["assay"]);
        assert!(of(&["assay", "report"]).unwrap_err().hint.unwrap().contains("assay show"));
    }
}
