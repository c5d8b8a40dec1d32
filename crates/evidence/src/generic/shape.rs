//! The shape of a line: its text with every number taken out. Lines of one shape are read by one plan.

/// Hashes a line's shape and notes where each run of digits begins.
pub(super) fn hash(text: &[u8], runs: &mut Vec<u32>) -> u64 {
    runs.clear();
    let (mut hash, mut place) = (0xcbf2_9ce4_8422_2325_u64, 0);
    let mut mix = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    while let Some(byte) = text.get(place).copied() {
        let class = class(byte);
        match class {
            EXACT => {
                mix(byte);
                place += 1;
                continue;
            }
            NUMBER => {
                runs.push(u32::try_from(place).unwrap_or(u32::MAX));
                mix(0);
            }
            _ => mix(1),
        }
        place += text
            .iter()
            .skip(place)
            .position(|next| self::class(*next) != class)
            .unwrap_or(text.len() - place);
    }
    hash
}

const EXACT: u8 = 0;
const NUMBER: u8 = 1;
const BLANK: u8 = 2;

/// Bars are drawn with letters between U+2500 and U+259F, whose bytes are these; a bar may be of any length.
fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' | b'.' => NUMBER,
        b' ' | b'\t' | 0xe2 | 0x80..=0x9f => BLANK,
        b'=' | b'>' => EXACT,
        _ => EXACT,
    }
}
