//! `bench/audit`: how many planted errors and changed numbers the audit finds, how often it cries wolf, and its cost.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use assay_bench::figures::number;
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::place::{BenchOptions, Place, heading};
use assay_bench::planted::document::{Document, Size, documents};
use assay_bench::planted::measured::Measured;
use assay_bench::planted::score::{Audited, Score, SuccessShare, audit};
use assay_bench::written::alarms::alarms;
use assay_bench::written::mutants::{self, Mutants, Workshop};
use assay_bench::written::score::Score as WrittenScore;
use assay_bench::written::{speed, truth};
use assay_random::Random;
use clap::Parser;

/// Audits write-ups with known truth, mutants of them, documents written from a real campaign, and long tables.
#[derive(Debug, Parser)]
#[command(name = "audit")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
    /// Keep documents whose audit missed something or gave a false alarm here, with what the audit printed.
    #[arg(long, value_name = "DIRECTORY")]
    keep: Option<PathBuf>,
    /// List what was missed, what was wrongly said and which mutants were not noticed.
    #[arg(long)]
    list: bool,
    /// The seed of the documents and mutants.
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
    let mut goals = Goals::default();
    written(&place, &arguments, &mut goals)?;
    self_planted(&place, &arguments, &mut goals)?;
    speed(&place, quick, &mut goals)?;
    println!("{goals}");
    Ok(goals.exit())
}

/// Write-ups with known truth, and mutants of them. Those that rules are not fitted to are counted apart.
fn written(place: &Place, arguments: &Arguments, goals: &mut Goals) -> anyhow::Result<()> {
    let fixtures = truth::fixtures();
    let cases = truth::cases(&fixtures)?;
    let directory = place.fresh("written")?;
    let workshop = Workshop { directory, fixtures };
    let mut random = Random::stream(arguments.seed, "mutants");
    for held_out in [false, true] {
        let mut score = WrittenScore::default();
        let mut mutants = Mutants::default();
        for case in cases.iter().filter(|case| case.is_held_out() == held_out) {
            let found = alarms(place, &workshop.write(case, &case.text)?)?;
            score.count(case, &found);
            mutants::examine(place, &workshop, case, &mut random, &mut mutants)?;
        }
        let name = if held_out { "held-out write-ups" } else { "write-ups" };
        println!("{}", written_text(name, &score, &mutants));
        if arguments.list {
            score.notes.iter().chain(&mutants.notes).for_each(|note| println!("  {note}"));
        }
        println!();
        written_goals(name, &score, &mutants, goals);
    }
    Ok(())
}

fn written_text(name: &str, score: &WrittenScore, mutants: &Mutants) -> String {
    let shares = |all: &BTreeMap<String, SuccessShare>| {
        let each = all.iter().map(|(name, share)| format!("{name} {}/{}", share.hits, share.trials));
        each.collect::<Vec<String>>().join(", ")
    };
    format!(
        "{} {name}: {} of {} planted errors found ({}); {} of {} sound ones with a false alarm; {} alarms elsewhere \
         that match nothing; {} of {} true claims flagged\n\
         mutants noticed: prose {} of {} ({}), table cells {} of {}",
        score.documents,
        score.found.hits,
        score.found.trials,
        shares(&score.kinds),
        score.flagged.hits,
        score.flagged.trials,
        score.unmatched,
        score.true_flagged,
        score.true_claims,
        mutants.prose.hits,
        mutants.prose.trials,
        shares(&mutants.formats),
        mutants.cells.hits,
        mutants.cells.trials
    )
}

fn written_goals(name: &str, score: &WrittenScore, mutants: &Mutants, goals: &mut Goals) {
    let mut add = |what: &str, value: Option<f64>, unit: &'static str, bound: GoalBound| {
        goals.add(format!("{name}, {what}"), value, unit, bound);
    };
    add("sound ones flagged", score.flagged.percent(), "%", GoalBound::AtMost(5.0));
    add("true claims contradicted", Some(score.true_contradicted as f64), "", GoalBound::AtMost(0.0));
    let unmatched = score.unmatched as f64 / score.documents.max(1) as f64;
    add("unmatched alarms a document", Some(unmatched), "", GoalBound::AtMost(0.2));
    add("changed cells noticed", mutants.cells.percent(), "%", GoalBound::AtLeast(80.0));
    add("changed prose noticed", mutants.prose.percent(), "%", GoalBound::AtLeast(50.0));
    add("planted errors found", score.found.percent(), "%", GoalBound::AtLeast(45.0));
}

/// Documents that this bench writes itself from a real campaign.
fn self_planted(place: &Place, arguments: &Arguments, goals: &mut Goals) -> anyhow::Result<()> {
    let quick = arguments.common.quick;
    let measured = Measured::run(place, quick)?;
    let runs: usize = measured.cells.iter().map(|cell| cell.rates.len()).sum();
    println!("self-planted: a real campaign gave {runs} runs in {} cells", measured.cells.len());
    let documents = documents(&measured, if quick { QUICK } else { FULL }, arguments.seed)?;
    let began = Instant::now();
    let score = examine(place, &documents, arguments.keep.as_deref())?;
    let each = began.elapsed().as_secs_f64() * 1e3 / documents.len().max(1) as f64;
    println!("{} documents, seed {}, {} ms an audit\n", documents.len(), arguments.seed, number(each));
    println!("{}", score.table());
    report(&score);
    self_planted_goals(&score, documents.len(), quick, goals);
    Ok(())
}

/// What long tables and a write-up of a hundred lines cost.
fn speed(place: &Place, quick: bool, goals: &mut Goals) -> anyhow::Result<()> {
    let directory = place.fresh("speed")?;
    let (table, long, prose) =
        (directory.join("table.csv"), directory.join("long.csv"), directory.join("write-up.md"));
    speed::write_table(&table, 4772, 1)?;
    speed::write_table(&long, if quick { 20_000 } else { 100_000 }, 2)?;
    speed::write_up(&prose, 3)?;
    let found = alarms(place, &table)?.len();
    goals.add("alarms on 4,772 rows whose rates forget the batch", found as f64, "", GoalBound::AtLeast(1.0));
    let seconds = speed::cpu_seconds(place, &table)?;
    goals.add("audit of 4,772 rows", seconds, "CPU s", GoalBound::Below(0.3));
    let (name, most) = if quick { ("audit of 20,000 rows", 1.0) } else { ("audit of 100,000 rows", 5.0) };
    goals.add(name, speed::cpu_seconds(place, &long)?, "CPU s", GoalBound::Below(most));
    let milliseconds = speed::cpu_seconds(place, &prose)? * 1e3;
    goals.add("audit of a write-up of 100 lines", milliseconds, "CPU ms", GoalBound::Below(10.0));
    Ok(())
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

fn self_planted_goals(score: &Score, documents: usize, quick: bool, goals: &mut Goals) {
    let sound = score.alarms.trials;
    if !quick {
        goals.add(
            "self-planted, documents with errors",
            (documents - sound) as f64,
            "",
            GoalBound::AtLeast(500.0),
        );
        goals.add("self-planted, sound documents", sound as f64, "", GoalBound::AtLeast(120.0));
    }
    goals.add("self-planted, errors found", score.overall().percent(), "%", GoalBound::AtLeast(95.0));
    let worst = score.worst();
    let name = worst.map_or("of the worst class", |(fault, _)| fault.name());
    goals.add(
        format!("self-planted, fewest found: {name}"),
        worst.map(|(_, percent)| percent),
        "%",
        GoalBound::AtLeast(80.0),
    );
    goals.add(
        "self-planted, sound ones with a false alarm",
        score.alarms.percent(),
        "%",
        GoalBound::Below(2.0),
    );
    goals.add("self-planted, audits that failed", score.failures.len() as f64, "", GoalBound::AtMost(0.0));
}
