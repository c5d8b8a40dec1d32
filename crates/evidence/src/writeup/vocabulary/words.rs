//! Cuts a phrase into words that can be compared: `num_layers`, `Num Layers` and `numLayers` are the same two words.

/// The words of a phrase in lower case and in the singular.
pub fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for character in text.chars() {
        let hump = before.is_lowercase() && character.is_uppercase();
        if hump || !character.is_alphanumeric() {
            close(&mut word, &mut found);
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        before = character;
    }
    close(&mut word, &mut found);
    found
}

fn close(word: &mut String, found: &mut Vec<String>) {
    if !word.is_empty() {
        found.push(singular(word));
        word.clear();
    }
}

/// The singular of a word in lower case, as far as comparing words needs it: `accuracies` becomes `accuracy`.
pub fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return format!("{stem}y");
    }
    if word.ends_with("sses") || word.ends_with("ches") {
        return word.trim_end_matches("es").to_owned();
    }
    // `loss`, `status`, `analysis` and `flops` end in an s that is not a plural; `gpus` does not.
    let keeps_its_s = word.len() <= 3
        || word == "temps"
        || ["ss", "is", "flops"].iter().any(|end| word.ends_with(end))
        || word.ends_with("us") && !word.ends_with("pus") && !word.ends_with("dus");
    match word.strip_suffix('s') {
        Some(stem) if !keeps_its_s => stem.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_phrase_in_many_spellings() {
        for text in ["num_layers", "Num Layers", "numLayers", "num-layer"] {
            assert_eq!(words(text), ["num", "layer"], "{text}");
        }
        assert_eq!(words("Accuracies, latencies & losses"), ["accuracy", "latency", "loss"]);
        assert_eq!(words("GPUs MPS status batches"), ["gpu", "mps", "status", "batch"]);
        assert_eq!(words("forward+backward"), ["forward", "backward"]);
    }
}
