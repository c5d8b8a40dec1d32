//! Copying pieces of the factors into the order in which the inner loop reads them: panels of a few rows (or columns)
//! of which all elements of one inner index lie side by side, with zeros where the matrix ends.

use std::arch::x86_64::{
    __m256, _MM_HINT_T0, _mm_prefetch, _mm256_loadu_ps, _mm256_permute2f128_ps, _mm256_setzero_ps,
    _mm256_shuffle_ps, _mm256_storeu_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps,
};

/// Floats that are loaded and stored at once.
const LANES: usize = 8;
/// Floats in a cache line.
const FLOATS_PER_LINE: usize = 16;

/// A range of lines and inner indices of a factor, and where its packed panels go.
#[derive(Clone, Copy)]
pub(super) struct PackedRange {
    /// The first element.
    pub source: *const f32,
    /// Floats from line to line.
    pub line_stride: usize,
    /// Floats from one inner index to the next.
    pub inner_stride: usize,
    pub lines: usize,
    pub length: usize,
    pub target: *mut f32,
    /// Floats from panel to panel.
    pub panel_stride: usize,
}

impl PackedRange {
    /// The first element of a panel in the matrix, and its place.
    fn panel<const WIDTH: usize>(&self, panel: usize) -> (*const f32, *mut f32) {
        (
            self.source.wrapping_add(panel * WIDTH * self.line_stride),
            self.target.wrapping_add(panel * self.panel_stride),
        )
    }
}

/// Packs a piece into panels of `WIDTH` lines.
///
/// # Safety
/// The piece must lie in its matrix, and the target must have room for `length * WIDTH` floats in each panel and for
/// [`LANES`] more that may be overwritten, which nobody else uses meanwhile.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn panels<const WIDTH: usize>(piece: &PackedRange) {
    let whole = piece.lines / WIDTH;
    // SAFETY: the caller's promise.
    unsafe {
        if piece.inner_stride == 1 {
            (0..whole).for_each(|panel| transposed::<WIDTH>(piece, panel));
        } else {
            straight::<WIDTH>(piece, whole);
        }
        if piece.lines > whole * WIDTH {
            let (source, target) = piece.panel::<WIDTH>(whole);
            ragged::<WIDTH>(piece, source, piece.lines - whole * WIDTH, piece.length, target);
        }
    }
}

/// Any strides, any number of lines.
unsafe fn ragged<const WIDTH: usize>(
    piece: &PackedRange,
    source: *const f32,
    lines: usize,
    length: usize,
    target: *mut f32,
) {
    for inner in 0..length {
        for line in 0..WIDTH {
            // SAFETY: both indices are in the range the caller of `panels` vouches for.
            unsafe {
                let value = if line < lines {
                    *source.add(line * piece.line_stride + inner * piece.inner_stride)
                } else {
                    0.0
                };
                *target.add(inner * WIDTH + line) = value;
            }
        }
    }
}

/// Lines side by side in memory: copies. All panels are filled at once, so that a row of the matrix is read from left
/// to right.
#[target_feature(enable = "avx2,fma")]
unsafe fn straight<const WIDTH: usize>(piece: &PackedRange, panels: usize) {
    /// How many rows ahead the matrix is fetched: rows lie too far apart for the processor to see it coming.
    const AHEAD: usize = 8;
    for inner in 0..piece.length {
        let row = piece.source.wrapping_add(inner * piece.inner_stride);
        let ahead = row.wrapping_add(AHEAD * piece.inner_stride);
        for line in (0..panels * WIDTH).step_by(FLOATS_PER_LINE) {
            _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(line).cast());
        }
        for panel in 0..panels {
            // SAFETY: WIDTH elements are in the matrix here and have their place in the panel.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    row.add(panel * WIDTH),
                    piece.target.add(panel * piece.panel_stride + inner * WIDTH),
                    WIDTH,
                );
            }
        }
    }
}

/// Each line contiguous in memory: squares of eight by eight elements are transposed in registers. A panel narrower
/// than a register is written with overlap, each store covering the surplus of the one before.
#[target_feature(enable = "avx2,fma")]
unsafe fn transposed<const WIDTH: usize>(piece: &PackedRange, panel: usize) {
    let (source, target) = piece.panel::<WIDTH>(panel);
    let next = source.wrapping_add(WIDTH * piece.line_stride);
    let whole = piece.length / LANES * LANES;
    for inner in (0..whole).step_by(LANES) {
        if inner.is_multiple_of(FLOATS_PER_LINE) {
            // The next panel is fetched meanwhile: its short runs are over before the processor sees them coming.
            for line in 0..WIDTH {
                let address = next.wrapping_add(line * piece.line_stride + inner);
                _mm_prefetch::<_MM_HINT_T0>(address.cast());
            }
        }
        for first in (0..WIDTH).step_by(LANES) {
            let mut square = [_mm256_setzero_ps(); LANES];
            for (line, register) in square.iter_mut().enumerate().take(WIDTH - first) {
                // SAFETY: eight elements of this line are in the matrix from here on.
                *register =
                    unsafe { _mm256_loadu_ps(source.add((first + line) * piece.line_stride + inner)) };
            }
            for (step, register) in transpose(square).into_iter().enumerate() {
                // SAFETY: the caller grants the surplus at the end of the panel.
                unsafe { _mm256_storeu_ps(target.add((inner + step) * WIDTH + first), register) };
            }
        }
    }
    // SAFETY: what is left is in the range the caller vouches for.
    unsafe {
        ragged::<WIDTH>(piece, source.add(whole), WIDTH, piece.length - whole, target.add(whole * WIDTH));
    }
}

/// Turns eight registers of rows into eight of columns.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn transpose(rows: [__m256; LANES]) -> [__m256; LANES] {
    let [a, b, c, d, e, f, g, h] = rows;
    let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    let (ef_low, ef_high) = (_mm256_unpacklo_ps(e, f), _mm256_unpackhi_ps(e, f));
    let (gh_low, gh_high) = (_mm256_unpacklo_ps(g, h), _mm256_unpackhi_ps(g, h));
    let upper = [
        _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
        _mm256_shuffle_ps::<0xee>(ab_low, cd_low),
        _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
        _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
    ];
    let lower = [
        _mm256_shuffle_ps::<0x44>(ef_low, gh_low),
        _mm256_shuffle_ps::<0xee>(ef_low, gh_low),
        _mm256_shuffle_ps::<0x44>(ef_high, gh_high),
        _mm256_shuffle_ps::<0xee>(ef_high, gh_high),
    ];
    [
        _mm256_permute2f128_ps::<0x20>(upper[0], lower[0]),
        _mm256_permute2f128_ps::<0x20>(upper[1], lower[1]),
        _mm256_permute2f128_ps::<0x20>(upper[2], lower[2]),
        _mm256_permute2f128_ps::<0x20>(upper[3], lower[3]),
        _mm256_permute2f128_ps::<0x31>(upper[0], lower[0]),
        _mm256_permute2f128_ps::<0x31>(upper[1], lower[1]),
        _mm256_permute2f128_ps::<0x31>(upper[2], lower[2]),
        _mm256_permute2f128_ps::<0x31>(upper[3], lower[3]),
    ]
}
