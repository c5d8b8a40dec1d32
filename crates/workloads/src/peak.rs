//! What this machine can do at most: arithmetic, memory, and matrix products of the shapes that workloads use.

use std::time::Instant;

use assay_kernels::matmul::{Layout, Write, matmul};
use assay_kernels::{Threads, instructions, limits};
use serde::{Deserialize, Serialize};

/// What was measured on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// The name of the machine's processor, as the system gives it.
    pub processor: String,
    /// The instructions in use.
    pub path: String,
    /// Threads that all figures but the first of a kind were measured with.
    pub threads: usize,
    /// Fused multiply-adds of one thread, in floating-point operations per second.
    pub fma_one: SampleRange,
    /// The same of all threads.
    pub fma_all: SampleRange,
    /// Bytes per second of `a[i] = b[i] + s * c[i]` with all threads, three streams counted.
    pub triad: SampleRange,
    /// Matrix products with all threads.
    pub products: Vec<Product>,
}

/// A median with the middle 80 % of its samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SampleRange {
    pub median: f64,
    /// A tenth of the samples lies below.
    pub low: f64,
    /// A tenth of the samples lies above.
    pub high: f64,
    /// How many samples there were; 0 in files of versions that did not say.
    #[serde(default)]
    pub samples: usize,
}

/// A matrix product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// What it is in a model.
    pub role: String,
    /// Rows, columns and length of the sums.
    pub shape: (usize, usize, usize),
    /// How the matrices are stored: `NT` for a second one that is stored transposed.
    pub layout: String,
    /// Floating-point operations per second.
    pub rate: SampleRange,
}

/// The products that are measured: those of the small language model at batch 4 × 128, and two small ones.
const PRODUCTS: [(&str, usize, usize, usize, Layout); 8] = [
    ("query, key and value", 512, 2304, 768, Layout::NT),
    ("attention output", 512, 768, 768, Layout::NT),
    ("gate and up", 512, 6144, 768, Layout::NT),
    ("down", 512, 768, 3072, Layout::NT),
    ("vocabulary", 512, 10000, 768, Layout::NT),
    ("gradient of an input", 512, 768, 6144, Layout::NN),
    ("gradient of a weight", 6144, 768, 512, Layout::TN),
    ("small", 128, 128, 128, Layout::NT),
];

/// Seconds that each product is measured for.
const PRODUCT_S: f64 = 0.4;

/// Measures the machine with this many threads; takes some seconds.
pub fn measure(threads: usize) -> Peak {
    let (one, all) = (Threads::new(1), Threads::new(threads));
    Peak {
        processor: processor(),
        path: instructions(),
        threads,
        fma_one: SampleRange::of(limits::fma_peak(&one)),
        fma_all: SampleRange::of(limits::fma_peak(&all)),
        triad: SampleRange::of(limits::triad(&all)),
        products: PRODUCTS.iter().map(|product| self::product(&all, product)).collect(),
    }
}

/// The instructions that a measurement would use now.
pub fn instruction_set() -> String {
    instructions()
}

/// The processor's name, as the system gives it.
pub fn processor() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |line: &str| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim().to_owned());
    information.lines().find_map(named).unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn product(threads: &Threads, (role, m, n, k, layout): &(&str, usize, usize, usize, Layout)) -> Product {
    let (m, n, k) = (*m, *n, *k);
    let fill =
        |length: usize| (0..length).map(|index| (index % 7) as f32 * 0.25 - 0.75).collect::<Vec<f32>>();
    let (a, b, mut c) = (fill(m * k), fill(k * n), vec![0.0; m * n]);
    let mut rates = Vec::new();
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < PRODUCT_S || rates.len() < 3 {
        let start = Instant::now();
        matmul(threads, *layout, m, n, k, &a, &b, &mut c, Write::Set);
        rates.push(2.0 * (m * n * k) as f64 / start.elapsed().as_secs_f64());
    }
    Product {
        role: (*role).to_owned(),
        shape: (m, n, k),
        layout: format!("{layout:?}"),
        rate: SampleRange::of(rates),
    }
}

impl SampleRange {
    fn of(mut samples: Vec<f64>) -> SampleRange {
        samples.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let last = samples.len().saturating_sub(1) as f64;
            samples.get((last * share).round() as usize).copied().unwrap_or(f64::NAN)
        };
        SampleRange { median: at(0.5), low: at(0.1), high: at(0.9), samples: samples.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_made_of_samples_that_were_seen() {
        let range = SampleRange::of((0..=10).rev().map(f64::from).collect());
        assert_eq!((range.low, range.median, range.high), (1.0, 5.0, 9.0));
    }

    #[test]
    fn the_processor_has_a_name() {
        assert!(!processor().is_empty());
    }
}
