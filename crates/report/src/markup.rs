//! Elements of HTML and SVG. What is opened is closed and what is written is escaped, by construction.

use std::fmt::Write;

use assay_model::untrusted::is_harmful;

/// A growing piece of HTML or SVG.
#[derive(Debug, Default)]
pub struct Markup {
    out: String,
}

/// Names and values of attributes.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Markup {
    /// An element with what is inside it.
    pub fn element(&mut self, name: &str, attributes: Attributes<'_>, inside: impl FnOnce(&mut Markup)) {
        self.tag(name, attributes);
        self.out.push('>');
        inside(self);
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    /// An element that holds text.
    pub fn leaf(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.element(name, attributes, |markup| markup.text(text));
    }

    /// An element that holds nothing: a shape, or `<meta>`.
    pub fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.out.push_str("/>");
    }

    /// Text.
    pub fn text(&mut self, text: &str) {
        escape(&mut self.out, text);
    }

    /// A line break in the source, for people who read it.
    pub fn line(&mut self) {
        self.out.push('\n');
    }

    /// Text of this program that needs no escaping: the document type, and style sheets.
    pub fn own(&mut self, text: &'static str) {
        self.out.push_str(text);
    }

    /// Another piece that was made here.
    pub fn append(&mut self, other: Markup) {
        self.out.push_str(&other.out);
    }

    /// All that was written.
    pub fn finish(self) -> String {
        self.out
    }

    fn tag(&mut self, name: &str, attributes: Attributes<'_>) {
        self.out.push('<');
        self.out.push_str(name);
        for (name, value) in attributes {
            // Writing to a String cannot fail.
            let _ = write!(self.out, " {name}=\"");
            escape(&mut self.out, value);
            self.out.push('"');
        }
    }
}

/// Text as it stands in an element.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(&mut out, text);
    out
}

/// Escapes text for elements and for attributes in double quotes. Characters that no document may hold become the
/// replacement character.
fn escape(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            letter if is_harmful(letter) => out.push(char::REPLACEMENT_CHARACTER),
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
pub mod check;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_becomes_a_tag() {
        let mut markup = Markup::default();
        markup.element("p", &[("title", "a\"b<")], |inside| inside.text("<b>&'\u{0}"));
        let text = markup.finish();
        assert_eq!(text, "<p title=\"a&quot;b&lt;\">&lt;b&gt;&amp;&#39;\u{fffd}</p>");
        check::well_formed(&text).unwrap();
    }

    #[test]
    fn the_check_finds_what_is_wrong() {
        for wrong in ["<p>", "<p></b>", "</p>", "<p a=b></p>", "<p><</p>", "<p a=\"1></p>"] {
            assert!(check::well_formed(wrong).is_err(), "{wrong}");
        }
    }
}
