//! Settings that the prose declares against those that listings show, and stated durations against timestamps.

use assay_model::Source;

use super::sentence::Sentence;
use crate::finding::{Level, Operand};
use crate::grid::words;
use crate::manuscript::{Block, Manuscript};
use crate::number::shown;
use crate::quantity::Quantity;
use crate::{Class, Finding};

/// What the listings of a document show.
#[derive(Debug, Default)]
pub struct Observed {
    file: String,
    /// Words of a key, its value, and its line.
    settings: Vec<(Vec<String>, f64, u64)>,
    /// Timestamps in seconds, a list for each listing.
    stamps: Vec<Vec<(f64, u64)>>,
    /// What advances line by line (`step 1000`), with the time from its first line to its last.
    advances: Vec<Advance>,
}

/// A count that grows from one timestamp to the next.
#[derive(Debug, Clone, PartialEq)]
struct Advance {
    word: String,
    from: (f64, f64),
    to: (f64, f64),
    lines: usize,
}

/// Keys and stamps that are kept; a longer listing is a log of its own.
const MOST: usize = 2000;

impl Observed {
    pub fn new(manuscript: &Manuscript) -> Observed {
        let mut observed = Observed { file: manuscript.file.clone(), ..Observed::default() };
        let mut stamps = Vec::new();
        for block in &manuscript.blocks {
            let lines = lines(block);
            // The text between two listings sets them apart.
            if lines.is_empty() {
                observed.stamps.extend(Some(std::mem::take(&mut stamps)).filter(|stamps| !stamps.is_empty()));
            }
            for (number, text) in lines.iter().filter(|(_, text)| text.len() < 400).take(MOST) {
                // An argument of a call in source code shows what may be set, not what ran.
                let is_argument = text.trim_end().ends_with([',', '(']) && text.contains('=');
                let found = if is_argument { Vec::new() } else { keys(text) };
                observed.settings.extend(found.into_iter().map(|(key, value)| (key, value, *number)));
                stamps.extend(stamp(text).map(|seconds| (seconds, *number)));
                advance(&mut observed.advances, text);
            }
        }
        observed.stamps.push(stamps);
        observed.stamps.retain(|stamps| stamps.len() >= 2);
        observed
    }

    /// Checks the integers and the durations of a sentence.
    pub fn check(&self, sentence: &Sentence) -> Vec<Finding> {
        let settings = sentence.quantities.iter().filter_map(|quantity| self.setting(sentence, quantity));
        let durations = sentence.quantities.iter().filter_map(|quantity| self.duration(sentence, quantity));
        settings.chain(durations).collect()
    }

    /// The one of several that shows what this document, which shows nothing itself, is about: the log beside a write-up.
    pub fn beside<'a>(&self, all: &'a [Observed]) -> Option<&'a Observed> {
        if !self.is_empty() {
            return None;
        }
        let mut others = all.iter().filter(|other| !other.is_empty());
        others.next().filter(|_| others.next().is_none())
    }

    fn is_empty(&self) -> bool {
        self.stamps.is_empty()
    }

    /// `batch size 256` where every listing shows 192.
    fn setting(&self, sentence: &Sentence, quantity: &Quantity) -> Option<Finding> {
        if !quantity.is_integer()
            || !quantity.unit.is_count()
            || quantity.in_words
            || quantity.bound.is_some()
        {
            return None;
        }
        let before = words(&sentence.words_before(quantity.start).join(" "));
        let after = words(&sentence.words_after(quantity.end).join(" "));
        let names: Vec<&String> = before.iter().rev().take(2).collect();
        // `try --batch_size 4`: an option is advice or a command, not a statement about what ran.
        if sentence.text.get(..quantity.start).is_some_and(is_option) {
            return None;
        }
        let noun = after.first().or(None);
        // More epochs than any line of a log counts to did not run; fewer may be a part of them.
        let too_many = |only: &String| {
            quantity.unit.counts(only)
                && !super::relative::excused(sentence)
                && self.settings.iter().any(|(key, value, _)| {
                    key.as_slice() == std::slice::from_ref(only) && *value >= 3.0 && quantity.value > *value
                })
                && self.advances.iter().any(|advance| advance.word == *only && advance.lines >= 3)
        };
        let fits = |key: &[String]| match key {
            [only] => noun == Some(only) && quantity.unit.counts(only) || too_many(only),
            // `test_batch_size` is another setting than `batch_size`, unless the text says `test` too.
            [rest @ .., one, two] => {
                names.len() == 2
                    && names[0] == two
                    && names[1] == one
                    && rest.iter().all(|word| before.contains(word))
            }
            [] => false,
        };
        let same: Vec<&(Vec<String>, f64, u64)> =
            self.settings.iter().filter(|(key, ..)| fits(key)).collect();
        let (_, value, line) = same.first()?;
        if same.iter().any(|(_, other, _)| other != value) || *value == quantity.value {
            return None;
        }
        // A global batch is a multiple of the one of each device.
        let ratio = quantity.value.max(*value) / quantity.value.min(*value);
        let key = same.first().map(|(key, ..)| key.join("_"))?;
        let explained =
            !key.contains("global") && self.settings.iter().any(|(_, other, _)| (other - ratio).abs() < 1e-9);
        (!explained && *value > 0.0).then(|| {
            self.finding(
                Class::SettingNotApplied,
                sentence,
                quantity,
                format!("the text says `{}`, the listing shows {key} = {}", quantity.text, shown(*value)),
                *line,
            )
        })
    }

    /// `The job took 3 hours 20 minutes` where no two timestamps are that far apart.
    fn duration(&self, sentence: &Sentence, quantity: &Quantity) -> Option<Finding> {
        if !quantity.unit.is_time() || quantity.value < 300.0 || super::relative::excused(sentence) {
            return None;
        }
        let text = sentence.text.to_lowercase();
        let whole = ["took", "duration", "lasted", "whole", "wall", "ran for", "from start", "altogether"];
        if !whole.iter().any(|word| text.contains(word)) || quantity.bound.is_some() {
            return None;
        }
        let stamps = self.stamps.first()?;
        let (first, last) = (stamps.first()?, stamps.last()?);
        let span = last.0 - first.0;
        let slack = 0.01 * quantity.value + 0.5 * (quantity.high - quantity.low) + 60.0;
        let matches = |(one, other): (&(f64, u64), &(f64, u64))| {
            ((other.0 - one.0).abs() - quantity.value).abs() <= slack
        };
        if (span - quantity.value).abs() <= slack
            && let Some(found) = self.waiting(sentence, quantity, span, first.1)
        {
            return Some(found);
        }
        let few: Vec<&(f64, u64)> = stamps.iter().take(60).chain(stamps.last()).collect();
        let any = few.iter().any(|one| few.iter().any(|other| matches((one, other))));
        let size = span > 0.0 && (0.15..6.0).contains(&(quantity.value / span));
        (!any && size).then(|| {
            self.finding(
                Class::Duration,
                sentence,
                quantity,
                format!(
                    "`{}` fits no two timestamps; from the first to the last it is {}",
                    quantity.text,
                    clock(span)
                ),
                last.1,
            )
        })
    }
}

impl Observed {
    fn finding(
        &self,
        class: Class,
        sentence: &Sentence,
        quantity: &Quantity,
        summary: String,
        line: u64,
    ) -> Finding {
        let own = sentence.line_of(quantity);
        Finding {
            class,
            level: Level::Doubtful,
            summary,
            arithmetic: Vec::new(),
            sources: vec![Source::new(sentence.file.clone(), own), Source::new(self.file.clone(), line)],
            operands: vec![Operand { text: quantity.text.clone(), value: quantity.value, line: own }],
            advice: "correct the text, or say which of the two counts".to_owned(),
        }
    }
}

/// Whether a text ends with the name of a command's option.
fn is_option(text: &str) -> bool {
    let last = text.trim_end_matches([' ', '=']).rsplit(char::is_whitespace).next().unwrap_or_default();
    last.trim_start_matches(['`', '(']).starts_with('-')
        && last.bytes().any(|byte| byte.is_ascii_alphabetic())
}

impl Observed {
    /// `training took 3 h 13 min for 2000 steps` where the steps themselves took less than half of it.
    fn waiting(&self, sentence: &Sentence, quantity: &Quantity, span: f64, line: u64) -> Option<Finding> {
        let is_meant = |advance: &&Advance| {
            let named = sentence.quantities.iter().any(|other| other.unit.counts(&advance.word));
            let ran = advance.to.1 - advance.from.1;
            advance.lines >= 3 && named && ran > 0.0 && ran < 0.75 * span
        };
        let advance = self.advances.iter().find(is_meant)?;
        let summary = format!(
            "`{}` is the time from the first timestamp to the last; from {word} {} to {word} {} it is {}",
            quantity.text,
            shown(advance.from.0),
            shown(advance.to.0),
            clock(advance.to.1 - advance.from.1),
            word = advance.word,
        );
        Some(self.finding(Class::WaitingInside, sentence, quantity, summary, line))
    }
}

/// Most kinds of counts that are followed.
const MOST_ADVANCES: usize = 20;

/// Follows the first count of a line with a timestamp: `12:00:05 step 1000 loss 4.1`, `epoch 3/25`.
fn advance(advances: &mut Vec<Advance>, text: &str) {
    let Some(seconds) = stamp(text) else { return };
    let pieces: Vec<&str> = text.split_whitespace().collect();
    let counted = pieces.windows(2).find_map(|pair| {
        let word = pair[0].trim_matches(|one: char| !one.is_alphanumeric()).to_lowercase();
        let count = pair[1].split('/').next()?.trim_end_matches([',', ':', ';']).parse::<u32>().ok()?;
        (word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some((word, count))
    });
    let Some((word, count)) = counted else { return };
    let at = (f64::from(count), seconds);
    let is_full = advances.len() >= MOST_ADVANCES;
    match advances.iter_mut().find(|known| known.word == word) {
        Some(known) if at.0 > known.to.0 && at.1 >= known.to.1 => {
            (known.to, known.lines) = (at, known.lines + 1);
        }
        Some(_) => {}
        None if !is_full => advances.push(Advance { word, from: at, to: at, lines: 1 }),
        None => {}
    }
}

/// The lines of a listing; where some of them are aligned, they were read as a table with the time in its first cells.
fn lines(block: &Block) -> Vec<(u64, String)> {
    match block {
        Block::Listing(lines) => lines.iter().map(|line| (line.number, line.text.clone())).collect(),
        Block::Table(table) => {
            let header = (table.header_line, table.header.join("  "));
            let rows = table.rows.iter().take(MOST).filter_map(|row| {
                let texts: Vec<&str> = row.iter().map(|cell| cell.text.as_str()).collect();
                Some((row.first()?.line, texts.join("  ")))
            });
            let lines: Vec<(u64, String)> = std::iter::once(header).chain(rows).collect();
            mostly_stamped(lines)
        }
        // A log that nothing marks as one.
        Block::Paragraph(text) if text.lines() > 1 => {
            let lines: Vec<(u64, String)> =
                text.source_lines().take(MOST).map(|(number, line)| (number, line.to_owned())).collect();
            mostly_stamped(lines)
        }
        _ => Vec::new(),
    }
}

/// Lines of which most have a timestamp.
fn mostly_stamped(lines: Vec<(u64, String)>) -> Vec<(u64, String)> {
    let stamped = lines.iter().filter(|(_, text)| stamp(text).is_some()).count();
    if 2 * stamped > lines.len() { lines } else { Vec::new() }
}

/// A duration as people write it.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.round();
    format!("{} h {} min {} s", (whole / 3600.0).floor(), ((whole % 3600.0) / 60.0).floor(), whole % 60.0)
}

/// The integers of a line with the words of their keys: `'train_input.batch_size': 192`, `epoch 3/25`.
fn keys(text: &str) -> Vec<(Vec<String>, f64)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices([':', '=']) {
        let head = text[..at].trim_end().trim_end_matches(['\'', '"', ')', '(']);
        let from =
            head.rfind(|one: char| !(one.is_alphanumeric() || "_.-".contains(one))).map_or(0, |at| at + 1);
        let key = head.get(from..).unwrap_or_default();
        let key = key.rsplit('.').next().unwrap_or_default().trim_start_matches('-');
        let tail = text[at + 1..].trim_start();
        let digits: String = tail.chars().take_while(char::is_ascii_digit).collect();
        let ends = tail
            .get(digits.len()..)
            .is_none_or(|rest| !rest.starts_with(|one: char| one.is_alphanumeric() || ".:".contains(one)));
        if let (Ok(value), true) = (digits.parse::<f64>(), ends) {
            found.push((words(&key.replace(['_', '-'], " ")), value));
        }
    }
    let pieces: Vec<&str> = text.split_whitespace().collect();
    for pair in pieces.windows(2) {
        if let Some((one, all)) = pair[1].split_once('/')
            && let (Ok(_), Ok(total)) = (one.parse::<u32>(), all.parse::<f64>())
        {
            found.push((words(pair[0]), total));
        }
    }
    found.retain(|(key, _)| !key.is_empty());
    found
}

/// The time of a line in seconds: `2024-11-05 09:30:14`, `09:30:14`; at its beginning also `09:30`.
fn stamp(text: &str) -> Option<f64> {
    let head: String = text.trim_start().chars().take(40).collect();
    let at = head.find(':')?;
    let start = at.checked_sub(2)?;
    let end =
        head[at..].find(|one: char| !(one.is_ascii_digit() || one == ':')).map_or(head.len(), |end| at + end);
    let clock = head.get(start..end.min(start + 8))?;
    if clock.split(':').any(|part| part.len() != 2) || clock.len() < 8 && start > 0 {
        return None;
    }
    let parts: Vec<f64> = clock.split(':').map(|part| part.parse::<f64>().ok()).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match parts.as_slice() {
        [hours, minutes] => (*hours, *minutes, 0.0),
        [hours, minutes, seconds] => (*hours, *minutes, *seconds),
        _ => return None,
    };
    let date = head
        .get(..start)?
        .split(|one: char| !(one.is_ascii_digit() || one == '-'))
        .rfind(|one| one.len() == 10);
    let day = date.and_then(|date| {
        let parts: Vec<f64> = date.split('-').map(|part| part.parse::<f64>().ok()).collect::<Option<_>>()?;
        let [year, month, day] = parts.as_slice() else { return None };
        // Months of 31 days keep the order; spans over a month's end are rare in a write-up.
        Some(year * 372.0 + month * 31.0 + day)
    });
    Some(day.unwrap_or(0.0) * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
}
