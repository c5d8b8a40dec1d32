//! The product against a plain scalar version, in all layouts and many odd shapes.

use proptest::prelude::*;

use super::*;
use crate::dispatch::with_isa;

const LAYOUTS: [Layout; 4] = [Layout::NN, Layout::NT, Layout::TN, Layout::TT];

/// Numbers between -1 and 1 that look random and are the same every time.
fn numbers(seed: u64, length: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}

/// One element of the product by definition, in f64, with the sum of the magnitudes that its error is judged by.
fn plain_element(
    layout: Layout,
    (m, n, k): (usize, usize, usize),
    a: &[f32],
    b: &[f32],
    index: usize,
) -> (f64, f64) {
    let (row, column) = (index / n, index % n);
    let left = |inner: usize| match layout {
        Layout::NN | Layout::NT => a[row * k + inner],
        Layout::TN | Layout::TT => a[inner * m + row],
    };
    let right = |inner: usize| match layout {
        Layout::NN | Layout::TN => b[inner * n + column],
        Layout::NT | Layout::TT => b[column * k + inner],
    };
    (0..k).fold((0.0, 0.0), |(sum, magnitude), inner| {
        let product = f64::from(left(inner)) * f64::from(right(inner));
        (sum + product, magnitude + product.abs())
    })
}

/// Any of the ways to compute a product.
type Multiply = dyn Fn(Layout, (usize, usize, usize), &[f32], &[f32], &mut [f32], Write);

/// Checks one shape in all layouts, replacing and adding.
fn check(multiply: &Multiply, shape: (usize, usize, usize)) {
    let (m, n, k) = shape;
    let (a, b) = (numbers(1, m * k), numbers(2, k * n));
    let before = numbers(3, m * n);
    for layout in LAYOUTS {
        let expected: Vec<_> = (0..m * n).map(|index| plain_element(layout, shape, &a, &b, index)).collect();
        for write in [Write::Set, Write::Add] {
            let mut c = if write == Write::Set { vec![f32::NAN; m * n] } else { before.clone() };
            multiply(layout, shape, &a, &b, &mut c, write);
            for (index, ((sum, magnitude), &actual)) in expected.iter().zip(&c).enumerate() {
                let former = if write == Write::Add { f64::from(before[index]) } else { 0.0 };
                let error = (sum + former - f64::from(actual)).abs();
                assert!(
                    error <= 1e-5 * (magnitude + former.abs()) + 1e-12,
                    "{layout:?} {write:?} {shape:?}, element {index}: {actual} instead of {sum} + {former}"
                );
            }
        }
    }
}

/// The public function on some threads.
fn public(threads: usize) -> Box<Multiply> {
    let threads = Threads::new(threads);
    Box::new(move |layout, (m, n, k), a, b, c, write| {
        matmul(&threads, layout, m, n, k, a, b, c, write);
    })
}

/// The `gemm` crate, which other paths use, called directly.
fn by_library(threads: usize) -> Box<Multiply> {
    let threads = Threads::new(threads);
    Box::new(move |layout, (m, n, k), a, b, c, write| {
        let problem = Problem::new(layout, (m, n, k), a, b, c, write);
        // SAFETY: the slices have the lengths of the shape.
        unsafe { library::multiply(&threads, &problem) };
    })
}

#[test]
fn shapes_around_the_tile_and_block_sizes() {
    let multiply = public(2);
    for m in [1, 2, 5, 6, 7, 12, 13] {
        for n in [1, 3, 8, 15, 16, 17, 33] {
            for k in [1, 2, 3, 4, 7, 8, 9, 31] {
                check(&multiply, (m, n, k));
            }
        }
    }
    for shape in [(195, 40, 257), (13, 2065, 20), (1040, 17, 9), (64, 129, 1030)] {
        check(&multiply, shape);
    }
}

#[test]
fn several_blocks_in_every_direction() {
    let (m, n, k) = (1100, 2100, 520);
    let (a, b) = (numbers(1, m * k), numbers(2, k * n));
    let mut c = vec![f32::NAN; m * n];
    for layout in LAYOUTS {
        public(2)(layout, (m, n, k), &a, &b, &mut c, Write::Set);
        // The whole plain version would take a minute, so every thousandth element is looked at, in changing places.
        for index in (0..m * n).step_by(997) {
            let (sum, magnitude) = plain_element(layout, (m, n, k), &a, &b, index);
            let error = (sum - f64::from(c[index])).abs();
            assert!(error <= 1e-5 * magnitude, "{layout:?}, element {index}");
        }
    }
}

#[test]
fn the_library_agrees_with_the_plain_version() {
    for threads in [1, 2] {
        let multiply = by_library(threads);
        for shape in [(1, 1, 1), (7, 5, 3), (97, 61, 130), (300, 48, 65), (48, 300, 65)] {
            check(&multiply, shape);
        }
    }
}

#[test]
fn other_paths_agree_with_the_plain_version() {
    with_isa(Isa::Plain, || check(&public(2), (50, 35, 40)));
}

#[test]
fn empty_dimensions() {
    let threads = Threads::new(2);
    for layout in LAYOUTS {
        matmul(&threads, layout, 0, 3, 2, &[], &[0.0; 6], &mut [], Write::Set);
        matmul(&threads, layout, 3, 0, 2, &[0.0; 6], &[], &mut [], Write::Set);
        let mut c = [1.0; 6];
        matmul(&threads, layout, 3, 2, 0, &[], &[], &mut c, Write::Add);
        assert_eq!(c, [1.0; 6]);
        matmul(&threads, layout, 3, 2, 0, &[], &[], &mut c, Write::Set);
        assert_eq!(c, [0.0; 6]);
    }
}

#[test]
#[should_panic(expected = "b has 5 elements, not 3 x 2")]
fn a_wrong_length_is_refused() {
    let threads = Threads::new(1);
    matmul(&threads, Layout::NN, 1, 2, 3, &[0.0; 3], &[0.0; 5], &mut [0.0; 2], Write::Set);
}

/// OpenBLAS does not promise this.
#[cfg(not(feature = "openblas"))]
#[test]
fn the_result_is_the_same_bit_for_bit_for_any_number_of_threads() {
    for (m, n, k) in [(200, 300, 700), (33, 1000, 300), (7, 5, 2000), (1, 512, 512), (24, 100, 77)] {
        let (a, b) = (numbers(1, m * k), numbers(2, k * n));
        let mut expected = vec![0.0; m * n];
        public(1)(Layout::NT, (m, n, k), &a, &b, &mut expected, Write::Set);
        for threads in [2, 2, 3, 5] {
            let multiply = public(threads);
            for _ in 0..5 {
                let mut c = vec![0.0; m * n];
                multiply(Layout::NT, (m, n, k), &a, &b, &mut c, Write::Set);
                assert!(c.iter().zip(&expected).all(|(x, y)| x.to_bits() == y.to_bits()));
            }
        }
    }
}

#[test]
fn products_inside_tasks_work() {
    let threads = Threads::new(3);
    let (a, b) = (numbers(1, 40 * 30), numbers(2, 30 * 20));
    let mut expected = vec![0.0; 40 * 20];
    matmul(&threads, Layout::NN, 40, 20, 30, &a, &b, &mut expected, Write::Set);
    let mut results = vec![0.0; 6 * 40 * 20];
    let parts = crate::threads::Chunks::new(&mut results, 40 * 20);
    threads.run_parts(parts, |_, c| {
        matmul(&threads, Layout::NN, 40, 20, 30, &a, &b, c, Write::Set);
    });
    assert!(results.chunks(40 * 20).all(|result| result == expected));
}

#[test]
fn nan_and_infinity_propagate() {
    let threads = Threads::new(2);
    let (mut a, b) = (numbers(1, 20 * 30), numbers(2, 30 * 40));
    a[31] = f32::NAN;
    a[65] = f32::INFINITY;
    let mut c = vec![0.0; 20 * 40];
    matmul(&threads, Layout::NN, 20, 40, 30, &a, &b, &mut c, Write::Set);
    assert!(c[..40].iter().all(|value| value.is_finite()));
    assert!(c[40..80].iter().all(|value| value.is_nan()));
    assert!(c[80..120].iter().all(|value| value.is_infinite()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_shape(m in 1_usize..70, n in 1_usize..90, k in 1_usize..300, threads in 1_usize..4) {
        check(&public(threads), (m, n, k));
    }
}
