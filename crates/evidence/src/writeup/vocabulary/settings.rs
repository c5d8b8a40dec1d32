//! Names of settings.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::words::words;
use crate::vocabulary::Vocabulary;

/// Words that say "how many" and nothing else.
const FILLERS: [&str; 9] = ["number", "num", "n", "no", "nr", "of", "the", "total", "count"];

static DICTIONARY: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let mut dictionary = HashMap::new();
    for (name, phrases) in Vocabulary::current().settings() {
        for phrase in phrases {
            // Entries of the user's own come first.
            dictionary.entry(words(phrase).join(" ")).or_insert(name);
        }
    }
    dictionary
});

/// The canonical name of the setting that a phrase names, if the whole phrase names one.
pub fn setting_name(text: &str) -> Option<&'static str> {
    if text.len() > 60 {
        return None;
    }
    of_words(&words(text))
}

/// All words that stand in names of settings.
static KNOWN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let named = DICTIONARY.keys().flat_map(|phrase| phrase.split(' '));
    named.chain(FILLERS).collect()
});

/// As [`setting_name`], for a phrase that is already cut into words.
pub fn of_words<Word: Borrow<str>>(words: &[Word]) -> Option<&'static str> {
    // One word that no setting has is enough to know; most phrases of prose have one.
    if !words.iter().all(|word| KNOWN.contains(word.borrow())) {
        return None;
    }
    if let Some(name) = DICTIONARY.get(words.join(" ").as_str()) {
        return Some(name);
    }
    let start = words.iter().position(|word| !FILLERS.contains(&word.borrow()))?;
    let end = words.iter().rposition(|word| !FILLERS.contains(&word.borrow()))?;
    let kept = words.get(start..=end)?;
    DICTIONARY.get(kept.join(" ").as_str()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::names::setting;
    use proptest::prelude::*;

    #[test]
    fn many_names_for_one_setting() {
        for (text, name) in [
            ("Batch Size", setting::BATCH_SIZE),
            ("bs", setting::BATCH_SIZE),
            ("batch_size", setting::BATCH_SIZE),
            ("test_batch_size", setting::TEST_BATCH_SIZE),
            ("N Epochs", setting::EPOCHS),
            ("number epochs", setting::EPOCHS),
            ("number of epochs", setting::EPOCHS),
            ("ntasks", setting::TASKS),
            ("ntask", setting::TASKS),
            ("--ntasks-per-node", setting::TASKS_PER_NODE),
            ("Tasks", setting::TASKS),
            ("lr", setting::LEARNING_RATE),
            ("learningRate", setting::LEARNING_RATE),
            ("d_model", setting::D_MODEL),
            ("d_ff", setting::D_FF),
            ("num_layers", setting::LAYERS),
            ("num_heads", setting::HEADS),
            ("Size", setting::MODEL),
            ("ctx", setting::SEQUENCE_LENGTH),
            ("# of GPUs", setting::DEVICES),
            ("IPUs", setting::DEVICES),
            ("max_concurrency", setting::CONCURRENCY),
        ] {
            assert_eq!(setting_name(text), Some(name), "{text}");
        }
        for text in ["", "number of", "loss", "samples", "Test Accuracy", "size of the effect"] {
            assert_eq!(setting_name(text), None, "{text}");
        }
    }

    #[test]
    fn no_phrase_names_two_settings() {
        let phrases = Vocabulary::current().settings().map(|(_, phrases)| phrases.len());
        assert_eq!(DICTIONARY.len(), phrases.sum::<usize>());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".*") {
            let _ = setting_name(&text);
        }
    }
}
