//! `load`: measure endpoints. The flags become a campaign of the workload `chat`, which is run like any other; its
//! record is then shown as loads.
//!
//! | file | holds |
//! |---|---|
//! | `load/campaign.rs` | flags to a campaign |
//! | `load/capacity.rs` | `--find-capacity` |
//! | `load/self_check.rs` | `--self-check` |

mod campaign;
mod capacity;
mod self_check;

use assay_judge::load::Validity;
use assay_launch::{Ending, LaunchOutcome};

use crate::answer::print;
use crate::execute::{assemble_built, execute, failed_runs};
use crate::exit::Exit;
use crate::options::RunFlags;
use crate::options::load::{Load, LoadFlags};
use crate::records;
use crate::screen::Screen;
use crate::workloads::chat::report::{self, ReportOptions};

/// Runs loads and prints their results.
pub fn load(options: &Load, screen: &mut Screen) -> anyhow::Result<Exit> {
    options.how.check_output()?;
    if options.how.format.is_none() {
        report::format(options.how.export().as_deref())?;
    }
    if options.how.self_check {
        return self_check::self_check(options, screen);
    }
    campaign::check_before(options)?;
    if options.how.find_capacity {
        return capacity::find(options, screen);
    }
    let assembled = assemble_built(campaign::campaign(options)?, &campaign::record(&options.how)?)?;
    let (record, outcome) = execute(&assembled, &how(&options.how), screen)?;
    let index = record.index()?;
    let loads = report::of_record(&record, &index)?;
    let directory = records::shown(record.directory());
    report::print(&loads, &report_options(options), &directory, screen)?;
    if !options.how.json {
        print::print_knees(&index, screen)?;
        print::print_failures(&record, &index, screen)?;
        screen.say(&format!("record: {directory}"));
    }
    let has_failures = loads.iter().any(|load| load.results.has_failures());
    Ok(exit(&outcome, report::validity(&loads), has_failures || failed_runs(&index)? > 0))
}

fn how(options: &LoadFlags) -> RunFlags {
    RunFlags { jobs: 1, quiet: options.quiet || options.json, view: options.view, ..RunFlags::default() }
}

fn report_options(options: &Load) -> ReportOptions {
    let how = &options.how;
    ReportOptions {
        json: how.json,
        export: how.export(),
        format: how.format,
        lines: how.lines.clone(),
        html: how.html(),
        base: options.urls.first().cloned(),
    }
}

fn exit(outcome: &LaunchOutcome, validity: Validity, has_failures: bool) -> Exit {
    match (outcome.ending, validity) {
        (Ending::Interrupted, _) => Exit::Interrupted,
        (_, Validity::Invalid) => Exit::Invalid,
        _ if has_failures => Exit::RunsFailed,
        _ => Exit::Fine,
    }
}
