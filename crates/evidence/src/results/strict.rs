//! JSON as programs write it: `NaN` and `Infinity` are not JSON, and are common in results of runs that went wrong; `1e400`
//! is JSON, and larger than any number that is read.

use std::borrow::Cow;

/// The text with `NaN`, `Infinity` and numbers out of range in quotes, so that a JSON parser takes it and every line keeps its number.
pub(super) fn strict(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut written: Option<Vec<u8>> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = super::lines::end_of_string(bytes, at),
            b'N' | b'I' | b'-' | b'0'..=b'9' => {
                let (length, is_number) = value(bytes.get(at..).unwrap_or_default());
                if !is_number {
                    let written = written.get_or_insert_default();
                    written.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
                    written.push(b'"');
                    written.extend_from_slice(bytes.get(at..at + length).unwrap_or_default());
                    written.push(b'"');
                    copied = at + length;
                }
                at += length;
                continue;
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

/// The length of what begins like a number, and whether a JSON parser takes it for one that is finite. Anything else is
/// left to the parser.
fn value(rest: &[u8]) -> (usize, bool) {
    let word = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| rest.starts_with(word.as_bytes()));
    if let Some(word) = word {
        return (word.len(), false);
    }
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let length = rest.iter().take_while(|byte| is_part(byte)).count().max(1);
    let number = rest.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    (length, !number.and_then(|number| number.parse().ok()).is_some_and(f64::is_infinite))
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
        assert!(matches!(strict(br#"{"a": -1, "b": 12.5e-3, "Ink": true}"#), Cow::Borrowed(_)));
        assert_eq!(strict(br#"[1.5,1e400,-1e999]"#).as_ref(), br#"[1.5,"1e400","-1e999"]"#);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..80), odd in "[\"\\\\NaInfity-]{0,40}") {
            let _ = (strict(&bytes).len(), strict(odd.as_bytes()).len());
        }
    }
}
