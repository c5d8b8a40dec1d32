//! `assay`: runs AI benchmarks, reads their logs, and tells the truth about the numbers.
//!
//! Start reading here: every verb is one function in the file of its name under `verbs/`.
//!
//! | file | holds |
//! |---|---|
//! | `options.rs`, `options/` | the command line, as clap reads it |
//! | `verbs/` | one file a verb |
//! | `screen.rs`, `screen/` | everything that is printed: colour, progress, errors |
//! | `exit.rs` | exit codes |
//! | `registry.rs` | what workloads, dialects, launchers and platforms there are |
//! | `workloads.rs`, `workloads/` | built-in workloads, and `chat`, which is made of other rooms |
//! | `records.rs` | finding the record that the user means |
//! | `sources.rs` | finding and reading what the user wants read: files, directories, records |
//! | `dialects.rs` | dialects of the user's own |
//! | `signals.rs` | Ctrl-C and its kin |
//! | `failure.rs` | errors with their hint and exit code |

mod answer;
mod build;
mod dialects;
mod execute;
mod exit;
mod failure;
mod instructions;
mod options;
mod output;
mod peak;
mod records;
mod registry;
mod screen;
mod signals;
mod sources;
mod verbs;
mod workloads;

use std::process::ExitCode;

use clap::Parser;

use crate::exit::Exit;
use crate::options::{Arguments, Verb};
use crate::screen::Screen;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
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
        Verb::Train(options) => verbs::train::train(options, &mut screen),
        Verb::Peak(options) => peak::peak(options, &mut screen),
        Verb::Data(options) => verbs::data::data(options, &mut screen),
        Verb::Show(options) => verbs::show::show(options, &mut screen),
        Verb::Compare(options) => verbs::compare::compare(options, &mut screen),
        Verb::Report(options) => verbs::report::report(options, &mut screen),
        Verb::Read(options) => verbs::read::read(options, &mut screen),
        Verb::Audit(options) => verbs::audit::audit(options, &mut screen),
        Verb::Sample(options) => verbs::sample::sample(options, &mut screen),
        Verb::Load(options) => verbs::load::load(options, &mut screen),
        Verb::ServeMock(options) => verbs::serve_mock::serve_mock(options, &mut screen),
        Verb::List(options) => verbs::list::list(options, &mut screen),
        Verb::Query(options) => verbs::query::query(options, &mut screen),
        Verb::Export(options) => verbs::export::export(options, &mut screen),
        Verb::Doctor(options) => verbs::doctor::doctor(options, &mut screen),
        Verb::Completions(options) => verbs::completions::completions(options, &mut screen),
        Verb::Man(options) => verbs::man::man(options, &mut screen),
        Verb::Work(options) => verbs::work::work(options, &mut screen),
        Verb::Exercise(options) => verbs::exercise::exercise(options, &mut screen),
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
