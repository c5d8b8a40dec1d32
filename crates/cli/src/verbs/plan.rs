//! `plan`: check a campaign and print what would be run.

use assay_campaign::{Plan, Resources};
use assay_launch::batch::request::{JobsRequest, jobs_request};
use assay_model::{CellId, Unit};
use assay_report::number::{counted, duration, fact};
use assay_report::{Cell, Column, Table, Tone};
use serde::Serialize;

use super::JSON_SCHEMA;
use crate::exit::Exit;
use crate::registry::{Purpose, can_start};
use crate::screen::Screen;
use crate::{execute, options};

/// Rows that are shown unless all are asked for.
const MOST_ROWS: usize = 40;

/// Checks and prints.
pub fn plan(options: &options::Plan, screen: &mut Screen) -> anyhow::Result<Exit> {
    let assembled = execute::assemble_file(
        &options.campaign,
        options.on.as_deref(),
        options.record.as_deref(),
        Purpose::Look,
    )?;
    let plan = &assembled.plan;
    if options.json {
        screen.json(&PlanJson::new(plan, options.jobs))?;
        return Ok(Exit::Fine);
    }
    if options.scripts {
        return print_scripts(plan, screen);
    }
    let most = if options.all { usize::MAX } else { MOST_ROWS };
    screen.table(&cells_table(plan, most))?;
    screen.table(&runs_table(plan, options.jobs, most))?;
    let requests: Vec<String> = plan
        .platforms
        .iter()
        .filter_map(|platform| jobs_request(plan, platform))
        .map(|jobs| note(&jobs))
        .collect();
    screen.table(&Table { notes: requests, ..Table::default() })?;
    screen.problems(&plan.warnings);
    for (platform, reason) in &assembled.unasked {
        screen.warn(&format!(
            "limits of `{platform}` are not checked: its scheduler cannot be queried here ({reason})"
        ));
    }
    for platform in plan.platforms.iter().filter(|platform| !can_start(platform)) {
        screen.warn(&format!(
            "runs on `{}` are started by `{}`, which this version cannot do: it can only plan them",
            platform.name, platform.launcher
        ));
    }
    Ok(Exit::Fine)
}

/// Prints what would start a run of every cell: the job script where there is a scheduler, and the run's own commands.
fn print_scripts(plan: &Plan, screen: &mut Screen) -> anyhow::Result<Exit> {
    let mut any = false;
    let submits = plan.platforms.iter().any(assay_launch::batch::control::submits_jobs);
    for (index, planned) in plan.cells.iter().enumerate() {
        if let Some(script) = assay_launch::batch::control::script(plan, index) {
            let settings: Vec<String> = plan
                .varied
                .iter()
                .filter_map(|name| Some(format!("{name}={}", planned.settings.get(name)?)))
                .collect();
            let title =
                format!("# {} {} on {}", planned.cell.short(), settings.join(" "), planned.cell.platform);
            screen.data(&format!("{title}\n{script}\n"))?;
            any = true;
        }
    }
    if any && submits {
        screen.say(
            "each script is that of one run; runs with the same request are submitted together, as tasks of one array where the platform has arrays",
        );
    }
    if !submits {
        screen.say("no job scripts: no platform of this campaign has a scheduler");
        screen.hint("`--on PLATFORM` plans for another one; `assay list platforms` shows all");
    }
    Ok(Exit::Fine)
}

/// What will be submitted in all, in a sentence.
fn note(jobs: &JobsRequest) -> String {
    let as_what = if jobs.has_arrays { "as tasks of job arrays" } else { "as jobs" };
    let packed = match jobs.pack {
        Some(1) => String::new(),
        Some(pack) => format!(", {pack} runs in each"),
        None => ", several short runs in each".to_owned(),
    };
    let number = |name: &str, of: fn(&Resources) -> Option<u64>| {
        let all: Vec<u64> = jobs.resources.iter().filter_map(of).collect();
        let (least, most) = (all.iter().min()?, all.iter().max()?);
        Some(if least == most { counted(*most, name) } else { span(*least, *most, name) })
    };
    let device = if jobs.device.is_empty() { "accelerator" } else { &jobs.device };
    let memory = jobs.resources.iter().filter_map(|resources| resources.memory_bytes).max();
    let requested: Vec<String> = [
        number("node", |resources| resources.nodes),
        number("task", |resources| resources.tasks),
        number("CPU", |resources| resources.cpus_per_task).map(|cpus| format!("{cpus} per task")),
        number(device, |resources| resources.devices.filter(|devices| *devices > 0)),
        memory.map(|bytes| fact(&Unit::Bytes, bytes as f64)),
        jobs.time_s.map(|seconds| format!("at most {}", duration(seconds))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let each = if requested.is_empty() {
        String::new()
    } else {
        format!("; a run requests {}", requested.join(", "))
    };
    let total = jobs.node_hours.map(|hours| format!("; at most {hours:.1} node-hours in all"));
    format!(
        "`{}`: {} {as_what}{packed}, at most {} in the queue at once{each}{}",
        jobs.platform,
        counted(jobs.runs, "run"),
        jobs.queued,
        total.unwrap_or_default()
    )
}

fn cells_table(plan: &Plan, most: usize) -> Table {
    let mut table = Table { heading: vec![title(plan)], ..Table::default() };
    let several = plan
        .cells
        .iter()
        .any(|cell| cell.cell.platform != plan.cells.first().map_or("", |first| &first.cell.platform));
    table.columns = vec![Column::left("cell")];
    table.columns.extend(plan.varied.iter().map(Column::right));
    if several {
        table.columns.push(Column::left("platform"));
    }
    let differ = fewer(plan) > 0;
    if differ {
        table.columns.push(Column::right("runs"));
    }
    table.columns.push(Column::right("expected"));
    for (index, planned) in plan.cells.iter().enumerate().take(most) {
        let mut row = vec![Cell::toned(planned.cell.short(), Tone::Faint)];
        row.extend(
            plan.varied.iter().map(|name| {
                Cell::new(planned.settings.get(name).map(ToString::to_string).unwrap_or_default())
            }),
        );
        if several {
            row.push(Cell::new(planned.cell.platform.clone()));
        }
        if differ {
            row.push(Cell::new(range(plan.least_of(index).into(), plan.most_of(index).into())));
        }
        row.push(Cell::new(plan.expected_s(index).map_or_else(|| "-".to_owned(), duration)));
        table.rows.push(row);
    }
    if let Some(more) = plan.cells.len().checked_sub(most).filter(|more| *more > 0) {
        table.notes.push(format!("… and {more} more cells (`--all` shows them)"));
    }
    table
}

fn title(plan: &Plan) -> String {
    if plan.question.is_empty() { plan.name.clone() } else { format!("{}: {}", plan.name, plan.question) }
}

fn runs_table(plan: &Plan, jobs: usize, most: usize) -> Table {
    let estimate = plan.estimate(jobs);
    let mut notes = Vec::new();
    let cells = plan.cells.len();
    let excluded = if plan.excluded > 0 { format!(", {} excluded", plan.excluded) } else { String::new() };
    let (least, most_repeats) = (u64::from(plan.repeats.at_least), u64::from(plan.repeats.at_most));
    let repeats = span(least, most_repeats, "repeat");
    let runs = span(estimate.runs_at_least, estimate.runs_at_most, "run");
    let fewer = match fewer(plan) {
        0 => String::new(),
        1 => " (1 cell has fewer)".to_owned(),
        some => format!(" ({some} cells have fewer)"),
    };
    notes.push(format!("{}{excluded}, {repeats} each{fewer}: {runs}", counted(cells as u64, "cell")));
    notes.push(time_note(&estimate));
    notes.push(format!(
        "headline {}, order seed {}, plan {}",
        plan.headline,
        plan.seed,
        plan.hash.get(..16).unwrap_or(&plan.hash)
    ));
    for round in 1..=if most == usize::MAX { plan.repeats.at_least } else { 1 } {
        let cells = plan.round(round);
        let shown = cells.iter().take(most.min(1000));
        let order: Vec<&str> = shown.filter_map(|index| Some(plan.cells.get(*index)?.cell.short())).collect();
        notes.push(format!(
            "round {round}: {}{}",
            order.join(" "),
            if order.len() < cells.len() { " …" } else { "" }
        ));
    }
    Table { notes, ..Table::default() }
}

/// How many cells are run less often than the others.
fn fewer(plan: &Plan) -> usize {
    (0..plan.cells.len()).filter(|cell| plan.fewer_of(*cell).is_some()).count()
}

/// A count of things, or the range of one.
fn span(least: u64, most: u64, thing: &str) -> String {
    if most > least { format!("{least} to {}", counted(most, thing)) } else { counted(least, thing) }
}

/// A number, or the range of one.
fn range(least: u64, most: u64) -> String {
    if most > least { format!("{least} to {most}") } else { least.to_string() }
}

fn time_note(estimate: &assay_campaign::TimeEstimate) -> String {
    let (Some(least), Some(most)) = (estimate.seconds_at_least, estimate.seconds_at_most) else {
        return "how long it takes is not known: no `[run] expected` and no earlier record".to_owned();
    };
    let span =
        if most > least { format!("{} to {}", duration(least), duration(most)) } else { duration(least) };
    match estimate.cells_unknown {
        0 => format!("expected to take {span}"),
        1 => format!("expected to take {span}, and one cell whose time is not known"),
        unknown => format!("expected to take {span}, and {unknown} cells whose time is not known"),
    }
}

/// A plan as JSON.
#[derive(Serialize)]
struct PlanJson<'a> {
    schema: u32,
    name: &'a str,
    question: &'a str,
    hash: &'a str,
    seed: u64,
    headline: &'a str,
    runs_at_least: u64,
    runs_at_most: u64,
    seconds_at_least: Option<f64>,
    seconds_at_most: Option<f64>,
    cells_of_unknown_time: usize,
    excluded: usize,
    varied: &'a [String],
    cells: Vec<CellJson<'a>>,
    first_round: Vec<usize>,
}

#[derive(Serialize)]
struct CellJson<'a> {
    cell: &'a CellId,
    workload: &'a str,
    settings: &'a assay_model::Settings,
    runs_at_least: u32,
    runs_at_most: u32,
    expected_s: Option<f64>,
}

impl<'a> PlanJson<'a> {
    fn new(plan: &'a Plan, jobs: usize) -> PlanJson<'a> {
        let estimate = plan.estimate(jobs);
        let cells = plan.cells.iter().enumerate().map(|(index, planned)| CellJson {
            cell: &planned.cell,
            workload: &planned.workload,
            settings: &planned.settings,
            runs_at_least: plan.least_of(index),
            runs_at_most: plan.most_of(index),
            expected_s: plan.expected_s(index),
        });
        PlanJson {
            schema: JSON_SCHEMA,
            name: &plan.name,
            question: &plan.question,
            hash: &plan.hash,
            seed: plan.seed,
            headline: &plan.headline,
            runs_at_least: estimate.runs_at_least,
            runs_at_most: estimate.runs_at_most,
            seconds_at_least: estimate.seconds_at_least,
            seconds_at_most: estimate.seconds_at_most,
            cells_of_unknown_time: estimate.cells_unknown,
            excluded: plan.excluded,
            varied: &plan.varied,
            cells: cells.collect(),
            first_round: plan.round(1),
        }
    }
}
