//! `assay`: runs AI benchmarks, reads their logs, and judges what the numbers support.
//!
//! Start reading here: every verb is one function in the file of its name under `verbs/`.
//!
//! | file | holds |
//! |---|---|
//! | `options.rs`, `options/` | the command line, as clap parses it |
//! | `verbs.rs`, `verbs/` | one file per verb |
//! | `execute.rs` | the one way to run: a campaign becomes a plan, and the plan is run into its record |
//! | `answer.rs`, `answer/` | what a record answers: tables, gates, failures; used by every verb that shows results |
//! | `output.rs` | output files, with the format chosen by their ending |
//! | `write_up.rs`, `report_file.rs` | write-ups of records as HTML, Markdown and LaTeX, and `-o FILE` |
//! | `precision.rs` | what a precision that was not reached would take |
//! | `assist.rs` | `audit --assist` |
//! | `build.rs` | which build of the measured programs runs |
//! | `instructions.rs` | `ASSAY_ISA` |
//! | `peak.rs` | the measured peak of this machine |
//! | `screen.rs`, `screen/` | everything that is printed: color, progress, errors |
//! | `detach.rs` | `run --detach` |
//! | `exit.rs` | exit codes |
//! | `registry.rs` | the workloads, dialects, launchers and platforms that exist |
//! | `workloads.rs`, `workloads/` | built-in workloads, and `chat`, which uses several rooms |
//! | `records.rs` | finding the record that the user names |
//! | `sources.rs` | finding and reading input files, directories and records |
//! | `dialects.rs` | the user's own dialects |
//! | `signals.rs` | Ctrl-C and other signals |
//! | `failure.rs` | errors with their hint and exit code |

mod answer;
mod assist;
mod build;
mod detach;
mod dialects;
mod execute;
mod exit;
mod failure;
mod instructions;
mod options;
mod output;
mod peak;
mod precision;
mod records;
mod registry;
mod report_file;
mod screen;
mod signals;
mod sources;
mod verbs;
mod workloads;
mod write_up;

use std::process::ExitCode;

use clap::Parser;

use crate::exit::Exit;
use crate::options::{Arguments, Color, Verb};
use crate::screen::Screen;

fn main() -> ExitCode {
    signals::report_file_size_limit();
    let arguments = match options::retired::current(std::env::args_os()) {
        Ok(arguments) => Arguments::parse_from(arguments),
        Err(mistake) => {
            let error = mistake.into();
            Screen::new(Color::Auto).error(&error);
            return failure::exit(&error).into();
        }
    };
    let mut screen = Screen::new(arguments.color);
    if let Err(mistake) = instructions::check() {
        screen.error(&mistake.into());
        return Exit::Usage.into();
    }
    let result = match &arguments.verb {
        Verb::Init(options) => verbs::init::init(options, &mut screen),
        Verb::Plan(options) => verbs::plan::plan(options, &mut screen),
        Verb::Run(options) => verbs::run::run(options, &mut screen),
        Verb::Tour(options) => verbs::tour::tour(options, &mut screen),
        Verb::Bench(options) => verbs::bench::bench(options, &mut screen),
        Verb::Status(options) => verbs::status::status(options, &mut screen),
        Verb::Cancel(options) => verbs::cancel::cancel(options, &mut screen),
        Verb::Show(options) => verbs::show::show(options, &mut screen),
        Verb::Compare(options) => verbs::compare::compare(options, &mut screen),
        Verb::Page(options) => verbs::page::page(options, &mut screen),
        Verb::Query(options) => verbs::query::query(options, &mut screen),
        Verb::List(options) => verbs::list::list(options, &mut screen),
        Verb::Rm(options) => verbs::rm::rm(options, &mut screen),
        Verb::Read(options) => verbs::read::read(options, &mut screen),
        Verb::Audit(options) => verbs::audit::audit(options, &mut screen),
        Verb::Load(options) => verbs::load::load(options, &mut screen),
        Verb::ServeMock(options) => verbs::serve_mock::serve_mock(options, &mut screen),
        Verb::Scrub(options) => verbs::scrub::scrub(options, &mut screen),
        Verb::Doctor(options) => verbs::doctor::doctor(options, &mut screen),
        Verb::Sample(options) => verbs::sample::sample(options, &mut screen),
        Verb::Completions(options) => verbs::completions::completions(options, &mut screen),
        Verb::Man(options) => verbs::man::man(options, &mut screen),
        Verb::Internal(options) => verbs::internal::internal(options, &mut screen),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            // Whoever reads our output may have seen enough: `assay show | head` is not a failure.
            if failure::is_closed_pipe(&error) {
                return Exit::Fine.into();
            }
            screen.error(&error);
            failure::exit(&error).into()
        }
    }
}
