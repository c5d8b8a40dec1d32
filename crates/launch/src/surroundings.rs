//! What else the machine did during a run.

use std::fs;

use assay_model::{Observation, Origin, Unit, Usage, metric};

/// Shorter runs are not judged: the kernel counts CPU time in hundredths of a second.
const SHORTEST_S: f64 = 0.5;
/// The kernel's unit of CPU time, the same on every Linux that this program runs on.
const TICKS_PER_S: f64 = 100.0;

/// CPU time of the whole machine since boot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuTimes {
    busy_s: f64,
    all_s: f64,
}

impl CpuTimes {
    /// The counts at this moment; none where the kernel does not give them.
    pub(crate) fn now() -> Option<CpuTimes> {
        CpuTimes::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn read(stat: &str) -> Option<CpuTimes> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<f64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal
        let all: f64 = ticks.iter().take(8).sum();
        let idle = ticks.get(3)? + ticks.get(4)?;
        Some(CpuTimes { busy_s: (all - idle) / TICKS_PER_S, all_s: all / TICKS_PER_S })
    }

    /// The share of the machine's CPU time that others than the run used from then until now. Short runs are not looked at,
    /// because reading the counts takes longer than much else of what such a run costs.
    pub(crate) fn others_until_now(&self, usage: &Usage) -> Option<Observation> {
        if usage.wall_s < SHORTEST_S { None } else { self.others_until(&CpuTimes::now()?, usage) }
    }

    fn others_until(&self, now: &CpuTimes, usage: &Usage) -> Option<Observation> {
        let own = usage.user_s + usage.system_s;
        let (busy, all) = (now.busy_s - self.busy_s, now.all_s - self.all_s);
        let share = ((busy - own) / all).clamp(0.0, 1.0);
        (all > 0.0).then(|| Observation::new(metric::BUSY_ELSEWHERE, share, Unit::One, Origin::Measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_run_used_itself_is_not_counted() {
        let before = CpuTimes::read("cpu  1000 0 0 9000 0 0 0 0 0 0\ncpu0 1\n").unwrap();
        let after = CpuTimes::read("cpu  1300 0 0 9100 0 0 0 0 0 0\n").unwrap();
        let usage = Usage { wall_s: 2.0, user_s: 1.0, ..Usage::default() };
        // Of 4 s of CPU time 3 s were busy, 1 s of them by the run.
        assert_eq!(before.others_until(&after, &usage).unwrap().value, 0.5);
        assert_eq!(before.others_until_now(&Usage { wall_s: 0.1, ..usage }), None);
        assert!(CpuTimes::read("intr 5").is_none());
        assert!(CpuTimes::now().is_some());
    }
}
