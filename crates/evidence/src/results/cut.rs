//! JSON that ends before its end: a file that is still being written, or an excerpt.

/// The text up to its last whole entry, closed; none where it holds no entry.
pub(super) fn closed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut last = None;
    walk(bytes, |at, byte, open| {
        if byte == b',' && !open.is_empty() {
            last = Some(at);
        }
    });
    let kept = bytes.get(..last?)?;
    let mut open = Vec::new();
    walk(kept, |_, _, now| {
        if open != now {
            open = now.to_vec();
        }
    });
    let mut whole = kept.to_vec();
    whole.extend(open.iter().rev().map(|bracket| if *bracket == b'{' { b'}' } else { b']' }));
    Some(whole)
}

/// Shows every sign outside of strings with the brackets that are open behind it.
fn walk(bytes: &[u8], mut seen: impl FnMut(usize, u8, &[u8])) {
    let (mut at, mut open) = (0, Vec::new());
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'"' => at = super::lines::end_of_string(bytes, at),
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
        if byte != b'"' {
            seen(at, byte, &open);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_whole_is_kept() {
        for (text, whole) in [
            (r#"{"a": [1, 2, {"b": 3, "c": 4"#, Some(r#"{"a": [1, 2, {"b": 3}]}"#)),
            (r#"[{"a": "x, y"}, {"a": "z"#, Some(r#"[{"a": "x, y"}]"#)),
            (r#"{"a": 1"#, None),
            ("", None),
        ] {
            assert_eq!(closed(text.as_bytes()).as_deref(), whole.map(str::as_bytes), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(prop::sample::select(b"{}[]\",:\\a1\n ".to_vec()), 0..80)) {
            let _ = closed(&bytes);
        }
    }
}
