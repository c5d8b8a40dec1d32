//! The backward pass: only what the windows hand back is added up.

use super::combine::{Term, combine};
use super::{CLOSED, PooledConvolutionShape, Workspace};

/// Adds the gradients of weight and bias to `dweight` and `dbias`. `x` and `index` are those of [`super::forward`].
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn backward_weight(
    shape: &PooledConvolutionShape,
    x: &[f32],
    index: &[u8],
    dy: &[f32],
    dweight: &mut [f32],
    dbias: &mut [f32],
    workspace: &mut Workspace,
) {
    shape.check(x.len(), [dy.len(), index.len()]);
    shape.check_weight(dweight.len(), dbias.len());
    workspace.check(shape);
    let filters = dweight.chunks_exact_mut(shape.taps()).zip(dbias);
    for (filter, (dweight, dbias)) in filters.enumerate() {
        let terms = open_windows(shape, filter, index, dy, &mut workspace.terms);
        *dbias += terms.iter().map(|term| term.factor).sum::<f32>();
        for (tap_row, dweight) in dweight.chunks_exact_mut(shape.line()).enumerate() {
            combine(&x[tap_row * shape.input_line()..], terms, dweight);
        }
    }
}

/// What the windows of one filter hand back: to which position of the kernel, and how much.
fn open_windows<'a>(
    shape: &PooledConvolutionShape,
    filter: usize,
    index: &[u8],
    dy: &[f32],
    terms: &'a mut [Term],
) -> &'a [Term] {
    let places = shape.places();
    let windows = index.chunks_exact(shape.filters).zip(dy.chunks_exact(shape.filters));
    let mut count = 0;
    for (begin, (index, dy)) in shape.begins().zip(windows) {
        let place = index[filter].min(CLOSED);
        // Written in any case and kept if it counts: whether a window is open cannot be guessed, and a wrong guess of the
        // processor costs more.
        terms[count] = Term { offset: begin + places[usize::from(place)], factor: dy[filter] };
        count += usize::from(place < CLOSED);
    }
    &terms[..count]
}

/// Sets `dx` to the gradient of the input. `index` is that of [`super::forward`].
///
/// # Panics
/// If the lengths do not fit the shape.
pub fn backward_input(
    shape: &PooledConvolutionShape,
    weight: &[f32],
    index: &[u8],
    dy: &[f32],
    dx: &mut [f32],
    workspace: &mut Workspace,
) {
    shape.check(dx.len(), [dy.len(), index.len()]);
    shape.check_weight(weight.len(), shape.filters);
    workspace.check(shape);
    dx.fill(0.0);
    let (taps, line, places) = (shape.taps(), shape.line(), shape.places());
    let windows = index.chunks_exact(shape.filters).zip(dy.chunks_exact(shape.filters));
    for (begin, (index, dy)) in shape.begins().zip(windows) {
        // The filters of the window by the position that they hand their gradient to.
        let mut counts = [0; 5];
        for (filter, (&place, &factor)) in index.iter().zip(dy).enumerate() {
            let place = usize::from(place.min(CLOSED));
            workspace.terms[place * shape.filters + counts[place]] = Term { offset: filter * taps, factor };
            counts[place] += 1;
        }
        let open = workspace.terms.chunks_exact(shape.filters).zip(counts).take(usize::from(CLOSED));
        for ((terms, count), place) in open.zip(places).filter(|((_, count), _)| *count > 0) {
            for tap_row in 0..shape.kernel_height {
                let dx = &mut dx[begin + place + tap_row * shape.input_line()..][..line];
                combine(&weight[tap_row * line..], &terms[..count], dx);
            }
        }
    }
}
