//! Prose between the tables and logs of a write-up: what it declares, and what it claims.

use assay_model::{SettingFact, Source, Standing, Statement};

use crate::line::clean;
use crate::writeup::{self, Declared};

/// Lines of prose that are searched for statements. No write-up is longer; a longer file is not one.
const MOST_LINES: usize = 20_000;
/// Of these, lines that state numbers or compare things. A write-up that has more is a table in disguise.
const MOST_TELLING: usize = 2_000;
/// Lines of prose above a table or a log that can say what it is about.
const RECENT: usize = 40;
/// The longest paragraph that is read as one.
const LONGEST_PARAGRAPH: usize = 200;

/// The prose read so far.
#[derive(Debug, Default)]
pub(super) struct Prose {
    paragraph: Vec<(u64, String)>,
    recent: Vec<(u64, String)>,
    declared: Vec<SettingFact>,
    /// Whether a block of the document has used what was declared.
    used: bool,
    lines: usize,
    telling: usize,
    assignments: usize,
    full_since: Option<u64>,
}

impl Prose {
    /// Takes a line of prose. Lines of a log that no dialect knows are looked at for settings only.
    pub fn line(&mut self, number: u64, bytes: &[u8], names_setting: bool, log: bool, file: &str) {
        if log || self.is_full() {
            return;
        }
        self.lines += 1;
        if self.lines >= MOST_LINES || self.telling >= MOST_TELLING {
            self.full_since.get_or_insert(number + 1);
        }
        let text = clean(bytes);
        self.telling += usize::from(writeup::sentences::worth_reading(&text));
        if names_setting {
            self.declare(number, &text, file);
        }
        if self.paragraph.len() < LONGEST_PARAGRAPH {
            self.paragraph.push((number, text.clone().into_owned()));
        }
        if self.recent.len() >= RECENT {
            self.recent.remove(0);
        }
        self.recent.push((number, text.into_owned()));
    }

    /// Whether no more prose is searched for statements.
    pub fn is_full(&self) -> bool {
        self.paragraph.is_empty() && (self.lines >= MOST_LINES || self.telling >= MOST_TELLING)
    }

    /// The first line that was not searched any more.
    pub fn full_since(&self) -> Option<u64> {
        self.full_since
    }

    /// A heading begins something new, and may declare settings itself.
    pub fn heading(&mut self, number: u64, text: &str, file: &str) {
        self.recent.clear();
        self.declared.clear();
        self.used = false;
        self.declare(number, text, file);
        self.recent.push((number, text.to_owned()));
    }

    fn declare(&mut self, number: u64, text: &str, file: &str) {
        let found = writeup::declared(text);
        if found.is_empty() {
            return;
        }
        // After a block has used what was declared, prose that varies one of its settings goes on from there; prose
        // about something else begins again.
        let varies = found.iter().any(|new| self.declared.iter().any(|known| *known.name == *new.name));
        if std::mem::take(&mut self.used) && !varies {
            self.declared.clear();
        }
        for declared in found {
            let name = declared.name.to_string();
            self.declared.retain(|known| known.name != name);
            self.declared.push(SettingFact {
                name,
                value: declared.value,
                standing: Standing::Declared,
                by: "prose".to_owned(),
                arithmetic: None,
                source: Source::new(file.to_owned(), number),
            });
        }
    }

    /// Settings that an assignment in a listing declares.
    pub fn assignments(&mut self, bytes: &[u8]) -> Vec<Declared> {
        // `epoch = 3` is how far a run is; `epochs = 3` is how far it is to go.
        let progress =
            bytes.trim_ascii_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case(b"epoch "));
        let assigns = memchr::memchr2(b'=', b':', bytes).is_some() && bytes.len() < 200 && !progress;
        if !assigns || self.assignments >= MOST_LINES {
            return Vec::new();
        }
        self.assignments += 1;
        writeup::declared(&clean(bytes))
    }

    /// What is declared for the next block.
    pub fn declared(&self) -> &[SettingFact] {
        &self.declared
    }

    /// A block used what was declared: new prose declares again.
    pub fn forget_declared(&mut self) {
        self.used = true;
    }

    /// The prose just above.
    pub fn recent(&self) -> &[(u64, String)] {
        &self.recent
    }

    /// The statements of the paragraph that ends here.
    pub fn end_paragraph(&mut self, headings: &[String], file: &str) -> Vec<Statement> {
        if self.paragraph.is_empty() {
            return Vec::new();
        }
        let paragraph = std::mem::take(&mut self.paragraph);
        if !paragraph.iter().any(|(_, line)| writeup::sentences::worth_reading(line)) {
            return Vec::new();
        }
        writeup::statements(&paragraph, headings, file)
    }
}
