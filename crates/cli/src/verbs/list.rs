//! `list`: records, platforms, dialects, workloads.

use std::path::Path;

use assay_evidence::DIALECTS;
use assay_model::platform::Platform;
use assay_report::{Cell, Column, Table, Tone};
use assay_store::{RecordSummary, list_records};
use serde::Serialize;

use super::JSON_SCHEMA;
use crate::exit::Exit;
use crate::options::{List, Listed};
use crate::records::{last_used_ago, shown};
use crate::registry::{self, Purpose, can_start};
use crate::screen::Screen;

/// Lists what is asked for.
pub fn list(options: &List, screen: &mut Screen) -> anyhow::Result<Exit> {
    match options.what {
        Listed::Records => records(options, screen)?,
        Listed::Platforms => platforms(options, screen)?,
        Listed::Dialects => {
            let rows = DIALECTS.iter().map(|dialect| (dialect.name.to_owned(), dialect.summary.to_owned()));
            let auto = ("auto".to_owned(), "all of them together; the default".to_owned());
            names("dialect", [auto].into_iter().chain(rows).collect(), options, screen)?;
        }
        Listed::Workloads => {
            let command = ("command".to_owned(), "any shell command with {setting} placeholders".to_owned());
            let built_in = registry::registry(Path::new("."), Purpose::Look)?.workloads;
            let rows = built_in.into_iter().map(|workload| (workload.name, workload.summary));
            names("workload", [command].into_iter().chain(rows).collect(), options, screen)?;
        }
    }
    Ok(Exit::Fine)
}

#[derive(Serialize)]
struct ListJson<T> {
    schema: u32,
    items: Vec<T>,
}

#[derive(Serialize)]
struct RecordJson {
    path: String,
    name: Option<String>,
    question: Option<String>,
    created: Option<f64>,
    last_session: Option<f64>,
    succeeded: Option<u64>,
    failed: Option<u64>,
    timed_out: Option<u64>,
    interrupted: Option<u64>,
    error: Option<String>,
}

impl RecordJson {
    fn new(record: &RecordSummary) -> RecordJson {
        let contents = record.contents.as_ref().ok();
        RecordJson {
            path: record.path.display().to_string(),
            name: contents.map(|contents| contents.name.clone()),
            question: contents.and_then(|contents| contents.question.clone()),
            created: contents.map(|contents| contents.created),
            last_session: contents.and_then(|contents| contents.last_session),
            succeeded: contents.map(|contents| contents.runs.succeeded),
            failed: contents.map(|contents| contents.runs.failed),
            timed_out: contents.map(|contents| contents.runs.timed_out),
            interrupted: contents.map(|contents| contents.runs.interrupted),
            error: record.contents.as_ref().err().map(ToString::to_string),
        }
    }
}

fn records(options: &List, screen: &mut Screen) -> anyhow::Result<()> {
    let records = list_records(&options.root)?;
    if options.json {
        let items = records.iter().map(RecordJson::new).collect();
        return screen.json(&ListJson { schema: JSON_SCHEMA, items });
    }
    if records.is_empty() {
        screen.say(&format!("no records below {}", options.root.display()));
        screen.hint("`assay run campaign.toml` or `assay tour` creates one");
        return Ok(());
    }
    let now = assay_launch::worker::now();
    let mut table = Table {
        columns: vec![
            Column::left("record"),
            Column::right("runs"),
            Column::left("problems"),
            Column::right("last used"),
            Column::left("question"),
        ],
        ..Table::default()
    };
    for record in &records {
        let path = Cell::new(shown(&record.path));
        table.rows.push(match &record.contents {
            Ok(contents) => vec![
                path,
                Cell::new(contents.runs.total().to_string()),
                Cell::toned(trouble(contents), Tone::Bad),
                Cell::new(last_used_ago(record, now)),
                Cell::toned(contents.question.clone().unwrap_or_default(), Tone::Faint),
            ],
            Err(error) => vec![
                path,
                Cell::default(),
                Cell::toned(error.to_string(), Tone::Bad),
                Cell::default(),
                Cell::default(),
            ],
        });
    }
    Ok(screen.table(&table)?)
}

fn trouble(contents: &assay_store::RecordContents) -> String {
    let runs = &contents.runs;
    let counts = [
        (runs.failed, "failed"),
        (runs.timed_out, "timed out"),
        (runs.interrupted, "interrupted"),
        (contents.damage.lines, "unreadable journal lines"),
        (contents.damage.restored, "runs restored from their directories"),
    ];
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    words.join(", ")
}

fn platforms(options: &List, screen: &mut Screen) -> anyhow::Result<()> {
    let platforms: Vec<Platform> = registry::platforms(Path::new("."))?;
    if options.json {
        return screen.json(&ListJson { schema: JSON_SCHEMA, items: platforms });
    }
    let mut table = Table {
        columns: ["platform", "launcher", "summary"].into_iter().map(Column::left).collect(),
        ..Table::default()
    };
    for platform in &platforms {
        let here = can_start(platform);
        let launcher =
            if here { platform.launcher.clone() } else { format!("{} (plan only)", platform.launcher) };
        let tone = if here { Tone::Plain } else { Tone::Faint };
        table.rows.push(vec![
            Cell::new(platform.name.clone()),
            Cell::toned(launcher, tone),
            Cell::new(platform.summary.clone()),
        ]);
    }
    let places: Vec<String> = registry::platform_directories(Path::new("."))
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    table.notes.push(format!("files in {} add to these or override them", places.join(" and ")));
    Ok(screen.table(&table)?)
}

fn names(kind: &str, rows: Vec<(String, String)>, options: &List, screen: &mut Screen) -> anyhow::Result<()> {
    if options.json {
        let items: Vec<String> = rows.into_iter().map(|(name, _)| name).collect();
        return screen.json(&ListJson { schema: JSON_SCHEMA, items });
    }
    let table = Table {
        columns: [kind, "summary"].into_iter().map(Column::left).collect(),
        rows: rows.into_iter().map(|(name, summary)| vec![Cell::new(name), Cell::new(summary)]).collect(),
        ..Table::default()
    };
    Ok(screen.table(&table)?)
}
