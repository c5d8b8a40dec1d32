//! `bench/audit`: how many planted errors the audit finds, and how often it cries wolf.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use assay_bench::figures::number;
use assay_bench::goal::{Bound, Goals};
use assay_bench::place::{Options, Place, heading};
use assay_bench::planted::document::{Document, Size, documents};
use assay_bench::planted::measured::Measured;
use assay_bench::planted::score::{Audited, Score, audit};
use clap::Parser;

/// Writes documents with planted errors from a real campaign, audits each, and counts what was found.
#[derive(Debug, Parser)]
#[command(name = "audit")]
struct Arguments {
    #[command(flatten)]
    common: Options,
    /// Keep documents whose audit missed something or gave a false alarm here, with what the audit printed.
    #[arg(long, value_name = "DIRECTORY")]
    keep: Option<PathBuf>,
    /// The seed of the documents.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
}

const FULL: Size = Size { singles: 20, pairs: 80, sound: 141 };
const QUICK: Size = Size { singles: 5, pairs: 35, sound: 47 };

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let place = Place::new(&arguments.common)?;
    println!("{}", heading("audit", &arguments.common, &place));
    let quick = arguments.common.quick;
    let measured = Measured::run(&place, quick)?;
    let runs: usize = measured.cells.iter().map(|cell| cell.rates.len()).sum();
    println!("a real campaign gave {runs} runs in {} cells", measured.cells.len());
    let documents = documents(&measured, if quick { QUICK } else { FULL }, arguments.seed)?;
    let began = Instant::now();
    let score = examine(&place, &documents, arguments.keep.as_deref())?;
    let each = began.elapsed().as_secs_f64() * 1e3 / documents.len().max(1) as f64;
    println!("{} documents, seed {}, {} ms an audit\n", documents.len(), arguments.seed, number(each));
    println!("{}", score.table());
    report(&score);
    let goals = goals(&score, documents.len(), quick);
    println!("{goals}");
    Ok(goals.exit())
}

fn examine(place: &Place, documents: &[Document], keep: Option<&Path>) -> anyhow::Result<Score> {
    let directory = place.fresh("audit")?;
    let mut score = Score::default();
    for document in documents {
        let audited = audit(place, &directory, document)?;
        let right = score.count(document, &audited);
        if let (Some(keep), false) = (keep, right) {
            kept(keep, document, &audited)?;
        }
    }
    Ok(score)
}

/// Writes a document and what its audit printed.
fn kept(directory: &Path, document: &Document, audited: &Audited) -> anyhow::Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join(&document.name), &document.text)?;
    let mut printed = audited.printed.clone();
    if let Some(failure) = &audited.failure {
        printed.push_str(failure);
        printed.push('\n');
    }
    fs::write(directory.join(format!("{}.audit.jsonl", document.name)), printed)?;
    Ok(())
}

fn report(score: &Score) {
    println!("sound documents with an alarm: {} of {}", score.alarms.hits, score.alarms.trials);
    if score.alarms.hits > 0 {
        println!("what was wrongly said of them: {}", score.alarm_classes());
    }
    for failure in score.failures.iter().take(8) {
        println!("failed: {failure}");
    }
    println!();
}

fn goals(score: &Score, documents: usize, quick: bool) -> Goals {
    let mut goals = Goals::default();
    let sound = score.alarms.trials;
    if !quick {
        goals.add("documents with planted errors", (documents - sound) as f64, "", Bound::AtLeast(500.0));
        goals.add("sound documents", sound as f64, "", Bound::AtLeast(120.0));
    }
    goals.add("planted errors found", score.overall().percent(), "%", Bound::AtLeast(95.0));
    let worst = score.worst();
    let name = worst.map_or("of the worst class", |(fault, _)| fault.name());
    goals.add(format!("fewest found, {name}"), worst.map(|(_, percent)| percent), "%", Bound::AtLeast(80.0));
    goals.add("sound documents with a false alarm", score.alarms.percent(), "%", Bound::Below(2.0));
    goals.add("audits that failed", score.failures.len() as f64, "", Bound::AtMost(0.0));
    goals
}
