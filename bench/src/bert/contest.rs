//! The rounds of one case: all peers live at once, and each does one pass in turn.

use super::Case;
use crate::engines::peer::{Iteration, Peer, Said};
use crate::engines::{Contender, Torch};
use crate::place::Place;
use crate::random::Random;

/// Who takes part, in the order of the table.
const CONTENDERS: [Contender; 4] = [Contender::NATIVE, Contender::EAGER, Contender::SDPA, Contender::COMPILE];

/// How far the sizes of all answers may differ between engines, relative to each other.
const PARITY: f64 = 1e-4;
const PARITY_METRIC: &str = "parity.output";

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Passes before those that count.
    pub warmup: usize,
    /// Passes that count.
    pub rounds: usize,
    /// Whether all modes of PyTorch take part, or one.
    pub all_modes: bool,
}

/// What a contender did.
#[derive(Debug)]
pub struct Record {
    /// Who.
    pub who: Contender,
    /// The passes that count, one a round.
    pub passes: Vec<Iteration>,
    /// What it said.
    pub said: Said,
}

/// What a contest gave.
#[derive(Debug)]
pub struct Outcome {
    /// What was computed.
    pub case: Case,
    /// Everybody who took part, the native engine first.
    pub records: Vec<Record>,
    /// Why speeds must not be compared; none if all computed the same.
    pub disparity: Option<String>,
}

/// Runs a contest. `say` tells what goes on.
pub fn contest(
    case: Case,
    effort: Effort,
    torch: Option<&Torch>,
    place: &Place,
    say: &mut dyn FnMut(String),
) -> anyhow::Result<Outcome> {
    let mut peers = start(&case, effort, torch, place, say)?;
    let mut random = Random::new(5);
    // Every peer has done its first pass at its start.
    for round in 1..effort.warmup + effort.rounds {
        random.shuffle(&mut peers);
        let mut index = 0;
        while index < peers.len() {
            let (peer, passes) = &mut peers[index];
            match peer.iterate() {
                Ok(pass) => {
                    passes.extend((round >= effort.warmup).then_some(pass));
                    index += 1;
                }
                Err(error) if peer.who != Contender::NATIVE => {
                    say(format!("left out: {error:#}"));
                    peers.swap_remove(index);
                }
                Err(error) => return Err(error),
            }
        }
    }
    let mut records = Vec::new();
    for (peer, passes) in peers {
        records.push(Record { who: peer.who, passes, said: peer.finish()? });
    }
    records.sort_by_key(|record| CONTENDERS.iter().position(|who| *who == record.who));
    let disparity = disparity(&records);
    Ok(Outcome { case, records, disparity })
}

/// Starts all peers, each with its first pass, so that nobody compiles while others are measured.
fn start(
    case: &Case,
    effort: Effort,
    torch: Option<&Torch>,
    place: &Place,
    say: &mut dyn FnMut(String),
) -> anyhow::Result<Vec<(Peer, Vec<Iteration>)>> {
    let more = [
        "paced=true".to_owned(),
        format!("warmup={}", effort.warmup),
        format!("iterations={}", effort.rounds),
    ];
    let mut peers = Vec::new();
    for who in CONTENDERS {
        let takes_part = torch.is_some() && (effort.all_modes || who == Contender::SDPA);
        if who.is_torch() && !takes_part {
            continue;
        }
        let python = torch.map(|torch| torch.python.as_path());
        let mut peer = Peer::start(who, &mut case.command(place, python, who, &more), place)?;
        match peer.iterate() {
            Ok(_) => peers.push((peer, Vec::new())),
            Err(error) if who != Contender::NATIVE => say(format!("left out: {error:#}")),
            Err(error) => return Err(error),
        }
    }
    Ok(peers)
}

/// What the peers do not agree in; none if they compute the same.
fn disparity(records: &[Record]) -> Option<String> {
    let (ours, others) = records.split_first()?;
    others.iter().find_map(|record| {
        let (ours, theirs) = (ours.said.value(PARITY_METRIC)?, record.said.value(PARITY_METRIC)?);
        let apart = (theirs / ours - 1.0).abs() > PARITY;
        apart.then(|| format!("{PARITY_METRIC} of {} is {theirs}, and ours is {ours}", record.who.name))
    })
}
