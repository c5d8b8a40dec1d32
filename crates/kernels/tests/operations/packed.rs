//! What works on some rows inside one task: packed matrices, attention over ragged sequences, norms in place; and biases.

use assay_kernels::attention::{Heads, rows};
use assay_kernels::gelu::GeluFormula;
use assay_kernels::packed::{Activation, Packed};
use assay_kernels::{Write, bias, layer_norm};

use crate::support::{assert_close, doubles, everywhere, inner, numbers};

/// The error function by its series, which converges for the arguments used here.
fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..80 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

fn activation_in_doubles(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Nothing => x,
        Activation::Gelu(GeluFormula::Exact) => 0.5 * x * (1.0 + erf(x / 2f64.sqrt())),
        Activation::Gelu(GeluFormula::Tanh) => {
            0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh())
        }
        Activation::Tanh => x.tanh(),
    }
}

#[test]
fn a_packed_matrix_multiplies_as_a_plain_one_and_does_what_follows() {
    let all = [
        Activation::Nothing,
        Activation::Gelu(GeluFormula::Exact),
        Activation::Gelu(GeluFormula::Tanh),
        Activation::Tanh,
    ];
    for (number, (count, inputs, outputs)) in
        [(1, 5, 2), (3, 16, 16), (14, 24, 40), (13, 7, 33), (6, 64, 3)].into_iter().enumerate()
    {
        let then = all[number % all.len()];
        let (weight, offset) = (numbers(inputs * outputs, 1), numbers(outputs, 2));
        let (x, before) = (numbers(count * inputs, 3), numbers(count * outputs, 4));
        let packed = Packed::new(&weight, &offset, inputs);
        assert_eq!((packed.inputs(), packed.outputs()), (inputs, outputs));
        for write in [Write::Set, Write::Add] {
            let wanted: Vec<f64> = (0..count * outputs)
                .map(|place| {
                    let (row, column) = (place / outputs, place % outputs);
                    let line = doubles(&weight[column * inputs..][..inputs]);
                    let sum = inner(&doubles(&x[row * inputs..][..inputs]), &line);
                    let old = if write == Write::Add { f64::from(before[place]) } else { 0.0 };
                    activation_in_doubles(then, sum + old + f64::from(offset[column]))
                })
                .collect();
            everywhere(|_| {
                let mut y = before.clone();
                packed.apply(&x, &mut y, write, then);
                assert_close(&format!("{count}x{inputs}x{outputs} {then:?}"), &y, &wanted, 2e-6);
                y
            });
        }
    }
}

#[test]
fn rows_give_the_same_bits_whichever_rows_stand_beside_them() {
    let packed = Packed::new(&numbers(48 * 32, 1), &numbers(48, 2), 32);
    let x = numbers(17 * 32, 3);
    let mut whole = vec![0.0; 17 * 48];
    packed.apply(&x, &mut whole, Write::Set, Activation::Gelu(GeluFormula::Exact));
    for cut in [1, 4, 7] {
        let mut pieces = vec![0.0; 17 * 48];
        for (x, y) in x.chunks(cut * 32).zip(pieces.chunks_mut(cut * 48)) {
            packed.apply(x, y, Write::Set, Activation::Gelu(GeluFormula::Exact));
        }
        assert_eq!(whole, pieces, "{cut}");
    }
    packed.apply(&[], &mut [], Write::Set, Activation::Nothing);
}

/// What the queries of one sequence see, computed the plain way.
fn attended(heads: Heads, qkv: &[f64], keys: std::ops::Range<usize>, query: usize) -> Vec<f64> {
    let width = heads.width();
    let vector = |row: usize, section: usize, head: usize| {
        &qkv[(row * 3 + section) * width + head * heads.size..][..heads.size]
    };
    let mut out = vec![0.0; width];
    for head in 0..heads.count {
        let scores: Vec<f64> = keys
            .clone()
            .map(|key| inner(vector(query, 0, head), vector(key, 1, head)) / (heads.size as f64).sqrt())
            .collect();
        let total: f64 = scores.iter().map(|score| score.exp()).sum();
        for (key, score) in keys.clone().zip(&scores) {
            for (out, value) in out[head * heads.size..].iter_mut().zip(vector(key, 2, head)) {
                *out += score.exp() / total * value;
            }
        }
    }
    out
}

#[test]
fn attention_of_ragged_sequences_sees_its_own_sequence_only() {
    for heads in [Heads { count: 2, size: 16 }, Heads { count: 3, size: 5 }, Heads { count: 1, size: 32 }] {
        let width = heads.width();
        let ranges = [0..1, 1..20, 20..53];
        let qkv = numbers(53 * 3 * width, 5);
        let qkv64 = doubles(&qkv);
        for keys in ranges {
            let wanted: Vec<f64> =
                keys.clone().flat_map(|query| attended(heads, &qkv64, keys.clone(), query)).collect();
            everywhere(|_| {
                let mut out = vec![f32::NAN; keys.len() * width];
                let mut scratch = vec![f32::NAN; heads.scratch(keys.len())];
                rows(heads, &qkv, keys.clone(), keys.clone(), &mut out, &mut scratch);
                assert_close(&format!("{heads:?} {keys:?}"), &out, &wanted, 2e-6);
                // Queries on their own give the same bits.
                let last = keys.end - 1..keys.end;
                let mut alone = vec![f32::NAN; width];
                rows(heads, &qkv, keys.clone(), last, &mut alone, &mut scratch);
                assert_eq!(alone, out[out.len() - width..]);
                out
            });
        }
    }
}

#[test]
fn a_norm_in_place_is_that_of_the_forward_pass() {
    for width in [1, 7, 48, 100] {
        let (x, weight, offset) = (numbers(5 * width, 1), numbers(width, 2), numbers(width, 3));
        everywhere(|threads| {
            let (mut y, mut mean, mut inverse) = (vec![0.0; x.len()], vec![0.0; 5], vec![0.0; 5]);
            layer_norm::forward(threads, &x, &weight, &offset, 1e-12, &mut y, &mut mean, &mut inverse);
            let mut in_place = x.clone();
            layer_norm::in_place(&mut in_place, &weight, &offset, 1e-12);
            assert_eq!(in_place, y);
            in_place
        });
    }
}

#[test]
fn a_bias_is_added_to_every_row_and_its_gradient_is_the_sum_of_all_rows() {
    for (count, width) in [(1, 1), (3, 20), (700, 96)] {
        let (x, offset, before) = (numbers(count * width, 1), numbers(width, 2), numbers(width, 3));
        let column = |place: usize| x.iter().skip(place).step_by(width).map(|x| f64::from(*x)).sum::<f64>();
        let wanted: Vec<f64> = (0..width).map(|place| f64::from(before[place]) + column(place)).collect();
        everywhere(|threads| {
            let mut y = x.clone();
            bias::forward(threads, &offset, &mut y);
            assert!(y.iter().enumerate().all(|(place, y)| *y == x[place] + offset[place % width]));
            let mut sums = before.clone();
            let mut scratch = vec![f32::NAN; bias::backward_scratch(threads, width)];
            bias::backward(threads, &x, &mut sums, &mut scratch);
            assert_close(&format!("{count}x{width}"), &sums, &wanted, 1e-5);
            sums
        });
    }
}
