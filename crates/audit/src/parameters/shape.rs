//! How many parameters a transformer of a given shape has.

use assay_model::names::setting;

use super::super::written::Range;

/// The shape of a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub width: f64,
    pub layers: f64,
    /// Width of the feed-forward layer, where it is given.
    pub inner: Option<f64>,
    pub vocabulary: Option<f64>,
    /// Positions that may have embeddings of their own.
    pub positions: Option<f64>,
}

impl Shape {
    /// The shape by the settings that a look-up gives.
    pub fn new(number: impl Fn(&str) -> Option<f64>) -> Option<Shape> {
        let positive = |name: &str| number(name).filter(|value| value.is_finite() && *value >= 1.0);
        Some(Shape {
            width: positive(setting::D_MODEL)?,
            layers: positive(setting::LAYERS)?,
            inner: positive(setting::D_FF),
            vocabulary: positive(setting::VOCABULARY),
            positions: positive(setting::SEQUENCE_LENGTH),
        })
    }

    /// Fewer than any usual block has: attention with few key and value heads, two matrices behind it.
    pub fn least(&self) -> f64 {
        let inner = self.inner.unwrap_or(self.width);
        self.layers * (2.0 * self.width * self.width + 2.0 * self.width * inner)
    }
}

/// One kind of transformer block.
#[derive(Debug)]
pub(super) struct Block {
    /// The whole formula, with E for rows of embeddings.
    pub formula: &'static str,
    /// Matrices of the feed-forward layer.
    matrices: f64,
    /// Whether matrices have biases and norms have two vectors.
    biases: bool,
}

/// The usual kinds.
pub(super) const BLOCKS: &[Block] = &[
    Block { formula: "L(4d² + 3·d·d_ff + 2d) + d + E·d", matrices: 3.0, biases: false },
    Block { formula: "L(4d² + 2·d·d_ff + d_ff + 9d) + 2d + E·d", matrices: 2.0, biases: true },
    Block { formula: "L(4d² + 2·d·d_ff + 2d) + d + E·d", matrices: 2.0, biases: false },
];

impl Block {
    /// All but the embeddings. A feed-forward layer whose width is not given is four times as wide as the model.
    fn layers(&self, shape: &Shape) -> Option<f64> {
        let inner = match (shape.inner, self.matrices == 2.0) {
            (Some(inner), _) => inner,
            (None, true) => 4.0 * shape.width,
            (None, false) => return None,
        };
        let width = shape.width;
        let matrices = 4.0 * width * width + self.matrices * width * inner;
        let (vectors, last) = match self.biases {
            true => (inner + 9.0 * width, 2.0 * width),
            false => (2.0 * width, width),
        };
        let count = shape.layers * (matrices + vectors) + last;
        count.is_finite().then_some(count)
    }

    /// The count with so many rows of embeddings.
    pub fn count(&self, shape: &Shape, rows: f64) -> Option<f64> {
        Some(self.layers(shape)? + rows * shape.width)
    }

    /// The formula with its numbers.
    pub fn arithmetic(&self, shape: &Shape, rows: f64) -> String {
        let (width, inner) = (shape.width, shape.inner.unwrap_or(4.0 * shape.width));
        let matrices = format!("4·{width}² + {}·{width}·{inner}", self.matrices);
        let layers = shape.layers;
        match self.biases {
            true => format!("{layers}({matrices} + {inner} + 9·{width}) + 2·{width} + {rows}·{width}"),
            false => format!("{layers}({matrices} + 2·{width}) + {width} + {rows}·{width}"),
        }
    }

    /// How many rows of embeddings a stated count leaves; none if that is no number of rows that embeddings have.
    pub fn rows_left(&self, shape: &Shape, stated: Range) -> Option<Range> {
        let layers = Range::exact(self.layers(shape)?);
        let left = stated.minus(layers)?.over(Range::exact(shape.width))?;
        (left.high >= 256.0 && left.low <= 2e6).then_some(left)
    }
}

/// Rows for positions that usual models add to the vocabulary, with words for them.
pub(super) fn positions(given: impl Iterator<Item = f64>) -> Vec<(f64, String)> {
    let mut counts = vec![0.0, 512.0, 1024.0, 2048.0, 4096.0];
    counts.extend(given);
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    let words = |count: f64| if count == 0.0 { String::new() } else { format!(" and {count} positions") };
    counts.into_iter().map(|count| (count, words(count))).collect()
}

/// Vocabularies that many models share.
const USUAL: [f64; 14] = [
    50257.0, 50304.0, 32000.0, 30522.0, 128_256.0, 151_936.0, 50272.0, 51200.0, 100_352.0, 49152.0, 65536.0,
    256_000.0, 28996.0, 32128.0,
];

/// The number of rows in a range that somebody is most likely to have chosen, and how odd it is: 0 for a usual
/// vocabulary or a round number, up to 3 for none that stands out.
pub(super) fn roundest(range: Range) -> Option<(f64, u8)> {
    if range.high < 1.0 || !range.low.is_finite() || !range.high.is_finite() {
        return None;
    }
    let low = range.low.max(1.0);
    if let Some(usual) = USUAL.iter().find(|usual| (low..=range.high).contains(*usual)) {
        return Some((*usual, 1));
    }
    for (step, oddness) in [(10_000.0, 1), (1000.0, 1), (1024.0, 2), (100.0, 2), (64.0, 2), (1.0, 3)] {
        let multiple = (low / step).ceil() * step;
        if multiple <= range.high && multiple > 0.0 {
            return Some((multiple, oddness));
        }
    }
    Some((low, 3))
}
