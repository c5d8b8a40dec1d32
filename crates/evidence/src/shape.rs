//! Whether two lines have the same shape: equal but for digits, and for how far a bar is drawn.

/// Whether a line says the same as another with other numbers. Every run of digits and points may differ, and so may
/// every run of blanks and block letters, of which bars are drawn; all else must be equal.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() == b.len() && alike(a, b) {
        return true;
    }
    let (mut a, mut b) = (a, b);
    while let (Some(first), Some(other)) = (a.first(), b.first()) {
        let kind = KINDS[usize::from(*first)];
        if kind != KINDS[usize::from(*other)] || (kind == EXACT && first != other) {
            return false;
        }
        let run = |text: &[u8]| match kind {
            EXACT => 1,
            _ => text.iter().position(|byte| KINDS[usize::from(*byte)] != kind).unwrap_or(text.len()),
        };
        a = a.get(run(a)..).unwrap_or_default();
        b = b.get(run(b)..).unwrap_or_default();
    }
    a.is_empty() && b.is_empty()
}

/// Lines of one length, byte by byte, many at a time.
fn alike(a: &[u8], b: &[u8]) -> bool {
    const SPAN: usize = 16;
    let (spans, others) = (a.as_chunks::<SPAN>().0, b.as_chunks::<SPAN>().0);
    // The ends are compared together with what stands before them, where there is enough.
    let ends = match (a.last_chunk::<SPAN>(), b.last_chunk::<SPAN>()) {
        (Some(end), Some(other)) => are_alike(end, other),
        _ => are_alike(a, b),
    };
    ends && spans.iter().zip(others).all(|(span, other)| are_alike(span, other))
}

/// In whole bytes without a branch, so that it compiles to wide instructions.
fn are_alike(a: &[u8], b: &[u8]) -> bool {
    let different = a.iter().zip(b).fold(0_u8, |different, (a, b)| {
        let digits = u8::from(a.wrapping_sub(b'0') < 10) & u8::from(b.wrapping_sub(b'0') < 10);
        // Bytes of letters beyond ASCII: another block of a bar.
        let blocks = (a & b) >> 7;
        different | (u8::from(a != b) & (1 - (digits | blocks)))
    });
    different == 0
}

const EXACT: u8 = 0;
const NUMBER: u8 = 1;
const BLANK: u8 = 2;

const KINDS: [u8; 256] = {
    let mut kinds = [EXACT; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte == b' ' as usize || byte >= 0x80 {
            kinds[byte] = BLANK;
        } else if (byte >= b'0' as usize && byte <= b'9' as usize) || byte == b'.' as usize {
            kinds[byte] = NUMBER;
        }
        byte += 1;
    }
    kinds
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bars_may_differ_and_nothing_else() {
        for (a, b) in [
            ("Step=100, Loss=9.39", "Step=200, Loss=8.70"),
            ("Step=100, Loss=9.39", "Step=1200, Loss=8.7"),
            ("Training:   9%|▉         | 18/200", "Training:  10%|█         | 20/200"),
        ] {
            assert!(same(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
        for (a, b) in [
            ("Step=100, Loss=9.39", "Step=100, Loss=nan"),
            ("Step=100", "Step=100, Loss=9"),
            (" 99%|██| 1/2", "100%|██| 2/2"),
            ("loss=1 rate=2", "rate=1 loss=2"),
        ] {
            assert!(!same(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
    }
}
