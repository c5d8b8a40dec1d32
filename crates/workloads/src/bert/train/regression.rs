//! Multinomial logistic regression on features.

use assay_kernels::{Layout, Threads, Write, adam_w, bias, cross_entropy, matmul};

use crate::WorkloadError;
use crate::bert::head::best;

const RATE: f64 = 0.01;

/// Sentences as features with their classes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Examples {
    pub(super) width: usize,
    pub(super) values: Vec<f32>,
    pub(super) classes: Vec<u32>,
}

impl Examples {
    /// Those that are chosen, and the others.
    pub(super) fn divided(&self, chosen: impl Fn(usize) -> bool) -> (Examples, Examples) {
        let none = Examples { width: self.width, values: Vec::new(), classes: Vec::new() };
        let mut both = (none.clone(), none);
        for (place, class) in self.classes.iter().enumerate() {
            let part = if chosen(place) { &mut both.0 } else { &mut both.1 };
            part.values.extend_from_slice(&self.values[place * self.width..][..self.width]);
            part.classes.push(*class);
        }
        both
    }

    /// The mean and the inverse deviation of each feature.
    fn scale(&self) -> (Vec<f32>, Vec<f32>) {
        let count = self.classes.len().max(1) as f64;
        let column =
            |place: usize| self.values.iter().skip(place).step_by(self.width).map(|value| f64::from(*value));
        let mean: Vec<f64> = (0..self.width).map(|place| column(place).sum::<f64>() / count).collect();
        let inverse = |place: usize| {
            let square = column(place).map(|value| (value - mean[place]).powi(2)).sum::<f64>() / count;
            // A feature that never changes says nothing.
            if square > 1e-12 { 1.0 / square.sqrt() } else { 0.0 }
        };
        let inverse = (0..self.width).map(|place| inverse(place) as f32).collect();
        (mean.iter().map(|mean| *mean as f32).collect(), inverse)
    }
}

/// How a regression is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Regression {
    pub(super) classes: usize,
    pub(super) steps: u64,
    pub(super) weight_decay: f64,
    pub(super) threads: usize,
}

/// The weights (classes × width) and biases of a regression.
pub(super) fn fit(
    regression: &Regression,
    examples: &Examples,
) -> Result<(Vec<f32>, Vec<f32>), WorkloadError> {
    let Regression { classes, steps, weight_decay, threads } = *regression;
    let (width, count) = (examples.width, examples.classes.len());
    let threads = Threads::new(threads);
    let (mean, inverse) = examples.scale();
    let mut x = examples.values.clone();
    for row in x.chunks_exact_mut(width) {
        for ((value, mean), inverse) in row.iter_mut().zip(&mean).zip(&inverse) {
            *value = (*value - mean) * inverse;
        }
    }
    let (mut weight, mut offset) = (vec![0.0; classes * width], vec![0.0; classes]);
    let [mut dweight, mut first, mut second] = [(); 3].map(|()| vec![0.0; classes * width]);
    let [mut doffset, mut first_offset, mut second_offset] = [(); 3].map(|()| vec![0.0; classes]);
    let (mut logits, mut losses) = (vec![0.0; count * classes], vec![0.0; count]);
    let mut scratch = vec![0.0; bias::backward_scratch(&threads, classes)];
    let hyper = adam_w::Hyperparameters { rate: RATE, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay };
    let free = adam_w::Hyperparameters { weight_decay: 0.0, ..hyper };
    for step in 1..=steps {
        matmul(&threads, Layout::NT, count, classes, width, &x, &weight, &mut logits, Write::Set);
        bias::forward(&threads, &offset, &mut logits);
        let scale = 1.0 / count as f32;
        let loss = cross_entropy::forward_backward(
            &threads,
            &mut logits,
            classes,
            &examples.classes,
            scale,
            &mut losses,
        );
        if !loss.is_finite() {
            let reason = format!("the loss is {loss} at step {step}: the features are not finite numbers");
            return Err(WorkloadError::EngineFailed { engine: "native", reason, hint: None });
        }
        matmul(&threads, Layout::TN, classes, width, count, &logits, &x, &mut dweight, Write::Set);
        doffset.fill(0.0);
        bias::backward(&threads, &logits, &mut doffset, &mut scratch);
        adam_w::step(&threads, &hyper, step, &mut weight, &dweight, &mut first, &mut second);
        adam_w::step(&threads, &free, step, &mut offset, &doffset, &mut first_offset, &mut second_offset);
    }
    for (row, offset) in weight.chunks_exact_mut(width).zip(&mut offset) {
        for ((weight, mean), inverse) in row.iter_mut().zip(&mean).zip(&inverse) {
            *weight *= inverse;
            *offset -= *weight * mean;
        }
    }
    Ok((weight, offset))
}

/// The share of examples whose class has the largest score.
pub(super) fn accuracy(weight: &[f32], offset: &[f32], examples: &Examples) -> f64 {
    let width = examples.width;
    let right = examples.values.chunks_exact(width).zip(&examples.classes).filter(|(x, class)| {
        let score =
            |(row, offset): (&[f32], &f32)| row.iter().zip(*x).map(|(w, x)| w * x).sum::<f32>() + offset;
        let scores: Vec<f32> = weight.chunks_exact(width).zip(offset).map(score).collect();
        best(&scores) == **class as usize
    });
    right.count() as f64 / examples.classes.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::initial::DrawKey;

    /// Two classes that a line divides, with one feature that says nothing and one that never changes.
    fn examples(count: usize, seed: u64) -> Examples {
        let key = DrawKey::new("examples", seed);
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for place in 0..count as u64 {
            let [a, b] = [0, 1].map(|part| 5.0 + 3.0 * key.symmetric(3 * place + part));
            values.extend([a, b, 0.5, key.symmetric(3 * place + 2)]);
            classes.push(u32::from(a > b));
        }
        Examples { width: 4, values, classes }
    }

    #[test]
    fn a_line_between_two_classes_is_found_and_holds_for_others() {
        let regression = Regression { classes: 2, steps: 300, weight_decay: 0.0, threads: 2 };
        let (weight, offset) = fit(&regression, &examples(400, 1)).unwrap();
        assert!(accuracy(&weight, &offset, &examples(300, 2)) > 0.95);
        assert_eq!((weight[2], weight[6]), (0.0, 0.0));
        assert_eq!(fit(&regression, &examples(400, 1)).unwrap(), (weight, offset));
    }

    #[test]
    fn examples_are_divided_without_loss() {
        let all = examples(7, 1);
        let (some, others) = all.divided(|place| place == 2 || place == 6);
        assert_eq!((some.classes.len(), others.classes.len()), (2, 5));
        assert_eq!(some.values[4..], all.values[24..]);
    }
}
