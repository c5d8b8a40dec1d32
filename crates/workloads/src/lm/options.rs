//! The settings of `lm` as typed, checked options.

use std::path::PathBuf;

use assay_model::{Settings, Value, names};

use super::description;
use super::shape::{LmShape, SIZES};
use crate::engine::EngineKind;
use crate::settings::{CheckedSettings, wrong};
use crate::summary::WorkAmount;
use crate::training::Training;
use crate::{WorkloadError, ranks};

/// What one iteration computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The loss.
    Forward,
    /// The loss and all gradients.
    ForwardBackward,
    /// The loss, all gradients, and an update of the weights.
    Step,
}

impl Phase {
    /// The word for it in settings.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Forward => "forward",
            Phase::ForwardBackward => "forward_backward",
            Phase::Step => "step",
        }
    }

    /// The metric that its time is.
    pub fn metric(self) -> &'static str {
        match self {
            Phase::Forward => names::TIME_FORWARD,
            Phase::ForwardBackward => names::TIME_FORWARD_BACKWARD,
            Phase::Step => names::TIME_STEP,
        }
    }

    /// How many times the operations of a forward pass it takes.
    pub fn forward_passes(self) -> f64 {
        match self {
            Phase::Forward => 1.0,
            Phase::ForwardBackward | Phase::Step => 3.0,
        }
    }
}

/// One iteration's work: with the shape, all that memory and arithmetic depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LmWork {
    /// Sequences of one rank.
    pub batch: usize,
    /// Tokens of a sequence.
    pub context: usize,
    /// What is computed.
    pub phase: Phase,
    /// Whether activations are computed again in the backward pass.
    pub checkpointing: bool,
    /// Ranks that each compute as much.
    pub tasks: usize,
}

impl LmWork {
    /// Tokens of one iteration of one rank.
    pub fn tokens(&self) -> usize {
        self.batch.saturating_mul(self.context)
    }
}

/// All options of `lm`.
#[derive(Debug, Clone, PartialEq)]
pub struct LmOptions {
    /// The shape of the model. Its vocabulary is 0 where it follows from a tokenizer that was not opened yet.
    pub shape: LmShape,
    /// One iteration.
    pub work: LmWork,
    /// Iterations that count.
    pub iterations: u64,
    /// Iterations before those.
    pub warmup: u64,
    /// Threads of all ranks together.
    pub threads: usize,
    /// Seed of weights and data.
    pub seed: u64,
    /// How weights are updated.
    pub training: Training,
    /// The text to train on; random tokens without.
    pub text: Option<PathBuf>,
    /// The tokenizer of the text; bytes without.
    pub tokenizer: Option<PathBuf>,
    /// Where checkpoints are written.
    pub save: Option<PathBuf>,
    /// Steps between two checkpoints; only at the end without.
    pub save_every: Option<u64>,
    /// The checkpoint to go on from.
    pub resume: Option<PathBuf>,
    /// Where a trace is written.
    pub profile: Option<PathBuf>,
    /// Whether each iteration waits for a line on standard input.
    pub paced: bool,
    /// What computes it.
    pub engine: EngineKind,
    settings: Settings,
}

impl LmOptions {
    /// Reads and checks settings. `cores` is the number of threads unless it is given.
    pub fn read(settings: &Settings, cores: usize) -> Result<LmOptions, WorkloadError> {
        let checked = CheckedSettings::new(&description(), settings)?;
        let path = |name: &str| Some(checked.text(name)).filter(|text| !text.is_empty()).map(PathBuf::from);
        let options = LmOptions {
            shape: shape(&checked)?,
            work: LmWork {
                batch: checked.count("batch_size"),
                context: checked.count("context"),
                phase: phase(&checked),
                checkpointing: checked.switch("checkpointing"),
                tasks: checked.count("tasks"),
            },
            iterations: checked.integer("iterations"),
            warmup: checked.integer("warmup"),
            threads: match checked.count("threads") {
                0 => cores.max(1),
                count => count,
            },
            seed: checked.integer("seed"),
            training: Training::read(&checked)?,
            text: path("text"),
            tokenizer: path("tokenizer"),
            save: path("save"),
            save_every: Some(checked.integer("save_every")).filter(|steps| *steps > 0),
            resume: path("resume"),
            profile: path("profile"),
            paced: checked.switch("paced"),
            engine: EngineKind::read(&checked)?,
            settings: checked.into_settings(),
        };
        options.check()?;
        Ok(options)
    }

    /// Settles the vocabulary once the data are known, which have tokens below `needed`.
    pub fn settle_vocabulary(&mut self, needed: usize) -> Result<(), WorkloadError> {
        if self.shape.vocabulary == 0 {
            self.shape.vocabulary = needed;
        }
        if self.shape.vocabulary < needed {
            return Err(wrong(
                "vocabulary",
                &self.shape.vocabulary,
                format!("the data have tokens up to {}", needed - 1),
            )
            .or_hint(&format!("leave `vocabulary` out, or give at least {needed}")));
        }
        Ok(())
    }

    /// What one iteration of all ranks takes.
    pub(crate) fn effort(&self) -> WorkAmount {
        let LmOptions { shape, work, .. } = self;
        let tasks = work.tasks as f64;
        let backward = if work.phase == Phase::Forward { "" } else { "; backward twice the forward" };
        WorkAmount {
            samples: tasks * work.batch as f64,
            tokens: Some(tasks * work.tokens() as f64),
            flops: tasks * work.phase.forward_passes() * shape.forward_flops(work.tokens(), work.context),
            formula: format!(
                "2·m·n·k of every matrix product, attention in full as 4·tokens·context·width a layer{backward}; norms, \
                 rotations, activations, softmax, loss, embedding, optimizer and recomputation left out"
            ),
            metric: work.phase.metric(),
            parameters: vec![
                (names::PARAMETERS, shape.parameters() as f64),
                (names::PARAMETERS_WITHOUT_HEAD, shape.parameters_without_head() as f64),
            ],
            trains: work.phase == Phase::Step,
            tasks: work.tasks,
            schedule: None,
        }
    }

    /// Threads of one rank.
    pub fn threads_of_task(&self) -> usize {
        ranks::threads_of_task(self.threads, self.work.tasks)
    }

    /// Every setting with the value that is in effect.
    pub fn in_effect(&self) -> Settings {
        let mut settings = self.settings.clone();
        let mut set = |name: &str, number: usize| {
            settings.insert(name.to_owned(), Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)));
        };
        set("width", self.shape.width);
        set("hidden", self.shape.hidden);
        set("layers", self.shape.layers);
        set("heads", self.shape.heads);
        set("vocabulary", self.shape.vocabulary);
        set("threads", self.threads);
        settings
    }

    /// A setting as it was written.
    fn text_of(&self, name: &str) -> String {
        self.settings.get(name).map(Value::to_string).unwrap_or_default()
    }

    /// Settings that do not go together.
    fn check(&self) -> Result<(), WorkloadError> {
        let LmShape { width, heads, vocabulary, .. } = self.shape;
        if !width.is_multiple_of(heads) {
            let error =
                wrong("heads", &heads, format!("a width of {width} cannot be divided into this many heads"));
            return Err(error.or_hint(&format!("heads that fit: {}", fitting_heads(width))));
        }
        if !(width / heads).is_multiple_of(2) {
            let error = wrong(
                "heads",
                &heads,
                format!("each head would have {} numbers, and positions turn them in pairs", width / heads),
            );
            return Err(error.or_hint(&format!("heads that fit: {}", fitting_heads(width))));
        }
        if vocabulary == 1 {
            return Err(wrong("vocabulary", &vocabulary, "a model needs at least two tokens to choose from"));
        }
        if self.tokenizer.is_some() && self.text.is_none() {
            let error = wrong("tokenizer", &self.text_of("tokenizer"), "a tokenizer needs a text");
            return Err(error.or_hint("give `text`, or leave `tokenizer` out"));
        }
        if self.save.is_none() && self.save_every.is_some() {
            let error = wrong("save_every", &self.text_of("save_every"), "no file to save to is given");
            return Err(error.or_hint("give `save`"));
        }
        if self.save.is_some() && self.work.phase != Phase::Step {
            let error = wrong("save", &self.text_of("save"), "only phase `step` changes weights");
            return Err(error.or_hint("use phase = step, or leave `save` out"));
        }
        Ok(())
    }
}

fn phase(checked: &CheckedSettings) -> Phase {
    match checked.text("phase") {
        "forward" => Phase::Forward,
        "step" => Phase::Step,
        _ => Phase::ForwardBackward,
    }
}

/// The shape that the size names, with the dimensions that were given on their own.
fn shape(checked: &CheckedSettings) -> Result<LmShape, WorkloadError> {
    let name = checked.text("size");
    let size = SIZES.iter().find(|size| size.name == name).map(|size| size.shape);
    let dimension = |key: &str, named: Option<usize>| match (checked.count(key), named) {
        (0, Some(number)) => Ok(number),
        (0, None) => {
            let error = wrong(key, &0, format!("size `{name}` needs it"));
            Err(error.or_hint("a custom size needs width, hidden, layers and heads"))
        }
        (number, _) => Ok(number),
    };
    let with_text = !checked.text("text").is_empty();
    let vocabulary = match (checked.count("vocabulary"), checked.text("tokenizer").is_empty()) {
        (0, false) if with_text => 0,
        (0, true) if with_text => 256,
        (0, _) => size.map_or(10_000, |shape| shape.vocabulary),
        (number, _) => number,
    };
    Ok(LmShape {
        width: dimension("width", size.map(|shape| shape.width))?,
        hidden: dimension("hidden", size.map(|shape| shape.hidden))?,
        layers: dimension("layers", size.map(|shape| shape.layers))?,
        heads: dimension("heads", size.map(|shape| shape.heads))?,
        vocabulary,
    })
}

/// The head counts that a width can be divided into, the largest ones first.
fn fitting_heads(width: usize) -> String {
    let fits = |heads: &usize| width.is_multiple_of(*heads) && (width / heads).is_multiple_of(2);
    let fitting = (1..=width.min(1 << 16)).rev().filter(fits);
    let words: Vec<String> = fitting.take(12).map(|heads| heads.to_string()).collect();
    if words.is_empty() {
        format!("none, since {width} is odd: choose an even width")
    } else {
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, Value)]) -> Result<LmOptions, WorkloadError> {
        let settings = pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        LmOptions::read(&settings, 3)
    }

    #[test]
    fn a_size_gives_the_shape_and_single_dimensions_override_it() {
        let options = read(&[("size", "llama-7b".into()), ("layers", 2.into())]).unwrap();
        assert_eq!(
            options.shape,
            LmShape { width: 4096, hidden: 11_008, layers: 2, heads: 32, vocabulary: 32_000 }
        );
        assert_eq!(options.threads, 3);
        assert_eq!(options.in_effect()["width"], Value::Integer(4096));
        assert_eq!(read(&[("text", "a.txt".into())]).unwrap().shape.vocabulary, 256);
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_hint() {
        let refused = |pairs: &[(&str, Value)]| {
            let error = read(pairs).unwrap_err();
            assert!(error.is_usage());
            (error.to_string(), error.hint().unwrap_or_default())
        };
        let (message, hint) = refused(&[("heads", 7.into())]);
        assert!(message.contains("`heads` = 7") && hint.contains("12"), "{message} {hint}");
        let (message, _) = refused(&[("width", 12.into()), ("heads", 4.into())]);
        assert!(message.contains("3 numbers"), "{message}");
        assert!(refused(&[("size", "custom".into())]).1.contains("width, hidden"));
        assert!(refused(&[("batch_size", 0.into())]).0.contains("`batch_size` = 0"));
        assert!(refused(&[("context", 0.into())]).0.contains("`context` = 0"));
        assert!(refused(&[("vocabulary", 1.into())]).0.contains("two tokens"));
        assert!(refused(&[("device", "cuda".into())]).1.contains("torch"));
        assert!(refused(&[("clip", Value::Float(-1.0))]).0.contains("negative"));
        assert!(refused(&[("save", "a".into())]).1.contains("phase = step"));
        assert!(refused(&[("tokenizer", "a".into())]).1.contains("text"));
        assert!(refused(&[("width", 15.into()), ("heads", 1.into())]).1.contains("even width"));
    }

    #[test]
    fn threads_are_shared_by_the_tasks() {
        let each = |threads: i64, tasks: i64| {
            read(&[("threads", threads.into()), ("tasks", tasks.into())]).unwrap().threads_of_task()
        };
        assert_eq!([each(8, 2), each(8, 3), each(2, 4)], [4, 2, 1]);
        let torch =
            read(&[("engine", "torch".into()), ("tasks", 2.into()), ("device", "cuda".into())]).unwrap_err();
        assert!(torch.to_string().contains("on the CPU only"));
    }

    #[test]
    fn a_vocabulary_that_is_too_small_for_the_data_is_refused() {
        let mut options = read(&[("vocabulary", 300.into())]).unwrap();
        assert!(options.settle_vocabulary(256).is_ok());
        assert!(options.settle_vocabulary(301).unwrap_err().hint().unwrap().contains("301"));
    }
}
