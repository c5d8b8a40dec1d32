//! A coarse sieve before the search for key strings: most lines of prose hold not even a part of one. Four bytes at
//! every place are looked up in a small table, which is several times faster than walking an automaton, because no
//! look-up waits for the one before.

/// Four bytes of each key string: those that prose has least often.
pub(crate) struct Sieve {
    /// A byte for each hash, so that a look-up is one load.
    coarse: Box<[u8; COARSE_ENTRIES]>,
    /// Bits under another hash: what falls through both by chance is rare.
    fine: Box<[u64; FINE_WORDS]>,
    /// Whether some key string is too short for the tables.
    open: bool,
}

const COARSE_ENTRIES: usize = 1 << 15;
const FINE_WORDS: usize = 1024;

/// Bytes that are looked at together, and the places of four bytes among them.
const SPAN: usize = 12;
const PLACES: usize = SPAN - 3;

impl Sieve {
    /// A sieve that lets through every line with one of these in it.
    pub fn new<'a>(needles: impl Iterator<Item = &'a str>) -> Sieve {
        let mut sieve =
            Sieve { coarse: Box::new([0; COARSE_ENTRIES]), fine: Box::new([0; FINE_WORDS]), open: false };
        for needle in needles {
            match rarest(needle.as_bytes()) {
                Some(window) => {
                    let word = u32::from_le_bytes(window);
                    sieve.coarse[coarse(word)] = 1;
                    let (index, bit) = fine(word);
                    sieve.fine[index] |= 1 << bit;
                }
                None => sieve.open = true,
            }
        }
        sieve
    }

    /// Whether a line may hold a key string.
    pub fn passes(&self, line: &[u8]) -> bool {
        let Some(end) = line.last_chunk::<SPAN>() else {
            return self.open || self.has_both(line);
        };
        let mut rest = line;
        while let Some(bytes) = rest.first_chunk::<SPAN>() {
            if self.may_have(bytes) && self.has_both(bytes) {
                return true;
            }
            rest = rest.get(PLACES..).unwrap_or_default();
        }
        self.open || self.may_have(end) && self.has_both(end)
    }

    /// Looks up all places of a span in the coarse table, out of two loads and without a branch between them.
    fn may_have(&self, bytes: &[u8; SPAN]) -> bool {
        let Some((first, second)) = bytes.first_chunk().zip(bytes.last_chunk()) else { return true };
        let (first, second) = (u64::from_le_bytes(*first), u64::from_le_bytes(*second));
        let words = [
            first as u32,
            (first >> 8) as u32,
            (first >> 16) as u32,
            (first >> 24) as u32,
            second as u32,
            (second >> 8) as u32,
            (second >> 16) as u32,
            (second >> 24) as u32,
            (second >> 32) as u32,
        ];
        words.iter().fold(0, |found, word| found | self.coarse[coarse(*word)]) != 0
    }

    /// Looks up places in both tables; seldom needed, so it is kept out of the way of the loop above.
    #[inline(never)]
    fn has_both(&self, bytes: &[u8]) -> bool {
        bytes.windows(4).filter_map(|window| window.first_chunk::<4>()).any(|window| {
            let word = u32::from_le_bytes(*window);
            let (index, bit) = fine(word);
            self.coarse[coarse(word)] != 0 && self.fine[index] >> bit & 1 != 0
        })
    }
}

/// The four bytes of a key string that prose has least often, as far as that can be guessed: signs, capitals and digits
/// are rare, and beginnings of words show more than endings and small words do.
fn rarest(needle: &[u8]) -> Option<[u8; 4]> {
    const LETTERS: &[u8] = b"zqxjkvbpygfwmucldrhsnioate";
    let commonness = |byte: u8| match byte {
        b' ' | b',' | b'.' => 60,
        _ => LETTERS.iter().position(|letter| *letter == byte).map_or(0, |rank| rank + 20),
    };
    let places = needle.windows(4).filter_map(|window| window.first_chunk::<4>()).enumerate();
    let cost = |(place, window): &(usize, &[u8; 4])| {
        let begins =
            place.checked_sub(1).and_then(|before| needle.get(before)).is_none_or(|byte| *byte == b' ');
        window.iter().map(|byte| commonness(*byte)).sum::<usize>() + if begins { 0 } else { 30 }
    };
    places.min_by_key(cost).map(|(_, window)| *window)
}

/// The entry of the coarse table; the shift shows that it is within.
fn coarse(word: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1) >> 17) as usize
}

/// The word of the fine table and the bit in it; the mask shows that it is within.
fn fine(word: u32) -> (usize, u32) {
    let hash = word.wrapping_mul(0x85eb_ca6b) >> 16;
    ((hash >> 6) as usize & (FINE_WORDS - 1), hash & 63)
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
