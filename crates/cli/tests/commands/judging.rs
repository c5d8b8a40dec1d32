//! What is said of numbers: where they are noise, which laws they keep, how often to repeat what, and what is unknown.

use crate::bench::Bench;

/// A table that was read, stored and shown.
fn shown(name: &str, text: &str) -> String {
    let bench = Bench::new().file(name, text);
    let stored = bench.run(&["read", name, "--into", "theirs"]);
    assert!(stored.contains("exit code 0"), "{stored}");
    flat(&bench.run(&["show", "theirs", "--all"]))
}

/// Text without line breaks, so that sentences can be looked for.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
}

#[test]
fn accuracies_without_repeats_are_noise_and_it_is_said_how_many_would_tell() {
    let table = "# Trials\n\n## Graphcore\n\n| Batch Size | Epochs | Test Accuracy |\n|---|---|---|\n| 8 | 10 | 97.91% |\n\
                 | 16 | 10 | 97.42% |\n| 32 | 10 | 98.51% |\n| 8 | 20 | 98.64% |\n| 8 | 40 | 97.83% |\n";
    let text = shown("trials.md", table);
    has(
        &text,
        &[
            "? too few runs to compare",
            "The cells are not ranked by accuracy: 1 run per cell cannot separate a difference from noise",
            "if no setting made a difference, it would be the standard deviation of the 5 cells",
            "to find a difference of 0.30 points in four of five cases takes about",
        ],
    );
    assert!(!text.contains("may be the best") && !text.contains("worse"), "{text}");
}

#[test]
fn rates_over_tasks_and_batch_sizes_give_laws_with_their_limits() {
    let tasks = "| ntasks | Samples per Second |\n|---|---|\n| 4 | 1000 |\n| 8 | 1960 |\n| 16 | 3800 |\n";
    has(
        &shown("tasks.md", tasks),
        &["from 4 to 16 tasks at 95.0 % efficiency, without an interval: too few runs"],
    );
    // One run of each size: the law is a condition, and its parameters have no interval.
    let once = "batch_size,samples_per_s\n500,2903\n1000,4737\n2000,6923\n";
    has(
        &shown("once.csv", once),
        &[
            "if rate(b) = b / (t₀ + b/r∞) holds: every step costs",
            "no interval",
            "there are no repeats to test it",
        ],
    );
    // Repeats that agree to a thousandth show that the middle size is off the curve.
    let seven = "batch_size,samples_per_s\n500,2900\n500,2903\n500,2906\n1000,4500\n1000,4504\n2000,6920\n2000,6926\n";
    let text = shown("seven.csv", seven);
    has(&text, &["does not describe the 7 runs: repeats reject it (F(1, 4) =", "must not be used"]);
    assert!(!text.contains("approaches"), "{text}");
}

#[test]
fn what_has_no_ratio_is_unknown_and_more_runs_are_not_asked_for() {
    let rows = |a: [f64; 6], b: [f64; 6]| {
        let line = |size: u32, value: &f64| format!("{size},{value}\n");
        let lines = a.iter().map(|value| line(8, value)).chain(b.iter().map(|value| line(16, value)));
        format!("batch_size,samples_per_s\n{}", lines.collect::<String>())
    };
    let below = shown(
        "below.csv",
        &rows([-1.0, -1.1, -1.2, -1.3, -1.05, -1.15], [-1.4, -1.5, -1.45, -1.6, -1.55, -1.35]),
    );
    for text in [below, shown("zero.csv", &rows([0.0; 6], [0.0; 6]))] {
        has(&text, &["unknown, because ratios need values above zero", "some values are not above zero"]);
        assert!(!text.contains("too few runs") && !text.contains("4 or more are needed"), "{text}");
    }
    let equal = shown("equal.csv", &rows([5.0; 6], [5.0; 6]));
    has(&equal, &["5.000 – 5.000", "="]);
}

#[test]
fn nothing_is_not_stored() {
    let bench = Bench::new().file("empty.csv", "batch_size,samples_per_s\n8,\n16,\n");
    let refused = bench.run(&["read", "empty.csv", "--into", "theirs"]);
    has(&refused, &["exit code 2", "no run was found", "hint:"]);
    assert!(!bench.path("theirs").exists());
}

#[test]
fn jobs_that_differ_in_their_number_alone_are_repeats() {
    let bench = Bench::new();
    for job in ["1001", "1002"] {
        let log = format!(
            "srun: job {job} queued and waiting for resources\nsrun: job {job} has been allocated resources\n\
                           batch_size: 8\nEpoch 1: loss 0.5 accuracy 97.{job}%\n"
        );
        std::fs::write(bench.path(&format!("{job}.log")), log).unwrap();
    }
    let stored = bench.run(&["read", "1001.log", "1002.log", "--into", "theirs"]);
    assert!(stored.contains("stored 2 runs"), "{stored}");
    let counted = bench.run(&["query", "select count(*) as n from cell", "theirs", "--json"]);
    assert!(counted.contains("\"n\":1"), "{counted}");
}

/// Runs whose iterations differ little, and which differ from each other.
const ITERATIONS: &str = r#"
name = "nested"
[workload]
command = "for i in 0 1 2 3 4 5 6 7 8 9; do echo step=$((20000 + {repeat} * 37 % 100 * 20 + i % 3 * 10)) ns {group}; done"
[vary]
group = [1, 2]
[repeats]
at_least = 6
at_most = 6
precision = "2%"
[read]
headline = "step"
[[read.pattern]]
metric = "step"
regex = "step=([0-9]+)"
unit = "ns"
keep = "series"
"#;

#[test]
fn iterations_are_one_value_a_run_and_the_level_to_repeat_is_named_for_the_precision() {
    let bench = Bench::new().file("nested.toml", ITERATIONS);
    let text = flat(&bench.run(&["run", "nested.toml", "--quiet"]));
    // Six runs, not sixty iterations.
    has(&text, &["step (lower is better)", " 6 ", "of the variance of step lies between runs"]);
    has(&text, &["repeat runs, not iterations: ± 2 % takes", "of 1 iteration at the least cost, about"]);
    // A report has the findings that the terminal has.
    for file in ["report.md", "report.html", "report.tex"] {
        bench.run(&["show", "nested", "-o", file]);
        let report = std::fs::read_to_string(bench.path(file)).unwrap();
        assert!(flat(&report).contains("of the variance of step lies between runs"), "{file}");
    }
}

#[test]
fn a_precision_that_is_not_reached_names_cells_repeats_and_time() {
    let campaign = r#"
name = "precise"
[workload]
command = "echo speed=$((1000 + {repeat} * {noise} % 101)) samples/s"
[vary]
noise = [0, 37]
[repeats]
precision = "0.5%"
at_least = 7
at_most = 9
[read]
headline = "speed"
[[read.metric]]
name = "speed"
unit = "samples/s"
"#;
    let bench = Bench::new().file("precise.toml", campaign);
    let text = flat(&bench.run(&["run", "precise.toml", "--quiet"]));
    has(
        &text,
        &["exit code 5", "1 of 2 cells need more at this spread: noise=37 about", "more runs in all, about"],
    );
    let again = bench.run(&["run", "precise.toml", "--quiet"]);
    assert!(again.contains("exit code 5"), "{again}");
}

#[test]
fn a_history_is_in_the_order_in_which_its_records_were_made() {
    let bench = Bench::new();
    // A pattern such as `n*` gives them by name.
    for (record, speed) in [("n1", 100), ("n2", 100), ("n10", 80)] {
        let command = format!("echo speed={speed}");
        let given = ["bench", "--record", record, "-r", "4", "-n", "x", "-m", "speed", "--better", "higher"];
        bench.run(&[&given[..], &[&command]].concat());
    }
    let text = flat(&bench.run(&["compare", "n1", "n10", "n2"]));
    assert!(text.contains("n10 vs the 2 records before it"), "{text}");
    // The change has the interval of the two records' runs.
    assert!(text.contains("-20.0 % (-20.0 – -20.0)"), "{text}");
}

#[test]
fn a_single_run_neither_meets_nor_fails_a_gate() {
    let campaign = r#"
name = "gated"
[workload]
command = "echo speed=100"
[repeats]
at_least = 1
[read]
headline = "speed"
[[read.metric]]
name = "speed"
unit = "samples/s"
[[gate]]
metric = "speed"
min = 50
"#;
    let bench = Bench::new().file("gated.toml", campaign);
    let text = flat(&bench.run(&["run", "gated.toml", "--quiet"]));
    has(&text, &["exit code 5", "undecided: a single run has no interval"]);
}
