//! Which metric a comparison is about, by the words of its clause and by its unit.

use super::sentence::Sentence;
use crate::grid::Column;
use crate::quantity::Quantity;
use crate::unit::Unit;

/// Kinds of metrics that words name and units show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Time or rate: `faster`.
    Speed,
    Time,
    Rate,
    Memory,
    Money,
    Energy,
}

const WORDS: [(Kind, &[&str]); 6] = [
    (
        Kind::Speed,
        &[
            "faster",
            "slower",
            "quicker",
            "fast",
            "slow",
            "speed",
            "speedup",
            "speed-up",
            "performance",
            "sooner",
            "earlier",
        ],
    ),
    (Kind::Time, &["longer", "shorter", "time", "latency", "duration", "long", "short", "epoch"]),
    (Kind::Rate, &["throughput", "rate", "bandwidth"]),
    (Kind::Memory, &["memory", "file", "size", "disk", "ram", "vram", "gigabytes"]),
    (Kind::Money, &["cheaper", "price", "cost", "costs", "expensive", "bill", "pay", "euro", "dollar"]),
    (Kind::Energy, &["energy", "power", "joule", "watt", "electricity"]),
];

/// What a claim is about.
#[derive(Debug, Clone)]
pub struct Metric {
    kinds: Vec<Kind>,
    /// Only another clause of the sentence says so.
    pub is_of_sentence: bool,
    /// The claim may be about a setting: `eight times the GPUs`.
    pub is_about_settings: bool,
    /// The claim may be about something per device, per token or per euro.
    pub is_per: bool,
    /// The claim is about one device, whatever it is called: `a single IPU`.
    pub is_for_one: bool,
}

impl Metric {
    /// The metric of a claim: words of its clause first, then words of its sentence.
    pub fn of(sentence: &Sentence, claim: &Quantity) -> Metric {
        let after = sentence.words_after(claim.end);
        let before = sentence.words_before(claim.start);
        let clause: Vec<&str> = before.iter().chain(&after).map(String::as_str).collect();
        let own = sentence.clause_at(claim.start).text.to_lowercase();
        let own: Vec<&str> = own.split(|one: char| !(one.is_alphanumeric() || one == '-')).collect();
        let phrase = phrase(&after);
        let kinds = match phrase_kinds(&phrase) {
            Some(kinds) => kinds,
            None => Some(kinds(&own)).filter(|kinds| !kinds.is_empty()).unwrap_or_else(|| kinds(&clause)),
        };
        let counted = kinds.is_empty() && !phrase.is_empty();
        let whole: Vec<String> = sentence.text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let whole: Vec<&str> =
            whole.iter().map(|word| word.trim_matches(|one: char| !one.is_alphanumeric())).collect();
        let nouns = [
            "gpus",
            "gpu",
            "nodes",
            "hardware",
            "devices",
            "cards",
            "threads",
            "workers",
            "cores",
            "clients",
            "resources",
            "many",
            "parameters",
            "chips",
            "machines",
            "ranks",
            "layers",
            "batch",
            "data",
        ];
        let is_about_settings = after.iter().take(4).any(|word| nouns.contains(&word.as_str()));
        let shares = [
            "efficiency",
            "each",
            "single",
            "cost",
            "costs",
            "price",
            "cheaper",
            "expensive",
            "energy",
            "weak",
            "strong",
            "pipeline",
            "node-hours",
            "gpu-hours",
            "hours",
        ];
        let is_for_one = ["single", "each", "device", "per-device"].iter().any(|word| whole.contains(word));
        let is_per = sentence.text.contains(" per ")
            || sentence.text.contains('/')
            || whole.iter().any(|word| shares.contains(word));
        Metric {
            is_of_sentence: kinds.is_empty(),
            kinds: if kinds.is_empty() && !counted { self::kinds(&whole) } else { kinds },
            is_about_settings,
            is_per,
            is_for_one,
        }
    }

    /// Whether the words say what the claim is about.
    pub fn is_named(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Whether a column may hold this metric; one without a unit may hold anything.
    pub fn fits(&self, column: &Column) -> bool {
        self.fits_unit(&column.unit)
    }

    /// Whether a number of this unit may be a value of this metric.
    pub fn fits_unit(&self, unit: &Unit) -> bool {
        if self.kinds.is_empty() || unit.is_none() {
            return true;
        }
        self.kinds.iter().any(|kind| match kind {
            Kind::Speed => unit.has("s") && !unit.has("money") && !unit.has("joule"),
            Kind::Time => unit.has("s") && !unit.is_rate(),
            Kind::Rate => unit.is_rate(),
            Kind::Memory => unit.has("byte") && !unit.has("s"),
            Kind::Money => unit.has("money"),
            Kind::Energy => unit.has("joule"),
        })
    }
}

/// The words right behind a comparing one, which say what is more or less: `more images per second for …`.
fn phrase(after: &[String]) -> Vec<&str> {
    let mut words = after.iter().map(String::as_str);
    if !words.next().is_some_and(|word| ["more", "fewer", "less", "higher", "lower"].contains(&word)) {
        return Vec::new();
    }
    let ends = |word: &&str| {
        ["than", "for", "at", "with", "and", "of", "in", "on", "to", "from", "while", "but", "on"]
            .contains(word)
    };
    words.take_while(|word| !ends(word)).take(4).collect()
}

/// What such words name; nothing certain where they count things.
fn phrase_kinds(phrase: &[&str]) -> Option<Vec<Kind>> {
    if phrase.is_empty() {
        return None;
    }
    let named = kinds(phrase);
    if !named.is_empty() {
        return Some(named);
    }
    let per_time = phrase.windows(2).any(|pair| pair == ["per", "second"] || pair == ["per", "minute"]);
    Some(if per_time { vec![Kind::Rate] } else { Vec::new() })
}

fn kinds(words: &[&str]) -> Vec<Kind> {
    let named = WORDS.iter().filter(|(_, names)| words.iter().any(|word| names.contains(word)));
    named.map(|(kind, _)| *kind).collect()
}
