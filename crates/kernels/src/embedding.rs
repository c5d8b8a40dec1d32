//! Token embedding: rows of a table looked up by their number, and the gradient of the table.

use crate::Threads;
use crate::dispatch::dispatch;
use crate::reduce::LEAST_ELEMENTS;
use crate::threads::Chunks;

/// Checks what both directions have in common.
fn check(ids: &[u32], table: &[f32], width: usize, y: &[f32]) {
    assert!(width > 0, "the width must not be zero");
    assert!(table.len().is_multiple_of(width), "the table must consist of whole rows");
    assert!(y.len() == ids.len() * width, "there must be a row for every id");
    assert!(ids.iter().all(|&id| (id as usize) < table.len() / width), "ids must lie in the table");
}

/// Copies the row of every id from `table` to `y`.
///
/// # Panics
/// If the lengths do not fit together or an id is not in the table.
pub fn forward(threads: &Threads, ids: &[u32], table: &[f32], width: usize, y: &mut [f32]) {
    check(ids, table, width, y);
    let rows = threads.items_per_task(ids.len(), LEAST_ELEMENTS.div_ceil(width));
    threads.run_parts(Chunks::new(y, rows * width), |part, y| {
        for (y, &id) in y.chunks_exact_mut(width).zip(&ids[part * rows..]) {
            y.copy_from_slice(&table[id as usize * width..][..width]);
        }
    });
}

/// Adds the rows of `dy` to the rows of `dtable` their ids name. Each task owns a range of the table and goes through
/// all ids in their order, so sums of repeated ids come out the same every time.
///
/// # Panics
/// If the lengths do not fit together or an id is not in the table.
pub fn backward(threads: &Threads, ids: &[u32], dy: &[f32], width: usize, dtable: &mut [f32]) {
    check(ids, dtable, width, dy);
    // Frequent ids often stand together, so there are more and smaller ranges than elsewhere.
    let rows = threads.items_per_task(dtable.len() / width, 1).div_ceil(8);
    threads.run_parts(Chunks::new(dtable, rows * width), |part, dtable| {
        let first = part * rows;
        for (&id, dy) in ids.iter().zip(dy.chunks_exact(width)) {
            let row = (id as usize).wrapping_sub(first);
            if let Some(dtable) = dtable.chunks_exact_mut(width).nth(row) {
                add_row(dy, dtable);
            }
        }
    });
}

dispatch! {
    fn add_row<I>(x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }
}
