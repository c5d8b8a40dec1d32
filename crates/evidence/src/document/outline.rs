//! The outline of a Markdown or HTML file: headings and fences.

use crate::writeup::markup;

/// Where in the outline the reading is.
#[derive(Debug, Default)]
pub(super) struct Outline {
    headings: Vec<String>,
    /// The level of each heading.
    levels: Vec<usize>,
    /// The sign and length of the fence that is open.
    fence: Option<(u8, usize)>,
    /// Whether preformatted text is open that a reader of the whole file found.
    listing: bool,
    /// Whether the line before was not blank and no heading.
    within_text: bool,
    markdown: bool,
}

impl Outline {
    /// Whether a fence is open.
    pub fn in_fence(&self) -> bool {
        self.fence.is_some() || self.listing
    }

    /// Whether headings or fences were seen.
    pub fn is_markdown(&self) -> bool {
        self.markdown
    }

    /// A reader of the whole file knows that it is a write-up.
    pub fn is_write_up(&mut self) {
        self.markdown = true;
    }

    /// Preformatted text begins.
    pub fn open_listing(&mut self) {
        self.listing = true;
        self.markdown = true;
    }

    /// Preformatted text ends.
    pub fn close_listing(&mut self) {
        self.listing = false;
        self.within_text = false;
    }

    /// The headings over this place, outermost first.
    pub fn headings(&self) -> &[String] {
        &self.headings
    }

    /// Takes a line that may open or close a fence; gives what stands behind the fence if it does.
    pub fn fence<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let text = text.trim_start();
        let sign = text.bytes().next()?;
        let length = text.bytes().take_while(|byte| *byte == sign).count();
        let rest = text.get(length..)?.trim();
        if length < 3 || !matches!(sign, b'`' | b'~') {
            return None;
        }
        match self.fence {
            None if sign == b'`' && rest.contains('`') => return None,
            None => self.fence = Some((sign, length)),
            Some((open, least)) if open == sign && length >= least && rest.is_empty() => self.fence = None,
            Some(_) => return None,
        }
        self.markdown = true;
        self.within_text = false;
        Some(rest)
    }

    /// The level and the text of a heading, if a line is one. A line that begins with `#` in the middle of
    /// text is a comment of some program, unless the file is known to be Markdown.
    pub fn heading(&self, text: &str) -> Option<(usize, String)> {
        let text = text.trim();
        let (level, heading) = match text.strip_prefix('<') {
            Some(tag) => {
                let level = tag.strip_prefix(['h', 'H'])?.bytes().next().filter(u8::is_ascii_digit)?;
                (usize::from(level - b'0'), markup::plain(text))
            }
            None => {
                let level = text.bytes().take_while(|byte| *byte == b'#').count();
                let rest = text.get(level..)?;
                if (self.within_text && !self.markdown) || level > 6 || !rest.starts_with(' ') {
                    return None;
                }
                (level, markup::plain(rest.trim().trim_end_matches('#')))
            }
        };
        let heading = heading.trim().to_owned();
        (!heading.is_empty() && heading.len() <= 300).then_some((level, heading))
    }

    /// A section begins.
    pub fn enter(&mut self, level: usize, heading: &str) {
        // Levels only grow from outer headings to inner ones.
        let outer = self.levels.partition_point(|known| *known < level);
        self.levels.truncate(outer);
        self.headings.truncate(outer);
        self.levels.push(level);
        self.headings.push(heading.to_owned());
        self.markdown = true;
        self.within_text = false;
    }

    /// A line of text was read.
    pub fn after_line(&mut self) {
        self.within_text = true;
    }

    /// A blank line was read.
    pub fn after_blank(&mut self) {
        self.within_text = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_nest_and_comments_are_none() {
        let mut outline = Outline::default();
        for (line, level, text) in
            [("# A", 1, "A"), ("## B *b*", 2, "B b"), ("### C", 3, "C"), ("## D", 2, "D")]
        {
            assert_eq!(outline.heading(line), Some((level, text.to_owned())));
            outline.enter(level, text);
        }
        assert_eq!(outline.headings(), ["A", "D"]);
        assert_eq!(outline.heading("#hashtag"), None);
        let mut log = Outline::default();
        log.after_line();
        assert_eq!(log.heading("# a comment"), None);
        log.after_blank();
        assert_eq!(outline.heading("<h2>E</h2>"), Some((2, "E".to_owned())));
    }

    #[test]
    fn fences_open_with_content_and_close_alone() {
        let mut outline = Outline::default();
        assert_eq!(outline.fence("```2024-03-30 12:00:00 INFO: x"), Some("2024-03-30 12:00:00 INFO: x"));
        assert_eq!(outline.fence("``` not the end"), None);
        assert_eq!(outline.fence("```"), Some(""));
        assert_eq!(outline.fence("```inline``` code"), None);
        assert!(!outline.in_fence());
    }
}
