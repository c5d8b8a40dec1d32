//! How a product is cut into tasks that fit the caches and keep all threads busy.
//!
//! The result is cut into blocks of rows and columns, and the inner dimension into slices. For each block and slice
//! both factors are packed into the order in which the inner loop reads them; then the tiles of the block are
//! computed from the packed panels, which all threads share. All this is one list of tasks, taken in order by
//! whichever thread is free, with the packing of the next slice in the middle of the computing of the present one: a
//! thread hardly ever waits for another before the end.

use std::sync::atomic::AtomicU32;

/// Rows of the result that the inner loop computes at once.
pub(super) const TILE_ROWS: usize = 6;
/// Columns of the result that the inner loop computes at once.
pub(super) const TILE_COLUMNS: usize = 16;

/// Floats between packed panels that packing may overwrite: a cache line, so that panels keep their alignment.
pub(super) const PANEL_GAP: usize = 16;

/// The longest slice of the inner dimension. A panel of the right factor (16 KiB) stays in the first-level cache.
const SLICE: usize = 256;
/// The most panels of rows in a task. With a full slice they fill 192 KiB of the second-level cache.
const TASK_ROW_PANELS: usize = 32;
/// The most panels of columns in a task.
const TASK_COLUMN_PANELS: usize = 8;
/// The most panels of rows in a block.
const BLOCK_ROW_PANELS: usize = 172;
/// The most panels of columns in a block. With a full slice the packed panels of a block take 3 MiB.
const BLOCK_COLUMN_PANELS: usize = 128;
/// Packing tasks have about this many elements, some ten microseconds.
const PACK_ELEMENTS: usize = 1 << 15;
/// Tasks with fewer multiplications than this are not worth handing out: a few microseconds.
const LEAST_TASK: usize = 1 << 18;

/// One block of the result with one slice of the inner dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultBlock {
    pub row: usize,
    pub rows: usize,
    pub column: usize,
    pub columns: usize,
    pub inner: usize,
    pub length: usize,
    /// The number of the slice: tiles of slice zero are written, later ones add to them.
    pub slice: u32,
    pub pack_steps: u32,
    pub compute_steps: u32,
}

/// One task. Panels are counted from the beginning of the block.
#[derive(Clone, Copy, Debug)]
pub(super) enum ProductTask {
    PackRows {
        block: u32,
        panel: u32,
        panels: u32,
    },
    PackColumns {
        block: u32,
        panel: u32,
        panels: u32,
    },
    Compute {
        block: u32,
        row_panel: u32,
        row_panels: u32,
        column_panel: u32,
        column_panels: u32,
        /// The number of this part of the result, the same in every slice.
        part: u32,
    },
}

/// The list of tasks of one product and what has been done of it. Its buffers are kept from product to product.
#[derive(Default)]
pub(super) struct ProductPlan {
    pub blocks: Vec<ResultBlock>,
    pub steps: Vec<ProductTask>,
    /// For every block the packing steps done.
    pub packed: Vec<AtomicU32>,
    /// For every block the computing steps done.
    pub computed: Vec<AtomicU32>,
    /// For every part of the result the slices done.
    pub parts: Vec<AtomicU32>,
    shape: Option<[usize; 4]>,
    /// Floats needed for one slot of packed rows and of packed columns.
    pub row_floats: usize,
    pub column_floats: usize,
}

impl ProductPlan {
    /// Plans a product of at least one row, column and inner element for a number of threads.
    pub(super) fn prepare(&mut self, m: usize, n: usize, k: usize, threads: usize) {
        if self.shape != Some([m, n, k, threads]) {
            self.shape = Some([m, n, k, threads]);
            self.lay_out(m, n, k, threads);
        }
        for counter in [&mut self.packed, &mut self.computed, &mut self.parts] {
            counter.iter_mut().for_each(|counter| *counter.get_mut() = 0);
        }
    }

    fn lay_out(&mut self, m: usize, n: usize, k: usize, threads: usize) {
        let (row_panels, column_panels) = (m.div_ceil(TILE_ROWS), n.div_ceil(TILE_COLUMNS));
        let slice = even_share(k, SLICE);
        let block_rows = even_share(row_panels, BLOCK_ROW_PANELS);
        let block_columns = even_share(column_panels, BLOCK_COLUMN_PANELS);
        let task = task_panels(row_panels, column_panels, slice, block_rows, block_columns, threads);
        self.blocks.clear();
        self.steps.clear();
        self.row_floats = block_rows * (TILE_ROWS * slice + PANEL_GAP);
        self.column_floats = block_columns * (TILE_COLUMNS * slice + PANEL_GAP);
        for first_column in (0..column_panels).step_by(block_columns) {
            for first_row in (0..row_panels).step_by(block_rows) {
                for (number, inner) in (0..k).step_by(slice).enumerate() {
                    let (row, column) = (first_row * TILE_ROWS, first_column * TILE_COLUMNS);
                    self.blocks.push(ResultBlock {
                        row,
                        rows: (block_rows * TILE_ROWS).min(m - row),
                        column,
                        columns: (block_columns * TILE_COLUMNS).min(n - column),
                        inner,
                        length: slice.min(k - inner),
                        slice: number as u32,
                        pack_steps: 0,
                        compute_steps: 0,
                    });
                }
            }
        }
        self.list_steps(task);
    }

    /// Lists the steps: packing of the first block, then for every block its computing with the packing of the next
    /// block in the middle.
    fn list_steps(&mut self, task: (usize, usize)) {
        let mut parts = 0;
        let mut first_part = 0;
        self.push_packing(0);
        for index in 0..self.blocks.len() {
            let block = self.blocks[index];
            if block.slice == 0 {
                first_part = parts;
            }
            let (rows, columns) = (block.rows.div_ceil(TILE_ROWS), block.columns.div_ceil(TILE_COLUMNS));
            let tasks = rows.div_ceil(task.0) * columns.div_ceil(task.1);
            parts = first_part + tasks;
            self.blocks[index].compute_steps = tasks as u32;
            let mut number = 0;
            for row_panel in (0..rows).step_by(task.0) {
                for column_panel in (0..columns).step_by(task.1) {
                    if number == tasks / 2 {
                        self.push_packing(index + 1);
                    }
                    self.steps.push(ProductTask::Compute {
                        block: index as u32,
                        row_panel: row_panel as u32,
                        row_panels: task.0.min(rows - row_panel) as u32,
                        column_panel: column_panel as u32,
                        column_panels: task.1.min(columns - column_panel) as u32,
                        part: (first_part + number) as u32,
                    });
                    number += 1;
                }
            }
        }
        self.packed.resize_with(self.blocks.len(), AtomicU32::default);
        self.computed.resize_with(self.blocks.len(), AtomicU32::default);
        self.parts.resize_with(parts, AtomicU32::default);
    }

    fn push_packing(&mut self, index: usize) {
        let Some(&block) = self.blocks.get(index) else {
            return;
        };
        let before = self.steps.len();
        let number = index as u32;
        let row_panels = block.rows.div_ceil(TILE_ROWS);
        let share = PACK_ELEMENTS.div_ceil(block.length * TILE_ROWS);
        for panel in (0..row_panels).step_by(share) {
            self.steps.push(ProductTask::PackRows {
                block: number,
                panel: panel as u32,
                panels: share.min(row_panels - panel) as u32,
            });
        }
        let column_panels = block.columns.div_ceil(TILE_COLUMNS);
        let share = PACK_ELEMENTS.div_ceil(block.length * TILE_COLUMNS);
        for panel in (0..column_panels).step_by(share) {
            self.steps.push(ProductTask::PackColumns {
                block: number,
                panel: panel as u32,
                panels: share.min(column_panels - panel) as u32,
            });
        }
        self.blocks[index].pack_steps = (self.steps.len() - before) as u32;
    }
}

/// The share of `total` in the fewest shares of at most `most`, all of nearly the same size.
fn even_share(total: usize, most: usize) -> usize {
    total.div_ceil(total.div_ceil(most))
}

/// How many panels of rows and of columns a task computes: as large as the caches like it, but small enough to occupy
/// all threads to the end.
fn task_panels(
    row_panels: usize,
    column_panels: usize,
    slice: usize,
    block_rows: usize,
    block_columns: usize,
    threads: usize,
) -> (usize, usize) {
    const TASKS_PER_THREAD: usize = 8;
    let mut rows = even_share(block_rows, TASK_ROW_PANELS);
    let mut columns = even_share(block_columns, TASK_COLUMN_PANELS);
    if threads > 1 {
        let tasks = |rows: usize, columns: usize| row_panels.div_ceil(rows) * column_panels.div_ceil(columns);
        let size = |rows: usize, columns: usize| rows * TILE_ROWS * columns * TILE_COLUMNS * slice;
        while tasks(rows, columns) < TASKS_PER_THREAD * threads && size(rows, columns) >= 2 * LEAST_TASK {
            if columns > 2 || rows == 1 {
                columns = columns.div_ceil(2);
            } else {
                rows = rows.div_ceil(2);
            }
        }
    }
    (rows, columns)
}
