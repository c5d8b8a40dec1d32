//! Tokens that cannot all be output: more tokens in a response than it has characters, or a rate of output tokens
//! that counts the prompt.

use std::collections::HashSet;

use assay_model::{Document, Source, Statement, Table, Unit, names};

use super::facts::{self, Facts};
use super::grid::{self, Entry, Field};
use super::{Class, Finding, Level, wording};

/// Characters that a token stands for at least, on average over a text in a Latin script; usual are about four.
const CHARACTERS_PER_TOKEN: f64 = 2.0;
/// How far a rate may be from its count over its seconds.
const TOLERANCE: f64 = 0.01;

const SETTLE: &str = "Keep usage.prompt_tokens, usage.completion_tokens and the reasoning tokens of every request; \
                      report output tokens per second from completion_tokens alone.";

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        let answers = Answers::new(document);
        for table in &document.tables {
            findings.extend(longer_than_the_answers(document, table, &answers));
            findings.extend(prompt_inside(document, table));
        }
    }
    findings
}

/// What a document says about the length of its answers, looked through once for all of its tables.
struct Answers<'a> {
    /// Sentences that give the length of an answer in characters.
    statements: Vec<&'a Statement>,
    /// The headings over tables that count the tokens of answers.
    counted: HashSet<&'a [String]>,
}

/// Sentences that are held against every table.
const MOST_STATEMENTS: usize = 200;

fn is_characters(unit: &Unit) -> bool {
    matches!(unit, Unit::Other(name) | Unit::Count(name)
        if matches!(name.as_str(), "characters" | "character" | "chars" | "char" | "letters"))
}

impl<'a> Answers<'a> {
    fn new(document: &'a Document) -> Answers<'a> {
        let gives_length = |statement: &&Statement| {
            let lower = statement.text.to_lowercase();
            statement.quantities.iter().any(|quantity| is_characters(&quantity.unit))
                && ["answer", "response", "output", "repl", "completion", "generat"]
                    .iter()
                    .any(|word| lower.contains(word))
        };
        let statements: Vec<&Statement> =
            document.statements.iter().filter(gives_length).take(MOST_STATEMENTS).collect();
        let tables = document.tables.iter().filter(|table| !statements.is_empty() && counts_answers(table));
        let counted = tables.map(|table| table.headings.as_slice()).collect();
        Answers { statements, counted }
    }

    /// The longest answer in characters that the text near a table gives, and where.
    fn longest(&self, table: &Table) -> Option<(f64, String, Source)> {
        let mut best: Option<(usize, f64, String, Source)> = None;
        for statement in &self.statements {
            let depth = grid::shared_headings(&statement.headings, &table.headings);
            // What is said beside another table with answers is about those.
            let of_another = self.counted.contains(statement.headings.as_slice());
            if statement.headings != table.headings && of_another {
                continue;
            }
            for quantity in statement.quantities.iter().filter(|quantity| is_characters(&quantity.unit)) {
                let longest = quantity.to.unwrap_or(quantity.value).max(quantity.value);
                let nearer =
                    best.as_ref().is_none_or(|(known, size, _, _)| (depth, longest) > (*known, *size));
                if nearer && longest > 0.0 {
                    best = Some((depth, longest, quantity.text.trim().to_owned(), facts::place(statement)));
                }
            }
        }
        best.map(|(_, longest, text, source)| (longest, text, source))
    }
}

fn is_answer_tokens(field: &&Field<'_>) -> bool {
    let name = field.metric();
    (name == Some(names::TOKENS_RESPONSE) || name == Some(names::TOKENS_OUTPUT)) && field.cell.value.is_some()
}

fn counts_answers(table: &Table) -> bool {
    grid::entries(table).iter().any(|entry| entry.fields.iter().any(|field| is_answer_tokens(&field)))
}

fn longer_than_the_answers(document: &Document, table: &Table, answers: &Answers<'_>) -> Vec<Finding> {
    let Some((longest, characters, source)) = answers.longest(table) else { return Vec::new() };
    let entries = grid::entries(table);
    let counted: Vec<(&Entry<'_>, &Field<'_>, f64)> = entries
        .iter()
        .filter_map(|entry| {
            let field = entry.fields.iter().find(is_answer_tokens)?;
            Some((entry, field, field.range()?.low))
        })
        .collect();
    let Some(most) = counted.iter().map(|(_, _, tokens)| *tokens).max_by(f64::total_cmp) else {
        return Vec::new();
    };
    // A run that shows more tokens than the text has characters cannot have shown them all; one that shows more than
    // half as many is unlikely to have.
    let level = match most {
        most if most > longest => Level::Contradicted,
        most if most > longest / CHARACTERS_PER_TOKEN => Level::Doubtful,
        _ => return Vec::new(),
    };
    let mut arithmetic = Vec::new();
    let mut sources = Vec::new();
    let mut values = Vec::new();
    for (entry, field, _) in &counted {
        values.push(field.cell.text.trim().to_owned());
        arithmetic.extend(same_tokens(entry, field));
        sources.push(field.source(document));
    }
    arithmetic.insert(
        0,
        format!(
            "at most {} characters in an answer, {} on average",
            wording::plain(longest),
            values.join(" and ")
        ),
    );
    arithmetic.truncate(8);
    sources.push(source);
    let stated = counted.iter().any(|(entry, _, _)| {
        entry.find(names::TOKENS_PROMPT, "").is_some() || entry.find(names::TOKENS_REASONING, "").is_some()
    });
    let mut findings = vec![Finding {
        class: Class::TokenCount,
        operands: Vec::new(),
        level,
        summary: format!(
            "{} cannot be tokens of answers of {characters}: other tokens are counted with them.",
            values.join(" and ")
        ),
        arithmetic,
        sources: sources.clone(),
        advice: "Do not read the tokens per second as output tokens per second.".to_owned(),
    }];
    if !stated {
        findings.push(cannot_be_told(sources));
    }
    findings
}

/// Which other tokens are counted is open where the table gives no other kind.
fn cannot_be_told(sources: Vec<Source>) -> Finding {
    Finding {
        class: Class::TokenCount,
        operands: Vec::new(),
        level: Level::NotChecked,
        summary:
            "Whether prompt tokens, reasoning tokens or both are counted cannot be determined from the document."
                .to_owned(),
        arithmetic: Vec::new(),
        sources,
        advice: SETTLE.to_owned(),
    }
}

/// Tokens per second times latency gives the tokens of a response: the throughput counts the same tokens.
fn same_tokens(entry: &Entry<'_>, tokens: &Field<'_>) -> Option<String> {
    let rate = entry.fields.iter().find(|field| {
        field.metric().is_some_and(|metric| metric.starts_with(names::TOKENS_PER_S))
            && field.cell.value.is_some()
    })?;
    let latency = entry.find(names::E2E, "")?;
    let product = rate.range()?.times(latency.range()?)?;
    let same = product.widened(TOLERANCE).meets(tokens.range()?);
    same.then(|| {
        format!(
            "{}: {} × {} = {} tokens, so the throughput counts the same tokens",
            entry.label,
            rate.cell.text.trim(),
            latency.cell.text.trim(),
            wording::rough(product.value())
        )
    })
}

/// A rate that is prompt and output tokens over the time, though it is called output or nothing.
fn prompt_inside(document: &Document, table: &Table) -> Option<Finding> {
    let entries = grid::entries(table);
    let mut lines = Vec::new();
    let mut sources = Vec::new();
    let mut called = ("", "");
    for entry in &entries {
        let rate = entry.fields.iter().find(|field| {
            let name = field.metric();
            [names::OUTPUT_THROUGHPUT, names::TOKENS_PER_S_UNNAMED].iter().any(|wanted| name == Some(wanted))
                && field.cell.value.is_some()
        });
        let Some(rate) = rate else { continue };
        let find = |name: &str| entry.find(name, rate.group);
        let prompt = find(names::TOKENS_PROMPT).or_else(|| entry.tokens_called(&["prompt", "input"]));
        let named = find(names::TOKENS_OUTPUT).or_else(|| find(names::TOKENS_RESPONSE));
        let output = named.or_else(|| entry.tokens_called(&["output", "generated"]));
        let (Some(prompt), Some(output)) = (prompt, output) else { continue };
        let times = [names::E2E, names::DURATION_LOOP, names::DURATION_REPORTED];
        let time = times.iter().find_map(|name| find(name))?;
        let batch = find(names::setting::BATCH_SIZE).or_else(|| find(names::setting::CONCURRENCY));
        let stated = rate.range()?;
        let over = |tokens: super::written::Range| {
            let one = tokens.over(time.range()?)?;
            let all = batch.and_then(|batch| one.times(batch.range()?));
            let fits = |range: super::written::Range| range.widened(TOLERANCE).meets(stated);
            Some(fits(one) || all.is_some_and(fits))
        };
        let both = prompt.range()?.plus(output.range()?)?;
        if over(output.range()?)? || !over(both)? {
            return None;
        }
        called = (rate.header.trim(), rate.metric().unwrap_or_default());
        lines.push(format!(
            "({} + {}) / {} = {}, stated {}; output alone {}",
            prompt.cell.text.trim(),
            output.cell.text.trim(),
            time.cell.text.trim(),
            wording::plain(both.over(time.range()?)?.value()),
            rate.cell.text.trim(),
            wording::plain(output.range()?.over(time.range()?)?.value())
        ));
        sources.push(rate.source(document));
    }
    let (header, metric) = called;
    let level = match metric == names::OUTPUT_THROUGHPUT {
        true => Level::Contradicted,
        false => Level::Doubtful,
    };
    lines.truncate(8);
    sources.truncate(8);
    (!lines.is_empty()).then(|| Finding {
        class: Class::RateScope,
        operands: Vec::new(),
        level,
        summary: format!("`{header}` counts the prompt: it is prompt and output tokens over the time."),
        arithmetic: lines,
        sources,
        advice: "Report output tokens per second, and prompt tokens on their own.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{document, found};
    use super::*;

    fn endpoints(tokens: f64, longest: f64) -> Vec<Finding> {
        let mut document = document("endpoints.md", |build| {
            build.heading("Endpoints");
            build.table(
                "sambanova",
                &["label", "e2e", "tokens_per_s.unnamed", "tokens.response"],
                &[&[1.0, 4.987, tokens / 4.987, tokens], &[2.0, 1.621, tokens / 1.621, tokens]],
            );
            build.says("The answers were short.", &[(37.0, "characters", None)]);
        });
        document.statements[0].quantities[0].to = Some(longest);
        found(check, &[document])
    }

    #[test]
    fn more_tokens_than_characters_cannot_be_the_answer() {
        let findings = endpoints(326.0, 179.0);
        assert_eq!(findings[0].level, Level::Contradicted);
        assert!(findings[0].arithmetic.iter().any(|line| line.contains("the same tokens")));
        assert_eq!(findings[1].level, Level::NotChecked);
        assert!(endpoints(40.0, 179.0).is_empty());
        assert_eq!(endpoints(120.0, 179.0)[0].level, Level::Doubtful);
    }

    #[test]
    fn characters_of_one_section_are_not_those_of_another() {
        let document = document("endpoints.md", |build| {
            build.heading("Endpoints");
            build.table("sambanova", &["label", "tokens.response"], &[&[1.0, 30.0], &[2.0, 40.0]]);
            build.says("The answers have up to 179 characters.", &[(179.0, "characters", None)]);
            build.heading("Offline");
            build.table("nvidia", &["batch_size", "tokens.output"], &[&[1.0, 1024.0], &[8.0, 1024.0]]);
        });
        assert!(found(check, &[document]).is_empty());
    }

    #[test]
    fn a_rate_that_counts_the_prompt_is_found() {
        let table = |rate: f64| {
            document("a.md", |build| {
                build.table(
                    "nvidia",
                    &["tokens.prompt", "tokens.output", "e2e", "output_throughput"],
                    &[&[900.0, 100.0, 2.0, rate]],
                );
            })
        };
        let findings = found(check, &[table(500.0)]);
        assert_eq!((findings[0].class, findings[0].level), (Class::RateScope, Level::Contradicted));
        assert!(found(check, &[table(50.0)]).is_empty());
    }
}
