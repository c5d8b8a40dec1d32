//! Trainings whose tasks are MPI processes: on this machine under mpirun, and over the nodes of a real Slurm under srun.
//! Ignored unless asked for, because they need root, Open MPI and Slurm: `./dev test` asks for them.
#![cfg(feature = "mpi")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

#[path = "slurm/harness.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod harness;

use std::path::{Path, PathBuf};
use std::process::Command;

use harness::{Place, Slurm};
use serde_json::Value;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

/// Small trainings of every workload.
const TRAININGS: [&str; 3] = [
    "lm size=custom width=32 hidden=64 layers=2 heads=2 vocabulary=300 context=16 phase=step iterations=8 warmup=0",
    "bert task=pretrain size=custom width=32 hidden=64 layers=2 heads=2 vocabulary=3000 context=16 iterations=8 warmup=0",
    "mnist data_set=synthetic train_samples=100 test_samples=20 epochs=2 steps_per_iteration=4",
];

/// The losses of a training, and how its ranks were connected.
struct Trained {
    losses: Vec<f64>,
    ranks: Option<String>,
}

fn trained(command: &mut Command) -> Trained {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    losses_of(&text)
}

fn losses_of(text: &str) -> Trained {
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let losses = lines.iter().filter(|line| line["metric"] == "loss.train" && line["step"].is_number());
    let ranks = lines.iter().find(|line| line["name"] == "ranks").and_then(|line| line["value"].as_str());
    Trained {
        losses: losses.filter_map(|line| line["value"].as_f64()).collect(),
        ranks: ranks.map(str::to_owned),
    }
}

fn work(words: &str, more: &[String]) -> Command {
    let mut command = Command::new(ASSAY);
    command.arg("work").args(words.split(' ')).args(more);
    command
}

fn mpirun(processes: usize, words: &str, more: &[String]) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &processes.to_string(), ASSAY, "work"]);
    command.args(words.split(' ')).args(more);
    command
}

fn assert_close(what: &str, one: &[f64], other: &[f64]) {
    assert!(!one.is_empty() && one.len() == other.len(), "{what}: {one:?} {other:?}");
    for (one, other) in one.iter().zip(other) {
        assert!((one / other - 1.0).abs() < 1e-5, "{what}: {one} {other}");
    }
}

#[test]
#[ignore = "needs Open MPI; run by ./dev test"]
fn processes_compute_what_threads_and_one_process_do() {
    for words in TRAININGS {
        for tasks in [2, 3] {
            let more = |tasks: usize, batch: usize| {
                vec![format!("tasks={tasks}"), format!("batch_size={batch}"), "threads=2".to_owned()]
            };
            let processes = trained(&mut mpirun(tasks, words, &more(tasks, 4)));
            let threads = trained(&mut work(words, &more(tasks, 4)));
            let alone = trained(&mut work(words, &more(1, 4 * tasks)));
            assert_eq!(processes.ranks.as_deref(), Some("mpi"));
            assert_eq!((threads.ranks.as_deref(), alone.ranks), (Some("threads"), None));
            assert_close(words, &processes.losses, &threads.losses);
            assert_close(words, &processes.losses, &alone.losses);
        }
    }
}

/// Where ranks outnumber cores, as they do on two: whoever waits must not take the core from the rank that is waited for.
#[test]
#[ignore = "needs Open MPI; run by ./dev test"]
fn ranks_that_wait_leave_the_cores_to_others() {
    let more = ["tasks=6".to_owned(), "threads=6".to_owned()];
    let words = "lm size=custom width=64 hidden=128 layers=2 heads=2 vocabulary=2000 context=64 batch_size=2 phase=step iterations=10 warmup=1";
    let cpu_s = |command: &mut Command| {
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let found = lines.filter(|line| line["metric"] == "cpu.iteration" && line["step"].is_null()).last();
        found.and_then(|line| line["value"].as_f64()).unwrap_or_else(|| panic!("{text}"))
    };
    let threads = cpu_s(&mut work(words, &more));
    let processes = cpu_s(&mut mpirun(6, words, &more));
    assert!(processes < 6.0 * threads, "{processes} CPU seconds a step, threads take {threads}");
}

#[test]
#[ignore = "needs Open MPI; run by ./dev test"]
fn processes_that_are_not_the_tasks_are_refused() {
    let output = mpirun(2, TRAININGS[0], &["tasks=4".to_owned()]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("2 processes were started"), "{text}");
    // A file that only one process cannot write ends all of them.
    let directory = tempfile::tempdir().unwrap();
    let save = format!("save={}", directory.path().join("no/such/directory/x.safetensors").display());
    let output = mpirun(2, TRAININGS[0], &["tasks=2".to_owned(), save]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(!output.status.success() && text.contains("no/such/directory"), "{text}");
}

/// A campaign over tasks that are spread over two nodes; on one host, memory that nodes share must not be used.
#[test]
#[ignore = "needs root, Slurm and Open MPI; run by ./dev test"]
fn tasks_of_a_campaign_spread_over_nodes() {
    let slurm = Slurm::start(false);
    let place = Place::new(
        &slurm,
        "start = 'srun --mpi=pmix'\n[environment]\nOMPI_MCA_btl = 'self,tcp'\nOMPI_MCA_btl_tcp_if_include = 'lo'",
        "[workload]\nkind = 'lm'\n[fixed]\nsize = 'custom'\nwidth = 32\nhidden = 64\nlayers = 2\nheads = 2\n\
         vocabulary = 300\ncontext = 16\nphase = 'step'\niterations = 8\nwarmup = 0\nthreads = 4\n\
         [[zip]]\ntasks = [2, 4]\nbatch_size = [8, 4]\n\
         [run]\nplatforms = ['cluster']\n[resources]\nnodes = 2\ntasks = 'tasks'\ntasks_per_node = 'tasks / 2'\n\
         [repeats]\nat_least = 1",
    );
    let (code, text) = place.run();
    assert_eq!(code, 0, "{text}");
    let alone = trained(&mut work(TRAININGS[0], &["batch_size=16".to_owned()]));
    let logs = find_all(place.directory.path(), "stdout.log");
    assert_eq!(logs.len(), 2, "{logs:?}");
    for log in logs {
        let run = losses_of(&std::fs::read_to_string(log).unwrap());
        assert_eq!(run.ranks.as_deref(), Some("mpi"));
        assert_close("over nodes", &run.losses, &alone.losses);
    }
}

fn find_all(directory: &Path, name: &str) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![directory.to_owned()], Vec::new());
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false if entry.file_name() == name => found.push(entry.path()),
                false => {}
            }
        }
    }
    found
}
