//! Progress bars as tqdm draws them: `Epochs:  50%|█████     | 5/10 [00:54<00:54, 10.81s/it, loss=2.3]`.

use crate::text::{clock_seconds, number};

/// One state of a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar<'a> {
    /// The text before the percentage, without its colon.
    pub label: &'a str,
    /// Iterations done.
    pub done: f64,
    /// Iterations in all.
    pub total: f64,
    /// Seconds so far; absent where the bar was cut.
    pub elapsed_s: Option<f64>,
    /// Iterations per second; absent before the first one.
    pub rate: Option<f64>,
    /// What follows the rate inside the brackets.
    pub postfix: &'a str,
    /// What follows the bar on its line.
    pub rest: &'a str,
    /// Whether other output cut the bar off.
    pub cut: bool,
}

/// The first bar in a text.
pub fn bar(text: &str) -> Option<Bar<'_>> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'%', bytes)
        .filter(|place| bytes.get(place + 1) == Some(&b'|'))
        .find_map(|place| bar_at(text, place))
}

fn bar_at(text: &str, place: usize) -> Option<Bar<'_>> {
    let before = text.get(..place)?;
    let label = before.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if label.len() == before.len() {
        return None;
    }
    let label = label.trim_end();
    let label = label.strip_suffix(':').unwrap_or(label).trim();
    let body = text.get(place + 2..)?;
    let end = memchr::memchr(b'|', body.as_bytes())?;
    let counts = body.get(end + 1..)?;
    let (done, counts) = quantity(counts)?;
    let (total, clock) = quantity(counts.strip_prefix('/')?)?;
    let cut = |rest| Bar { label, done, total, elapsed_s: None, rate: None, postfix: "", rest, cut: true };
    let Some(inside) = clock.strip_prefix(" [") else { return Some(cut(clock)) };
    // Only what the bar itself writes may stand before the closing bracket.
    let Some(end) = memchr::memchr2(b']', b'[', inside.as_bytes()) else { return Some(cut(inside)) };
    if inside.as_bytes().get(end) == Some(&b'[') {
        return Some(cut(inside.get(end..).unwrap_or_default()));
    }
    let (inside, rest) = (inside.get(..end)?, inside.get(end + 1..)?);
    let (clock, tail) = at_comma(inside);
    let elapsed = clock.get(..memchr::memchr(b'<', clock.as_bytes()).unwrap_or(clock.len()))?;
    let (rate, postfix) = at_comma(tail);
    Some(Bar {
        label,
        done,
        total,
        elapsed_s: clock_seconds(elapsed),
        rate: rate_of(rate),
        postfix,
        rest,
        cut: false,
    })
}

/// Splits at the first comma with a blank behind it.
pub(crate) fn at_comma(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b',', bytes)
        .find(|place| bytes.get(place + 1) == Some(&b' '))
        .and_then(|place| Some((text.get(..place)?, text.get(place + 2..)?)))
        .unwrap_or((text, ""))
}

/// A count, with the suffix that tqdm uses for large ones.
fn quantity(text: &str) -> Option<(f64, &str)> {
    let (value, rest) = number(text)?;
    let scaled = |factor: f64| rest.get(1..).map(|rest| (value * factor, rest));
    match rest.as_bytes().first() {
        Some(b'k') => scaled(1e3),
        Some(b'M') => scaled(1e6),
        Some(b'G') => scaled(1e9),
        _ => Some((value, rest)),
    }
}

/// `14.18it/s` or `10.81s/it`, per second.
fn rate_of(text: &str) -> Option<f64> {
    let (value, unit) = number(text)?;
    if unit.starts_with("s/") {
        return (value > 0.0).then(|| 1.0 / value);
    }
    let scale = match unit.as_bytes() {
        [b'k', ..] => 1e3,
        [b'M', ..] => 1e6,
        _ => 1.0,
    };
    unit.ends_with("/s").then_some(value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bars_are_read() {
        let found = bar("Epochs: 100%|██████████| 10/10 [01:48<00:00, 10.81s/it]   Graph x").unwrap();
        assert_eq!((found.label, found.done, found.total), ("Epochs", 10.0, 10.0));
        assert_eq!(found.elapsed_s, Some(108.0));
        assert!((found.rate.unwrap() - 1.0 / 10.81).abs() < 1e-12);
        assert_eq!(found.rest, "   Graph x");
        let found = bar(" 99%|███| 149/150 [00:03<00:00, 45.44it/s, throughput: 754.3 samples/sec]").unwrap();
        assert_eq!((found.label, found.postfix), ("", "throughput: 754.3 samples/sec"));
        assert_eq!(found.rate, Some(45.44));
        let found = bar("  0%|   | 0/1.25k [00:00<?, ?it/s]").unwrap();
        assert_eq!((found.total, found.rate, found.elapsed_s), (1250.0, None, Some(0.0)));
    }

    #[test]
    fn bars_cut_by_other_output_keep_their_counts() {
        let found = bar("Epochs:   0%|          | 0/10 [00:00<?,[09:03:32.515] [module] warning").unwrap();
        assert_eq!((found.total, found.elapsed_s, found.cut), (10.0, None, true));
        assert_eq!(found.rest, "[09:03:32.515] [module] warning");
        assert_eq!(bar(" 94%|███████Model(00, 14.18it/s]<00:02]"), None);
        assert_eq!(bar("Accuracy on test set: 96.85%██████| 100/100 [00:00<00:00]"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in ".{0,60}%\\|.{0,60}") {
            let _ = bar(&text);
        }
    }
}
