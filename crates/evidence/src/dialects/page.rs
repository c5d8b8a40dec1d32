//! The documentation page of a dialect, made from its entry in the registry.

use std::fmt::Write;

use super::{DIALECTS, Dialect};
use crate::hints::ERRORS;

/// The page of one dialect, as Markdown.
pub fn page(dialect: &Dialect) -> String {
    let mut text = format!("# {}\n\nDialect `{}`: {}.\n", dialect.title, dialect.name, dialect.summary);
    text.push_str("\n## Line shapes and what is read\n");
    for shape in dialect.shapes {
        let _ = write!(text, "\n```text\n{}\n```\n\n{}\n", shape.text, reads(shape.reads));
    }
    list(&mut text, "What follows from it", dialect.derived);
    list(&mut text, "Good to know", dialect.notes);
    text.push_str(
        "\nThis page is made from `crates/evidence/src/dialects/`; `./dev docs` writes it again.\n",
    );
    text
}

fn reads(words: &str) -> String {
    if words.is_empty() {
        return "Leads on to the next lines.".to_owned();
    }
    let words: Vec<String> = words
        .split(", ")
        .map(|word| match word.split_once(' ') {
            Some((kind @ ("setting" | "declared" | "phase" | "status"), name)) => {
                let kind = if kind == "setting" { "observed setting" } else { kind };
                let kind = if kind == "declared" { "declared setting" } else { kind };
                format!("{kind} `{name}`")
            }
            _ if word == "hint" => "a hint".to_owned(),
            _ => format!("`{word}`"),
        })
        .collect();
    format!("Gives {}.", words.join(", "))
}

fn list(text: &mut String, title: &str, entries: &[&str]) {
    if !entries.is_empty() {
        let _ = write!(text, "\n## {title}\n\n");
        entries.iter().for_each(|entry| {
            let _ = writeln!(text, "- {entry}");
        });
    }
}

/// The page that lists all dialects and error texts, and shows how to write one.
pub fn overview() -> String {
    let mut text = String::from(OVERVIEW);
    text.push_str("\n## Built-in dialects\n\nIn the order in which they are believed when two find the same metric.\n\n");
    text.push_str("| dialect | reads |\n|---|---|\n");
    for dialect in DIALECTS {
        let _ = writeln!(text, "| [{}]({}.md) | {} |", dialect.name, dialect.name, dialect.summary);
    }
    text.push_str("\n## Error texts and hints\n\nSeen in `read`, while a run goes on, and in reports.\n\n| text | hint |\n|---|---|\n");
    for error in ERRORS {
        let texts: Vec<String> = error.texts.iter().map(|text| format!("`{text}`")).collect();
        let _ = writeln!(text, "| {} | {} |", texts.join(" … "), error.advice);
    }
    text.push_str(
        "\n## Canonical metrics\n\nWhatever a log calls a number, it is stored under one of these names.\n\n",
    );
    text.push_str("| name | unit | meaning |\n|---|---|---|\n");
    for metric in assay_model::names::METRICS {
        let _ = writeln!(text, "| `{}` | {} | {} |", metric.name, metric.unit, metric.summary);
    }
    text.push_str(
        "\nThis page is made from `crates/evidence/src/dialects/`; `./dev docs` writes it again.\n",
    );
    text
}

const OVERVIEW: &str = r#"# Dialects

A dialect is one way of writing logs. `assay read` and `assay run` look for all of them at once: nobody has to say what
is in a file, and one file may hold several. Each dialect has a page with its line shapes, what is read from them and
what follows from it.

## A dialect of your own

Write a TOML file, and name it with `--dialect FILE`, or put it into `dialects/` beside the campaign (or where you
run `assay read`), or into `assay/dialects/` of your configuration directory. No code, no new build.

```toml
name = "mytrainer"                 # letters, digits, - and _
summary = "what my trainer prints"
platform = "mymachine"             # optional
begins = ["=== start of run"]      # a line that holds one of these begins a run

[[rule]]
contains = "it/sec"                # a key string of such lines: it makes looking fast
pattern = 'step (?<step>\d+) loss (?<loss>[0-9.]+) \((?<rate>[0-9.,]+) it/sec, (?<time>[0-9.]+) ms\)'
metrics = { loss = "loss.train", rate = "iterations_per_s", time = "step_s (ms)" }
step = "step"                      # the group that holds the step
scope = "instant"                  # instant, loop, fit or job

[[rule]]
contains = "using batch size"
pattern = 'using batch size (?<batch>\d+)'
observes = { batch = "batch_size" }   # a setting seen in effect; `declares` for one that was asked for

[[rule]]
contains = "compile finished"
pattern = "compile finished"
ends = "compile"                   # phases: `starts` and `ends`

[[rule]]
contains = "FATAL"
pattern = "FATAL.*"
status = "failed"                  # succeeded, failed, gate_failed, aborted or cancelled
hint = "look at the first error above"
```

Names of metrics are free; canonical ones (below) can be compared with those of other dialects. A unit in brackets is
the unit as written; values are stored in base units. `prediction = true` marks metrics that a tool computed instead of
measuring.
"#;
