//! `work`: run a built-in workload and print what it says, one JSON line each. This is what runs of built-in workloads
//! execute; people use `bench` or a campaign.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use assay_model::Told;
use assay_workloads::{Ended, Limits, Outlet, WorkloadError, arguments, memory};

use super::peak;
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::Work;
use crate::screen::Screen;

/// Runs a workload.
pub fn work(options: &Work, screen: &mut Screen) -> anyhow::Result<Exit> {
    let descriptions = assay_workloads::descriptions();
    let Some(description) = descriptions.iter().find(|known| known.name == options.workload) else {
        let known: Vec<&str> = descriptions.iter().map(|known| known.name.as_str()).collect();
        let text = format!("unknown workload `{}`", options.workload);
        return Err(Mistake::new(text, format!("workloads: {}", known.join(", "))).into());
    };
    let settings = arguments::settings(description, &options.settings);
    let stop = stop_flag()?;
    let mut lost = Ok(());
    let mut tell = |told: Told| {
        if lost.is_ok() {
            lost = print(&told, screen);
            // Nobody listens any more: there is nothing left to work for.
            if lost.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
        }
    };
    let ended =
        assay_workloads::run(&options.workload, &settings, &limits(), &mut Outlet::new(&mut tell, &stop));
    let exit = match ended {
        Ok(ended) => exit(ended),
        Err(error) if error.is_usage() => return Err(mistake(&error)),
        Err(error) => {
            tell(Told::Failed { reason: error.to_string(), hint: error.hint() });
            Exit::RunsFailed
        }
    };
    lost?;
    Ok(exit)
}

fn print(told: &Told, screen: &mut Screen) -> anyhow::Result<()> {
    let mut line = serde_json::to_string(told)?;
    line.push('\n');
    screen.data(&line)?;
    // Whoever reads this wants to see each iteration when it ends.
    Ok(std::io::stdout().flush()?)
}

fn exit(ended: Ended) -> Exit {
    match ended {
        Ended::Done => Exit::Fine,
        Ended::DoesNotFit | Ended::Diverged => Exit::RunsFailed,
        Ended::Stopped => Exit::Interrupted,
    }
}

fn mistake(error: &WorkloadError) -> anyhow::Error {
    Mistake { text: error.to_string(), hint: error.hint() }.into()
}

/// What this machine allows.
fn limits() -> Limits {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let peak_flops = peak::cached(threads).map(|peak| peak.fma_all.high);
    Limits { memory_bytes: memory::free(), peak_flops, threads }
}

/// A flag that Ctrl-C and TERM set: the workload ends after the iteration under way.
fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot listen for Ctrl-C")?;
    }
    Ok(stop)
}
