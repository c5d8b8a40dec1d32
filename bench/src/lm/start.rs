//! How long it takes from the start of a process to the beginning of its first iteration.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};

use crate::engines::peer::Peer;
use crate::engines::{Contender, THREADS, Torch};
use crate::figures::{MedianAndRange, number};
use crate::goal::{GoalBound, Goals};
use crate::place::Place;

/// The longest start, as a share of PyTorch's.
const MOST_START: f64 = 0.2;
/// What the program in PyTorch says when it is ready for the small model.
const READY: &str = "ready with 128625408 parameters in";

/// The starts of each, in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Starts {
    /// The native engine.
    ours: Vec<f64>,
    /// A program in PyTorch that draws its weights in PyTorch's own way.
    theirs: Vec<f64>,
    /// The engine `torch` of this program, whose weights are the same bits as those of the native engine.
    engine: Vec<f64>,
}

/// Starts them in turn, each for one forward pass of the small model.
pub fn starts(rounds: usize, torch: &Torch, place: &Place) -> anyhow::Result<Starts> {
    let mut starts = Starts::default();
    for _ in 0..rounds {
        starts.ours.push(engine_start(Contender::NATIVE, torch, place)?);
        starts.theirs.push(program_start(torch)?);
        starts.engine.push(engine_start(Contender::SDPA, torch, place)?);
    }
    Ok(starts)
}

/// The start of one of this program's engines.
fn engine_start(who: Contender, torch: &Torch, place: &Place) -> anyhow::Result<f64> {
    let Some(case) = super::cases().into_iter().next() else { bail!("there is no case") };
    let more = ["warmup=0".to_owned(), "iterations=1".to_owned()];
    let mut command = case.command(place, Some(&torch.python), who, &more);
    let began = Instant::now();
    let mut peer = Peer::start(who, &mut command, place)?;
    let iteration = peer.listen()?;
    let seconds = began.elapsed().as_secs_f64() - iteration.wall_s;
    peer.finish()?;
    Ok(seconds)
}

/// The start of a program in PyTorch.
fn program_start(torch: &Torch) -> anyhow::Result<f64> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/start_torch.py");
    let mut command = Command::new(&torch.python);
    command.arg(script).arg(THREADS.to_string()).stdin(Stdio::null()).stdout(Stdio::piped());
    let began = Instant::now();
    let mut child = command.spawn().context("cannot start Python")?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("Python has no output")?).read_line(&mut line)?;
    let seconds = began.elapsed().as_secs_f64();
    let status = child.wait()?;
    ensure!(status.success() && line.starts_with(READY), "start_torch.py ended with {status}: {line}");
    Ok(seconds)
}

/// The line about starts.
pub fn starts_text(starts: &Starts, torch: &Torch) -> String {
    let shown = |values: &[f64]| {
        let spread = MedianAndRange::of(values);
        spread.map_or_else(
            || "-".to_owned(),
            |spread| format!("{} s ({})", number(spread.median), spread.range()),
        )
    };
    format!(
        "start to the first iteration of small: assay {}; PyTorch {} {}; as an engine of assay {}\n",
        shown(&starts.ours),
        torch.version,
        shown(&starts.theirs),
        shown(&starts.engine)
    )
}

/// Adds the goal about starts: beside a program that makes its weights as PyTorch does, which is faster than the way that
/// both engines share.
pub fn add_start_goal(starts: Option<&Starts>, goals: &mut Goals) {
    let ratio = starts.and_then(|starts| {
        Some(MedianAndRange::of(&starts.ours)?.median / MedianAndRange::of(&starts.theirs)?.median)
    });
    goals.add("start by PyTorch's", ratio, "", GoalBound::AtMost(MOST_START));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_judged_against_pytorch_with_its_own_weights() {
        let starts = Starts { ours: vec![1.0], theirs: vec![4.0], engine: vec![9.0] };
        let mut goals = Goals::default();
        add_start_goal(Some(&starts), &mut goals);
        assert!(goals.to_string().contains("0.250"), "{goals}");
    }
}
