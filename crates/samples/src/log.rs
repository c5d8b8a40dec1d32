//! Where a sample goes: lines are put together, dressed up and handed on in large pieces.

use std::fmt;
use std::io;

use crate::calendar::{self, Clock};
use crate::kind::Settings;
use crate::number;
use assay_random::Random;

/// What is handed on at once.
const PIECE: usize = 1 << 18;

/// Who puts the rank before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RankStyle {
    Mpi,
    Torchrun,
    Slurm,
}

/// What a terminal or a launcher does to every line.
#[derive(Debug)]
pub(crate) struct Dress {
    crlf: bool,
    ansi: bool,
    ranks: u64,
    rank_style: RankStyle,
    rubbish: Option<Rubbish>,
}

/// Bytes that are not text, in lines of their own.
#[derive(Debug)]
struct Rubbish {
    random: Random,
    /// Some comes before the first line in any case.
    due: bool,
}

impl Dress {
    /// What the options say.
    pub(crate) fn of(settings: &Settings, seed: u64) -> Self {
        Self {
            crlf: settings.flag("crlf"),
            ansi: settings.flag("ansi"),
            ranks: settings.whole("ranks"),
            rank_style: match settings.word("rank-style") {
                "torchrun" => RankStyle::Torchrun,
                "slurm" => RankStyle::Slurm,
                _ => RankStyle::Mpi,
            },
            rubbish: settings
                .flag("rubbish")
                .then(|| Rubbish { random: Random::stream(seed, "rubbish"), due: true }),
        }
    }

    /// Whether lines stay as they are.
    fn is_plain(&self) -> bool {
        !self.crlf && !self.ansi && self.ranks == 0 && self.rubbish.is_none()
    }

    /// Appends `line` as it comes out.
    fn put_on(&mut self, line: &[u8], target: &mut Vec<u8>) {
        if let Some(rubbish) = &mut self.rubbish {
            rubbish.scatter(target);
        }
        for rank in 0..self.ranks.max(1) {
            if self.ranks > 0 {
                let (before, after): (&[u8], &[u8]) = match self.rank_style {
                    RankStyle::Mpi => (b"[1,", b"]<stdout>:"),
                    RankStyle::Torchrun => (b"[rank", b"]:"),
                    RankStyle::Slurm => (b"", b": "),
                };
                target.extend_from_slice(before);
                number::whole(target, rank, 1);
                target.extend_from_slice(after);
            }
            match self.ansi {
                true => colored(line, target),
                false => target.extend_from_slice(line),
            }
            target.extend_from_slice(if self.crlf { b"\r\n" } else { b"\n" });
        }
    }
}

/// A line with the color codes that loggers use: the whole in one color, the last word bold.
fn colored(line: &[u8], target: &mut Vec<u8>) {
    let last = line.iter().rposition(|byte| *byte == b' ').map_or(0, |at| at + 1);
    let (start, end) = line.split_at(last);
    target.extend_from_slice(b"\x1b[32m");
    target.extend_from_slice(start);
    target.extend_from_slice(b"\x1b[1m");
    target.extend_from_slice(end);
    target.extend_from_slice(b"\x1b[0m");
}

impl Rubbish {
    /// Comes before about one line in six.
    fn scatter(&mut self, target: &mut Vec<u8>) {
        if !self.random.chance(1.0 / 6.0) && !self.due {
            return;
        }
        self.due = false;
        for _ in 0..self.random.whole(3, 60) {
            let byte = (self.random.next_u64() >> 56) as u8;
            target.push(if byte == b'\n' { 0 } else { byte });
        }
        target.extend_from_slice(b"\xff\n");
    }
}

/// A sample in the making. Nothing here can fail: what goes wrong in writing is kept until the end, and nothing more
/// is written after it.
pub(crate) struct Log<'out> {
    out: Option<&'out mut dyn io::Write>,
    failure: Option<io::Error>,
    dress: Dress,
    plain: bool,
    line: Vec<u8>,
    pending: Vec<u8>,
    handed_on: u64,
    /// The day of the last timestamp and its text, because most lines are of the same day.
    date: (u64, Vec<u8>),
}

impl<'out> Log<'out> {
    /// An empty sample that goes to `out`, or is only measured.
    pub(crate) fn new(out: Option<&'out mut dyn io::Write>, dress: Dress) -> Self {
        let plain = dress.is_plain();
        let (line, pending) = (Vec::new(), Vec::with_capacity(PIECE + 4096));
        Self { out, failure: None, dress, plain, line, pending, handed_on: 0, date: (0, Vec::new()) }
    }

    /// The end of the sample: its length, and what went wrong in writing it.
    pub(crate) fn finish(mut self) -> (u64, Option<io::Error>) {
        if !self.plain {
            let rest = std::mem::take(&mut self.line);
            self.pending.extend_from_slice(&rest);
        }
        self.hand_on();
        if self.failure.is_none() {
            self.failure = self.out.as_mut().and_then(|out| out.flush().err());
        }
        (self.handed_on, self.failure)
    }

    fn hand_on(&mut self) {
        self.handed_on += self.pending.len() as u64;
        if let Some(out) = self.out.as_mut().filter(|_| self.failure.is_none()) {
            self.failure = out.write_all(&self.pending).err();
        }
        self.pending.clear();
    }

    /// Where text is appended: lines that stay as they are need no place of their own.
    fn target(&mut self) -> &mut Vec<u8> {
        if self.plain { &mut self.pending } else { &mut self.line }
    }

    /// Appends text to the present line. Must hold no line break.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.target().extend_from_slice(text.as_bytes());
        self
    }

    /// Appends an integer.
    pub(crate) fn whole(&mut self, value: u64) -> &mut Self {
        number::whole(self.target(), value, 1);
        self
    }

    /// Appends a number with the given decimals.
    pub(crate) fn fixed(&mut self, value: f64, decimals: usize) -> &mut Self {
        number::fixed(self.target(), value, decimals);
        self
    }

    /// Appends a span as Python writes it.
    pub(crate) fn span(&mut self, seconds: f64) -> &mut Self {
        calendar::python_span(self.target(), seconds);
        self
    }

    /// Appends `2024-03-30 14:09:43,663`.
    pub(crate) fn stamp(&mut self, clock: Clock) -> &mut Self {
        let (day, mut date) = std::mem::take(&mut self.date);
        if day != clock.day() || date.is_empty() {
            date.clear();
            date.extend(clock.plain().bytes().take(11));
        }
        let time = clock.millis() % 86_400_000;
        let target = self.target();
        target.extend_from_slice(&date);
        number::whole(target, time / 3_600_000, 2);
        target.push(b':');
        number::whole(target, time / 60_000 % 60, 2);
        target.push(b':');
        number::whole(target, time / 1000 % 60, 2);
        target.push(b',');
        number::whole(target, time % 1000, 3);
        self.date = (clock.day(), date);
        self
    }

    /// Appends whatever can be formatted.
    pub(crate) fn add(&mut self, text: fmt::Arguments<'_>) -> &mut Self {
        // A vector never refuses bytes.
        let _ = io::Write::write_fmt(self.target(), text);
        self
    }

    /// Ends the present line.
    pub(crate) fn end(&mut self) {
        if self.plain {
            self.pending.push(b'\n');
        } else {
            let line = std::mem::take(&mut self.line);
            self.dress.put_on(&line, &mut self.pending);
            self.line = line;
            self.line.clear();
        }
        if self.pending.len() >= PIECE {
            self.hand_on();
        }
    }

    /// A whole line.
    pub(crate) fn line(&mut self, text: &str) {
        self.text(text).end();
    }

    /// Several whole lines.
    pub(crate) fn lines(&mut self, text: &str) {
        for line in text.lines() {
            self.line(line);
        }
    }

    /// A whole line of whatever can be formatted.
    pub(crate) fn say(&mut self, text: fmt::Arguments<'_>) {
        self.add(text).end();
    }
}

/// A whole line, with the arguments of `format!`.
macro_rules! say {
    ($log:expr, $($argument:tt)*) => { $log.say(format_args!($($argument)*)) };
}

pub(crate) use say;

#[cfg(test)]
mod tests {
    use super::*;

    fn dressed(change: impl Fn(&mut Dress)) -> Vec<u8> {
        let mut dress =
            Dress { crlf: false, ansi: false, ranks: 0, rank_style: RankStyle::Mpi, rubbish: None };
        change(&mut dress);
        let mut out = Vec::new();
        let mut log = Log::new(Some(&mut out), dress);
        log.line("loss 7.5");
        log.text("half");
        let (length, failure) = log.finish();
        assert!(failure.is_none());
        assert_eq!(length, out.len() as u64);
        out
    }

    #[test]
    fn lines_are_dressed() {
        assert_eq!(dressed(|_| ()), b"loss 7.5\nhalf");
        assert_eq!(dressed(|dress| dress.crlf = true), b"loss 7.5\r\nhalf");
        assert_eq!(dressed(|dress| dress.ansi = true), b"\x1b[32mloss \x1b[1m7.5\x1b[0m\nhalf");
        let ranks = dressed(|dress| (dress.ranks, dress.rank_style) = (2, RankStyle::Torchrun));
        assert_eq!(ranks, b"[rank0]:loss 7.5\n[rank1]:loss 7.5\nhalf");
        let ranks = dressed(|dress| dress.ranks = 1);
        assert_eq!(ranks, b"[1,0]<stdout>:loss 7.5\nhalf");
    }

    #[test]
    fn a_full_disk_is_told_once_and_ends_the_writing() {
        struct Full;
        impl io::Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("full"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut full = Full;
        let dress = Dress { crlf: false, ansi: false, ranks: 0, rank_style: RankStyle::Mpi, rubbish: None };
        let mut log = Log::new(Some(&mut full), dress);
        log.line("one");
        assert_eq!(log.finish().1.unwrap().to_string(), "full");
    }
}
