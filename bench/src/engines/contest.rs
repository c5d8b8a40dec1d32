//! The rounds of one case: all peers live at once, and each does one iteration in turn.

use assay_kernels::{Threads, limits};

use super::peer::{Iteration, Peer, Said};
use super::{Contender, Effort, EngineCase, THREADS, Torch};
use crate::figures::MedianAndRange;
use crate::place::Place;
use crate::random::Random;

/// How far values that are checked between engines may differ, relative to each other.
const PARITY: [(&str, f64); 3] = [("parity.loss", 1e-5), ("parity.output", 1e-4), ("parity.gradient", 1e-3)];
/// In large cases PyTorch's slower modes drop out after this many rounds.
const DROP_AFTER: usize = 8;
/// The peak is measured again after this many rounds.
const PEAK_EVERY: usize = 10;

/// What a contender did.
#[derive(Debug)]
pub struct ContenderRecord {
    /// Who.
    pub who: Contender,
    /// The iterations that count, one a round from the first round on.
    pub iterations: Vec<Iteration>,
    /// What it said.
    pub said: Said,
}

/// What a contest gave.
#[derive(Debug)]
pub struct ContestOutcome {
    /// What was computed.
    pub case: EngineCase,
    /// Everybody who took part, the native engine first.
    pub records: Vec<ContenderRecord>,
    /// The peak of the arithmetic during the contest, in FLOP/s.
    pub peak: Option<MedianAndRange>,
    /// Why speeds must not be compared; none if all computed the same.
    pub disparity: Option<String>,
}

/// A contender that is still running.
struct Runner {
    peer: Peer,
    iterations: Vec<Iteration>,
}

/// Runs a contest. `say` reports what goes on.
pub fn contest(
    case: &EngineCase,
    effort: Effort,
    torch: Option<&Torch>,
    place: &Place,
    say: &mut dyn FnMut(String),
) -> anyhow::Result<ContestOutcome> {
    let (mut runners, mut records) = (start(case, effort, torch, place, say)?, Vec::new());
    let disparity =
        disparity(&runners.iter().map(|runner| (runner.peer.who, &runner.peer.said)).collect::<Vec<_>>());
    let threads = Threads::new(THREADS);
    let (mut random, mut peaks) = (Random::new(4), Vec::new());
    // Every peer has done its first iteration at its start.
    for round in 1..effort.warmup + effort.rounds {
        let counts = round >= effort.warmup;
        if round >= effort.warmup && (round - effort.warmup).is_multiple_of(PEAK_EVERY) {
            peaks.extend(limits::fma_peak(&threads));
        }
        random.shuffle(&mut runners);
        let mut index = 0;
        while index < runners.len() {
            let runner = &mut runners[index];
            match runner.peer.iterate() {
                Ok(iteration) => {
                    runner.iterations.extend(counts.then_some(iteration));
                    index += 1;
                }
                Err(error) if runner.peer.who.is_torch() => {
                    say(format!("left out: {error:#}"));
                    runners.swap_remove(index);
                }
                Err(error) => return Err(error),
            }
        }
        if case.drops_slower && round + 1 == effort.warmup + DROP_AFTER {
            drop_slower(&mut runners, &mut records, say)?;
        }
    }
    for runner in runners {
        records.push(runner.finish()?);
    }
    // The native engine has no place in the list, and comes first.
    records.sort_by_key(|record| {
        let place = case.modes.iter().position(|mode| *mode == record.who);
        (place, record.who != Contender::NATIVE)
    });
    Ok(ContestOutcome { case: case.clone(), records, peak: MedianAndRange::of(&peaks), disparity })
}

impl Runner {
    fn median(&self) -> f64 {
        let seconds: Vec<f64> = self.iterations.iter().map(|iteration| iteration.wall_s).collect();
        MedianAndRange::of(&seconds).map_or(f64::INFINITY, |spread| spread.median)
    }

    fn finish(self) -> anyhow::Result<ContenderRecord> {
        Ok(ContenderRecord { who: self.peer.who, iterations: self.iterations, said: self.peer.finish()? })
    }
}

/// Starts all peers, each with its first iteration, so that nobody compiles while others are measured.
fn start(
    case: &EngineCase,
    effort: Effort,
    torch: Option<&Torch>,
    place: &Place,
    say: &mut dyn FnMut(String),
) -> anyhow::Result<Vec<Runner>> {
    let more = [vec!["paced=true".to_owned()], (case.length)(&effort)].concat();
    let modes = match torch {
        None => 0,
        Some(_) if effort.all_modes => case.modes.len(),
        Some(_) => 1,
    };
    let mut runners = Vec::new();
    let other_build = place.other_build.as_ref().map(|_| Contender::OTHER_BUILD);
    let torch_modes = case.modes.iter().copied().take(modes);
    for who in [Contender::NATIVE].into_iter().chain(other_build).chain(torch_modes) {
        let python = torch.map(|torch| torch.python.as_path());
        let mut peer = Peer::start(who, &mut case.command(place, python, who, &more), place)?;
        match peer.iterate() {
            Ok(_) => runners.push(Runner { peer, iterations: Vec::new() }),
            Err(error) if who.is_torch() => say(format!("left out: {error:#}")),
            Err(error) => return Err(error),
        }
    }
    Ok(runners)
}

/// Ends the slower modes of PyTorch. They are too far behind to be the fastest, and rounds are long.
fn drop_slower(
    runners: &mut Vec<Runner>,
    records: &mut Vec<ContenderRecord>,
    say: &mut dyn FnMut(String),
) -> anyhow::Result<()> {
    let torch = runners.iter().filter(|runner| runner.peer.who.is_torch());
    let Some(fastest) = torch.min_by(|a, b| a.median().total_cmp(&b.median())).map(|runner| runner.peer.who)
    else {
        return Ok(());
    };
    let stays = |runner: &Runner| !runner.peer.who.is_torch() || runner.peer.who == fastest;
    let (stay, go): (Vec<Runner>, Vec<Runner>) = runners.drain(..).partition(stays);
    *runners = stay;
    for runner in go {
        say(format!("{} ends after {DROP_AFTER} rounds: {} is faster", runner.peer.who.name, fastest.name));
        records.push(runner.finish()?);
    }
    Ok(())
}

/// What the first iterations of the peers do not agree in; none if they compute the same.
fn disparity(said: &[(Contender, &Said)]) -> Option<String> {
    let ((_, base), others) = said.split_first()?;
    if PARITY.iter().all(|(metric, _)| base.value(metric).is_none()) {
        return Some("the native engine reported nothing that could be checked".to_owned());
    }
    for (who, other) in others {
        for (metric, tolerance) in PARITY {
            let (ours, theirs) = (base.value(metric), other.value(metric));
            let agree = match (ours, theirs) {
                (Some(ours), Some(theirs)) => (theirs / ours - 1.0).abs() <= tolerance,
                (ours, theirs) => ours.is_none() && theirs.is_none(),
            };
            if !agree {
                let shown = |value: Option<f64>| {
                    value.map_or_else(|| "nothing".to_owned(), |value| value.to_string())
                };
                return Some(format!(
                    "{metric} of {} is {}, and ours is {}",
                    who.name,
                    shown(theirs),
                    shown(ours)
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_that_compute_something_else_are_found_out() {
        let ours = Said::of(&[("parity.loss", 9.2), ("parity.output", 0.5)]);
        let same = Said::of(&[("parity.loss", 9.200_001), ("parity.output", 0.500_001)]);
        let other = Said::of(&[("parity.loss", 9.21), ("parity.output", 0.5)]);
        let silent = Said::of(&[("parity.loss", 9.2)]);
        let check = |said: &Said| disparity(&[(Contender::NATIVE, &ours), (Contender::EAGER, said)]);
        assert_eq!(check(&same), None);
        assert!(check(&other).is_some_and(|words| words.contains("parity.loss of torch eager is 9.21")));
        assert!(check(&silent).is_some_and(|words| words.contains("nothing")));
        assert!(disparity(&[(Contender::NATIVE, &Said::of(&[]))]).is_some());
    }
}
