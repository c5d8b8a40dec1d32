//! Shapes of models, the parameters that follow from them, and times of a pass.

use super::super::fault::Fault;
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, corrupted, fixed, heading, with_interval};

pub(super) const FAULTS: &[Fault] = &[Fault::ParameterCount, Fault::BadCell];

/// Width, width of the feed-forward layer, layers and heads.
struct Shape {
    name: &'static str,
    width: u64,
    inner: u64,
    layers: u64,
    heads: u64,
}

/// How a family of models counts its parameters.
#[derive(Clone, Copy)]
enum Family {
    /// A gated feed-forward layer with three matrices, no biases, one scale for every norm, one table of tokens.
    Gated,
    /// A feed-forward layer with two matrices, biases everywhere, positions that are learned.
    Classic,
}

impl Family {
    fn vocabulary(self) -> u64 {
        match self {
            Family::Gated => 10_000,
            Family::Classic => 50_257,
        }
    }

    fn parameters(self, shape: &Shape) -> u64 {
        let Shape { width, inner, layers, .. } = *shape;
        match self {
            Family::Gated => {
                layers * (4 * width * width + 3 * width * inner + 2 * width)
                    + width
                    + self.vocabulary() * width
            }
            Family::Classic => {
                let attention = 4 * width * width + 4 * width;
                let feed_forward = 2 * width * inner + width + inner;
                layers * (attention + feed_forward + 4 * width)
                    + 2 * width
                    + (self.vocabulary() + 1024) * width
            }
        }
    }

    fn description(self) -> &'static str {
        match self {
            Family::Gated => {
                "Gated feed-forward layers, RMS norms, no biases, a vocabulary of 10,000 whose embedding is also the \
                 output layer."
            }
            Family::Classic => {
                "GPT-2 shapes: two matrices in the feed-forward layer, biases, layer norms, 1,024 learned positions \
                 and a vocabulary of 50,257 whose embedding is also the output layer."
            }
        }
    }
}

fn shapes(scene: &mut SectionData<'_>) -> Vec<Shape> {
    let all = [
        ("tiny", 512, 8, 8),
        ("small", 768, 12, 12),
        ("medium", 1024, 24, 16),
        ("large", 1280, 36, 20),
        ("xl", 1600, 48, 25),
    ];
    let skipped = scene.random.below(all.len());
    let kept = all.into_iter().enumerate().filter(|(index, _)| *index != skipped);
    kept.map(|(_, (name, width, layers, heads))| Shape { name, width, inner: 4 * width, layers, heads })
        .collect()
}

pub(super) fn write(scene: &mut SectionData<'_>) -> Vec<Block> {
    let title = scene.random.pick(["Model sizes", "Models and their times", "What was benchmarked"]);
    let family = scene.random.pick([Family::Gated, Family::Classic]);
    let shapes = shapes(scene);
    let nanoseconds = scene.random.between(0.1, 0.4);
    let ratio = scene.random.between(2.8, 3.6);
    let mut table = WriteUpTable::new(&[
        "Size",
        "d_model",
        "d_ff",
        "num_layers",
        "num_heads",
        "num_params",
        "forward_time (ms)",
        "forward+backward (ms)",
    ]);
    for shape in &shapes {
        let parameters = family.parameters(shape);
        let milliseconds = parameters as f64 * nanoseconds * 1e-6;
        let (forward, both) =
            (scene.repeats(milliseconds, 0.004, 10), scene.repeats(milliseconds * ratio, 0.004, 10));
        table.row(vec![
            shape.name.to_owned(),
            shape.width.to_string(),
            shape.inner.to_string(),
            shape.layers.to_string(),
            shape.heads.to_string(),
            short(parameters as f64),
            with_interval(&forward, 2),
            with_interval(&both, 2),
        ]);
    }
    let row = scene.random.below(shapes.len());
    let factor = scene.random.pick([0.7, 0.85, 1.12, 1.3, 2.0]);
    let column = 6 + scene.random.below(2);
    if scene.plants(Fault::ParameterCount)
        && let (Some(shape), Some(cell)) = (shapes.get(row), table.cell(row, 5))
    {
        *cell = short(family.parameters(shape) as f64 * factor);
    }
    let mut fork = scene.random.clone();
    if scene.plants(Fault::BadCell)
        && let Some(cell) = table.cell(row, column)
    {
        *cell = corrupted(&mut fork, cell);
    }
    let words = format!(
        "{} Times are means of ten iterations after five of warm-up, with 95 % intervals.",
        family.description()
    );
    vec![heading(title), Block::Text(words), Block::WriteUpTable(table)]
}

/// A count as people write one: 120.9M, 3.38B.
fn short(count: f64) -> String {
    if count >= 1e9 { format!("{}B", fixed(count / 1e9, 2)) } else { format!("{}M", fixed(count / 1e6, 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_known_models() {
        let small = Shape { name: "small", width: 768, inner: 3072, layers: 12, heads: 12 };
        assert_eq!(short(Family::Gated.parameters(&small) as f64), "120.9M");
        assert_eq!(Family::Classic.parameters(&small), 124_439_808);
        let large = Shape { name: "2.7B", width: 2560, inner: 10_240, layers: 32, heads: 32 };
        assert_eq!(short(Family::Gated.parameters(&large) as f64), "3.38B");
    }
}
