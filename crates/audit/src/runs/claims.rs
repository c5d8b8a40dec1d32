//! What the sentences of a write-up claim: that one thing beats another, that things are alike, or that nothing can
//! be said.

use assay_model::{Direction, Document, Statement, Table, names};

/// What a sentence does with numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// It says that one thing is better, faster or higher than another.
    Ranking,
    /// It says that things are alike.
    Alike,
    /// It says that more would be needed to tell.
    Hedge,
}

const HEDGES: [&str; 29] = [
    "single run",
    "one run of each",
    "from one run",
    "spread is not known",
    "can be called",
    "not compared",
    "cannot be ranked",
    "more repeat",
    "more runs are needed",
    "more runs would",
    "repeats are needed",
    "repeat the experiment",
    "statistically significant",
    "statistical significance",
    "not significant",
    "no significant",
    "insignificant",
    "randomness",
    "random variation",
    "run-to-run",
    "within noise",
    "within the noise",
    "inside the noise",
    "just noise",
    "may be noise",
    "cannot be told",
    "no clear trend",
    "isn't a clear trend",
    "inconclusive",
];

const ALIKE: [&str; 20] = [
    "consistent",
    "no difference",
    "no measurable difference",
    "the same",
    "similar",
    "comparable",
    "equal",
    "unchanged",
    "constant",
    "does not change",
    "do not change",
    "does not matter",
    "makes no difference",
    "make no difference",
    "cannot be told apart",
    "indistinguishable",
    "does not depend",
    "no effect",
    "on par",
    "within the spread",
];

const RANKING: [&str; 50] = [
    "best",
    "better",
    "worst",
    "worse",
    "highest",
    "lowest",
    "higher",
    "lower",
    "faster",
    "fastest",
    "slower",
    "slowest",
    "outperform",
    "improve",
    "improves",
    "improved",
    "improvement",
    "increase",
    "increases",
    "increased",
    "decrease",
    "decreases",
    "decreased",
    "reduce",
    "reduces",
    "reduced",
    "beats",
    "beat",
    "wins",
    "winner",
    "optimal",
    "optimum",
    "superior",
    "gain",
    "gains",
    "speedup",
    "speed-up",
    "outperforms",
    "outperformed",
    "more accurate",
    "most accurate",
    "speeds up",
    "speed up",
    "sped up",
    "less time",
    "more time",
    "twice as fast",
    "degrades",
    "hurts",
    "helps",
];

/// Words that explain how a table is to be read: the direction of a metric, a column of ratios.
const LEGENDS: [&str; 6] =
    ["higher is better", "lower is better", "larger is better", "smaller is better", "vs best", "vs. best"];

/// A sentence in lower case without such words; none where it says which rows may be the best, and so picks no one.
fn without_legends(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let names_several = ["may be the best", "the best is one of"].iter().any(|words| text.contains(words));
    (!names_several).then(|| LEGENDS.iter().fold(text, |text, words| text.replace(words, "")))
}

/// What a sentence does, where it does any of it. A hedge counts before all, and likeness before ranking.
pub(super) fn tone(text: &str) -> Option<Tone> {
    // `higher is better` says which direction is good; it ranks nothing.
    let text = without_legends(text)?;
    if HEDGES.iter().any(|words| has_words(&text, words)) {
        return Some(Tone::Hedge);
    }
    let ranks =
        |words: &str| has_words(&text, words) && !is_denied(&text, words) && !is_defined(&text, words);
    if RANKING.iter().any(|words| ranks(words)) {
        return Some(Tone::Ranking);
    }
    ALIKE.iter().any(|words| has_words(&text, words)).then_some(Tone::Alike)
}

/// Words that pick one thing out of many.
const PICKING: [&str; 12] = [
    "best",
    "highest",
    "lowest",
    "fastest",
    "slowest",
    "worst",
    "optimal",
    "optimum",
    "winner",
    "wins",
    "most accurate",
    "superior",
];

/// Whether a sentence picks one thing out of many.
pub(super) fn picks(text: &str) -> bool {
    without_legends(text).is_some_and(|text| PICKING.iter().any(|words| has_words(&text, words)))
}

/// An end of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// What is best.
    Best,
    /// What is worst.
    Worst,
}

/// Which end of a ranking a sentence picks. One that picks both is judged by the best.
pub(super) fn picked_end(text: &str, better: Direction) -> End {
    let text = text.to_lowercase();
    let (high, low) = match better {
        Direction::Higher => ("highest", "lowest"),
        Direction::Lower => ("lowest", "highest"),
    };
    let has = |words: &[&str]| words.iter().any(|words| has_words(&text, words));
    let best =
        has(&["best", "fastest", "optimal", "optimum", "winner", "wins", "most accurate", "superior", high]);
    match has(&["worst", "slowest", low]) && !best {
        true => End::Worst,
        false => End::Best,
    }
}

/// Whether words stand in a text as words, up to an ending.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|part| part.chars().next_back());
        let behind = text.get(at + words.len()..).and_then(|part| part.chars().next());
        let ends = words.len() > 7 || behind.is_none_or(|c| !c.is_alphanumeric());
        before.is_none_or(|c| !c.is_alphanumeric()) && ends
    })
}

/// Whether the words are denied: `is not faster`, `no better`.
fn is_denied(text: &str, words: &str) -> bool {
    text.match_indices(words).all(|(at, _)| {
        let before = text.get(..at).unwrap_or("").trim_end();
        ["not", "no", "n't", "neither", "nor", "never"].iter().any(|denial| before.ends_with(denial))
    })
}

/// Nouns of ranking that head columns.
const COLUMNS: [&str; 5] = ["speedup", "speed-up", "speed up", "gain", "improvement"];

/// Whether a sentence does nothing with the words but say what a column of that name holds: `Speed-up is the rate over
/// that of the first row.`
fn is_defined(text: &str, words: &str) -> bool {
    let sentence = text.trim_start();
    let begin = sentence.strip_prefix("the ").unwrap_or(sentence);
    let Some(told) = begin.strip_prefix(words).filter(|_| COLUMNS.contains(&words)) else { return false };
    let tells = |words: &[&str]| words.iter().any(|words| has_words(told, words));
    !told.contains(words)
        && (tells(&["is defined", "is computed", "is calculated", "means", "stands for"])
            || tells(&["is the", "is"]) && tells(&["over", "ratio", "divided by", "relative to"]))
}

/// Words that name a kind of metric, and the beginnings of the names of those metrics.
const SUBJECTS: [(&[&str], &[&str]); 5] = [
    (&["accuracy", "accuracies", "accurate"], &["accuracy"]),
    (&["loss", "losses", "perplexity"], &["loss", "perplexity"]),
    (&["latency", "latencies", "response time"], &["latency", "ttft", "tpot", "itl", "e2e"]),
    (
        &["time", "seconds", "duration", "faster", "slower", "fastest", "slowest", "longer", "shorter"],
        &["duration", "time", "timing", "step_s", "latency", "ttft", "tpot", "itl", "e2e"],
    ),
    (
        &["rate", "throughput", "speed", "samples/s", "tokens/s", "faster", "slower", "fastest", "slowest"],
        &[
            "samples_per_s",
            "tokens_per_s",
            "output_throughput",
            "total_token_throughput",
            "prompt_throughput",
            "steps_per_s",
            "iterations_per_s",
            "inferences_per_s",
            "request_throughput",
            "bytes_per_s",
        ],
    ),
];

/// Whether a sentence may be about a metric: it names its kind, or no kind at all.
pub(super) fn may_be_about(text: &str, metric: &str) -> bool {
    names_kind(text, metric) || {
        let text = without_settings(text);
        !SUBJECTS.iter().any(|(words, _)| words.iter().any(|word| has_words(&text, word)))
    }
}

/// A sentence in lower case without settings that are called by the word for a metric.
fn without_settings(text: &str) -> String {
    text.to_lowercase().replace("learning rate", "setting").replace("learning_rate", "setting")
}

/// Whether a sentence names the kind of a metric.
pub(super) fn names_kind(text: &str, metric: &str) -> bool {
    let text = without_settings(text);
    SUBJECTS.iter().any(|(words, stems)| {
        stems.iter().any(|stem| metric.starts_with(stem)) && words.iter().any(|word| has_words(&text, word))
    })
}

/// The sentences that belong to a table: in the same section, in one around it, or behind it in a section of thoughts.
pub(super) fn about_table<'a>(
    document: &'a Document,
    table: &'a Table,
) -> impl Iterator<Item = &'a Statement> {
    let next = document
        .tables
        .iter()
        .map(|other| other.span.first)
        .filter(|first| *first > table.span.last)
        .min()
        .unwrap_or(u64::MAX);
    document.statements.iter().filter(move |statement| {
        let behind = statement.span.first > table.span.last && statement.span.first < next;
        let around = table.headings.starts_with(&statement.headings);
        let alone = document.tables.len() == 1;
        let same =
            statement.headings == table.headings && (behind || statement.span.first < table.span.first);
        same || (alone && around)
            || (behind && (alone || around || shares_section(&statement.headings, &table.headings)))
    })
}

/// Whether a sentence can be about runs on a platform: its words or headings name it, or all runs of the document
/// are on that platform.
pub(super) fn concerns(document: &Document, statement: &Statement, platform: Option<&str>) -> bool {
    let words = format!("{} {}", statement.headings.join(" "), statement.text).to_lowercase();
    platform.is_some_and(|platform| words.contains(platform))
        || document.runs.iter().all(|run| run.platform.as_deref() == platform)
}

/// Whether two places stand under the same outer headings. The title of the whole document, which stands over
/// everything, is not enough unless there is nothing else.
pub(super) fn shares_section(one: &[String], other: &[String]) -> bool {
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    common + 1 >= one.len().max(other.len()) && (common > 0 || one.len().max(other.len()) <= 1)
}

/// Whether a sentence doubts differences.
pub(super) fn is_hedge(text: &str) -> bool {
    tone(text) == Some(Tone::Hedge)
}

/// Whether a metric is one that people rank by.
pub(super) fn is_ranked(metric: &str) -> bool {
    better(metric).is_some()
}

/// Which direction of a metric is better. More of anything in a second is, whatever it is called.
pub(super) fn better(metric: &str) -> Option<Direction> {
    match names::canonical(metric) {
        Some(metric) => metric.better,
        None => (metric.ends_with("_per_s") || metric.ends_with("throughput")).then_some(Direction::Higher),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_told_apart() {
        assert_eq!(tone("Batch size 32 gave the best result."), Some(Tone::Ranking));
        assert_eq!(tone("Fewer epochs yielded the highest accuracy."), Some(Tone::Ranking));
        assert_eq!(tone("More repeats are needed before one can be called best."), Some(Tone::Hedge));
        assert_eq!(tone("Each is from a single run, so none can be called faster."), Some(Tone::Hedge));
        assert_eq!(tone("The rate stays consistent."), Some(Tone::Alike));
        assert_eq!(tone("Four threads are not faster."), None);
        assert_eq!(tone("Speed-up is the rate over that of one thread."), None);
        assert_eq!(tone("The speedup is the highest with four threads."), Some(Tone::Ranking));
        assert_eq!(tone("The best is the second one."), Some(Tone::Ranking));
        assert_eq!(tone("Speedup of 3 is what a larger batch gives."), Some(Tone::Ranking));
        assert_eq!(tone("We ran it on Tuesday."), None);
        assert_eq!(tone("The asbestos was removed."), None);
    }

    #[test]
    fn a_sentence_picks_one_end() {
        assert_eq!(picked_end("Size 16 is the slowest by far.", Direction::Higher), End::Worst);
        assert_eq!(picked_end("The lowest time has 16.", Direction::Lower), End::Best);
        assert_eq!(picked_end("The lowest rate has 16.", Direction::Higher), End::Worst);
        assert_eq!(picked_end("64 is the best and 16 the worst.", Direction::Higher), End::Best);
    }

    #[test]
    fn sentences_are_about_the_metric_they_name() {
        assert!(may_be_about("The highest accuracy came last", names::ACCURACY));
        assert!(!may_be_about("The highest accuracy came last", names::DURATION_LOOP));
        assert!(may_be_about("The first one is best", names::DURATION_LOOP));
        assert!(may_be_about("It is faster", names::SAMPLES_PER_S_LOOP));
        assert!(may_be_about("A learning rate of 0.01 is the best choice", names::ACCURACY));
        assert!(!may_be_about("A rate of 10 is the best", names::ACCURACY));
    }
}
