//! Convolution and max-pool.

use assay_kernels::{Threads, convolution, max_pool};

use crate::support::{assert_close, assert_slopes, doubles, everywhere, inner, numbers};

fn convolution_reference(shape: &convolution::Shape, x: &[f64], weight: &[f64], bias: &[f64]) -> Vec<f64> {
    let mut y = Vec::new();
    for image in 0..shape.batch {
        for (filter, bias) in bias.iter().enumerate() {
            for row in 0..shape.output_height() {
                for column in 0..shape.output_width() {
                    let mut sum = *bias;
                    for channel in 0..shape.channels {
                        for i in 0..shape.kernel_height {
                            for j in 0..shape.kernel_width {
                                let line = (image * shape.channels + channel) * shape.height + row + i;
                                let tap = (filter * shape.channels + channel) * shape.kernel_height + i;
                                sum +=
                                    x[line * shape.width + column + j] * weight[tap * shape.kernel_width + j];
                            }
                        }
                    }
                    y.push(sum);
                }
            }
        }
    }
    y
}

fn check_convolution(sizes: [usize; 7]) {
    let [batch, channels, height, width, filters, kernel_height, kernel_width] = sizes;
    let shape = convolution::Shape { batch, channels, height, width, filters, kernel_height, kernel_width };
    let (x, weight) = (numbers(shape.input_length(), 1), numbers(shape.weight_length(), 2));
    let (bias, dy) = (numbers(filters, 3), numbers(shape.output_length(), 4));
    let (x64, weight64, bias64, dy64) = (doubles(&x), doubles(&weight), doubles(&bias), doubles(&dy));
    let wanted = convolution_reference(&shape, &x64, &weight64, &bias64);
    everywhere(|threads| {
        let mut scratch = vec![f32::NAN; convolution::scratch(threads, &shape)];
        let mut y = vec![f32::NAN; dy.len()];
        convolution::forward(threads, &shape, &x, &weight, &bias, &mut y, &mut scratch);
        assert_close("y", &y, &wanted, 5e-6);
        let mut dx = vec![f32::NAN; x.len()];
        convolution::backward_input(threads, &shape, &weight, &dy, &mut dx, &mut scratch);
        let mut scratch = vec![f32::NAN; convolution::backward_weight_scratch(threads, &shape)];
        let (mut dweight, mut dbias) = (vec![1.0; weight.len()], vec![2.0; filters]);
        convolution::backward_weight(threads, &shape, &x, &dy, &mut dweight, &mut dbias, &mut scratch);
        if threads.count() == 2 && batch > 0 {
            let loss = |x: &[f64], weight: &[f64], bias: &[f64]| {
                inner(&convolution_reference(&shape, x, weight, bias), &dy64)
            };
            assert_slopes("dx", &dx, |x| loss(x, &weight64, &bias64), &x64, 10, 2e-5);
            let by_weight = |weight: &[f64]| loss(&x64, weight, &bias64) + weight.iter().sum::<f64>();
            assert_slopes("dweight", &dweight, by_weight, &weight64, 10, 2e-5);
            let by_bias = |bias: &[f64]| loss(&x64, &weight64, bias) + 2.0 * bias.iter().sum::<f64>();
            assert_slopes("dbias", &dbias, by_bias, &bias64, 3, 2e-5);
        }
        [y, dx, dweight, dbias].concat()
    });
}

#[test]
fn convolution_agrees() {
    // Batch, channels, height, width, filters, kernel height, kernel width.
    for sizes in [
        [1, 1, 1, 1, 1, 1, 1],
        [2, 3, 5, 7, 2, 3, 3],
        [3, 2, 12, 13, 5, 3, 3],
        [1, 2, 4, 6, 3, 4, 6],
        [2, 1, 28, 28, 7, 3, 3],
        [1, 3, 9, 3, 17, 2, 3],
        [2, 2, 3, 90, 4, 1, 5],
        [0, 2, 5, 5, 3, 3, 3],
        [5, 4, 8, 8, 18, 5, 1],
    ] {
        check_convolution(sizes);
    }
}

#[test]
fn max_pool_finds_the_largest_and_sends_the_gradient_there() {
    for (planes, height, width, window_height, window_width) in [
        (1, 2, 2, 2, 2),
        (3, 5, 7, 2, 2),
        (2, 6, 9, 3, 2),
        (0, 4, 4, 2, 2),
        (300, 24, 24, 2, 2),
        (2, 4, 4, 1, 1),
    ] {
        let shape = max_pool::Shape { planes, height, width, window_height, window_width };
        let (x, dy) = (numbers(shape.input_length(), 1), numbers(shape.output_length(), 2));
        everywhere(|threads| {
            let (mut y, mut index) = (vec![0.0; dy.len()], vec![0; dy.len()]);
            max_pool::forward(threads, &shape, &x, &mut y, &mut index);
            let mut dx = vec![f32::NAN; x.len()];
            max_pool::backward(threads, &shape, &index, &dy, &mut dx);
            let mut wanted_dx = vec![0.0; x.len()];
            let outputs = shape.output_height() * shape.output_width();
            for (place, (&y, &dy)) in y.iter().zip(&dy).enumerate() {
                let (plane, in_plane) = (place / outputs, place % outputs);
                let (row, column) = (in_plane / shape.output_width(), in_plane % shape.output_width());
                let window =
                    (0..window_height).flat_map(|i| (0..window_width).map(move |j| (i, j))).map(|(i, j)| {
                        (plane * height + row * window_height + i) * width + column * window_width + j
                    });
                let best = window.max_by(|&a, &b| x[a].total_cmp(&x[b])).unwrap();
                assert_eq!(y, x[best]);
                wanted_dx[best] = dy;
            }
            assert_eq!(dx, wanted_dx);
            [y, dx].concat()
        });
    }
}

#[test]
fn a_window_of_equal_elements_has_one_winner() {
    let shape = max_pool::Shape { planes: 1, height: 2, width: 2, window_height: 2, window_width: 2 };
    let threads = Threads::new(1);
    let (mut y, mut index, mut dx) = ([0.0], [9], [9.0; 4]);
    max_pool::forward(&threads, &shape, &[3.0; 4], &mut y, &mut index);
    max_pool::backward(&threads, &shape, &index, &[5.0], &mut dx);
    assert_eq!((y, index, dx), ([3.0], [0], [5.0, 0.0, 0.0, 0.0]));
    max_pool::forward(&threads, &shape, &[1.0, f32::NAN, 2.0, 3.0], &mut y, &mut index);
    assert!(y[0].is_nan() && index[0] == 1);
}
