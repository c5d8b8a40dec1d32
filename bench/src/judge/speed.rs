//! How fast verdicts, change points and resamples are, on one core.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::Command;

use assay_judge::answer;
use assay_random::Random;
use assay_stats::bootstrap::Bootstrap;
use assay_stats::change_point::{ChangePointSearch, change_points};
use nix::sys::resource::{UsageWho, getrusage};

use super::{record, times};
use crate::goal::{GoalBound, Goals};

/// What scipy and ruptures take for the same work, as `NAME SECONDS RESULT` lines.
const PEERS: &str = include_str!("../../rivals/judge.py");

/// Measures speeds, and those of scipy and ruptures where a Python has them.
pub fn measure(python: &str, goals: &mut Goals) -> anyhow::Result<()> {
    let mut random = Random::stream(1, "judge speed");
    let cells = (0..10_000).map(|_| times(&mut random, 1.0, 30)).collect();
    let evidence = record("large", cells);
    let (seconds, judged) = timed(|| answer(&evidence, &[], usize::MAX))?;
    println!("verdicts of 10,000 cells: {} of them may be the best", judged.may_be_best.len());
    goals.add("verdicts of 10,000 cells with 30 repeats", seconds, "CPU s", GoalBound::AtMost(2.0));
    for changes in [0, 3, 1_000] {
        let values = steps(&mut random, 1_000_000, changes);
        let search = search(values.len());
        let (seconds, found) = timed(|| change_points(&values, &search).unwrap_or_default())?;
        println!("{changes} changes in 1,000,000 values: {} found", found.len().saturating_sub(1));
        goals.add(
            format!("change points, {changes} changes in 1,000,000 values"),
            seconds,
            "CPU s",
            GoalBound::AtMost(2.0),
        );
    }
    let values = times(&mut random, 1.0, 1_000);
    let mean = |resample: &mut [f64]| Some(resample.iter().sum::<f64>() / resample.len() as f64);
    let bootstrap = || Bootstrap::new(0.95, 1).percentile(&values, mean);
    let mut all: Vec<f64> = Vec::new();
    for _ in 0..5 {
        all.push(1e3 * timed(bootstrap)?.0);
    }
    all.sort_by(f64::total_cmp);
    goals.add("bootstrap, 10,000 resamples of 1,000 values", all[2], "CPU ms", GoalBound::AtMost(50.0));
    peers(python, &mut random, goals)
}

fn search(count: usize) -> ChangePointSearch {
    ChangePointSearch { penalty: 15.0 * (count as f64).ln(), minimum_length: 20, variance_floor: 1e-6 }
}

/// A series with steps of one standard deviation and more at even distances.
fn steps(random: &mut Random, count: usize, changes: usize) -> Vec<f64> {
    let length = count / (changes + 1) + 1;
    (0..count).map(|index| 10.0 + (index / length % 2) as f64 + 0.5 * random.normal()).collect()
}

/// CPU seconds of this process, user and system: other work on the machine does not count.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> anyhow::Result<(f64, T)> {
    let before = cpu_seconds()?;
    let result = work();
    Ok((cpu_seconds()? - before, result))
}

fn cpu_seconds() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// The same work by scipy and ruptures, where they are installed: change points must agree exactly.
fn peers(python: &str, random: &mut Random, goals: &mut Goals) -> anyhow::Result<()> {
    let values = steps(random, 2_000, 3);
    let text: Vec<String> = values.iter().map(ToString::to_string).collect();
    let output = Command::new(python).args(["-c", PEERS, &text.join(" ")]).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        println!(
            "not compared with scipy and ruptures: {python} has not got them (pip install scipy ruptures)\n"
        );
        return Ok(());
    };
    let search = search(values.len());
    let (own, found) = timed(|| change_points(&values, &search).unwrap_or_default())?;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        println!("{line}");
        if let Some((seconds, ends)) = line.strip_prefix("ruptures ").and_then(|rest| rest.split_once(' ')) {
            let same = ends.split(',').filter_map(|end| end.parse().ok()).collect::<Vec<usize>>() == found;
            goals.add(
                "change points that differ from ruptures'",
                f64::from(u8::from(!same)),
                "",
                GoalBound::AtMost(0.0),
            );
            let times = seconds.parse::<f64>().ok().map(|seconds| seconds / own.max(1e-6));
            goals.add("change points, times the speed of ruptures", times, "", GoalBound::AtLeast(10.0));
        }
        if let Some(seconds) = line.strip_prefix("scipy ").and_then(|rest| rest.split(' ').next()) {
            let (own, _) = timed(|| {
                let mean = |resample: &mut [f64]| Some(resample.iter().sum::<f64>() / resample.len() as f64);
                Bootstrap::new(0.95, 1).percentile(&values[..1_000], mean)
            })?;
            let times = seconds.parse::<f64>().ok().map(|seconds| seconds / own.max(1e-6));
            goals.add("bootstrap, times the speed of scipy", times, "", GoalBound::AtLeast(1.0));
        }
    }
    println!();
    Ok(())
}
