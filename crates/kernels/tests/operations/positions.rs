//! Rotary embedding and token embedding.

use assay_kernels::rope::{self, Direction, RotaryTable};
use assay_kernels::{Threads, embedding};

use crate::support::{assert_close, doubles, everywhere, numbers, whole_numbers};

#[test]
fn rope_turns_pairs_by_their_angle() {
    for (head_size, heads, context, rows) in [(2, 1, 1, 3), (20, 3, 5, 11), (64, 4, 128, 256), (6, 2, 7, 0)] {
        let (offset, stride) = (4, heads * head_size + 9);
        let x = numbers(rows * stride, 1);
        let table = RotaryTable::new(context + 2, head_size, 10_000.0);
        let mut wanted = doubles(&x);
        for (row, wanted) in wanted.chunks_mut(stride).enumerate() {
            for (head, head_values) in wanted[offset..][..heads * head_size].chunks_mut(head_size).enumerate()
            {
                assert!(head < heads);
                for (pair, values) in head_values.chunks_mut(2).enumerate() {
                    let frequency = 10_000_f64.powf(-(2.0 * pair as f64) / head_size as f64);
                    let (sine, cosine) = ((row % context) as f64 * frequency).sin_cos();
                    let (first, second) = (values[0], values[1]);
                    values[0] = first * cosine - second * sine;
                    values[1] = first * sine + second * cosine;
                }
            }
        }
        everywhere(|threads| {
            let mut turned = x.clone();
            rope::apply(threads, &table, Direction::Forward, &mut turned, stride, offset, heads, context);
            assert_close("turned", &turned, &wanted, 3e-7);
            // The gradient of a rotation is the rotation back.
            let mut back = turned.clone();
            rope::apply(threads, &table, Direction::Backward, &mut back, stride, offset, heads, context);
            assert_close("back", &back, &doubles(&x), 3e-7);
            [turned, back].concat()
        });
    }
}

#[test]
#[should_panic(expected = "the head size must be even")]
fn an_odd_head_size_is_refused() {
    RotaryTable::new(4, 3, 10_000.0);
}

#[test]
fn embedding_looks_up_and_gathers() {
    for (rows, width, count) in [(1, 1, 3), (11, 5, 40), (300, 97, 500), (7, 3, 0)] {
        let (table, before) = (numbers(rows * width, 1), numbers(rows * width, 2));
        let (ids, dy) = (whole_numbers(count, rows as u32, 3), numbers(count * width, 4));
        let mut wanted = doubles(&before);
        for (&id, dy) in ids.iter().zip(dy.chunks(width)) {
            for (wanted, &dy) in wanted[id as usize * width..].iter_mut().zip(dy) {
                *wanted += f64::from(dy);
            }
        }
        everywhere(|threads| {
            let mut y = vec![0.0; count * width];
            embedding::forward(threads, &ids, &table, width, &mut y);
            for (&id, y) in ids.iter().zip(y.chunks(width)) {
                assert_eq!(y, &table[id as usize * width..][..width]);
            }
            let mut gradient = before.clone();
            embedding::backward(threads, &ids, &dy, width, &mut gradient);
            assert_close("gradient", &gradient, &wanted, 1e-6);
            [y, gradient].concat()
        });
    }
}

#[test]
#[should_panic(expected = "ids must lie in the table")]
fn an_id_outside_the_table_is_refused() {
    embedding::forward(&Threads::new(1), &[2], &[0.0; 4], 2, &mut [0.0; 2]);
}
