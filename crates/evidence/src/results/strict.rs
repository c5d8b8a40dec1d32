//! JSON as Python writes it: `NaN` and `Infinity` are not JSON, and are common in results of runs that went wrong.

use std::borrow::Cow;

/// The text with `NaN` and `Infinity` in quotes, so that a JSON parser takes it and every line keeps its number.
pub(super) fn strict(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut written: Option<Vec<u8>> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = super::lines::end_of_string(bytes, at),
            b'N' | b'I' | b'-' => {
                let rest = bytes.get(at..).unwrap_or_default();
                let word = ["NaN", "-Infinity", "Infinity"]
                    .into_iter()
                    .find(|word| rest.starts_with(word.as_bytes()));
                if let Some(word) = word {
                    let written = written.get_or_insert_default();
                    written.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
                    written.push(b'"');
                    written.extend_from_slice(word.as_bytes());
                    written.push(b'"');
                    at += word.len();
                    copied = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    match written {
        Some(mut written) => {
            written.extend_from_slice(bytes.get(copied..).unwrap_or_default());
            Cow::Owned(written)
        }
        None => Cow::Borrowed(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_outside_strings_are_quoted() {
        let text = br#"{"a": NaN, "b NaN": [-Infinity, 1, Infinity], "c": "Infinity \" NaN"}"#;
        let wanted = br#"{"a": "NaN", "b NaN": ["-Infinity", 1, "Infinity"], "c": "Infinity \" NaN"}"#;
        assert_eq!(strict(text).as_ref(), wanted.as_slice());
        assert!(matches!(strict(br#"{"a": -1}"#), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..80), odd in "[\"\\\\NaInfity-]{0,40}") {
            let _ = (strict(&bytes).len(), strict(odd.as_bytes()).len());
        }
    }
}
