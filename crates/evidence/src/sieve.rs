//! A coarse sieve before the search for key strings: most lines of prose hold not even the beginning of one. Four bytes
//! at every place are looked up in a small table, which is several times faster than walking an automaton, because no
//! look-up waits for the one before.

/// Beginnings of key strings.
pub(crate) struct Sieve {
    coarse: Box<[u64; WORDS]>,
    /// The same under another hash: what falls through both by chance is rare.
    fine: Box<[u64; WORDS]>,
    /// Whether some key string is too short for the tables.
    open: bool,
}

const WORDS: usize = 1024;

impl Sieve {
    /// A sieve that lets through every line with one of these in it.
    pub fn new<'a>(needles: impl Iterator<Item = &'a str>) -> Sieve {
        let mut sieve = Sieve { coarse: Box::new([0; WORDS]), fine: Box::new([0; WORDS]), open: false };
        for needle in needles {
            match needle.as_bytes() {
                [a, b, c, d, ..] => {
                    let word = u32::from_le_bytes([*a, *b, *c, *d]);
                    for (table, factor) in [(&mut sieve.coarse, COARSE), (&mut sieve.fine, FINE)] {
                        let (index, bit) = place(word, factor);
                        table[index] |= 1 << bit;
                    }
                }
                _ => sieve.open = true,
            }
        }
        sieve
    }

    /// Whether a line may hold a key string.
    pub fn passes(&self, line: &[u8]) -> bool {
        let mut rest = line;
        // Five places at a time, out of one load and without a branch between them.
        while let Some(bytes) = rest.first_chunk::<8>() {
            let bytes = u64::from_le_bytes(*bytes);
            let words = [
                bytes as u32,
                (bytes >> 8) as u32,
                (bytes >> 16) as u32,
                (bytes >> 24) as u32,
                (bytes >> 32) as u32,
            ];
            let found = words.iter().fold(0, |found, word| found | has(&self.coarse, *word, COARSE));
            if found != 0 && words.iter().any(|word| self.has_both(*word)) {
                return true;
            }
            rest = rest.get(5..).unwrap_or_default();
        }
        let last = |window: &[u8]| {
            window.first_chunk::<4>().is_some_and(|bytes| self.has_both(u32::from_le_bytes(*bytes)))
        };
        self.open || rest.windows(4).any(last)
    }

    fn has_both(&self, word: u32) -> bool {
        has(&self.coarse, word, COARSE) & has(&self.fine, word, FINE) != 0
    }
}

const COARSE: u32 = 0x9e37_79b1;
const FINE: u32 = 0x85eb_ca6b;

fn has(table: &[u64; WORDS], word: u32, factor: u32) -> u64 {
    let (index, bit) = place(word, factor);
    table[index] >> bit & 1
}

/// The entry of the table and the bit in it; the mask shows that it is within.
fn place(word: u32, factor: u32) -> (usize, u32) {
    let hash = word.wrapping_mul(factor) >> 16;
    ((hash >> 6) as usize & (WORDS - 1), hash & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_key_string_falls_through(needles in prop::collection::vec(".{1,8}", 1..6), before in ".{0,9}", after in ".{0,9}", which in any::<prop::sample::Index>()) {
            let sieve = Sieve::new(needles.iter().map(String::as_str));
            let line = format!("{before}{}{after}", which.get(&needles));
            prop_assert!(sieve.passes(line.as_bytes()));
        }
    }

    #[test]
    fn most_prose_does_not_pass() {
        let sieve = Sieve::new(["Train Device=", "it/s", "GlobalRate"].into_iter());
        assert!(!sieve.passes(b"Morning weather that village 748 visitor pebble mirror"));
        assert!(sieve.passes(b"12 it/s"));
    }
}
