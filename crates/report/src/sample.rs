//! Documents and audits for tests.

use assay_audit::{Audit, Class, Finding, Level, RepeatGroup};
use assay_model::{
    Document, Failure, Hint, KnownBy, Observation, Origin, Phase, Quantity, ReadRun, Role, Scope, Series,
    SettingFact, Source, Span, Standing, Statement, Status, Table, TableCell, TableRow, Unit, Value,
};

pub const FILE: &str = "notes/batch-study.md";

pub fn at(line: u64) -> Source {
    Source::new(FILE, line)
}

pub fn span(first: u64, last: u64) -> Span {
    Span::new(FILE, first, last)
}

pub fn setting(name: &str, value: impl Into<Value>, standing: Standing, by: &str, line: u64) -> SettingFact {
    SettingFact {
        name: name.into(),
        value: value.into(),
        standing,
        by: by.into(),
        arithmetic: None,
        source: at(line),
    }
}

pub fn phase(name: &str, start_s: f64, seconds: f64, line: u64) -> Phase {
    Phase {
        name: name.into(),
        start_s: Some(start_s),
        end_s: Some(start_s + seconds),
        seconds: Some(seconds),
        known_by: KnownBy::Timestamp,
        source: at(line),
    }
}

fn metric(name: &str, value: f64, unit: &str, line: u64) -> Observation {
    let mut observation = Observation::new(name, value, Unit::parse(unit).0, Origin::Reported);
    observation.source = Some(at(line));
    observation
}

/// Loss and rate per step.
fn courses(batch: i64, rate: f64, first: u64) -> Vec<Series> {
    let losses =
        [9.390_62, 8.703_12, 7.796_88, 7.390_62, 7.804_69, 7.531_25, 7.351_56, 7.273_44, 7.359_38, 7.125];
    vec![
        Series {
            metric: "loss.train".into(),
            values: losses.iter().map(|loss| loss + (batch as f64 - 512.0) / 8000.0).collect(),
            seen: 10,
            steps: (1..=10).map(|step| f64::from(step) * 100.0).collect(),
            at_s: (1..=10).map(|step| 3992.9 + f64::from(step) * 17.5).collect(),
            source: Some(at(first + 38)),
            ..Series::default()
        },
        Series {
            metric: "samples_per_s.instant".into(),
            unit: Unit::PerSecond("samples".into()),
            values: (0..10).map(|step| rate + f64::from((step * 7) % 5) * 12.0).collect(),
            seen: 10,
            steps: (1..=10).map(|step| f64::from(step) * 100.0).collect(),
            source: Some(at(first + 38)),
            ..Series::default()
        },
    ]
}

/// A run that waited twenty times as long as it trained.
pub fn queued_run(batch: i64, first: u64) -> ReadRun {
    let rate = 2924.54 * batch as f64 / 512.0;
    let mut global = metric("samples_per_s.loop", rate, "samples/s", first + 40);
    global.scope = Some(Scope::Loop);
    global.count = Some(512_000.0);
    global.seconds = Some(175.070_497_198);
    let mut job = metric("duration.job", 4240.575, "s", first);
    job.origin = Origin::Derived;
    job.scope = Some(Scope::Job);
    ReadRun {
        version: 1,
        span: span(first, first + 50),
        dialects: vec!["cerebras".into()],
        platform: Some("cerebras".into()),
        status: Status::Succeeded,
        status_source: Some(at(first + 49)),
        settings: vec![
            setting("batch_size", batch, Standing::Declared, "prose", first.saturating_sub(2)),
            setting("batch_size", batch, Standing::Observed, "log", first + 1),
            setting("devices", 1, Standing::Observed, "log", first + 20),
        ],
        phases: vec![
            phase("checkpoint", 1.3, 27.3, first + 4),
            phase("queue", 44.9, 210.1, first + 13),
            phase("schedule", 255.0, 50.1, first + 14),
            phase("compile", 305.1, 4.0, first + 18),
            phase("queue", 311.6, 3423.2, first + 24),
            phase("schedule", 3734.8, 50.1, first + 28),
            phase("stage", 3785.0, 207.9, first + 31),
            phase("train", 3992.9, 175.2, first + 38),
            phase("checkpoint", 4168.1, 35.3, first + 48),
            phase("teardown", 4203.4, 37.1, first + 49),
        ],
        observations: vec![
            global,
            metric("loss.final", 7.125, "", first + 47),
            metric("samples", 512_000.0, "samples", first + 50),
            job,
        ],
        series: courses(batch, rate, first),
        ..ReadRun::default()
    }
}

/// A run whose edited settings never took effect.
pub fn edited_run(declared: i64, accuracy: f64, first: u64) -> ReadRun {
    let mut batch = setting("batch_size", 8, Standing::Observed, "arithmetic", first + 4);
    batch.arithmetic = Some("60000 / (50 × 150) = 8".into());
    ReadRun {
        version: 1,
        span: span(first, first + 20),
        title: Some("With more epochs".into()),
        dialects: vec!["poptorch".into(), "tqdm".into()],
        platform: Some("graphcore".into()),
        status: Status::Unknown,
        settings: vec![
            setting("epochs", declared, Standing::Declared, "prose", first - 6),
            setting("epochs", 10, Standing::Observed, "progress bar", first + 3),
            setting("batch_size", 16, Standing::Declared, "prose", first - 4),
            batch,
        ],
        phases: vec![
            Phase {
                start_s: None,
                end_s: None,
                known_by: KnownBy::Bar,
                ..phase("compile", 0.0, 22.0, first + 2)
            },
            Phase {
                start_s: None,
                end_s: None,
                known_by: KnownBy::Bar,
                ..phase("train", 0.0, 87.9, first + 3)
            },
        ],
        observations: vec![metric("accuracy", accuracy, "%", first + 20)],
        ..ReadRun::default()
    }
}

/// A run that failed, with a hint.
pub fn failed_run(first: u64) -> ReadRun {
    ReadRun {
        version: 1,
        span: span(first, first + 9),
        dialects: vec!["slurm".into()],
        status: Status::Failed { failure: Failure::Exit { code: 2 } },
        status_source: Some(at(first + 9)),
        hints: vec![Hint {
            seen: "execve(): OPTIONS=…: No such file or directory".into(),
            advice: "put the variable before srun, or pass it with --export".into(),
            source: at(first + 8),
        }],
        ..ReadRun::default()
    }
}

/// A run of a table's row with a prediction in it.
pub fn row_run(label: &str, line: u64) -> ReadRun {
    let mut predicted = metric("inferences_per_s.estimated", 37_576.72, "inferences/s", line);
    predicted.origin = Origin::Prediction;
    ReadRun {
        version: 1,
        span: span(line, line),
        title: Some(label.into()),
        dialects: vec!["table".into()],
        platform: Some("groq".into()),
        status: Status::GateFailed { reason: "throughput of at least 560000.0 was asked for".into() },
        status_source: Some(at(line)),
        observations: vec![metric("e2e", 0.000_05, "s", line), predicted],
        ..ReadRun::default()
    }
}

pub fn document() -> Document {
    Document {
        file: FILE.into(),
        text: String::new(),
        lines: 412,
        runs: vec![
            queued_run(512, 8),
            queued_run(2048, 90),
            edited_run(50, 0.9872, 160),
            failed_run(200),
            row_run("chip", 230),
        ],
        tables: vec![Table {
            span: span(226, 231),
            headings: vec!["Results".into()],
            columns: vec![
                assay_model::Column { header: "Source".into(), role: Role::Label },
                assay_model::Column {
                    header: "end-to-end latency (ms)".into(),
                    role: Role::Metric("e2e".into()),
                },
            ],
            rows: vec![TableRow {
                line: 230,
                cells: vec![TableCell {
                    text: "0.05msa".into(),
                    line: 230,
                    problem: Some("letters behind the unit".into()),
                    ..TableCell::default()
                }],
                ..TableRow::default()
            }],
            ..Table::default()
        }],
        statements: vec![Statement {
            text: "Going from 512 to 2048 took the time from 175 seconds to 304 seconds.".into(),
            span: span(150, 150),
            quantities: vec![Quantity {
                value: 175.0,
                to: None,
                unit: Unit::Seconds,
                text: "175 seconds".into(),
                name: None,
            }],
            ..Statement::default()
        }],
        ..Document::default()
    }
}

fn finding(
    class: Class,
    level: Level,
    summary: &str,
    arithmetic: &[&str],
    lines: &[u64],
    advice: &str,
) -> Finding {
    Finding {
        class,
        level,
        operands: Vec::new(),
        summary: summary.into(),
        arithmetic: arithmetic.iter().map(|line| (*line).to_owned()).collect(),
        sources: lines.iter().map(|line| at(*line)).collect(),
        advice: advice.into(),
    }
}

pub fn audit() -> Audit {
    Audit {
        findings: vec![
            finding(
                Class::SettingNotApplied,
                Level::Contradicted,
                "50 epochs were declared, 10 were run; batch size 16 was declared, 8 was in effect",
                &["progress bar: 10/10", "60000 / (50 × 150) = 8"],
                &[154, 163, 164, 156, 170],
                "pass the values on the command line: `--epochs 50`, and look for them in the first lines of the log",
            ),
            finding(
                Class::WaitingInside,
                Level::Doubtful,
                "training is 4.1 % of the 4240.6 s that the log spans; queueing is 85.7 %",
                &[
                    "175.2 / 4240.6 = 4.1 %",
                    "512000 / 4240.6 = 120.7 samples/s, against 2924.5 over the loop",
                ],
                &[8, 58],
                "report the loop rate, and the waiting apart from it",
            ),
            finding(
                Class::TokenCount,
                Level::NotChecked,
                "which tokens the 326 are is unknown: answers have 37–179 characters",
                &[],
                &[301],
                "keep prompt, completion and reasoning tokens of each request",
            ),
            finding(
                Class::Scaling,
                Level::Supported,
                "the rate grows with the tasks: efficiency 98.5 % at 8 and 96.6 % at 16",
                &["2348.6 / (2 × 1191.7) = 98.5 %", "4605.5 / (4 × 1191.7) = 96.6 %"],
                &[310, 311, 312],
                "",
            ),
        ],
        groups: vec![
            RepeatGroup {
                label: "graphcore, batch_size 8, epochs 10".into(),
                metric: "accuracy".into(),
                unit: Unit::Fraction,
                values: [0.9713, 0.9858, 0.9843, 0.9813, 0.9872]
                    .iter()
                    .map(|value| (*value, at(180)))
                    .collect(),
            },
            RepeatGroup {
                label: "cerebras, batch_size 512, 512000 samples".into(),
                metric: "duration.loop".into(),
                unit: Unit::Seconds,
                values: [175.070, 175.797, 174.285].iter().map(|value| (*value, at(58))).collect(),
            },
        ],
    }
}
