//! `cancel`: stop a campaign and end its jobs.

use std::path::Path;
use std::time::{Duration, Instant};

use assay_launch::batch::control::{self, submitted_platforms};
use assay_model::{Entry, RunResult, Status};
use assay_report::number::counted;
use assay_store::{Store, StoreError};

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options;
use crate::records;
use crate::registry;
use crate::screen::Screen;

/// How long a coordinator and jobs have to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Stops the coordinator, ends the jobs, and closes their runs, so that the next `assay run` makes them again.
pub fn cancel(options: &options::Cancel, screen: &mut Screen) -> anyhow::Result<Exit> {
    let record = records::open(options.record.as_deref())?;
    registry::check_hosts(&submitted_platforms(record.directory())?, options.record.as_deref())?;
    let mut store = open_alone(record.directory())?;
    let platforms = submitted_platforms(store.directory())?;
    registry::check_hosts(&platforms, options.record.as_deref())?;
    let mut ended = 0;
    for platform in &platforms {
        ended += control::cancel(platform, store.state())?;
    }
    let began = Instant::now();
    let is_alive = |store: &Store| {
        let jobs =
            platforms.iter().flat_map(|platform| control::jobs(platform, store.state()).unwrap_or_default());
        jobs.into_iter().any(|job| !job.stage.is_over())
    };
    while ended > 0 && is_alive(&store) && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(500));
    }
    let closed = close_runs(&mut store)?;
    screen.say(&format!(
        "cancelled {} and closed {}; finished runs are kept",
        counted(ended as u64, "job"),
        counted(closed, "run")
    ));
    Ok(Exit::Fine)
}

/// Opens a record for writing; a coordinator of this host that writes it is stopped first.
fn open_alone(record: &Path) -> anyhow::Result<Store> {
    let host = assay_launch::probe::machine().host;
    let open = || Store::open_or_create(record, &records::writer(String::new(), host.clone()));
    let began = Instant::now();
    let mut asked = false;
    loop {
        match open() {
            Ok(store) => return Ok(store),
            Err(StoreError::Held { pid, host: holder, .. })
                if holder == host && began.elapsed() < PATIENCE =>
            {
                if !std::mem::replace(&mut asked, true) {
                    stop(pid)?;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn stop(pid: u32) -> anyhow::Result<()> {
    let process = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let asked = process.map(|process| rustix::process::kill_process(process, rustix::process::Signal::INT));
    match asked {
        Some(Ok(()) | Err(rustix::io::Errno::SRCH)) => Ok(()),
        _ => Err(Mistake::new(
            format!("cannot stop process {pid}, which runs the campaign"),
            "stop it yourself",
        )
        .into()),
    }
}

/// Closes runs that were submitted and did not end. What has an end marker is kept for the next `assay run` to collect.
fn close_runs(store: &mut Store) -> anyhow::Result<u64> {
    let open = store.state().open_runs.iter().filter(|(_, open)| open.submission.is_some());
    let open: Vec<_> = open.map(|(run, open)| (run.clone(), store.run_directory(&open.directory))).collect();
    let mut closed = 0;
    for (run, directory) in open {
        control::give_up(&directory);
        if !control::has_ended(&directory) {
            let result = RunResult::bare(Status::Interrupted, assay_launch::worker::now());
            store.commit(&Entry::Finished { run, result: Box::new(result) })?;
            closed += 1;
        }
    }
    Ok(closed)
}
