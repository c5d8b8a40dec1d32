//! `run --detach`: the same command in a session of its own, which goes on when the terminal is closed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use assay_store::RecordPermissions;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::records;
use crate::screen::Screen;

/// The log of a detached run in its record.
const LOG: &str = "detached.log";
/// What is wrong with a run often shows at once.
const WATCHED: Duration = Duration::from_millis(700);

/// Starts this command line again without `--detach`.
pub fn detach(record: &Path, permissions: RecordPermissions, screen: &mut Screen) -> anyhow::Result<Exit> {
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let arguments = std::env::args_os().skip(1).filter(|argument| argument != "--detach");
    permissions.create_directory(record).with_context(|| format!("cannot create {}", record.display()))?;
    let path = record.join(LOG);
    let log = RecordPermissions::of(record)
        .create_file(&path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let errors = log.try_clone().context("cannot share the log")?;
    let mut command = Command::new("setsid");
    command.arg("--").arg(program).args(arguments).stdin(Stdio::null()).stdout(log).stderr(errors);
    let started = command.spawn();
    let mut child = started
        .map_err(|error| Mistake::new(format!("cannot start `setsid`: {error}"), "install util-linux"))?;
    let began = Instant::now();
    while began.elapsed() < WATCHED {
        if let Some(status) = child.try_wait().context("cannot watch the detached run")? {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            screen.data(&text)?;
            return Ok(if status.success() { Exit::Fine } else { Exit::RunsFailed });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    screen.say(&format!("running as process {}; its output goes to {}", child.id(), records::shown(&path)));
    screen.hint("`assay status` shows how far it is, `assay cancel` stops it");
    Ok(Exit::Fine)
}
