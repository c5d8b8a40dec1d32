//! `work`: run a built-in workload and print its events, one JSON line each. This is what runs of built-in workloads
//! execute; people use `bench` or a campaign.

use std::io::Write;
use std::sync::atomic::Ordering;

use assay_model::WorkloadEvent;
use assay_workloads::{Emitter, SeriesLimits, WorkloadEnd, arguments, memory};

use crate::exit::Exit;
use crate::failure;
use crate::options::Work;
use crate::peak;
use crate::screen::Screen;
use crate::signals::stop_flag;
use crate::workloads;

/// Runs a workload.
pub fn work(options: &Work, screen: &mut Screen) -> anyhow::Result<Exit> {
    let description = workloads::description(&options.workload)?;
    let settings = arguments::settings(&description, &options.settings);
    let stop = stop_flag()?;
    let mut lost = Ok(());
    let mut emit = |event: WorkloadEvent| {
        if lost.is_ok() {
            lost = print(&event, screen);
            // Nobody listens any more: there is nothing left to work for.
            if lost.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    };
    let ended = workloads::run(&options.workload, settings, &limits(), &mut Emitter::new(&mut emit, &stop));
    let exit = match ended {
        Ok(ended) => exit(ended),
        Err(error) => {
            // The reason is what people see of a failed run, whoever is to blame.
            emit(WorkloadEvent::Failed { reason: failure::text(&error), hint: failure::hint(&error) });
            if failure::exit(&error) == Exit::Usage {
                return Err(error);
            }
            Exit::RunsFailed
        }
    };
    lost?;
    Ok(exit)
}

fn print(event: &WorkloadEvent, screen: &mut Screen) -> anyhow::Result<()> {
    let mut line = serde_json::to_string(event)?;
    line.push('\n');
    screen.json_text(&line)?;
    // Whoever reads this wants to see each iteration when it ends.
    Ok(std::io::stdout().flush()?)
}

fn exit(ended: WorkloadEnd) -> Exit {
    match ended {
        WorkloadEnd::Done => Exit::Fine,
        WorkloadEnd::DoesNotFit | WorkloadEnd::Diverged | WorkloadEnd::Failed => Exit::RunsFailed,
        WorkloadEnd::Stopped => Exit::Interrupted,
    }
}

/// What this machine allows.
fn limits() -> SeriesLimits {
    let threads = peak::cores();
    let peak_flops = peak::cached(threads).map(|peak| peak.fma_all.high);
    SeriesLimits { memory_bytes: memory::free(), peak_flops, threads }
}
