//! `bench`: measure commands or a built-in workload without a campaign file. The flags become a campaign that is run
//! like any other, so that repeats, order, intervals and the record are the same everywhere.
//!
//! | file | holds |
//! |---|---|
//! | `bench/commands.rs` | commands as a campaign |
//! | `bench/workload.rs` | a workload as a campaign, and its result |

mod commands;
mod train_head;
mod workload;

use std::path::{Path, PathBuf};

use assay_campaign::CampaignBuilder;
use assay_launch::Ending;
use assay_model::{Status, names};
use assay_report::number::single;
use assay_store::{Index, Record, RunFilter};

use crate::answer::{self, print};
use crate::execute::{self, assemble_built};
use crate::exit::Exit;
use crate::options::RunFlags;
use crate::options::bench::{Bench, MeasureOptions};
use crate::precision::warn_of_precision;
use crate::screen::Screen;
use crate::{peak, records, report_file};

/// The most iteration times that are listed of an interrupted run.
const MOST_TIMES: usize = 12;

/// Measures and prints.
pub fn bench(options: &Bench, screen: &mut Screen) -> anyhow::Result<Exit> {
    let (campaign, measure, name) = match &options.workload {
        Some(target) => {
            if let Some(options) = &target.train_head {
                return train_head::train_head(options, screen);
            }
            if peak::cached(peak::cores()).is_none() {
                peak::measure(peak::cores(), screen)?;
            }
            (workload::campaign(target), &target.measure, format!("bench-{}", target.workload))
        }
        None => {
            let commands = &options.commands;
            (commands::campaign(commands)?, &commands.measure, commands::NAME.to_owned())
        }
    };
    measure.output.iter().try_for_each(|path| report_file::check(path))?;
    let record = measure.record.clone().unwrap_or_else(|| new_record(&name));
    let assembled = assemble_built(campaign, &record)?;
    let how = RunFlags { jobs: 1, quiet: measure.quiet || measure.json, ..RunFlags::default() };
    let (record, outcome) = execute::execute(&assembled, &how, screen)?;
    let index = record.index()?;
    print(options, measure, &record, &index, screen)?;
    if outcome.ending == Ending::Interrupted {
        say_interrupted(&index, screen)?;
    } else if !outcome.precise {
        warn_of_precision(assembled.plan.repeats.precision, &index, screen)?;
        screen.hint("raise `--repeats`, or look for noise with `assay doctor`");
    }
    report_file::write(&measure.output, std::slice::from_ref(&record), &[], screen)?;
    screen.say(&format!("record: {}", records::shown(record.directory())));
    Ok(execute::exit(&outcome, execute::failed_runs(&index)?, &[]))
}

fn print(
    options: &Bench,
    measure: &MeasureOptions,
    record: &Record,
    index: &Index,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    if measure.json {
        return screen.json(&answer::answer_json(record, index, None)?);
    }
    match &options.workload {
        Some(target) => workload::print(target, record, index, screen),
        None => {
            print::print_table(record, index, None, false, screen)?;
            say_metrics(index, screen)?;
            print::print_failures(record, index, screen)
        }
    }
}

/// Applies the options that are the same for commands and workloads.
fn measured(
    campaign: CampaignBuilder,
    options: &MeasureOptions,
    timeout: Option<f64>,
    repeats: u32,
) -> CampaignBuilder {
    let mut campaign = match (options.repeats, options.precision) {
        (None, Some(_)) => campaign,
        (given, _) => campaign.repeats(given.unwrap_or(repeats)),
    };
    if let Some(share) = options.precision {
        campaign = campaign.precision(share);
    }
    if let Some(seconds) = timeout {
        campaign = campaign.timeout(seconds);
    }
    campaign
}

/// A directory that does not exist yet.
fn new_record(name: &str) -> PathBuf {
    let mut names = (1..).map(|number| Path::new(records::RECORDS).join(format!("{name}-{number}")));
    names.find(|path| !path.exists()).unwrap_or_else(|| Path::new(records::RECORDS).join(name))
}

/// Names the other metrics that were measured or found in the output.
fn say_metrics(index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    let headline = answer::subject(index, None)?.metric;
    let others: Vec<String> =
        index.metrics()?.into_iter().map(|metric| metric.name).filter(|name| *name != headline).collect();
    if !others.is_empty() {
        screen.say(&format!("also measured: {} (`assay show --metric NAME`)", others.join(", ")));
    }
    Ok(())
}

/// Says what an interrupted run had measured: it counts for nothing, but somebody waited for it.
fn say_interrupted(index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    let stopped = RunFilter { status: Some(Status::Interrupted.word().to_owned()), ..RunFilter::default() };
    for run in index.runs(&stopped)? {
        let series = index.series(&run.run)?;
        let Some(times) = series.iter().find(|series| series.metric == names::TIME_ITERATION) else {
            continue;
        };
        let first = times.values.len().saturating_sub(MOST_TIMES);
        let shown: Vec<String> =
            times.values[first..].iter().map(|value| single(&times.unit, *value)).collect();
        let all = if first > 0 {
            format!("{} iterations, the last ones in ", times.values.len())
        } else {
            String::new()
        };
        screen.say(&format!("the interrupted run had done {all}{}", shown.join(", ")));
    }
    screen.say("interrupted; finished runs are kept in the record");
    Ok(())
}
