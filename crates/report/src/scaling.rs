//! A record as a scaling study.

use assay_judge::law::{FittedLaw, LawKind, Ranged, WORTHWHILE};
use assay_judge::scaling::{Scaling, ScalingRow, Share};
use assay_model::{Settings, Unit, Verdict};

use crate::answer::{estimate_cells, metric_title, scale};
use crate::number::{Scale, percent, single};
use crate::table::{Cell, Column, Table, Tone};

/// One row for each number of workers: the rate, the speedup and the efficiency, each with its interval.
pub fn table(scaling: &Scaling) -> Table {
    let title = format!("{}: scaling over {}", scaling.name, scaling.over);
    let mut table = Table { heading: vec![title, metric_title(&scaling.metric)], ..Table::default() };
    let scale = scale(&scaling.metric, scaling.rows.iter().filter_map(|row| row.estimate.as_ref()));
    table.columns = scaling.others.iter().map(Column::left).collect();
    table.columns.push(Column::right(&scaling.over));
    table.columns.push(Column::right(scale.titled("median")));
    table.columns.push(Column::left("interval"));
    table.columns.push(Column::right("runs"));
    table.columns.extend(["speedup", "efficiency", ""].map(Column::left));
    for row in &scaling.rows {
        let cells = row_cells(scaling, row, &scale, &mut table);
        table.rows.push(cells);
    }
    table.notes.push(format!(
        "speedup: relative to the smallest {0}; efficiency: speedup / increase of {0}; both with intervals; \
         ~ indistinguishable from no speedup",
        scaling.over
    ));
    for (settings, law) in &scaling.laws {
        table.notes.push(format!("{}{}", place(settings), law_words(law, &scaling.over)));
    }
    table
}

fn row_cells(scaling: &Scaling, row: &ScalingRow, scale: &Scale, table: &mut Table) -> Vec<Cell> {
    let setting = |name: &String| row.settings.get(name).map(ToString::to_string).unwrap_or_default();
    let mut cells: Vec<Cell> = scaling.others.iter().map(|name| Cell::new(setting(name))).collect();
    cells.push(Cell::new(row.workers.to_string()));
    cells.extend(estimate_cells(row.estimate.as_ref(), scale));
    cells.push(Cell::new(row.estimate.as_ref().map_or(0, |estimate| estimate.samples).to_string()));
    cells.push(speedup_cell(row));
    cells.push(row.efficiency.as_ref().map_or_else(Cell::default, efficiency_cell));
    let marks: Vec<String> =
        row.caveats.iter().map(|caveat| table.footnote(&caveat.text, &caveat.hint)).collect();
    cells.push(Cell::toned(marks.join(" "), Tone::Doubt));
    cells
}

fn speedup_cell(row: &ScalingRow) -> Cell {
    let Some(effect) = &row.speedup else { return Cell::toned("base", Tone::Faint) };
    let text = match effect.interval {
        Some(ends) => format!("{:.2} ({:.2} – {:.2})", effect.ratio, ends.low, ends.high),
        None => format!("{:.2}", effect.ratio),
    };
    match effect.verdict {
        Verdict::Better => Cell::toned(text, Tone::Good),
        Verdict::Worse => Cell::toned(text, Tone::Bad),
        Verdict::Unclear if effect.interval.is_none() => Cell::toned(format!("? {text}"), Tone::Doubt),
        Verdict::Same | Verdict::Unclear => Cell::toned(format!("~ {text}"), Tone::Doubt),
    }
}

fn efficiency_cell(share: &Share) -> Cell {
    Cell::new(match share.ends {
        Some((low, high)) => format!("{} ({} – {})", percent(share.center), percent(low), percent(high)),
        None => percent(share.center),
    })
}

/// The settings before a note about one of several studies.
fn place(settings: &Settings) -> String {
    if settings.is_empty() {
        return String::new();
    }
    let words: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("{}: ", words.join(", "))
}

fn law_words(law: &Result<FittedLaw, String>, over: &str) -> String {
    match law {
        Err(reason) => format!("no law is fitted: {reason}"),
        Ok(law) => {
            let tested = match law.lack_of_fit {
                None => "; without repeats it cannot be tested".to_owned(),
                Some(test) => format!(
                    "; lack of fit F({}, {}) = {:.1}, p = {:.2}",
                    test.freedom, test.freedom_of_repeats, test.statistic, test.p
                ),
            };
            if let Some(why) = law.rejected() {
                return format!(
                    "{} does not describe these runs: {why}; its parameters are not printed",
                    name(law.law)
                );
            }
            let words = match law.law {
                LawKind::HalfPerformance => half_performance(law, over),
                LawKind::Amdahl | LawKind::Universal => contention(law, over),
            };
            format!(
                "{words}; R² {:.4}{tested}; says nothing beyond {over} = {}",
                law.determination,
                2.0 * law.largest
            )
        }
    }
}

fn name(law: LawKind) -> &'static str {
    match law {
        LawKind::HalfPerformance => "rate(b) = b / (t₀ + b/r∞)",
        LawKind::Amdahl => "Amdahl's law",
        LawKind::Universal => "the universal scalability law",
    }
}

/// A number with its interval, by a way to write numbers.
fn ranged(value: &Ranged, show: impl Fn(f64) -> String) -> String {
    match value.ends {
        Some((low, high)) => format!("{} ({} – {})", show(value.center), show(low), show(high)),
        None => format!("{} (too few runs for an interval)", show(value.center)),
    }
}

fn half_performance(law: &FittedLaw, over: &str) -> String {
    let seconds = ranged(&law.overhead, |value| single(&Unit::Seconds, value));
    let limit = law.asymptote.as_ref().map_or_else(
        || "r∞ not reached".to_owned(),
        |limit| format!("r∞ {} per second", ranged(limit, crate::bench::short_rate)),
    );
    let half = law.half_performance.as_ref().map_or_else(String::new, |half| {
        format!(", half of it at {over} {}", ranged(half, |value| format!("{value:.0}")))
    });
    format!("{}: t₀ {seconds}, {limit}{half}", name(law.law))
}

fn contention(law: &FittedLaw, over: &str) -> String {
    let peak = law.peak.as_ref().map_or_else(
        || "no peak".to_owned(),
        |peak| format!("a peak at {} {over}", ranged(peak, |value| format!("{value:.1}"))),
    );
    let worth = law.worthwhile().map_or_else(String::new, |count| {
        format!(", efficiency at least {} up to {count} {over}", percent(WORTHWHILE))
    });
    format!(
        "{}: contention {}, coherence {}, {peak}{worth}",
        name(law.law),
        ranged(&law.contention, percent),
        ranged(&law.coherence, |value| format!("{value:.1e}")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_judge::Effect;
    use assay_judge::verdict::{Estimator, RatioEnds, Tests};
    use assay_model::{CellId, Direction, Estimate, Metric, PointId, Unit};

    #[test]
    fn speedups_and_efficiencies_have_intervals_and_a_missing_law_says_why() {
        let estimate = |center: f64| Estimate {
            center,
            low: 0.9 * center,
            high: 1.1 * center,
            confidence: 0.95,
            samples: 6,
            caveats: Vec::new(),
        };
        let row = |workers: f64, rate: f64, speedup, efficiency| ScalingRow {
            cell: CellId { point: PointId(workers.to_string()), platform: "local".to_owned() },
            settings: Settings::new(),
            workers,
            estimate: Some(estimate(rate)),
            speedup,
            efficiency,
            caveats: Vec::new(),
        };
        let effect = Effect {
            ratio: 1.5,
            interval: Some(RatioEnds { low: 1.4, high: 1.6, estimator: Estimator::HodgesLehmann }),
            p: None,
            verdict: Verdict::Better,
            reason: None,
            tests: Tests::default(),
        };
        let share = Share { center: 0.75, ends: Some((0.7, 0.8)) };
        let scaling = Scaling {
            name: "study".to_owned(),
            metric: Metric {
                name: "samples_per_s.loop".to_owned(),
                unit: Unit::parse("samples/s").0,
                better: Some(Direction::Higher),
            },
            over: "tasks".to_owned(),
            others: Vec::new(),
            rows: vec![row(1.0, 100.0, None, None), row(2.0, 150.0, Some(effect), Some(share))],
            laws: vec![(Settings::new(), Err("too few".to_owned()))],
            is_batch: false,
        };
        let table = table(&scaling);
        let texts: Vec<&str> = table.rows[1].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts[0], "2");
        assert!(texts.contains(&"1.50 (1.40 – 1.60)"), "{texts:?}");
        assert!(texts.iter().any(|text| text.starts_with("75")), "{texts:?}");
        assert_eq!((table.rows[0][3].text.as_str(), table.rows[0][4].text.as_str()), ("6", "base"));
        assert!(table.notes.iter().any(|note| note.contains("too few")));
    }
}
