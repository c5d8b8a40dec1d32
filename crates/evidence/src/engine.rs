//! Shows lines to the readers that want them and puts runs together from what they say.

use assay_model::ReadRun;

use crate::bars::bar;
use crate::collector::Place;
use crate::dialects::{DialectReader, Taken};
use crate::draft::Draft;
use crate::facts::{Base, Facts};
use crate::hints;
use crate::line::{Line, clean, without_rank};
use crate::needles::{HINT_BIT, Needles, PROSE_BIT, is_plain};
use crate::readers::Readers;
use crate::shape;

/// Reads lines into runs.
pub(crate) struct Engine {
    readers: Readers,
    states: Vec<Box<dyn DialectReader>>,
    pub draft: Draft,
    pub base: Base,
    pub runs: Vec<ReadRun>,
    pub files: Vec<String>,
    /// The reader that took the last line whole.
    last: Option<usize>,
    held: Held,
    generic: Option<usize>,
}

/// The last of some lines that differ in their numbers alone. Where a series is thinned anyway, such lines are counted
/// and only the last one is read.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    place: Option<Place>,
    skipped: u64,
}

/// What became of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// How much of it readers took.
    pub taken: Taken,
    /// Whether it holds a word that names a setting.
    pub names_setting: bool,
    /// Whether no dialect took it, or only one that reads bars and leaves what hangs on them.
    pub leaves_rest: bool,
}

impl Engine {
    pub fn new(readers: &Readers, files: Vec<String>) -> Engine {
        Engine {
            states: readers.start(),
            readers: readers.clone(),
            draft: Draft::default(),
            base: Base::default(),
            runs: Vec::new(),
            files,
            last: None,
            held: Held::default(),
            generic: readers.generic(),
        }
    }

    /// Shows a line to the readers that want it.
    pub fn line(&mut self, file: u16, number: u64, bytes: &[u8]) -> Seen {
        if self.hold(Place { file, line: number }, bytes) {
            return Seen { taken: Taken::Whole, names_setting: false, leaves_rest: false };
        }
        self.release();
        self.read(file, number, bytes)
    }

    /// The search for key strings, if no run is under way and no reader wants every line.
    pub fn idle(&self) -> Option<&Needles> {
        let needles = self.readers.needles();
        (self.last.is_none() && !self.draft.evidence && needles.always() == 0).then_some(needles)
    }

    /// Shows a line that nobody took to the reader of everything else. Callers that know more of the file's structure
    /// ask first whether the line belongs to a table or to prose.
    pub fn unclaimed(&mut self, file: u16, number: u64, bytes: &[u8]) -> Taken {
        let Some(reader) = self.generic.filter(|_| is_worth_reading(bytes)) else { return Taken::Nothing };
        let cleaned = clean(bytes);
        let (rank, mut text) = without_rank(&cleaned);
        while let Some(found) = bar(text).filter(|found| !found.cut) {
            text = found.rest;
        }
        let (line, place) = (Line { number, text, rank }, Place { file, line: number });
        let (state, mut facts) = self.facts(reader, text, place);
        let Some(state) = state else { return Taken::Nothing };
        let taken = state.line(line, &mut facts);
        if taken != Taken::Nothing {
            self.draft.hit(reader, number);
        }
        if taken == Taken::Whole {
            self.last = Some(reader);
            self.held.bytes.clear();
            self.held.bytes.extend_from_slice(bytes);
        }
        taken
    }

    /// Holds a line instead of reading it, if it says nothing new but numbers that would be thinned out.
    fn hold(&mut self, place: Place, bytes: &[u8]) -> bool {
        let held = &mut self.held;
        if self.last.is_none() || !self.draft.would_drop(held.skipped) || !shape::same(&held.bytes, bytes) {
            return false;
        }
        held.bytes.clear();
        held.bytes.extend_from_slice(bytes);
        held.place = Some(place);
        held.skipped += 1;
        true
    }

    /// Reads the line that is held.
    fn release(&mut self) {
        if let Some(place) = self.held.place.take() {
            // The held line itself is counted when it is read.
            self.draft.count(self.held.skipped.saturating_sub(1));
            self.held.skipped = 0;
            let bytes = std::mem::take(&mut self.held.bytes);
            self.read(place.file, place.line, &bytes);
        }
    }

    fn read(&mut self, file: u16, number: u64, bytes: &[u8]) -> Seen {
        self.draft.next_line();
        let seen = self.dispatch(file, number, bytes);
        if seen.taken == Taken::Whole {
            self.held.bytes.clear();
            self.held.bytes.extend_from_slice(bytes);
        } else {
            self.last = None;
        }
        seen
    }

    fn dispatch(&mut self, file: u16, number: u64, bytes: &[u8]) -> Seen {
        if self.idle().is_some() && is_plain(bytes) {
            return Seen { taken: Taken::Nothing, names_setting: false, leaves_rest: true };
        }
        let cleaned = clean(bytes);
        let (rank, text) = without_rank(&cleaned);
        let line = Line { number, text, rank };
        let place = Place { file, line: number };
        if let Some(last) = self.last {
            let (state, mut facts) = self.facts(last, text, place);
            if state.is_some_and(|state| state.again(line, &mut facts)) {
                self.draft.hit(last, number);
                return Seen { taken: Taken::Whole, names_setting: false, leaves_rest: false };
            }
        }
        let wanted = self.readers.needles().wanted(text.as_bytes());
        let names_setting = wanted & PROSE_BIT != 0;
        let taken = self.offer(wanted & !(PROSE_BIT | HINT_BIT), line, place);
        if wanted & HINT_BIT != 0 {
            let (_, mut facts) = self.facts(usize::MAX, text, place);
            hints::look(text, &mut facts);
        }
        let rest = || bar(text).is_some_and(|found| !found.cut && !found.rest.trim().is_empty());
        let leaves_rest = taken == Taken::Nothing || taken == Taken::Part && rest();
        Seen { taken, names_setting, leaves_rest }
    }

    fn offer(&mut self, mut wanted: u128, line: Line<'_>, place: Place) -> Taken {
        let mut taken = Taken::Nothing;
        while wanted != 0 {
            let reader = wanted.trailing_zeros() as usize;
            wanted &= wanted - 1;
            let (state, mut facts) = self.facts(reader, line.text, place);
            let Some(state) = state else { continue };
            match state.line(line, &mut facts) {
                Taken::Nothing => {}
                part => {
                    // Phases and statuses need the time even where no value was read.
                    facts.stamp();
                    self.draft.hit(reader, line.number);
                    taken = part;
                    if part == Taken::Whole {
                        self.last = Some(reader);
                        return part;
                    }
                }
            }
        }
        taken
    }

    fn facts<'a>(
        &'a mut self,
        reader: usize,
        text: &'a str,
        place: Place,
    ) -> (Option<&'a mut Box<dyn DialectReader>>, Facts<'a>) {
        let facts = Facts {
            draft: &mut self.draft,
            runs: &mut self.runs,
            files: &self.files,
            names: self.readers.names(),
            base: &self.base,
            text,
            place,
            reader,
            stamp: None,
        };
        (self.states.get_mut(reader), facts)
    }

    /// A block ends here: so does the run in it.
    pub fn boundary(&mut self, number: u64) {
        self.release();
        let place = Place { file: 0, line: number };
        for reader in 0..self.states.len() {
            let (state, mut facts) = self.facts(reader, "", place);
            if let Some(state) = state {
                state.end(&mut facts);
            }
        }
        self.last = None;
        let done = std::mem::replace(&mut self.draft, self.base.draft());
        self.runs.extend(done.finish(&self.files, self.readers.names()));
    }
}

/// The longest line that is read without a dialect.
const LONGEST_GENERIC: usize = 4096;

/// Whether a line may name a number or stand above some: long prose without digits does neither.
fn is_worth_reading(line: &[u8]) -> bool {
    if line.len() > LONGEST_GENERIC {
        return false;
    }
    if !is_plain(line) {
        return true;
    }
    let blanks = memchr::memchr_iter(b' ', line).count();
    blanks <= 6 || memchr::memmem::find(line, b"  ").is_some() || memchr::memchr(b'\t', line).is_some()
}
