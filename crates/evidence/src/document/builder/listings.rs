//! Listings and lists of a write-up.

use super::DocumentBuilder;
use super::tables::MOST_HELD;
use crate::line::clean;
use crate::vocabulary::{Vocabulary, words};
use crate::writeup::aligned;

/// An item of a list, or a line of its own, with the heading above it.
pub(super) struct ListedItem {
    number: u64,
    text: String,
    heading: Option<String>,
    /// Whether it is a key in bold with its number: a result, whatever else the write-up holds.
    sure: bool,
}

impl DocumentBuilder {
    /// A fence opens or closes. What stands behind it on its line is content unless it is one word.
    pub(super) fn fence(&mut self, number: u64, bytes: &[u8]) -> bool {
        // Lines that were held back belong to the listing that may end here.
        if self.outline.in_fence() {
            self.release_columns();
        }
        let text = clean(bytes);
        let Some(rest) = self.outline.fence(&text) else { return false };
        if self.outline.in_fence() {
            self.begin_listing(number);
            if rest.contains([' ', ':', '|']) {
                let rest = rest.to_owned();
                let first = rest.bytes().next().unwrap_or(b' ');
                self.content(number, rest.as_bytes(), first);
            }
        } else {
            self.end_listing(number);
        }
        true
    }

    /// A listing that was written as one begins.
    pub(in crate::document) fn open_code(&mut self, number: u64) {
        self.has_listing = true;
        self.open_listing(number);
    }

    pub(super) fn begin_listing(&mut self, number: u64) {
        self.end_block();
        self.end_paragraph();
        self.close_runs(number);
        self.set_base(true);
    }

    pub(super) fn end_listing(&mut self, number: u64) {
        self.end_block();
        self.end_paragraph();
        self.close_runs(number);
        self.end_arrays();
        self.prose.forget_declared();
        self.set_base(false);
    }

    /// A log or other preformatted text begins.
    pub(in crate::document) fn open_listing(&mut self, number: u64) {
        self.outline.open_listing();
        self.begin_listing(number);
    }

    /// Preformatted text ends.
    pub(in crate::document) fn close_listing(&mut self, number: u64) {
        self.number = self.number.max(number);
        self.release_columns();
        self.outline.close_listing();
        self.end_listing(number);
    }

    /// A line of preformatted text.
    pub(in crate::document) fn listing_line(&mut self, number: u64, bytes: &[u8]) {
        self.number = self.number.max(number);
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(first) => self.content(number, bytes, *first),
            None => self.blank(),
        }
    }

    /// An item of a list, which may be the only place where a result stands.
    pub(in crate::document) fn item(&mut self, number: u64, text: &str, sure: bool) {
        if self.items.len() < MOST_HELD && text.bytes().any(|byte| byte.is_ascii_digit()) {
            let heading = self.outline.headings().last().cloned();
            self.items.push(ListedItem { number, text: text.to_owned(), heading, sure });
        }
    }

    /// Reads the items of lists in a write-up that has no table and no listing.
    pub(super) fn read_items(&mut self) {
        let mut items = std::mem::take(&mut self.items);
        if self.has_listing || !self.document.tables.is_empty() {
            items.retain(|item| item.sure);
        }
        let mut above: Option<Option<String>> = None;
        for ListedItem { number, text, heading, .. } in items {
            let step = heading.as_deref().filter(|heading| counts(heading));
            if let Some(step) = step.filter(|_| above.as_ref() != Some(&heading)) {
                // `Epoch 3/10` over items is a step of the run, not another run.
                self.engine.unclaimed(0, number, step.as_bytes());
                above = Some(heading);
            } else if above.as_ref() != Some(&heading) {
                self.close_runs(number);
                self.engine.base.title.clone_from(&heading);
                self.engine.draft = self.engine.base.draft();
                // What the heading names holds for a `Peak: 20.5 MB` below it.
                if let Some(heading) = &heading {
                    self.engine.unclaimed(
                        0,
                        number,
                        format!("{}:", heading.trim_end_matches(':')).as_bytes(),
                    );
                }
                above = Some(heading);
            }
            if !aligned::is_written(&text) {
                self.engine.unclaimed(0, number, text.as_bytes());
            }
        }
        self.close_runs(self.number);
    }
}

/// Whether a heading only counts: `Epoch 3`, `Step 100/200`.
fn counts(heading: &str) -> bool {
    let spoken = words(heading);
    spoken.split_first().is_some_and(|(counter, numbers)| {
        let digits = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        Vocabulary::current().counter(counter).is_some()
            && (1..=2).contains(&numbers.len())
            && numbers.iter().all(digits)
    })
}
