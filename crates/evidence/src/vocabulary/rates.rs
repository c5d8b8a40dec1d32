//! Rates: what flows, and what the rate of it is called.

use super::PrintedUnit;
use super::phrases::Remaining;

/// What has a rate over time although no unit says so: `token rate`.
pub(super) const FLOWS: [&str; 16] = [
    "token",
    "sample",
    "image",
    "frame",
    "request",
    "record",
    "sequence",
    "event",
    "message",
    "iteration",
    "step",
    "data",
    "transfer",
    "processing",
    "generation",
    "training",
];

/// The rate that words name: `document per second`.
pub(super) fn rate_in_words(spoken: &[String]) -> Option<PrintedUnit> {
    let [thing, per, second] = spoken else { return None };
    let is_rate = per == "per" && matches!(second.as_str(), "second" | "sec" | "s");
    is_rate.then(|| PrintedUnit::parse(&format!("{}s/s", thing.trim_end_matches('s')))).flatten()
}

/// The metric of a rate, by what is counted and which part of the work it is.
pub(super) fn rate_name(thing: &str, noun: &[String], rest: &mut Remaining) -> String {
    // `eval rate` of a model server is the rate of generating, not that of a validation.
    if thing == "tokens" {
        rest.split = None;
    }
    let mut take = |listed: &[&str]| {
        let before = rest.qualifiers.len();
        rest.qualifiers.retain(|word| !listed.contains(&word.as_str()));
        before != rest.qualifiers.len() || noun.iter().any(|word| listed.contains(&word.as_str()))
    };
    let name = match thing {
        "samples" | "images" | "sequences" => "samples_per_s",
        "tokens" if take(&["prefill", "prompt", "input", "pp"]) => "prompt_throughput",
        "tokens"
            if take(&[
                "decode",
                "generation",
                "output",
                "gen",
                "generated",
                "decoding",
                "tg",
                "completion",
            ]) =>
        {
            "output_throughput"
        }
        "tokens" => "tokens_per_s",
        "requests" => "request_throughput",
        "inferences" => "inferences_per_s",
        "steps" | "batches" => "steps_per_s",
        "iterations" => "iterations_per_s",
        "FLOP" => "flops_per_s",
        "B" => {
            // The bandwidth of an algorithm and that of the bus it runs over.
            rest.qualifiers.extend(match noun {
                [word] if word == "busbw" => Some("bus".to_owned()),
                [word] if word == "algbw" => Some("algorithm".to_owned()),
                _ => None,
            });
            return "bytes_per_s".to_owned();
        }
        _ => "",
    };
    take(&["token", "sample", "image", "request", "sequence", "step", "second", "sec", "s"]);
    if name.is_empty() { format!("{}_per_s", thing.replace(' ', "_")) } else { name.to_owned() }
}
