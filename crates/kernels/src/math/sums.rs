//! Sums over slices in a fixed order that vectorizes.

/// The number of partial sums: several vector registers, so that additions do not wait for each other.
const LANES: usize = 32;

/// Folds `step` over the elements of `slices`, all of the same length, into partial results that start at `start` and
/// are brought together by `join` in a fixed order.
#[inline(always)]
pub(crate) fn fold<const SLICES: usize>(
    slices: [&[f32]; SLICES],
    start: f32,
    step: impl Fn(f32, [f32; SLICES]) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let length = slices[0].len();
    let mut partial = [start; LANES];
    let blocks = slices.map(|slice| slice[..length].as_chunks::<LANES>());
    for block in 0..length / LANES {
        for lane in 0..LANES {
            partial[lane] = step(partial[lane], blocks.map(|(whole, _)| whole[block][lane]));
        }
    }
    for lane in 0..length % LANES {
        partial[lane] = step(partial[lane], blocks.map(|(_, rest)| rest[lane]));
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            partial[lane] = join(partial[lane], partial[lane + width]);
        }
    }
    partial[0]
}

/// The sum of what `step` adds to its first argument for every element.
#[inline(always)]
pub(crate) fn sum<const SLICES: usize>(
    slices: [&[f32]; SLICES],
    step: impl Fn(f32, [f32; SLICES]) -> f32,
) -> f32 {
    fold(slices, 0.0, step, |a, b| a + b)
}

/// The largest element; NaN is passed over, since whoever takes the maximum of a row goes on to subtract it from
/// the row and meets the NaN there.
#[inline(always)]
pub(crate) fn maximum(slice: &[f32]) -> f32 {
    #[inline(always)]
    fn larger(a: f32, b: f32) -> f32 {
        if b > a { b } else { a }
    }
    fold([slice], f32::NEG_INFINITY, |a, [b]| larger(a, b), larger)
}
