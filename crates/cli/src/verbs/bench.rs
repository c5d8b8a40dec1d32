//! `bench`: measure a built-in workload without a campaign file. The flags become a campaign that is run
//! like any other, so that repeats, order, intervals and the record are the same everywhere.

use std::path::{Path, PathBuf};

use assay_campaign::{Campaign, CampaignBuilder};
use assay_judge::Answer;
use assay_launch::Ending;
use assay_model::{Settings, Status, names};
use assay_report::bench::{METRICS, answer, comparison, lines, profile};
use assay_report::number::single;
use assay_store::{Index, Record, RunFilter};

use crate::answer::{self as answers, print};
use crate::execute::{self, assemble_built};
use crate::exit::Exit;
use crate::options::How;
use crate::options::bench::{Bench, Target};
use crate::peak;
use crate::records;
use crate::screen::Screen;

/// Repeats where none are asked for: the fewest that give the median an interval of 95 %.
const REPEATS: u32 = 6;

/// The most times that are listed of a run that was stopped.
const MOST_TIMES: usize = 12;

/// Measures and prints.
pub fn bench(options: &Bench, screen: &mut Screen) -> anyhow::Result<Exit> {
    let target = &options.target;
    if peak::cached(peak::cores()).is_none() {
        peak::measure(peak::cores(), screen)?;
    }
    let record = target.how.record.clone().unwrap_or_else(|| new_record(&target.workload));
    let assembled = assemble_built(campaign(target), &record)?;
    let how = How { record: None, jobs: 1, fresh: false, only: None, quiet: target.how.quiet };
    let (record, outcome) = execute::execute(&assembled, &how, screen)?;
    let index = record.index()?;
    print(target, &record, &index, screen)?;
    if outcome.ending == Ending::Interrupted {
        tell_interrupted(&index, screen)?;
    }
    screen.say(&format!("record: {}", records::shown(record.directory())));
    Ok(execute::exit(&outcome, execute::failed_runs(&index)?, &[]))
}

/// The campaign that the flags describe.
fn campaign(target: &Target) -> CampaignBuilder {
    let profiled = target.settings.contains_key(names::setting::PROFILE);
    let repeats = target.how.repeats.unwrap_or(if profiled { 1 } else { REPEATS });
    let mut settings = target.settings.clone();
    if let Some(engine) = &target.how.compare {
        settings.insert(names::setting::ENGINE.to_owned(), vec!["native".into(), engine.as_str().into()]);
    }
    // How another engine computes has no meaning for the native one, which would be measured several times over.
    let mode = settings.get("mode").filter(|modes| modes.len() > 1).and_then(|modes| modes.first()).cloned();
    let name = format!("bench-{}", target.workload);
    let mut campaign = Campaign::for_workload(&name, &target.workload).repeats(repeats);
    for (name, values) in settings {
        campaign = campaign.setting(&name, values);
    }
    match mode {
        Some(mode) => campaign.exclude(format!("engine == 'native' and mode != '{mode}'")),
        None => campaign,
    }
}

/// A directory that does not exist yet.
fn new_record(workload: &str) -> PathBuf {
    let mut names = (1..).map(|number| Path::new("records").join(format!("bench-{workload}-{number}")));
    names.find(|path| !path.exists()).unwrap_or_else(|| PathBuf::from("records/bench"))
}

/// Says what the run that was stopped had measured: it counts for nothing, but somebody waited for it.
fn tell_interrupted(index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    let stopped = RunFilter { status: Some(Status::Interrupted.word().to_owned()), ..RunFilter::default() };
    for run in index.runs(&stopped)? {
        let series = index.series(&run.run)?;
        let Some(times) = series.iter().find(|series| series.metric == names::TIME_ITERATION) else {
            continue;
        };
        let first = times.values.len().saturating_sub(MOST_TIMES);
        let shown: Vec<String> =
            times.values[first..].iter().map(|value| single(&times.unit, *value)).collect();
        let all = if first > 0 {
            format!("{} iterations, the last ones in ", times.values.len())
        } else {
            String::new()
        };
        screen.say(&format!("the run that was stopped had done {all}{}", shown.join(", ")));
    }
    screen.say("interrupted; what was measured is kept");
    Ok(())
}

fn print(target: &Target, record: &Record, index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    if target.how.json {
        return screen.json(&answers::answer_json(record, index, Some(names::TIME_ITERATION))?);
    }
    let has: Vec<String> = index.metrics()?.into_iter().map(|metric| metric.name).collect();
    let known = METRICS.iter().filter(|metric| has.iter().any(|name| name == *metric));
    let answers: Vec<Answer> = known
        .map(|metric| Ok(answers::judged(index, Some(metric), answers::MOST_ROWS)?.0))
        .collect::<anyhow::Result<_>>()?;
    let shown: Settings = target
        .settings
        .iter()
        .filter_map(|(name, values)| {
            Some((name.clone(), values.first().filter(|_| values.len() == 1)?.clone()))
        })
        .collect();
    for line in lines(&target.workload, &shown, &answers) {
        screen.data(&format!("{line}\n"))?;
    }
    for line in outputs(record, index)? {
        screen.data(&format!("{line}\n"))?;
    }
    let figures = profile_figures(index, &has)?;
    if !figures.is_empty() {
        screen.table(&profile(&figures))?;
    }
    for line in answers.first().map(comparison).unwrap_or_default() {
        screen.data(&format!("{line}\n"))?;
    }
    print::print_failures(record, index, screen)
}

/// What a workload answered to one input that it was given, from the newest run that came to its end: runs of one cell
/// answer the same. Empty where a workload has no such answers, or several cells were measured.
fn outputs(record: &Record, index: &Index) -> anyhow::Result<Vec<String>> {
    let fine = RunFilter {
        status: Some(Status::Succeeded.word().to_owned()),
        current: true,
        ..RunFilter::default()
    };
    let runs = index.runs(&fine)?;
    let Some(run) = runs.last().filter(|last| runs.iter().all(|run| run.run.cell == last.run.cell)) else {
        return Ok(Vec::new());
    };
    // Without the file there is nothing to show; what was measured is in the index.
    let text = std::fs::read_to_string(record.directory().join(&run.directory).join("stdout.log"));
    Ok(answer(text.unwrap_or_default().lines().filter_map(|line| serde_json::from_str(line).ok())))
}

/// What a profile told of each operation; empty unless one cell alone was measured, since tables do not mix cells.
fn profile_figures(index: &Index, metrics: &[String]) -> anyhow::Result<Vec<(String, String, f64)>> {
    let mut figures = Vec::new();
    for metric in metrics {
        let told = metric.strip_prefix("profile.").and_then(|rest| rest.rsplit_once('.'));
        let Some((operation, figure)) = told else { continue };
        let (answer, _) = answers::judged(index, Some(metric), 0)?;
        if let [row] = answer.rows.as_slice()
            && let Some(estimate) = &row.estimate
        {
            figures.push((operation.to_owned(), figure.to_owned(), estimate.center));
        }
    }
    Ok(figures)
}
