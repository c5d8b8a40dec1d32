//! Seeded numbers, comparison, finite differences.

use assay_kernels::dispatch::with_isa;
use assay_kernels::{Isa, Threads};

/// Numbers without pattern between -1 and 1, the same for the same seed.
pub fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    (0..count).map(|_| (next(&mut state) >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// Numbers without pattern below a limit.
pub fn whole_numbers(count: usize, limit: u32, seed: u64) -> Vec<u32> {
    let mut state = seed;
    (0..count).map(|_| (next(&mut state) % u64::from(limit)) as u32).collect()
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}

pub fn doubles(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}

/// Runs `action`, which returns all its results, on every instruction set and with several thread counts; each time twice, and
/// the results must be the same to the bit.
pub fn everywhere(action: impl Fn(&Threads) -> Vec<f32>) {
    for count in [1, 2, 3] {
        let threads = Threads::new(count);
        for isa in Isa::available() {
            let bits = || {
                let results = with_isa(isa, || action(&threads));
                results.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            assert!(
                bits() == bits(),
                "results differ from call to call on {} with {count} threads",
                isa.name()
            );
        }
    }
}

/// Asserts that numbers agree to `tolerance`, relative to the size of the wanted number or to 1, whichever is larger.
#[track_caller]
pub fn assert_close(what: &str, got: &[f32], wanted: &[f64], tolerance: f64) {
    assert_eq!(got.len(), wanted.len(), "{what}: lengths");
    for (place, (&got, &wanted)) in got.iter().zip(wanted).enumerate() {
        let error = (f64::from(got) - wanted).abs() / wanted.abs().max(1.0);
        assert!(error <= tolerance, "{what}[{place}]: {got} instead of {wanted}, error {error:e}");
    }
}

/// The derivative of `function` by the element at `place`, by central differences.
pub fn slope(function: impl Fn(&[f64]) -> f64, x: &[f64], place: usize) -> f64 {
    const STEP: f64 = 1e-5;
    let at = |offset: f64| {
        let mut moved = x.to_vec();
        moved[place] += offset;
        function(&moved)
    };
    (at(STEP) - at(-STEP)) / (2.0 * STEP)
}

/// All derivatives of `function`.
pub fn slopes(function: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    (0..x.len()).map(|place| slope(&function, x, place)).collect()
}

/// Asserts some derivatives of `function`, spread over all places.
#[track_caller]
pub fn assert_slopes(
    what: &str,
    got: &[f32],
    function: impl Fn(&[f64]) -> f64,
    x: &[f64],
    samples: usize,
    tolerance: f64,
) {
    assert_eq!(got.len(), x.len(), "{what}: lengths");
    for place in whole_numbers(samples, x.len() as u32, 77) {
        let place = place as usize;
        let wanted = slope(&function, x, place);
        assert_close(&format!("{what} at {place}"), &[got[place]], &[wanted], tolerance);
    }
}

/// The sum of products.
pub fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
