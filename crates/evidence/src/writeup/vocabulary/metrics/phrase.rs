//! A phrase that may name a metric, taken apart: its unit, its statistic, and the words that are left.

use std::cell::RefCell;
use std::collections::HashSet;

use assay_model::{Statistic, Unit};

use crate::writeup::units::unit_of;
use crate::writeup::vocabulary::words::words;

/// A phrase, taken apart.
#[derive(Debug, Default)]
pub(super) struct Phrase {
    /// The words in lower case and in the singular, without unit and statistic.
    pub(super) words: Vec<String>,
    /// The unit that the phrase shows, and its factor.
    pub(super) unit: Option<(Unit, f64)>,
    /// The statistic that the phrase names.
    pub(super) statistic: Option<Statistic>,
    /// Whether a tool computed the numbers instead of measuring.
    pub(super) prediction: bool,
    /// Whether the numbers are those of one device of several.
    pub(super) per_device: bool,
    /// The words that were asked for, where somebody wants to know.
    asked: Option<RefCell<HashSet<&'static str>>>,
}

impl Phrase {
    /// Takes a phrase apart.
    pub(super) fn read(text: &str) -> Phrase {
        let mut phrase = Phrase::default();
        let rest = phrase.take_brackets(text);
        let rest = phrase.take_rate(&rest);
        phrase.words = words(&rest);
        phrase.take_trailing_unit(&rest);
        phrase.take_prediction();
        phrase.take_statistic();
        phrase
    }

    /// A phrase without words that notes which words it is asked for.
    pub(super) fn asked() -> Phrase {
        Phrase { asked: Some(RefCell::default()), ..Phrase::default() }
    }

    /// The words that the phrase was asked for.
    pub(super) fn into_asked(self) -> HashSet<&'static str> {
        self.asked.map(RefCell::into_inner).unwrap_or_default()
    }

    /// Whether any of these words is there.
    pub(super) fn any(&self, wanted: &[&'static str]) -> bool {
        self.note(wanted);
        self.words.iter().any(|word| wanted.contains(&word.as_str()))
    }

    /// Whether all of these words are there.
    pub(super) fn all(&self, wanted: &[&'static str]) -> bool {
        // Without the first one they are not.
        self.note(wanted.get(..1).unwrap_or_default());
        wanted.iter().all(|wanted| self.words.iter().any(|word| word == wanted))
    }

    fn note(&self, wanted: &[&'static str]) {
        if let Some(asked) = &self.asked {
            asked.borrow_mut().extend(wanted);
        }
    }

    /// `(ms)` and `[samples/sec]` are units; brackets around other words stay words.
    fn take_brackets(&mut self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find(['(', '[']) {
            let (before, from) = rest.split_at(open);
            kept.push_str(before);
            let Some(close) = from.find([')', ']']) else {
                rest = from;
                break;
            };
            let inner = from.get(1..close).unwrap_or_default();
            match unit_of(inner) {
                Some(unit) => self.unit = self.unit.take().or(Some(unit)),
                // `(ms, mean)`: each part may be a unit.
                None => {
                    for part in inner.split([',', ';']) {
                        match unit_of(part) {
                            Some(unit) => self.unit = self.unit.take().or(Some(unit)),
                            None => {
                                kept.push(' ');
                                kept.push_str(part);
                            }
                        }
                    }
                }
            }
            kept.push(' ');
            rest = from.get(close + 1..).unwrap_or_default();
        }
        kept.push_str(rest);
        kept
    }

    /// `Training Samples per Second` shows its unit in words; the thing that is counted stays a word.
    fn take_rate(&mut self, text: &str) -> String {
        let spaced = text.replace(['_', '-'], " ");
        let lower = spaced.to_ascii_lowercase();
        for mark in [" per second", " per sec", " per s", "/second", "/sec", "/s"] {
            let Some(at) = lower.find(mark) else { continue };
            let after = lower.get(at + mark.len()..).unwrap_or_default();
            if after.chars().next().is_some_and(char::is_alphanumeric) {
                continue;
            }
            let before = lower.get(..at).unwrap_or_default();
            let written = spaced.get(..at).unwrap_or_default();
            let thing = written.split([' ', '/']).rfind(|part| !part.is_empty()).unwrap_or_default();
            // A key may be in small letters throughout: `gb_per_s`.
            let unit = unit_of(&format!("{thing}/s"))
                .filter(|(unit, _)| *unit != Unit::PerSecond("gbs".to_owned()))
                .or_else(|| unit_of(&format!("{}/s", thing.to_uppercase())));
            if let Some(unit) = unit {
                self.unit = self.unit.take().or(Some(unit));
                let share = after.trim_start_matches(['/', ' ']).trim_start_matches("per ");
                self.per_device =
                    ["gpu", "device", "chip", "ipu", "core", "node"].iter().any(|one| share.starts_with(one));
                return format!("{before} {after}");
            }
        }
        self.take_time_per_thing(&spaced).unwrap_or_else(|| text.to_owned())
    }

    /// `ms_per_step` and `seconds per epoch` show a unit and what the time is of.
    fn take_time_per_thing(&mut self, spaced: &str) -> Option<String> {
        let (before, thing) = spaced.split_once(" per ")?;
        let (head, span) = before.rsplit_once(' ').unwrap_or(("", before));
        let unit = unit_of(span).filter(|(unit, _)| *unit == Unit::Seconds)?;
        let is_word = !thing.is_empty() && thing.chars().all(char::is_alphabetic);
        is_word.then(|| {
            self.unit = self.unit.take().or(Some(unit));
            format!("{head} time per {thing}")
        })
    }

    /// `mean_ttft_ms`, `Latency, ms` and `time in seconds` show their unit at the end.
    fn take_trailing_unit(&mut self, text: &str) {
        if self.unit.is_some() {
            return;
        }
        if self.words.len() == 1 {
            // A phrase that is nothing but a unit, such as `IPS` or `Seconds`, stays a word too; `Min` is a statistic.
            let is_told = |unit: &Unit| {
                matches!(unit, Unit::PerSecond(_)) || *unit == Unit::Seconds && text.trim().len() > 3
            };
            self.unit = unit_of(text).filter(|(unit, _)| is_told(unit));
            return;
        }
        let last = text.rsplit(|character: char| !is_part(character)).find(|part| !part.is_empty());
        let Some(unit) = last.and_then(unit_of) else { return };
        match unit.0 {
            Unit::Seconds | Unit::Bytes => {
                self.words.pop();
                if self.words.last().is_some_and(|word| word == "in") {
                    self.words.pop();
                }
                // `Latency Min` names a statistic, not minutes.
                if last.is_some_and(|last| last.eq_ignore_ascii_case("min")) {
                    self.words.push("min".to_owned());
                    return;
                }
                self.unit = Some(unit);
            }
            Unit::Fraction => {
                if last.is_none_or(|last| last != "%") {
                    self.words.pop();
                }
                self.unit = Some(unit);
            }
            Unit::PerSecond(_) => self.unit = Some(unit),
            _ => {}
        }
    }

    fn take_prediction(&mut self) {
        const WORDS: [&str; 11] = [
            "estimated",
            "estimate",
            "estimation",
            "predicted",
            "prediction",
            "projected",
            "theoretical",
            "simulated",
            "modelled",
            "modeled",
            "onchip",
        ];
        let on_chip =
            self.words.windows(2).any(|pair| matches!(pair, [on, chip] if on == "on" && chip == "chip"));
        self.prediction = on_chip || self.any(&WORDS);
    }

    fn take_statistic(&mut self) {
        let mut found = None;
        let mut mean = false;
        self.words.retain(|word| {
            let statistic = match word.as_str() {
                "mean" | "avg" | "average" | "averaged" => {
                    mean = true;
                    Statistic::Mean
                }
                "median" => Statistic::Median,
                "min" | "minimum" | "fastest" => Statistic::Minimum,
                "max" | "maximum" | "slowest" => Statistic::Maximum,
                "std" | "stdev" | "stddev" | "sd" | "deviation" => Statistic::Deviation,
                other => match percentile(other) {
                    Some(percent) => Statistic::Percentile(percent),
                    None => return true,
                },
            };
            found = found.or(Some(statistic));
            false
        });
        // `mean ± std` states a mean.
        self.statistic = if mean { Some(Statistic::Mean) } else { found };
        self.words.retain(|word| !(self.statistic == Some(Statistic::Deviation) && word == "standard"));
    }
}

/// Whether a word can show a unit as the last one of a phrase, or with `per` or a slash as a rate.
pub(super) fn may_tell_unit(word: &str) -> bool {
    word.contains('/')
        || word.split(|character: char| !is_part(character)).any(|part| unit_of(part).is_some())
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || "%µμ/'’".contains(character)
}

fn percentile(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('p').or_else(|| word.strip_suffix("th"))?;
    digits.parse::<u8>().ok().filter(|percent| (1..=99).contains(percent)).map(f64::from)
}
