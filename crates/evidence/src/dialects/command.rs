//! Command lines, at a shell prompt or alone: what was started, with which options.

use assay_model::Value as Setting;
use assay_model::names::setting;

use super::{Dialect, DialectReader, Shape, Taken};
use crate::facts::Facts;
use crate::line::Line;
use crate::user::setting_value;
use crate::writeup::vocabulary::setting_name;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "command",
    title: "Command lines",
    summary: "what was started, at a prompt or in a script, and the settings its options declare",
    needles: &[
        "srun ",
        "sbatch ",
        "python",
        "torchrun ",
        "mpirun ",
        "mpiexec ",
        "cszoo ",
        "qsub ",
        "vllm ",
        "poprun ",
        "RUN COMMAND",
    ],
    shapes: &[
        Shape {
            text: "(env) user@login-01:~/mnist$ srun --ipus=1 python mnist.py --batch-size 16 --epochs=4",
            reads: "declared devices, declared batch_size, declared epochs",
        },
        Shape {
            text: "user@login-01:~$ OPTIONS='{\"autoReport.all\":\"true\"}' srun --ipus=1 python mnist.py",
            reads: "declared devices, declared profiler",
        },
        Shape {
            text: "RUN COMMAND: srun --mpi=pmi2 python run.py run --ntasks 16 --steps_this_run 505",
            reads: "declared tasks, declared steps",
        },
    ],
    derived: &[],
    notes: &[
        "Options are understood by the same words as tables and prose: `--batch-size`, `--bs`, `--learning_rate`, …",
        "A command at a prompt begins a run.",
        "A profiler in the environment or before the program is a setting: such a run is not compared with plain ones.",
    ],
    reader: || Box::<CommandReader>::default(),
};

const LAUNCHERS: [&str; 12] = [
    "srun",
    "sbatch",
    "python",
    "python3",
    "torchrun",
    "mpirun",
    "mpiexec",
    "cszoo",
    "qsub",
    "vllm",
    "poprun",
    "accelerate",
];

/// Words that say that a profiler watches.
const PROFILERS: [&str; 7] =
    ["autoReport.", "PVTI_OPTIONS=", "nsys profile", "ncu ", "rocprof", "--profile", "torch.profiler"];

#[derive(Default)]
struct CommandReader;

impl DialectReader for CommandReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let Some(command) = command(line.text) else { return Taken::Nothing };
        facts.begin();
        if PROFILERS.iter().any(|key| command.contains(key)) {
            facts.declare(setting::PROFILER, Setting::Switch(true), "command line");
        }
        options(command, facts);
        Taken::Part
    }
}

/// The command on a line: after a prompt, after `RUN COMMAND:`, or the whole line if it begins with a launcher.
fn command(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some((_, rest)) = text.split_once("RUN COMMAND:") {
        return Some(rest.trim());
    }
    let alone = text;
    let prompted = text.split_once("$ ").filter(|(prompt, _)| is_prompt(prompt)).map(|(_, rest)| rest.trim());
    let command = prompted.unwrap_or(alone);
    // Variables may stand before the program: `A=1 B='x y' srun …`.
    let program = programs(command).next()?;
    let name = program.rsplit('/').next().unwrap_or_default();
    let launches = LAUNCHERS.contains(&name);
    let sentence = prompted.is_none() && command.ends_with(['.', ':', '?']);
    (launches && !sentence && command.contains(' ')).then_some(command)
}

fn is_prompt(text: &str) -> bool {
    text.is_empty() || (text.len() < 200 && text.contains(['@', '~', '[', '(']) && !text.ends_with(' '))
}

/// The words of a command that are not assignments.
fn programs(command: &str) -> impl Iterator<Item = &str> {
    words(command).into_iter().filter(|word| {
        !word.split_once('=').is_some_and(|(name, _)| {
            !name.starts_with('-')
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        })
    })
}

/// Splits at blanks outside quotes.
fn words(command: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut quote, mut from) = (None, 0);
    for (place, letter) in command.char_indices() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ' ' | '\t') => {
                found.extend(command.get(from..place).filter(|word| !word.is_empty()));
                from = place + 1;
            }
            _ => {}
        }
    }
    found.extend(command.get(from..).filter(|word| !word.is_empty()));
    found
}

/// Declares the options whose names are settings.
fn options(command: &str, facts: &mut Facts<'_>) {
    let words = words(command);
    for (index, word) in words.iter().enumerate() {
        let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else { continue };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, words.get(index + 1).copied().filter(|next| !next.starts_with('-'))),
        };
        let (Some(name), Some(value)) = (option_name(name), value) else { continue };
        if value.starts_with(|first: char| first.is_ascii_digit()) || name == setting::MODEL {
            facts.declare(name, setting_value(value), "command line");
        }
    }
}

fn option_name(name: &str) -> Option<&'static str> {
    match name {
        "ipus" | "num_csx" | "gpus" | "num-gpus" | "nproc_per_node" | "nproc-per-node" => {
            Some(setting::DEVICES)
        }
        "n" | "np" | "ntasks" => Some(setting::TASKS),
        "ntasks-per-node" | "ppn" => Some(setting::TASKS_PER_NODE),
        "N" | "nodes" | "nnodes" => Some(setting::NODES),
        "b" => Some(setting::BATCH_SIZE),
        "steps_this_run" | "max_steps" | "max-steps" => Some(setting::STEPS),
        "gres" | "output" | "c" | "m" | "t" | "time" | "mpi" => None,
        name => setting_name(&name.replace(['-', '_'], " ")),
    }
}
