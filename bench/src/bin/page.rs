//! `bench/page`: whether reports and the page stay fast and small.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use assay_bench::browser::Browser;
use assay_bench::figures::number;
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::measure::cost;
use assay_bench::place::{BenchOptions, Place, heading};
use assay_bench::records::{large_record_in, writer};
use assay_model::{Entry, RunId, Series, Unit};
use assay_store::{Record, Store};
use clap::Parser;

/// Measures reports and the page.
#[derive(Debug, Parser)]
#[command(name = "page")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
}

/// How much work the bench does.
struct Size {
    /// Cells and runs per cell of the report.
    report: (usize, u32),
    /// Records in the list.
    records: usize,
    /// Requests of each reader.
    requests: usize,
}

const FULL: Size = Size { report: (1000, 30), records: 10_000, requests: 20 };
const QUICK: Size = Size { report: (100, 10), records: 2000, requests: 2 };

/// Readers at once.
const READERS: usize = 50;
/// Points of the long series.
const POINTS: usize = 1_000_000;

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let place = Place::new(&arguments.common)?;
    println!("{}", heading("page", &arguments.common, &place));
    let mut goals = Goals::default();
    let directory = place.fresh("report")?;
    let size = if arguments.common.quick { QUICK } else { FULL };
    let record = large_record_in(&place, &directory, size.report)?;
    report(&place, &directory, &record, &size, &mut goals)?;
    let records = list(&place, &size, &mut goals)?;
    series(&place, &directory, &record, &mut goals)?;
    paint(&place, [&records, &directory], &mut goals)?;
    println!("{goals}");
    Ok(goals.exit())
}

fn report(
    place: &Place,
    directory: &Path,
    record: &Path,
    size: &Size,
    goals: &mut Goals,
) -> anyhow::Result<()> {
    let show = || cost(place.assay(directory).arg("show").arg(record).args(["-o", "report.html"]));
    // The first one makes the index.
    show()?;
    let costs = (0..3).map(|_| show()).collect::<anyhow::Result<Vec<_>>>()?;
    let seconds = costs.iter().map(|cost| cost.cpu_s).fold(f64::INFINITY, f64::min);
    let megabytes = fs::metadata(directory.join("report.html"))?.len() as f64 / 1e6;
    let runs = size.report.0 * size.report.1 as usize;
    goals.add(format!("HTML report of {runs} runs, CPU"), seconds, "s", GoalBound::Below(1.0));
    goals.add(format!("HTML report of {runs} runs, size"), megabytes, "MB", GoalBound::Below(5.0));
    Ok(())
}

/// Gives the directory of the many records.
fn list(place: &Place, size: &Size, goals: &mut Goals) -> anyhow::Result<PathBuf> {
    let root = place.fresh("records")?;
    let small = place.fresh("small")?;
    large_record_in(place, &small, (20, 2))?;
    for index in 0..size.records {
        let directory = root.join(format!("record-{index:05}"));
        fs::create_dir(&directory)?;
        fs::copy(small.join("records/large/journal.jsonl"), directory.join("journal.jsonl"))?;
    }
    let page = Page::start(place, &root)?;
    println!("first list of {} records: {} ms", size.records, number(page.get("/")?.as_secs_f64() * 1e3));
    let mut times = Vec::new();
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                scope.spawn(|| {
                    (0..size.requests).map(|_| page.get("/?q=record-0")).collect::<anyhow::Result<Vec<_>>>()
                })
            })
            .collect();
        for reader in readers {
            let taken = reader.join().map_err(|_| anyhow::anyhow!("a reader failed"))??;
            times.extend(taken.into_iter().map(|time| time.as_secs_f64() * 1e3));
        }
        Ok(())
    })?;
    times.sort_by(f64::total_cmp);
    let alone = (0..5).map(|_| page.get("/")).collect::<anyhow::Result<Vec<_>>>()?;
    let alone = alone.iter().map(|time| time.as_secs_f64() * 1e3).fold(f64::INFINITY, f64::min);
    let late = *times.get(times.len() * 95 / 100).context("no times")?;
    goals.add(format!("list of {} records", size.records), alone, "ms", GoalBound::Below(200.0));
    let name = format!("list of {} records, {READERS} readers at once, p95", size.records);
    goals.add(name, late, "ms", GoalBound::Below(200.0));
    Ok(root)
}

fn series(place: &Place, directory: &Path, record: &Path, goals: &mut Goals) -> anyhow::Result<()> {
    let (run, mut result) = last(record)?;
    let run = RunId { repeat: run.repeat + 1, ..run };
    result.series = vec![Series {
        metric: "time.iteration".to_owned(),
        unit: Unit::Seconds,
        values: (0..POINTS).map(|step| 0.1 + (step % 97) as f64 * 1e-4).collect(),
        seen: POINTS as u64,
        ..Series::default()
    }];
    let mut store = Store::open_or_create(record, &writer("large"))?;
    store.append(&Entry::Finished { run: run.clone(), result: Box::new(result) })?;
    drop(store);
    let page = Page::start(place, directory)?;
    let name: String = run.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
    let address = format!("/run?id=records%2Flarge&run={name}");
    page.get(&address)?;
    let times = (0..3).map(|_| page.get(&address)).collect::<anyhow::Result<Vec<_>>>()?;
    let best = times.into_iter().min().unwrap_or_default();
    goals.add(format!("view of a run with {POINTS} points"), best.as_secs_f64(), "s", GoalBound::Below(1.0));
    Ok(())
}

/// When a browser shows something of each view: the median of five times each.
fn paint(place: &Place, [records, directory]: [&Path; 2], goals: &mut Goals) -> anyhow::Result<()> {
    let Some(browser) = Browser::start()? else {
        println!("first paint is not measured: chromedriver is missing (`./dev setup` installs it)");
        goals.add("first paint in Chromium", None, "ms", GoalBound::Below(500.0));
        return Ok(());
    };
    for (what, root, address) in
        [("the list", records, "/"), ("a record of many cells", directory, "/record?id=records%2Flarge")]
    {
        let page = Page::start(place, root)?;
        // The first request reads the records.
        page.get(address)?;
        let url = format!("http://127.0.0.1:{}{address}", page.port);
        let mut times = (0..5).map(|_| browser.first_paint_ms(&url)).collect::<anyhow::Result<Vec<_>>>()?;
        times.sort_by(f64::total_cmp);
        goals.add(
            format!("first paint of {what} in Chromium"),
            times.get(2).copied(),
            "ms",
            GoalBound::Below(500.0),
        );
    }
    Ok(())
}

fn last(record: &Path) -> anyhow::Result<(RunId, assay_model::RunResult)> {
    let mut found = None;
    for entry in Record::open(record)?.entries()? {
        if let Entry::Finished { run, result } = entry? {
            found = Some((run, *result));
        }
    }
    found.context("the record has no runs")
}

/// A page that is served; it ends with this.
struct Page {
    process: Child,
    port: u16,
}

impl Page {
    fn start(place: &Place, root: &Path) -> anyhow::Result<Page> {
        let mut process = place
            .assay(root)
            .args(["page", ".", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut url = String::new();
        let out = process.stdout.take().context("no output")?;
        BufReader::new(out).read_line(&mut url)?;
        let port = url.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
        Ok(Page { process, port: port.with_context(|| format!("no port in {url}"))? })
    }

    /// How long a page takes, to its last byte.
    fn get(&self, address: &str) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(stream, "GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        ensure!(
            answer.starts_with(b"HTTP/1.1 200"),
            "{address}: {}",
            String::from_utf8_lossy(answer.get(..200).unwrap_or(&answer))
        );
        Ok(began.elapsed())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // It is gone already, or goes now.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
