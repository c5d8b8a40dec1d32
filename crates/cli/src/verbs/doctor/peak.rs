//! `doctor peak`: measure the peak arithmetic and memory rates of this machine.

use assay_report::document::{DocumentPart, Drawing, Figure, Report, Section};
use assay_report::figure::{Roofline, RooflinePoint};
use assay_report::{Cell, Column, Table, Tone};
use assay_workloads::peak::{Peak, Product, SampleRange};
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Mistake;
use crate::options::DoctorPeak;
use crate::output::ending;
use crate::screen::{JSON_SCHEMA, Screen};
use crate::{peak, write_up};

/// The form of `--json`.
#[derive(Serialize)]
struct PeakJson {
    schema: u32,
    peak: Peak,
}

/// Measures, caches and prints the peak.
pub fn peak(options: &DoctorPeak, screen: &mut Screen) -> anyhow::Result<Exit> {
    if let Some(file) = options.output.as_ref().filter(|file| !matches!(ending(file), "html" | "md" | "tex"))
    {
        let text = format!("no report format for the extension `.{}`", ending(file));
        return Err(Mistake::new(text, "use .html, .md or .tex; --json prints the numbers").into());
    }
    let threads = options.threads.unwrap_or_else(peak::cores);
    let measured = match peak::cached(threads).filter(|_| options.cached) {
        Some(peak) => peak,
        None => peak::measure(threads, screen)?,
    };
    if let Some(file) = &options.output
        && let Some(rendered) = write_up::render(&report(&measured), file)
    {
        write_up::write(file, &rendered, screen)?;
    }
    if options.json {
        screen.json(&PeakJson { schema: JSON_SCHEMA, peak: measured })?;
    } else {
        screen.table(&table(&measured))?;
    }
    Ok(Exit::Fine)
}

/// The table, and where the products stand below the two limits. Their traffic is what they must move at least: each matrix
/// once, in single precision.
fn report(peak: &Peak) -> Report {
    let point = |product: &Product| {
        let (m, n, k) = (product.shape.0 as f64, product.shape.1 as f64, product.shape.2 as f64);
        let bytes = 4.0 * (m * k + k * n + m * n);
        RooflinePoint {
            label: product.role.clone(),
            intensity: 2.0 * m * n * k / bytes,
            rate: product.rate.median,
            ends: Some((product.rate.low, product.rate.high)),
            samples: product.rate.samples,
        }
    };
    let roofline = Roofline {
        title: "Matrix products below the limits of this machine".to_owned(),
        peak: peak.fma_all.high,
        bandwidth: Some(peak.triad.median),
        points: peak.products.iter().map(point).collect(),
    };
    let figure = Figure {
        caption: "Roofline: the slope is the memory (triad), the ceiling the arithmetic (multiply-add). The traffic of a \
                  product is the least it can be: every matrix is moved once. Lines through points are the middle 80 % of samples."
            .to_owned(),
        drawing: Drawing::Roofline(roofline),
    };
    let mut table = table(peak);
    let question = table.heading.drain(..).next();
    let parts = vec![DocumentPart::Table(table.into()), DocumentPart::Figure(figure)];
    let section = Section { id: "peak".to_owned(), title: "Measured limits".to_owned(), parts };
    Report {
        title: "The peak of this machine".to_owned(),
        question,
        sections: vec![section],
        ..Report::default()
    }
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
    let mut row = |name: &str, shape: String, range: &SampleRange, unit: &str, share: bool| {
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
