//! The shape of a line: its text with every number taken out. Lines of one shape are read by one plan.

/// Hashes a line's shape and notes where each run of digits begins.
pub(super) fn hash(text: &[u8], runs: &mut Vec<u32>) -> u64 {
    runs.clear();
    let (mut hash, mut place) = (0xcbf2_9ce4_8422_2325_u64, 0);
    let mut mix = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    while let Some(byte) = text.get(place).copied() {
        match byte {
            b'0'..=b'9' | b'.' => {
                runs.push(u32::try_from(place).unwrap_or(u32::MAX));
                mix(0);
                let rest = text.iter().skip(place);
                place += rest.take_while(|next| matches!(next, b'0'..=b'9' | b'.')).count();
            }
            b' ' | b'\t' => {
                mix(1);
                place = behind_blanks(text, place);
            }
            0xe2 if is_drawn(text, place) => {
                mix(1);
                place = behind_blanks(text, place);
            }
            _ => {
                mix(byte);
                place += 1;
            }
        }
    }
    hash
}

/// Blanks and bars may be of any length.
fn behind_blanks(text: &[u8], from: usize) -> usize {
    let mut place = from;
    loop {
        match text.get(place) {
            Some(b' ' | b'\t') => place += 1,
            Some(0xe2) if is_drawn(text, place) => place += 3,
            _ => return place,
        }
    }
}

/// Whether a letter between U+2500 and U+25BF, of which bars are drawn, or of Braille, which turns as a spinner, begins
/// here.
fn is_drawn(text: &[u8], place: usize) -> bool {
    matches!(text.get(place + 1), Some(0x94..=0x96 | 0xa0..=0xa3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> u64 {
        hash(text.as_bytes(), &mut Vec::new())
    }

    #[test]
    fn numbers_blanks_and_bars_may_differ_and_no_letter() {
        for (one, other) in [
            ("loss 0.5 at 10", "loss  12.25 at 7"),
            ("50%|█████     | 5/10", "60%|██████    | 6/10"),
            ("⠋ step 1", "⠙ step 2"),
        ] {
            assert_eq!(shape(one), shape(other), "{one} {other}");
        }
        for (one, other) in [("训练损失: 1", "验证损失: 1"), ("рис: 1", "тис: 1"), ("loss 1", "cost 1")]
        {
            assert_ne!(shape(one), shape(other), "{one} {other}");
        }
    }

    #[test]
    fn a_cut_letter_is_survived() {
        let mut runs = Vec::new();
        hash(b"1 \xe2", &mut runs);
        hash(b"\xe2\x94", &mut runs);
        assert!(runs.is_empty());
    }
}
