//! The inner loop on AVX2: six rows by sixteen columns of the result in twelve registers.

use std::arch::x86_64::{
    __m256, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm256_add_ps, _mm256_broadcast_ss, _mm256_fmadd_ps,
    _mm256_loadu_ps, _mm256_setzero_ps, _mm256_storeu_ps,
};

use super::plan::{TILE_COLUMNS, TILE_ROWS};

/// Multiplies `length` columns of a packed row panel with as many rows of a packed column panel into a tile of the
/// result whose rows lie `stride` apart. The tile is replaced, or added to.
///
/// # Safety
/// `rows` must point to `length * TILE_ROWS` floats, `columns` to `length * TILE_COLUMNS`, and `result` to a tile of
/// which no other thread reads or writes an element meanwhile.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn tile(
    length: usize,
    rows: *const f32,
    columns: *const f32,
    result: *mut f32,
    stride: usize,
    add: bool,
) {
    // SAFETY: all reads and writes are within what the caller promises.
    unsafe {
        for row in 0..TILE_ROWS {
            let start = result.wrapping_add(row * stride);
            _mm_prefetch::<_MM_HINT_T0>(start.cast());
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(TILE_COLUMNS - 1).cast());
        }
        let mut sums = [[_mm256_setzero_ps(); 2]; TILE_ROWS];
        let (mut rows, mut columns) = (rows, columns);
        for _ in 0..length / 4 {
            for step in 0..4 {
                advance(&mut sums, rows.add(step * TILE_ROWS), columns.add(step * TILE_COLUMNS));
            }
            rows = rows.add(4 * TILE_ROWS);
            columns = columns.add(4 * TILE_COLUMNS);
        }
        for _ in 0..length % 4 {
            advance(&mut sums, rows, columns);
            rows = rows.add(TILE_ROWS);
            columns = columns.add(TILE_COLUMNS);
        }
        for (row, [mut left, mut right]) in sums.into_iter().enumerate() {
            let start = result.add(row * stride);
            if add {
                left = _mm256_add_ps(left, _mm256_loadu_ps(start));
                right = _mm256_add_ps(right, _mm256_loadu_ps(start.add(8)));
            }
            _mm256_storeu_ps(start, left);
            _mm256_storeu_ps(start.add(8), right);
        }
    }
}

/// One step of the inner dimension.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn advance(sums: &mut [[__m256; 2]; TILE_ROWS], rows: *const f32, columns: *const f32) {
    // SAFETY: the caller has checked that a step is left in both panels.
    unsafe {
        let left = _mm256_loadu_ps(columns);
        let right = _mm256_loadu_ps(columns.add(8));
        for (row, sums) in sums.iter_mut().enumerate() {
            let factor = _mm256_broadcast_ss(&*rows.add(row));
            sums[0] = _mm256_fmadd_ps(factor, left, sums[0]);
            sums[1] = _mm256_fmadd_ps(factor, right, sums[1]);
        }
    }
}

/// Asks for some cache lines to be brought into the second-level cache, and returns where they end.
#[inline]
pub(super) fn fetch(start: *mut f32, lines: usize) -> *mut f32 {
    for line in 0..lines {
        // SAFETY: fetching ahead is harmless for any address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_add(line * 16).cast_const().cast()) };
    }
    start.wrapping_add(lines * 16)
}
