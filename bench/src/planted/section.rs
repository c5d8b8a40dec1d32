//! Sections of documents. Every section comes as twins: sound, and with one error planted. Twins are drawn from the same
//! seed and have the same layout, so that they differ in what the error changes and in nothing else.

mod accuracy;
mod cerebras;
mod classifier;
mod endpoints;
mod groq;
mod inference;
mod parameters;
mod poptorch;
mod rates;
mod sambanova;
mod timings;
mod training;
#[cfg(test)]
mod twins;

use super::fault::Fault;
use super::measured::Measured;
use super::page::Block;
use crate::random::Random;

/// What a section is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    /// Rates of the real campaign.
    Rates,
    /// Arrays of times, as a Python script prints them.
    Timings,
    /// The log of a small training loop.
    Training,
    /// Logs and tables of a wafer-scale machine.
    Cerebras,
    /// Progress bars of an IPU.
    Poptorch,
    /// Scaling over tasks.
    Sambanova,
    /// Measured and predicted latencies.
    Groq,
    /// Two endpoints side by side.
    Endpoints,
    /// Shapes of models and their parameters.
    Parameters,
    /// What a classifier printed.
    Classifier,
    /// Inference over batch sizes.
    Inference,
    /// Accuracies over settings.
    Accuracy,
}

impl SectionKind {
    /// All of them.
    pub const ALL: [SectionKind; 12] = [
        SectionKind::Rates,
        SectionKind::Timings,
        SectionKind::Training,
        SectionKind::Cerebras,
        SectionKind::Poptorch,
        SectionKind::Sambanova,
        SectionKind::Groq,
        SectionKind::Endpoints,
        SectionKind::Parameters,
        SectionKind::Classifier,
        SectionKind::Inference,
        SectionKind::Accuracy,
    ];

    /// The errors that can be planted in it. Each has its own layout.
    pub fn faults(self) -> &'static [Fault] {
        match self {
            SectionKind::Rates => rates::FAULTS,
            SectionKind::Timings => timings::FAULTS,
            SectionKind::Training => training::FAULTS,
            SectionKind::Cerebras => cerebras::FAULTS,
            SectionKind::Poptorch => poptorch::FAULTS,
            SectionKind::Sambanova => sambanova::FAULTS,
            SectionKind::Groq => groq::FAULTS,
            SectionKind::Endpoints => endpoints::FAULTS,
            SectionKind::Parameters => parameters::FAULTS,
            SectionKind::Classifier => classifier::FAULTS,
            SectionKind::Inference => inference::FAULTS,
            SectionKind::Accuracy => accuracy::FAULTS,
        }
    }

    /// Writes the section.
    pub fn write(self, scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
        match self {
            SectionKind::Rates => rates::write(scene),
            SectionKind::Timings => Ok(timings::write(scene)),
            SectionKind::Training => Ok(training::write(scene)),
            SectionKind::Cerebras => cerebras::write(scene),
            SectionKind::Poptorch => poptorch::write(scene),
            SectionKind::Sambanova => sambanova::write(scene),
            SectionKind::Groq => Ok(groq::write(scene)),
            SectionKind::Endpoints => Ok(endpoints::write(scene)),
            SectionKind::Parameters => Ok(parameters::write(scene)),
            SectionKind::Classifier => Ok(classifier::write(scene)),
            SectionKind::Inference => Ok(inference::write(scene)),
            SectionKind::Accuracy => Ok(accuracy::write(scene)),
        }
    }
}

/// What a section is written from.
#[derive(Debug, Clone)]
pub struct SectionData<'a> {
    /// Real rates and their scatter.
    pub measured: &'a Measured,
    /// Decides everything that is left open.
    pub random: Random,
    /// The error whose layout is taken.
    pub focus: Fault,
    /// Whether that error is planted.
    pub planted: bool,
}

impl SectionData<'_> {
    /// Whether this error is planted here.
    fn plants(&self, fault: Fault) -> bool {
        self.planted && self.focus == fault
    }

    /// One of two sentences: the first in the sound twin, the second where the error is planted.
    fn say(&self, sound: String, planted: String) -> Block {
        Block::Text(if self.planted { planted } else { sound })
    }

    fn repeats(&mut self, center: f64, spread: f64, count: usize) -> Vec<f64> {
        self.measured.repeats(&mut self.random, center, spread, count)
    }
}

fn heading(words: &str) -> Block {
    Block::Heading(2, words.to_owned())
}

fn text(words: &str) -> Block {
    Block::Text(words.to_owned())
}

/// A number with this many digits behind the point.
fn fixed(value: f64, digits: usize) -> String {
    format!("{value:.digits$}")
}

/// A number as it reads after being written with this many digits behind the point.
fn rounded(value: f64, digits: usize) -> f64 {
    let scale = 10_f64.powi(i32::try_from(digits).unwrap_or(0));
    (value * scale).round() / scale
}

/// The mean of values and the half width of its 95 % interval.
fn summary(values: &[f64]) -> (f64, f64) {
    match assay_stats::mean_interval(values, 0.95) {
        Some(interval) => (interval.center, (interval.high - interval.low) / 2.0),
        None => (values.first().copied().unwrap_or_default(), 0.0),
    }
}

/// `mean ± half width`, with this many digits.
fn with_interval(values: &[f64], digits: usize) -> String {
    let (mean, half) = summary(values);
    format!("{mean:.digits$} ± {half:.digits$}")
}

fn listed(values: &[f64], digits: usize, separator: &str) -> String {
    values.iter().map(|&value| fixed(value, digits)).collect::<Vec<_>>().join(separator)
}

/// An array as numpy prints one, with a label in front.
fn array(label: &str, values: &[f64]) -> String {
    let cells: Vec<String> = values.iter().map(|value| format!("{value:.8}")).collect();
    let lines: Vec<String> = cells.chunks(5).map(|cells| cells.join(" ")).collect();
    format!("{label} [{}]\n", lines.join("\n "))
}

/// Something that stands where a number should: a gap, a word, or a number with a typing error.
fn corrupted(random: &mut Random, cell: &str) -> String {
    let number: String = cell.chars().take_while(|sign| sign.is_ascii_digit() || *sign == '.').collect();
    match random.below(6) {
        0 => String::new(),
        1 => "TBD".to_owned(),
        2 => format!("{cell}a"),
        3 => format!("{number}.0.{}", random.below(10)),
        4 => "???".to_owned(),
        _ => {
            format!("{}O{}", number.chars().next().unwrap_or('1'), number.chars().skip(1).collect::<String>())
        }
    }
}
