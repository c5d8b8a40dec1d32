//! A built-in workload as a campaign, and its result as a block of lines where one cell alone was measured.

use assay_campaign::{Campaign, CampaignBuilder};
use assay_judge::Answer;
use assay_model::{CellId, Entry, Settings, Status, names};
use assay_report::bench::{METRICS, lines, output, overview, profile};
use assay_store::{CellSummary, Index, Record};

use crate::answer::{self as answers, print};
use crate::options::bench::Target;
use crate::screen::Screen;

/// Repeats where none are asked for: the fewest that give the median an interval of 95 %.
const REPEATS: u32 = 6;

/// The campaign that the flags describe.
pub fn campaign(target: &Target) -> CampaignBuilder {
    let profiled = target.settings.contains_key(names::setting::PROFILE);
    let mut settings = target.settings.clone();
    let mut against = None;
    if let Some(engine) = &target.compare {
        against = Some(engine.clone());
        settings.insert(names::setting::ENGINE.to_owned(), vec!["native".into(), engine.as_str().into()]);
    }
    // How another engine computes has no meaning for the native one, which would be measured several times over.
    let mode = settings.get("mode").filter(|modes| modes.len() > 1).and_then(|modes| modes.first()).cloned();
    let mut campaign = Campaign::for_workload(&format!("bench-{}", target.workload), &target.workload);
    for (name, values) in settings {
        campaign = campaign.setting(&name, values);
    }
    if let Some(engine) = against {
        campaign = campaign.against(names::setting::ENGINE, engine.as_str());
    }
    if let Some(mode) = mode {
        campaign = campaign.exclude(format!("engine == 'native' and mode != '{mode}'"));
    }
    super::measured(campaign, &target.measure, target.timeout, if profiled { 1 } else { REPEATS })
}

/// Prints the result: a table for several cells, a block of all that is known for one.
pub fn print(target: &Target, record: &Record, index: &Index, screen: &mut Screen) -> anyhow::Result<()> {
    let has: Vec<String> = index.metrics()?.into_iter().map(|metric| metric.name).collect();
    let planned: Vec<CellSummary> = index.cells()?.into_iter().filter(|cell| cell.planned).collect();
    let known = METRICS.iter().filter(|metric| has.iter().any(|name| name == *metric));
    let answers: Vec<Answer> = known
        .map(|metric| Ok(answers::judged(index, Some(metric), answers::MOST_ROWS)?.0))
        .collect::<anyhow::Result<_>>()?;
    if planned.len() > 1 || !has.iter().any(|name| name == names::TIME_ITERATION) {
        print::print_table(record, index, None, false, screen)?;
        if let Some(table) = overview(&answers) {
            screen.data("\n")?;
            screen.table(&table)?;
        }
        return print::print_failures(record, index, screen);
    }
    let shown: Settings = target
        .settings
        .iter()
        .filter_map(|(name, values)| Some((name.clone(), values.first()?.clone())))
        .collect();
    for line in lines(&target.workload, &shown, &answers) {
        screen.data(&format!("{line}\n"))?;
    }
    if let Some(cell) = planned.first() {
        for line in outputs(record, &cell.cell)? {
            screen.data(&format!("{line}\n"))?;
        }
    }
    let figures = profile_figures(index, &has)?;
    if !figures.is_empty() {
        screen.table(&profile(&figures))?;
    }
    print::print_failures(record, index, screen)
}

/// What a workload answered to one input that it was given, from the newest run that succeeded: runs of one cell answer
/// the same. Empty where a workload has no such answers.
fn outputs(record: &Record, cell: &CellId) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for entry in record.entries()? {
        if let Entry::Finished { run, result } = entry?
            && result.status == Status::Succeeded
            && run.cell == *cell
        {
            let facts = result.settings.iter().map(|fact| (fact.name.clone(), fact.value.clone())).collect();
            lines = output(&facts, &result.series);
        }
    }
    Ok(lines)
}

/// What a profile reported of each operation; empty unless one cell alone was measured, since tables do not mix cells.
fn profile_figures(index: &Index, metrics: &[String]) -> anyhow::Result<Vec<(String, String, f64)>> {
    let mut figures = Vec::new();
    for metric in metrics {
        let named = metric.strip_prefix("profile.").and_then(|rest| rest.rsplit_once('.'));
        let Some((operation, figure)) = named else { continue };
        let (answer, _) = answers::judged(index, Some(metric), 0)?;
        if let [row] = answer.rows.as_slice()
            && let Some(estimate) = &row.estimate
        {
            figures.push((operation.to_owned(), figure.to_owned(), estimate.center));
        }
    }
    Ok(figures)
}
