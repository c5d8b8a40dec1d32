//! Matrices that are packed once and multiplied many times with a few rows, inside one task.
//!
//! Packing a matrix costs as much as multiplying some rows with it, so that a model which answers one sentence at a time
//! packs its weights when it is loaded. A product is then computed panel by panel of sixteen outputs, and what follows
//! the product (bias, activation) is done while its results are still in the cache.
//!
//! Nothing here forks: callers cut their rows into parts and call this for each part. Every element is summed in one
//! order, whatever rows stand beside it, so that results do not depend on how the rows are cut.

use crate::Write;
use crate::dispatch::dispatch;
use crate::gelu::{self, GeluFormula};
use crate::math::product::{COLUMNS, Left, ProductSize, Right, product};
use crate::math::tanh;

/// A matrix of `outputs` rows of `inputs` numbers with a bias, in the order in which the product reads it.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    /// Panels of [`COLUMNS`] outputs: for each input the weights of all outputs of the panel, zeros where there is none.
    panels: Vec<f32>,
    bias: Vec<f32>,
    inputs: usize,
    outputs: usize,
}

/// What follows the product and its bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    Nothing,
    /// The Gaussian error linear unit.
    Gelu(GeluFormula),
    /// The hyperbolic tangent.
    Tanh,
}

impl Packed {
    /// Packs a matrix; this allocates.
    ///
    /// # Panics
    /// If the lengths do not fit together.
    pub fn new(weight: &[f32], bias: &[f32], inputs: usize) -> Packed {
        let outputs = bias.len();
        assert!(weight.len() == inputs * outputs, "the weights must be a row of inputs for every bias");
        let padded = outputs.next_multiple_of(COLUMNS);
        let mut panels = vec![0.0; padded * inputs];
        for (output, row) in weight.chunks_exact(inputs.max(1)).enumerate() {
            let panel = &mut panels[output / COLUMNS * COLUMNS * inputs..];
            for (input, &value) in row.iter().enumerate() {
                panel[input * COLUMNS + output % COLUMNS] = value;
            }
        }
        Packed { panels, bias: bias.to_vec(), inputs, outputs }
    }

    /// Numbers of a row of the input.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers of a row of the output.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// `y = then(x·Wᵀ + bias)`, or `y = then(y + x·Wᵀ + bias)`, for every row of `x`.
    ///
    /// # Panics
    /// If the lengths do not fit together.
    pub fn apply(&self, x: &[f32], y: &mut [f32], write: Write, activation: Activation) {
        let rows = y.len().checked_div(self.outputs).unwrap_or(0);
        assert!(y.len() == rows * self.outputs, "y must consist of whole rows");
        assert!(x.len() == rows * self.inputs, "x must have a row for every row of y");
        if rows == 0 {
            return;
        }
        for panel in 0..self.outputs / COLUMNS {
            self.product(panel, rows, x, &mut y[panel * COLUMNS..], self.outputs, write);
        }
        if !self.outputs.is_multiple_of(COLUMNS) {
            self.product_rest(x, y, write);
        }
        follow(activation, y, &self.bias);
    }

    /// The last panel where it has outputs that do not exist: computed aside, a few rows at a time.
    fn product_rest(&self, x: &[f32], y: &mut [f32], write: Write) {
        const ROWS: usize = 6;
        let mut tile = [0.0; ROWS * COLUMNS];
        let panel = self.outputs / COLUMNS;
        let pieces = x.chunks(ROWS * self.inputs.max(1)).zip(y.chunks_mut(ROWS * self.outputs));
        for (x, y) in pieces {
            let rows = y.len() / self.outputs;
            let tile = &mut tile[..rows * COLUMNS];
            self.product(panel, rows, x, tile, COLUMNS, Write::Set);
            for (tile, y) in tile.chunks_exact(COLUMNS).zip(y.chunks_exact_mut(self.outputs)) {
                for (y, value) in y[panel * COLUMNS..].iter_mut().zip(tile) {
                    *y = if write == Write::Add { *y + value } else { *value };
                }
            }
        }
    }

    fn product(&self, panel: usize, rows: usize, x: &[f32], y: &mut [f32], stride: usize, write: Write) {
        let weights = &self.panels[panel * COLUMNS * self.inputs..][..COLUMNS * self.inputs];
        let size = ProductSize { rows, columns: COLUMNS, depth: self.inputs };
        let left = Left { data: x, row: self.inputs, step: 1 };
        product(size, left, Right { data: weights, row: COLUMNS }, y, stride, write);
    }
}

/// Adds the bias to every row, and does what follows. Whole rows at once: loops over a panel's sixteen numbers are not
/// made into vectors.
fn follow(activation: Activation, y: &mut [f32], bias: &[f32]) {
    match activation {
        Activation::Nothing => follow_bias(y, bias),
        Activation::Gelu(GeluFormula::Exact) => follow_exact(y, bias),
        Activation::Gelu(GeluFormula::Tanh) => follow_approximate(y, bias),
        Activation::Tanh => follow_tanh(y, bias),
    }
}

dispatch! {
    fn follow_bias<I>(y: &mut [f32], bias: &[f32]) {
        for row in y.chunks_exact_mut(bias.len()) {
            for (y, &bias) in row.iter_mut().zip(bias) {
                *y += bias;
            }
        }
    }
}

dispatch! {
    fn follow_exact<I>(y: &mut [f32], bias: &[f32]) {
        for row in y.chunks_exact_mut(bias.len()) {
            for (y, &bias) in row.iter_mut().zip(bias) {
                *y = gelu::exact::<I>(*y + bias);
            }
        }
    }
}

dispatch! {
    fn follow_approximate<I>(y: &mut [f32], bias: &[f32]) {
        for row in y.chunks_exact_mut(bias.len()) {
            for (y, &bias) in row.iter_mut().zip(bias) {
                *y = gelu::approximate::<I>(*y + bias);
            }
        }
    }
}

dispatch! {
    fn follow_tanh<I>(y: &mut [f32], bias: &[f32]) {
        for row in y.chunks_exact_mut(bias.len()) {
            for (y, &bias) in row.iter_mut().zip(bias) {
                *y = tanh::<I>(*y + bias);
            }
        }
    }
}
