//! Small matrix products inside one task, for blocks that are already in the cache.
//!
//! The result is computed in tiles of up to six rows by sixteen columns that stay in registers over the whole depth:
//! twelve vectors of sums, two of the right matrix and one element of the left one fill the sixteen registers of AVX2.

#![expect(unsafe_code, reason = "bounds are checked once for the whole product instead of for every element")]

use crate::Write;
use crate::dispatch::{Fused, Instructions, Isa, Plain, isa};

/// The columns of a tile. Right matrices and results are padded to a multiple of it.
pub(crate) const COLUMNS: usize = 16;

/// `width` rounded up to whole tiles.
pub(crate) fn padded(width: usize) -> usize {
    width.next_multiple_of(COLUMNS)
}

/// The left matrix: element `(i, k)` is `data[i * row + k * step]`.
#[derive(Clone, Copy)]
pub(crate) struct Left<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) row: usize,
    pub(crate) step: usize,
}

/// The right matrix: element `(k, j)` is `data[k * row + j]`.
#[derive(Clone, Copy)]
pub(crate) struct Right<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) row: usize,
}

/// The size of a product: `rows` by `columns`, with sums over `depth` terms.
#[derive(Clone, Copy)]
pub(crate) struct ProductSize {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) depth: usize,
}

/// One tile: where it begins in each matrix.
#[derive(Clone, Copy)]
struct Tile {
    left: *const f32,
    left_row: usize,
    left_step: usize,
    right: *const f32,
    right_row: usize,
    result: *mut f32,
    result_row: usize,
    depth: usize,
}

/// The number of elements from the first to the last of a matrix, with both.
fn extent(rows: usize, row: usize, columns: usize, step: usize) -> usize {
    if rows == 0 || columns == 0 { 0 } else { (rows - 1) * row + (columns - 1) * step + 1 }
}

/// Computes one tile. The rows are part of the function.
///
/// # Safety
/// All elements of the tile must lie inside their matrices, nothing else may use the result meanwhile, and this
/// processor must have the instructions.
type Compute = unsafe fn(Tile, Write);

/// Functions for tiles of one to six rows.
type Table = [Compute; 6];

/// The functions of the instruction set in use. AVX-512 has none of its own: those for AVX2 are as fast on small tiles.
fn table() -> Table {
    match isa() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 => [avx2::<1>, avx2::<2>, avx2::<3>, avx2::<4>, avx2::<5>, avx2::<6>],
        Isa::Neon => plain_table::<Fused<4>>(),
        #[cfg(test)]
        Isa::Broken => plain_table::<crate::dispatch::Broken>(),
        Isa::Plain => plain_table::<Plain>(),
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx512 | Isa::Avx2 => plain_table::<Plain>(),
    }
}

fn plain_table<I: Instructions>() -> Table {
    [plain::<I, 1>, plain::<I, 2>, plain::<I, 3>, plain::<I, 4>, plain::<I, 5>, plain::<I, 6>]
}

/// Sets `result` to the product of `left` and `right`, or adds the product to it. Element `(i, j)` of the result is
/// `result[i * result_row + j]`. The columns must be a multiple of [`COLUMNS`].
pub(crate) fn product(
    size: ProductSize,
    left: Left<'_>,
    right: Right<'_>,
    result: &mut [f32],
    result_row: usize,
    write: Write,
) {
    let ProductSize { rows, columns, depth } = size;
    assert!(columns.is_multiple_of(COLUMNS), "columns must fill whole tiles");
    assert!(left.data.len() >= extent(rows, left.row, depth, left.step), "the left matrix is too short");
    assert!(right.data.len() >= extent(depth, right.row, columns, 1), "the right matrix is too short");
    assert!(result.len() >= extent(rows, result_row, columns, 1), "the result is too short");
    assert!(result_row >= columns || rows < 2, "rows of the result must not overlap");
    let table = table();
    // Tiles of nearly equal height: a last tile of one or two rows would leave most of the processor idle.
    let tiles = rows.div_ceil(table.len());
    for column in (0..columns).step_by(COLUMNS) {
        for index in 0..tiles {
            let row = index * rows / tiles;
            let height = (index + 1) * rows / tiles - row;
            let tile = Tile {
                left: left.data.as_ptr().wrapping_add(row * left.row),
                left_row: left.row,
                left_step: left.step,
                right: right.data.as_ptr().wrapping_add(column),
                right_row: right.row,
                result: result.as_mut_ptr().wrapping_add(row * result_row + column),
                result_row,
                depth,
            };
            let compute = table[height - 1];
            // SAFETY: by the assertions above all elements of the tile lie inside the slices, of which the result is
            // borrowed for us alone; the functions in the table are for the instruction set in use.
            unsafe { compute(tile, write) };
        }
    }
}

/// A tile of `ROWS` rows in terms every processor knows. The compiler makes vectors of it where it can.
///
/// # Safety
/// See [`Compute`].
unsafe fn plain<I: Instructions, const ROWS: usize>(tile: Tile, write: Write) {
    let mut sums = [[0.0_f32; COLUMNS]; ROWS];
    let (mut left, mut right) = (tile.left, tile.right);
    for _ in 0..tile.depth {
        // SAFETY: the caller promises that this row of the right matrix exists.
        let columns = unsafe { right.cast::<[f32; COLUMNS]>().read_unaligned() };
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller promises that this element of the left matrix exists.
            let factor = unsafe { left.add(row * tile.left_row).read() };
            for column in 0..COLUMNS {
                sums[column] = I::mul_add(factor, columns[column], sums[column]);
            }
        }
        left = left.wrapping_add(tile.left_step);
        right = right.wrapping_add(tile.right_row);
    }
    for (row, sums) in sums.iter_mut().enumerate() {
        // SAFETY: the caller promises that this row of the result exists and is ours alone.
        unsafe {
            let result = tile.result.add(row * tile.result_row).cast::<[f32; COLUMNS]>();
            if write == Write::Add {
                let old = result.read_unaligned();
                for column in 0..COLUMNS {
                    sums[column] += old[column];
                }
            }
            result.write_unaligned(*sums);
        }
    }
}

/// A tile of `ROWS` rows in vectors of eight. What the compiler makes of the plain version depends on its mood.
///
/// # Safety
/// See [`Compute`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<const ROWS: usize>(tile: Tile, write: Write) {
    use std::arch::x86_64::{
        _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };
    const LANES: usize = 8;
    const _: () = assert!(COLUMNS == 2 * LANES);
    let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
    let (mut left, mut right) = (tile.left, tile.right);
    for _ in 0..tile.depth {
        // SAFETY: the caller promises that this row of the right matrix and these elements of the left one exist.
        unsafe {
            let columns = [_mm256_loadu_ps(right), _mm256_loadu_ps(right.add(LANES))];
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = _mm256_set1_ps(left.add(row * tile.left_row).read());
                sums[0] = _mm256_fmadd_ps(factor, columns[0], sums[0]);
                sums[1] = _mm256_fmadd_ps(factor, columns[1], sums[1]);
            }
        }
        left = left.wrapping_add(tile.left_step);
        right = right.wrapping_add(tile.right_row);
    }
    for (row, &[mut low, mut high]) in sums.iter().enumerate() {
        // SAFETY: the caller promises that this row of the result exists and is ours alone.
        unsafe {
            let result = tile.result.add(row * tile.result_row);
            if write == Write::Add {
                low = _mm256_add_ps(low, _mm256_loadu_ps(result));
                high = _mm256_add_ps(high, _mm256_loadu_ps(result.add(LANES)));
            }
            _mm256_storeu_ps(result, low);
            _mm256_storeu_ps(result.add(LANES), high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::with_isa;

    /// Numbers between -1 and 1 that follow no pattern.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as f32 / u32::MAX as f32 * 2.0 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn check(rows: usize, columns: usize, depth: usize, by_columns: bool, write: Write) {
        let (row, step) = if by_columns { (1, rows + 3) } else { (depth + 2, 1) };
        let (right_row, result_row) = (columns + 5, columns + 1);
        let left = numbers(extent(rows, row, depth, step), 1);
        let right = numbers(extent(depth, right_row, columns, 1), 2);
        let before = numbers(extent(rows, result_row, columns, 1), 3);
        let mut result = before.clone();
        product(
            ProductSize { rows, columns, depth },
            Left { data: &left, row, step },
            Right { data: &right, row: right_row },
            &mut result,
            result_row,
            write,
        );
        for (place, (&got, &before)) in result.iter().zip(&before).enumerate() {
            let (i, j) = (place / result_row, place % result_row);
            let mut wanted = f64::from(before);
            if j < columns {
                let sum: f64 = (0..depth)
                    .map(|k| f64::from(left[i * row + k * step]) * f64::from(right[k * right_row + j]))
                    .sum();
                wanted = sum + if write == Write::Add { wanted } else { 0.0 };
            }
            let error = (f64::from(got) - wanted).abs();
            assert!(
                error < 1e-6 * (depth as f64 + 1.0),
                "{rows}x{columns}x{depth} at {i},{j}: {got}, not {wanted}"
            );
        }
    }

    #[test]
    fn agrees_with_plain_sums_on_every_path() {
        for isa in Isa::available() {
            with_isa(isa, || {
                for rows in [0, 1, 2, 3, 4, 5, 6, 7, 12, 16, 23] {
                    for (columns, depth) in [(16, 1), (16, 0), (32, 7), (64, 20), (0, 3)] {
                        check(rows, columns, depth, false, Write::Set);
                        check(rows, columns, depth, true, Write::Add);
                    }
                }
            });
        }
    }

    #[test]
    #[should_panic(expected = "the right matrix is too short")]
    fn a_short_matrix_is_refused() {
        product(
            ProductSize { rows: 1, columns: 16, depth: 2 },
            Left { data: &[1.0; 2], row: 2, step: 1 },
            Right { data: &[1.0; 31], row: 16 },
            &mut [0.0; 16],
            16,
            Write::Set,
        );
    }
}
