//! Convolution and max-pool.

use assay_kernels::pooled_convolution::{self, Workspace};
use assay_kernels::{Threads, convolution, max_pool};

use crate::support::{assert_close, assert_slopes, doubles, everywhere, inner, numbers};

fn convolution_reference(
    shape: &convolution::ConvolutionShape,
    x: &[f64],
    weight: &[f64],
    bias: &[f64],
) -> Vec<f64> {
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
    let shape = convolution::ConvolutionShape {
        batch,
        channels,
        height,
        width,
        filters,
        kernel_height,
        kernel_width,
    };
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
        let shape = max_pool::MaxPoolShape { planes, height, width, window_height, window_width };
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
    let shape = max_pool::MaxPoolShape { planes: 1, height: 2, width: 2, window_height: 2, window_width: 2 };
    let threads = Threads::new(1);
    let (mut y, mut index, mut dx) = ([0.0], [9], [9.0; 4]);
    max_pool::forward(&threads, &shape, &[3.0; 4], &mut y, &mut index);
    max_pool::backward(&threads, &shape, &index, &[5.0], &mut dx);
    assert_eq!((y, index, dx), ([3.0], [0], [5.0, 0.0, 0.0, 0.0]));
    max_pool::forward(&threads, &shape, &[1.0, f32::NAN, 2.0, 3.0], &mut y, &mut index);
    assert!(y[0].is_nan() && index[0] == 1);
}

/// Convolution with channels last, max-pool and rectifier, plainly.
fn pooled_reference(
    shape: &pooled_convolution::PooledConvolutionShape,
    x: &[f64],
    weight: &[f64],
    bias: &[f64],
) -> Vec<f64> {
    let line = shape.kernel_width * shape.channels;
    let at = |row: usize, column: usize, filter: usize| {
        let seen = (0..shape.kernel_height).flat_map(|tap_row| {
            let begin = ((row + tap_row) * shape.width + column) * shape.channels;
            &x[begin..begin + line]
        });
        bias[filter] + seen.zip(&weight[filter * shape.taps()..]).map(|(x, weight)| x * weight).sum::<f64>()
    };
    let mut y = Vec::new();
    for row in 0..shape.output_height() {
        for column in 0..shape.output_width() {
            for filter in 0..shape.filters {
                let window = [(0, 0), (0, 1), (1, 0), (1, 1)];
                let values = window.map(|(i, j)| at(2 * row + i, 2 * column + j, filter));
                y.push(values.into_iter().fold(0.0, f64::max));
            }
        }
    }
    y
}

fn check_pooled([channels, height, width, filters, kernel_height, kernel_width]: [usize; 6]) {
    let shape = pooled_convolution::PooledConvolutionShape {
        channels,
        height,
        width,
        filters,
        kernel_height,
        kernel_width,
    };
    let (x, weight) = (numbers(shape.input_length(), 1), numbers(shape.weight_length(), 2));
    let (bias, dy) = (numbers(filters, 3), numbers(shape.output_length(), 4));
    let (x64, weight64, bias64, dy64) = (doubles(&x), doubles(&weight), doubles(&bias), doubles(&dy));
    let wanted = pooled_reference(&shape, &x64, &weight64, &bias64);
    everywhere(|threads| {
        let mut workspace = Workspace::new(&shape);
        let mut panels = vec![f32::NAN; shape.panels_length()];
        pooled_convolution::pack(&shape, &weight, &mut panels);
        let (mut y, mut index) = (vec![f32::NAN; dy.len()], vec![9; dy.len()]);
        pooled_convolution::forward(&shape, &panels, &bias, &x, &mut y, &mut index, &mut workspace);
        assert_close("y", &y, &wanted, 5e-6);
        let mut dx = vec![f32::NAN; x.len()];
        pooled_convolution::backward_input(&shape, &weight, &index, &dy, &mut dx, &mut workspace);
        let (mut dweight, mut dbias) = (vec![1.0; weight.len()], vec![2.0; filters]);
        pooled_convolution::backward_weight(
            &shape,
            &x,
            &index,
            &dy,
            &mut dweight,
            &mut dbias,
            &mut workspace,
        );
        if threads.count() == 2 && !dy.is_empty() {
            let loss = |x: &[f64], weight: &[f64], bias: &[f64]| {
                inner(&pooled_reference(&shape, x, weight, bias), &dy64)
            };
            assert_slopes("dx", &dx, |x| loss(x, &weight64, &bias64), &x64, 12, 5e-5);
            let by_weight = |weight: &[f64]| loss(&x64, weight, &bias64) + weight.iter().sum::<f64>();
            assert_slopes("dweight", &dweight, by_weight, &weight64, 12, 5e-5);
            let by_bias = |bias: &[f64]| loss(&x64, &weight64, bias) + 2.0 * bias.iter().sum::<f64>();
            assert_slopes("dbias", &dbias, by_bias, &bias64, 3, 5e-5);
        }
        [y, dx, dweight, dbias].concat()
    });
}

#[test]
fn pooled_convolution_agrees() {
    // Channels, height, width, filters, kernel height, kernel width.
    for sizes in [
        [1, 2, 2, 1, 1, 1],
        [1, 4, 4, 3, 3, 3],
        [9, 6, 8, 32, 1, 1],
        [32, 7, 7, 20, 3, 3],
        [5, 8, 7, 17, 2, 3],
        [40, 5, 9, 5, 3, 3],
        [3, 3, 3, 4, 3, 3],
    ] {
        check_pooled(sizes);
    }
}

#[test]
fn a_closed_window_hands_nothing_back_and_nan_is_passed_on() {
    let shape = pooled_convolution::PooledConvolutionShape {
        channels: 1,
        height: 2,
        width: 4,
        filters: 1,
        kernel_height: 1,
        kernel_width: 1,
    };
    let mut workspace = Workspace::new(&shape);
    let (mut panels, mut y, mut index) = (vec![0.0; shape.panels_length()], [9.0; 2], [9; 2]);
    pooled_convolution::pack(&shape, &[1.0], &mut panels);
    let x = [-1.0, -2.0, 3.0, 3.0, -1.5, -3.0, 3.0, 1.0];
    pooled_convolution::forward(&shape, &panels, &[0.0], &x, &mut y, &mut index, &mut workspace);
    assert_eq!(y, [0.0, 3.0]);
    let mut dx = [9.0; 8];
    pooled_convolution::backward_input(&shape, &[2.0], &index, &[5.0, 7.0], &mut dx, &mut workspace);
    assert_eq!(dx, [0.0, 0.0, 14.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let (mut dweight, mut dbias) = ([1.0], [1.0]);
    pooled_convolution::backward_weight(
        &shape,
        &x,
        &index,
        &[5.0, 7.0],
        &mut dweight,
        &mut dbias,
        &mut workspace,
    );
    assert_eq!((dweight, dbias), ([22.0], [8.0]));
    let x = [-1.0, f32::NAN, 3.0, 3.0, -1.5, -3.0, 3.0, 1.0];
    pooled_convolution::forward(&shape, &panels, &[0.0], &x, &mut y, &mut index, &mut workspace);
    assert!(y[0].is_nan() && y[1] == 3.0);
}

#[test]
fn patches_are_what_a_kernel_sees() {
    let image: Vec<f32> = (0..20).map(|number| number as f32).collect();
    let mut patches = vec![f32::NAN; 2 * 3 * 9];
    pooled_convolution::patches::<3>(&image, 5, &mut patches);
    assert_eq!(patches[..9], [0.0, 1.0, 2.0, 5.0, 6.0, 7.0, 10.0, 11.0, 12.0]);
    assert_eq!(patches[45..], [7.0, 8.0, 9.0, 12.0, 13.0, 14.0, 17.0, 18.0, 19.0]);
}
