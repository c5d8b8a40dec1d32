//! `peak`: measure what this machine can do at most. The result is kept, and built-in workloads state their rates as a
//! share of it.

use std::path::PathBuf;

use anyhow::Context;
use assay_report::{Cell, Column, Table, Tone};
use assay_workloads::peak::{self, Peak, Range};
use serde::Serialize;

use crate::exit::Exit;
use crate::options;
use crate::records;
use crate::registry;
use crate::screen::{JSON_SCHEMA, Screen};

/// The form of `--json`.
#[derive(Serialize)]
struct PeakJson {
    schema: u32,
    peak: Peak,
}

/// Measures, keeps and prints.
pub fn peak(options: &options::Peak, screen: &mut Screen) -> anyhow::Result<Exit> {
    let threads = match options.threads {
        0 => cores(),
        threads => threads,
    };
    let measured = match cached(threads).filter(|_| options.cached) {
        Some(peak) => peak,
        None => measure(threads, screen)?,
    };
    if options.json {
        screen.json(&PeakJson { schema: JSON_SCHEMA, peak: measured })?;
    } else {
        screen.table(&table(&measured))?;
    }
    Ok(Exit::Fine)
}

/// The peak of this machine with so many threads, if it was measured before.
pub fn cached(threads: usize) -> Option<Peak> {
    let text = std::fs::read_to_string(file(threads)?).ok()?;
    let peak: Peak = serde_json::from_str(&text).ok()?;
    // Home directories are shared between machines; another processor or instruction set has another peak.
    let same = peak.processor == peak::processor() && peak.path == peak::instruction_set();
    (same && peak.threads == threads).then_some(peak)
}

/// Measures the machine and keeps what was found.
pub fn measure(threads: usize, screen: &mut Screen) -> anyhow::Result<Peak> {
    screen.say("measuring what this machine can do at most; this takes some seconds");
    let peak = peak::measure(threads);
    if let Some(path) = file(threads)
        && let Err(error) = keep(&path, &peak)
    {
        screen.warn(&format!("{} cannot be kept: {error}", records::shown(&path)));
    }
    Ok(peak)
}

fn keep(path: &std::path::Path, peak: &Peak) -> anyhow::Result<()> {
    let directory = path.parent().context("it has no directory")?;
    std::fs::create_dir_all(directory)?;
    // Written aside and renamed: a reader never sees half a file.
    let aside = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&aside, serde_json::to_string_pretty(peak)?)?;
    Ok(std::fs::rename(&aside, path)?)
}

/// Where the figures of this processor are kept.
fn file(threads: usize) -> Option<PathBuf> {
    let name: String = peak::processor()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect();
    Some(registry::cache_directory()?.join(format!("peak-{name}-{threads}.json")))
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn table(peak: &Peak) -> Table {
    let threads = assay_report::number::counted(peak.threads as u64, "thread");
    let mut table = Table {
        heading: vec![format!("{}, {}, {threads}", peak.processor, peak.path)],
        columns: vec![
            Column::left(""),
            Column::left("shape"),
            Column::right("median"),
            Column::left("middle 80 %"),
            Column::right("of peak"),
        ],
        ..Table::default()
    };
    let mut row = |name: &str, shape: String, range: &Range, unit: &str, share: bool| {
        let of_peak = share.then(|| format!("{:.0} %", 100.0 * range.median / peak.fma_all.high));
        table.rows.push(vec![
            Cell::new(name),
            Cell::toned(shape, Tone::Faint),
            Cell::new(format!("{:.1} {unit}", range.median / 1e9)),
            Cell::toned(format!("{:.1} – {:.1}", range.low / 1e9, range.high / 1e9), Tone::Faint),
            Cell::new(of_peak.unwrap_or_default()),
        ]);
    };
    row("multiply-add, 1 thread", String::new(), &peak.fma_one, "GFLOP/s", false);
    row(&format!("multiply-add, {threads}"), String::new(), &peak.fma_all, "GFLOP/s", false);
    row("memory, triad", String::new(), &peak.triad, "GB/s", false);
    for product in &peak.products {
        let (m, n, k) = product.shape;
        let shape = format!("{m} × {n} × {k} {}", product.layout);
        row(&product.role, shape, &product.rate, "GFLOP/s", true);
    }
    table.notes.push(
        "of peak: of the upper end of the multiply-adds of all threads, which is what built-in workloads state too".to_owned(),
    );
    table
}
