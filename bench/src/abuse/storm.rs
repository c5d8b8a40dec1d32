//! A storm of kills. What the runs did is counted in a file of their own, not in the journal.

use std::time::Duration;

use super::trial::AbuseGroup;
use crate::crash::scene::{CrashScene, Step};
use crate::crash::session::Kill;
use crate::place::Place;
use crate::random::Random;

/// Kills a campaign at random instants until it is complete, then the next, until there were enough kills.
pub fn storm(place: &Place, kills: usize, seed: u64) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("kills of a campaign under way");
    let mut random = Random::new(seed);
    while group.tried < kills {
        let mut scene = CrashScene::new(place)?;
        loop {
            let kill = (group.tried < kills)
                .then(|| Kill::After(Duration::from_secs_f64(random.between(0.01, 0.35))));
            let (step, audit) = scene.step(kill)?;
            if step == Step::Complete {
                break;
            }
            let wrong = audit.lost + audit.duplicated + audit.failed + audit.damaged;
            let outcome = if wrong == 0 { Ok(()) } else { Err(anyhow::anyhow!("{audit:?}")) };
            group.attempt(&format!("kill {}", group.tried + 1), outcome);
        }
        let outcome = scene.conclude()?;
        let wrong = outcome.orphans
            + outcome.overlaps
            + outcome.repeated_starts
            + outcome.missing
            + outcome.audit.lost;
        if wrong > 0 {
            group.failures.push(format!(
                "{} processes left, {} runs at the same time as their successor, {} started twice, {} missing, {} lost",
                outcome.orphans,
                outcome.overlaps,
                outcome.repeated_starts,
                outcome.missing,
                outcome.audit.lost
            ));
        }
    }
    Ok(group)
}
