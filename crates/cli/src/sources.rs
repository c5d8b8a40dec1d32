//! What the user wants read: files, directories, patterns, records and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_evidence::{DocumentReader, Readers};
use assay_model::{
    Document, Entry, ReadRun, RunId, RunResult, SettingFact, Source, Span, Standing, Value, document,
};
use assay_store::Record;

use crate::failure::Mistake;

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readable {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// A record of this program.
    Record(PathBuf),
}

/// Files that are never text, by their ending; only files inside directories are passed over for it.
const BINARY: [&str; 22] = [
    "png",
    "jpg",
    "jpeg",
    "gif",
    "pdf",
    "zip",
    "gz",
    "xz",
    "zst",
    "bz2",
    "tar",
    "so",
    "o",
    "a",
    "bin",
    "pt",
    "pth",
    "mdl",
    "safetensors",
    "parquet",
    "sqlite",
    "pyc",
];

/// Everything that the arguments name, in their order; files of a directory sorted by name.
pub fn find(arguments: &[PathBuf]) -> anyhow::Result<Vec<Readable>> {
    let mut found = Vec::new();
    for argument in arguments {
        let before = found.len();
        add(argument, &mut found)?;
        if found.len() == before {
            let text = format!("nothing to read in {}", argument.display());
            return Err(Mistake::new(
                text,
                "logs, write-ups (.md, .html, .txt), .csv, .json and records can be read",
            )
            .into());
        }
    }
    Ok(found)
}

fn add(argument: &Path, found: &mut Vec<Readable>) -> anyhow::Result<()> {
    if argument.as_os_str() == "-" {
        found.push(Readable::Stdin);
    } else if argument.is_dir() {
        directory(argument, found)?;
    } else if argument.exists() {
        found.push(Readable::File(argument.to_owned()));
    } else {
        pattern(argument, found)?;
    }
    Ok(())
}

fn directory(path: &Path, found: &mut Vec<Readable>) -> anyhow::Result<()> {
    if Record::open(path).is_ok() {
        found.push(Readable::Record(path.to_owned()));
        return Ok(());
    }
    let listed = std::fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))?;
    let mut entries: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let ending = entry.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if hidden || BINARY.contains(&ending) {
            continue;
        }
        if entry.is_dir() {
            directory(&entry, found)?;
        } else if entry.is_file() && is_text(&entry) {
            found.push(Readable::File(entry));
        }
    }
    Ok(())
}

/// Whether the first bytes of a file look like text.
fn is_text(path: &Path) -> bool {
    let mut start = [0; 1024];
    let read = File::open(path).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    read > 0 && !start.get(..read).unwrap_or_default().contains(&0)
}

fn pattern(argument: &Path, found: &mut Vec<Readable>) -> anyhow::Result<()> {
    let text = argument.display().to_string();
    if !text.contains(['*', '?', '[']) {
        let folder = argument.parent().filter(|folder| !folder.as_os_str().is_empty());
        let hint = match folder {
            Some(folder) if !folder.is_dir() => format!("there is no directory {} either", folder.display()),
            _ => "give files, directories, patterns in quotes, or - for standard input".to_owned(),
        };
        return Err(Mistake::new(format!("no file {text}"), hint).into());
    }
    let paths = glob::glob(&text).map_err(|error| {
        Mistake::new(format!("`{text}` is not a pattern: {error}"), "quote it, or name files")
    })?;
    for path in paths.filter_map(Result::ok) {
        add(&path, found)?;
    }
    Ok(())
}

/// Reads one thing.
pub fn read(readable: &Readable, readers: &Readers) -> anyhow::Result<Document> {
    match readable {
        Readable::Stdin => stream(io::stdin().lock(), "-", readers).context("cannot read standard input"),
        Readable::File(path) => {
            let name = path.display().to_string();
            let cannot = || format!("cannot read {name}");
            let file = File::open(path).with_context(cannot)?;
            stream(file, &name, readers).with_context(cannot)
        }
        Readable::Record(path) => record(path),
    }
}

/// Bytes that are read at once: few enough to stay in a processor's cache until they are looked at.
const BUFFER: usize = 256 << 10;
const PAGE: usize = 4096;

fn stream(mut from: impl Read, name: &str, readers: &Readers) -> io::Result<Document> {
    let mut reader = DocumentReader::new(readers, name);
    // Some processors copy several times more slowly to a place just behind the beginning of a page, which is where
    // large allocations begin.
    let mut room = vec![0; BUFFER + PAGE];
    let begin = room.as_ptr().align_offset(PAGE).min(PAGE);
    let buffer = room.get_mut(begin..begin + BUFFER).unwrap_or_default();
    loop {
        match from.read(buffer) {
            Ok(0) => return Ok(reader.finish()),
            Ok(count) => reader.feed(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A record as a document: its finished runs, with the settings that its campaign declares.
fn record(path: &Path) -> anyhow::Result<Document> {
    let record = Record::open(path)?;
    let mut settings = std::collections::BTreeMap::new();
    let mut document = Document { file: path.display().to_string(), ..Document::default() };
    for (line, entry) in record.entries()?.enumerate() {
        let line = line as u64 + 1;
        match entry? {
            Entry::Plan { add, .. } => {
                settings.extend(
                    add.into_iter().map(|planned| (planned.cell, (planned.workload, planned.settings))),
                );
            }
            Entry::Finished { run, result } => {
                let declared = settings.get(&run.cell).cloned().unwrap_or_default();
                document.runs.push(read_run(&document.file, line, &run, *result, declared));
            }
            _ => {}
        }
        document.lines = line;
    }
    Ok(document)
}

fn read_run(
    file: &str,
    line: u64,
    run: &RunId,
    result: RunResult,
    (workload, settings): (String, assay_model::Settings),
) -> ReadRun {
    let source = Source { file: file.to_owned(), line };
    let fact = |name: &str, value: Value| SettingFact {
        name: name.to_owned(),
        value,
        standing: Standing::Declared,
        by: "campaign".to_owned(),
        arithmetic: None,
        source: source.clone(),
    };
    let mut facts: Vec<SettingFact> = settings.into_iter().map(|(name, value)| fact(&name, value)).collect();
    facts.extend(result.settings);
    ReadRun {
        version: document::READ_VERSION,
        span: Span { file: file.to_owned(), first: line, last: line },
        title: Some(format!("{workload} {run}")),
        dialects: vec!["record".to_owned()],
        platform: Some(run.cell.platform.clone()),
        status: result.status,
        status_source: Some(source.clone()),
        began_at: Some(result.started_at),
        clock: None,
        settings: facts,
        phases: result.phases,
        observations: result.observations,
        series: result.series,
        hints: Vec::new(),
    }
}
