//! What kinds of samples there are and what can be chosen about each.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::SampleError;
use crate::kinds;
use crate::log::Log;
use assay_random::Random;

/// One kind of sample.
#[derive(Debug)]
pub struct SampleKind {
    pub name: &'static str,
    /// What it looks like.
    pub summary: &'static str,
    /// What can be chosen about it.
    pub options: &'static [Choice],
    /// Writes it.
    pub(crate) compose: fn(&mut SampleJob<'_, '_>),
}

/// Something that can be chosen about a sample.
#[derive(Debug)]
pub struct Choice {
    /// The name of the option.
    pub name: &'static str,
    /// The value it has when nothing is said; empty where it then follows from other options or from the seed.
    pub default: &'static str,
    /// The values it takes.
    pub values: OptionValues,
    /// What it decides.
    pub summary: &'static str,
}

/// The values that an option takes.
#[derive(Debug, Clone, Copy)]
pub enum OptionValues {
    /// One of these words.
    Words(&'static [&'static str]),
    /// An integer within these bounds, both included.
    Whole(u64, u64),
    /// A number within these bounds, both included.
    Number(f64, f64),
}

/// `true` or `false`.
pub(crate) const FLAG: OptionValues = OptionValues::Words(&["false", "true"]);

impl OptionValues {
    fn take(self, text: &str) -> bool {
        match self {
            Self::Words(words) => words.contains(&text),
            Self::Whole(least, most) => {
                text.parse().is_ok_and(|number: u64| (least..=most).contains(&number))
            }
            Self::Number(least, most) => {
                text.parse().is_ok_and(|number: f64| (least..=most).contains(&number))
            }
        }
    }
}

impl fmt::Display for OptionValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => write!(formatter, "one of {}", words.join(", ")),
            Self::Whole(least, most) => write!(formatter, "an integer from {least} to {most}"),
            Self::Number(least, most) => write!(formatter, "a number from {least} to {most}"),
        }
    }
}

/// The options of a log: its own, and how a terminal or launcher dressed it up.
macro_rules! log_options {
    ($(($name:literal, $default:literal, $values:expr, $summary:literal)),* $(,)?) => {
        crate::kind::plain_options![
            $(($name, $default, $values, $summary),)*
            ("crlf", "false", crate::kind::FLAG, "lines end as on Windows"),
            ("ansi", "false", crate::kind::FLAG, "color codes in every line"),
            ("ranks", "0", crate::kind::OptionValues::Whole(0, 64), "number of ranks; every line comes once from each"),
            (
                "rank-style",
                "mpi",
                crate::kind::OptionValues::Words(&["mpi", "torchrun", "slurm"]),
                "who prefixes the rank: `[1,0]<stdout>:`, `[rank0]:` or `0: `"
            ),
            ("rubbish", "false", crate::kind::FLAG, "binary bytes between lines"),
        ]
    };
}

/// The options of something that is not a log.
macro_rules! plain_options {
    ($(($name:literal, $default:literal, $values:expr, $summary:literal)),* $(,)?) => {
        &[$(crate::kind::Choice { name: $name, default: $default, values: $values, summary: $summary }),*]
    };
}

pub(crate) use {log_options, plain_options};

/// All kinds, in the order of the documentation.
pub const KINDS: &[SampleKind] = &[
    kinds::cerebras::KIND,
    kinds::poptorch::KIND,
    kinds::graphcore_app::KIND,
    kinds::sambanova::KIND,
    kinds::groq::KIND,
    kinds::tqdm::KIND,
    kinds::hugging_face::KIND,
    kinds::gaudi::KIND,
    kinds::lightning::KIND,
    kinds::megatron::KIND,
    kinds::deepspeed::KIND,
    kinds::nanogpt::KIND,
    kinds::torchtitan::KIND,
    kinds::litgpt::KIND,
    kinds::mlperf::KIND,
    kinds::vllm_server::KIND,
    kinds::vllm_bench::KIND,
    kinds::sglang_bench::KIND,
    kinds::llama_cpp::KIND,
    kinds::llama_bench::KIND,
    kinds::usage::KIND,
    kinds::sacct::KIND,
    kinds::seff::KIND,
    kinds::squeue::KIND,
    kinds::slurm_oom::KIND,
    kinds::pbs::KIND,
    kinds::torchrun_failure::KIND,
    kinds::timing_arrays::KIND,
    kinds::prose::KIND,
    kinds::metrics::KIND,
    kinds::write_up::KIND,
];

/// The kind called `name`.
pub(crate) fn find(name: &str) -> Result<&'static SampleKind, SampleError> {
    KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| SampleError::unknown_kind(name))
}

/// What was chosen about a sample. Every value in it has been checked, so that asking for one cannot fail.
#[derive(Debug)]
pub(crate) struct Settings {
    kind: &'static SampleKind,
    given: BTreeMap<String, String>,
}

impl Settings {
    /// The choices in `given`, if `kind` knows them all. An empty value is the same as none.
    pub(crate) fn new(
        kind: &'static SampleKind,
        given: &BTreeMap<String, String>,
    ) -> Result<Self, SampleError> {
        for (name, value) in given {
            let choice = kind.options.iter().find(|choice| choice.name == name);
            let choice = choice.ok_or_else(|| SampleError::unknown_option(kind, name))?;
            if !value.is_empty() && !choice.values.take(value) {
                return Err(SampleError::bad_value(kind, choice, value));
            }
        }
        let given = given.iter().filter(|(_, value)| !value.is_empty());
        Ok(Self { kind, given: given.map(|(name, value)| (name.clone(), value.clone())).collect() })
    }

    /// Choices that this program makes itself, for the logs within a write-up.
    pub(crate) fn trusted(kind: &'static SampleKind, chosen: &[(&str, String)]) -> Self {
        Self { kind, given: chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect() }
    }

    /// The value of an option as a word; empty where nothing was said and there is no default.
    pub(crate) fn word(&self, name: &str) -> &str {
        let default = || {
            self.kind.options.iter().find(|choice| choice.name == name).map_or("", |choice| choice.default)
        };
        self.given.get(name).map_or_else(default, String::as_str)
    }

    /// The value of an option as an integer, where there is one.
    pub(crate) fn whole_if_given(&self, name: &str) -> Option<u64> {
        self.word(name).parse().ok()
    }

    /// The value of an option as a number, where there is one.
    pub(crate) fn number_if_given(&self, name: &str) -> Option<f64> {
        self.word(name).parse().ok()
    }

    /// The value of an option that has a default, as an integer.
    pub(crate) fn whole(&self, name: &str) -> u64 {
        self.whole_if_given(name).unwrap_or_default()
    }

    /// The value of an option that has a default, as a number.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.number_if_given(name).unwrap_or_default()
    }

    /// Whether an option is `true`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.word(name) == "true"
    }
}

/// One sample being written.
pub(crate) struct SampleJob<'a, 'out> {
    /// What was chosen.
    pub(crate) settings: &'a Settings,
    /// Where all variation comes from.
    pub(crate) random: Random,
    /// How many of the parts that make it grow, where the size decides; else the options do.
    pub(crate) units: Option<u64>,
    /// Where it goes.
    pub(crate) log: &'a mut Log<'out>,
}
