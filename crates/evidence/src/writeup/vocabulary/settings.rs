//! Names of settings.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use assay_model::names::setting;

use super::words::words;

/// How people call each setting. Words such as `number of` in front are dropped before a phrase is looked up.
const PHRASES: &[(&str, &[&str])] = &[
    (
        setting::BATCH_SIZE,
        &[
            "batch size",
            "batchsize",
            "bs",
            "batch",
            "global batch size",
            "global batch",
            "gbs",
            "effective batch size",
            "train batch size",
            "training batch size",
            "mini batch size",
            "minibatch size",
            "minibatch",
        ],
    ),
    (
        setting::MICRO_BATCH_SIZE,
        &[
            "micro batch size",
            "microbatch size",
            "micro batch",
            "microbatch",
            "mbs",
            "local batch size",
            "device batch size",
            "per device batch size",
            "per device train batch size",
            "per gpu batch size",
            "batch size per device",
            "batch size per gpu",
        ],
    ),
    (
        setting::TEST_BATCH_SIZE,
        &[
            "test batch size",
            "eval batch size",
            "evaluation batch size",
            "validation batch size",
            "val batch size",
            "per device eval batch size",
        ],
    ),
    (setting::EPOCHS, &["epochs", "training epochs", "train epochs", "max epochs"]),
    (
        setting::STEPS,
        &[
            "steps",
            "training steps",
            "train steps",
            "max steps",
            "optimizer steps",
            "optimiser steps",
            "iterations",
            "training iterations",
            "max iterations",
            "iters",
            "max iters",
            "train iters",
        ],
    ),
    (setting::STEPS_PER_EPOCH, &["steps per epoch", "iterations per epoch", "batches per epoch"]),
    (
        setting::LEARNING_RATE,
        &[
            "learning rate",
            "learningrate",
            "lr",
            "base lr",
            "initial learning rate",
            "max lr",
            "peak lr",
            "peak learning rate",
        ],
    ),
    (
        setting::TASKS,
        &[
            "tasks",
            "ntasks",
            "mpi tasks",
            "ranks",
            "mpi ranks",
            "processes",
            "nprocs",
            "procs",
            "workers",
            "world size",
        ],
    ),
    (
        setting::TASKS_PER_NODE,
        &[
            "tasks per node",
            "ntasks per node",
            "ranks per node",
            "processes per node",
            "nproc per node",
            "ppn",
        ],
    ),
    (setting::NODES, &["nodes", "nnodes", "compute nodes", "hosts"]),
    (
        setting::DEVICES,
        &[
            "devices",
            "gpus",
            "ipus",
            "rdus",
            "hpus",
            "tpus",
            "xpus",
            "accelerators",
            "chips",
            "cards",
            "csx",
            "ngpus",
            "gpu count",
            "device count",
            "replicas",
        ],
    ),
    (
        setting::DEVICE,
        &["device type", "hardware", "backend", "processor", "device name", "gpu type", "accelerator type"],
    ),
    (
        setting::SEQUENCE_LENGTH,
        &[
            "sequence length",
            "seq length",
            "seq len",
            "seqlen",
            "max sequence length",
            "max seq length",
            "max seq len",
            "msl",
            "context length",
            "context size",
            "context window",
            "context",
            "ctx",
            "ctx size",
            "ctx len",
            "block size",
        ],
    ),
    (setting::MODEL, &["model", "model name", "model size", "size", "network", "architecture", "arch"]),
    (
        setting::CONCURRENCY,
        &[
            "concurrency",
            "max concurrency",
            "concurrent requests",
            "concurrent users",
            "concurrent streams",
            "parallel requests",
            "streams",
            "clients",
            "users",
        ],
    ),
    (setting::THREADS, &["threads", "cpu threads", "omp threads", "nthreads"]),
    (setting::SEED, &["seed", "random seed"]),
    (setting::PRECISION, &["precision", "dtype", "data type", "numeric precision"]),
    (setting::WARMUP, &["warmup", "warm up", "warmup iterations", "warmup runs"]),
    (setting::PROFILER, &["profiler", "profiling"]),
    (setting::COMPILE_CACHE, &["compile cache", "cache hit", "cached"]),
    (
        setting::D_MODEL,
        &[
            "d model",
            "dmodel",
            "hidden size",
            "hidden dim",
            "hidden dimension",
            "embedding dim",
            "embedding size",
            "model dim",
            "embd",
            "emb dim",
        ],
    ),
    (
        setting::D_FF,
        &[
            "d ff",
            "dff",
            "d ffn",
            "ffn dim",
            "ffn size",
            "ffn hidden size",
            "intermediate size",
            "feed forward size",
            "feedforward dim",
            "mlp dim",
        ],
    ),
    (setting::LAYERS, &["layers", "hidden layers", "transformer layers", "nlayers"]),
    (setting::HEADS, &["heads", "attention heads", "nheads"]),
    (setting::VOCABULARY, &["vocab size", "vocabulary size", "vocab", "vocabulary"]),
    (setting::REQUESTS, &["requests", "prompts", "questions", "queries"]),
    (setting::CLASSES, &["classes", "labels"]),
];

/// Words that say "how many" and nothing else.
const FILLERS: [&str; 9] = ["number", "num", "n", "no", "nr", "of", "the", "total", "count"];

static DICTIONARY: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let phrases = PHRASES.iter().flat_map(|(name, phrases)| phrases.iter().map(|phrase| (*name, *phrase)));
    phrases.map(|(name, phrase)| (words(phrase).join(" "), name)).collect()
});

/// The canonical name of the setting that a phrase names, if the whole phrase names one.
pub fn setting_name(text: &str) -> Option<&'static str> {
    if text.len() > 60 {
        return None;
    }
    of_words(&words(text))
}

/// All words that stand in names of settings.
static KNOWN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let named = DICTIONARY.keys().flat_map(|phrase| phrase.split(' '));
    named.chain(FILLERS).collect()
});

/// As [`setting_name`], for a phrase that is already cut into words.
pub fn of_words<Word: Borrow<str>>(words: &[Word]) -> Option<&'static str> {
    // One word that no setting has is enough to know; most phrases of prose have one.
    if !words.iter().all(|word| KNOWN.contains(word.borrow())) {
        return None;
    }
    if let Some(name) = DICTIONARY.get(words.join(" ").as_str()) {
        return Some(name);
    }
    let start = words.iter().position(|word| !FILLERS.contains(&word.borrow()))?;
    let end = words.iter().rposition(|word| !FILLERS.contains(&word.borrow()))?;
    let kept = words.get(start..=end)?;
    DICTIONARY.get(kept.join(" ").as_str()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn many_names_for_one_setting() {
        for (text, name) in [
            ("Batch Size", setting::BATCH_SIZE),
            ("bs", setting::BATCH_SIZE),
            ("batch_size", setting::BATCH_SIZE),
            ("test_batch_size", setting::TEST_BATCH_SIZE),
            ("N Epochs", setting::EPOCHS),
            ("number epochs", setting::EPOCHS),
            ("number of epochs", setting::EPOCHS),
            ("ntasks", setting::TASKS),
            ("ntask", setting::TASKS),
            ("--ntasks-per-node", setting::TASKS_PER_NODE),
            ("Tasks", setting::TASKS),
            ("lr", setting::LEARNING_RATE),
            ("learningRate", setting::LEARNING_RATE),
            ("d_model", setting::D_MODEL),
            ("d_ff", setting::D_FF),
            ("num_layers", setting::LAYERS),
            ("num_heads", setting::HEADS),
            ("Size", setting::MODEL),
            ("ctx", setting::SEQUENCE_LENGTH),
            ("# of GPUs", setting::DEVICES),
            ("IPUs", setting::DEVICES),
            ("max_concurrency", setting::CONCURRENCY),
        ] {
            assert_eq!(setting_name(text), Some(name), "{text}");
        }
        for text in ["", "number of", "loss", "samples", "Test Accuracy", "size of the effect"] {
            assert_eq!(setting_name(text), None, "{text}");
        }
    }

    #[test]
    fn no_phrase_names_two_settings() {
        assert_eq!(DICTIONARY.len(), PHRASES.iter().map(|(_, phrases)| phrases.len()).sum::<usize>());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".*") {
            let _ = setting_name(&text);
        }
    }
}
