//! What a one-off measurement of a workload says, in a few lines for each cell.

use assay_judge::{Answer, AnswerRow};
use assay_model::{CellId, Estimate, Series, Settings, Unit, names};

use crate::number::{Scale, percent, single};
use crate::table::{Cell, Column, Table};

const LATENCY_MEDIAN: &str = "latency.p50";
const LATENCY_TAIL: &str = "latency.p99";

/// Work done in a second; a workload reports one of them.
const RATES: [&str; 3] = [names::INFERENCES_PER_S, names::TOKENS_PER_S, names::SAMPLES_PER_S_LOOP];

/// The metrics that are shown where a record has them; the first one is the time.
pub const METRICS: [&str; 14] = [
    names::TIME_ITERATION,
    names::TIME_FIRST,
    names::LATENCY,
    LATENCY_MEDIAN,
    LATENCY_TAIL,
    names::INFERENCES_PER_S,
    names::ACCURACY,
    names::TOKENS_PER_S,
    names::SAMPLES_PER_S_LOOP,
    names::FLOPS_PER_S,
    names::MFU,
    names::MEMORY_PEAK,
    names::PARAMETERS,
    names::LOSS_TRAIN,
];

/// The lines about every cell. `answers` are of one record, one for each of [`METRICS`] that it has.
pub fn lines(workload: &str, shown: &Settings, answers: &[Answer]) -> Vec<String> {
    let Some(first) = answers.first() else { return Vec::new() };
    let mut lines = Vec::new();
    for row in first.rows.iter().filter(|row| row.planned) {
        let mut settings = shown.clone();
        settings.extend(row.settings.clone());
        let words: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        lines.push(format!("{workload}  {}", words.join(" ")));
        if row.estimate.is_none() {
            lines.push(format!("  {}", without_value(row)));
        } else {
            lines.extend(cell_lines(answers, &row.cell));
        }
        lines.extend(row.caveats.iter().map(|caveat| format!("  note: {}", caveat.text)));
        lines.push(String::new());
    }
    lines
}

/// The time of each operation of a profiled cell, the longest first. `figures` are those of one cell: name of the
/// operation, name of the figure, value.
pub fn profile(figures: &[(String, String, f64)]) -> Table {
    let figure = |operation: &str, name: &str| {
        let found = figures.iter().find(|(of, figure, _)| of == operation && figure == name);
        found.map(|(.., value)| *value)
    };
    let mut operations: Vec<(&str, f64)> = figures
        .iter()
        .filter(|(_, name, _)| name == "seconds")
        .map(|(operation, _, seconds)| (operation.as_str(), *seconds))
        .collect();
    operations.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut table = Table {
        heading: vec!["operations of one iteration; a profiled run is slower than a plain one".to_owned()],
        columns: vec![Column::left("operation")],
        ..Table::default()
    };
    table.columns.extend(["time", "share", "rate", "of peak"].map(Column::right));
    for (operation, seconds) in operations {
        let rate = figure(operation, "flops_per_s").map(|rate| format!("{:.1} GFLOP/s", rate / 1e9));
        table.rows.push(vec![
            Cell::new(operation),
            Cell::new(single(&Unit::Seconds, seconds)),
            Cell::new(figure(operation, "share").map(percent).unwrap_or_default()),
            Cell::new(rate.unwrap_or_default()),
            Cell::new(figure(operation, "mfu").map(percent).unwrap_or_default()),
        ]);
    }
    table
}

/// The answer to one input, from what a run reported: the input as a model sees it, scores, probabilities, and the label.
pub fn output(facts: &Settings, series: &[Series]) -> Vec<String> {
    let fact = |name: &str, shown: &str| Some(format!("{shown}: {}", facts.get(name)?));
    let numbers = |metric: &str, shown: &str| {
        let found = series.iter().find(|series| series.metric == metric)?;
        let words: Vec<String> = found.values.iter().map(|value| format!("{value:.4}")).collect();
        Some(format!("{shown}: {}", words.join(" ")))
    };
    let lines = [
        fact("input_ids", "input_ids"),
        fact("attention_mask", "attention_mask"),
        numbers(names::LOGITS, "logits"),
        numbers(names::PROBABILITIES, "probabilities"),
        fact("label", "class label"),
    ];
    lines.into_iter().flatten().collect()
}

/// A rate that belongs to the time beside it. The median of an even number of rates is not the work divided by the
/// median time; the ends of the two intervals are of the same runs, though, so that their product is the work.
fn agreeing_rate(rate: &Estimate, time: Option<&Estimate>) -> f64 {
    let Some(time) = time.filter(|time| time.samples == rate.samples) else { return rate.center };
    let (work, other) = (rate.low * time.high, rate.high * time.low);
    if (work - other).abs() <= 0.01 * work { work / time.center } else { rate.center }
}

/// Several cells side by side: their rates, memory and accuracy with their intervals in a row of their own, as far as they
/// are known. None without any.
pub fn overview(answers: &[Answer]) -> Option<Table> {
    let first = answers.first()?;
    let known = |metric: &&str| answers.iter().any(|answer| answer.metric.name == *metric);
    let metrics: Vec<&str> =
        RATES.into_iter().chain([names::MFU, names::MEMORY_PEAK, names::ACCURACY]).filter(known).collect();
    let settings: Vec<&String> = first.rows.first()?.settings.keys().collect();
    let columns = settings.iter().map(|name| Column::right(name.as_str())).collect();
    let mut table = Table { columns, ..Table::default() };
    table.columns.extend(metrics.iter().map(|metric| match *metric {
        names::MFU => Column::right("of peak"),
        names::MEMORY_PEAK => Column::right("memory"),
        names::ACCURACY => Column::right("accuracy"),
        names::TOKENS_PER_S => Column::right("tokens"),
        names::INFERENCES_PER_S => Column::right("inferences"),
        _ => Column::right("samples"),
    }));
    table.columns.push(Column::right("runs"));
    let mut confidences: Vec<f64> = Vec::new();
    for row in first.rows.iter().filter(|row| row.planned) {
        let estimate = |metric: &str| {
            let answer = answers.iter().find(|answer| answer.metric.name == metric)?;
            let row = answer.rows.iter().find(|other| other.cell == row.cell)?;
            Some((row.estimate.as_ref()?, &answer.metric.unit))
        };
        let time = estimate(names::TIME_ITERATION).map(|(time, _)| time);
        let runs = metrics.iter().filter_map(|metric| Some(estimate(metric)?.0.samples)).max().unwrap_or(0);
        let values = settings.iter().map(|name| row.settings.get(*name).map(ToString::to_string));
        let figures = metrics.iter().map(|metric| {
            let (found, unit) = estimate(metric)?;
            Some(match *metric {
                names::MFU => percent(agreeing_rate(found, time)),
                names::ACCURACY => format!("{:.2} %", 100.0 * found.center),
                names::MEMORY_PEAK => single(unit, found.center),
                _ => single(unit, agreeing_rate(found, time)),
            })
        });
        let all = values.chain(figures).chain([Some(runs.to_string())]);
        table.rows.push(all.map(|text| Cell::new(text.unwrap_or_default())).collect());
        let several = |metric: &&str| estimate(metric).filter(|(found, _)| found.samples > 1);
        let ends =
            metrics.iter().map(|metric| several(metric).map(|(found, unit)| ends(metric, found, unit)));
        let below: Vec<String> = ends.map(Option::unwrap_or_default).collect();
        confidences.extend(metrics.iter().filter_map(several).map(|(found, _)| found.confidence));
        if below.iter().any(|text| !text.is_empty()) {
            let names = settings.iter().map(|_| String::new());
            table.rows.push(names.chain(below).chain([String::new()]).map(Cell::new).collect());
        }
    }
    table.notes.push(match confidences.into_iter().min_by(f64::total_cmp) {
        Some(least) => {
            format!("medians over runs; below them, intervals of at least {} confidence", percent(least))
        }
        None => "one run each: no intervals".to_owned(),
    });
    (!metrics.is_empty()).then_some(table)
}

/// The interval of a figure, in the scale of its center.
fn ends(metric: &str, found: &Estimate, unit: &Unit) -> String {
    match metric {
        names::MFU => format!("{} – {}", percent(found.low), percent(found.high)),
        names::ACCURACY => format!("{:.2} – {:.2}", 100.0 * found.low, 100.0 * found.high),
        _ => {
            let scale = Scale::for_value(unit, found.center);
            let decimals = scale.decimals(found.center, found.low, found.high);
            format!("{} – {}", scale.show(found.low, decimals), scale.show(found.high, decimals))
        }
    }
}

fn without_value(row: &AnswerRow) -> String {
    let counts = row.counts;
    if counts.unfit > 0 {
        "does not fit".to_owned()
    } else if counts.failed + counts.timed_out > 0 {
        "failed".to_owned()
    } else {
        "not measured".to_owned()
    }
}

fn cell_lines(answers: &[Answer], cell: &CellId) -> Vec<String> {
    let estimate = |metric: &str| {
        let answer = answers.iter().find(|answer| answer.metric.name == metric)?;
        let row = answer.rows.iter().find(|row| row.cell == *cell)?;
        Some((row.estimate.as_ref()?, &answer.metric.unit))
    };
    let shown = |metric: &str| estimate(metric).map(|(found, unit)| brief(found.center, found, unit));
    let mut lines = Vec::new();
    if let Some((time, unit)) = estimate(names::TIME_ITERATION) {
        lines.push(format!("  time        {}", with_interval(time, unit)));
    }
    if let Some(first) = shown(names::TIME_FIRST) {
        lines.push(format!("  first       {first}"));
    }
    if let Some((latency, unit)) = estimate(names::LATENCY) {
        let rank = |name: &str, metric: &str| shown(metric).map(|value| format!(", {name} {value}"));
        let [median, tail] =
            [("p50", LATENCY_MEDIAN), ("p99", LATENCY_TAIL)].map(|(name, metric)| rank(name, metric));
        let ranks = [median, tail].into_iter().flatten().collect::<String>();
        lines.push(format!("  latency     {}{ranks}", with_interval(latency, unit)));
    }
    let time = estimate(names::TIME_ITERATION).map(|(time, _)| time);
    let rate = |metric: &str| {
        estimate(metric)
            .map(|(rate, unit)| (agreeing_rate(rate, time), brief(agreeing_rate(rate, time), rate, unit)))
    };
    let peak = rate(names::MFU).map(|(share, text)| match share > 1.0 {
        // The machine was busy when its peak was measured.
        true => "above the cached peak: measure it again with `assay doctor peak`".to_owned(),
        false => format!("{text} of peak"),
    });
    let rates = RATES.iter().chain([&names::FLOPS_PER_S]).filter_map(|metric| rate(metric));
    let rates: Vec<String> = rates.map(|(_, text)| text).chain(peak).collect();
    if !rates.is_empty() {
        lines.push(format!("  rate        {}", rates.join(", ")));
    }
    let parameters =
        estimate(names::PARAMETERS).map(|(count, _)| format!("{} parameters", short(count.center)));
    let memory: Vec<String> = shown(names::MEMORY_PEAK).into_iter().chain(parameters).collect();
    if !memory.is_empty() {
        lines.push(format!("  memory      {}", memory.join(", ")));
    }
    if let Some(loss) = shown(names::LOSS_TRAIN) {
        lines.push(format!("  loss        {loss}"));
    }
    if let Some((accuracy, unit)) = estimate(names::ACCURACY) {
        lines.push(format!("  accuracy    {}", with_interval(accuracy, unit)));
    }
    lines
}

/// A figure beside a time whose line says of how many runs it is: its center, and its interval where it has one.
fn brief(center: f64, found: &Estimate, unit: &Unit) -> String {
    let scale = Scale::for_value(unit, center);
    let decimals = scale.decimals(center, found.low, found.high);
    let show = |value: f64| scale.show(value, decimals);
    let ends = match found.samples > 1 && found.low < found.high {
        true => format!(" ({} – {})", show(found.low), show(found.high)),
        false => String::new(),
    };
    let name = if scale.name.is_empty() { String::new() } else { format!(" {}", scale.name) };
    format!("{}{name}{ends}", show(center))
}

fn with_interval(estimate: &Estimate, unit: &Unit) -> String {
    let scale = Scale::for_value(unit, estimate.center);
    let decimals = scale.decimals(estimate.center, estimate.low, estimate.high);
    let show = |value: f64| scale.show(value, decimals);
    let runs = crate::number::counted(estimate.samples as u64, "run");
    match estimate.samples {
        1 => format!("{} {}  (one run: no interval)", show(estimate.center), scale.name),
        _ => format!(
            "{} {}  ({} – {}, {:.0} % interval of the median of {runs})",
            show(estimate.center),
            scale.name,
            show(estimate.low),
            show(estimate.high),
            (estimate.confidence * 100.0).floor()
        ),
    }
}

/// A rate without its unit: `11.8 k`.
pub(crate) fn short_rate(rate: f64) -> String {
    if rate >= 1e3 { short(rate) } else { format!("{rate:.4}") }
}

/// A count as people say it: `128.6M`, `3.38B`.
pub fn short(count: f64) -> String {
    match count {
        count if count >= 1e9 => format!("{:.2}B", count / 1e9),
        count if count >= 1e6 => format!("{:.1}M", count / 1e6),
        count if count >= 1e3 => format!("{:.1}K", count / 1e3),
        count => format!("{count}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_agree_with_the_time_beside_them() {
        let estimate = |low: f64, center: f64, high: f64| Estimate {
            center,
            low,
            high,
            confidence: 0.5,
            samples: 2,
            caveats: Vec::new(),
        };
        let time = estimate(0.1, 0.55, 1.0);
        let rate = estimate(32.0, 176.0, 320.0);
        assert!((agreeing_rate(&rate, Some(&time)) - 32.0 / 0.55).abs() < 1e-9);
        assert_eq!(agreeing_rate(&rate, None), 176.0);
        assert_eq!(agreeing_rate(&estimate(1.0, 2.0, 3.0), Some(&time)), 2.0);
    }

    #[test]
    fn a_profile_begins_with_what_takes_longest() {
        let figures = [("norm", "seconds", 0.001), ("qkv", "seconds", 0.2), ("qkv", "mfu", 0.9)];
        let figures = figures.map(|(of, name, value)| (of.to_owned(), name.to_owned(), value));
        let table = profile(&figures);
        assert_eq!(table.rows[0][0].text, "qkv");
        assert_eq!(table.rows[0][4].text, "90 %");
        assert_eq!(table.rows[1][4].text, "");
    }

    #[test]
    fn an_output_has_its_input_and_its_scores() {
        let series = |metric: &str, values: &[f64]| Series {
            metric: metric.to_owned(),
            values: values.to_vec(),
            ..Series::default()
        };
        let facts = [("size", "tiny"), ("input_ids", "101 102"), ("label", "1 (positive)")];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.into())).into();
        let scores = [
            series(names::LOGITS, &[-1.907_21, 2.169_9]),
            series(names::PROBABILITIES, &[0.016_7]),
            series(names::TIME_ITERATION, &[0.5]),
        ];
        let expected = [
            "input_ids: 101 102",
            "logits: -1.9072 2.1699",
            "probabilities: 0.0167",
            "class label: 1 (positive)",
        ];
        assert_eq!(output(&facts, &scores), expected);
        assert!(output(&Settings::new(), &[]).is_empty());
    }

    #[test]
    fn counts_are_said_as_write_ups_say_them() {
        assert_eq!([1.209e8, 3.381e9, 950.0].map(short), ["120.9M", "3.38B", "950"]);
    }
}
