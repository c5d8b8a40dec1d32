//! The product on AVX2: executes the steps of a plan on all threads.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};

use super::buffer::Buffer;
use super::plan::{PANEL_GAP, ProductPlan, ProductTask, ResultBlock, TILE_COLUMNS, TILE_ROWS};
use super::{Matrix, Problem, micro, pack};
use crate::threads::Threads;

/// Blocks whose packed panels exist at the same time: one that is computed and one that is packed.
const SLOTS: usize = 2;

/// What the product keeps from call to call: packed panels and the plan of the last shape.
#[derive(Default)]
pub(super) struct Workspace {
    plan: ProductPlan,
    panels: Buffer,
}

/// Floats in a cache line.
const LINE: usize = 16;

/// Computes a product with at least one row, column and inner element.
///
/// # Safety
/// AVX2 and FMA must be available, and the problem must describe valid memory whose result overlaps no factor.
pub(super) unsafe fn multiply(threads: &Threads, workspace: &mut Workspace, problem: &Problem) {
    let Workspace { plan, panels } = workspace;
    plan.prepare(problem.m, problem.n, problem.k, threads.count());
    let slot = plan.row_floats.next_multiple_of(LINE) + plan.column_floats.next_multiple_of(LINE);
    let run = BlockedProduct { problem, plan, panels: panels.reserve(SLOTS * slot), slot };
    // SAFETY: the caller's promise, and the panels have the size the plan asks for.
    threads.run(plan.steps.len(), |step| unsafe { run.step(step) });
}

/// One product under way.
struct BlockedProduct<'a> {
    problem: &'a Problem,
    plan: &'a ProductPlan,
    panels: *mut f32,
    slot: usize,
}

// SAFETY: the counters of the plan see to it that no two threads use the same panel or part of the result at once
// unless both only read it.
unsafe impl Sync for BlockedProduct<'_> {}

impl BlockedProduct<'_> {
    /// Runs one step as soon as the steps it builds on are done. Those come earlier in the list, so some thread
    /// has them in hand already.
    ///
    /// # Safety
    /// Each step may be executed once, in an order in which a thread takes no step before all earlier ones were
    /// taken.
    unsafe fn step(&self, number: usize) {
        match self.plan.steps[number] {
            ProductTask::PackRows { block, panel, panels } => {
                let block = self.begin_packing(block);
                // SAFETY: the slot is free and this step alone writes its panels.
                unsafe { self.pack_rows(block, panel as usize, panels as usize) };
                self.plan.packed[block.0].fetch_add(1, Release);
            }
            ProductTask::PackColumns { block, panel, panels } => {
                let block = self.begin_packing(block);
                // SAFETY: the slot is free and this step alone writes its panels.
                unsafe { self.pack_columns(block, panel as usize, panels as usize) };
                self.plan.packed[block.0].fetch_add(1, Release);
            }
            ProductTask::Compute { block, row_panel, row_panels, column_panel, column_panels, part } => {
                let index = block as usize;
                let block = &self.plan.blocks[index];
                wait_for(&self.plan.packed[index], block.pack_steps);
                wait_for(&self.plan.parts[part as usize], block.slice);
                let rows = row_panel as usize..(row_panel + row_panels) as usize;
                let columns = column_panel as usize..(column_panel + column_panels) as usize;
                // SAFETY: the block is packed, and the part of the result is this step's until it is counted.
                unsafe { self.compute((index, block), rows, columns) };
                self.plan.parts[part as usize].fetch_add(1, Release);
                self.plan.computed[index].fetch_add(1, Release);
            }
        }
    }

    /// Waits until the slot of a block is free.
    fn begin_packing(&self, block: u32) -> (usize, &ResultBlock) {
        let index = block as usize;
        if let Some(before) = index.checked_sub(SLOTS) {
            let steps = self.plan.blocks[before].compute_steps;
            wait_for(&self.plan.computed[before], steps);
        }
        (index, &self.plan.blocks[index])
    }

    /// Where a packed panel of rows begins.
    fn row_panel(&self, (index, block): (usize, &ResultBlock), panel: usize) -> *mut f32 {
        let offset = index % SLOTS * self.slot + panel * (block.length * TILE_ROWS + PANEL_GAP);
        self.panels.wrapping_add(offset)
    }

    /// Where a packed panel of columns begins.
    fn column_panel(&self, (index, block): (usize, &ResultBlock), panel: usize) -> *mut f32 {
        let offset = index % SLOTS * self.slot
            + self.plan.row_floats.next_multiple_of(LINE)
            + panel * (block.length * TILE_COLUMNS + PANEL_GAP);
        self.panels.wrapping_add(offset)
    }

    unsafe fn pack_rows(&self, block: (usize, &ResultBlock), first: usize, panels: usize) {
        let row = first * TILE_ROWS;
        let lines = (panels * TILE_ROWS).min(block.1.rows - row);
        let (matrix, target) = (self.problem.left, self.row_panel(block, first));
        // SAFETY: the rows are in the block, which is in the matrix, and the gap takes the surplus.
        unsafe { pack_lines::<TILE_ROWS>(matrix, block.1, block.1.row + row, lines, target) };
    }

    unsafe fn pack_columns(&self, block: (usize, &ResultBlock), first: usize, panels: usize) {
        let column = first * TILE_COLUMNS;
        let lines = (panels * TILE_COLUMNS).min(block.1.columns - column);
        let (matrix, target) = (self.problem.right, self.column_panel(block, first));
        // SAFETY: the columns are in the block, which is in the matrix, and the gap takes the surplus.
        unsafe { pack_lines::<TILE_COLUMNS>(matrix, block.1, block.1.column + column, lines, target) };
    }

    /// Computes the tiles of some panels: all rows for one panel of columns, which stays in the first-level cache, then
    /// the next.
    unsafe fn compute(
        &self,
        (index, block): (usize, &ResultBlock),
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
    ) {
        let add = self.problem.add || block.slice > 0;
        let stride = self.problem.n;
        // While a panel of columns is used, the next one is fetched from the third-level cache, some lines per tile.
        let lines_each = (block.length * TILE_COLUMNS / LINE).div_ceil(rows.len());
        for column_panel in columns {
            let right = self.column_panel((index, block), column_panel);
            let column = column_panel * TILE_COLUMNS;
            let width = TILE_COLUMNS.min(block.columns - column);
            let mut ahead = right.wrapping_add(block.length * TILE_COLUMNS + PANEL_GAP);
            for row_panel in rows.clone() {
                ahead = micro::fetch(ahead, lines_each);
                let left = self.row_panel((index, block), row_panel);
                let row = row_panel * TILE_ROWS;
                let height = TILE_ROWS.min(block.rows - row);
                // SAFETY: the tile is in the part of the result that belongs to this step, the panels are packed.
                unsafe {
                    let result = self.problem.result.add((block.row + row) * stride + block.column + column);
                    if height == TILE_ROWS && width == TILE_COLUMNS {
                        micro::tile(block.length, left, right, result, stride, add);
                    } else {
                        edge_tile(block.length, left, right, result, stride, add, height, width);
                    }
                }
            }
        }
    }
}

/// A tile at the border of the matrix: computed in full aside, of which the part that exists is copied.
#[expect(clippy::too_many_arguments, reason = "those of the inner loop, and the size of the part")]
unsafe fn edge_tile(
    length: usize,
    left: *const f32,
    right: *const f32,
    result: *mut f32,
    stride: usize,
    add: bool,
    height: usize,
    width: usize,
) {
    let mut tile = [0.0_f32; TILE_ROWS * TILE_COLUMNS];
    // SAFETY: the panels are padded with zeros to whole tiles.
    unsafe {
        micro::tile(length, left, right, tile.as_mut_ptr(), TILE_COLUMNS, false);
    }
    for (row, values) in tile.chunks_exact(TILE_COLUMNS).take(height).enumerate() {
        // SAFETY: `height` rows of `width` elements exist in the result and belong to the caller.
        let target = unsafe { std::slice::from_raw_parts_mut(result.add(row * stride), width) };
        for (target, value) in target.iter_mut().zip(values) {
            *target = if add { *target + value } else { *value };
        }
    }
}

/// Packs some lines of a factor, at the inner indices of a block, into panels of `TILE` lines.
///
/// # Safety
/// The lines must lie in the matrix, and the target must be as [`pack::panels`] asks for.
unsafe fn pack_lines<const TILE: usize>(
    matrix: Matrix,
    block: &ResultBlock,
    first: usize,
    lines: usize,
    target: *mut f32,
) {
    let offset = first * matrix.line_stride + block.inner * matrix.inner_stride;
    let piece = pack::PackedRange {
        source: matrix.start.wrapping_add(offset),
        line_stride: matrix.line_stride,
        inner_stride: matrix.inner_stride,
        lines,
        length: block.length,
        target,
        panel_stride: block.length * TILE + PANEL_GAP,
    };
    // SAFETY: the caller's promise.
    unsafe { pack::panels::<TILE>(&piece) };
}

/// Waits until a counter has reached a number. The step it waits for is in the hands of another thread, so this is
/// short unless that thread has lost its core.
fn wait_for(counter: &AtomicU32, number: u32) {
    const LOOKS: u32 = 10_000;
    let mut looks = 0;
    while counter.load(Acquire) < number {
        if looks < LOOKS {
            looks += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}
