//! Progress bars as tqdm draws them.

use crate::log::Log;

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

const FULL: &str = "████████████████████";
const BLANK: &str = "                    ";

/// One state of a bar.
#[derive(Debug, Clone)]
pub(crate) struct Bar<'a> {
    /// What stands before it; empty for none.
    pub(crate) label: &'a str,
    /// Done so far.
    pub(crate) done: u64,
    /// All there is to do.
    pub(crate) total: u64,
    /// Seconds since it began.
    pub(crate) elapsed: f64,
    /// Seconds that one takes, for the rate and the time left.
    pub(crate) each: f64,
    /// Characters between the two strokes.
    pub(crate) width: u64,
    /// What is counted: `it`; empty for a bar that shows no rate.
    pub(crate) unit: &'a str,
}

impl Bar<'_> {
    /// Draws it without the closing bracket, so that more can follow the rate.
    pub(crate) fn open(&self, log: &mut Log<'_>) {
        let percent = self.done * 100 / self.total.max(1);
        if !self.label.is_empty() {
            log.text(self.label).text(": ");
        }
        log.text(if percent < 10 {
            "  "
        } else if percent < 100 {
            " "
        } else {
            ""
        });
        log.whole(percent).text("%|");
        glyphs(log, self.done, self.total, self.width);
        log.text("| ").whole(self.done).text("/").whole(self.total).text(" [");
        clock(log, self.elapsed);
        log.text("<");
        if self.done == 0 {
            log.text("?");
        } else {
            clock(log, self.each * self.total.saturating_sub(self.done) as f64);
        }
        if self.unit.is_empty() {
            return;
        }
        log.text(", ");
        match (self.done, self.each) {
            (0, _) => log.text("?").text(self.unit).text("/s"),
            (_, each) if each > 1.0 => rate(log, each).text("s/").text(self.unit),
            (_, each) => rate(log, 1.0 / each.max(1e-9)).text(self.unit).text("/s"),
        };
    }

    pub(crate) fn draw(&self, log: &mut Log<'_>) {
        self.open(log);
        log.text("]");
    }
}

/// The filled part of a bar and blanks after it.
pub(crate) fn glyphs(log: &mut Log<'_>, done: u64, total: u64, width: u64) {
    let eighths = (width * 8 * done) / total.max(1);
    let (full, part) = ((eighths / 8).min(width), (eighths % 8) as usize);
    repeat(log, FULL, full);
    if full < width {
        log.text(EIGHTHS.get(part).copied().unwrap_or_default());
        repeat(log, BLANK, width - full - u64::from(part > 0));
    }
}

/// Writes `count` of the signs that `signs` is made of, twenty at a time where possible.
fn repeat(log: &mut Log<'_>, signs: &'static str, count: u64) {
    for _ in 0..count / 20 {
        log.text(signs);
    }
    log.text(signs.get(..signs.len() / 20 * (count % 20) as usize).unwrap_or_default());
}

/// A rate, five characters wide at least.
fn rate<'log, 'out>(log: &'log mut Log<'out>, value: f64) -> &'log mut Log<'out> {
    if value < 9.995 {
        log.text(" ");
    }
    log.fixed(value, 2)
}

/// `05:12`, or `1:05:12`.
pub(crate) fn clock(log: &mut Log<'_>, seconds: f64) {
    let seconds = seconds.max(0.0) as u64;
    if seconds >= 3600 {
        log.whole(seconds / 3600).text(":");
    }
    let minutes = seconds / 60 % 60;
    log.text(if minutes < 10 { "0" } else { "" }).whole(minutes);
    let seconds = seconds % 60;
    log.text(if seconds < 10 { ":0" } else { ":" }).whole(seconds);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{self, Settings};
    use crate::log::Dress;

    fn drawn(bar: &Bar<'_>) -> String {
        let settings = Settings::new(kind::find("tqdm").unwrap(), &Default::default()).unwrap();
        let mut out = Vec::new();
        let mut log = Log::new(Some(&mut out), Dress::of(&settings, 0));
        bar.draw(&mut log);
        log.finish();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn bars_look_like_those_of_tqdm() {
        let mut bar =
            Bar { label: "Epochs", done: 10, total: 10, elapsed: 109.9, each: 10.99, width: 10, unit: "it" };
        assert_eq!(drawn(&bar), "Epochs: 100%|██████████| 10/10 [01:49<00:00, 10.99s/it]");
        bar = Bar { label: "", done: 0, elapsed: 0.0, total: 150, ..bar };
        assert_eq!(drawn(&bar), "  0%|          | 0/150 [00:00<?, ?it/s]");
        bar = Bar { done: 107, total: 125, elapsed: 4000.0, each: 0.022, ..bar };
        assert_eq!(drawn(&bar), " 85%|████████▌ | 107/125 [1:06:40<00:00, 45.45it/s]");
        let wide = Bar { done: 6, total: 10, width: 45, unit: "", label: "", ..bar.clone() };
        let expected = format!(" 60%|{}{}| 6/10 [1:06:40<00:00]", "█".repeat(27), " ".repeat(18));
        assert_eq!(drawn(&wide), expected);
        bar = Bar { label: "Graph compilation", done: 100, total: 100, elapsed: 22.0, unit: "", ..bar };
        assert_eq!(drawn(&bar), "Graph compilation: 100%|██████████| 100/100 [00:22<00:00]");
    }
}
