//! Power, utilization, clocks and memory of the machine's GPUs during a run, as `nvidia-smi` or `rocm-smi` shows them.
//! Where neither is installed, or neither answers, there are no such numbers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_model::{Observation, Origin, Unit, names};

use crate::tools;

/// How often GPUs are asked.
const PERIOD: Duration = Duration::from_millis(250);
/// From this many samples on every second one is dropped: a run of days needs no quarter seconds.
const MOST_SAMPLES: usize = 400_000;

/// One GPU at one moment. What the tool does not show is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct GpuSample {
    gpu: u32,
    power_w: Option<f64>,
    utilization: Option<f64>,
    clock_hz: Option<f64>,
    memory_bytes: Option<f64>,
}

/// The tool that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    /// `nvidia-smi`, which goes on answering by itself.
    Nvidia,
    /// `rocm-smi`, which answers once.
    Rocm,
}

/// Asks the GPUs for as long as it lives.
#[derive(Debug)]
pub(crate) struct GpuWatch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    seen: Mutex<Vec<(Instant, GpuSample)>>,
    tool: Mutex<Option<Child>>,
    is_over: AtomicBool,
}

impl GpuWatch {
    /// Begins to ask; none where no tool is installed.
    pub(crate) fn begin() -> Option<GpuWatch> {
        let nvidia = tools::program("nvidia-smi").map(|path| (Tool::Nvidia, path));
        let (tool, path) = nvidia.or_else(|| tools::program("rocm-smi").map(|path| (Tool::Rocm, path)))?;
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        // The thread starts the tool itself, so that it is not taken for something that a run left to the main thread.
        let thread = std::thread::spawn(move || match tool {
            Tool::Nvidia => of_thread.listen(&path),
            Tool::Rocm => of_thread.poll(&path),
        });
        Some(GpuWatch { shared, thread: Some(thread) })
    }

    /// What was seen during a run.
    pub(crate) fn between(&self, began: Instant, ended: Instant) -> Vec<Observation> {
        let seen = locked(&self.shared.seen);
        let during = seen.iter().filter(|(at, _)| (began..=ended).contains(at));
        let of_run: Vec<(f64, GpuSample)> =
            during.map(|(at, sample)| (at.duration_since(began).as_secs_f64(), *sample)).collect();
        summarized(&of_run, ended.saturating_duration_since(began).as_secs_f64())
    }
}

impl Drop for GpuWatch {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(tool) = locked(&self.shared.tool).as_mut() {
            // One that has ended by itself cannot be ended again.
            let _ = tool.kill();
        }
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so itself.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Reads what `nvidia-smi` prints until it ends.
    fn listen(&self, path: &Path) {
        let Ok(mut tool) = asked(path, &nvidia_words()).spawn() else { return };
        let output = tool.stdout.take();
        *locked(&self.tool) = Some(tool);
        if !self.is_over.load(Ordering::Relaxed)
            && let Some(output) = output
        {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                self.keep(nvidia_sample(&line));
            }
        }
        if let Some(mut tool) = locked(&self.tool).take() {
            let _ = tool.kill();
            let _ = tool.wait();
        }
    }

    /// Asks `rocm-smi` again and again.
    fn poll(&self, path: &Path) {
        while !self.is_over.load(Ordering::Relaxed) {
            let answer = asked(path, &ROCM_WORDS.map(str::to_owned)).output();
            let Some(answer) = answer.ok().filter(|answer| answer.status.success()) else { return };
            self.keep(rocm_samples(&String::from_utf8_lossy(&answer.stdout)));
            std::thread::sleep(PERIOD);
        }
    }

    fn keep(&self, samples: impl IntoIterator<Item = GpuSample>) {
        let now = Instant::now();
        let mut seen = locked(&self.seen);
        seen.extend(samples.into_iter().map(|sample| (now, sample)));
        if seen.len() > MOST_SAMPLES {
            let mut odd: BTreeMap<u32, bool> = BTreeMap::new();
            seen.retain(|(_, sample)| {
                let is_odd = odd.entry(sample.gpu).or_default();
                *is_odd = !*is_odd;
                *is_odd
            });
        }
    }
}

/// What a thread that panicked left is whole: every change is a single call.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn asked(path: &Path, words: &[String]) -> Command {
    let mut command = Command::new(path);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// The fields that are asked of `nvidia-smi`, in their order.
fn nvidia_words() -> Vec<String> {
    vec![
        "--query-gpu=index,power.draw,utilization.gpu,clocks.sm,memory.used".to_owned(),
        "--format=csv,noheader,nounits".to_owned(),
        format!("--loop-ms={}", PERIOD.as_millis()),
    ]
}

/// One line of `nvidia-smi`: index, W, %, MHz, MiB. What is `[N/A]` is absent.
fn nvidia_sample(line: &str) -> Option<GpuSample> {
    let mut fields = line.split(',').map(str::trim);
    let gpu = fields.next()?.parse().ok()?;
    let mut number = || fields.next()?.parse::<f64>().ok().filter(|value| value.is_finite());
    let (power_w, utilization, clock, memory) = (number(), number(), number(), number());
    Some(GpuSample {
        gpu,
        power_w,
        utilization: utilization.map(|percent| percent / 100.0),
        clock_hz: clock.map(|megahertz| megahertz * 1e6),
        memory_bytes: memory.map(|mebibytes| mebibytes * 1_048_576.0),
    })
}

const ROCM_WORDS: [&str; 5] = ["--showpower", "--showuse", "--showclocks", "--showmeminfo=vram", "--csv"];

/// The answer of `rocm-smi`: a header that names the columns, which differ between versions, then a line a card.
fn rocm_samples(text: &str) -> Vec<GpuSample> {
    let mut lines = text.lines().filter(|line| line.contains(','));
    let Some(header) = lines.next() else { return Vec::new() };
    let names: Vec<String> = header.split(',').map(|name| name.trim().to_lowercase()).collect();
    let place = |parts: &[&str]| names.iter().position(|name| parts.iter().all(|part| name.contains(part)));
    let (power, usage) = (place(&["power", "(w)"]), place(&["gpu use"]));
    let (clock, memory) = (place(&["sclk", "speed"]), place(&["vram", "used"]));
    let cards = lines.filter_map(|line| {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let gpu = fields.first()?.strip_prefix("card")?.parse().ok()?;
        let number = |place: Option<usize>| {
            let digits = fields.get(place?)?.trim_matches(|letter: char| !letter.is_ascii_digit());
            digits.parse::<f64>().ok()
        };
        Some(GpuSample {
            gpu,
            power_w: number(power),
            utilization: number(usage).map(|percent| percent / 100.0),
            clock_hz: number(clock).map(|megahertz| megahertz * 1e6),
            memory_bytes: number(memory),
        })
    });
    cards.collect()
}

/// Makes one number of the values of a GPU and their times.
type Fold<'a> = &'a dyn Fn(&[(f64, f64)]) -> f64;

/// The samples of a run as its metrics: means over time and GPUs of power, utilization and clock, the peak of memory and
/// the energy of all GPUs together. Power and memory are sums over the GPUs.
fn summarized(samples: &[(f64, GpuSample)], seconds: f64) -> Vec<Observation> {
    let mut by_gpu: BTreeMap<u32, Vec<(f64, GpuSample)>> = BTreeMap::new();
    for (at, sample) in samples {
        by_gpu.entry(sample.gpu).or_default().push((*at, *sample));
    }
    let of_each = |value: fn(&GpuSample) -> Option<f64>, fold: Fold<'_>| {
        let gpus = by_gpu.values().filter_map(|samples| {
            let known: Vec<(f64, f64)> =
                samples.iter().filter_map(|(at, sample)| Some((*at, value(sample)?))).collect();
            (!known.is_empty()).then(|| fold(&known))
        });
        gpus.collect::<Vec<f64>>()
    };
    let mean = |known: &[(f64, f64)]| over_time(known, seconds) / seconds;
    let most = |known: &[(f64, f64)]| known.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let power = of_each(|sample| sample.power_w, &mean);
    let usage = of_each(|sample| sample.utilization, &mean);
    let clock = of_each(|sample| sample.clock_hz, &mean);
    let memory = of_each(|sample| sample.memory_bytes, &most);
    let sum = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>());
    let average = |values: &[f64]| sum(values).map(|total| total / values.len() as f64);
    if seconds <= 0.0 {
        return Vec::new();
    }
    [
        (names::GPU_POWER, sum(&power)),
        (names::GPU_ENERGY, sum(&power).map(|watts| watts * seconds)),
        (names::GPU_UTILIZATION, average(&usage)),
        (names::GPU_CLOCK, average(&clock)),
        (names::GPU_MEMORY, sum(&memory)),
    ]
    .into_iter()
    .filter_map(|(name, value)| {
        let unit = Unit::parse(names::canonical(name)?.unit).0;
        Some(Observation::new(name, value?, unit, Origin::Measured))
    })
    .collect()
}

/// The integral of a value over a run by the trapezoidal rule; before the first and after the last sample it stays.
fn over_time(known: &[(f64, f64)], seconds: f64) -> f64 {
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return 0.0 };
    let ends = first.1 * first.0.min(seconds) + last.1 * (seconds - last.0).max(0.0);
    let between = known.windows(2).map(|pair| match pair {
        [(from, a), (to, b)] => (to.min(seconds) - from.min(seconds)) * (a + b) / 2.0,
        _ => 0.0,
    });
    ends + between.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_nvidia_smi_are_read_and_what_is_not_available_is_absent() {
        let sample = nvidia_sample("1, 251.50, 87, 1410, 2048").unwrap();
        assert_eq!((sample.gpu, sample.power_w, sample.clock_hz), (1, Some(251.5), Some(1.41e9)));
        assert_eq!((sample.utilization, sample.memory_bytes), (Some(0.87), Some(2048.0 * 1_048_576.0)));
        let bare = nvidia_sample("0, [N/A], 5, [N/A], 1").unwrap();
        assert_eq!((bare.power_w, bare.clock_hz, bare.utilization), (None, None, Some(0.05)));
        assert_eq!(nvidia_sample("No devices were found"), None);
    }

    #[test]
    fn columns_of_rocm_smi_are_found_by_their_names() {
        let text = "device,Average Graphics Package Power (W),sclk clock speed:,GPU use (%),VRAM Total Used Memory (B)\n\
                    card0,90.0,(800Mhz),42,1000\ncard1,95.0,(810Mhz),44,2000\n\n";
        let samples = rocm_samples(text);
        assert_eq!(samples.len(), 2);
        let first = &samples[0];
        assert_eq!((first.power_w, first.utilization), (Some(90.0), Some(0.42)));
        assert_eq!((first.clock_hz, first.memory_bytes), (Some(8e8), Some(1000.0)));
        assert!(rocm_samples("ERROR: no GPU").is_empty());
    }

    #[test]
    fn energy_is_power_over_time_and_summed_over_gpus() {
        let at = |at: f64, gpu: u32, power: f64| {
            (at, GpuSample { gpu, power_w: Some(power), utilization: Some(0.5), ..GpuSample::default() })
        };
        // One GPU rises from 100 to 300 W over 2 s, the other stays at 50 W.
        let samples = [at(0.0, 0, 100.0), at(2.0, 0, 300.0), at(1.0, 1, 50.0)];
        let found = summarized(&samples, 2.0);
        let value = |name: &str| found.iter().find(|one| one.metric == name).map(|one| one.value);
        assert_eq!(value(names::GPU_ENERGY), Some(500.0));
        assert_eq!(value(names::GPU_POWER), Some(250.0));
        assert_eq!(value(names::GPU_UTILIZATION), Some(0.5));
        assert_eq!(value(names::GPU_CLOCK), None);
        assert!(summarized(&[], 2.0).is_empty());
    }
}
