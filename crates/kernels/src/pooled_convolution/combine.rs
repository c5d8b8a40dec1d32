//! Sums of pieces of memory, each times a factor.

#![expect(unsafe_code, reason = "vectors are loaded from slices whose bounds were checked as a whole")]

use crate::dispatch::{Fused, Instructions, Isa, Plain, isa};

/// One piece of a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Term {
    /// Where it begins.
    pub(super) offset: usize,
    /// What it is multiplied with.
    pub(super) factor: f32,
}

/// Adds the pieces of `data` that the terms name, each times its factor, to `result`. All pieces have its length.
pub(super) fn combine(data: &[f32], terms: &[Term], result: &mut [f32]) {
    match isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an instruction set is only ever in use after its features were detected on this machine.
        Isa::Avx512 | Isa::Avx2 => unsafe { avx2(data, terms, result) },
        Isa::Neon => plain::<Fused<4>>(data, terms, result),
        #[cfg(test)]
        Isa::Broken => plain::<crate::dispatch::Broken>(data, terms, result),
        Isa::Plain => plain::<Plain>(data, terms, result),
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx512 | Isa::Avx2 => plain::<Plain>(data, terms, result),
    }
}

/// In terms every processor knows.
fn plain<I: Instructions>(data: &[f32], terms: &[Term], result: &mut [f32]) {
    for term in terms {
        let piece = &data[term.offset..][..result.len()];
        for (result, &value) in result.iter_mut().zip(piece) {
            *result = I::mul_add(term.factor, value, *result);
        }
    }
}

/// In blocks of columns whose sums stay in registers over all terms: as many as leave one register for the factor, then
/// smaller ones for the rest.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(data: &[f32], terms: &[Term], result: &mut [f32]) {
    const LANES: usize = 8;
    let mut first = 0;
    while result.len() - first >= 12 * LANES {
        block::<12>(&data[first..], terms, &mut result[first..]);
        first += 12 * LANES;
    }
    while result.len() - first >= 4 * LANES {
        block::<4>(&data[first..], terms, &mut result[first..]);
        first += 4 * LANES;
    }
    while result.len() - first >= LANES {
        block::<1>(&data[first..], terms, &mut result[first..]);
        first += LANES;
    }
    for (column, result) in result.iter_mut().enumerate().skip(first) {
        *result =
            terms.iter().fold(*result, |sum, term| term.factor.mul_add(data[term.offset + column], sum));
    }
}

/// `VECTORS` times eight columns.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn block<const VECTORS: usize>(data: &[f32], terms: &[Term], result: &mut [f32]) {
    use std::arch::x86_64::{
        _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };
    const LANES: usize = 8;
    let mut sums = [_mm256_setzero_ps(); VECTORS];
    for term in terms {
        let piece = &data[term.offset..][..VECTORS * LANES];
        let factor = _mm256_set1_ps(term.factor);
        for (number, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the piece holds this vector.
            let values = unsafe { _mm256_loadu_ps(piece.as_ptr().add(number * LANES)) };
            *sum = _mm256_fmadd_ps(factor, values, *sum);
        }
    }
    let result = &mut result[..VECTORS * LANES];
    for (number, &sum) in sums.iter().enumerate() {
        // SAFETY: the result holds this vector, and is borrowed for us alone.
        unsafe {
            let place = result.as_mut_ptr().add(number * LANES);
            _mm256_storeu_ps(place, _mm256_add_ps(sum, _mm256_loadu_ps(place)));
        }
    }
}
