//! How long it takes from the start of a process to the beginning of its first iteration.

use std::time::Instant;

use anyhow::bail;

use crate::engines::peer::Peer;
use crate::engines::{Contender, Torch};
use crate::figures::{Spread, number};
use crate::goal::{Bound, Goals};
use crate::place::Place;

/// The longest start, as a share of PyTorch's.
const MOST_START: f64 = 0.2;

/// The starts of one contender, in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Starts {
    /// From the start to the beginning of the first iteration.
    pub whole: Vec<f64>,
    /// The same without making the weights.
    pub without_weights: Vec<f64>,
}

/// Starts the native engine and PyTorch in turn, each for one forward pass of the small model.
pub fn starts(rounds: usize, torch: &Torch, place: &Place) -> anyhow::Result<[Starts; 2]> {
    let Some(case) = super::cases().into_iter().next() else { bail!("there is no case") };
    let more = ["warmup=0".to_owned(), "iterations=1".to_owned()];
    let mut starts = [Starts::default(), Starts::default()];
    for _ in 0..rounds {
        for (who, starts) in [Contender::NATIVE, Contender::SDPA].into_iter().zip(&mut starts) {
            let mut command = case.command(place, Some(&torch.python), who, &more);
            let began = Instant::now();
            let mut peer = Peer::start(who, &mut command, place)?;
            let iteration = peer.listen()?;
            let seconds = began.elapsed().as_secs_f64() - iteration.wall_s;
            let said = peer.finish()?;
            starts.whole.push(seconds);
            starts.without_weights.push(seconds - said.stage_s);
        }
    }
    Ok(starts)
}

/// The line about starts.
pub fn starts_text(starts: &[Starts; 2], torch: &Torch) -> String {
    let shown = |values: &[f64]| {
        let spread = Spread::of(values);
        spread.map_or_else(
            || "-".to_owned(),
            |spread| format!("{} s ({})", number(spread.median), spread.range()),
        )
    };
    let [ours, theirs] = starts;
    format!(
        "start to the first iteration of small: assay {}; PyTorch {} {}, without making the weights {}\n",
        shown(&ours.whole),
        torch.version,
        shown(&theirs.whole),
        shown(&theirs.without_weights)
    )
}

/// Adds the goal about starts: ours as it is, PyTorch's without making the weights, since its own way to make weights
/// is faster than the one that both engines share.
pub fn add_start_goal(starts: Option<&[Starts; 2]>, goals: &mut Goals) {
    let ratio = starts.and_then(|[ours, theirs]| {
        Some(Spread::of(&ours.whole)?.median / Spread::of(&theirs.without_weights)?.median)
    });
    goals.add("start by PyTorch's", ratio, "", Bound::AtMost(MOST_START));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_judged_against_pytorch_without_its_weights() {
        let ours = Starts { whole: vec![1.0], without_weights: vec![0.5] };
        let theirs = Starts { whole: vec![9.0], without_weights: vec![4.0] };
        let mut goals = Goals::default();
        add_start_goal(Some(&[ours, theirs]), &mut goals);
        assert!(goals.to_string().contains("0.250"), "{goals}");
    }
}
