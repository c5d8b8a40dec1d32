//! The one way to run: a campaign, from a file or from flags, becomes a plan, and the plan is run into its record.
//! `run`, `bench`, `load` and `tour` differ only in where their campaign comes from and how they print the result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use assay_campaign::{Campaign, CampaignBuilder, CampaignError, Plan, PlanContext};
use assay_judge::estimate::estimate;
use assay_judge::{GateResult, GateState};
use assay_launch::worker::OutputReader;
use assay_launch::{Ending, LaunchOptions, LaunchOutcome};
use assay_model::{CellId, Machine, Status, metric};
use assay_store::{Index, JournalState, Record, RecordPermissions, Store, StoreError};

use crate::answer::print;
use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::{self, RunFlags};
use crate::precision::warn_of_precision;
use crate::registry::{self, Purpose};
use crate::screen::{Progress, Screen};
use crate::{build, records, signals, workloads};

/// A planned campaign with all that is needed to run it.
pub struct Assembled {
    pub plan: Plan,
    /// The directory of its record, which may not exist yet.
    pub record: PathBuf,
    pub machine: Machine,
    /// The build of the programs that run, by which a rebuilt one is noticed.
    pub build: String,
    /// The build that wrote the record last, if it holds runs.
    earlier_build: Option<String>,
    /// Platforms whose scheduler could not be asked for its limits, each with the reason.
    pub unasked: Vec<(String, String)>,
    /// How output is read, by platform.
    pub readers: BTreeMap<String, Arc<OutputReader>>,
}

/// Loads a campaign file and plans it.
pub fn assemble_file(
    file: &Path,
    on: Option<&str>,
    record: Option<&Path>,
    purpose: Purpose,
) -> anyhow::Result<Assembled> {
    let campaign = records::load_on(file, purpose, on)?;
    let name = match on {
        Some(on) => format!("{}-{on}", campaign.name),
        None => campaign.name.clone(),
    };
    assemble(&campaign, records::of_campaign(file, &name, record))
}

/// Checks a campaign that was built from flags and plans it. Relative paths start in the current directory.
pub fn assemble_built(builder: CampaignBuilder, record: &Path) -> anyhow::Result<Assembled> {
    let directory = std::env::current_dir().context("cannot find the current directory")?;
    let registry = registry::registry(&directory, Purpose::Run)?;
    let campaign = builder.build(&directory, &registry).map_err(CampaignError::Problems)?;
    assemble(&campaign, record.to_owned())
}

/// Plans a campaign.
pub fn assemble(campaign: &Campaign, record: PathBuf) -> anyhow::Result<Assembled> {
    let machine = assay_launch::probe::machine();
    let state = earlier_state(&record)?;
    let earlier = |cell: &CellId| state.as_ref().and_then(|state| usual_seconds(state, cell));
    let mut limits = BTreeMap::from([("local".to_owned(), assay_launch::probe::limits(&machine))]);
    let mut unasked = Vec::new();
    for (platform, _) in &campaign.platforms {
        match assay_launch::batch::limits::probe(platform) {
            Some(Ok(found)) => drop(limits.insert(platform.name.clone(), found)),
            Some(Err(reason)) => unasked.push((platform.name.clone(), reason)),
            None => {}
        }
    }
    let plan = campaign.plan(&PlanContext { limits, earlier: &earlier }).map_err(CampaignError::Problems)?;
    check_settings(&plan)?;
    let readers = readers(&plan)?;
    let build = build::of_plan(&plan)?;
    let earlier_build = state.as_ref().filter(|state| state.counts().total() > 0).and_then(|state| {
        let session = state.last_session.as_ref()?;
        Some(session.program.clone())
    });
    Ok(Assembled { plan, record, machine, build, earlier_build, readers, unasked })
}

/// Settings of built-in workloads that are each allowed may not go together, which is found before the first run.
fn check_settings(plan: &Plan) -> anyhow::Result<()> {
    let descriptions = workloads::descriptions();
    for cell in &plan.cells {
        let Some(described) = descriptions.iter().find(|known| known.name == cell.workload) else { continue };
        let is_own = |name: &str| described.settings.iter().any(|setting| setting.name == name);
        // Labels are none of the workload's settings; what is neither was found when the file was read.
        let mut settings = cell.settings.clone();
        settings.retain(|name, _| is_own(name));
        workloads::check(&cell.workload, &settings)?;
    }
    Ok(())
}

/// How the output of runs is read on each platform. A pattern that cannot be used is found before anything runs.
fn readers(plan: &Plan) -> anyhow::Result<BTreeMap<String, Arc<OutputReader>>> {
    plan.platforms
        .iter()
        .map(|platform| Ok((platform.name.clone(), registry::reader(plan, platform)?)))
        .collect()
}

/// The state of a record that exists already.
fn earlier_state(record: &Path) -> anyhow::Result<Option<JournalState>> {
    match Record::open(record) {
        // A directory without a journal becomes a record when it is written to.
        Err(StoreError::Missing { .. }) => Ok(None),
        opened => Ok(Some(opened?.state()?)),
    }
}

/// The median of the times that a cell took before.
fn usual_seconds(state: &JournalState, cell: &CellId) -> Option<f64> {
    let values = state.values(cell, metric::WALL).into_iter();
    let times: Vec<f64> =
        values.filter(|(run, _)| run.status == Some(Status::Succeeded)).map(|(_, seconds)| seconds).collect();
    estimate(&times).map(|times| times.center)
}

/// Runs a plan and prints the result.
pub fn run_and_print(assembled: &Assembled, how: &RunFlags, screen: &mut Screen) -> anyhow::Result<Exit> {
    let (record, outcome) = execute(assembled, how, screen)?;
    signals::end_at_once()?;
    let index = record.index()?;
    let gates = print_answer(assembled, &record, &index, &outcome, screen)?;
    Ok(exit(&outcome, failed_runs(&index)?, &gates))
}

fn print_answer(
    assembled: &Assembled,
    record: &Record,
    index: &Index,
    outcome: &LaunchOutcome,
    screen: &mut Screen,
) -> anyhow::Result<Vec<GateResult>> {
    print::print_table(record, index, None, false, screen)?;
    let gates = print::print_gates(record, index, screen)?;
    print::print_failures(record, index, screen)?;
    if outcome.ending == Ending::Interrupted {
        screen.say("interrupted; finished runs are kept, and the same command resumes the campaign");
        if record.state()?.open_runs.values().any(|open| open.submission.is_some()) {
            screen
                .hint("jobs in the queue stay there: `assay status` shows them, `assay cancel` removes them");
        }
    } else if !outcome.precise {
        warn_of_precision(assembled.plan.repeats.precision, index, screen)?;
        screen.hint("raise `[repeats] at_most` or `budget`, or look for noise with `assay doctor`");
    }
    screen.say(&format!("record: {}", records::shown(record.directory())));
    Ok(gates)
}

/// Runs what is missing of a plan.
pub fn execute(
    assembled: &Assembled,
    how: &RunFlags,
    screen: &mut Screen,
) -> anyhow::Result<(Record, LaunchOutcome)> {
    let plan = &assembled.plan;
    screen.problems(&plan.warnings);
    if let Some((platform, reason)) = assembled.unasked.first() {
        let text = format!("the scheduler of platform `{platform}` cannot be queried: {reason}");
        return Err(Mistake::new(text, "run on a login node, or set `host` on the platform").into());
    }
    refuse_secrets(plan)?;
    if how.fresh {
        move_aside(assembled, screen)?;
    }
    if let Some(earlier) = assembled.earlier_build.as_deref().filter(|_| !how.fresh)
        && build::differs(earlier, &assembled.build)
    {
        screen.warn("the program was rebuilt since this record was last written: its runs mix two builds");
        screen.hint("`--fresh` starts a new record and keeps the old one");
    }
    let mut store = open_store(assembled, how)?;
    report_damage(&store, screen);
    let launch = launch_options(assembled, how)?;
    let mut progress = Progress::new(plan, screen, how.quiet, how.view);
    let outcome = assay_launch::execute(plan, &mut store, &launch, &mut |event| progress.show(event));
    progress.end();
    let outcome = outcome?;
    drop(store);
    Ok((Record::open(&assembled.record)?, outcome))
}

/// Who may read a record that is made.
pub fn permissions(how: &RunFlags) -> RecordPermissions {
    if how.group_readable { RecordPermissions::GROUP_READABLE } else { RecordPermissions::PRIVATE }
}

fn open_store(assembled: &Assembled, how: &RunFlags) -> anyhow::Result<Store> {
    let identity = records::writer(assembled.plan.name.clone(), assembled.machine.host.clone());
    let permissions = permissions(how);
    check_path(&assembled.record)?;
    permissions
        .create_directory(&assembled.record)
        .map_err(|error| unusable(&assembled.record, &error.to_string()))?;
    // Run directories are named in scripts and environments, so they must not depend on the current directory.
    let record = assembled.record.canonicalize().unwrap_or_else(|_| assembled.record.clone());
    check_path(&record)?;
    Ok(if how.accept_damage {
        Store::open_accepting_damage(&record, &identity)?
    } else {
        Store::open_or_create(&record, &identity)?
    })
}

/// Refuses commands that hold the value of a secret: the journal and the scripts of runs would keep it.
fn refuse_secrets(plan: &Plan) -> Result<(), Mistake> {
    match assay_launch::environment::expanded_secret(&plan.texts()) {
        None => Ok(()),
        Some(name) => Err(Mistake::new(
            format!(
                "a command or setting holds the value of the environment variable `{name}`, which is a secret"
            ),
            format!(
                "write ${name} instead, on the command line in single quotes: the shell of the run fills it in"
            ),
        )),
    }
}

/// Refuses a record whose run directories could not be named in scripts, before anything of it is created.
fn check_path(record: &Path) -> Result<(), Mistake> {
    let absolute = std::path::absolute(record).unwrap_or_else(|_| record.to_owned());
    match absolute.to_str() {
        Some(_) => Ok(()),
        None => Err(unusable(&absolute, "its path is not valid UTF-8, which scripts and results need")),
    }
}

fn unusable(record: &Path, reason: &str) -> Mistake {
    let text = format!("cannot create a record in {}: {reason}", record.display());
    Mistake::new(text, "name another directory with `--record`")
}

/// Reports what was wrong with a journal that is written to nevertheless.
fn report_damage(store: &Store, screen: &mut Screen) {
    let damage = &store.state().damage;
    if damage.is_worth_reporting() {
        let directory = records::shown(store.directory());
        screen.warn(&format!("the journal of {directory} is damaged: {damage}"));
    }
}

fn launch_options(assembled: &Assembled, how: &RunFlags) -> anyhow::Result<LaunchOptions> {
    let only = match how.only {
        Some(options::Only::Failed) => assay_launch::RunSelection::Failed,
        None => assay_launch::RunSelection::Missing,
    };
    Ok(LaunchOptions {
        jobs: how.jobs,
        only,
        assay: std::env::current_exe().context("cannot find the path of this program")?,
        machine: assembled.machine.clone(),
        program: assembled.build.clone(),
        readers: assembled.readers.clone(),
        write_sample: |kind, options, seed, out| {
            assay_samples::write(kind, options, seed, None, out).map_err(|error| error.to_string())
        },
        keep_environment: how.keep_env.clone(),
        interrupt: signals::interrupts()?,
        simulation: None,
    })
}

/// Moves a record aside under a name that says when. Nothing is ever deleted.
fn move_aside(assembled: &Assembled, screen: &mut Screen) -> anyhow::Result<()> {
    let record: &Path = &assembled.record;
    if !record.is_dir() {
        return Ok(());
    }
    // Whoever writes the record now must not lose it, and nobody may begin to before it has moved. Any other trouble
    // with it is a reason to start over.
    let identity = records::writer(assembled.plan.name.clone(), assembled.machine.host.clone());
    let held = match assay_store::hold(record, &identity) {
        Err(error @ (StoreError::Held { .. } | StoreError::HeldByUnknown { .. })) => return Err(error.into()),
        held => held.ok(),
    };
    let name = record.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let aside =
        (1..).map(|number| record.with_file_name(format!("{name}.old-{number}"))).find(|path| !path.exists());
    let aside: PathBuf = aside.context("no free name for the old record")?;
    std::fs::rename(record, &aside).with_context(|| format!("cannot move {} aside", record.display()))?;
    drop(held);
    screen.say(&format!("the old record is now {}", records::shown(&aside)));
    Ok(())
}

/// Runs of planned cells that failed or timed out and were not redone, whenever that was.
pub fn failed_runs(index: &Index) -> anyhow::Result<u64> {
    let cells = index.cells()?;
    Ok(cells.iter().filter(|cell| cell.planned).map(|cell| cell.runs.failed + cell.runs.timed_out).sum())
}

/// The exit code of a finished campaign. A gate that has nothing to compare with is a mistake in the campaign or in the
/// reference it names: it must not pass silently.
pub fn exit(outcome: &LaunchOutcome, failed: u64, gates: &[GateResult]) -> Exit {
    let has = |state: GateState| gates.iter().any(|gate| gate.state == state);
    if outcome.ending == Ending::Interrupted {
        Exit::Interrupted
    } else if failed > 0 {
        Exit::RunsFailed
    } else if has(GateState::Failed) {
        Exit::GateFailed
    } else if has(GateState::Unknown) {
        Exit::Usage
    } else if !outcome.precise || has(GateState::Undecided) {
        Exit::NotPrecise
    } else {
        Exit::Fine
    }
}
