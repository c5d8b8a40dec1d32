//! `run`: carry out what is missing of a campaign and print the answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_judge::{GateResult, GateState};
use assay_launch::{Ending, Options, Outcome};
use assay_store::{Index, Record, RecordPermissions, Store, StoreError};

use super::plan::{Assembled, assemble_file};
use crate::answer::print;
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::{self, How};
use crate::records;
use crate::registry::{self, Purpose};
use crate::screen::{Progress, Screen};
use crate::signals;

/// Expands a campaign, carries out what is missing, prints the answer.
pub fn run(options: &options::Run, screen: &mut Screen) -> anyhow::Result<Exit> {
    let assembled = assemble_file(&options.campaign, options.how.record.as_deref(), Purpose::Run)?;
    carry_out(&assembled, &options.how, screen)
}

/// Carries out a plan and prints the answer.
pub fn carry_out(assembled: &Assembled, how: &How, screen: &mut Screen) -> anyhow::Result<Exit> {
    let (record, outcome) = execute(assembled, how, screen)?;
    let index = record.index()?;
    let gates = print_answer(&record, &index, &outcome, screen)?;
    Ok(exit(&outcome, failed_runs(&index)?, &gates))
}

/// Carries out a plan.
pub fn execute(assembled: &Assembled, how: &How, screen: &mut Screen) -> anyhow::Result<(Record, Outcome)> {
    let plan = &assembled.plan;
    screen.problems(&plan.warnings);
    if how.fresh {
        move_aside(assembled, screen)?;
    }
    let mut store = open_store(assembled, how)?;
    report_damage(&store, screen);
    let launch = launch_options(assembled, how)?;
    let mut progress = Progress::new(plan, screen, how.quiet);
    let outcome = assay_launch::execute(plan, &mut store, &launch, &mut |event| progress.show(event));
    progress.end();
    let outcome = outcome?;
    drop(store);
    Ok((Record::open(&assembled.record)?, outcome))
}

fn open_store(assembled: &Assembled, how: &How) -> anyhow::Result<Store> {
    let identity = records::writer(assembled.plan.name.clone(), assembled.machine.host.clone());
    let permissions =
        if how.group_readable { RecordPermissions::GROUP_READABLE } else { RecordPermissions::PRIVATE };
    permissions
        .create_directory(&assembled.record)
        .map_err(|error| unusable(&assembled.record, &error.to_string()))?;
    // Run directories stand in scripts and environments, so they must not depend on where the user stood.
    let record = assembled.record.canonicalize().unwrap_or_else(|_| assembled.record.clone());
    if record.to_str().is_none() {
        return Err(unusable(&record, "its path is not valid UTF-8, which scripts and results need").into());
    }
    Ok(if how.accept_damage {
        Store::open_accepting_damage(&record, &identity)?
    } else {
        Store::open_or_create(&record, &identity)?
    })
}

fn unusable(record: &Path, reason: &str) -> Mistake {
    let text = format!("cannot make a record in {}: {reason}", record.display());
    Mistake::new(text, "name another directory with `--record`")
}

/// Says what was wrong with a journal that is written to nevertheless.
fn report_damage(store: &Store, screen: &mut Screen) {
    let damage = &store.state().damage;
    if damage.is_worth_reporting() {
        let directory = records::shown(store.directory());
        screen.warn(&format!("the journal of {directory} was damaged: {damage}"));
    }
}

fn launch_options(assembled: &Assembled, how: &How) -> anyhow::Result<Options> {
    let mut readers = BTreeMap::new();
    for platform in &assembled.plan.platforms {
        let name = &platform.name;
        readers.insert(name.clone(), registry::reader(&assembled.plan, platform)?);
    }
    let only = match how.only {
        Some(options::Only::Failed) => assay_launch::Only::Failed,
        None => assay_launch::Only::Missing,
    };
    Ok(Options {
        jobs: how.jobs,
        only,
        assay: std::env::current_exe().context("cannot find the path of this program")?,
        machine: assembled.machine.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        readers,
        keep_environment: how.keep_env.clone(),
        interrupt: signals::interrupts()?,
    })
}

/// Moves a record aside under a name that says when. Nothing is ever deleted.
fn move_aside(assembled: &Assembled, screen: &mut Screen) -> anyhow::Result<()> {
    let record: &Path = &assembled.record;
    if !record.is_dir() {
        return Ok(());
    }
    // Whoever writes the record now must not lose it; any other trouble with it is a reason to start over.
    if let Err(error) = open_store(assembled, &How::default())
        && matches!(error.downcast_ref(), Some(StoreError::Held { .. } | StoreError::HeldByUnknown { .. }))
    {
        return Err(error);
    }
    let name = record.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let aside =
        (1..).map(|number| record.with_file_name(format!("{name}.old-{number}"))).find(|path| !path.exists());
    let aside: PathBuf = aside.context("no free name for the old record")?;
    std::fs::rename(record, &aside).with_context(|| format!("cannot move {} aside", record.display()))?;
    screen.say(&format!("the old record is now {}", records::shown(&aside)));
    Ok(())
}

fn print_answer(
    record: &Record,
    index: &Index,
    outcome: &Outcome,
    screen: &mut Screen,
) -> anyhow::Result<Vec<GateResult>> {
    print::print_table(record, index, None, false, screen)?;
    let gates = print::print_gates(record, index, screen)?;
    print::print_failures(record, index, screen)?;
    if outcome.ending == Ending::Interrupted {
        screen.say("interrupted; what was measured is kept, and the same command goes on from here");
    } else if !outcome.precise {
        screen.warn("the asked precision was not reached in every cell");
        screen.hint("raise `[repeats] at_most` or `budget`, or look for noise with `assay doctor`");
    }
    screen.say(&format!("record: {}", records::shown(record.directory())));
    Ok(gates)
}

/// Runs of planned cells that failed or timed out and were not redone, whenever that was.
pub fn failed_runs(index: &Index) -> anyhow::Result<u64> {
    let cells = index.cells()?;
    Ok(cells.iter().filter(|cell| cell.planned).map(|cell| cell.runs.failed + cell.runs.timed_out).sum())
}

/// The exit code of what was carried out.
pub fn exit(outcome: &Outcome, failed: u64, gates: &[GateResult]) -> Exit {
    if outcome.ending == Ending::Interrupted {
        Exit::Interrupted
    } else if failed > 0 {
        Exit::RunsFailed
    } else if gates.iter().any(|gate| gate.state == GateState::Failed) {
        Exit::GateFailed
    } else if !outcome.precise {
        Exit::NotPrecise
    } else {
        Exit::Fine
    }
}
