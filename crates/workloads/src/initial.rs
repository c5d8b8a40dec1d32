//! Initial weights and random data from a counter-based generator, so that every engine, in any language and with any
//! number of threads, begins with the same bits and sees the same data.
//!
//! # The rule
//!
//! All arithmetic on 64-bit words is modulo 2⁶⁴.
//!
//! ```text
//! GOLDEN         = 0x9E3779B97F4A7C15
//! finalize(z)    : z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
//!                  z = (z ^ (z >> 27)) * 0x94D049BB133111EB
//!                  z ^ (z >> 31)
//! fnv(name)      : h = 0xCBF29CE484222325; for each byte b: h = (h ^ b) * 0x100000001B3
//! mix(h, number) = finalize(h ^ finalize(number + GOLDEN))
//! draw(key, i)   = finalize(key + (i + 1) * GOLDEN)
//! ```
//!
//! *Weights.* Tensor `name` has the key `mix(fnv(name), seed)`. Its element `i` (row-major, from 0) is
//! `(2u - 1) * bound` in 32-bit floats, where `u = (draw(key, i) >> 40) * 2⁻²⁴`. Everything up to `2u - 1` is exact,
//! so that the only rounding is that of the product with `bound`. For most matrices that is
//! `sqrt(6 / (inputs + outputs))` computed in 64 bits and rounded to 32: a uniform distribution with the standard
//! deviation `sqrt(2 / (inputs + outputs))`. Each of the matrices that are stored one above the other counts alone. A
//! matrix of shape rows × columns maps a vector `x` of `columns` numbers to `W·x`, as PyTorch's `Linear` does.
//!
//! *Data* of the iteration with the number `step` (from 0; warm-up iterations count, and a resumed run goes on where the
//! checkpoint ended) have the key `mix(mix(fnv(kind), seed), step)`. Which tensors there are, and what data are drawn, is
//! described by each workload.

use assay_random::{GOLDEN, finalize};

/// 64-bit FNV-1a.
fn fnv(name: &str) -> u64 {
    name.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

fn mix(hash: u64, number: u64) -> u64 {
    finalize(hash ^ finalize(number.wrapping_add(GOLDEN)))
}

/// The key of a stream of draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawKey(u64);

impl DrawKey {
    /// The key of a named stream.
    pub fn new(name: &str, seed: u64) -> DrawKey {
        DrawKey(mix(fnv(name), seed))
    }

    /// The key of this stream at a step.
    pub fn at(self, step: u64) -> DrawKey {
        DrawKey(mix(self.0, step))
    }

    /// The draw with the number `i`, from 0.
    #[inline(always)]
    pub fn draw(self, i: u64) -> u64 {
        assay_random::draw(self.0, i)
    }

    /// The draw with the number `i`, uniform in -1 (included) to 1 (excluded) in steps of 2⁻²³.
    #[inline(always)]
    pub fn symmetric(self, i: u64) -> f32 {
        const UNIT: f32 = 1.0 / (1u32 << 24) as f32;
        2.0 * ((self.draw(i) >> 40) as f32 * UNIT) - 1.0
    }
}

/// How a tensor begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    Ones,
    Zeros,
    /// Uniform between minus and plus this bound.
    Uniform(f32),
}

impl Start {
    pub fn matrix(inputs: usize, outputs: usize) -> Start {
        Start::Uniform((6.0 / (inputs as f64 + outputs as f64)).sqrt() as f32)
    }

    /// A uniform start with a standard deviation.
    pub fn deviation(deviation: f64) -> Start {
        Start::Uniform((deviation * 3f64.sqrt()) as f32)
    }

    /// Fills a piece of the tensor `name` that begins at element `first`.
    pub fn fill(self, name: &str, seed: u64, first: u64, piece: &mut [f32]) {
        match self {
            Start::Ones => piece.fill(1.0),
            Start::Zeros => piece.fill(0.0),
            Start::Uniform(bound) => {
                let key = DrawKey::new(name, seed);
                for (i, value) in (first..).zip(piece) {
                    *value = key.symmetric(i) * bound;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden numbers, computed separately with Python's unbounded integers.
    #[test]
    fn the_generator_is_the_documented_one() {
        assert_eq!(fnv("embedding"), 0x4A48_353A_D610_7ED2);
        assert_eq!(DrawKey::new("embedding", 1).0, 0xDF4E_C153_D21B_FB69);
        assert_eq!(DrawKey::new("embedding", 1).draw(0), 0x4C47_165D_17D9_C075);
        assert_eq!(DrawKey::new("tokens", 1).at(2).draw(3), 0xB169_F00A_AB70_F537);
    }

    #[test]
    fn a_tensor_is_the_same_however_it_is_cut() {
        let start = Start::matrix(30, 20);
        let mut whole = vec![0.0; 600];
        start.fill("head", 7, 0, &mut whole);
        let mut pieces = vec![0.0; 600];
        for (number, piece) in pieces.chunks_mut(77).enumerate() {
            start.fill("head", 7, 77 * number as u64, piece);
        }
        assert_eq!(whole, pieces);
    }

    #[test]
    fn weights_have_the_standard_deviation_that_was_asked_for() {
        let mut values = vec![0.0; 40_000];
        Start::matrix(50, 150).fill("layers.3.down", 1, 0, &mut values);
        let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / 40_000.0;
        let square = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.002, "{mean}");
        assert!((square.sqrt() - 0.1).abs() < 0.001, "{square}");
    }
}
