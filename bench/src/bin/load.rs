//! `bench/load`: load clients on one core against a calibration endpoint on another.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::ExitCode;

use assay_bench::figures::{MedianAndRange, number};
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::load::alone::{Pace, busy, many, pace, requests, starts};
use assay_bench::load::client::{Client, ClientWork};
use assay_bench::load::contest::{LoadCase, contest};
use assay_bench::place::{BenchOptions, Place, heading};
use clap::Parser;

/// Measures the load client beside others. ASSAY_BENCH_VENV names the Python environment that has the rivals.
#[derive(Debug, Parser)]
#[command(name = "load")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
    /// Measure these parts only: each takes a few minutes at most, so that a shared machine need not be kept for all of it.
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<LoadPart>,
}

/// The parts of this bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LoadPart {
    /// 64 streams of 500 tokens per second each, beside the rivals.
    Paced,
    /// As fast as the endpoint can, beside the rivals.
    Instant,
    /// Exactness while other work takes most of the core.
    Busy,
    /// 2,000 and 10,000 streams.
    Streams,
    /// Pace of an open loop, and start.
    Pace,
    /// Memory of many requests.
    Requests,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let quick = arguments.common.quick;
    let place = Place::new(&arguments.common)?;
    println!("{}", heading("load", &arguments.common, &place));
    anyhow::ensure!(
        std::thread::available_parallelism().map_or(1, usize::from) >= 2,
        "this bench needs two cores: one for the endpoint, one for the client"
    );
    let mut goals = Goals::default();
    type Measure = fn(bool, &Place, &mut Goals) -> anyhow::Result<()>;
    let parts: [(LoadPart, Measure); 6] = [
        (LoadPart::Paced, paced),
        (LoadPart::Instant, instant),
        (LoadPart::Busy, beside_other_work),
        (LoadPart::Streams, many_streams),
        (LoadPart::Pace, paced_open),
        (LoadPart::Requests, many_requests),
    ];
    for (part, measure) in parts {
        if arguments.only.is_empty() || arguments.only.contains(&part) {
            measure(quick, &place, &mut goals)?;
        }
    }
    println!("{goals}");
    Ok(goals.exit())
}

/// 64 streams of 500 tokens per second each.
fn paced(quick: bool, place: &Place, goals: &mut Goals) -> anyhow::Result<()> {
    let (rounds, requests, of_others) = if quick { (1, 640, 64) } else { (3, 3200, 640) };
    let case = LoadCase {
        title: "64 streams, a token every 2 ms in each, spread over the gap; TTFT 20 ms",
        endpoint: &["--ttft", "20ms", "--itl", "2ms", "--tokens", "100", "--spread"],
        work: ClientWork { streams: 64, requests, tokens: 100 },
        others: ClientWork { streams: 64, requests: of_others, tokens: 100 },
        // Spread phases make the first token half a gap later on average.
        ideal: Some(64.0 / (0.020 + 0.001 + 99.0 * 0.002)),
    };
    let outcome = contest(case, rounds, place)?;
    println!("{}", outcome.text());
    let cpu = outcome.cpu_per_million(Client::Assay).map(|spread| spread.median);
    goals.add("CPU for a million tokens, 64 x 500 tokens/s", cpu, "s", GoalBound::AtMost(7.0));
    Ok(())
}

/// As fast as the endpoint can, one event a write.
fn instant(quick: bool, place: &Place, goals: &mut Goals) -> anyhow::Result<()> {
    let (rounds, requests, of_others) = if quick { (1, 256, 64) } else { (3, 1280, 64) };
    let case = LoadCase {
        title: "64 streams, as fast as the endpoint can, one event a write",
        endpoint: &["--instant", "--tokens", "1000"],
        work: ClientWork { streams: 64, requests, tokens: 1000 },
        others: ClientWork { streams: 64, requests: of_others, tokens: 1000 },
        ideal: None,
    };
    let outcome = contest(case, rounds, place)?;
    println!("{}", outcome.text());
    let rate = outcome.tokens_per_cpu_s(Client::Assay).map(|spread| spread.median);
    goals.add("events a client CPU second, endless endpoint", rate, "", GoalBound::AtLeast(350_000.0));
    Ok(())
}

/// Exactness while other work takes most of the core.
fn beside_other_work(quick: bool, place: &Place, goals: &mut Goals) -> anyhow::Result<()> {
    let seconds = if quick { 3 } else { 20 };
    for gap in [20, 2] {
        let errors = busy(place, gap, seconds)?;
        let merged = errors.merged.map_or("–".to_owned(), |share| number(share * 100.0));
        println!(
            "client core 90 % busy with other work, a token every {gap} ms: TTFT off by {} ms (p50) and {} ms \
             (p99), {merged} % of stamps merged",
            number(errors.half * 1e3),
            number(errors.most * 1e3)
        );
        if gap == 20 {
            goals.add("TTFT error p50, core 90 % busy", errors.half * 1e3, "ms", GoalBound::AtMost(0.1));
            goals.add("TTFT error p99, core 90 % busy", errors.most * 1e3, "ms", GoalBound::AtMost(0.5));
        }
    }
    println!();
    Ok(())
}

/// 2,000 and 10,000 streams.
fn many_streams(quick: bool, place: &Place, goals: &mut Goals) -> anyhow::Result<()> {
    let two = many(place, 2000, if quick { 3 } else { 10 })?;
    println!(
        "2000 streams: {} % of the rate that the schedule allows, {} MB, {} failed",
        two.share.map_or("–".to_owned(), |share| number(share * 100.0)),
        number(two.peak_bytes / 1e6),
        two.failed
    );
    goals.add(
        "2000 streams, share of the ideal rate",
        two.share.map(|share| share * 100.0),
        "%",
        GoalBound::AtLeast(99.0),
    );
    goals.add("2000 streams, memory", two.peak_bytes / 1e6, "MB", GoalBound::AtMost(60.0));
    if quick {
        println!("left out, because this is quick: 10000 streams, a million requests");
        return Ok(());
    }
    let ten = many(place, 10_000, 2)?;
    println!("10000 streams: {} MB, {} failed", number(ten.peak_bytes / 1e6), ten.failed);
    goals.add("10000 streams, failed requests", ten.failed as f64, "", GoalBound::AtMost(0.0));
    Ok(())
}

/// Pace and start.
fn paced_open(quick: bool, place: &Place, goals: &mut Goals) -> anyhow::Result<()> {
    let Pace { client, machine } = pace(place, 5000, if quick { 3 } else { 20 })?;
    let shown = |late: Option<MedianAndRange>| match late.map(|late| late.scaled(1e3)) {
        Some(late) => format!("{} ms ({})", number(late.median), late.range()),
        None => "–".to_owned(),
    };
    println!(
        "5000 requests per second: schedule lag p99 {} over seconds; a thread that only looks at the \
         clock lags by {}",
        shown(client),
        shown(machine)
    );
    let late = client.map(|late| late.median * 1e3);
    goals.add("schedule lag at 5000/s, p99 of the median second", late, "ms", GoalBound::AtMost(0.2));
    let start = starts(place, if quick { 3 } else { 20 })?;
    goals.add(
        "start to first request",
        start.map(|spread| spread.median * 1e3),
        "ms",
        GoalBound::AtMost(50.0),
    );
    Ok(())
}

/// Memory of many requests.
fn many_requests(quick: bool, place: &Place, goals: &mut Goals) -> anyhow::Result<()> {
    let (few, all) = if quick { (5_000, 50_000) } else { (100_000, 1_000_000) };
    let (small, large) = (requests(place, few)?, requests(place, all)?);
    println!(
        "memory: {} MB for {few} requests, {} MB for {all} in {} s",
        number(small.peak_bytes / 1e6),
        number(large.peak_bytes / 1e6),
        number(large.wall_s)
    );
    let growth = (large.peak_bytes - small.peak_bytes) / 1e6;
    goals.add("more memory for ten times the requests", growth, "MB", GoalBound::AtMost(5.0));
    println!();
    Ok(())
}
