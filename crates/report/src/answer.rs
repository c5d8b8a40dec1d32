//! What a record says, as a table.

use assay_judge::verdict::Estimator;
use assay_judge::{Answer, AnswerRow, Effect};
use assay_model::{Direction, Estimate, Metric, Unit, Verdict};

use crate::number::{Scale, percent};
use crate::table::{Cell, Column, Table, Tone};

/// The table of a record's cells; at most `most_rows` of them.
pub fn table(answer: &Answer, question: Option<&str>, most_rows: usize) -> Table {
    let mut table = Table { heading: heading(answer, question), ..Table::default() };
    let scale = scale(&answer.metric, answer.rows.iter().filter_map(|row| row.estimate.as_ref()));
    table.columns = columns(answer, &scale);
    table.keys = answer.varied.len();
    for (index, row) in answer.rows.iter().enumerate().take(most_rows) {
        let cells = row_cells(answer, row, index, &scale, &mut table);
        table.rows.push(cells);
    }
    table.notes = notes(answer, most_rows);
    for caveat in &answer.caveats {
        table.doubt(&caveat.text, &caveat.hint);
    }
    table
}

/// The scale of a column of estimates.
pub(crate) fn scale<'a>(metric: &Metric, estimates: impl Iterator<Item = &'a Estimate>) -> Scale {
    Scale::for_column(&metric.unit, estimates.map(|estimate| estimate.center))
}

/// The metric, its unit and its direction, for headings.
pub(crate) fn metric_title(metric: &Metric) -> String {
    match metric.better {
        Some(Direction::Lower) => format!("{} (lower is better)", metric.name),
        Some(Direction::Higher) => format!("{} (higher is better)", metric.name),
        None => metric.name.clone(),
    }
}

/// The median and the interval of an estimate, as two cells.
pub(crate) fn estimate_cells(estimate: Option<&Estimate>, scale: &Scale) -> [Cell; 2] {
    let Some(estimate) = estimate else { return [Cell::toned("-", Tone::Faint), Cell::default()] };
    let decimals = scale.decimals(estimate.center, estimate.low, estimate.high);
    let show = |value: f64| scale.show(value, decimals);
    let interval = match estimate.samples {
        1 => String::new(),
        _ => format!("{} – {}", show(estimate.low), show(estimate.high)),
    };
    [Cell::new(show(estimate.center)), Cell::toned(interval, Tone::Faint)]
}

/// The median and the interval of an estimate in one cell: `1.5 (1.4 – 1.6)`.
pub(crate) fn estimate_cell(estimate: Option<&Estimate>, scale: &Scale) -> Cell {
    let [median, interval] = estimate_cells(estimate, scale);
    match interval.text.is_empty() {
        true => median,
        false => Cell::new(format!("{} ({})", median.text, interval.text)),
    }
}

/// What the intervals of a table are: the least confidence of any, and which numbers have none.
pub(crate) fn interval_note<'a>(estimates: impl Iterator<Item = &'a Estimate>) -> String {
    let least = estimates.filter(|one| one.samples > 1).map(|one| one.confidence).reduce(f64::min);
    match least {
        Some(least) => format!(
            "medians, in brackets the interval that covers the true one with at least {:.0} % confidence",
            (least * 100.0).floor()
        ),
        None => "single runs, which have no interval".to_owned(),
    }
}

/// A number with the marks of the doubts about it.
pub(crate) fn marked(number: Cell, estimate: Option<&Estimate>, table: &mut Table) -> Cell {
    let caveats = estimate.map(|estimate| estimate.caveats.as_slice()).unwrap_or_default();
    let marks = caveats.iter().map(|caveat| table.footnote(&caveat.text, &caveat.hint));
    let words: Vec<String> =
        std::iter::once(number.text).chain(marks).filter(|word| !word.is_empty()).collect();
    Cell { text: words.join(" "), tone: number.tone }
}

fn heading(answer: &Answer, question: Option<&str>) -> Vec<String> {
    let title = match question.filter(|question| !question.is_empty()) {
        Some(question) => format!("{}: {question}", answer.name),
        None => answer.name.clone(),
    };
    let mut lines = vec![title, metric_title(&answer.metric)];
    if !answer.common.is_empty() {
        let common: Vec<String> =
            answer.common.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        lines.push(format!("in all cells: {}", common.join(", ")));
    }
    lines
}

fn columns(answer: &Answer, scale: &Scale) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for name in &answer.varied {
        let numeric =
            answer.rows.iter().all(|row| row.settings.get(name).is_none_or(|value| value.number().is_some()));
        columns.push(if numeric { Column::right(name) } else { Column::left(name) });
    }
    if answer.several_platforms || answer.varied.is_empty() {
        columns.push(Column::left("platform"));
    }
    columns.push(Column::right(scale.titled("median")));
    columns.push(Column::left("interval"));
    columns.push(Column::right("runs"));
    columns.push(Column::right("spread").secondary());
    if answer.best.is_some() {
        columns.push(Column::left("vs best"));
    }
    columns.push(Column::left(""));
    columns
}

fn row_cells(answer: &Answer, row: &AnswerRow, index: usize, scale: &Scale, table: &mut Table) -> Vec<Cell> {
    let mut cells: Vec<Cell> = answer
        .varied
        .iter()
        .map(|name| {
            row.settings
                .get(name)
                .map_or_else(|| Cell::toned("-", Tone::Faint), |value| Cell::new(value.to_string()))
        })
        .collect();
    if answer.several_platforms || answer.varied.is_empty() {
        cells.push(Cell::new(row.cell.platform.clone()));
    }
    if row.estimate.is_none() && row.counts.unfit > 0 {
        cells.extend([Cell::toned("does not fit", Tone::Doubt), Cell::default()]);
    } else {
        cells.extend(estimate_cells(row.estimate.as_ref(), scale));
    }
    cells.push(Cell::new(row.estimate.as_ref().map_or(0, |estimate| estimate.samples).to_string()));
    cells.push(Cell::new(row.spread.map(percent).unwrap_or_default()));
    if answer.best.is_some() {
        cells.push(match (&row.against_best, answer.best == Some(index)) {
            (_, true) if !is_compared(answer) => Cell::toned("?", Tone::Doubt),
            (_, true) if answer.may_be_best.len() > 1 => Cell::toned("~", Tone::Doubt),
            (_, true) => Cell::toned("best", Tone::Good),
            (Some(effect), false) => marked_effect_cell(effect, &answer.metric, table),
            (None, false) => Cell::default(),
        });
    }
    cells.push(remarks(row, table));
    cells
}

/// The same with the reason below the table where too few runs say nothing.
pub(crate) fn marked_effect_cell(effect: &Effect, metric: &Metric, table: &mut Table) -> Cell {
    let mut cell = effect_cell(effect, metric);
    if effect.interval.is_none()
        && let Some(reason) = &effect.reason
    {
        let hint = if effect.lacks_runs() { MORE_RUNS } else { POSITIVE_VALUES };
        cell.text.push_str(&format!(" {}", table.footnote(reason, hint)));
    }
    cell
}

/// What to do about intervals that are missing or too wide.
pub(crate) const MORE_RUNS: &str =
    "raise `[repeats] at_least` (or `--repeats`) and run again; finished runs are kept";

/// What to do where values have no ratio.
const POSITIVE_VALUES: &str = "choose a metric that is above zero, such as a time or a rate of success";

/// What can be said of a row against another: the size of the difference, `~` where they are indistinguishable, or `?`
/// where too few runs say nothing.
pub(crate) fn effect_cell(effect: &Effect, metric: &Metric) -> Cell {
    match effect.verdict {
        Verdict::Unclear if effect.interval.is_none() => Cell::toned("?", Tone::Doubt),
        Verdict::Same => Cell::toned("=", Tone::Doubt),
        Verdict::Unclear => Cell::toned("~", Tone::Doubt),
        Verdict::Worse => Cell::toned(difference(effect, metric), Tone::Bad),
        Verdict::Better => Cell::toned(difference(effect, metric), Tone::Good),
    }
}

/// The difference in words that fit the metric: times and rates are faster or slower, the rest better or worse.
fn difference(effect: &Effect, metric: &Metric) -> String {
    let speed = matches!(metric.unit, Unit::Seconds | Unit::PerSecond(_));
    let worse = effect.verdict == Verdict::Worse;
    if !speed {
        let digits = if metric.margin() < 0.01 { 2 } else { 1 };
        let change = |ratio: f64| format!("{:+.digits$}", (ratio - 1.0) * 100.0);
        let ends = effect.interval.map(|ends| format!(" ({} – {})", change(ends.low), change(ends.high)));
        let word = if worse { "worse" } else { "better" };
        return format!("{} %{} {word}", change(effect.ratio), ends.unwrap_or_default());
    }
    let turn = |ratio: f64| if effect.ratio >= 1.0 { ratio } else { 1.0 / ratio };
    let word = if worse { "slower" } else { "faster" };
    match effect.interval {
        Some(ends) => {
            let (a, b) = (turn(ends.low), turn(ends.high));
            format!("{:.2}× {word} ({:.2} – {:.2})", turn(effect.ratio), a.min(b), a.max(b))
        }
        None => format!("{:.2}× {word}", turn(effect.ratio)),
    }
}

fn remarks(row: &AnswerRow, table: &mut Table) -> Cell {
    let mut words: Vec<String> = Vec::new();
    for (count, word) in
        [(row.counts.failed, "failed"), (row.counts.timed_out, "timed out"), (row.counts.missing, "missing")]
    {
        if count > 0 {
            words.push(format!("{count} {word}"));
        }
    }
    if !row.planned {
        words.push("†".to_owned());
    }
    let marks: Vec<String> =
        row.caveats.iter().map(|caveat| table.footnote(&caveat.text, &caveat.hint)).collect();
    let tone = if row.counts.failed + row.counts.timed_out > 0 { Tone::Bad } else { Tone::Doubt };
    let separator = if words.is_empty() || marks.is_empty() { "" } else { " " };
    Cell::toned(format!("{}{separator}{}", words.join(", "), marks.join(" ")), tone)
}

/// What `=` means for a metric.
pub(crate) fn equal_within(metric: &Metric) -> String {
    format!("= equal within {} %", metric.margin() * 100.0)
}

/// How the ratios of a table were estimated, for its legend.
pub(crate) fn estimators<'a>(effects: impl Iterator<Item = &'a Effect>) -> &'static str {
    let ranks = "median of the ratios of all pairs of runs (Hodges–Lehmann)";
    let means = "ratio of geometric means (Welch's t on logarithms)";
    let found: Vec<Estimator> = effects.filter_map(|effect| Some(effect.interval?.estimator)).collect();
    let has = |estimator: Estimator| found.contains(&estimator);
    match (has(Estimator::HodgesLehmann), has(Estimator::GeometricMeans)) {
        (_, false) => ranks,
        (false, true) => means,
        (true, true) => {
            "median of the ratios of all pairs of runs (Hodges–Lehmann); with few runs ratio of geometric means (Welch)"
        }
    }
}

/// Whether any row could be compared with the best one.
fn is_compared(answer: &Answer) -> bool {
    let effects = answer.rows.iter().filter_map(|row| row.against_best.as_ref());
    effects.into_iter().any(|effect| effect.interval.is_some())
}

fn notes(answer: &Answer, most_rows: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(more) = answer.rows.len().checked_sub(most_rows).filter(|more| *more > 0) {
        notes.push(format!("… and {more} more rows: `--all` shows them, `-o FILE` writes them to a file"));
    }
    let confidences = answer.rows.iter().filter_map(|row| row.estimate.as_ref()).filter(|e| e.samples > 1);
    if let Some(least) = confidences.map(|estimate| estimate.confidence).reduce(f64::min) {
        notes.push(format!(
            "interval: covers the true median with at least {:.0} % confidence",
            (least * 100.0).floor()
        ));
        notes.push("spread: interquartile range / median".to_owned());
    }
    if answer.best.is_none() {
        return notes;
    }
    let effects = || answer.rows.iter().filter_map(|row| row.against_best.as_ref());
    let named = |verdict: Verdict| effects().any(|effect| effect.verdict == verdict);
    if named(Verdict::Worse) {
        let together = if effects().count() > 1 { ", which hold for all rows together" } else { "" };
        notes.push(format!("vs best: {}, with 95 % intervals{together}", estimators(effects())));
    }
    if answer.may_be_best.len() > 1 && is_compared(answer) {
        let same = if named(Verdict::Same) {
            format!(", or {}", equal_within(&answer.metric))
        } else {
            String::new()
        };
        let among = answer.may_be_best.len();
        let others = match answer.not_compared {
            0 => String::new(),
            count => format!(", of which {count} were not compared"),
        };
        notes.push(format!(
            "~ may be the best{same}: with 95 % confidence the best is one of these {among} rows{others}"
        ));
    }
    if effects().any(Effect::lacks_runs) {
        notes.push("? too few runs to compare".to_owned());
    }
    notes
}
