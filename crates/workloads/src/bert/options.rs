//! The settings of `bert` as typed, checked options.

use std::path::PathBuf;

use assay_kernels::gelu;
use assay_model::{Settings, Value};

use super::description;
use super::shape::{BertShape, SIZES};
use crate::engine::EngineKind;
use crate::settings::{CheckedSettings, wrong};
use crate::training::Training;
use crate::{WorkloadError, ranks};

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Scores of classes for each sentence.
    Classify,
    /// The mean of a sentence's tokens.
    Embed,
    /// Training steps of a masked language model.
    Pretrain,
}

/// All options of `bert`.
#[derive(Debug, Clone, PartialEq)]
pub struct BertOptions {
    /// What is computed.
    pub task: Task,
    /// The shape of the model, which that of a folder or a tokenizer replaces or completes.
    pub shape: BertShape,
    /// The sentence to compute.
    pub text: Option<String>,
    /// The file of sentences, or the text to train on.
    pub data: Option<PathBuf>,
    /// The folder of the model.
    pub model: Option<PathBuf>,
    /// The head to use instead of the model's.
    pub head: Option<PathBuf>,
    /// The tokenizer to use instead of the model's.
    pub tokenizer: Option<PathBuf>,
    /// Sentences of one iteration; all of them without.
    pub sentences: Option<usize>,
    /// Sentences computed at once; in pre-training those of one rank.
    pub batch: usize,
    /// Tokens that sentences are padded to; their own length without.
    pub length: Option<usize>,
    /// Tokens of a sequence that is made up or pre-trained on.
    pub context: usize,
    /// Iterations that count.
    pub iterations: u64,
    /// Iterations before those.
    pub warmup: u64,
    /// Ranks that train together.
    pub tasks: usize,
    /// Threads of all ranks together.
    pub threads: usize,
    /// Seed of weights and data.
    pub seed: u64,
    /// How weights are updated.
    pub training: Training,
    /// Where a trace is written.
    pub profile: Option<PathBuf>,
    /// Whether each iteration waits for a line on standard input.
    pub paced: bool,
    /// What computes it.
    pub engine: EngineKind,
    /// Whether the vocabulary was given and a tokenizer must keep to it.
    vocabulary_given: bool,
    settings: Settings,
}

impl BertOptions {
    /// Reads and checks settings. `cores` is the number of threads unless it is given.
    pub fn read(settings: &Settings, cores: usize) -> Result<BertOptions, WorkloadError> {
        let checked = CheckedSettings::new(&description(), settings)?;
        let text = |name: &str| Some(checked.text(name).to_owned()).filter(|text| !text.is_empty());
        let path = |name: &str| text(name).map(PathBuf::from);
        let some = |name: &str| Some(checked.count(name)).filter(|count| *count > 0);
        let options = BertOptions {
            task: match checked.text("task") {
                "embed" => Task::Embed,
                "pretrain" => Task::Pretrain,
                _ => Task::Classify,
            },
            shape: shape(&checked)?,
            text: text("text"),
            data: path("data"),
            model: path("model"),
            head: path("head"),
            tokenizer: path("tokenizer"),
            sentences: some("sentences"),
            batch: checked.count("batch_size"),
            length: some("length"),
            context: checked.count("context"),
            iterations: checked.integer("iterations"),
            warmup: checked.integer("warmup"),
            tasks: checked.count("tasks"),
            threads: some("threads").unwrap_or(cores.max(1)),
            seed: checked.integer("seed"),
            training: Training::read(&checked)?,
            profile: path("profile"),
            paced: checked.switch("paced"),
            engine: EngineKind::read(&checked)?,
            vocabulary_given: checked.count("vocabulary") > 0,
            settings: checked.into_settings(),
        };
        options.check()?;
        Ok(options)
    }

    /// Takes over the shape of a model that was read.
    pub fn settle_model(&mut self, shape: BertShape) -> Result<(), WorkloadError> {
        self.shape = shape;
        self.vocabulary_given = true;
        self.check_lengths()
    }

    /// Settles the vocabulary once the tokenizer is known, which has this many tokens.
    pub fn settle_vocabulary(&mut self, tokens: usize) -> Result<(), WorkloadError> {
        if !self.vocabulary_given {
            self.shape.vocabulary = tokens;
        }
        if self.shape.vocabulary < tokens {
            let reason = format!("the tokenizer has {tokens} tokens, which is more than the model knows");
            return Err(wrong("tokenizer", &self.text_of("tokenizer"), reason)
                .or_hint("take the tokenizer that belongs to the model"));
        }
        Ok(())
    }

    /// Threads of one rank.
    pub fn threads_of_task(&self) -> usize {
        ranks::threads_of_task(self.threads, self.tasks)
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
        set("positions", self.shape.positions);
        set("classes", self.shape.classes);
        set("threads", self.threads);
        let word = if self.shape.activation == gelu::GeluFormula::Exact { "gelu" } else { "gelu_tanh" };
        settings.insert("activation".to_owned(), word.into());
        settings.insert("epsilon".to_owned(), Value::Float(f64::from(self.shape.epsilon)));
        settings
    }

    /// A setting as it was written.
    pub(super) fn text_of(&self, name: &str) -> String {
        self.settings.get(name).map(Value::to_string).unwrap_or_default()
    }

    /// Settings that do not go together.
    fn check(&self) -> Result<(), WorkloadError> {
        let BertShape { width, heads, vocabulary, .. } = self.shape;
        if !width.is_multiple_of(heads) {
            let reason = format!("a width of {width} cannot be divided into this many heads");
            return Err(
                wrong("heads", &heads, reason).or_hint("take a number of heads that divides the width")
            );
        }
        if vocabulary <= super::tokens::SMALL.first as usize {
            let reason =
                format!("the first {} tokens have a meaning of their own", super::tokens::SMALL.first);
            return Err(wrong("vocabulary", &vocabulary, reason).or_hint("take a larger vocabulary"));
        }
        let refuse = |name: &str, reason: &str, hint: &str| {
            Err(wrong(name, &self.text_of(name), reason).or_hint(hint))
        };
        if self.text.is_some() && self.data.is_some() {
            return refuse("text", "`data` is given, too", "give one of the two");
        }
        if self.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return refuse("text", "it is blank", "give a sentence");
        }
        let pretrains = self.task == Task::Pretrain;
        if pretrains && self.text.is_some() {
            return refuse("text", "one sentence is not enough to train on", "give a file as `data`");
        }
        if pretrains && self.length.is_some() {
            return refuse(
                "length",
                "in pre-training all sequences have the length `context`",
                "give `context`",
            );
        }
        if !pretrains && self.tasks > 1 {
            return refuse(
                "tasks",
                "only task `pretrain` runs as several tasks",
                "use task = pretrain, or threads",
            );
        }
        if pretrains && self.data.is_some() && self.model.is_none() && self.tokenizer.is_none() {
            return refuse("data", "it needs a tokenizer", "give `tokenizer` or `model`");
        }
        if self.head.is_some() && (self.task != Task::Classify || self.model.is_none()) {
            return refuse(
                "head",
                "a head needs the model it was trained on",
                "give `model`, and task = classify",
            );
        }
        self.check_lengths()
    }

    fn check_lengths(&self) -> Result<(), WorkloadError> {
        let positions = self.shape.positions;
        let made_up = self.task == Task::Pretrain || (self.text.is_none() && self.data.is_none());
        for (name, length) in [("length", self.length), ("context", Some(self.context).filter(|_| made_up))] {
            if let Some(length) = length.filter(|length| *length > positions) {
                let reason = format!("the model has only {positions} positions");
                return Err(wrong(name, &length, reason).or_hint("make it shorter, or give `positions`"));
            }
        }
        if self.length.is_some_and(|length| length < 2) {
            let reason = "a sentence has at least two tokens, one at either end";
            return Err(wrong("length", &self.text_of("length"), reason));
        }
        Ok(())
    }
}

/// The shape that the size names, with the dimensions that were given on their own.
fn shape(checked: &CheckedSettings) -> Result<BertShape, WorkloadError> {
    let name = checked.text("size");
    let size = SIZES.iter().find(|size| size.name == name);
    let dimension = |key: &str, named: Option<usize>| match (checked.count(key), named) {
        (0, Some(number)) => Ok(number),
        (0, None) => {
            let error = wrong(key, &0, format!("size `{name}` needs it"));
            Err(error.or_hint("a custom size needs width, hidden, layers and heads"))
        }
        (number, _) => Ok(number),
    };
    let width = dimension("width", size.map(|size| size.width))?;
    let epsilon = checked.number("epsilon") as f32;
    if epsilon.is_nan() || epsilon < 0.0 {
        return Err(wrong("epsilon", &epsilon, "it must not be negative"));
    }
    Ok(BertShape {
        width,
        hidden: dimension("hidden", size.map(|_| width.saturating_mul(4)))?,
        layers: dimension("layers", size.map(|size| size.layers))?,
        heads: dimension("heads", size.map(|size| size.heads))?,
        vocabulary: dimension("vocabulary", Some(30_522))?,
        positions: dimension("positions", Some(512))?,
        kinds: 2,
        classes: checked.count("classes"),
        epsilon,
        activation: if checked.text("activation") == "gelu" {
            gelu::GeluFormula::Exact
        } else {
            gelu::GeluFormula::Tanh
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, Value)]) -> Result<BertOptions, WorkloadError> {
        let settings = pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        BertOptions::read(&settings, 3)
    }

    #[test]
    fn a_size_gives_the_shape_and_single_dimensions_override_it() {
        let options = read(&[("size", "large".into()), ("layers", 2.into())]).unwrap();
        let BertShape { width, hidden, layers, heads, vocabulary, positions, .. } = options.shape;
        assert_eq!([width, hidden, layers, heads, vocabulary, positions], [1024, 4096, 2, 16, 30_522, 512]);
        assert_eq!((options.threads, options.in_effect()["hidden"].clone()), (3, Value::Integer(4096)));
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_hint() {
        let refused = |pairs: &[(&str, Value)]| {
            let error = read(pairs).unwrap_err();
            assert!(error.is_usage());
            format!("{error} {}", error.hint().unwrap_or_default())
        };
        let pretrain = || ("task", Value::from("pretrain"));
        assert!(refused(&[("heads", 7.into())]).contains("divided"));
        assert!(refused(&[("size", "custom".into())]).contains("width, hidden"));
        assert!(refused(&[("batch_size", 0.into())]).contains("`batch_size` = 0"));
        assert!(refused(&[("vocabulary", 3.into())]).contains("larger vocabulary"));
        assert!(refused(&[("text", " \t".into())]).contains("it is blank"));
        assert!(refused(&[("text", "a".into()), ("data", "b".into())]).contains("one of the two"));
        assert!(refused(&[pretrain(), ("text", "a".into())]).contains("as `data`"));
        assert!(refused(&[pretrain(), ("data", "a".into())]).contains("tokenizer"));
        assert!(refused(&[pretrain(), ("length", 9.into())]).contains("`context`"));
        assert!(refused(&[("tasks", 2.into())]).contains("pretrain"));
        assert!(refused(&[("context", 513.into())]).contains("512 positions"));
        assert!(refused(&[("length", 513.into())]).contains("512 positions"));
        assert!(refused(&[("head", "a".into())]).contains("`model`"));
        assert!(refused(&[("device", "cuda".into())]).contains("torch"));
        let torch = [pretrain(), ("tasks", 2.into()), ("engine", "torch".into()), ("device", "cuda".into())];
        assert!(refused(&torch).contains("on the CPU only"));
        assert!(refused(&[("clip", Value::Float(-1.0))]).contains("negative"));
        assert!(refused(&[("epsilon", Value::Float(-1.0))]).contains("negative"));
    }

    #[test]
    fn a_tokenizer_settles_the_vocabulary_unless_it_was_given() {
        let mut options = read(&[]).unwrap();
        options.settle_vocabulary(77).unwrap();
        assert_eq!(options.shape.vocabulary, 77);
        let mut options = read(&[("vocabulary", 50.into())]).unwrap();
        assert!(options.settle_vocabulary(77).unwrap_err().to_string().contains("77 tokens"));
        options.settle_vocabulary(40).unwrap();
        assert_eq!(options.shape.vocabulary, 50);
    }
}
