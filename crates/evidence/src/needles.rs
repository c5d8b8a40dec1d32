//! Which readers a line concerns. All key strings of all dialects are looked for at once, so that another dialect costs
//! nothing on lines that are not its own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::sieve::Sieve;

/// Words that make a line of prose worth a closer look: they name settings.
pub(crate) const PROSE: &[&str] = &[
    "epoch",
    "Epoch",
    "batch",
    "Batch",
    "learning",
    "Learning",
    " lr ",
    "task",
    "Task",
    "steps",
    "warm",
    "Warm",
    " GPU",
    " IPU",
    "node",
    "thread",
    "seed",
    "precision",
    "context",
    "sequence",
    "layers",
    "heads",
    "d_model",
    "d_ff",
    "concurren",
    "model",
    "Model",
    "classes",
    "vocab",
];

/// A set of readers, a bit each. The last two bits stand for prose and for error texts.
pub(crate) type Set = u128;

/// Signs that most needles too short for the sieve have.
const SIGNS: [char; 2] = ['=', '%'];

/// The bit of prose.
pub(crate) const PROSE_BIT: Set = 1 << 127;

/// The bit of error texts that have a hint.
pub(crate) const HINT_BIT: Set = 1 << 126;

/// The most readers of one set.
const MOST: usize = 126;

/// Finds which readers a line concerns.
pub(crate) struct Needles {
    sieve: Sieve,
    /// Quick to build and slow to search: enough for the few lines of a short run.
    small: Option<AhoCorasick>,
    /// Slow to build and quick to search: for everything longer.
    fast: OnceLock<Option<AhoCorasick>>,
    searched: AtomicU32,
    needles: Vec<String>,
    owners: Vec<Set>,
    always: Set,
}

/// How many lines are searched before it pays to build the fast automaton.
const FEW_LINES: u32 = 1000;

fn automaton(kind: AhoCorasickKind, needles: &[String]) -> Option<AhoCorasick> {
    AhoCorasick::builder().match_kind(MatchKind::Standard).kind(Some(kind)).build(needles).ok()
}

impl Needles {
    /// Prepares the search: for each reader its needles, or none if it wants every line.
    pub fn new(readers: impl Iterator<Item = Option<Vec<String>>>) -> Needles {
        let mut needles: Vec<(String, Set)> =
            PROSE.iter().map(|word| ((*word).to_owned(), PROSE_BIT)).collect();
        needles.extend(crate::hints::needles().map(|text| (text.to_owned(), HINT_BIT)));
        let mut always = 0;
        for (index, wanted) in readers.enumerate().take(MOST) {
            match wanted {
                Some(wanted) => needles.extend(wanted.into_iter().map(|needle| (needle, 1 << index))),
                None => always |= 1 << index,
            }
        }
        needles.retain(|(needle, _)| !needle.is_empty());
        // Needles with one of the two signs below are looked for in every line that has it.
        let unsigned = needles.iter().filter(|(needle, _)| !needle.contains(SIGNS));
        let sieve = Sieve::new(unsigned.map(|(needle, _)| needle.as_str()));
        let (needles, owners): (Vec<String>, Vec<Set>) = needles.into_iter().unzip();
        let small = automaton(AhoCorasickKind::NoncontiguousNFA, &needles);
        Needles { sieve, small, fast: OnceLock::new(), searched: AtomicU32::new(0), needles, owners, always }
    }

    fn automaton(&self) -> Option<&AhoCorasick> {
        if let Some(built) = self.fast.get() {
            return built.as_ref();
        }
        if self.searched.fetch_add(1, Ordering::Relaxed) < FEW_LINES {
            return self.small.as_ref();
        }
        self.fast.get_or_init(|| automaton(AhoCorasickKind::DFA, &self.needles)).as_ref()
    }

    /// The readers that want a line.
    pub fn wanted(&self, line: &[u8]) -> Set {
        let mut set = self.always;
        if memchr::memchr2(b'=', b'%', line).is_none() && !self.sieve.passes(line) {
            return set;
        }
        if let Some(automaton) = self.automaton() {
            for found in automaton.find_overlapping_iter(line) {
                set |= self.owners.get(found.pattern().as_usize()).copied().unwrap_or_default();
            }
        }
        set
    }

    /// Whether a line of prose concerns nobody: it holds no needle and no sign that structure is made of.
    pub fn passes_over(&self, line: &[u8]) -> bool {
        match signs(line) {
            0 => !is_header(line),
            signs => signs & STRUCTURE == 0 && !self.sieve.passes(line),
        }
    }

    /// The readers that want every line.
    pub fn always(&self) -> Set {
        self.always
    }
}

/// Whether a line is plain words: no digit and no sign that logs, tables or mark-up need. Such lines say nothing unless
/// a run is under way.
pub(crate) fn is_plain(line: &[u8]) -> bool {
    signs(line) == 0 && !is_header(line)
}

/// The header of a scheduler's table is plain words too, but everything below depends on it.
fn is_header(line: &[u8]) -> bool {
    line.trim_ascii_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"jobid"))
}

/// Which kinds of telling signs a line has. Most of prose is calm, which is seen many bytes at a time; the rest is looked
/// at byte by byte.
fn signs(line: &[u8]) -> u8 {
    const SPAN: usize = 32;
    let kinds = |span: &[u8]| span.iter().fold(0, |seen, byte| seen | KINDS[usize::from(*byte)]);
    let (spans, rest) = line.as_chunks::<SPAN>();
    let seen = spans.iter().fold(0, |seen, span| if is_calm(span) { seen } else { seen | kinds(span) });
    // The end of a line is found as fast together with what stands before it.
    match line.last_chunk::<SPAN>() {
        Some(end) if is_calm(end) => seen,
        _ => seen | kinds(rest),
    }
}

/// Whether a span is nothing but words and the signs between them.
fn is_calm(span: &[u8; 32]) -> bool {
    span.iter().fold(true, |calm, byte| calm & is_calm_byte(*byte))
}

/// Letters, blanks, and common marks of punctuation, found without a table so that it compiles to wide instructions.
fn is_calm_byte(byte: u8) -> bool {
    (byte | 0x20).wrapping_sub(b'a') < 26
        || byte == b' '
        || byte == b'\''
        || byte.wrapping_sub(b',') < 3
        || byte >= 0x80
}

/// Digits and signs that prose has now and then.
const TELLING: u8 = 1;
/// Signs that begin tables, headings, fences and arrays, or stand in short needles.
const STRUCTURE: u8 = 2;

const KINDS: [u8; 256] = {
    let mut table = [0; 256];
    let (telling, structure) = (b"\"/0123456789:{}]>*!$", b"=|[%<#`~+");
    let mut index = 0;
    while index < telling.len() {
        table[telling[index] as usize] = TELLING;
        index += 1;
    }
    index = 0;
    while index < structure.len() {
        table[structure[index] as usize] = STRUCTURE;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_needles_of_different_readers_are_all_found() {
        let needles = Needles::new(
            [Some(vec!["Rate=".to_owned()]), Some(vec!["GlobalRate".to_owned()]), None].into_iter(),
        );
        assert_eq!(needles.wanted(b"x GlobalRate=5"), 0b111);
        assert_eq!(needles.wanted(b"x Rate=5"), 0b101);
        assert_eq!(needles.wanted(b"nothing"), 0b100);
        assert_eq!(needles.wanted(b"14 epochs"), 0b100 | PROSE_BIT);
    }

    #[test]
    fn built_in_needles_are_long_enough_for_the_sieve() {
        let all = crate::DIALECTS.iter().flat_map(|dialect| dialect.needles).chain(PROSE).copied();
        for needle in all.chain(crate::hints::needles()) {
            assert!(needle.len() >= 4 || needle.contains(SIGNS), "`{needle}`");
        }
    }

    #[test]
    fn a_calm_line_has_no_telling_sign() {
        for byte in 0..=255_u8 {
            assert!(!is_calm_byte(byte) || KINDS[usize::from(byte)] == 0, "{byte}");
        }
        for length in [0, 1, 31, 32, 33, 64, 95] {
            let mut line = vec![b'a'; length];
            assert_eq!(signs(&line), 0, "{length}");
            for place in 0..length {
                for (sign, kind) in [(b'7', TELLING), (b'|', STRUCTURE)] {
                    line[place] = sign;
                    assert_eq!(signs(&line), kind, "{place} of {length}");
                }
                line[place] = b'a';
            }
        }
    }

    #[test]
    fn plain_words_are_told_from_the_rest() {
        assert!(!is_plain(b"JobID   JobName   State"));
        assert!(is_plain(b"Nothing to see here, move along"));
        for line in ["step 1", "a=b", "It failed!", "# heading", "see: this"] {
            assert!(!is_plain(line.as_bytes()), "{line}");
        }
    }
}
