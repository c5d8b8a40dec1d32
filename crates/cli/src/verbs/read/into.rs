//! Runs that were read, stored as any other run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assay_model::{
    CellId, CurrentPlan, Document, Entry, Layout, PlannedCell, PointId, ReadRun, RunId, RunResult, Settings,
    Standing, names,
};
use assay_store::{Store, relative_run_directory};

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::records;
use crate::screen::Screen;

/// The metrics that an answer is about, the most important first.
const HEADLINES: [&str; 12] = [
    names::SAMPLES_PER_S_LOOP,
    names::TOKENS_PER_S,
    names::OUTPUT_THROUGHPUT,
    names::E2E,
    names::INFERENCES_PER_S,
    names::DURATION_LOOP,
    names::DURATION_REPORTED,
    names::SAMPLES_PER_S,
    names::ACCURACY,
    names::TIME_FORWARD,
    names::LOSS_FINAL,
    names::ITERATIONS_PER_S,
];

/// A moment before this is a time of day in a log that has no date.
const DAY_S: f64 = 86_400.0;

/// Adds the runs of documents to a record. A run that the record has already is left out.
pub fn store(path: &Path, documents: &[Document], screen: &mut Screen) -> anyhow::Result<Exit> {
    if documents.iter().all(|document| document.runs.is_empty()) {
        let text = "no run was found, so that nothing is stored";
        return Err(Mistake::new(text, "`assay read` without `--into` shows what the files contain").into());
    }
    let name = path.file_name().map_or_else(|| "read".to_owned(), |name| name.to_string_lossy().into_owned());
    let mut store = Store::open_or_create(path, &records::writer(name, String::new()))?;
    let runs: Vec<(PlannedCell, &ReadRun)> =
        documents.iter().flat_map(|document| &document.runs).map(|run| (cell(run), run)).collect();
    plan(&mut store, &runs)?;
    let known = stored(path)?;
    let mut repeats: BTreeMap<CellId, u32> = BTreeMap::new();
    let (mut added, mut left_out, mut shown_again) = (0_u64, 0, 0);
    let mut rows: BTreeMap<String, Option<u64>> = BTreeMap::new();
    for (planned, run) in &runs {
        let result = result(run);
        if known.contains(&fingerprint(&planned.cell, &result)) {
            left_out += 1;
            continue;
        }
        // A row of another table with the same settings and the same digits is the same trial shown again. Within one
        // table it is a repeat.
        if is_row(run) {
            let table = table_of(documents, run);
            if *rows.entry(row_fingerprint(&planned.cell, run)).or_insert(table) != table {
                shown_again += 1;
                continue;
            }
        }
        let before = store
            .state()
            .cells
            .get(&planned.cell)
            .map_or(0, |cell| cell.runs.iter().map(|run| run.repeat).max().unwrap_or(0));
        let repeat = repeats.entry(planned.cell.clone()).or_insert(before);
        *repeat += 1;
        let run = RunId { cell: planned.cell.clone(), repeat: *repeat, attempt: 1 };
        let directory = relative_run_directory(&run);
        store.append(&Entry::Launching { run: run.clone(), at: result.started_at, directory })?;
        store.commit(&Entry::Finished { run, result: Box::new(result) })?;
        added += 1;
    }
    let again = if left_out > 0 { format!("; {left_out} were there already") } else { String::new() };
    let twice = match shown_again {
        0 => String::new(),
        1 => "; 1 row repeats a run of another row and is stored once".to_owned(),
        rows => format!("; {rows} rows repeat runs of other rows and are stored once"),
    };
    let stored = assay_report::number::counted(added, "run");
    screen.say(&format!("stored {stored} in {}{again}{twice}", records::shown(path)));
    screen.hint(&format!("`assay show {}` shows them", records::shown(path)));
    Ok(Exit::Fine)
}

/// What identifies a run instead of describing it: repeats differ in it.
const IDENTITIES: [&str; 3] = ["slurm_job", "job.id", "job.node_list"];

/// The cell of a run: what really ran, by what was observed before what was declared.
fn cell(run: &ReadRun) -> PlannedCell {
    let mut settings = Settings::new();
    for standing in [Standing::Declared, Standing::Observed] {
        let such = run.settings.iter().filter(|fact| fact.standing == standing);
        for fact in such.filter(|fact| !IDENTITIES.contains(&fact.name.as_str())) {
            settings.insert(fact.name.clone(), fact.value.clone());
        }
    }
    let workload = run.dialects.first().cloned().unwrap_or_else(|| "read".to_owned());
    let canonical = serde_json::json!({ "read": workload, "settings": settings }).to_string();
    let platform = run.platform.clone().unwrap_or_else(|| "unknown".to_owned());
    PlannedCell { cell: CellId { point: PointId::of(&canonical), platform }, workload, settings }
}

fn plan(store: &mut Store, runs: &[(PlannedCell, &ReadRun)]) -> anyhow::Result<()> {
    let known: BTreeSet<&CellId> = store.state().cells.keys().collect();
    let mut add: Vec<PlannedCell> = Vec::new();
    for (planned, _) in runs {
        if !known.contains(&planned.cell) && add.iter().all(|other| other.cell != planned.cell) {
            add.push(planned.clone());
        }
    }
    let has = |metric: &str| {
        runs.iter().filter(|(_, run)| run.observations.iter().any(|o| o.metric == metric)).count()
    };
    // What no list knows is judged by what most runs have.
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for observation in runs.iter().flat_map(|(_, run)| &run.observations) {
        *others.entry(observation.metric.as_str()).or_default() += 1;
    }
    let most = others.into_iter().rev().max_by_key(|(_, count)| *count).map(|(metric, _)| metric);
    let listed =
        HEADLINES.into_iter().rev().filter(|metric| has(metric) > 0).max_by_key(|metric| has(metric));
    let headline = listed.or(most).unwrap_or(names::DURATION_REPORTED);
    let files: BTreeSet<&str> = runs.iter().map(|(_, run)| run.span.file.as_str()).collect();
    let question = match files.into_iter().collect::<Vec<_>>().as_slice() {
        [one] => format!("What does {one} say?"),
        [one, other] => format!("What do {one} and {other} say?"),
        more => format!("What do these {} files say?", more.len()),
    };
    let plan = CurrentPlan {
        hash: String::new(),
        question,
        headline: headline.to_owned(),
        seed: 0,
        campaign: String::new(),
        repeats: 1,
        precision: None,
        fewer: Vec::new(),
        varied: Vec::new(),
        metrics: Vec::new(),
        layout: Layout::default(),
        gates: Vec::new(),
    };
    store.commit(&Entry::Plan { plan: Box::new(plan), add, drop: Vec::new() })?;
    Ok(())
}

fn result(run: &ReadRun) -> RunResult {
    RunResult {
        observations: run.observations.clone(),
        series: run.series.clone(),
        phases: run.phases.clone(),
        settings: run.settings.clone(),
        hints: run.hints.iter().map(|hint| hint.advice.clone()).collect(),
        ..RunResult::bare(run.status.clone(), run.began_at.filter(|at| *at >= DAY_S).unwrap_or(0.0))
    }
}

/// The runs that a record has, so that reading a file twice stores it once.
fn stored(path: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut known = BTreeSet::new();
    for entry in assay_store::Record::open(path)?.entries()? {
        if let Entry::Finished { run, result } = entry? {
            known.insert(fingerprint(&run.cell, &result));
        }
    }
    Ok(known)
}

/// Whether a run was read from a row of a table, which has no series and no output of its own.
fn is_row(run: &ReadRun) -> bool {
    run.series.is_empty() && run.dialects.iter().any(|dialect| dialect == "table")
}

/// The first line of the table that a row stands in.
fn table_of(documents: &[Document], run: &ReadRun) -> Option<u64> {
    let tables = documents.iter().flat_map(|document| &document.tables).map(|table| &table.span);
    let mut holding = tables.filter(|span| span.file == run.span.file && span.cell == run.span.cell);
    holding.find(|span| (span.first..=span.last).contains(&run.span.first)).map(|span| span.first)
}

/// What says that two rows of a file show the same run: cell, metrics and values.
fn row_fingerprint(cell: &CellId, run: &ReadRun) -> String {
    let values = run.observations.iter().map(|one| format!("{}={:?}", one.metric, one.value));
    format!("{} {cell} {}", run.span.file, values.collect::<Vec<_>>().join(" "))
}

fn fingerprint(cell: &CellId, result: &RunResult) -> String {
    let text = serde_json::to_string(&(cell, &result.observations, &result.series)).unwrap_or_default();
    assay_model::identity::hash_text(&text)
}
