//! What a classifier printed: logits, and the probabilities that follow from them.

use super::super::fault::Fault;
use super::super::page::Block;
use super::{SectionData, heading, listed, rounded};

pub(super) const FAULTS: &[Fault] = &[Fault::Probabilities];

pub(super) fn write(scene: &mut SectionData<'_>) -> Vec<Block> {
    let title = scene.random.pick(["A single review", "Output of the classifier", "One input by hand"]);
    let classes = 2 + scene.random.below(3);
    // Logits far enough apart that the largest is no matter of rounding.
    let mut logits: Vec<f64> =
        (0..classes).map(|class| rounded(1.3 * class as f64 + scene.random.between(-2.4, -1.6), 4)).collect();
    scene.random.shuffle(&mut logits);
    let mut probabilities = softmax(&logits);
    let label = largest(&probabilities);
    let mistake = scene.random.below(3);
    let temperature = scene.random.pick([0.5, 2.0, 3.0]);
    if scene.planted {
        match mistake {
            0 => probabilities = softmax(&logits.iter().map(|logit| logit / temperature).collect::<Vec<_>>()),
            1 => probabilities.rotate_left(1),
            _ => probabilities.iter_mut().for_each(|share| *share = 0.8 * *share + 0.1),
        }
    }
    let names = scene.random.pick([["logits", "probabilities"], ["Logits", "Probabilities"]]);
    let dtype = scene.random.pick([", dtype=torch.float16", ""]);
    let output = format!(
        "{}: tensor([[{}]]{dtype})\n{}: tensor([[{}]])\nclass label: {label}\n",
        names[0],
        listed(&logits, 4, ", "),
        names[1],
        listed(&probabilities, 4, ", ")
    );
    let words = scene.random.pick(["The model prints for my sentence", "The output for one input is"]);
    vec![
        heading(title),
        Block::Text(format!("{words}:")),
        Block::Output(output),
        Block::Text(format!("The largest logit belongs to class {label}.")),
    ]
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f64::MIN, f64::max);
    let powers: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

fn largest(values: &[f64]) -> usize {
    let best = values.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
    best.map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_follow_from_logits() {
        let shares = softmax(&[-1.9072, 2.1699]);
        assert_eq!(listed(&shares, 4, " "), "0.0167 0.9833");
        assert_eq!(largest(&shares), 1);
    }
}
