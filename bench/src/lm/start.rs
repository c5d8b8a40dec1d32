//! How long it takes from the start of a process to the beginning of its first iteration.

use std::time::Instant;

use super::peer::Peer;
use super::{Case, Contender, Torch};
use crate::place::Place;

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
    let more = ["warmup=0".to_owned(), "iterations=1".to_owned()];
    let mut starts = [Starts::default(), Starts::default()];
    for _ in 0..rounds {
        for (who, starts) in [Contender::Native, Contender::Sdpa].into_iter().zip(&mut starts) {
            let mut command = Case::ALL[0].command(place, Some(&torch.python), who, &more);
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
