//! What a record supports, in sentences: each from a verdict, a law or a study of iterations, with its numbers and the
//! cells it rests on. No sentence says more than its interval does.

use std::collections::BTreeMap;

use assay_model::{CellId, Direction, Estimate, Metric, Settings, Unit, Verdict};
use assay_stats as stats;
use serde::Serialize;

use crate::answer::{Answer, Row, UNEQUAL_WORK};
use crate::gather::{CellEvidence, Evidence};
use crate::iterations::IterationStudy;
use crate::law::{FittedLaw, LawKind};
use crate::scaling::{Scaling, ScalingRow, WORKERS, is_batch, scaling};

/// The most cells that a sentence names.
const MOST_NAMED: usize = 4;
/// The fewest cells whose own spread stands in for that of repeats.
const FEWEST_FOR_SPREAD: usize = 4;
/// The fewest sizes of a model that show how its time grows.
const FEWEST_SIZES: usize = 3;
/// The power with which a difference is to be found when repeats are counted: 80 %.
const POWER_QUANTILE: f64 = 0.841_621_233_572_914_3;
/// The two-sided 95 % quantile of the normal distribution.
const LEVEL_QUANTILE: f64 = 1.959_963_984_540_054;

/// One sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A short stable name, for scripts.
    pub code: String,
    /// The sentence.
    pub text: String,
    /// The cells it rests on.
    pub cells: Vec<CellId>,
}

fn finding(code: &str, text: String, cells: Vec<CellId>) -> Finding {
    Finding { code: code.to_owned(), text, cells }
}

/// What an answer says about its metric: which cells may be the best, and what it would take to separate them.
pub fn of_answer(answer: &Answer, evidence: &Evidence) -> Vec<Finding> {
    let mut found: Vec<Finding> = answer
        .caveats
        .iter()
        .filter(|caveat| caveat.code == UNEQUAL_WORK)
        .map(|caveat| finding(UNEQUAL_WORK, capitalized(&caveat.text), Vec::new()))
        .collect();
    let Some(best) = answer.best.and_then(|best| answer.rows.get(best)) else { return found };
    let compared: Vec<&Row> = answer.rows.iter().filter(|row| row.against_best.is_some()).collect();
    let has_interval =
        |row: &&&Row| row.against_best.as_ref().is_some_and(|effect| effect.interval.is_some());
    let metric = &answer.metric;
    let cells = |rows: &[&Row]| rows.iter().map(|row| row.cell.clone()).collect();
    let level = best.estimate.as_ref().map(|estimate| with_interval(estimate, metric)).unwrap_or_default();
    if compared.iter().filter(has_interval).count() == 0 {
        let runs = answer.rows.iter().filter_map(|row| row.estimate.as_ref()).map(|e| e.samples).max();
        let text = format!(
            "The cells are not ranked by {}: with at most {} each nothing separates a difference from noise; 4 or more \
             runs a cell would",
            metric.name,
            counted(runs.unwrap_or(0), "run")
        );
        found.push(finding("not_ranked", text, cells(&compared)));
        found.extend(repeats_needed(answer, evidence));
        return found;
    }
    let candidates: Vec<&Row> =
        answer.may_be_best.iter().filter_map(|index| answer.rows.get(*index)).collect();
    match candidates.as_slice() {
        [only] => {
            let next = compared
                .iter()
                .filter_map(|row| Some((*row, row.against_best.as_ref()?)))
                .min_by(|a, b| a.1.ratio.ln().abs().total_cmp(&b.1.ratio.ln().abs()));
            let next = next.map(|(row, effect)| {
                let ends = effect
                    .interval
                    .map(|ends| format!(" (95 % interval {:.3} – {:.3})", ends.low, ends.high))
                    .unwrap_or_default();
                format!("; the next, {}, has {:.3} times that{ends}", label(&row.settings), effect.ratio)
            });
            let word = if metric.better == Some(Direction::Lower) { "lowest" } else { "highest" };
            let text = format!(
                "{} has the {word} {}: {level}{}",
                label(&only.settings),
                metric.name,
                next.unwrap_or_default()
            );
            found.push(finding("best", text, cells(&[only])));
        }
        several => {
            let names: Vec<String> =
                several.iter().take(MOST_NAMED).map(|row| label(&row.settings)).collect();
            let more = several.len().saturating_sub(MOST_NAMED);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            let text = format!(
                "{} of {} cells may have the best {}: {}{rest}; the runs do not separate them",
                several.len(),
                compared.len() + 1,
                metric.name,
                names.join(", ")
            );
            found.push(finding("may_be_best", text, cells(several)));
            found.extend(repeats_needed(answer, evidence));
        }
    }
    found
}

/// How many repeats would separate the best cell from the next, at the noise that the repeats show:
/// n = 2·((z₀.₉₇₅ + z₀.₈)·s/δ)² a cell.
fn repeats_needed(answer: &Answer, evidence: &Evidence) -> Option<Finding> {
    let centers: Vec<f64> =
        answer.rows.iter().filter_map(|row| Some(row.estimate.as_ref()?.center)).collect();
    let pooled = stats::pooled(evidence.cells.iter().map(|cell| cell.values.as_slice()));
    let unit = &answer.metric.unit;
    let (deviation, source) = match pooled.filter(|spread| spread.deviation > 0.0) {
        Some(spread) => {
            let runs = format!("{} runs in {}", spread.samples, counted(spread.groups, "cell"));
            (
                spread.deviation,
                format!(
                    "Repeats differ by a standard deviation of {} ({runs})",
                    difference_shown(spread.deviation, unit)
                ),
            )
        }
        None if centers.len() >= FEWEST_FOR_SPREAD => {
            let deviation = stats::pooled([centers.as_slice()])?.deviation;
            let text = format!(
                "Without repeats the noise is unknown; if no setting made a difference, it would be the standard deviation \
                 of the {} cells, {}",
                centers.len(),
                difference_shown(deviation, unit)
            );
            (deviation, text)
        }
        None => return None,
    };
    let difference = difference_to_find(&centers, &answer.metric)?;
    if difference <= 0.0 || deviation <= 0.0 {
        return None;
    }
    let needed = 2.0 * ((LEVEL_QUANTILE + POWER_QUANTILE) * deviation / difference).powi(2);
    let text = format!(
        "{source}; to find a difference of {} in four of five cases takes about {} runs a cell",
        difference_shown(difference, unit),
        needed.ceil().max(4.0)
    );
    Some(finding("repeats_needed", text, Vec::new()))
}

/// The difference worth finding: 0.3 points of an accuracy, else the largest that the cells show.
fn difference_to_find(centers: &[f64], metric: &Metric) -> Option<f64> {
    if metric.name.starts_with("accuracy") {
        return Some(0.003);
    }
    let low = centers.iter().copied().min_by(f64::total_cmp)?;
    Some(centers.iter().copied().max_by(f64::total_cmp)? - low)
}

/// A model by its name, its parameters, and its parameters per second.
type Size = (String, f64, f64);

/// How a time grows with the size of a model: parameters a second, and where they fall far below the best.
pub fn of_size(evidence: &Evidence) -> Vec<Finding> {
    if evidence.metric.unit != Unit::Seconds || !evidence.metric.name.starts_with("time.") {
        return Vec::new();
    }
    let mut groups: BTreeMap<(String, String), Vec<Size>> = BTreeMap::new();
    for cell in evidence.cells.iter().filter(|cell| cell.planned) {
        let (Some(size), Some(time)) = (parameters(cell), stats::median(&cell.values)) else { continue };
        let how = |name: &str| cell.settings.get(name).map(ToString::to_string).unwrap_or_default();
        let name = how("model");
        let name = if name.is_empty() { format!("{:.0} M parameters", size / 1e6) } else { name };
        let key = (cell.cell.platform.clone(), ["device", "engine", "batch_size"].map(how).join(" "));
        groups.entry(key).or_default().push((name, size, size / time));
    }
    let mut found = Vec::new();
    for ((platform, _), mut sizes) in groups.into_iter().filter(|(_, sizes)| sizes.len() >= FEWEST_SIZES) {
        sizes.sort_by(|a, b| a.1.total_cmp(&b.1));
        let best = sizes.iter().map(|(.., rate)| *rate).max_by(f64::total_cmp).unwrap_or(f64::NAN);
        let shares: Vec<String> =
            sizes.iter().map(|(name, _, rate)| format!("{name} {:.0} %", 100.0 * rate / best)).collect();
        // A model beyond the best one that loses much of the rate does something else than computing.
        let peak = sizes.iter().position(|(.., rate)| *rate == best).unwrap_or(0);
        let fall = sizes.iter().skip(peak).find(|(.., rate)| *rate < crate::law::WORTHWHILE * best);
        let fall = fall.map_or_else(String::new, |(name, ..)| {
            format!("; from {name} on something else than computing takes the time (memory, swapping)")
        });
        let text = format!(
            "{platform}: {} by size, in parameters per second of the best ({:.3e}): {}{fall}",
            evidence.metric.name,
            best,
            shares.join(", ")
        );
        found.push(finding("size_law", text, Vec::new()));
    }
    found
}

/// The parameters of a cell's model: as its runs report them, else the matrices of a transformer,
/// L·(4d² + 3·d·d_ff), from its settings.
fn parameters(cell: &CellEvidence) -> Option<f64> {
    let setting = |name: &str| cell.settings.get(name).and_then(assay_model::Value::number);
    let reported = cell.amounts.get(assay_model::names::PARAMETERS).copied();
    reported.or_else(|| {
        let (layers, width, inner) = (setting("layers")?, setting("d_model")?, setting("d_ff")?);
        Some(layers * (4.0 * width * width + 3.0 * width * inner))
    })
}

/// Whether a setting counts workers or samples of a batch, so that a rate over it may follow a law.
pub fn is_scaled_over(name: &str) -> bool {
    is_batch(name) || WORKERS.contains(&name)
}

/// What rates say over settings that count workers or samples of a batch.
pub fn of_scaling(evidence: &Evidence) -> Vec<Finding> {
    if !matches!(evidence.metric.unit, Unit::PerSecond(_)) {
        return Vec::new();
    }
    let mut names: Vec<&String> = evidence
        .cells
        .iter()
        .flat_map(|cell| cell.settings.keys())
        .filter(|name| is_scaled_over(name))
        .collect();
    names.sort();
    names.dedup();
    let studies = names.into_iter().filter_map(|over| scaling(evidence, over, &[]));
    studies.flat_map(|study| of_study(&study)).collect()
}

fn of_study(study: &Scaling) -> Vec<Finding> {
    let mut found = Vec::new();
    for (settings, law) in &study.laws {
        let rows: Vec<&ScalingRow> = study.rows.iter().filter(|row| row.settings == *settings).collect();
        if rows.len() < 2 {
            continue;
        }
        let place = if settings.is_empty() { String::new() } else { format!("At {}: ", label(settings)) };
        if !study.is_batch
            && let Some(text) = efficiency(study, &rows)
        {
            found.push(finding("efficiency", format!("{place}{text}"), Vec::new()));
        }
        match law {
            Ok(law) => {
                found.push(finding(
                    "law",
                    format!("{place}{}: {}", study.metric.name, law_sentence(law, study)),
                    Vec::new(),
                ));
            }
            Err(reason) if study.is_batch => {
                let text =
                    format!("{place}no law of {} over {} is fitted: {reason}", study.metric.name, study.over);
                found.push(finding("no_law", capitalized(&text), Vec::new()));
            }
            Err(_) => {}
        }
    }
    found
}

/// The efficiency at the most workers, and up to where it stays worthwhile.
fn efficiency(study: &Scaling, rows: &[&ScalingRow]) -> Option<String> {
    let (first, last) = (rows.first()?, rows.last()?);
    let share = last.efficiency?;
    let ends = match share.ends {
        Some((low, high)) => format!(" (95 % interval {:.1} – {:.1} %)", 100.0 * low, 100.0 * high),
        None => ", without an interval: too few runs".to_owned(),
    };
    let worth =
        rows.iter().filter(|row| row.efficiency.is_some_and(|share| share.center < crate::law::WORTHWHILE));
    let fall = worth.map(|row| row.workers).next();
    let fall = fall.map_or_else(String::new, |count| format!("; it falls below 70 % at {count}"));
    Some(format!(
        "{} grows from {} to {} {} at {:.1} % efficiency{ends}{fall}",
        study.metric.name,
        first.workers,
        last.workers,
        study.over,
        100.0 * share.center
    ))
}

fn law_sentence(law: &FittedLaw, study: &Scaling) -> String {
    let name = match law.law {
        LawKind::HalfPerformance => "rate(b) = b / (t₀ + b/r∞)",
        LawKind::Amdahl => "Amdahl's law",
        LawKind::Universal => "the universal scalability law",
    };
    if let Some(test) = law.lack_of_fit.filter(|_| law.is_rejected()) {
        return format!(
            "{name} over {} does not describe the {} runs: repeats reject it (F({}, {}) = {:.0}, p = {:.1e}), so its \
             parameters are no facts",
            study.over, law.runs, test.freedom, test.freedom_of_repeats, test.statistic, test.p
        );
    }
    let ends = |ends: Option<(f64, f64)>, show: &dyn Fn(f64) -> String| match ends {
        Some((low, high)) => format!(" ({} – {})", show(low), show(high)),
        None => String::new(),
    };
    let unit = &study.metric.unit;
    let tested = match law.lack_of_fit {
        Some(test) => format!("repeats do not reject it (p = {:.2})", test.p),
        None => "there are no repeats to test it".to_owned(),
    };
    let rate = |value: f64| shown(value, unit);
    let seconds = |value: f64| shown(value, &Unit::Seconds);
    let text = match law.law {
        LawKind::HalfPerformance => {
            let limit = law.asymptote.as_ref().map_or_else(
                || "no limit is in sight".to_owned(),
                |limit| format!("approaches {}{}", rate(limit.center), ends(limit.ends, &rate)),
            );
            let half = law.half_performance.map(|half| format!(", half of it at {} {half:.0}", study.over));
            format!(
                "{name}: every step costs {}{} beside its samples, and the rate {limit}{}",
                seconds(law.overhead.center),
                ends(law.overhead.ends, &seconds),
                half.unwrap_or_default()
            )
        }
        LawKind::Amdahl | LawKind::Universal => {
            let percent = |value: f64| format!("{:.2} %", 100.0 * value);
            let worth = law.worthwhile().map_or_else(String::new, |count| {
                format!(", efficiency stays at 70 % or more up to {count} {}", study.over)
            });
            format!(
                "{name}: {}{} of the work waits for others{worth}",
                percent(law.contention.center),
                ends(law.contention.ends, &percent)
            )
        }
    };
    format!("{text}; {tested}; nothing is said beyond {} {}", study.over, 2.0 * law.largest)
}

/// A loss says nothing where cells saw different numbers of samples.
pub fn of_loss(evidence: &Evidence) -> Option<Finding> {
    if !evidence.metric.name.starts_with("loss") {
        return None;
    }
    let cells: Vec<_> =
        evidence.cells.iter().filter(|cell| cell.planned && !cell.values.is_empty()).collect();
    let first = cells.first()?;
    for (name, amount) in &first.amounts {
        let others = cells.iter().filter_map(|cell| Some((cell, *cell.amounts.get(name)?)));
        let far = others.max_by(|a, b| (a.1 / amount).ln().abs().total_cmp(&(b.1 / amount).ln().abs()));
        if let Some((cell, other)) =
            far.filter(|(_, other)| (other / amount - 1.0).abs() > 0.02 && name != "parameters")
        {
            let text = format!(
                "{} is not comparable: {} saw {:.3} times the {name} of {}",
                evidence.metric.name,
                label(&cell.settings),
                other / amount,
                label(&first.settings)
            );
            return Some(finding("loss_of_unequal_work", text, vec![first.cell.clone(), cell.cell.clone()]));
        }
    }
    None
}

/// What the iterations within runs say.
pub fn of_iterations(studies: &[IterationStudy]) -> Vec<Finding> {
    let mut found = Vec::new();
    for study in studies {
        let unit = assay_model::names::unit(&study.metric);
        let place =
            if study.settings.is_empty() { String::new() } else { format!("{}: ", label(&study.settings)) };
        if study.unsteady > 0 {
            let text = format!(
                "{place}{} of {} never reach a steady {}",
                study.unsteady,
                counted(study.runs, "run"),
                study.metric
            );
            found.push(finding("unsteady", text, Vec::new()));
        }
        if let Some(without) = study.mean_without.filter(|_| study.cut > 0) {
            let text = format!(
                "{place}{} of {} iterations come before the steady state; the mean {} is {} with them and {} without",
                study.cut,
                study.iterations,
                study.metric,
                shown(study.mean_with, &unit),
                shown(without, &unit)
            );
            found.push(finding("warm_up", text, Vec::new()));
        }
        if let Some(levels) = study.levels {
            let share = 100.0 * levels.share_between_runs;
            let advice = match (levels.share_between_runs >= 0.5, levels.runs_for_one_percent) {
                (true, Some(runs)) => format!("repeat runs, not iterations: {runs} runs give ± 1 %"),
                (true, None) => "repeat runs, not iterations".to_owned(),
                (false, _) => match levels.best_iterations {
                    Some(best) => format!("{best} iterations a run are the best buy"),
                    None => "more iterations a run are the better buy".to_owned(),
                },
            };
            let text = format!(
                "{place}{share:.0} % of the variance of {} lies between runs; {} of {:.0} iterations give ± {:.1} %; {advice}",
                study.metric,
                counted(study.runs, "run"),
                levels.iterations,
                100.0 * levels.half_width
            );
            found.push(finding("variance_levels", text, Vec::new()));
        }
    }
    found
}

/// Verdicts of a comparison in one sentence.
pub fn of_comparison(comparison: &crate::Comparison) -> Finding {
    let count = |verdict: Verdict| {
        let effects = comparison.rows.iter().filter_map(|row| row.effect.as_ref());
        effects.filter(|effect| effect.verdict == verdict && effect.interval.is_some()).count()
    };
    let unknown = comparison
        .rows
        .iter()
        .filter(|row| row.effect.as_ref().is_none_or(|effect| effect.interval.is_none()));
    let parts = [
        (count(Verdict::Worse), "worse"),
        (count(Verdict::Better), "better"),
        (count(Verdict::Same), "equal within the margin"),
        (count(Verdict::Unclear), "indistinguishable"),
        (unknown.count(), "unknown (too few runs)"),
    ];
    let words: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let text = format!(
        "Of {} by {}: {}",
        counted(comparison.rows.len(), "cell"),
        comparison.metric.name,
        words.join(", ")
    );
    finding("comparison", text, Vec::new())
}

fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Settings as a sentence names them.
fn label(settings: &Settings) -> String {
    if settings.is_empty() {
        return "the only cell".to_owned();
    }
    settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn with_interval(estimate: &Estimate, metric: &Metric) -> String {
    let show = |value: f64| shown(value, &metric.unit);
    let runs = counted(estimate.samples, "run");
    match estimate.samples {
        1 => format!("{} (1 run, no interval)", show(estimate.center)),
        _ => format!(
            "{} ({} – {}, {:.0} % interval of {runs})",
            show(estimate.center),
            show(estimate.low),
            show(estimate.high),
            (100.0 * estimate.confidence).floor()
        ),
    }
}

/// A difference of shares is in points: `0.3 %` of an accuracy might be taken for a share of it.
fn difference_shown(difference: f64, unit: &Unit) -> String {
    match is_share(unit) {
        true => format!("{:.2} points", 100.0 * difference),
        false => shown(difference, unit),
    }
}

fn is_share(unit: &Unit) -> bool {
    *unit == Unit::parse("fraction").0
}

/// A value in its unit with four significant digits; times and large numbers in a unit that fits.
fn shown(value: f64, unit: &Unit) -> String {
    if is_share(unit) {
        return format!("{:.2} %", 100.0 * value);
    }
    let (factor, prefix) = match (unit, value.abs()) {
        (Unit::Seconds, size) if size > 0.0 && size < 1e-3 => (1e6, "µ"),
        (Unit::Seconds, size) if size > 0.0 && size < 1.0 => (1e3, "m"),
        (Unit::Seconds, _) => (1.0, ""),
        (_, size) if size >= 1e9 => (1e-9, "G"),
        (_, size) if size >= 1e6 => (1e-6, "M"),
        (_, size) if size >= 1e4 => (1e-3, "k"),
        _ => (1.0, ""),
    };
    let scaled = value * factor;
    let digits = match scaled.abs() {
        size if size >= 1000.0 || size == 0.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        _ => 4,
    };
    let name = unit.to_string();
    // `12 ms` and `12 k samples/s`: only short symbols are written in one with their prefix.
    let parts = match unit {
        Unit::Seconds => vec![format!("{prefix}{name}")],
        _ => vec![prefix.to_owned(), name],
    };
    let words: Vec<String> = std::iter::once(format!("{scaled:.digits$}")).chain(parts).collect();
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::Counts;
    use assay_model::PointId;

    fn cell(name: &str, setting: (&str, i64), values: &[f64]) -> CellEvidence {
        CellEvidence {
            cell: CellId { point: PointId(name.to_owned()), platform: "local".to_owned() },
            workload: "command".to_owned(),
            settings: [(setting.0.to_owned(), setting.1.into())].into(),
            planned: true,
            counts: Counts::default(),
            values: values.to_vec(),
            without: 0,
            fewer: None,
            replayed: None,
            parity: BTreeMap::new(),
            amounts: BTreeMap::new(),
            busy_elsewhere: None,
        }
    }

    fn record(name: &str, unit: &str, better: Direction, cells: Vec<CellEvidence>) -> Evidence {
        let metric = Metric { name: name.to_owned(), unit: Unit::parse(unit).0, better: Some(better) };
        Evidence { name: "r".to_owned(), metric, cells, rate: None }
    }

    #[test]
    fn a_clear_best_is_named_with_its_numbers() {
        let fast = [1.0, 1.01, 0.99, 1.0, 1.02, 1.0];
        let slow = fast.map(|value| 1.5 * value);
        let cells = vec![cell("a", ("size", 1), &fast), cell("b", ("size", 2), &slow)];
        let evidence = record("duration.wall", "s", Direction::Lower, cells);
        let found = of_answer(&crate::answer(&evidence, &[], 10), &evidence);
        let text = &found[0].text;
        assert!(
            text.starts_with("size=1 has the lowest duration.wall: 1.000 s (990.0 ms – 1.020 s"),
            "{text}"
        );
        assert!(text.contains("size=2, has 1.500 times that"), "{text}");
    }

    #[test]
    fn noise_names_no_winner_and_says_what_it_would_take() {
        let (a, b) = ([98.1, 97.2, 98.7, 98.4, 97.9, 98.3], [98.5, 97.6, 98.2, 98.9, 98.0, 97.8]);
        let cells = vec![cell("a", ("epochs", 10), &a), cell("b", ("epochs", 20), &b)];
        let evidence = record("accuracy", "%", Direction::Higher, cells);
        let found = of_answer(&crate::answer(&evidence, &[], 10), &evidence);
        assert_eq!(found[0].code, "may_be_best");
        assert_eq!(found[1].code, "repeats_needed");
        assert!(found[1].text.contains("runs a cell"), "{}", found[1].text);
    }

    #[test]
    fn batch_sizes_give_a_law_and_repeats_may_reject_it() {
        let rate = |batch: f64| batch / (0.1 + batch / 1000.0);
        let noise = [0.995, 1.0, 1.005];
        let cells = |bend: f64| {
            [(64, 1.0), (128, bend), (256, 1.0)]
                .map(|(batch, by)| {
                    let values = noise.map(|noise| noise * by * rate(f64::from(batch)));
                    cell(&batch.to_string(), ("batch_size", i64::from(batch)), &values)
                })
                .into()
        };
        let found =
            |bend| of_scaling(&record("samples_per_s.loop", "samples/s", Direction::Higher, cells(bend)));
        let good = &found(1.0)[0].text;
        assert!(
            good.contains("every step costs") && good.contains("nothing is said beyond batch_size 512"),
            "{good}"
        );
        let bad = &found(1.2)[0].text;
        assert!(bad.contains("no facts") && bad.contains("F(1, 6)"), "{bad}");
    }

    #[test]
    fn a_loss_after_more_samples_is_not_compared() {
        let mut few = cell("a", ("tasks", 4), &[7.0]);
        let mut many = cell("b", ("tasks", 16), &[6.5]);
        few.amounts.insert("samples".to_owned(), 1000.0);
        many.amounts.insert("samples".to_owned(), 4000.0);
        let evidence = record("loss.final", "", Direction::Lower, vec![few, many]);
        let text = of_loss(&evidence).unwrap().text;
        assert_eq!(text, "loss.final is not comparable: tasks=16 saw 4.000 times the samples of tasks=4");
    }
}
