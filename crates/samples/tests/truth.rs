//! The numbers in a sample hang together, and what tools print is there to the letter.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use std::collections::BTreeMap;

use assay_samples::write;

fn text(kind: &str, pairs: &[(&str, &str)], seed: u64) -> String {
    let options: BTreeMap<String, String> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut out = Vec::new();
    write(kind, &options, seed, None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The number after each occurrence of `before`.
fn numbers(text: &str, before: &str) -> Vec<f64> {
    let number = |rest: &str| {
        let end = rest
            .find(|letter: char| !letter.is_ascii_digit() && !".-e".contains(letter))
            .unwrap_or(rest.len());
        rest[..end].trim_end_matches('.').parse().unwrap()
    };
    text.match_indices(before).map(|(at, _)| number(text[at + before.len()..].trim_start())).collect()
}

fn number(text: &str, before: &str) -> f64 {
    let found = numbers(text, before);
    assert_eq!(found.len(), 1, "{before}: {found:?}");
    found[0]
}

fn near(left: f64, right: f64, share: f64) {
    assert!((left - right).abs() <= share * right.abs(), "{left} is not {right}");
}

/// Timestamps at the start of lines, as text that sorts like time.
fn stamps(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("20")).filter_map(|line| line.get(..23)).collect()
}

#[test]
fn key_strings_are_there_to_the_letter() {
    for (kind, options, keys) in [
        (
            "cerebras",
            &[][..],
            &[
                "INFO:   Effective batch size is 512.",
                "| Train Device=CSX, Step=100, Loss=",
                " samples/sec, GlobalRate=",
            ][..],
        ),
        (
            "cerebras",
            &[("release", "2.4")],
            &["Compile job id: wsjob-sample", "Poll ingress success:", "training sample(s) in "],
        ),
        (
            "cerebras",
            &[("release", "2.6")],
            &["Job id: wsjob-sample", "workflow id: wflow-", ", LoopTimeRemaining=", ", TimeRemaining="],
        ),
        (
            "cerebras",
            &[("release", "2.6"), ("eval", "true")],
            &["TimeRemaining>", "| Eval Device=CSX, GlobalStep=", "Avg Eval Loss: "],
        ),
        ("cerebras", &[("cache", "false")], &["Compiling kernels", "Compiling final image"]),
        (
            "cerebras",
            &[("fail", "pod")],
            &["replica(s) failed", "ApplianceUnknownError", "Processed 307200 sample(s) in "],
        ),
        ("cerebras", &[("fail", "nan")], &["Loss=nan", "ApplianceNanError"]),
        ("cerebras", &[("fail", "cancelled")], &["ClusterJobCancelledByCsctl"]),
        ("cerebras", &[("fail", "timeout")], &["ApplianceRuntimeJobTimeoutError"]),
        (
            "poptorch",
            &[],
            &[
                "srun: job ",
                "Epochs: 100%|██████████| 10/10 [",
                "| 0/150 [",
                "TrainingModelWithLoss(",
                "Accuracy on test set: ",
            ],
        ),
        ("poptorch", &[("batch-size", "16")], &["| 0/75 ["]),
        ("poptorch", &[("cached", "true")], &["Graph compilation: 100%|██████████| 100/100 [00:00<00:00]"]),
        ("poptorch", &[("fail", "no-ipu")], &["Failed to acquire 1 IPU(s)", "No IPU detected"]),
        ("poptorch", &[("fail", "oom")], &["poplar_stream_memory_allocation_error", "Out of memory"]),
        ("poptorch", &[("fail", "fabric")], &["Fabric error", "IPUoF Server unreachable"]),
        (
            "poptorch",
            &[("fail", "execve")],
            &["execve(): POPLAR_ENGINE_OPTIONS=", "No such file or directory"],
        ),
        ("poptorch", &[("glued", "true")], &["%██████| 100/100 [00:00<00:00]"]),
        ("poptorch", &[("declared-epochs", "14")], &["epochs = 14", "batch_size = 8"]),
        (
            "graphcore-app",
            &[("gc-monitor", "true")],
            &["Compiled/Loaded model in ", "Step: 149 / 149 - LR: ", "throughput: ", "1850MHz"],
        ),
        (
            "sambanova",
            &[],
            &[
                "Model:  BertLarge",
                "|step_loss:",
                "- info     - final_loss ",
                "'training_sequences_per_second': ",
            ],
        ),
        ("sambanova", &[("gate", "max")], &["Expected throughput to be at most "]),
        ("sambanova", &[("newer", "true")], &["Rank 0, PID "]),
        ("sambanova", &[("compile", "true")], &["COMPILE START AT 0", "COMPILE END AT 781", "Duration:"]),
        ("sambanova", &[("fail", "pef")], &[".pef does not exist, exiting"]),
        ("sambanova", &[("fail", "nodes")], &["Requested node configuration is not available"]),
        ("sambanova", &[("redirected", "true")], &["Using ", " for output"]),
        ("sambanova", &[("sntilestat", "true")], &["TILE                 %idle %exec %pload"]),
        (
            "groq",
            &[],
            &[
                "found in cache. Loading it!",
                "Info: No inputs received for benchmark.",
                "| Source | Accuracy |",
                "      --      ",
            ],
        ),
        ("groq", &[("rebuild", "true")], &["decided to rebuild", "Building \"bert_tiny\""]),
        ("lightning", &[], &["Epoch 0: ", "v_num=0, train_loss="]),
        (
            "megatron",
            &[("pairs", "true")],
            &["| consumed samples: ", "elapsed time per iteration (ms): ", "lm loss PPL: "],
        ),
        ("deepspeed", &[], &["RunningAvgSamplesPerSec=", "CurrSamplesPerSec=", "MaxMemAllocated="]),
        ("nanogpt", &[], &["iter 20: loss ", "mfu -100.00%", "step 2000: train loss "]),
        ("torchtitan", &[], &["step: 10  loss: ", "tps: 6,1", "mfu: "]),
        ("mlperf", &[("status", "aborted")], &["\"key\": \"run_stop\"", "{\"status\": \"aborted\"}"]),
        ("vllm-server", &[], &["Avg generation throughput: ", "GPU KV cache usage: ", "(compilation: "]),
        ("llama-bench", &[("commas", "true")], &["pp512", " ± ", " 1,0"]),
        ("slurm-oom", &[], &["Detected 1 oom_kill event"]),
        ("slurm-oom", &[("older", "true")], &["Detected 1 oom-kill event(s)"]),
        ("pbs", &[("fail", "walltime")], &["Exit_status = -29", "=>> PBS: job killed: walltime"]),
        (
            "torchrun-failure",
            &[],
            &["ChildFailedError", "Root Cause (first observed failure):", "exitcode  : 1"],
        ),
    ] {
        let sample = text(kind, options, 4);
        for key in keys {
            assert!(sample.contains(key), "{kind} {options:?}: {key}");
        }
    }
}

#[test]
fn cerebras_rates_times_and_counts_agree() {
    for (batch, rate) in [("512", 2924.5), ("1024", 4850.0), ("2048", 6728.0)] {
        for seed in 0..5 {
            let log = text("cerebras", &[("batch-size", batch)], seed);
            let last = log.lines().last().unwrap();
            let (samples, seconds) = (number(last, "Processed"), number(last, "sample(s) in"));
            assert_eq!(samples, 1000.0 * batch.parse::<f64>().unwrap());
            near(samples / seconds, *numbers(&log, "GlobalRate=").last().unwrap(), 1e-5);
            near(samples / seconds, rate, 0.02);
            assert!(
                numbers(&log, "Loss=")
                    .iter()
                    .all(|loss| ((loss * 128.0).round() / 128.0 - loss).abs() < 6e-6)
            );
        }
    }
}

#[test]
fn an_asked_rate_is_the_rate() {
    let log = text("cerebras", &[("rate", "100"), ("spread", "0"), ("log-every", "10")], 1);
    near(*numbers(&log, "GlobalRate=").last().unwrap(), 100.0, 0.002);
}

#[test]
fn time_stamps_increase() {
    for options in [
        &[][..],
        &[("release", "2.6"), ("eval", "true"), ("checkpoint", "200"), ("cache", "false")],
        &[("release", "2.4"), ("queue-s", "0"), ("compile-queue-s", "0")],
        &[("fail", "pod")],
    ] {
        let log = text("cerebras", options, 9);
        let stamps = stamps(&log);
        assert!(stamps.len() > 30);
        assert!(stamps.is_sorted(), "{options:?}");
    }
    let log = text("sambanova", &[], 9);
    let times: Vec<&str> =
        log.split(']').filter(|rest| rest.starts_with("20")).filter_map(|rest| rest.get(..23)).collect();
    assert_eq!(times.len(), 505);
    assert!(times.is_sorted());
    let log = text("deepspeed", &[], 9);
    let times: Vec<&str> = log.lines().filter_map(|line| line.get(1..24)).collect();
    assert!(times.is_sorted());
}

#[test]
fn the_queue_lasts_as_long_as_was_asked_for() {
    let log = text("cerebras", &[("queue-s", "3423")], 2);
    let at = |key: &str| {
        let line = log.lines().rfind(|line| line.contains(key)).unwrap();
        let parts: Vec<f64> = line[11..23].split([':', ',']).map(|part| part.parse().unwrap()).collect();
        parts[0] * 3600.0 + parts[1] * 60.0 + parts[2] + parts[3] / 1000.0
    };
    let waited = at("current job status: Scheduled") - at("execute job id:");
    assert!((waited.rem_euclid(86_400.0) - 3423.0).abs() < 0.5, "{waited}");
}

#[test]
fn a_later_release_counts_the_whole_fit() {
    let log = text("cerebras", &[("release", "2.6")], 6);
    let last = log.lines().last().unwrap();
    // 3423 s of queue and more lie within.
    assert!(number(last, "sample(s) in") > 3800.0);
    assert!(numbers(&log, "GlobalRate=").last().unwrap() > &2800.0);
}

#[test]
fn a_cut_log_ends_within_a_line() {
    let log = text("cerebras", &[("cut", "true")], 6);
    assert!(!log.ends_with('\n'));
    assert!(log.lines().last().unwrap().contains("Loss="));
    assert!(!log.contains("Processed"));
}

#[test]
fn poptorch_bars_tell_what_really_ran() {
    let log = text("poptorch", &[("epochs", "10"), ("declared-epochs", "50"), ("spread", "0")], 3);
    assert!(log.contains("epochs = 50") && log.contains("| 10/10 ["));
    assert!(log.contains("Accuracy on test set: 98.20%"));
    let plain = text("poptorch", &[], 3);
    let profiled = text("poptorch", &[("profiler", "true")], 3);
    let each = |log: &str| numbers(log, "/10 [01:").len() + numbers(log, "/10 [02:").len();
    assert_eq!((each(&plain), each(&profiled)), (1, 1));
    assert!(profiled.contains("/10 [02:") && profiled.contains("POPLAR_ENGINE_OPTIONS"));
}

#[test]
fn sambanova_sequences_are_tokens_and_scaling_is_as_published() {
    let rate = |tasks: &str| {
        let log = text("sambanova", &[("tasks", tasks), ("spread", "0")], 3);
        let rate = number(&log, "'training_samples_per_second':");
        near(number(&log, "'training_sequences_per_second':") / rate, 128.0, 1e-9);
        let samples = tasks.parse::<f64>().unwrap() * 256.0 * 505.0;
        near(rate * number(&log, "'e2e_train_time':"), samples, 1e-9);
        rate
    };
    let (four, eight, sixteen) = (rate("4"), rate("8"), rate("16"));
    near(four, 1191.7, 0.001);
    near(eight / four / 2.0, 0.985, 0.001);
    near(sixteen / four / 4.0, 0.966, 0.001);
}

#[test]
fn load_tests_and_trainers_agree_with_themselves() {
    for (kind, total) in [
        ("vllm-bench", "Total Token throughput (tok/s):"),
        ("sglang-bench", "Total token throughput (tok/s):"),
    ] {
        let log = text(kind, &[], 5);
        let seconds = number(&log, "Benchmark duration (s):");
        near(
            number(&log, "Request throughput (req/s):") * seconds,
            number(&log, "Successful requests:"),
            0.01,
        );
        near(
            number(&log, "Output token throughput (tok/s):") * seconds,
            number(&log, "Total generated tokens:"),
            0.01,
        );
        let tokens = number(&log, "Total input tokens:") + number(&log, "Total generated tokens:");
        near(number(&log, total) * seconds, tokens, 0.01);
    }
    let log = text("hugging-face", &[], 5);
    let seconds = number(&log, "'train_runtime':");
    near(number(&log, "'train_samples_per_second':") * seconds, 1000.0, 0.01);
    near(number(&log, "'train_steps_per_second':") * seconds, 125.0, 0.01);
    let log = text("llama-cpp", &[], 5);
    near(number(&log, "        eval time =") / 100.0, numbers(&log, "runs   (")[0], 0.01);
}

#[test]
fn json_is_json() {
    for line in text("usage", &[("failed", "2")], 1).lines() {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(usage) = answer.get("usage") {
            let count = |name: &str| usage[name].as_u64().unwrap();
            assert_eq!(count("prompt_tokens") + count("completion_tokens"), count("total_tokens"));
        }
    }
    for line in text("mlperf", &[], 1).lines() {
        let entry: serde_json::Value = serde_json::from_str(line.strip_prefix(":::MLLOG ").unwrap()).unwrap();
        assert!(entry["time_ms"].as_u64().unwrap() > 1_700_000_000_000);
    }
    for kind in ["sacct", "squeue"] {
        let all: serde_json::Value = serde_json::from_str(&text(kind, &[("format", "json")], 1)).unwrap();
        assert!(all["jobs"].as_array().unwrap().len() >= 3);
    }
}

#[test]
fn the_first_iteration_is_slow_without_warm_up() {
    let first = |warm: &str| numbers(&text("timing-arrays", &[("warmup", warm)], 1), "forward [")[0];
    near(first("true"), 139.6, 0.01);
    near(first("false"), 1759.0, 0.01);
}

#[test]
fn honest_write_ups_declare_what_ran_and_others_do_not() {
    for seed in 0..5 {
        let declared = |honest: &str| {
            let page = text("write-up", &[("part", "graphcore"), ("honest", honest)], seed);
            let declared: Vec<f64> =
                numbers(&page, "\nepochs =").iter().copied().filter(|epochs| *epochs != 10.0).collect();
            (page, declared)
        };
        let (page, epochs) = declared("true");
        assert!(epochs.iter().all(|epochs| page.contains(&format!("| {epochs}/{epochs} ["))));
        let (page, epochs) = declared("false");
        assert!(!epochs.is_empty());
        assert!(epochs.iter().all(|epochs| !page.contains(&format!("| {epochs}/{epochs} ["))));
        assert!(page.contains("the best model"));
    }
}

#[test]
fn write_ups_differ_in_order_and_numbers() {
    let headings = |seed: u64| -> Vec<String> {
        let page = text("write-up", &[], seed);
        page.lines().filter(|line| line.starts_with("## ")).map(str::to_owned).collect()
    };
    let orders: std::collections::BTreeSet<Vec<String>> = (0..8).map(headings).collect();
    assert!(orders.len() > 5);
    assert!(orders.iter().all(|order| order.len() == 7));
}

#[test]
fn parameter_counts_follow_from_the_shapes() {
    for honest in ["true", "false"] {
        let page = text("write-up", &[("part", "cs336"), ("honest", honest)], 1);
        for count in ["120.9M", "412.9M", "956.6M", "1.98B", "3.38B"] {
            assert!(page.contains(&format!("<td>{count}</td>")), "{count}");
        }
        assert_eq!(page.contains("msa</td>") && page.contains("<td>TBD</td>"), honest == "false");
    }
}
