//! Statements that compare something of which the same part of the document has no number.

use assay_model::{Document, Statement, Unit};

use super::facts::{self, Facts};
use super::{Class, Finding, Standing};

/// A kind of thing that people compare.
struct Kind {
    /// What it is, for a sentence.
    name: &'static str,
    /// Words that name it; all of them begin a word.
    words: &'static [&'static str],
    /// Words that compare it. Empty where the words above do that already.
    compares: &'static [&'static str],
    /// Metrics that measure it, by how their names begin.
    metrics: &'static [&'static str],
    /// What would settle it.
    settle: &'static str,
}

const COMPARES: &[&str] = &[
    "similar",
    "same",
    "equal",
    "identical",
    "comparable",
    "better",
    "worse",
    "higher",
    "lower",
    "improv",
    "degrad",
    "best",
    "worst",
    "superior",
    "inferior",
    "more",
    "less",
    "reduc",
    "increas",
    "decreas",
    "larger",
    "smaller",
];

const KINDS: [Kind; 5] = [
    Kind {
        name: "quality",
        words: &["quality", "accuracy", "correctness", "accurate"],
        compares: COMPARES,
        metrics: &["accuracy", "quality", "perplexity", "loss"],
        settle: "Score the outputs (accuracy, exact match, a held-out loss) and give the scores.",
    },
    Kind {
        name: "loss",
        words: &["loss", "perplexity"],
        compares: COMPARES,
        metrics: &["loss", "perplexity"],
        settle: "Give the losses at the same step or the same number of samples.",
    },
    Kind {
        name: "memory",
        words: &["memory", "vram"],
        compares: COMPARES,
        metrics: &["memory"],
        settle: "Give the peak memory of each run.",
    },
    Kind {
        name: "energy",
        words: &["energy", "power"],
        compares: COMPARES,
        metrics: &["energy", "power"],
        settle: "Give measured watts or joules of each run.",
    },
    Kind {
        name: "time",
        words: &["longer", "faster", "slower", "quicker", "shorter", "slow", "speedup"],
        compares: &[],
        metrics: &[
            "duration",
            "time",
            "timing",
            "latency",
            "ttft",
            "tpot",
            "itl",
            "e2e",
            "step_s",
            "samples_per_s",
            "tokens_per_s",
            "output_throughput",
            "total_token_throughput",
            "prompt_throughput",
            "steps_per_s",
            "iterations_per_s",
            "request_throughput",
            "inferences_per_s",
            "speedup",
        ],
        settle: "Give the times of both.",
    },
];

/// Headings under which a document speaks of all its parts.
const OVERALL: [&str; 12] = [
    "conclu", "summar", "discuss", "thought", "analys", "takeaway", "abstract", "introduc", "overview",
    "lesson", "note", "reflect",
];

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts.documents.iter().flat_map(in_document).collect()
}

fn in_document(document: &Document) -> Vec<Finding> {
    let sections = Sections::new(document);
    let mut findings = Vec::new();
    for kind in &KINDS {
        let empty: Vec<&Statement> = document
            .statements
            .iter()
            .filter(|statement| kind.is_compared(&statement.text) && !sections.measures(statement, kind))
            .collect();
        let Some(first) = empty.first() else { continue };
        let more = match empty.len() {
            1 => String::new(),
            count => format!(" (and {} more statements)", count - 1),
        };
        findings.push(Finding {
            class: Class::Unmeasured,
            standing: Standing::Open,
            summary: format!(
                "`{}` compares {} of which there is no number here{more}.",
                short(&first.text),
                kind.name
            ),
            arithmetic: Vec::new(),
            sources: empty.iter().map(|statement| facts::place(statement)).take(8).collect(),
            advice: kind.settle.to_owned(),
        });
    }
    findings
}

fn short(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(90) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text).trim_end()),
        None => text.to_owned(),
    }
}

impl Kind {
    fn is_compared(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(|character: char| !character.is_alphanumeric()).collect();
        let begins =
            |list: &[&str]| words.iter().any(|word| list.iter().any(|beginning| word.starts_with(beginning)));
        let whole = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let named = if self.compares.is_empty() { whole(self.words) } else { begins(self.words) };
        named && (self.compares.is_empty() || begins(self.compares)) && !is_wish(&words)
    }

    fn measures(&self, metric: &str) -> bool {
        self.metrics.iter().any(|beginning| metric.starts_with(beginning))
    }

    /// Whether a number in a sentence is of this kind.
    fn is_in(&self, statement: &Statement) -> bool {
        statement.quantities.iter().any(|quantity| {
            let by_unit = match &quantity.unit {
                Unit::Seconds | Unit::PerSecond(_) => self.name == "time",
                Unit::Other(unit) if unit == "times" => self.name == "time",
                Unit::Fraction => quantity.name.is_none() && (self.name == "quality" || self.name == "time"),
                Unit::Bytes => self.name == "memory",
                _ => false,
            };
            by_unit || quantity.name.as_deref().is_some_and(|name| self.measures(name))
        })
    }
}

/// Sentences about what could be or what is meant compare nothing that was seen.
fn is_wish(words: &[&str]) -> bool {
    words.iter().any(|word| {
        matches!(
            *word,
            "would" | "should" | "could" | "might" | "may" | "expect" | "expected" | "designed" | "if"
        )
    })
}

/// The parts of a document that speak of different things.
struct Sections<'a> {
    document: &'a Document,
    /// How many headings stand over everything.
    common: usize,
    /// The part that begins at each line of a statement or table.
    marks: Vec<(u64, Option<&'a str>)>,
}

impl<'a> Sections<'a> {
    fn new(document: &'a Document) -> Sections<'a> {
        let statements =
            document.statements.iter().map(|statement| (statement.span.first, &statement.headings));
        let tables = document.tables.iter().map(|table| (table.span.first, &table.headings));
        let all: Vec<(u64, &Vec<String>)> = statements.chain(tables).collect();
        let title = all.first().and_then(|(_, headings)| headings.first());
        let titled = title.is_some() && all.iter().all(|(_, headings)| headings.first() == title);
        let common = usize::from(titled);
        let mut marks: Vec<(u64, Option<&str>)> = all
            .into_iter()
            .map(|(line, headings)| (line, headings.get(common).map(String::as_str)))
            .collect();
        marks.sort_by_key(|(line, _)| *line);
        Sections { document, common, marks }
    }

    /// The part that a line stands in: that of the last statement or table up to it.
    fn at(&self, line: u64) -> Option<&'a str> {
        let before = self.marks.iter().take_while(|(mark, _)| *mark <= line).last();
        before.and_then(|(_, part)| *part)
    }

    /// Whether the part that a statement is about has a number of that kind: its own part, or the whole document for
    /// a statement that stands over all or under a heading such as `Conclusions`.
    fn measures(&self, statement: &Statement, kind: &Kind) -> bool {
        let part = statement.headings.get(self.common).map(String::as_str);
        let overall = statement.headings.iter().any(|heading| {
            let lower = heading.to_lowercase();
            OVERALL.iter().any(|word| lower.contains(word))
        });
        let nested = statement.headings.len() > self.common + 1;
        let whole = part.is_none() || (overall && !nested);
        let here = |line: u64, headings: Option<&Vec<String>>| {
            whole
                || match headings {
                    Some(headings) => headings.get(self.common).map(String::as_str) == part,
                    None => self.at(line) == part,
                }
        };
        let document = self.document;
        let by_run = document.runs.iter().any(|run| {
            let measured = run.observations.iter().any(|observation| kind.measures(&observation.metric))
                || run.series.iter().any(|series| kind.measures(&series.metric))
                || (kind.name == "time" && run.phases.iter().any(|phase| phase.seconds.is_some()));
            measured && here(run.span.first, None)
        });
        let by_table = document.tables.iter().any(|table| {
            let roles =
                table.columns.iter().map(|column| &column.role).chain(table.rows.iter().map(|row| &row.role));
            let mut metrics = roles.filter_map(|role| match role {
                assay_model::Role::Metric(name) => Some(name.as_str()),
                _ => None,
            });
            here(table.span.first, Some(&table.headings)) && metrics.any(|metric| kind.measures(metric))
        });
        let by_statement = document
            .statements
            .iter()
            .any(|other| here(other.span.first, Some(&other.headings)) && kind.is_in(other));
        by_run || by_table || by_statement
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{document, found};
    use super::*;

    #[test]
    fn what_nobody_measured_is_open() {
        let document = document("a.md", |build| {
            build.heading("Cerebras").table("cerebras", &["batch_size", "loss.final"], &[&[256.0, 5.88]]);
            build.heading("Endpoints").table("nvidia", &["label", "e2e"], &[&[1.0, 1.6]]);
            build.says("Both gave answers of similar quality, one of them faster.", &[]);
            build.heading("SambaNova");
            build.says("With 8 tasks the job takes slightly longer.", &[(8.0, "", Some("tasks"))]);
        });
        let findings = found(check, &[document]);
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].summary.contains("quality"));
        assert!(findings[1].summary.contains("time") && findings[1].summary.contains("longer"));
    }

    #[test]
    fn conclusions_may_rest_on_the_whole_document() {
        let document = document("a.md", |build| {
            build.heading("Results").table("nvidia", &["batch_size", "e2e"], &[&[1.0, 1.6]]);
            build.heading("Conclusions");
            build.says("The small batch is faster.", &[]);
        });
        assert!(found(check, &[document]).is_empty());
    }
}
