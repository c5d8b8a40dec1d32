//! CPU and wall-clock time of commands, and what `/proc` says about a process.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// What a command cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// CPU seconds, user and system, of the command and all its waited-for descendants.
    pub cpu_s: f64,
    /// Wall-clock seconds.
    pub wall_s: f64,
}

/// Runs a command to its end and gives what it cost. Its output is thrown away; its failure is an error.
///
/// The kernel adds a child's usage to its parent's when it is waited for, so only one command may be measured at a
/// time.
pub fn cost(command: &mut Command) -> anyhow::Result<Cost> {
    cost_into(command, Stdio::null(), &[0])
}

/// The same for a command whose output is wanted: some do less when they see that it is thrown away. Some also say
/// something with their exit code: the codes given are not failures.
pub fn cost_with_output(command: &mut Command, exits: &[i32]) -> anyhow::Result<Cost> {
    cost_into(command, Stdio::piped(), exits)
}

fn cost_into(command: &mut Command, out: Stdio, exits: &[i32]) -> anyhow::Result<Cost> {
    command.stdin(Stdio::null()).stdout(out).stderr(Stdio::piped());
    let before = children_cpu_s()?;
    let began = Instant::now();
    let output = command.output().with_context(|| format!("cannot start {}", name(command)))?;
    let wall_s = began.elapsed().as_secs_f64();
    check(command, &output, exits)?;
    Ok(Cost { cpu_s: children_cpu_s()? - before, wall_s })
}

/// The same, with the CPU seconds of the command's own process alone, without its children; in steps of a hundredth of a
/// second, and without what it does in its last tenth of a second.
pub fn cost_with_own(command: &mut Command) -> anyhow::Result<(Cost, f64)> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let before = children_cpu_s()?;
    let began = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", name(command)))?;
    let stat = format!("/proc/{}/stat", child.id());
    let mut own_s = 0.0;
    while child.try_wait()?.is_none() {
        own_s = fs::read_to_string(&stat).ok().and_then(|stat| own_cpu_of_stat(&stat)).unwrap_or(own_s);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let wall_s = began.elapsed().as_secs_f64();
    check(command, &child.wait_with_output()?, &[0])?;
    Ok((Cost { cpu_s: children_cpu_s()? - before, wall_s }, own_s))
}

/// The largest resident memory in bytes that any child had that this process has waited for.
pub fn peak_of_children() -> anyhow::Result<i64> {
    Ok(getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss() * 1024)
}

fn check(command: &Command, output: &Output, exits: &[i32]) -> anyhow::Result<()> {
    if !output.status.code().is_some_and(|code| exits.contains(&code)) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let tail: Vec<&str> = stderr.lines().rev().take(8).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        bail!("{} ended with {}\n{}", name(command), output.status, tail.join("\n"));
    }
    Ok(())
}

fn name(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args()).take(4);
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// CPU seconds of all children that this process has waited for, and of theirs.
pub fn children_cpu_s() -> anyhow::Result<f64> {
    let usage: Usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let microseconds = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(microseconds as f64 * 1e-6)
}

/// The seconds of those that the kernel worked for them.
pub fn children_kernel_s() -> anyhow::Result<f64> {
    let usage: Usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok(usage.system_time().num_microseconds() as f64 * 1e-6)
}

/// A look at a running process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// CPU seconds so far, with those of children it has waited for; in steps of a hundredth of a second.
    pub cpu_s: f64,
    /// Resident memory in bytes.
    pub resident_bytes: f64,
}

/// The kernel's ticks in a second, as it shows them to programs on every architecture of Linux.
const TICKS: f64 = 100.0;

/// Looks at a running process.
pub fn look(pid: u32) -> anyhow::Result<Look> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let cpu_s = cpu_of_stat(&stat).context("cannot read the times of a process")?;
    let resident_bytes = resident_of_status(&status).context("cannot read the memory of a process")?;
    Ok(Look { cpu_s, resident_bytes })
}

fn cpu_of_stat(stat: &str) -> Option<f64> {
    times_of_stat::<4>(stat)
}

fn own_cpu_of_stat(stat: &str) -> Option<f64> {
    times_of_stat::<2>(stat)
}

/// The sum of the first times: user and system time of the process, then of its children.
fn times_of_stat<const COUNT: usize>(stat: &str) -> Option<f64> {
    // The second field is a name in brackets and may hold anything; fields are counted after it.
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    let times: Vec<f64> = fields.skip(11).take(COUNT).flat_map(str::parse).collect();
    (times.len() == COUNT).then(|| times.iter().sum::<f64>() / TICKS)
}

fn resident_of_status(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_command_includes_its_children() {
        let work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let cost = cost(Command::new("sh").args(["-c", &format!("sh -c '{work}'; true")])).unwrap();
        assert!(cost.cpu_s > 0.002, "{cost:?}");
        assert!(cost.wall_s > 0.002, "{cost:?}");
    }

    #[test]
    fn a_failed_command_is_an_error_with_its_words() {
        let error = cost(Command::new("sh").args(["-c", "echo oh no >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("oh no"), "{error}");
        assert!(cost_with_output(Command::new("sh").args(["-c", "exit 3"]), &[0, 3]).is_ok());
    }

    #[test]
    fn the_peak_of_a_child_is_more_than_nothing() {
        cost(&mut Command::new("true")).unwrap();
        assert!(peak_of_children().unwrap() > 100_000);
    }

    #[test]
    fn times_are_found_behind_odd_names() {
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 100 50 30 20 20 0 1 0 0";
        assert_eq!(cpu_of_stat(stat), Some(2.0));
        assert_eq!(cpu_of_stat("12 (a) S 1"), None);
        assert!(look(std::process::id()).unwrap().resident_bytes > 1e5);
    }
}
