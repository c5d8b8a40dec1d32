//! Digits drawn from a seed, so that there is something to learn on a machine that has no data. They are synthetic: an
//! accuracy on them says nothing about MNIST.
//!
//! Every digit is a line through some points. Each image moves every point a little, bends, leans, stretches and shifts
//! the whole, draws it with a pen of some width and darkness, adds a stray stroke and noise. Image `i` of a part draws
//! from the key of [`crate::initial`] with the name `digits.train` or `digits.test` at step `i`; draw 0 gives its label.
//! Only additions, products, quotients and square roots are used, so that the same seed gives the same bytes everywhere.

use assay_kernels::Threads;
use assay_kernels::threads::Chunks;

use super::idx::{CLASSES, PIXELS, SIDE};
use super::images::Images;
use crate::WorkloadError;
use crate::initial::DrawKey;

/// Images to train on, where nobody asks for a number.
pub const TRAIN_COUNT: usize = 12_000;
/// Images to test with, where nobody asks for a number.
pub const TEST_COUNT: usize = 2_000;

type Point = [f32; 2];

/// The lines of the digits in a square of side 1, across and down.
const LINES: [&[Point]; CLASSES] = [
    &[
        [0.5, 0.08],
        [0.7, 0.16],
        [0.81, 0.34],
        [0.81, 0.66],
        [0.7, 0.84],
        [0.5, 0.92],
        [0.3, 0.84],
        [0.19, 0.66],
        [0.19, 0.34],
        [0.3, 0.16],
        [0.5, 0.08],
    ],
    &[[0.34, 0.26], [0.53, 0.09], [0.52, 0.5], [0.51, 0.91]],
    &[
        [0.22, 0.28],
        [0.31, 0.13],
        [0.52, 0.08],
        [0.71, 0.16],
        [0.74, 0.32],
        [0.6, 0.52],
        [0.22, 0.9],
        [0.5, 0.89],
        [0.8, 0.9],
    ],
    &[
        [0.24, 0.17],
        [0.47, 0.08],
        [0.69, 0.16],
        [0.71, 0.33],
        [0.45, 0.47],
        [0.7, 0.57],
        [0.76, 0.75],
        [0.52, 0.93],
        [0.22, 0.83],
    ],
    &[[0.63, 0.92], [0.63, 0.5], [0.62, 0.08], [0.17, 0.63], [0.5, 0.63], [0.83, 0.62]],
    &[
        [0.75, 0.1],
        [0.32, 0.1],
        [0.27, 0.46],
        [0.53, 0.4],
        [0.73, 0.52],
        [0.76, 0.72],
        [0.6, 0.9],
        [0.24, 0.85],
    ],
    &[
        [0.68, 0.09],
        [0.42, 0.25],
        [0.25, 0.55],
        [0.28, 0.82],
        [0.52, 0.93],
        [0.74, 0.78],
        [0.68, 0.56],
        [0.46, 0.51],
        [0.27, 0.65],
    ],
    &[[0.19, 0.11], [0.5, 0.1], [0.8, 0.11], [0.58, 0.48], [0.42, 0.91]],
    &[
        [0.5, 0.48],
        [0.28, 0.34],
        [0.32, 0.14],
        [0.5, 0.08],
        [0.68, 0.14],
        [0.72, 0.34],
        [0.5, 0.48],
        [0.25, 0.64],
        [0.29, 0.86],
        [0.5, 0.93],
        [0.71, 0.86],
        [0.75, 0.64],
        [0.5, 0.48],
    ],
    &[
        [0.72, 0.36],
        [0.54, 0.5],
        [0.32, 0.43],
        [0.27, 0.22],
        [0.48, 0.08],
        [0.7, 0.2],
        [0.73, 0.4],
        [0.68, 0.66],
        [0.57, 0.92],
    ],
];

/// The most points of a line, the two of the stray stroke included.
const MOST_POINTS: usize = 16;

/// Draws `count` digits of a part (`train` or `test`).
pub fn draw(threads: &Threads, part: &str, seed: u64, count: usize) -> Result<Images, WorkloadError> {
    let bytes = count.saturating_mul(PIXELS);
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    let refused = WorkloadError::Memory { what: "synthetic digits", bytes: bytes as u64 };
    if pixels.try_reserve_exact(bytes).is_err() || labels.try_reserve_exact(count).is_err() {
        return Err(refused);
    }
    let key = DrawKey::new(&format!("digits.{part}"), seed);
    labels.extend((0..count as u64).map(|image| label(key.at(image))));
    pixels.resize(bytes, 0);
    threads.run_parts(Chunks::new(&mut pixels, PIXELS), |image, pixels| {
        Pen::new(key.at(image as u64)).draw(pixels);
    });
    Ok(Images { pixels, labels })
}

fn label(key: DrawKey) -> u8 {
    (key.draw(0) % CLASSES as u64) as u8
}

/// One image about to be drawn.
struct Pen {
    key: DrawKey,
    /// The points of the line, and how many there are.
    points: [Point; MOST_POINTS],
    count: usize,
    /// Half the width of the line.
    width: f32,
    darkness: f32,
    noise: f32,
}

impl Pen {
    fn new(key: DrawKey) -> Pen {
        // Draw 0 is the label; each of the others is used once, in this order.
        let mut number = 0;
        let mut between = |low: f32, high: f32| {
            number += 1;
            low + (high - low) * 0.5 * (1.0 + key.symmetric(number))
        };
        let line = LINES[usize::from(label(key))];
        let scale = [between(0.5, 0.85), between(0.55, 0.9)];
        let shift = [between(-0.12, 0.12), between(-0.1, 0.1)];
        let [lean, tilt, bend] = [between(-0.35, 0.35), between(-0.2, 0.2), between(-0.25, 0.25)];
        let mut points = [[0.0; 2]; MOST_POINTS];
        let mut count = 0;
        for (point, place) in line.iter().zip(&mut points) {
            let across = (point[0] - 0.5 + between(-0.06, 0.06)) * scale[0];
            let down = (point[1] - 0.5 + between(-0.06, 0.06)) * scale[1];
            let leaning = across - lean * down + bend * (down * down - 0.08);
            *place = [0.5 + shift[0] + leaning, 0.5 + shift[1] + down + tilt * across];
            count += 1;
        }
        // A stray stroke: short, anywhere, and not joined to the digit.
        let begin = [between(0.05, 0.95), between(0.05, 0.95)];
        points[MOST_POINTS - 2] = begin;
        points[MOST_POINTS - 1] = [begin[0] + between(-0.22, 0.22), begin[1] + between(-0.22, 0.22)];
        Pen {
            key,
            points,
            count,
            width: between(0.022, 0.055),
            darkness: between(150.0, 255.0),
            noise: between(0.0, 60.0),
        }
    }

    fn draw(&self, pixels: &mut [u8]) {
        /// Draws before those for the noise: more than a pen uses.
        const BEFORE_NOISE: u64 = 64;
        /// The width of the edge of a line, half a pixel.
        const EDGE: f32 = 0.5 / SIDE as f32;
        let stray = &self.points[MOST_POINTS - 2..];
        for (place, pixel) in pixels.iter_mut().enumerate() {
            let at = [place % SIDE, place / SIDE].map(|number| (number as f32 + 0.5) / SIDE as f32);
            let segments = self.points[..self.count].windows(2).chain(stray.windows(2));
            let nearest = segments.map(|segment| distance_squared(at, segment[0], segment[1]));
            let distance = nearest.fold(f32::INFINITY, f32::min).sqrt();
            let ink = ((self.width + EDGE - distance) / (2.0 * EDGE)).clamp(0.0, 1.0);
            let noise = self.noise * self.key.symmetric(BEFORE_NOISE + place as u64);
            *pixel = (ink * self.darkness + noise).clamp(0.0, 255.0) as u8;
        }
    }
}

/// The square of the distance of a point from a segment.
fn distance_squared(at: Point, from: Point, to: Point) -> f32 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let away = [at[0] - from[0], at[1] - from[1]];
    let length = along[0] * along[0] + along[1] * along[1];
    let share = (away[0] * along[0] + away[1] * along[1]) / length.max(1e-12);
    let share = share.clamp(0.0, 1.0);
    let rest = [away[0] - share * along[0], away[1] - share * along[1]];
    rest[0] * rest[0] + rest[1] * rest[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_digits_on_any_number_of_threads() {
        let [one, three] = [1, 3].map(|count| draw(&Threads::new(count), "train", 5, 40).unwrap());
        assert_eq!(one, three);
        assert_ne!(one, draw(&Threads::new(2), "train", 6, 40).unwrap());
        assert_ne!(one, draw(&Threads::new(2), "test", 5, 40).unwrap());
        // More of them begin with the same ones.
        let mut more = draw(&Threads::new(2), "train", 5, 60).unwrap();
        more.truncate(40);
        assert_eq!(one, more);
    }

    #[test]
    fn every_digit_comes_about_equally_often_and_has_ink_on_paper() {
        let images = draw(&Threads::new(2), "train", 1, 1000).unwrap();
        for digit in 0..10 {
            let count = images.labels.iter().filter(|label| **label == digit).count();
            assert!((60..140).contains(&count), "{digit}: {count}");
        }
        for image in images.pixels.chunks_exact(PIXELS) {
            let dark = image.iter().filter(|pixel| **pixel > 100).count();
            assert!((15..400).contains(&dark), "{dark}");
        }
    }

    #[test]
    fn the_lines_fit_and_absurd_counts_are_refused() {
        assert!(LINES.iter().all(|line| line.len() + 2 <= MOST_POINTS));
        assert!(draw(&Threads::new(1), "train", 1, usize::MAX).is_err());
    }
}
