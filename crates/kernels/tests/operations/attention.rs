//! Attention of many shapes: head sizes that fill vectors and odd ones, contexts around the sizes of the blocks.

use assay_kernels::attention::{self, AttentionShape};
use proptest::prelude::{ProptestConfig, any, proptest};

use crate::support::{assert_close, assert_slopes, doubles, everywhere, inner, numbers};

const fn shape(batch: usize, context: usize, heads: usize, head_size: usize, causal: bool) -> AttentionShape {
    AttentionShape { batch, context, heads, head_size, causal }
}

/// The vectors of one head: queries, keys or values by `part`.
fn vectors(shape: &AttentionShape, qkv: &[f64], part: usize, sequence: usize, head: usize) -> Vec<Vec<f64>> {
    let begin = |position| ((sequence * shape.context + position) * 3 + part) * shape.heads + head;
    (0..shape.context)
        .map(|position| qkv[begin(position) * shape.head_size..][..shape.head_size].to_vec())
        .collect()
}

/// Output and logarithms, computed the plain way.
fn reference(shape: &AttentionShape, qkv: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut out = vec![0.0; shape.output_length()];
    let mut logsumexp = Vec::new();
    for sequence in 0..shape.batch {
        for head in 0..shape.heads {
            let [queries, keys, values] = [0, 1, 2].map(|part| vectors(shape, qkv, part, sequence, head));
            for (position, query) in queries.iter().enumerate() {
                let seen = if shape.causal { position + 1 } else { shape.context };
                let score = |key: &Vec<f64>| inner(query, key) / (shape.head_size as f64).sqrt();
                let scores: Vec<f64> = keys[..seen].iter().map(score).collect();
                let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = scores.iter().map(|score| (score - largest).exp()).sum();
                logsumexp.push(largest + total.ln());
                let place = ((sequence * shape.context + position) * shape.heads + head) * shape.head_size;
                for (score, value) in scores.iter().zip(&values) {
                    let weight = (score - largest).exp() / total;
                    for (out, value) in out[place..].iter_mut().zip(value) {
                        *out += weight * value;
                    }
                }
            }
        }
    }
    (out, logsumexp)
}

/// Runs both passes and compares them.
fn check(shape: AttentionShape, size: f32, samples: usize) {
    let qkv: Vec<f32> = numbers(3 * shape.output_length(), 1).iter().map(|x| x * size).collect();
    let dout = numbers(shape.output_length(), 2);
    let (qkv64, dout64) = (doubles(&qkv), doubles(&dout));
    let (wanted_out, wanted_logsumexp) = reference(&shape, &qkv64);
    let tolerance = 2e-6 * f64::from(size * size).max(1.0);
    everywhere(|threads| {
        let (mut out, mut logsumexp) = (vec![f32::NAN; dout.len()], vec![f32::NAN; shape.logsumexp_length()]);
        let mut scratch = vec![f32::NAN; attention::forward_scratch(threads, &shape)];
        attention::forward(threads, &shape, &qkv, &mut out, &mut logsumexp, &mut scratch);
        assert_close(&format!("{shape:?}: out"), &out, &wanted_out, tolerance);
        assert_close(&format!("{shape:?}: logsumexp"), &logsumexp, &wanted_logsumexp, tolerance);

        let mut dqkv = vec![f32::NAN; qkv.len()];
        let mut scratch = vec![f32::NAN; attention::backward_scratch(threads, &shape)];
        attention::backward(threads, &shape, &qkv, &out, &logsumexp, &dout, &mut dqkv, &mut scratch);
        assert!(dqkv.iter().all(|x| x.is_finite()), "{shape:?}: every gradient is set");
        if threads.count() == 2 && samples > 0 {
            let loss = |qkv: &[f64]| inner(&reference(&shape, qkv).0, &dout64);
            assert_slopes(&format!("{shape:?}: dqkv"), &dqkv, loss, &qkv64, samples, 10.0 * tolerance);
        }
        [out, logsumexp, dqkv].concat()
    });
}

#[test]
fn many_head_sizes_agree() {
    for head_size in [1, 2, 5, 8, 16, 20, 25, 32, 40, 64, 80, 100, 128, 160] {
        check(shape(1, 21, 2, head_size, true), 1.0, 12);
        check(shape(1, 21, 2, head_size, false), 1.0, 12);
    }
}

#[test]
fn contexts_around_blocks_agree() {
    for context in [1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 80, 127, 129] {
        check(shape(1, context, 1, 8, true), 1.0, 8);
        check(shape(1, context, 1, 8, false), 1.0, 8);
    }
}

#[test]
fn several_sequences_and_heads_agree() {
    check(shape(3, 35, 5, 12, true), 1.0, 20);
    check(shape(2, 70, 3, 16, false), 1.0, 12);
    check(shape(4, 130, 6, 64, true), 1.0, 0);
}

#[test]
fn sharp_scores_agree() {
    // Scores up to some hundred: the running maximum moves from block to block.
    check(shape(1, 150, 2, 16, true), 12.0, 10);
    check(shape(1, 150, 2, 16, false), 12.0, 10);
}

#[test]
fn nothing_is_nothing() {
    for empty in [shape(0, 8, 2, 4, true), shape(2, 0, 2, 4, true), shape(2, 8, 0, 4, true)] {
        check(empty, 1.0, 0);
    }
}

#[test]
fn nan_reaches_only_the_queries_that_see_it() {
    let shape = shape(1, 100, 1, 8, true);
    let mut qkv = numbers(3 * shape.output_length(), 1);
    // A key at position 70.
    qkv[70 * 24 + 8] = f32::NAN;
    everywhere(|threads| {
        let (mut out, mut logsumexp) = (vec![0.0; 800], vec![0.0; 100]);
        let mut scratch = vec![0.0; attention::forward_scratch(threads, &shape)];
        attention::forward(threads, &shape, &qkv, &mut out, &mut logsumexp, &mut scratch);
        assert!(out[..560].iter().all(|x| x.is_finite()));
        assert!(out[560..].iter().all(|x| x.is_nan()));
        let mut dqkv = vec![0.0; qkv.len()];
        let mut scratch = vec![0.0; attention::backward_scratch(threads, &shape)];
        attention::backward(
            threads,
            &shape,
            &qkv,
            &out,
            &logsumexp,
            &numbers(800, 2),
            &mut dqkv,
            &mut scratch,
        );
        assert!(dqkv[70 * 24..][..8].iter().all(|x| x.is_nan()));
        out[..560].to_vec()
    });
}

#[test]
fn scratch_of_absurd_shapes_does_not_overflow() {
    let threads = assay_kernels::Threads::new(2);
    let absurd = shape(usize::MAX / 2, usize::MAX / 2, usize::MAX / 2, usize::MAX / 2, true);
    assert_eq!(attention::forward_scratch(&threads, &absurd), usize::MAX);
    assert_eq!(attention::backward_scratch(&threads, &absurd), usize::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_shape_agrees(
        batch in 1_usize..3,
        context in 1_usize..100,
        heads in 1_usize..4,
        head_size in 1_usize..50,
        causal in any::<bool>(),
        size in 0.1_f32..4.0,
    ) {
        check(shape(batch, context, heads, head_size, causal), size, 2);
    }
}
