//! A simulated cluster behind the same trait as Slurm and PBS: nodes, a queue, and their faults. It starts no processes:
//! it writes into run directories what the script of a run would, so that a hundred thousand runs take minutes. It serves
//! tests and benches of the launcher; nothing that a user can name leads here.
//!
//! Faults: nodes fail under tasks, which are requeued; jobs vanish before they begin; submissions go unanswered, with or
//! without effect; the controller does not answer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use assay_campaign::Resources;
use assay_model::platform::BatchSettings;
use assay_random::Random;

use super::host::Host;
use super::job_script;
use super::node_script::{CLAIM, END, TRACE};
use super::scheduler::{JobRequest, Scheduler, SubmitError, TaskStage, TaskState};
use crate::worker::now;

/// A simulated cluster: its size, its faults, and what it counts.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// Nodes; a task has one to itself.
    pub nodes: usize,
    /// The seed of durations and faults.
    pub seed: u64,
    /// Seconds that pass from one question to the next.
    pub step_s: f64,
    /// How long runs take, in seconds, between these two.
    pub duration_s: (f64, f64),
    /// How likely a node fails under a task, so that the task is requeued.
    pub node_failure: f64,
    /// How likely a job vanishes before it begins.
    pub lost_job: f64,
    /// How likely a submission has no answer; every second one has an effect all the same.
    pub unanswered: f64,
    /// How likely the controller does not answer a question.
    pub silence: f64,
    /// What happened.
    pub ledger: Arc<Mutex<Ledger>>,
}

/// What happened on a simulated cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Calls of sbatch, as it were.
    pub submissions: u64,
    /// Calls of squeue, as it were.
    pub questions: u64,
    /// Runs that were made to their end.
    pub completed: u64,
    /// Tasks that were requeued.
    pub requeued: u64,
    /// Jobs that vanished.
    pub lost: u64,
    /// Submissions without an answer.
    pub unanswered: u64,
    /// Questions without an answer.
    pub silences: u64,
    /// The most tasks that were known at once.
    pub most_tasks: usize,
}

/// Questions after which an ended task is forgotten.
const REMEMBERED: u64 = 3;

/// The cluster at work.
pub(super) struct Simulator {
    simulation: Simulation,
    random: Random,
    /// Decides about silences alone, so that they do not depend on how often a busy machine asks in between.
    silences: Random,
    clock_s: f64,
    began_at: f64,
    jobs: u64,
    next: u64,
    free: usize,
    tasks: BTreeMap<u64, Simulated>,
    pending: VecDeque<u64>,
    /// What happens next to running tasks, by the time in milliseconds.
    events: BinaryHeap<Reverse<(u64, u64)>>,
    /// Tasks to forget, with the question after which.
    ended: VecDeque<(u64, u64)>,
}

/// One task.
struct Simulated {
    name: String,
    state: TaskState,
    runs: VecDeque<PathBuf>,
    /// Whether the event that comes is the failure of its node.
    fails: bool,
}

impl Simulator {
    pub(super) fn new(simulation: Simulation) -> Simulator {
        Simulator {
            random: Random::new(simulation.seed),
            silences: Random::new(simulation.seed),
            free: simulation.nodes,
            simulation,
            clock_s: 0.0,
            began_at: now(),
            jobs: 0,
            next: 0,
            tasks: BTreeMap::new(),
            pending: VecDeque::new(),
            events: BinaryHeap::new(),
            ended: VecDeque::new(),
        }
    }

    fn note(&self, change: impl FnOnce(&mut Ledger)) {
        change(&mut self.simulation.ledger.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn happens(&mut self, likely: f64) -> bool {
        self.random.chance(likely)
    }

    fn enqueue(&mut self, request: &JobRequest<'_>) -> String {
        self.jobs += 1;
        let job = self.jobs.to_string();
        for (scripts, task) in request.tasks.iter().zip(1..) {
            let state = TaskState {
                job: job.clone(),
                submission: request.submission.to_owned(),
                task,
                submitted_at: Some(self.began_at + self.clock_s),
                nodes: Some(1),
                ..TaskState::default()
            };
            let runs = scripts.iter().filter_map(|script| Some(script.parent()?.to_owned())).collect();
            self.next += 1;
            self.tasks
                .insert(self.next, Simulated { name: request.name.to_owned(), state, runs, fails: false });
            self.pending.push_back(self.next);
        }
        job
    }

    /// Lets time pass.
    fn advance(&mut self) {
        let until = self.clock_s + self.simulation.step_s;
        self.start_pending();
        while let Some(Reverse((at, number))) = self.events.peek().copied() {
            if at as f64 / 1e3 > until {
                break;
            }
            self.events.pop();
            self.clock_s = at as f64 / 1e3;
            self.happen(number);
            self.start_pending();
        }
        self.clock_s = until;
        let question = self.simulation.ledger.lock().unwrap_or_else(PoisonError::into_inner).questions;
        while self.ended.front().is_some_and(|(after, _)| *after < question) {
            if let Some((_, number)) = self.ended.pop_front() {
                self.tasks.remove(&number);
            }
        }
    }

    fn start_pending(&mut self) {
        while self.free > 0 {
            let Some(number) = self.pending.pop_front() else { return };
            // A job that had begun is requeued, not lost.
            let is_new = self.tasks.get(&number).is_some_and(|task| task.state.restarts == 0);
            if is_new && self.happens(self.simulation.lost_job) {
                self.note(|ledger| ledger.lost += 1);
                self.end(number, TaskStage::NodeFailed);
                continue;
            }
            self.free -= 1;
            let at = self.began_at + self.clock_s;
            if let Some(task) = self.tasks.get_mut(&number) {
                task.state.stage = TaskStage::Running;
                task.state.started_at = Some(at);
                task.state.node_list = format!("simulated-{}", number % 1000);
            }
            self.begin_run(number);
        }
    }

    /// Begins the next run of a task that this task may make; ends the task where none is left.
    fn begin_run(&mut self, number: u64) {
        let at = self.began_at + self.clock_s;
        let (shortest, longest) = self.simulation.duration_s;
        let duration = self.random.between(shortest, longest);
        let fails = self.happens(self.simulation.node_failure);
        let Some(task) = self.tasks.get_mut(&number) else { return };
        let job = format!("{}_{}", task.state.job, task.state.task);
        while task.runs.front().is_some_and(|directory| !claim(directory, &job, at)) {
            task.runs.pop_front();
        }
        if task.runs.is_empty() {
            self.free += 1;
            self.end(number, TaskStage::Ended);
            return;
        }
        task.fails = fails;
        // A node that fails does so at some time during the run.
        let after = if fails { duration * 0.5 } else { duration };
        self.events.push(Reverse((((self.clock_s + after) * 1e3) as u64, number)));
    }

    /// A run ends, or its node fails.
    fn happen(&mut self, number: u64) {
        let at = self.began_at + self.clock_s;
        let completed = self.simulation.ledger.lock().unwrap_or_else(PoisonError::into_inner).completed;
        let Some(task) = self.tasks.get_mut(&number) else { return };
        if task.fails {
            task.state.stage = TaskStage::Pending;
            task.state.restarts += 1;
            self.free += 1;
            self.pending.push_back(number);
            self.note(|ledger| ledger.requeued += 1);
            return;
        }
        if let Some(directory) = task.runs.pop_front() {
            // What cannot be written is a run without an end, which is what the launcher then has to find out.
            let _ = fs::write(directory.join("stdout.log"), format!("ticket: {}\n", completed + 1));
            let _ = fs::write(directory.join("stderr.log"), "");
            let _ = fs::write(directory.join(END), format!("0 {at}\n"));
            self.note(|ledger| ledger.completed += 1);
        }
        self.begin_run(number);
    }

    fn end(&mut self, number: u64, stage: TaskStage) {
        let (at, simulation) = (self.began_at + self.clock_s, &self.simulation);
        let question = simulation.ledger.lock().unwrap_or_else(PoisonError::into_inner).questions;
        if let Some(task) = self.tasks.get_mut(&number) {
            task.state.stage = stage;
            task.state.ended_at = Some(at);
        }
        self.ended.push_back((question + REMEMBERED, number));
    }
}

/// What the script of a run does at its beginning: whether this job makes the run.
fn claim(directory: &Path, job: &str, at: f64) -> bool {
    let claim = directory.join(CLAIM);
    let is_mine = symlink(job, &claim).is_ok()
        || fs::read_link(&claim).is_ok_and(|maker| maker.as_os_str().to_str() == Some(job));
    if !is_mine || directory.join(END).exists() {
        return false;
    }
    let trace = directory.join(TRACE);
    if trace.exists() {
        let kept = (1..=1000).map(|restart| directory.join(format!("requeued-{restart}")));
        for kept in kept {
            if fs::create_dir(&kept).is_ok() {
                let _ = fs::rename(&trace, kept.join(TRACE));
                break;
            }
        }
    }
    fs::write(&trace, format!("host simulated\nstart {at}\n")).is_ok()
}

impl Scheduler for Simulator {
    fn script(&self, request: &JobRequest<'_>) -> String {
        job_script::text("#SIMULATED", &[format!("--job-name={}", request.name)], request, "TASK")
    }

    fn start_words(&self, _settings: &BatchSettings, _resources: &Resources) -> String {
        String::new()
    }

    fn submit(
        &mut self,
        _host: &Host,
        request: &JobRequest<'_>,
        _script: &Path,
    ) -> Result<String, SubmitError> {
        self.note(|ledger| ledger.submissions += 1);
        if self.happens(self.simulation.unanswered) {
            self.note(|ledger| ledger.unanswered += 1);
            if self.happens(0.5) {
                self.enqueue(request);
            }
            return Err(SubmitError::Unclear("simulated: no answer".to_owned()));
        }
        Ok(self.enqueue(request))
    }

    fn tasks(&mut self, _host: &Host, name: &str, _known: &[String]) -> Result<Vec<TaskState>, String> {
        let known = self.tasks.len();
        self.note(|ledger| {
            ledger.questions += 1;
            ledger.most_tasks = ledger.most_tasks.max(known);
        });
        self.advance();
        if self.silences.chance(self.simulation.silence) {
            self.note(|ledger| ledger.silences += 1);
            return Err("simulated: no answer".to_owned());
        }
        let named = self.tasks.values().filter(|task| task.name == name);
        Ok(named.map(|task| task.state.clone()).collect())
    }

    fn cancel(&mut self, _host: &Host, jobs: &[String]) -> Result<(), String> {
        let wanted: Vec<u64> = self
            .tasks
            .iter()
            .filter(|(_, task)| jobs.contains(&task.state.job) && !task.state.stage.is_over())
            .map(|(number, _)| *number)
            .collect();
        for number in wanted {
            match self.pending.iter().position(|pending| *pending == number) {
                Some(place) => drop(self.pending.remove(place)),
                None => self.free += 1,
            }
            self.events.retain(|Reverse((_, running))| *running != number);
            self.end(number, TaskStage::Cancelled);
        }
        Ok(())
    }
}
