//! What makes this machine's timings noisy, and what to do about it.

use std::fs;
use std::time::Instant;

use assay_model::{Caveat, Machine};

/// How evenly this machine does the same small piece of work.
#[derive(Debug, Clone, Copy)]
pub struct Jitter {
    /// The fastest time of the piece of work, in seconds.
    pub fastest_s: f64,
    /// The median time.
    pub median_s: f64,
    /// The slowest time.
    pub slowest_s: f64,
    /// How often it was timed.
    pub samples: usize,
}

/// Times the same piece of work many times: about a third of a second.
pub fn jitter() -> Jitter {
    const SAMPLES: usize = 300;
    let mut times: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let began = Instant::now();
            std::hint::black_box(piece_of_work());
            began.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    Jitter { fastest_s: at(0), median_s: at(SAMPLES / 2), slowest_s: at(SAMPLES - 1), samples: SAMPLES }
}

/// About a millisecond of arithmetic that depends on itself, so that it cannot be shortened.
fn piece_of_work() -> u64 {
    let mut state = std::hint::black_box(1_u64);
    for _ in 0..400_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    state
}

/// The causes of noise that can be seen on this machine.
pub fn causes(machine: &Machine, jitter: &Jitter) -> Vec<Caveat> {
    let mut causes = Vec::new();
    let mut add = |code: &str, text: String, hint: &str| {
        causes.push(Caveat { code: code.to_owned(), text, hint: hint.to_owned() });
    };
    if let Some(governor) = machine.governor.as_deref().filter(|governor| *governor != "performance") {
        let text = format!("the CPU frequency governor is `{governor}`: the clock follows the load");
        add(
            "governor",
            text,
            "`cpupower frequency-set -g performance` as root, or on a laptop the power settings",
        );
    }
    if machine.turbo == Some(true) {
        let text =
            "the CPU may raise its clock for a while (turbo), so short and long runs differ".to_owned();
        add("turbo", text, "turn turbo off for comparisons of small differences, or use long runs");
    }
    if let (Some(load), Some(cpus)) = (machine.load, machine.cpus_usable)
        && load > 0.3 * f64::from(cpus)
    {
        let text = format!("other work is running: load {load:.2} on {cpus} CPUs");
        add(
            "load",
            text,
            "stop other programs, or wait; interleaved rounds spread what remains over all cells",
        );
    }
    if let Some(kind) = &machine.virtualization {
        let text = format!("this is a {kind}: neighbors may take CPU time that this machine cannot see");
        add(
            "virtualization",
            text,
            "prefer CPU time over wall time, more repeats, and comparisons within one campaign",
        );
    }
    if let Some(share) = steal_share().filter(|share| *share > 0.005) {
        let text = format!("the hypervisor withheld {:.1} % of CPU time since boot", share * 100.0);
        add("steal", text, "run at another hour or on a dedicated machine");
    }
    if let (Some(cpus), Some(cores)) = (machine.cpus, machine.cores)
        && cpus > cores
    {
        let text = format!("{cpus} logical CPUs share {cores} cores");
        add("siblings", text, "pin runs to one logical CPU of each core with `[run] pin`");
    }
    if let (Some(all), Some(free)) = (machine.memory_bytes, machine.memory_available_bytes)
        && (free as f64) < 0.1 * all as f64
    {
        let text = "less than a tenth of the memory is free: runs may swap".to_owned();
        add("memory", text, "close programs that hold memory");
    }
    if on_battery() {
        add("battery", "the machine runs on battery".to_owned(), "plug it in");
    }
    let spread = jitter.slowest_s / jitter.median_s - 1.0;
    if spread > 0.2 {
        let text = format!(
            "the same piece of work took {:.2} ms in the median and up to {:.2} ms ({} tries)",
            jitter.median_s * 1e3,
            jitter.slowest_s * 1e3,
            jitter.samples
        );
        add("jitter", text, "differences of a few percent need many repeats here");
    }
    causes
}

/// The share of CPU time that a hypervisor gave to others since boot.
fn steal_share() -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let times: Vec<f64> =
        stat.lines().next()?.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
    let total: f64 = times.iter().take(8).sum();
    times.get(7).map(|steal| steal / total)
}

fn on_battery() -> bool {
    let Ok(supplies) = fs::read_dir("/sys/class/power_supply") else { return false };
    supplies.flatten().any(|supply| {
        fs::read_to_string(supply.path().join("online")).is_ok_and(|text| text.trim() == "0")
            && fs::read_to_string(supply.path().join("type")).is_ok_and(|text| text.trim() == "Mains")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEADY: Jitter = Jitter { fastest_s: 1e-3, median_s: 1e-3, slowest_s: 1.01e-3, samples: 300 };

    #[test]
    fn a_governor_that_saves_power_is_named_with_its_remedy() {
        let machine = Machine { governor: Some("powersave".into()), ..Machine::default() };
        let causes = causes(&machine, &STEADY);
        let governor = causes.iter().find(|cause| cause.code == "governor").unwrap();
        assert!(governor.text.contains("powersave") && governor.hint.contains("performance"));
    }

    #[test]
    fn an_uneven_machine_is_called_uneven() {
        let uneven = Jitter { slowest_s: 2e-3, ..STEADY };
        assert!(causes(&Machine::default(), &uneven).iter().any(|cause| cause.code == "jitter"));
        assert!(!causes(&Machine::default(), &STEADY).iter().any(|cause| cause.code == "jitter"));
    }
}
