//! `load`: ask endpoints, keep every request, and say what the numbers are worth.

mod live;
mod result;
mod self_check;
mod setup;
mod show;

use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use assay_load::record::{RecordReader, RecordWriter, write_lines};
use assay_load::run::{Ended, Live, LoadError, Outcome, run};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::load::{Load, ResultOptions};
use crate::screen::Screen;
use crate::signals::stop_flag;
use result::Results;
use setup::Setup;

/// Carries out a load and prints its results.
pub fn load(options: &Load, screen: &mut Screen) -> anyhow::Result<Exit> {
    let bounds = setup::bounds(&options.results);
    if let Some(path) = &options.show {
        show::print(&Results::read(path, bounds)?, &options.results, screen)?;
        return Ok(Exit::Fine);
    }
    if options.self_check {
        return self_check::self_check(options, screen);
    }
    let setup = Setup::new(options)?;
    let outcome = carry_out(&setup, &options.results, screen)?;
    write_out(&options.results)?;
    let results = Results::read(&options.results.output, bounds)?;
    show::print(&results, &options.results, screen)?;
    Ok(match outcome.ended {
        Ended::Interrupted => Exit::Interrupted,
        Ended::BudgetSpent => Exit::RunsFailed,
        Ended::Complete if results.has_failures() => Exit::RunsFailed,
        Ended::Complete => Exit::Fine,
    })
}

/// Makes all requests; each is in the record as soon as it has ended.
fn carry_out(setup: &Setup, results: &ResultOptions, screen: &mut Screen) -> anyhow::Result<Outcome> {
    let path = &results.output;
    let writer = RecordWriter::create(path, &setup.described())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let writer = Mutex::new((writer, None));
    let stop = stop_flag()?;
    let (live, view) = (Live::default(), live::View::default());
    let finished = |exchange: &assay_load::Exchange| {
        let mut kept = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let (writer, failed) = &mut *kept;
        if let Err(error) = writer.add(exchange) {
            // A disk that is full is a reason to stop: what cannot be kept need not be asked.
            failed.get_or_insert(error);
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        drop(kept);
        view.add(exchange);
    };
    let is_shown = screen.is_watched() && !results.quiet;
    let outcome = live::beside(is_shown, &live, &view, || {
        run(&setup.load, &setup.prompts, &live, &stop, &finished).map_err(mistake)
    })?;
    let (writer, failed) = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = failed {
        return Err(error).with_context(|| format!("cannot write {}", path.display()));
    }
    let ending = json!({
        "ended": match outcome.ended {
            Ended::Complete => "complete",
            Ended::Interrupted => "interrupted",
            Ended::BudgetSpent => "error budget spent",
        },
        "began_s": outcome.began_s,
        "took_s": outcome.took_s,
        "health": outcome.health,
    });
    writer.finish(&ending).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(outcome)
}

/// Writes JSON lines if they are wanted.
fn write_out(results: &ResultOptions) -> anyhow::Result<()> {
    let Some(lines) = &results.lines else { return Ok(()) };
    let place = || format!("cannot write {}", lines.display());
    let file = std::fs::File::create(lines).with_context(place)?;
    let record = RecordReader::open(&results.output)?;
    write_lines(record, &mut std::io::BufWriter::new(file)).with_context(place)?;
    Ok(())
}

/// A load that cannot be is the user's to mend.
fn mistake(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::System(_) | LoadError::Thread => error.into(),
        other => Mistake { hint: other.hint().map(str::to_owned), text: other.to_string() }.into(),
    }
}
