//! Sums and checks over whole buffers.

use assay_kernels::{Threads, reduce};

use crate::support::{doubles, everywhere, inner, numbers};

const LENGTHS: [usize; 6] = [0, 1, 15, 333, 100_001, 5_000_003];

#[test]
fn sum_of_squares_agrees_and_does_not_depend_on_threads() {
    for length in LENGTHS {
        let x = numbers(length, 1);
        let wanted = inner(&doubles(&x), &doubles(&x));
        let alone = reduce::sum_of_squares(&Threads::new(1), &x);
        assert!((alone - wanted).abs() <= 1e-11 * wanted);
        for count in [2, 3] {
            assert_eq!(alone.to_bits(), reduce::sum_of_squares(&Threads::new(count), &x).to_bits());
        }
    }
    assert_eq!(reduce::sum_of_squares(&Threads::new(1), &[1e30, 1e30]), 2.0 * f64::from(1e30_f32).powi(2));
    assert!(reduce::sum_of_squares(&Threads::new(1), &[f32::NAN]).is_nan());
}

#[test]
fn scale_and_add_touch_every_element() {
    for length in [0, 1, 15, 333, 100_001] {
        let (x, y) = (numbers(length, 1), numbers(length, 2));
        everywhere(|threads| {
            let (mut scaled, mut sum) = (x.clone(), y.clone());
            reduce::scale(threads, &mut scaled, -2.5);
            assert!(scaled.iter().zip(&x).all(|(scaled, x)| *scaled == x * -2.5));
            reduce::add(threads, &x, &mut sum);
            assert!(sum.iter().zip(x.iter().zip(&y)).all(|(sum, (x, y))| *sum == x + y));
            [scaled, sum].concat()
        });
    }
}

#[test]
fn one_bad_element_anywhere_is_found() {
    for count in [1, 2] {
        let threads = Threads::new(count);
        for length in [0, 1, 15, 333, 100_001] {
            let mut x = numbers(length, 1);
            assert!(reduce::all_finite(&threads, &x));
            for place in [0, length / 3, length.saturating_sub(1)] {
                for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    if let Some(element) = x.get_mut(place) {
                        let good = std::mem::replace(element, bad);
                        assert!(!reduce::all_finite(&threads, &x), "{bad} at {place} of {length}");
                        x[place] = good;
                    }
                }
            }
        }
    }
    assert!(reduce::all_finite(&Threads::new(1), &[f32::MAX, f32::MIN_POSITIVE, -0.0]));
}
