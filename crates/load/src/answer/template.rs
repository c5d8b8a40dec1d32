//! Events of one stream are alike but for their text. Once one of them has been read as JSON, another that has the same bytes
//! before and after its text needs no reading: everything else in it says the same.

use memchr::memchr2;

use crate::record::ChunkKind;

/// The bytes around the text.
#[derive(Debug)]
pub(super) struct Template {
    before: Vec<u8>,
    after: Vec<u8>,
    kind: ChunkKind,
}

impl Template {
    /// The template of an event in which this text was found. None unless the text is there verbatim, between quotes:
    /// one with escapes was copied when it was read.
    pub(super) fn of(event: &[u8], text: &str, kind: ChunkKind) -> Option<Template> {
        let begin = (text.as_ptr() as usize).checked_sub(event.as_ptr() as usize)?;
        let (before, rest) = event.split_at_checked(begin)?;
        let (inside, after) = rest.split_at_checked(text.len())?;
        let is_quoted = before.ends_with(b"\"") && after.starts_with(b"\"") && inside == text.as_bytes();
        is_quoted.then(|| Template { before: before.to_vec(), after: after.to_vec(), kind })
    }

    /// The text of an event that is like the template. A text with escapes, or an empty one, has to be read as JSON.
    pub(super) fn text<'a>(&self, event: &'a [u8]) -> Option<(ChunkKind, &'a str)> {
        let inside = event.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        if inside.is_empty()
            || memchr2(b'"', b'\\', inside).is_some()
            || inside.iter().any(|byte| *byte < 0x20)
        {
            return None;
        }
        Some((self.kind, std::str::from_utf8(inside).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(event: &str, text: &str) -> Option<Template> {
        let begin = event.find(text).unwrap();
        Template::of(event.as_bytes(), &event[begin..begin + text.len()], ChunkKind::Content)
    }

    #[test]
    fn only_what_differs_in_plain_text_is_like_the_template() {
        let template = template(r#"{"c":[{"content":"one"}],"n":1}"#, "one").unwrap();
        let text = |event: &str| template.text(event.as_bytes()).map(|(_, text)| text.to_owned());
        assert_eq!(text(r#"{"c":[{"content":"two é"}],"n":1}"#).as_deref(), Some("two é"));
        for other in [
            r#"{"c":[{"content":""}],"n":1}"#,
            r#"{"c":[{"content":"a\nb"}],"n":1}"#,
            r#"{"c":[{"content":"x","role":"y"}],"n":1}"#,
            r#"{"c":[{"content":"two"}],"n":2}"#,
            "{\"c\":[{\"content\":\"a\nb\"}],\"n\":1}",
            r#"{"c":[{"content":"#,
        ] {
            assert_eq!(text(other), None, "{other}");
        }
        assert_eq!(template.text(b"{\"c\":[{\"content\":\"\xff\"}],\"n\":1}"), None);
    }

    #[test]
    fn a_text_from_elsewhere_makes_no_template() {
        let event = r#"{"content":"a\nb"}"#;
        assert!(Template::of(event.as_bytes(), "a\nb", ChunkKind::Content).is_none());
    }
}
