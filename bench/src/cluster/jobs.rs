//! The same jobs of one second through the same Slurm: by `assay`, one job a run and packed, by a shell loop, and by
//! ReFrame. All of them have the same slots: two jobs on each of four nodes.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::ensure;

use super::slurm::Slurm;
use crate::measure::{Cost, cost_with_own};
use crate::place::Place;
use crate::rivals::find;

/// Jobs that can run at once: four nodes of 16 CPUs, 8 for each job.
pub const SLOTS: usize = 8;
/// CPUs of a job.
const CPUS: usize = 8;

/// What some runs took.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    /// Runs.
    pub runs: usize,
    /// Seconds from the start of the command to its end, and CPU seconds of the command and what it waited for.
    pub cost: Cost,
    /// CPU seconds of the command's own process.
    pub own_cpu_s: f64,
    /// Calls of the scheduler's controller.
    pub calls: u64,
}

impl Taken {
    /// Seconds of a slot that each run took beyond its one second.
    pub fn overhead_s(&self) -> f64 {
        self.cost.wall_s * SLOTS as f64 / self.runs as f64 - 1.0
    }

    /// Calls in a minute.
    pub fn calls_per_minute(&self) -> f64 {
        self.calls as f64 * 60.0 / self.cost.wall_s
    }

    /// CPU milliseconds per run, of the command and what it waited for.
    pub fn cpu_ms(&self) -> f64 {
        self.cost.cpu_s * 1e3 / self.runs as f64
    }

    /// CPU milliseconds per run, of the command's own process.
    pub fn own_cpu_ms(&self) -> f64 {
        self.own_cpu_s * 1e3 / self.runs as f64
    }
}

fn taken(slurm: &Slurm, runs: usize, command: &mut Command) -> anyhow::Result<Taken> {
    slurm.wait_until_empty()?;
    slurm.reset_calls()?;
    let (cost, own_cpu_s) = cost_with_own(slurm.used_by(command))?;
    Ok(Taken { runs, cost, own_cpu_s, calls: slurm.calls()? })
}

/// The runs by `assay run`; `pack` of them share a job.
pub fn assay(place: &Place, slurm: &Slurm, runs: usize, pack: usize) -> anyhow::Result<Taken> {
    let directory = place.fresh("jobs")?;
    fs::create_dir(directory.join("platforms"))?;
    fs::write(
        directory.join("platforms/cluster.toml"),
        format!("name = 'cluster'\nlauncher = 'slurm'\n[batch]\npack = {pack}\nqueued = 500\n"),
    )?;
    fs::write(
        directory.join("campaign.toml"),
        format!(
            "name = 'jobs'\n[workload]\ncommand = 'sleep 1'\n[run]\nplatforms = ['cluster']\n\
             [resources]\ncpus_per_task = {CPUS}\n[repeats]\nat_least = {runs}\n[read]\nheadline = 'duration.wall'\n"
        ),
    )?;
    let taken = taken(slurm, runs, place.assay(&directory).args(["run", "campaign.toml"]))?;
    let mut query = place.assay(&directory);
    let count =
        query.args(["query", "select count(*) from run where status = 'succeeded'", "jobs"]).output()?;
    let text = String::from_utf8_lossy(&count.stdout).into_owned();
    ensure!(text.contains(&runs.to_string()), "not all runs succeeded: {text}");
    Ok(taken)
}

/// The runs by a shell loop that submits them one by one and waits for the last.
pub fn shell_loop(place: &Place, slurm: &Slurm, runs: usize) -> anyhow::Result<Taken> {
    let directory = place.fresh("loop")?;
    let text = format!(
        "i=0\nwhile [ $i -lt {runs} ]; do i=$((i + 1)); sbatch --parsable -J loop -c {CPUS} -o out-$i.log --wrap 'sleep 1' \
         >>ids; done\nwhile [ -n \"$(squeue -h -n loop)\" ]; do sleep 1; done\n"
    );
    fs::write(directory.join("loop.sh"), text)?;
    taken(slurm, runs, Command::new("sh").arg("loop.sh").current_dir(&directory))
}

/// The runs by ReFrame; none where it is not installed.
pub fn reframe(place: &Place, slurm: &Slurm, runs: usize) -> anyhow::Result<Option<Taken>> {
    let Some(program) = find("reframe", place) else { return Ok(None) };
    let directory = place.fresh("reframe")?;
    write_reframe(&directory, runs)?;
    let mut command = Command::new(program);
    command.current_dir(&directory).env("TMPDIR", &directory);
    command.args(["-C", "settings.py", "--prefix", "reframe", "-c", "check.py", "-r"]);
    taken(slurm, runs, &mut command).map(Some)
}

fn write_reframe(directory: &Path, runs: usize) -> anyhow::Result<()> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
    let settings = format!(
        "site_configuration = {{\n    'systems': [{{\n        'name': 'here', 'hostnames': ['{}'],\n        \
         'partitions': [{{'name': 'main', 'scheduler': 'squeue', 'launcher': 'local', 'environs': ['plain'],\n            \
         'max_jobs': 500, 'access': ['-c', '{CPUS}']}}],\n    }}],\n    \
         'environments': [{{'name': 'plain'}}],\n}}\n",
        host.trim()
    );
    fs::write(directory.join("settings.py"), settings)?;
    let check = format!(
        "import reframe as rfm\nimport reframe.utility.sanity as sn\n\n\n@rfm.simple_test\n\
         class Sleep(rfm.RunOnlyRegressionTest):\n    number = parameter(range({runs}))\n    valid_systems = ['*']\n    \
         valid_prog_environs = ['*']\n    executable = 'sleep'\n    executable_opts = ['1']\n\n    @sanity_function\n    \
         def ended(self):\n        return sn.assert_true(1)\n"
    );
    fs::write(directory.join("check.py"), check)?;
    Ok(())
}
