//! The shape of the model: its sizes, its tensors, its parameters and its arithmetic.
//!
//! How the tensors begin, by the rule of [`crate::initial`]: matrices and embeddings are uniform with the standard
//! deviation 0.02, weights of norms are ones, biases are zeros. Queries, keys and values are one matrix, one above the
//! other.

use assay_kernels::gelu;

use super::options::Task;
use crate::initial::Start;
use crate::tensors::Tensor;

/// A named size.
#[derive(Debug, Clone, Copy)]
pub struct ModelSize {
    pub name: &'static str,
    /// Numbers that stand for a token between layers.
    pub width: usize,
    pub layers: usize,
    /// Attention heads.
    pub heads: usize,
}

/// The named sizes: BERT's own two, and the smaller ones that were published with the same vocabulary. The feed-forward
/// layers are four times as wide.
pub const SIZES: [ModelSize; 6] = [
    size("tiny", 128, 2, 2),
    size("mini", 256, 4, 4),
    size("small", 512, 4, 8),
    size("medium", 512, 8, 8),
    size("base", 768, 12, 12),
    size("large", 1024, 24, 16),
];

const fn size(name: &'static str, width: usize, layers: usize, heads: usize) -> ModelSize {
    ModelSize { name, width, layers, heads }
}

/// The shape of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BertShape {
    /// Numbers that stand for a token between layers.
    pub width: usize,
    /// Numbers inside a feed-forward layer.
    pub hidden: usize,
    pub layers: usize,
    /// Attention heads of a layer.
    pub heads: usize,
    /// Tokens there are.
    pub vocabulary: usize,
    /// Positions there are: the longest sentence.
    pub positions: usize,
    /// Kinds of tokens: first and second sentence. Here all tokens are of the first.
    pub kinds: usize,
    /// Classes of the classifier.
    pub classes: usize,
    /// What keeps the norms from a division by zero.
    pub epsilon: f32,
    pub activation: gelu::GeluFormula,
}

impl BertShape {
    /// Numbers of one attention head.
    pub fn head_size(&self) -> usize {
        self.width / self.heads.max(1)
    }

    fn layer_tensors(&self, layer: usize) -> [Tensor; 12] {
        let BertShape { width, hidden, .. } = *self;
        let named = |name: &str| format!("layers.{layer}.{name}");
        let [qkv_weight, qkv_bias] = dense(&named("qkv"), 3 * width, width);
        let [out_weight, out_bias] = dense(&named("out"), width, width);
        let [first_weight, first_bias] = norm(&named("attention_norm"), width);
        let [up_weight, up_bias] = dense(&named("up"), hidden, width);
        let [down_weight, down_bias] = dense(&named("down"), width, hidden);
        let [second_weight, second_bias] = norm(&named("output_norm"), width);
        [
            qkv_weight,
            qkv_bias,
            out_weight,
            out_bias,
            first_weight,
            first_bias,
            up_weight,
            up_bias,
            down_weight,
            down_bias,
            second_weight,
            second_bias,
        ]
    }

    /// All tensors that a task needs, in the order in which they are used.
    pub fn tensors(&self, task: Task) -> Vec<Tensor> {
        let BertShape { width, vocabulary, positions, kinds, classes, .. } = *self;
        let table = |name: &str, rows: usize| Tensor::new(name, [rows, width], Start::deviation(0.02));
        let mut tensors = vec![
            table("embeddings.word", vocabulary),
            table("embeddings.position", positions),
            table("embeddings.kind", kinds),
        ];
        tensors.extend(norm("embeddings.norm", width));
        tensors.extend((0..self.layers).flat_map(|layer| self.layer_tensors(layer)));
        match task {
            Task::Embed => {}
            Task::Classify => {
                tensors.extend(dense("pooler", width, width));
                tensors.extend(dense("classifier", classes, width));
            }
            Task::Pretrain => {
                tensors.extend(dense("transform", width, width));
                tensors.extend(norm("transform_norm", width));
                tensors.push(Tensor::new("decoder.bias", [vocabulary], Start::Zeros));
            }
        }
        tensors
    }

    /// All parameters of a task, counted in 128 bits so that no setting makes it overflow.
    pub fn parameters(&self, task: Task) -> u128 {
        let [width, hidden, layers, vocabulary, positions, kinds, classes] =
            [self.width, self.hidden, self.layers, self.vocabulary, self.positions, self.kinds, self.classes]
                .map(|size| size as u128);
        let layer = 4 * width * width + 2 * hidden * width + 9 * width + hidden;
        let encoder = (vocabulary + positions + kinds + 2) * width + layers * layer;
        encoder
            + match task {
                Task::Embed => 0,
                Task::Classify => width * width + width + classes * (width + 1),
                Task::Pretrain => width * width + 3 * width + vocabulary,
            }
    }

    /// Floating-point operations of the encoder for one sentence of this many tokens, of which `seen` are looked at: for
    /// each token 2 a parameter of each matrix and `4 · seen · width` a layer for attention.
    pub fn encoder_flops(&self, tokens: usize, seen: usize) -> f64 {
        let [width, hidden, layers] = [self.width, self.hidden, self.layers].map(|size| size as f64);
        let matrices = 4.0 * width * width + 2.0 * hidden * width;
        layers * tokens as f64 * (2.0 * matrices + 4.0 * seen as f64 * width)
    }

    /// Floating-point operations of the masked language model's head for this many masked tokens.
    pub fn masked_flops(&self, masked: usize) -> f64 {
        let [width, vocabulary] = [self.width, self.vocabulary].map(|size| size as f64);
        2.0 * masked as f64 * width * (width + vocabulary)
    }
}

fn dense(name: &str, outputs: usize, inputs: usize) -> [Tensor; 2] {
    [
        Tensor::new(format!("{name}.weight"), [outputs, inputs], Start::deviation(0.02)),
        Tensor::new(format!("{name}.bias"), [outputs], Start::Zeros),
    ]
}

fn norm(name: &str, width: usize) -> [Tensor; 2] {
    [
        Tensor::new(format!("{name}.weight"), [width], Start::Ones),
        Tensor::new(format!("{name}.bias"), [width], Start::Zeros),
    ]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A model so small that finite differences of all its tensors take no time, with a head size that fills no tile.
    pub(crate) fn little() -> BertShape {
        BertShape {
            width: 12,
            hidden: 20,
            layers: 2,
            heads: 2,
            vocabulary: 40,
            positions: 16,
            kinds: 2,
            classes: 3,
            epsilon: 1e-12,
            activation: gelu::GeluFormula::Exact,
        }
    }

    #[test]
    fn parameters_are_those_of_the_tensors_and_of_the_published_models() {
        for task in [Task::Classify, Task::Embed, Task::Pretrain] {
            let total: usize = little().tensors(task).iter().map(Tensor::len).sum();
            assert_eq!(total as u128, little().parameters(task), "{task:?}");
        }
        // BERT base without a head has 109.5 million parameters with its pooler.
        let base = BertShape {
            width: 768,
            hidden: 3072,
            layers: 12,
            heads: 12,
            vocabulary: 30_522,
            positions: 512,
            kinds: 2,
            classes: 2,
            ..little()
        };
        assert_eq!(base.parameters(Task::Embed) + 768 * 769, 109_482_240);
    }
}
