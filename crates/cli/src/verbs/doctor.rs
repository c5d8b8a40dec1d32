//! `doctor`: this machine, what makes its timings noisy, and what is installed; its peak; data sets.

mod data;
mod peak;

use assay_launch::noise::{self, Jitter};
use assay_launch::tools::{self, ToolKind};
use assay_launch::{group, probe};
use assay_model::{Caveat, Machine, Unit};
use assay_report::number::single;
use assay_report::{Cell, Column, Table, Tone};
use assay_workloads::instructions::InstructionSet;
use serde::Serialize;

use super::JSON_SCHEMA;
use crate::exit::Exit;
use crate::instructions;
use crate::options::{Doctor, DoctorPart};
use crate::screen::Screen;

/// Inspects this machine and prints the findings.
pub fn doctor(options: &Doctor, screen: &mut Screen) -> anyhow::Result<Exit> {
    match &options.part {
        Some(DoctorPart::Peak(options)) => return peak::peak(options, screen),
        Some(DoctorPart::Data(options)) => return data::data(options, screen),
        None => {}
    }
    let machine = probe::machine();
    let jitter = noise::jitter();
    let causes = noise::causes(&machine, &jitter);
    let set = instructions::instruction_set()?;
    if options.json {
        screen.json(&DoctorJson::new(machine, set, &jitter, causes))?;
        return Ok(Exit::Fine);
    }
    screen.table(&machine_table(&machine, &set, &jitter))?;
    screen.data("\n")?;
    screen.table(&noise_table(&causes))?;
    screen.data("\n")?;
    screen.table(&tools_table())?;
    Ok(Exit::Fine)
}

fn machine_table(machine: &Machine, set: &InstructionSet, jitter: &Jitter) -> Table {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let number = |value: Option<u32>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    let bytes =
        |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| single(&Unit::Bytes, value as f64));
    let accelerators = match machine.accelerators.as_slice() {
        [] => "none detected".to_owned(),
        found => found.join(", "),
    };
    let turbo = match machine.turbo {
        Some(true) => "on".to_owned(),
        Some(false) => "off".to_owned(),
        None => "unknown".to_owned(),
    };
    let rows = [
        ("host", machine.host.clone()),
        ("system", text(&machine.system)),
        ("kernel", text(&machine.kernel)),
        ("cpu", text(&machine.cpu)),
        ("instructions", machine.cpu_features.join(" ")),
        ("kernels use", instructions::lines(set).join("; ")),
        (
            "cpus",
            format!(
                "{} usable of {} on {} cores",
                number(machine.cpus_usable),
                number(machine.cpus),
                number(machine.cores)
            ),
        ),
        (
            "memory",
            format!("{}, {} available", bytes(machine.memory_bytes), bytes(machine.memory_available_bytes)),
        ),
        ("accelerators", accelerators),
        ("governor", text(&machine.governor)),
        ("turbo", turbo),
        (
            "load",
            machine.load.map_or_else(|| "?".to_owned(), |load| format!("{load:.2} over the last minute")),
        ),
        ("virtualization", machine.virtualization.clone().unwrap_or_else(|| "none detected".to_owned())),
        (
            "run memory",
            group::MemoryGroup::availability().map_or_else(
                || "largest process only (cannot create a control group here)".to_owned(),
                |file| format!("largest process, and all processes together (control group, {file})"),
            ),
        ),
        (
            "jitter",
            format!(
                "identical work takes {} – {} (median {}, {} samples)",
                single(&Unit::Seconds, jitter.fastest_s),
                single(&Unit::Seconds, jitter.slowest_s),
                single(&Unit::Seconds, jitter.median_s),
                jitter.samples
            ),
        ),
        ("assay", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    Table {
        heading: vec!["This machine".to_owned()],
        columns: vec![Column::left(""), Column::left("")],
        rows: rows
            .into_iter()
            .map(|(name, value)| vec![Cell::toned(name, Tone::Faint), Cell::new(value)])
            .collect(),
        ..Table::default()
    }
}

fn noise_table(causes: &[Caveat]) -> Table {
    let mut table = Table { heading: vec!["Sources of noise".to_owned()], ..Table::default() };
    if causes.is_empty() {
        table.notes.push("nothing found".to_owned());
    }
    for cause in causes {
        table.doubt(&cause.text, &cause.hint);
    }
    table
}

fn tools_table() -> Table {
    let mut table = Table {
        heading: vec!["Installed".to_owned()],
        columns: ["kind", "name", "for", "found", "version"].into_iter().map(Column::left).collect(),
        ..Table::default()
    };
    for tool in tools::find() {
        let kind = match tool.kind {
            ToolKind::Launcher => "launcher",
            ToolKind::Tool => "tool",
            ToolKind::Data => "data set",
        };
        let found = match &tool.path {
            Some(path) => Cell::toned(path.display().to_string(), Tone::Good),
            None => Cell::toned("no", Tone::Faint),
        };
        let version = Cell::toned(tool.version.clone().unwrap_or_default(), Tone::Faint);
        table.rows.push(vec![Cell::new(kind), Cell::new(tool.name), Cell::new(tool.purpose), found, version]);
    }
    let places: Vec<String> =
        tools::data_directories().iter().map(|path| path.display().to_string()).collect();
    table
        .notes
        .push(format!("data sets are searched in {}; `assay doctor data` lists them", places.join(", ")));
    table.notes.push(format!("supported launchers: {}", assay_launch::LAUNCHERS.join(", ")));
    table
}

#[derive(Serialize)]
struct DoctorJson {
    schema: u32,
    program: &'static str,
    machine: Machine,
    instruction_set: InstructionSet,
    jitter: JitterJson,
    noise: Vec<Caveat>,
    installed: Vec<ToolJson>,
}

#[derive(Serialize)]
struct JitterJson {
    fastest_s: f64,
    median_s: f64,
    slowest_s: f64,
    samples: usize,
}

#[derive(Serialize)]
struct ToolJson {
    name: &'static str,
    path: Option<String>,
    version: Option<String>,
}

impl DoctorJson {
    fn new(
        machine: Machine,
        instruction_set: InstructionSet,
        jitter: &Jitter,
        noise: Vec<Caveat>,
    ) -> DoctorJson {
        let installed = tools::find().into_iter().map(|tool| ToolJson {
            name: tool.name,
            path: tool.path.map(|path| path.display().to_string()),
            version: tool.version,
        });
        DoctorJson {
            schema: JSON_SCHEMA,
            program: env!("CARGO_PKG_VERSION"),
            machine,
            instruction_set,
            jitter: JitterJson {
                fastest_s: jitter.fastest_s,
                median_s: jitter.median_s,
                slowest_s: jitter.slowest_s,
                samples: jitter.samples,
            },
            noise,
            installed: installed.collect(),
        }
    }
}
