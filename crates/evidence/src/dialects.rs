//! The registry of log dialects. A dialect is one way of writing logs; each has one file under `dialects/`, which
//! shows its line shapes at the top. The shapes are examples, documentation and tests in one: `docs/dialects/` is made
//! from them, and a test feeds every one of them to its reader and looks for what it promises.

pub mod cerebras;
pub mod command;
pub mod deepspeed;
pub mod gaudi;
pub mod graphcore_application;
pub mod groq;
pub mod hugging_face;
pub mod lightning;
pub mod litgpt;
pub mod llama_bench;
pub mod llama_cpp;
pub mod megatron;
pub mod metrics;
pub mod mlperf;
pub mod nanogpt;
pub mod own;
pub mod page;
pub mod pbs;
pub mod poptorch;
pub mod python;
pub mod sambanova;
mod serving;
pub mod sglang_bench;
pub mod slurm;
pub mod slurm_accounting;
pub mod timers;
pub mod torchrun;
pub mod torchtitan;
pub mod tqdm;
pub mod usage;
pub mod vllm_bench;
pub mod vllm_server;

use crate::facts::Facts;
use crate::line::Line;

/// One way of writing logs.
pub struct Dialect {
    /// Its name, as campaigns and platforms use it.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// One line on what it reads.
    pub summary: &'static str,
    /// A line is shown to the reader only if it holds one of these.
    pub needles: &'static [&'static str],
    /// The line shapes.
    pub shapes: &'static [Shape],
    /// What follows from what is read, a sentence each.
    pub derived: &'static [&'static str],
    /// What else people should know, a sentence each.
    pub notes: &'static [&'static str],
    /// Makes a reader for one file.
    pub reader: fn() -> Box<dyn DialectReader>,
}

/// A line, or a few lines that belong together, and what is read from it.
pub struct Shape {
    /// The text.
    pub text: &'static str,
    /// What is read, by name: metrics, `setting NAME`, `phase NAME`, `status WORD`, `hint`, separated by commas. Empty
    /// for lines that only lead on.
    pub reads: &'static str,
}

/// How much of a line a reader took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Nothing.
    Nothing,
    /// Something; other readers may find more.
    Part,
    /// All of it: no other reader need look.
    Whole,
}

/// Reads the lines of one dialect.
pub trait DialectReader: Send {
    /// Takes a line that holds one of the dialect's needles.
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken;

    /// Takes a line that has exactly the shape of the one that was taken whole before, digits aside. This is how long
    /// logs are read fast: a line that is taken here is shown to nobody else, so a reader must be sure.
    fn again(&mut self, _line: Line<'_>, _facts: &mut Facts<'_>) -> bool {
        false
    }

    /// A block ended: whatever spans several lines ends here.
    fn end(&mut self, _facts: &mut Facts<'_>) {}
}

/// All built-in dialects, in the order in which they are believed when two find the same metric.
pub const DIALECTS: &[&Dialect] = &[
    &own::DIALECT,
    &cerebras::DIALECT,
    &command::DIALECT,
    &slurm::DIALECT,
    &sambanova::DIALECT,
    &groq::DIALECT,
    &graphcore_application::DIALECT,
    &poptorch::DIALECT,
    &mlperf::DIALECT,
    &megatron::DIALECT,
    &deepspeed::DIALECT,
    &torchtitan::DIALECT,
    &litgpt::DIALECT,
    &nanogpt::DIALECT,
    &hugging_face::DIALECT,
    &gaudi::DIALECT,
    &lightning::DIALECT,
    &torchrun::DIALECT,
    &python::DIALECT,
    &slurm_accounting::DIALECT,
    &pbs::DIALECT,
    &sglang_bench::DIALECT,
    &vllm_bench::DIALECT,
    &vllm_server::DIALECT,
    &llama_bench::DIALECT,
    &llama_cpp::DIALECT,
    &timers::DIALECT,
    &usage::DIALECT,
    &tqdm::DIALECT,
    &metrics::DIALECT,
];

/// The built-in dialect of a name.
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    let all = DIALECTS.iter().copied().chain([&crate::generic::DIALECT]);
    all.into_iter().find(|dialect| dialect.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needles::is_plain;
    use crate::{DocumentReader, Keep, Pattern, Readers};
    use assay_model::{ReadRun, Standing, Status, Unit};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What a dialect reads. A last line is evidence of a run, since settings alone are none.
    fn runs(dialect: &str, text: &str) -> Vec<ReadRun> {
        let evidence = Pattern::new("evidence", "evidence: (1)", Unit::One, 1.0, Keep::Last, None).unwrap();
        let mut reader = DocumentReader::new(&Readers::new(dialect, &[evidence], &[]).unwrap(), "shape.log");
        reader.feed(text.as_bytes());
        reader.feed(b"\nevidence: 1");
        reader.finish().runs
    }

    /// All that was read, in the words of [`Shape::reads`].
    fn words(runs: &[ReadRun]) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for run in runs {
            words.extend(run.observations.iter().map(|o| o.metric.clone()));
            words.extend(run.series.iter().map(|series| series.metric.clone()));
            words.extend(run.phases.iter().map(|phase| format!("phase {}", phase.name)));
            words.extend(run.settings.iter().map(|fact| {
                let standing = if fact.standing == Standing::Declared { "declared" } else { "setting" };
                format!("{standing} {}", fact.name)
            }));
            if run.status != Status::Unknown {
                words.insert(format!("status {}", run.status.word()));
            }
            if !run.hints.is_empty() {
                words.insert("hint".to_owned());
            }
        }
        words
    }

    #[test]
    fn every_shape_gives_what_it_promises() {
        let mut wrong = Vec::new();
        for dialect in DIALECTS {
            assert!(!dialect.shapes.is_empty(), "{} shows no shapes", dialect.name);
            for shape in dialect.shapes {
                let promised: BTreeSet<String> =
                    shape.reads.split(", ").filter(|word| !word.is_empty()).map(str::to_owned).collect();
                let mut found = words(&runs(dialect.name, shape.text));
                found.remove("evidence");
                // What follows for every dialect alike need not be promised by each.
                for always in [
                    "loss.final",
                    "duration.job",
                    "samples_per_s.job",
                    "duration.queue",
                    "duration.compile",
                    "duration.loop",
                ] {
                    if !promised.contains(always) {
                        found.remove(always);
                    }
                }
                if found != promised {
                    wrong.push(format!(
                        "{}: {}\n  gives {found:?}\n  not {promised:?}",
                        dialect.name, shape.text
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn shapes_are_found_among_all_dialects_and_are_never_taken_for_plain_words() {
        for dialect in DIALECTS {
            for shape in dialect.shapes.iter().filter(|shape| !shape.reads.is_empty()) {
                let found = runs("auto", shape.text);
                assert!(
                    found.iter().any(|run| run.dialects.iter().any(|name| name == dialect.name)),
                    "{}: {} was read as {:?}",
                    dialect.name,
                    shape.text,
                    found.iter().map(|run| &run.dialects).collect::<Vec<_>>()
                );
                let first = shape.text.lines().next().unwrap_or_default();
                assert!(!is_plain(first.as_bytes()), "{}: {first}", dialect.name);
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
        assert_eq!(names.len(), DIALECTS.len());
    }

    static ALL: std::sync::LazyLock<Readers> = std::sync::LazyLock::new(|| Readers::all(&[]));

    /// A shape with bytes changed, dropped and doubled.
    fn mangled() -> impl Strategy<Value = Vec<u8>> {
        let shapes: Vec<&'static str> =
            DIALECTS.iter().flat_map(|dialect| dialect.shapes).map(|shape| shape.text).collect();
        let edit = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
        (prop::collection::vec(prop::sample::select(shapes), 1..4), prop::collection::vec(edit, 0..6))
            .prop_map(|(shapes, edits)| {
                let mut bytes = shapes.join("\n").into_bytes();
                for (place, byte, kind) in edits {
                    if bytes.is_empty() {
                        break;
                    }
                    let place = place.index(bytes.len());
                    match kind {
                        0 => bytes[place] = byte,
                        1 => drop(bytes.remove(place)),
                        2 => bytes.truncate(place),
                        _ => bytes.insert(place, byte),
                    }
                }
                bytes
            })
    }

    proptest! {
        #[test]
        fn mangled_shapes_never_panic_and_give_finite_numbers(bytes in mangled(), cut in any::<prop::sample::Index>()) {
            let mut reader = DocumentReader::new(&ALL, "mangled.log");
            let cut = cut.index(bytes.len() + 1);
            reader.feed(&bytes[..cut]);
            reader.feed(&bytes[cut..]);
            let document = reader.finish();
            for run in &document.runs {
                prop_assert!(run.observations.iter().all(|o| o.value.is_finite()));
                prop_assert!(run.series.iter().all(|series| series.values.iter().all(|value| value.is_finite())));
            }
        }
    }
}
