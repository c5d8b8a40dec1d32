//! A scene: one campaign that is killed again and again until it is complete.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::audit::{Acknowledged, Audit};
use super::session::{Kill, Session, SessionEnd};
use super::{events, orphan};
use crate::campaign::{TROUBLED_RUNS, TROUBLED_SCRIPT, troubled};
use crate::place::Place;

/// A campaign with all that became of it so far.
pub struct CrashScene<'a> {
    place: &'a Place,
    directory: PathBuf,
    record: PathBuf,
    acknowledged: Vec<Acknowledged>,
    /// Sessions whose coordinator is dead, but not all that it started.
    behind: Vec<Session>,
    /// Runs that the record had when it was last looked at.
    succeeded: usize,
    /// How often a successor was refused because the lock was still held.
    pub refused: usize,
}

/// What a whole scene came to.
#[derive(Debug, Clone, Default)]
pub struct SceneOutcome {
    /// What is wrong with the record.
    pub audit: Audit,
    /// Processes of runs that were alive after the end.
    pub orphans: usize,
    /// Of these, processes of runs that were not killed but ended by themselves.
    pub outliving: usize,
    /// Runs that were alive while a later attempt at the same repeat was.
    pub overlaps: usize,
    /// Runs whose process began more than once, by what they wrote outside the record.
    pub repeated_starts: usize,
    /// Planned runs that the record does not have.
    pub missing: usize,
    /// Runs that were acknowledged.
    pub acknowledged: usize,
}

/// How one session of a scene ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It was killed.
    Killed,
    /// The campaign is complete.
    Complete,
}

/// A successor is refused while a process between fork and exec still holds the lock of its dead coordinator.
const PATIENCE: Duration = Duration::from_secs(5);

impl<'a> CrashScene<'a> {
    /// Sets the scene.
    pub fn new(place: &'a Place) -> anyhow::Result<CrashScene<'a>> {
        let directory = place.fresh("scene")?.canonicalize()?;
        fs::write(directory.join("campaign.toml"), troubled())?;
        fs::write(directory.join("work.sh"), TROUBLED_SCRIPT)?;
        fs::write(directory.join("events"), "")?;
        let record = directory.join("records/troubled");
        let (acknowledged, behind) = (Vec::new(), Vec::new());
        Ok(CrashScene { place, directory, record, acknowledged, behind, succeeded: 0, refused: 0 })
    }

    /// Runs that are still to be made.
    pub fn missing(&self) -> usize {
        TROUBLED_RUNS - self.succeeded.min(TROUBLED_RUNS)
    }

    /// Starts or continues the campaign, kills it, and audits what is left. `None` lets it run to its end.
    pub fn step(&mut self, kill: Option<Kill>) -> anyhow::Result<(Step, Audit)> {
        let began = Instant::now();
        let ending = loop {
            let mut session = Session::start(self.place, &self.directory, kill)?;
            if session.strike()? {
                // Its successor is started at once, and it is concluded after that.
                self.behind.push(session);
                break SessionEnd::Killed;
            }
            let (ending, reported) = session.conclude()?;
            self.acknowledged.extend(reported);
            if ending != SessionEnd::Refused || began.elapsed() > PATIENCE {
                break ending;
            }
            self.refused += 1;
            thread::sleep(Duration::from_millis(2));
        };
        if !matches!(kill, Some(Kill::Spawning(_))) {
            self.conclude_those_behind()?;
        }
        let audit = Audit::of(&self.record, &self.acknowledged)?;
        self.succeeded = audit.succeeded;
        match ending {
            SessionEnd::Killed => Ok((Step::Killed, audit)),
            SessionEnd::Complete => Ok((Step::Complete, audit)),
            SessionEnd::Refused => {
                bail!("the record stayed locked for {} s after a kill", PATIENCE.as_secs())
            }
            SessionEnd::Failed(reported) => bail!("assay run failed:\n{reported}"),
        }
    }

    fn conclude_those_behind(&mut self) -> anyhow::Result<()> {
        for session in self.behind.drain(..) {
            self.acknowledged.extend(session.conclude()?.1);
        }
        Ok(())
    }

    /// Audits a complete campaign.
    pub fn conclude(mut self) -> anyhow::Result<SceneOutcome> {
        self.conclude_those_behind()?;
        let alive = orphan::of_record(&self.record);
        let audit = Audit::of(&self.record, &self.acknowledged)?;
        let events = events::read(&self.read_events()?);
        ensure!(!events.is_empty(), "the runs wrote no events");
        Ok(SceneOutcome {
            orphans: alive.len(),
            outliving: alive.iter().filter(|orphan| audit.runs.contains(&orphan.run)).count(),
            overlaps: events::overlaps(&events).len(),
            repeated_starts: events::repeated_starts(&events),
            missing: TROUBLED_RUNS.saturating_sub(audit.succeeded),
            acknowledged: self.acknowledged.len(),
            audit,
        })
    }

    fn read_events(&self) -> anyhow::Result<String> {
        let path = self.directory.join("events");
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for CrashScene<'_> {
    fn drop(&mut self) {
        // Whatever went wrong, the machine is left as it was.
        orphan::end(&self.record);
    }
}
