//! Rotary position embedding of interleaved pairs: elements `2i` and `2i + 1` of a head are turned by the angle
//! `position / base^(2i / head_size)`.

use crate::Threads;
use crate::dispatch::{Instructions, dispatch};
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// Cosines and sines of every position.
#[derive(Clone, Debug)]
pub struct RotaryTable {
    head_size: usize,
    context: usize,
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

impl RotaryTable {
    /// The table for positions below `context`. Angles are computed in double precision.
    ///
    /// # Panics
    /// If the head size is zero or odd.
    pub fn new(context: usize, head_size: usize, base: f64) -> Self {
        assert!(head_size > 0 && head_size.is_multiple_of(2), "the head size must be even");
        let angles = (0..context).flat_map(|position| {
            let exponent = move |pair: usize| (2 * pair) as f64 / head_size as f64;
            (0..head_size / 2).map(move |pair| position as f64 / base.powf(exponent(pair)))
        });
        Self {
            head_size,
            context,
            cosines: angles.clone().map(|angle| angle.cos() as f32).collect(),
            sines: angles.map(|angle| angle.sin() as f32).collect(),
        }
    }

    /// The number of positions.
    pub fn context(&self) -> usize {
        self.context
    }

    /// The number of elements of a head.
    pub fn head_size(&self) -> usize {
        self.head_size
    }

    /// The bytes the table takes.
    pub fn bytes(&self) -> usize {
        (self.cosines.len() + self.sines.len()) * size_of::<f32>()
    }

    /// The cosines and sines of a position, one for each pair.
    fn entry(&self, position: usize) -> (&[f32], &[f32]) {
        let pairs = self.head_size / 2;
        let range = position * pairs..(position + 1) * pairs;
        (&self.cosines[range.clone()], &self.sines[range])
    }
}

/// Which way to turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// By the angle.
    Forward,
    /// Back by the angle, as gradients are.
    Backward,
}

/// Turns `heads` heads in every row of `x` in place. Rows have `stride` elements, the first head begins at `offset`,
/// and the position of a row is its number modulo `context`.
///
/// # Panics
/// If the lengths do not fit together or the table is too short.
#[expect(clippy::too_many_arguments, reason = "the place of the heads in a row takes four numbers")]
pub fn apply(
    threads: &Threads,
    table: &RotaryTable,
    direction: Direction,
    x: &mut [f32],
    stride: usize,
    offset: usize,
    heads: usize,
    context: usize,
) {
    let width = heads * table.head_size;
    assert!(stride > 0 && x.len().is_multiple_of(stride), "x must consist of whole rows");
    assert!(offset + width <= stride, "the heads must lie within a row");
    assert!(context > 0 && context <= table.context(), "the table must reach to the end of the context");
    let least = LEAST_ELEMENTS.div_ceil(width.max(1));
    let rows = threads.items_per_task(x.len() / stride, least);
    threads.run_parts(Chunks::new(x, rows * stride), |part, x| {
        for (row, x) in x.chunks_exact_mut(stride).enumerate() {
            let (cosines, sines) = table.entry((part * rows + row) % context);
            turn(&mut x[offset..offset + width], cosines, sines, direction);
        }
    });
}

dispatch! {
    fn turn<I>(x: &mut [f32], cosines: &[f32], sines: &[f32], direction: Direction) {
        let sign = match direction {
            Direction::Forward => 1.0,
            Direction::Backward => -1.0,
        };
        for head in x.chunks_exact_mut(2 * cosines.len()) {
            let (pairs, _) = head.as_chunks_mut::<2>();
            for ((pair, &cosine), &sine) in pairs.iter_mut().zip(cosines).zip(sines) {
                let [first, second] = *pair;
                let sine = sign * sine;
                *pair = [
                    I::mul_add(first, cosine, -second * sine),
                    I::mul_add(first, sine, second * cosine),
                ];
            }
        }
    }
}
