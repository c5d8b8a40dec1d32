//! The shape of the model: its sizes, its tensors, its parameters and its arithmetic.
//!
//! How the tensors begin, by the rule of [`crate::initial`]:
//!
//! | tensor | shape | inputs, outputs of the bound |
//! |---|---|---|
//! | `embedding` | vocabulary × width | bound = sqrt(3), standard deviation 1 |
//! | `layers.N.attention_norm` | width | all ones |
//! | `layers.N.qkv` | 3·width × width (rows: queries, keys, values) | width, width |
//! | `layers.N.attention_out` | width × width | width, width |
//! | `layers.N.feed_forward_norm` | width | all ones |
//! | `layers.N.gate_up` | 2·hidden × width (rows: gate, up) | width, hidden |
//! | `layers.N.down` | width × hidden | hidden, width |
//! | `norm` | width | all ones |
//! | `head` | vocabulary × width | width, vocabulary |

use crate::initial::Start;
use crate::tensors::Tensor;

/// A named size.
#[derive(Debug, Clone, Copy)]
pub struct ModelSize {
    pub name: &'static str,
    /// Its shape, with the vocabulary it has where none is given.
    pub shape: LmShape,
}

/// The named sizes. The first five are those of the CS336 course (assignment 2, table 1).
pub const SIZES: [ModelSize; 7] = [
    size("small", 768, 3072, 12, 12, 10_000),
    size("medium", 1024, 4096, 24, 16, 10_000),
    size("large", 1280, 5120, 36, 20, 10_000),
    size("xl", 1600, 6400, 48, 25, 10_000),
    size("2.7B", 2560, 10_240, 32, 32, 10_000),
    size("llama-7b", 4096, 11_008, 32, 32, 32_000),
    size("tiny", 128, 384, 2, 4, 10_000),
];

const fn size(
    name: &'static str,
    width: usize,
    hidden: usize,
    layers: usize,
    heads: usize,
    vocabulary: usize,
) -> ModelSize {
    ModelSize { name, shape: LmShape { width, hidden, layers, heads, vocabulary } }
}

/// The shape of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LmShape {
    /// Numbers that stand for a token between layers.
    pub width: usize,
    /// Numbers inside a feed-forward layer.
    pub hidden: usize,
    pub layers: usize,
    /// Attention heads of a layer.
    pub heads: usize,
    /// Tokens there are.
    pub vocabulary: usize,
}

impl LmShape {
    /// Numbers of one attention head.
    pub fn head_size(&self) -> usize {
        self.width / self.heads.max(1)
    }

    fn layer_tensors(&self, layer: usize) -> [Tensor; 6] {
        let LmShape { width, hidden, .. } = *self;
        let named = |name: &str| format!("layers.{layer}.{name}");
        let vector = |name: &str| Tensor::new(named(name), [width], Start::Ones);
        let matrix = |name: &str, stacked: usize, outputs: usize, inputs: usize| {
            Tensor::new(named(name), [stacked * outputs, inputs], Start::matrix(inputs, outputs))
        };
        [
            vector("attention_norm"),
            matrix("qkv", 3, width, width),
            matrix("attention_out", 1, width, width),
            vector("feed_forward_norm"),
            matrix("gate_up", 2, hidden, width),
            matrix("down", 1, width, hidden),
        ]
    }

    /// All tensors, in the order in which they are used.
    pub fn tensors(&self) -> Vec<Tensor> {
        let LmShape { width, vocabulary, .. } = *self;
        let mut tensors = vec![Tensor::new("embedding", [vocabulary, width], Start::deviation(1.0))];
        tensors.extend((0..self.layers).flat_map(|layer| self.layer_tensors(layer)));
        tensors.push(Tensor::new("norm", [width], Start::Ones));
        tensors.push(Tensor::new("head", [vocabulary, width], Start::matrix(width, vocabulary)));
        tensors
    }

    pub fn parameters(&self) -> u128 {
        self.parameters_without_head() + self.vocabulary as u128 * self.width as u128
    }

    /// All parameters but those of the output matrix, as models that share it with the embedding count them.
    pub fn parameters_without_head(&self) -> u128 {
        let [width, hidden, layers, vocabulary] =
            [self.width, self.hidden, self.layers, self.vocabulary].map(|size| size as u128);
        let layer = 2 * width + 4 * width * width + 3 * hidden * width;
        layers * layer + vocabulary * width + width
    }

    /// Floating-point operations of the forward pass: for each token 2 a parameter of each matrix that it is
    /// multiplied with, and `4 · context · width` a layer for attention. Attention is counted in full, as a plain
    /// implementation computes it, although masked blocks are skipped. Left out are norms, rotations, activations,
    /// the softmax, the loss and the embedding. The backward pass has twice as many; what checkpointing computes again
    /// is not counted.
    pub fn forward_flops(&self, tokens: usize, context: usize) -> f64 {
        let [width, hidden, layers, vocabulary] =
            [self.width, self.hidden, self.layers, self.vocabulary].map(|size| size as f64);
        let matrices = layers * (4.0 * width * width + 3.0 * hidden * width) + vocabulary * width;
        tokens as f64 * (2.0 * matrices + layers * 4.0 * context as f64 * width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> LmShape {
        SIZES.iter().find(|size| size.name == name).unwrap().shape
    }

    /// The counts that the course's table prints.
    #[test]
    fn parameters_agree_with_the_published_table() {
        let published = [
            ("small", 120.9e6, 0.05e6),
            ("medium", 412.9e6, 0.05e6),
            ("large", 956.6e6, 0.05e6),
            ("xl", 1.98e9, 0.005e9),
            ("2.7B", 3.38e9, 0.005e9),
        ];
        for (name, count, rounding) in published {
            let shape = named(name);
            let without = shape.parameters_without_head() as f64;
            assert!((without - count).abs() <= rounding, "{name}: {without}");
            assert_eq!(
                shape.parameters() - shape.parameters_without_head(),
                10_000 * shape.width as u128,
                "{name}"
            );
        }
        assert_eq!(named("llama-7b").parameters(), 6_738_415_616);
    }

    #[test]
    fn parameters_are_those_of_the_tensors() {
        let shape = LmShape { width: 6, hidden: 10, layers: 3, heads: 3, vocabulary: 11 };
        let total: usize = shape.tensors().iter().map(Tensor::len).sum();
        assert_eq!(total as u128, shape.parameters());
    }

    /// 126 GFLOP is what the course's small model needs for 512 tokens.
    #[test]
    fn arithmetic_of_the_small_model() {
        let flops = named("small").forward_flops(512, 128);
        assert!((flops / 1e9 - 126.4).abs() < 0.5, "{flops}");
    }
}
