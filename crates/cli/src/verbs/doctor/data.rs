//! `doctor data`: data sets and their download status.

use assay_report::{Cell, Column, Table, Tone};
use assay_workloads::data::{DATA_SETS, DataSet, DataSetFiles, DataState, VARIABLE, digits, directories};
use serde::Serialize;

use crate::exit::Exit;
use crate::options::DoctorData;
use crate::screen::{JSON_SCHEMA, Screen};

/// The form of `--json`.
#[derive(Serialize)]
struct DataJson {
    schema: u32,
    directories: Vec<String>,
    items: Vec<SetJson>,
}

#[derive(Serialize)]
struct SetJson {
    name: &'static str,
    summary: &'static str,
    state: &'static str,
    reason: Option<String>,
    folder: Option<String>,
    files: Vec<FileJson>,
    get: &'static [&'static str],
}

#[derive(Serialize)]
struct FileJson {
    name: &'static str,
    bytes: u64,
    sha256: &'static str,
}

/// Searches for all data sets and prints their status.
pub fn data(options: &DoctorData, screen: &mut Screen) -> anyhow::Result<Exit> {
    let found: Vec<(&DataSet, DataSetFiles)> = DATA_SETS.iter().map(|set| (set, set.look())).collect();
    if options.json {
        let items = found.into_iter().map(|(set, found)| json(set, found)).collect();
        let directories = directories().iter().map(|path| path.display().to_string()).collect();
        screen.json(&DataJson { schema: JSON_SCHEMA, directories, items })?;
    } else {
        screen.table(&table(&found))?;
    }
    Ok(Exit::Fine)
}

fn json(set: &DataSet, found: DataSetFiles) -> SetJson {
    let state = match found.state {
        DataState::Genuine => "genuine",
        DataState::Other => "other",
        DataState::Incomplete(_) => "incomplete",
        DataState::Absent => "absent",
    };
    let file = |file: &assay_workloads::data::KnownFile| FileJson {
        name: file.name,
        bytes: file.bytes,
        sha256: file.sha256,
    };
    SetJson {
        name: set.name,
        summary: set.summary,
        state,
        reason: match found.state {
            DataState::Incomplete(reason) => Some(reason),
            _ => None,
        },
        folder: found.folder.map(|folder| folder.display().to_string()),
        files: set.files.iter().map(file).collect(),
        get: set.get,
    }
}

fn table(found: &[(&DataSet, DataSetFiles)]) -> Table {
    let mut table = Table {
        columns: ["data set", "state", "folder", "what it is"].into_iter().map(Column::left).collect(),
        ..Table::default()
    };
    for (set, found) in found {
        let tone = match found.state {
            DataState::Genuine => Tone::Good,
            DataState::Other => Tone::Plain,
            DataState::Incomplete(_) => Tone::Bad,
            DataState::Absent => Tone::Faint,
        };
        let folder = found.folder.as_ref().map(|folder| folder.display().to_string());
        table.rows.push(vec![
            Cell::new(set.name),
            Cell::toned(found.state.words(), tone),
            Cell::new(folder.unwrap_or_default()),
            Cell::toned(set.summary, Tone::Faint),
        ]);
    }
    let synthetic = format!(
        "digits drawn from a seed, by default {} to train and {} to test",
        digits::TRAIN_COUNT,
        digits::TEST_COUNT
    );
    table.rows.push(vec![
        Cell::new("synthetic"),
        Cell::new("built in"),
        Cell::default(),
        Cell::toned(synthetic, Tone::Faint),
    ]);
    let places: Vec<String> = directories().iter().map(|path| path.display().to_string()).collect();
    table
        .notes
        .push(format!("searched in {}; set {VARIABLE} to search another directory", places.join(", ")));
    found.iter().for_each(|(set, found)| explain(set, found, &mut table.notes));
    table
}

/// What a data set lacks, and how to download it.
fn explain(set: &DataSet, found: &DataSetFiles, notes: &mut Vec<String>) {
    match &found.state {
        DataState::Genuine | DataState::Other => return,
        DataState::Incomplete(reason) => notes.push(format!("{}: {reason}", set.name)),
        DataState::Absent => {}
    }
    let folder = set.folders().first().map(|folder| folder.display().to_string()).unwrap_or_default();
    notes.push(format!("to download {}:", set.name));
    notes.extend(set.get.iter().map(|line| format!("  {}", line.replace("FOLDER", &folder))));
}
