//! `doctor peak`: measure the peak arithmetic and memory rates of this machine.

use assay_report::{Cell, Column, Table, Tone};
use assay_workloads::peak::{Peak, Range};
use serde::Serialize;

use crate::exit::Exit;
use crate::options::DoctorPeak;
use crate::peak;
use crate::screen::{JSON_SCHEMA, Screen};

/// The form of `--json`.
#[derive(Serialize)]
struct PeakJson {
    schema: u32,
    peak: Peak,
}

/// Measures, caches and prints the peak.
pub fn peak(options: &DoctorPeak, screen: &mut Screen) -> anyhow::Result<Exit> {
    let threads = options.threads.unwrap_or_else(peak::cores);
    let measured = match peak::cached(threads).filter(|_| options.cached) {
        Some(peak) => peak,
        None => peak::measure(threads, screen)?,
    };
    if options.json {
        screen.json(&PeakJson { schema: JSON_SCHEMA, peak: measured })?;
    } else {
        screen.table(&table(&measured))?;
    }
    Ok(Exit::Fine)
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
        "of peak: share of the upper end of the multiply-add rate of all threads, as in `mfu`".to_owned(),
    );
    table
}
