//! `load`: ask endpoints, keep every request, and say what the numbers are worth.
//!
//! | file | holds |
//! |---|---|
//! | `load/setup.rs` | options to a load and its prompts |
//! | `load/recorder.rs`, `load/live.rs` | carrying loads out into a record, and how they are going |
//! | `load/result.rs` | a record to results |
//! | `load/show.rs`, `load/json.rs` | results as tables and as JSON |
//! | `load/export.rs` | a record in other formats |
//! | `load/curve.rs`, `load/capacity.rs` | several loads: the curve of latency over throughput, the highest rate |
//! | `load/self_check.rs` | the client against an endpoint whose true times are known |

mod capacity;
mod curve;
mod export;
mod json;
mod live;
mod recorder;
mod result;
mod self_check;
mod setup;
mod show;

use assay_load::run::Ended;

pub use recorder::Recorder;
pub use result::{EndpointResult, Results, request};
pub use setup::{Setup, bounds};

use crate::exit::Exit;
use crate::options::load::Load;
use crate::screen::Screen;
use crate::signals::stop_flag;

/// Carries out a load and prints its results.
pub fn load(options: &Load, screen: &mut Screen) -> anyhow::Result<Exit> {
    let bounds = bounds(&options.results);
    export::format(&options.results)?;
    if let Some(path) = &options.show {
        let results = Results::read(path, bounds)?;
        export::write_out(path, &options.results)?;
        match options.capacity.find_capacity {
            true => capacity::again(options, &results, screen)?,
            false => show::print(&results, &options.results, path, screen)?,
        }
        return Ok(Exit::Fine);
    }
    if options.self_check {
        return self_check::self_check(options, screen);
    }
    if options.capacity.find_capacity {
        return capacity::find(options, screen);
    }
    let levels = setup::levels(&options.arrivals);
    if levels.len() > 1 {
        return curve::curve(options, &levels, screen);
    }
    let setup = Setup::new(options)?;
    let is_shown = screen.is_watched() && !options.results.quiet;
    let outcome = Recorder::new(&options.results.output).load(&setup, &*stop_flag()?, is_shown)?;
    export::write_out(&options.results.output, &options.results)?;
    let results = Results::read(&options.results.output, bounds)?;
    show::print(&results, &options.results, &options.results.output, screen)?;
    Ok(exit(outcome.ended, results.iter().any(Results::has_failures)))
}

fn exit(ended: Ended, has_failures: bool) -> Exit {
    match ended {
        Ended::Interrupted => Exit::Interrupted,
        Ended::BudgetSpent => Exit::RunsFailed,
        Ended::Complete if has_failures => Exit::RunsFailed,
        Ended::Complete => Exit::Fine,
    }
}
