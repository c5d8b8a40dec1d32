//! The settings of `mnist` as typed, checked options.

use std::path::PathBuf;

use assay_model::{Settings, Value, names};

use super::description::{REPEAT, description};
use super::model::Training;
use super::network;
use super::samples::Samples;
use crate::engine::EngineKind;
use crate::schedule::StepSchedule;
use crate::settings::{CheckedSettings, wrong};
use crate::summary::WorkAmount;
use crate::{WorkloadError, ranks};

/// What is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataSetChoice {
    /// MNIST where it is there, else synthetic digits.
    Auto,
    /// A data set that is known by this name.
    Named(&'static str),
    /// Digits drawn from the seed.
    Synthetic,
}

/// All options of `mnist`.
#[derive(Debug, Clone, PartialEq)]
pub struct MnistOptions {
    /// How weights are updated.
    pub training: Training,
    /// Times that all samples are gone through.
    pub epochs: u64,
    /// Steps to train; none where the epochs decide.
    pub steps: Option<u64>,
    /// Images in one step of one rank.
    pub batch: usize,
    /// Images that a test takes at once.
    pub test_batch: usize,
    /// What is learned.
    pub data_set: DataSetChoice,
    /// The folder of the files; the data directory without.
    pub data: Option<PathBuf>,
    /// Images to train on; all without.
    pub train_samples: Option<usize>,
    /// Images to test with; all without.
    pub test_samples: Option<usize>,
    /// Steps that are timed together.
    pub steps_per_iteration: u64,
    /// Iterations before those whose time counts.
    pub warmup: u64,
    /// Ranks.
    pub tasks: usize,
    /// Threads of all ranks together.
    pub threads: usize,
    /// Seed of everything.
    pub seed: u64,
    /// Where a trace is written.
    pub profile: Option<PathBuf>,
    /// Whether each iteration waits for a line on standard input.
    pub paced: bool,
    /// What computes it.
    pub engine: EngineKind,
    settings: Settings,
}

impl MnistOptions {
    /// Reads and checks settings. `cores` is the number of threads unless it is given.
    pub fn read(settings: &Settings, cores: usize) -> Result<MnistOptions, WorkloadError> {
        let (settings, further) = without_repeat(settings)?;
        let checked = CheckedSettings::new(&description(), &settings)?;
        let seed = checked.integer("seed").saturating_add(further);
        let path = |name: &str| Some(checked.text(name)).filter(|text| !text.is_empty()).map(PathBuf::from);
        let some = |name: &str| Some(checked.count(name)).filter(|count| *count > 0);
        let options = MnistOptions {
            training: training(&checked, seed)?,
            epochs: checked.integer("epochs"),
            steps: Some(checked.integer("steps")).filter(|steps| *steps > 0),
            batch: checked.count("batch_size"),
            test_batch: checked.count("test_batch_size"),
            data_set: data_set(checked.text("data_set")),
            data: path("data"),
            train_samples: some("train_samples"),
            test_samples: some("test_samples"),
            steps_per_iteration: checked.integer("steps_per_iteration"),
            warmup: checked.integer("warmup"),
            tasks: checked.count("tasks"),
            threads: some("threads").unwrap_or(cores.max(1)),
            seed,
            profile: path("profile"),
            paced: checked.switch("paced"),
            engine: EngineKind::read(&checked)?,
            settings: checked.into_settings(),
        };
        options.check()?;
        Ok(options)
    }

    /// Images in one step of all ranks.
    pub fn global_batch(&self) -> usize {
        self.batch.saturating_mul(self.tasks)
    }

    /// Threads of one rank.
    pub fn threads_of_task(&self) -> usize {
        ranks::threads_of_task(self.threads, self.tasks)
    }

    /// How the samples are gone through, now that they are known. What follows from them is settled in the settings.
    pub fn settle(&mut self, samples: &Samples) -> Result<StepSchedule, WorkloadError> {
        let count = samples.train.len();
        let schedule = self.schedule(count)?;
        let mut set = |name: &str, value: Value| self.settings.insert(name.to_owned(), value);
        let integer = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        set("threads", integer(self.threads as u64));
        set(names::setting::SEED, integer(self.seed));
        set("data_set", Value::from(samples.name));
        set("train_samples", integer(count as u64));
        set("test_samples", integer(samples.test.len() as u64));
        set(names::setting::STEPS, integer(schedule.steps()));
        Ok(schedule)
    }

    /// How that many images are gone through; an error where no iteration would be measured.
    fn schedule(&self, count: usize) -> Result<StepSchedule, WorkloadError> {
        if self.global_batch() > count {
            let words =
                if self.tasks > 1 { format!(" for each of {} tasks", self.tasks) } else { String::new() };
            let reason = format!("there are {count} images to train on, fewer than one step takes{words}");
            let error = wrong("batch_size", &self.batch, reason);
            return Err(error.or_hint(&format!("at most {}", count / self.tasks.max(1))));
        }
        let batch = self.global_batch() as u64;
        let steps_of_epoch = (count as u64).div_ceil(batch.max(1));
        let steps = self.steps.unwrap_or_else(|| self.epochs.saturating_mul(steps_of_epoch));
        let schedule = StepSchedule::new(count as u64, batch, steps, self.steps_per_iteration);
        if schedule.iterations() <= self.warmup {
            let reason =
                format!("there are {} iterations in all, so that none would count", schedule.iterations());
            let error = wrong("warmup", &self.warmup, reason);
            return Err(
                error.or_hint("lower warmup or steps_per_iteration, or train for more epochs or steps")
            );
        }
        Ok(schedule)
    }

    /// What one iteration of all ranks takes.
    pub(crate) fn effort(&self, schedule: &StepSchedule) -> WorkAmount {
        let samples = schedule.samples_of_iteration() as f64;
        WorkAmount {
            samples,
            tokens: None,
            flops: samples * network::flops(),
            formula: "2·m·n·k of every matrix product and convolution, forward and backward, without positions that \
                      no pooling window takes up and without gradients that are zero because another position of the \
                      window was the largest; pooling, activations, loss and optimizer left out"
                .to_owned(),
            metric: names::TIME_ITERATION,
            parameters: vec![(names::PARAMETERS, network::parameters() as f64)],
            trains: true,
            tasks: self.tasks,
            schedule: Some(*schedule),
        }
    }

    /// Every setting with the value that is in effect.
    pub fn in_effect(&self) -> Settings {
        self.settings.clone()
    }

    /// A setting as it was written.
    fn text_of(&self, name: &str) -> String {
        self.settings.get(name).map(Value::to_string).unwrap_or_default()
    }

    /// Settings that do not go together, which is found before anything runs.
    fn check(&self) -> Result<(), WorkloadError> {
        if self.data_set == DataSetChoice::Synthetic && self.data.is_some() {
            let error = wrong("data", &self.text_of("data"), "synthetic digits are not read from a file");
            return Err(error.or_hint("leave `data` out, or choose another data_set"));
        }
        // There may be fewer images than asked for, but never more.
        self.train_samples.map_or(Ok(()), |count| self.schedule(count).map(|_| ()))
    }
}

/// The settings alone, and how many repeats come before this one.
fn without_repeat(settings: &Settings) -> Result<(Settings, u64), WorkloadError> {
    let mut settings = settings.clone();
    let further = match settings.remove(REPEAT) {
        None => 0,
        Some(repeat) => match repeat.to_string().parse::<u32>() {
            Ok(number) if number > 0 => u64::from(number - 1),
            _ => return Err(wrong(REPEAT, &repeat, "it must be an integer from 1")),
        },
    };
    Ok((settings, further))
}

fn data_set(word: &str) -> DataSetChoice {
    match word {
        "synthetic" => DataSetChoice::Synthetic,
        "mnist" => DataSetChoice::Named("mnist"),
        "fashion-mnist" => DataSetChoice::Named("fashion-mnist"),
        _ => DataSetChoice::Auto,
    }
}

fn training(checked: &CheckedSettings, seed: u64) -> Result<Training, WorkloadError> {
    let below = |name: &str, limit: f64, words: &str| match checked.number(name) {
        number if (0.0..limit).contains(&number) => Ok(number as f32),
        number => Err(wrong(name, &number, format!("it must be at least 0{words}"))),
    };
    Ok(Training {
        learning_rate: below("learning_rate", f64::INFINITY, "")?,
        momentum: below("momentum", 1.0, " and below 1")?,
        dropout: below("dropout", 1.0, " and below 1")?,
        softmax: checked.switch("softmax"),
        seed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Images;

    fn read(pairs: &[(&str, Value)]) -> Result<MnistOptions, WorkloadError> {
        let settings = pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        MnistOptions::read(&settings, 3)
    }

    fn samples(train: usize) -> Samples {
        let images = |count: usize| Images { pixels: vec![0; 784 * count], labels: vec![0; count] };
        Samples { name: "synthetic", note: None, train: images(train), test: images(2) }
    }

    fn refused(pairs: &[(&str, Value)], train: usize) -> String {
        let settled = read(pairs).and_then(|mut options| options.settle(&samples(train)));
        let error = settled.unwrap_err();
        assert!(error.is_usage());
        format!("{error}; {}", error.hint().unwrap_or_default())
    }

    #[test]
    fn epochs_or_steps_report_how_long_it_goes_on() {
        let mut options = read(&[("epochs", 3.into())]).unwrap();
        let schedule = options.settle(&samples(100)).unwrap();
        assert_eq!((schedule.steps(), schedule.iterations()), (39, 3));
        assert_eq!(options.in_effect()["steps"], Value::Integer(39));
        assert_eq!(options.in_effect()["data_set"], Value::from("synthetic"));
        let mut options = read(&[("steps", 20.into()), ("steps_per_iteration", 5.into())]).unwrap();
        let schedule = options.settle(&samples(100)).unwrap();
        assert_eq!((schedule.steps(), schedule.iterations()), (20, 5));
    }

    #[test]
    fn settings_that_leave_nothing_to_measure_are_refused_before_a_run() {
        let one = [("train_samples", 500.into()), ("batch_size", 32.into()), ("epochs", 1.into())];
        let error = read(&one).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("none would count"), "{error}");
        assert!(read(&[("train_samples", 500.into()), ("batch_size", 32.into())]).is_ok());
        assert!(read(&[("train_samples", 8.into()), ("batch_size", 32.into())]).is_err());
    }

    #[test]
    fn every_repeat_has_a_seed_of_its_own() {
        let seed = |repeat: &str| read(&[("seed", 7.into()), ("repeat", repeat.into())]).unwrap().seed;
        assert_eq!([seed("1"), seed("3")], [7, 9]);
        assert!(refused(&[("repeat", "0".into())], 9).contains("from 1"));
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_hint() {
        assert!(refused(&[("batch_size", 0.into())], 9).contains("`batch_size` = 0"));
        assert!(refused(&[("batch_size", 10.into())], 9).contains("at most 9"));
        assert!(refused(&[("batch_size", 3.into()), ("tasks", 4.into())], 9).contains("at most 2"));
        assert!(refused(&[("steps", 1.into())], 9).contains("lower warmup"));
        assert!(refused(&[("dropout", Value::Float(1.0))], 9).contains("below 1"));
        assert!(refused(&[("learning_rate", Value::Float(-1.0))], 9).contains("at least 0"));
        assert!(refused(&[("momentum", Value::Float(1.5))], 9).contains("below 1"));
        let synthetic: (&str, Value) = ("data_set", "synthetic".into());
        assert!(refused(&[synthetic, ("data", "x".into())], 9).contains("not read from a file"));
        assert!(refused(&[("device", "cuda".into())], 9).contains("torch"));
        let cuda: [(&str, Value); 3] =
            [("engine", "torch".into()), ("tasks", 2.into()), ("device", "cuda".into())];
        assert!(refused(&cuda, 9).contains("on the CPU only"));
    }
}
