//! A record as a study: all that a write-up says about it, gathered once.

mod roofline;

use std::collections::BTreeMap;

use assay_judge::course::course;
use assay_judge::findings::{Finding, beside};
use assay_judge::gather::gather;
use assay_judge::record::{JudgedRecord, rate_instead};
use assay_judge::{Evidence, JudgeError, pivot, scaling};
use assay_model::{Caveat, CellId, Entry, RunId, RunResult, Settings, Source, Status, names};
use assay_report::study::{
    ExampleRun, FailedRuns, Judged, RunNumber, SeriesCourse, Studies, Study, StudyOrigin,
};
use assay_store::{Index, IndexSummary, Record, RunFilter, RunRow, utc};

/// Metrics of endpoints that belong beside each other where a record has them.
const ENDPOINT_METRICS: [&str; 4] = ["output_throughput", "ttft.p50", "tpot.p50", "e2e.p50"];
/// Cells that are compared with the best one.
const MOST_COMPARED: usize = 2000;
/// Cells of which one run is shown with its phases and series.
const MOST_EXAMPLES: usize = 24;

/// What a study is wanted for.
pub struct StudyOptions<'a> {
    /// Metrics to judge by; empty for the campaign's own.
    pub metrics: &'a [String],
    /// The settings that a workload has unless a campaign says otherwise.
    pub defaults: &'a dyn Fn(&str) -> Settings,
}

/// Gathers what a write-up says about a record. `path` is its directory as the user would type it.
pub fn study(record: &Record, path: &str, options: &StudyOptions<'_>) -> Result<Study, JudgeError> {
    let index = record.index()?;
    let judged = JudgedRecord::new(&index)?;
    let answers = answers(&judged, &index, options)?;
    let summary = &judged.summary;
    let headline = answers.first().map(|judged| judged.answer.metric.name.clone()).unwrap_or_default();
    let plan = summary.plan.as_ref();
    let results = results(record, &headline)?;
    let pivoted = plan
        .zip(answers.first())
        .and_then(|(plan, judged)| pivot::pivot(&judged.evidence, &plan.layout, &plan.varied));
    Ok(Study {
        name: summary.name.clone(),
        path: path.to_owned(),
        question: plan.map(|plan| plan.question.clone()).filter(|question| !question.is_empty()),
        pivot: pivoted,
        published: plan.map(|plan| plan.layout.published.clone()).unwrap_or_default(),
        scaling: scaling_of(&index, summary)?,
        roofline: roofline::roofline(&index, summary)?,
        gates: judged.gates(record)?,
        findings: match answers.first() {
            Some(headline) => {
                let mut found = beside(&judged, &headline.evidence)?;
                found.retain(|finding| is_about(finding, &answers));
                found
            }
            None => Vec::new(),
        },
        failures: failures(&index)?,
        examples: examples(&answers, &results),
        numbers: numbers(record, &index, &headline, &results)?,
        origin: origin(record, summary)?,
        answers,
    })
}

/// Whether a finding can be checked by the reader: a law of a metric that the write-up does not show cannot.
fn is_about(finding: &Finding, answers: &[Judged]) -> bool {
    let is_law = ["law", "no_law", "efficiency"].contains(&finding.code.as_str());
    let names = |name: &str| finding.text.split([' ', ':']).any(|word| word == name);
    !is_law || answers.iter().any(|judged| names(&judged.answer.metric.name))
}

/// Several records; the later ones are compared with the first by its headline.
pub fn studies(records: Vec<Study>) -> Studies {
    let mut all = Studies::default();
    if let Some((base, others)) = records.split_first()
        && let Some(judged) = base.answers.first()
    {
        let name = &judged.answer.metric.name;
        for other in others {
            let found = other.answers.iter().find(|judged| judged.answer.metric.name == *name);
            let Some(found) = found else {
                all.not_compared
                    .push(format!("{} has no {name}, so it is not compared with {}", other.name, base.name));
                continue;
            };
            let same_name = base.name == other.name;
            let named = |study: &Study, evidence: &Evidence| {
                let name = if same_name { study.path.clone() } else { study.name.clone() };
                Evidence { name, ..evidence.clone() }
            };
            let (one, two) = (named(base, &judged.evidence), named(other, &found.evidence));
            match assay_judge::compare(&one, &two, &[]) {
                Ok(comparison) => all.comparisons.push(comparison),
                Err(error) => all.not_compared.push(error.to_string()),
            }
        }
    }
    all.studies = records;
    all
}

fn answers(
    record: &JudgedRecord<'_>,
    index: &Index,
    options: &StudyOptions<'_>,
) -> Result<Vec<Judged>, JudgeError> {
    let mut wanted: Vec<String> = options.metrics.to_vec();
    if wanted.is_empty() {
        let known: Vec<String> = index.metrics()?.into_iter().map(|metric| metric.name).collect();
        // A time does not rank cells that do different amounts of work; the rate of the work does, so it comes first.
        let evidence = record.evidence(record.headline())?;
        wanted.extend(rate_instead(&evidence, &record.answer(&evidence, 0)));
        let plan = record.summary.plan.as_ref();
        let columns = plan.map(|plan| plan.layout.columns.clone()).unwrap_or_default();
        let beside = columns.into_iter().chain(ENDPOINT_METRICS.map(str::to_owned));
        let beside = beside.filter(|name| known.contains(name));
        for name in [record.headline().to_owned()].into_iter().chain(beside) {
            if !wanted.contains(&name) {
                wanted.push(name);
            }
        }
    }
    let judged = wanted.iter().map(|name| {
        let evidence = record.evidence(name)?;
        let mut answer = record.answer_for_people(&evidence, MOST_COMPARED, options.defaults)?;
        if answer.rows.len() > MOST_COMPARED {
            answer.caveats.push(Caveat {
                code: "not_all_compared".to_owned(),
                text: format!("only the first {MOST_COMPARED} cells are compared with the best one"),
                hint: "`assay show -o answer.json` compares all".to_owned(),
            });
        }
        Ok(Judged { answer, evidence })
    });
    judged.collect()
}

fn scaling_of(index: &Index, summary: &IndexSummary) -> Result<Option<scaling::Scaling>, JudgeError> {
    let Some(plan) = &summary.plan else { return Ok(None) };
    let Some(study) = &plan.layout.scaling else { return Ok(None) };
    let evidence = gather(index, &summary.name, Some(plan), &study.metric)?;
    Ok(scaling::scaling(&evidence, &study.over, &plan.varied))
}

fn failures(index: &Index) -> Result<Vec<FailedRuns>, JudgeError> {
    let found = index.failures()?.into_iter().map(|failure| FailedRuns {
        reason: failure.reason,
        runs: failure.runs,
        example: failure.example.to_string(),
        hints: failure.hints,
    });
    Ok(found.take(20).collect())
}

/// What the journal knows that the index does not: where numbers stand, and what runs did over time.
struct Results {
    sources: BTreeMap<RunId, Source>,
    /// The first usable run of each cell.
    first: BTreeMap<CellId, (RunId, RunResult)>,
}

fn results(record: &Record, headline: &str) -> Result<Results, JudgeError> {
    let mut results = Results { sources: BTreeMap::new(), first: BTreeMap::new() };
    for entry in record.entries()? {
        let Entry::Finished { run, result } = entry? else { continue };
        let stated = result.observations.iter().find(|found| found.metric == headline);
        if let Some(source) = stated.and_then(|found| found.source.clone()) {
            results.sources.insert(run.clone(), source);
        }
        if result.status.is_usable() && !results.first.contains_key(&run.cell) {
            results.first.insert(run.cell.clone(), (run, *result));
        }
    }
    Ok(results)
}

fn examples(answers: &[Judged], results: &Results) -> Vec<ExampleRun> {
    let rows = answers.first().map_or(&[] as &[assay_judge::AnswerRow], |judged| &judged.answer.rows);
    let found = rows.iter().filter_map(|row| {
        let (run, result) = results.first.get(&row.cell)?;
        Some(example(assay_report::document::label(row), run, result))
    });
    found.take(MOST_EXAMPLES).collect()
}

/// One run with what it printed over time.
pub fn example(label: String, run: &RunId, result: &RunResult) -> ExampleRun {
    let series = result.series.iter().map(|series| {
        let found = course(&series.values, &series.unit);
        SeriesCourse { series: series.clone(), warm_up: found.warm_up, changes: found.changes }
    });
    let job = result.observations.iter().find(|found| found.metric == names::DURATION_JOB);
    ExampleRun {
        run: run.to_string(),
        label,
        phases: result.phases.clone(),
        series: series.collect(),
        job_s: job.map(|found| found.value),
    }
}

fn numbers(
    record: &Record,
    index: &Index,
    headline: &str,
    results: &Results,
) -> Result<BTreeMap<CellId, Vec<RunNumber>>, JudgeError> {
    let values: BTreeMap<RunId, f64> =
        index.values(headline)?.into_values().flatten().map(|found| (found.run, found.value)).collect();
    let mut numbers: BTreeMap<CellId, Vec<RunNumber>> = BTreeMap::new();
    for row in index.runs(&RunFilter { current: true, ..RunFilter::default() })? {
        let number = number(&row, values.get(&row.run).copied(), results.sources.get(&row.run).cloned());
        numbers.entry(row.run.cell).or_default().push(number);
    }
    for first in numbers.values_mut().filter_map(|runs| runs.first_mut()) {
        first.script = script(record, &first.directory);
    }
    Ok(numbers)
}

fn number(row: &RunRow, value: Option<f64>, source: Option<Source>) -> RunNumber {
    RunNumber {
        run: row.run.to_string(),
        directory: row.directory.clone(),
        status: row.status.as_ref().map_or("open", Status::word).to_owned(),
        value,
        script: None,
        source,
    }
}

/// The script of a run below its record, where it is there.
fn script(record: &Record, directory: &str) -> Option<String> {
    let path = record.script(directory);
    let below = path.strip_prefix(record.run_directory("")).ok().filter(|_| path.is_file())?;
    Some(below.to_string_lossy().into_owned())
}

fn origin(record: &Record, summary: &IndexSummary) -> Result<StudyOrigin, JudgeError> {
    // The first entry names the program; the journal need not be read again for that.
    let program = match record.entries()?.next().transpose()? {
        Some(Entry::Record { program, .. }) => Some(program),
        _ => None,
    };
    let plan = summary.plan.as_ref();
    Ok(StudyOrigin {
        created: (summary.created > 0.0).then(|| utc(summary.created)),
        program,
        machine: summary.machine.clone(),
        campaign: plan.map(|plan| plan.campaign.clone()).filter(|text| !text.trim().is_empty()),
        seed: plan.map(|plan| plan.seed),
        damage: summary.damage.is_worth_reporting().then(|| summary.damage.to_string()),
    })
}
