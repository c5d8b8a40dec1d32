//! The rules that lead from words to canonical names. The first rule that holds decides, so special ones come first.

use assay_model::{Scope, Statistic, Unit, names};

use super::phrase::Phrase;

type Named = (&'static str, Option<Scope>);

/// The canonical name and scope for a phrase over numbers in a unit.
pub(super) fn name(phrase: &Phrase, unit: Option<&Unit>) -> Option<Named> {
    resource(phrase)
        .or_else(|| quality(phrase))
        .or_else(|| ratio(phrase))
        .or_else(|| latency(phrase))
        .or_else(|| rate(phrase, unit))
        .or_else(|| pass(phrase))
        .or_else(|| count(phrase, unit))
        .or_else(|| duration(phrase, unit))
}

fn plain(name: &'static str) -> Option<Named> {
    Some((name, None))
}

fn resource(phrase: &Phrase) -> Option<Named> {
    if phrase.any(&["memory", "vram", "rss", "hbm"])
        && !phrase.any(&["utilization", "utilization", "util", "bandwidth"])
    {
        let peak =
            phrase.any(&["peak", "largest", "allocated"]) || phrase.statistic == Some(Statistic::Maximum);
        return plain(if peak { names::MEMORY_PEAK } else { names::MEMORY });
    }
    if phrase.any(&["mfu"]) || phrase.all(&["model", "flop", "utilization"]) {
        return plain(names::MFU);
    }
    if phrase.any(&["kv", "cache"]) && phrase.any(&["usage", "use", "utilization"]) {
        return plain(names::CACHE_USE);
    }
    if phrase.any(&["utilization", "utilization", "util"]) {
        return plain(names::UTILIZATION);
    }
    if phrase.any(&["tflop", "flop", "tflops", "flops", "gflop", "gflops", "pflops"])
        && !phrase.any(&["total"])
    {
        return plain(names::FLOPS_PER_S);
    }
    if phrase.any(&["power", "watt"]) {
        return plain(names::POWER);
    }
    if phrase.any(&["temperature", "temp"]) && !phrase.any(&["sampling"]) {
        return plain(names::TEMPERATURE);
    }
    if phrase.any(&["energy", "joule"]) {
        return plain(names::ENERGY);
    }
    None
}

fn quality(phrase: &Phrase) -> Option<Named> {
    if phrase.any(&["loss"]) {
        return plain(if phrase.any(&["eval", "validation", "val", "test", "heldout"]) {
            names::LOSS_EVAL
        } else if phrase.any(&["final", "last", "end"]) {
            names::LOSS_FINAL
        } else if phrase.statistic == Some(Statistic::Mean) {
            names::LOSS_MEAN
        } else {
            names::LOSS_TRAIN
        });
    }
    if phrase.any(&["accuracy", "acc"]) || phrase.all(&["top", "1"]) {
        // The canonical accuracy is one on held-out data.
        return plain(if phrase.any(&["train", "training"]) { names::QUALITY } else { names::ACCURACY });
    }
    if phrase.any(&["perplexity", "ppl"]) {
        return plain(names::PERPLEXITY);
    }
    if phrase.any(&["success", "successful"]) && !phrase.any(&["request"]) {
        return plain(names::SUCCESS);
    }
    if phrase.any(&[
        "f1",
        "bleu",
        "rouge",
        "spearman",
        "pearson",
        "auc",
        "auroc",
        "mcc",
        "score",
        "recall",
        "precision",
    ]) && phrase.words.len() <= 3
        && phrase.words.as_slice() != ["precision"]
    {
        return plain(names::QUALITY);
    }
    if phrase.all(&["gradient", "norm"]) || phrase.all(&["grad", "norm"]) {
        return plain(names::GRADIENT_NORM);
    }
    None
}

fn ratio(phrase: &Phrase) -> Option<Named> {
    if phrase.any(&["speedup"]) || phrase.all(&["speed", "up"]) || phrase.all(&["scaling", "factor"]) {
        return plain(names::SPEEDUP);
    }
    phrase.any(&["efficiency"]).then_some((names::EFFICIENCY, None))
}

fn latency(phrase: &Phrase) -> Option<Named> {
    if phrase.any(&["ttft"]) || phrase.all(&["first", "token"]) {
        return plain(names::TTFT);
    }
    if phrase.any(&["tpot"]) || phrase.all(&["per", "token"]) && phrase.any(&["time", "latency"]) {
        return plain(names::TPOT);
    }
    if phrase.any(&["itl"]) || phrase.all(&["inter", "token"]) {
        return plain(names::ITL);
    }
    if phrase.any(&["latency", "e2el"]) || phrase.all(&["response", "time"]) {
        return plain(if phrase.prediction { names::LATENCY_ESTIMATED } else { names::E2E });
    }
    None
}

fn rate(phrase: &Phrase, unit: Option<&Unit>) -> Option<Named> {
    let named = phrase.any(&["rate", "throughput", "speed", "ips", "tps", "qps", "rps", "globalrate"]);
    match unit {
        // The rate of one device of several is not comparable with that of all.
        Some(Unit::PerSecond(thing)) if phrase.per_device && thing != "FLOP" => None,
        Some(Unit::PerSecond(thing)) => match thing.as_str() {
            "samples" | "images" | "sequences" => Some(samples(phrase)),
            "tokens" => Some(tokens(phrase)),
            "requests" => plain(names::REQUEST_THROUGHPUT),
            "inferences" if phrase.prediction => plain(names::INFERENCES_PER_S_ESTIMATED),
            "inferences" => plain(names::INFERENCES_PER_S),
            "steps" => plain(names::STEPS_PER_S),
            "iterations" => plain(names::ITERATIONS_PER_S),
            "FLOP" => plain(names::FLOPS_PER_S),
            "B" => plain(names::BYTES_PER_S),
            _ => None,
        },
        None | Some(Unit::One)
            if named && !phrase.any(&["learning", "error", "dropout", "success", "sampling"]) =>
        {
            if phrase.any(&["token"]) { Some(tokens(phrase)) } else { Some(samples(phrase)) }
        }
        // A factor shows how many times a rate is another one.
        Some(Unit::Other(_)) if named && !phrase.any(&["learning", "success"]) => {
            if phrase.any(&["token"]) {
                Some(tokens(phrase))
            } else {
                Some(samples(phrase))
            }
        }
        _ => None,
    }
}

fn samples(phrase: &Phrase) -> Named {
    if phrase.any(&["global", "globalrate", "loop"]) {
        return (names::SAMPLES_PER_S_LOOP, Some(Scope::Loop));
    }
    if phrase.any(&["instant", "instantaneous", "current"]) {
        return (names::SAMPLES_PER_S_INSTANT, Some(Scope::Instant));
    }
    // A script that prints `training samples per second` divides by the time of its loop.
    if phrase.any(&["train", "training"]) && phrase.any(&["sample", "image", "sequence"]) {
        return (names::SAMPLES_PER_S_LOOP, Some(Scope::Loop));
    }
    if phrase.statistic == Some(Statistic::Mean) && phrase.any(&["rate"]) {
        return (names::SAMPLES_PER_S_INSTANT, Some(Scope::Instant));
    }
    (names::SAMPLES_PER_S, None)
}

fn tokens(phrase: &Phrase) -> Named {
    let name = if phrase.any(&["output", "generation", "generated", "decode", "completion"]) {
        names::OUTPUT_THROUGHPUT
    } else if phrase.any(&["prompt", "prefill", "input"]) {
        names::PROMPT_THROUGHPUT
    } else if phrase.any(&["total", "combined"]) {
        names::TOTAL_TOKEN_THROUGHPUT
    } else if phrase.any(&["train", "training"]) {
        names::TOKENS_PER_S
    } else {
        names::TOKENS_PER_S_UNNAMED
    };
    (name, None)
}

fn pass(phrase: &Phrase) -> Option<Named> {
    let forward = phrase.any(&["forward", "fwd"]);
    let backward = phrase.any(&["backward", "bwd", "back"]);
    if phrase.any(&["fwdbwd"]) || forward && backward {
        return plain(names::TIME_FORWARD_BACKWARD);
    }
    if forward {
        return plain(names::TIME_FORWARD);
    }
    if backward {
        return plain(names::TIMING);
    }
    if phrase.any(&["step", "iteration", "iter"])
        && phrase.any(&["time", "per", "full"])
        && !phrase.any(&["epoch"])
    {
        return plain(if phrase.any(&["full"]) { names::TIME_STEP } else { names::STEP_S });
    }
    None
}

fn count(phrase: &Phrase, unit: Option<&Unit>) -> Option<Named> {
    let is_time = matches!(unit, Some(Unit::Seconds)) || phrase.any(&["time"]);
    if is_time {
        return None;
    }
    let counted =
        phrase.words.last().is_some_and(|word| !["noise", "distance", "norm"].contains(&word.as_str()));
    if phrase.any(&["parameter", "param", "nparam"]) && !phrase.any(&["name", "value"]) && counted {
        return plain(names::PARAMETERS);
    }
    if phrase.any(&["token"]) {
        return tokens_counted(phrase);
    }
    if phrase.any(&["length", "len"]) || phrase.any(&["response", "answer"]) && phrase.any(&["size"]) {
        return length(phrase);
    }
    if phrase.any(&["failed", "error", "failure"]) && phrase.any(&["request", "call"]) {
        return plain(names::REQUESTS_FAILED);
    }
    if phrase.all(&["successful", "request"]) {
        return plain(names::REQUESTS);
    }
    let counts_samples = phrase.any(&["sample", "image", "example"])
        && phrase.words.iter().all(|word| SAMPLE_WORDS.contains(&word.as_str()));
    if counts_samples {
        return plain(names::SAMPLES);
    }
    None
}

/// Words around a count of samples; others make the phrase mean something else.
const SAMPLE_WORDS: [&str; 15] = [
    "number",
    "num",
    "n",
    "of",
    "sample",
    "image",
    "example",
    "processed",
    "total",
    "training",
    "train",
    "consumed",
    "seen",
    "the",
    "count",
];

fn tokens_counted(phrase: &Phrase) -> Option<Named> {
    if phrase.any(&["max", "new", "per", "limit"]) {
        return None;
    }
    plain(if phrase.any(&["reasoning", "thinking"]) {
        names::TOKENS_REASONING
    } else if phrase.any(&["prompt", "input"]) {
        names::TOKENS_PROMPT
    } else if phrase.any(&["response", "answer"]) {
        names::TOKENS_RESPONSE
    } else if phrase.any(&["output", "completion", "generated", "generation"]) {
        names::TOKENS_OUTPUT
    } else if phrase.any(&["total"]) {
        names::TOKENS_TOTAL
    } else {
        names::TOKENS
    })
}

/// Lengths of what goes into a model and comes out of it are counted in tokens, unless the phrase says otherwise.
fn length(phrase: &Phrase) -> Option<Named> {
    let other =
        ["max", "limit", "context", "sequence", "seq", "character", "char", "word", "queue", "vector"];
    if phrase.any(&other) || phrase.statistic == Some(Statistic::Maximum) {
        return None;
    }
    if phrase.any(&["response", "answer"]) {
        plain(names::TOKENS_RESPONSE)
    } else if phrase.any(&["prompt", "input"]) {
        plain(names::TOKENS_PROMPT)
    } else if phrase.any(&["output", "completion", "generation", "generated"]) {
        plain(names::TOKENS_OUTPUT)
    } else {
        None
    }
}

fn duration(phrase: &Phrase, unit: Option<&Unit>) -> Option<Named> {
    let in_seconds = matches!(unit, Some(Unit::Seconds));
    let timed = phrase.any(&["time", "duration", "runtime", "walltime", "elapsed", "wall", "wait"]);
    if !in_seconds && !timed {
        return None;
    }
    if phrase.any(&["remaining", "limit", "timeout", "stamp", "zone"]) {
        return None;
    }
    if phrase.any(&["compile", "compilation", "build", "compiling"]) {
        return plain(names::DURATION_COMPILE);
    }
    if phrase.any(&["queue", "queued", "queueing", "wait", "waiting"]) {
        return plain(names::DURATION_QUEUE);
    }
    if phrase.any(&["loop"]) {
        return Some((names::DURATION_LOOP, Some(Scope::Loop)));
    }
    if phrase.any(&["fit"]) {
        return Some((names::DURATION_FIT, Some(Scope::Fit)));
    }
    if phrase.any(&["job"]) {
        return Some((names::DURATION_JOB, Some(Scope::Job)));
    }
    if phrase.any(&["script"]) {
        return plain(names::DURATION_SCRIPT);
    }
    if phrase.all(&["per", "epoch"]) {
        return plain(names::EPOCH_S);
    }
    if phrase.any(&["per", "epoch"]) || phrase.any(&["timing"]) {
        return plain(names::TIMING);
    }
    let spans = [
        "processing",
        "total",
        "training",
        "train",
        "run",
        "end",
        "execution",
        "test",
        "inference",
        "second",
        "minute",
        "hour",
    ];
    plain(if timed || phrase.any(&spans) { names::DURATION_REPORTED } else { names::TIMING })
}
