//! One record: the table of its cells, ranked only where the evidence allows.

use std::collections::BTreeMap;

use assay_model::{Caveat, CellId, Direction, Estimate, Metric, Settings, Value, Verdict};
use assay_stats::Family;
use assay_stats::ratio::MINIMUM_PER_SIDE;
use serde::Serialize;

use crate::estimate::{caveat, spread};
use crate::gather::{CellEvidence, Counts, Evidence, split_settings};
use crate::same_work;
use crate::verdict::{CellSample, Effect, effect_in};

/// What a record says about one metric.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The record's name.
    pub name: String,
    /// The metric.
    pub metric: Metric,
    /// The settings in which cells differ, in the order to show them.
    pub varied: Vec<String>,
    /// The settings that all cells share.
    pub common: Settings,
    /// Whether cells are on more than one platform.
    pub several_platforms: bool,
    /// The cells.
    pub rows: Vec<AnswerRow>,
    /// The row that others are compared with: the best median of the rows with enough runs.
    pub best: Option<usize>,
    /// The rows that may be the best: all that are not shown to be worse than [`Answer::best`]. The truly best one of
    /// the compared rows is among them with 95 % confidence. Empty where nothing is ranked.
    pub may_be_best: Vec<usize>,
    /// Rows with a value that were not compared with [`Answer::best`], because there are so many.
    pub not_compared: usize,
    /// Doubts about the whole table.
    pub caveats: Vec<Caveat>,
}

impl Answer {
    /// The rows between which the answer is open: those that may be the best, all if there are no two of these.
    pub fn candidates(&self) -> Vec<&AnswerRow> {
        let open: Vec<&AnswerRow> =
            self.may_be_best.iter().filter_map(|index| self.rows.get(*index)).collect();
        if open.len() < 2 { self.rows.iter().collect() } else { open }
    }
}

/// One cell.
#[derive(Debug, Clone, Serialize)]
pub struct AnswerRow {
    /// Which cell.
    pub cell: CellId,
    /// The settings in which cells differ.
    pub settings: BTreeMap<String, Value>,
    /// Whether the campaign still asks for it.
    pub planned: bool,
    /// How its runs ended.
    pub counts: Counts,
    /// The estimate; none without a value.
    pub estimate: Option<Estimate>,
    /// The middle half of the values, as a share of the median.
    pub spread: Option<f64>,
    /// How it compares with the best row; none for the best row itself.
    pub against_best: Option<Effect>,
    /// Doubts about this cell.
    pub caveats: Vec<Caveat>,
}

/// Judges the cells of a record by one metric. At most `most_compared` rows are compared with the best one.
///
/// The best row is picked after looking, so that its comparisons with the others are a family: their intervals hold
/// together for all pairs of the compared rows ([`Family::among`]), and a table of equal cells names a loser in at most
/// 5 % of cases, however many rows it has.
pub fn answer(evidence: &Evidence, order: &[String], most_compared: usize) -> Answer {
    let (mut varied, common) = split_settings(evidence.cells.iter().map(|cell| &cell.settings));
    varied.sort_by_key(|name| order.iter().position(|known| known == name).unwrap_or(usize::MAX));
    let mut cells: Vec<&CellEvidence> = evidence.cells.iter().collect();
    let places: Vec<Places<'_>> = varied.iter().map(|name| places(&evidence.cells, name)).collect();
    cells.sort_by(|a, b| (!a.planned).cmp(&!b.planned).then_with(|| order_of(a, b, &varied, &places)));
    let mut rows: Vec<AnswerRow> = cells.iter().map(|cell| row(cell, &varied)).collect();
    let mut caveats = table_caveats(evidence);
    let not_ranked = unequal_work(evidence, &cells);
    let best = if not_ranked.is_none() { best_row(&rows, evidence.metric.better) } else { None };
    caveats.extend(not_ranked);
    if let Some(best) = best.filter(|_| most_compared > 0) {
        compare_with(best, &mut rows, &cells, &evidence.metric, most_compared);
    }
    let worse =
        |row: &AnswerRow| row.against_best.as_ref().is_some_and(|effect| effect.verdict == Verdict::Worse);
    let may_be_best = match best {
        Some(_) => {
            let ranked = rows.iter().enumerate().filter(|(_, row)| is_ranked(row));
            ranked.filter(|(_, row)| !worse(row) && !is_refused(row)).map(|(index, _)| index).collect()
        }
        None => Vec::new(),
    };
    let mut platforms: Vec<&str> = cells.iter().map(|cell| cell.cell.platform.as_str()).collect();
    platforms.sort_unstable();
    platforms.dedup();
    let is_left_out = |(index, row): &(usize, &AnswerRow)| {
        *index >= most_compared && Some(*index) != best && is_ranked(row)
    };
    let not_compared = if best.is_some() { rows.iter().enumerate().filter(is_left_out).count() } else { 0 };
    Answer {
        name: evidence.name.clone(),
        metric: evidence.metric.clone(),
        several_platforms: platforms.len() > 1,
        varied,
        common,
        caveats,
        rows,
        best,
        may_be_best,
        not_compared,
    }
}

/// Whether a row is one of those among which the best one is looked for.
fn is_ranked(row: &AnswerRow) -> bool {
    row.planned && row.estimate.is_some()
}

/// Compares the first `most_compared` planned rows with the best one. The best one was picked among all rows, so all of them
/// are the family, also those that are not compared.
fn compare_with(
    best: usize,
    rows: &mut [AnswerRow],
    cells: &[&CellEvidence],
    metric: &Metric,
    most_compared: usize,
) {
    let Some(best_cell) = cells.get(best) else { return };
    let groups = rows.iter().filter(|row| is_ranked(row)).count();
    let Some(family) = Family::among(groups, crate::CONFIDENCE) else { return };
    let base = CellSample::new(&best_cell.values);
    for (index, (row, cell)) in rows.iter_mut().zip(cells).enumerate().take(most_compared) {
        if index == best || !row.planned {
            continue;
        }
        match same_work::difference(&best_cell.work(), &cell.work()) {
            Some(why) => row.caveats.push(not_compared(&why)),
            None => row.against_best = effect_in(&base, &CellSample::new(&cell.values), metric, &family),
        }
        if row.against_best.is_none() && !is_refused(row) && !cell.values.is_empty() {
            row.caveats.push(no_ratio());
        }
    }
}

/// Whether a row must not be compared with the best one at all.
fn is_refused(row: &AnswerRow) -> bool {
    row.caveats.iter().any(|caveat| caveat.code == NOT_THE_SAME_WORK)
}

/// Why the cells must not be ranked by a metric: they do different amounts of work, and it grows with the work.
fn unequal_work(evidence: &Evidence, cells: &[&CellEvidence]) -> Option<Caveat> {
    let planned = cells.iter().filter(|cell| cell.planned && !cell.values.is_empty());
    let works: Vec<_> = planned.map(|cell| cell.work()).collect();
    let first = works.first()?;
    let why = works.iter().find_map(|other| same_work::unequal(first, other, &evidence.metric))?;
    let hint = match &evidence.rate {
        Some(rate) => format!("`--metric {rate}` ranks the same cells by work done per second"),
        None => "compare a rate (work per second), or cells that do the same work".to_owned(),
    };
    Some(caveat(UNEQUAL_WORK, &format!("not ranked by {}: {why}", evidence.metric.name), &hint))
}

fn row(cell: &CellEvidence, varied: &[String]) -> AnswerRow {
    AnswerRow {
        cell: cell.cell.clone(),
        settings: varied
            .iter()
            .filter_map(|name| Some((name.clone(), cell.settings.get(name)?.clone())))
            .collect(),
        planned: cell.planned,
        counts: cell.counts,
        spread: spread(&cell.values),
        estimate: cell.estimate(),
        against_best: None,
        caveats: cell.caveats(),
    }
}

/// The code of the caveat of a table that is not ranked because its cells do different amounts of work.
pub const UNEQUAL_WORK: &str = "unequal_work";
/// The doubt about a row that has values and no ratio to the best one.
fn no_ratio() -> Caveat {
    let text = "the comparison is unknown, because ratios need values above zero";
    caveat("no_ratio", text, "choose a metric that is above zero, such as a time or a rate of success")
}

const NOT_THE_SAME_WORK: &str = "not_the_same_work";

/// The doubt about a row that must not be compared with the best one.
pub(crate) fn not_compared(why: &str) -> Caveat {
    caveat(
        NOT_THE_SAME_WORK,
        &format!("not compared: {why}"),
        "compare speeds only of runs that do the same work in the same way",
    )
}

/// Where the texts of a setting come first.
type Places<'a> = BTreeMap<&'a str, usize>;

fn places<'a>(cells: &'a [CellEvidence], name: &str) -> Places<'a> {
    let mut places = Places::new();
    for (place, cell) in cells.iter().enumerate() {
        if let Some(Value::Text(text)) = cell.settings.get(name) {
            places.entry(text.as_str()).or_insert(place);
        }
    }
    places
}

/// The order of two cells: by their settings, of which numbers go by their size and texts as the campaign has them.
fn order_of(
    a: &CellEvidence,
    b: &CellEvidence,
    varied: &[String],
    places: &[Places<'_>],
) -> std::cmp::Ordering {
    for (name, places) in varied.iter().zip(places) {
        let order = match (a.settings.get(name), b.settings.get(name)) {
            (Some(Value::Text(a)), Some(Value::Text(b))) => {
                places.get(a.as_str()).cmp(&places.get(b.as_str()))
            }
            (Some(a), Some(b)) => a.natural_order(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
    a.cell.cmp(&b.cell)
}

/// The planned row with the best median, if the metric has a direction and there are two rows to choose from. Rows
/// with enough runs to be compared come first: a lucky single run must not keep all others from being judged.
fn best_row(rows: &[AnswerRow], better: Option<Direction>) -> Option<usize> {
    let better = better?;
    let candidates: Vec<(usize, &Estimate)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.planned)
        .filter_map(|(index, row)| Some((index, row.estimate.as_ref()?)))
        .collect();
    if candidates.len() < 2 {
        return None;
    }
    let sign = if better == Direction::Lower { 1.0 } else { -1.0 };
    let merit =
        |(_, estimate): &&(usize, &Estimate)| (estimate.samples < MINIMUM_PER_SIDE, sign * estimate.center);
    let best = candidates.iter().min_by(|a, b| {
        let (a, b) = (merit(a), merit(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    best.map(|(index, _)| *index)
}

fn table_caveats(evidence: &Evidence) -> Vec<Caveat> {
    let mut found = Vec::new();
    if evidence.metric.better.is_none() {
        found.push(caveat(
            "no_direction",
            "whether more or less of this metric is better is not known, so nothing is ranked",
            "give the pattern `better = \"higher\"` or `better = \"lower\"`",
        ));
    }
    if evidence.of_other_studies > 0 {
        let cells = if evidence.of_other_studies == 1 { "cell has" } else { "cells have" };
        let text =
            format!("not shown: {} other {cells} no {}", evidence.of_other_studies, evidence.metric.name);
        found.push(caveat(
            "of_other_studies",
            &text,
            "`--metric NAME` shows them by a metric that they have",
        ));
    }
    if evidence.cells.iter().any(|cell| !cell.planned) {
        found.push(caveat(
            "no_longer_planned",
            "rows marked † are no longer in the campaign; their runs are kept",
            "they are not compared with the others",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{PointId, Unit};

    fn cell(name: &str, values: &[f64], fewer: Option<u32>) -> CellEvidence {
        let id = CellId { point: PointId(name.to_owned()), platform: "local".to_owned() };
        let settings = Settings::from([("size".to_owned(), Value::from(name))]);
        CellEvidence { fewer, ..CellEvidence::new(id, "command", settings, values.to_vec()) }
    }

    #[test]
    fn ten_thousand_cells_one_of_them_slow_and_some_empty() {
        let metric = Metric { name: "time".to_owned(), unit: Unit::Seconds, better: Some(Direction::Lower) };
        let times = |index: usize| match index {
            77 => vec![9.0, 9.1, 8.9, 9.05, 8.95, 9.0],
            index if index % 1000 == 5 => Vec::new(),
            _ => (0..6).map(|run| 1.0 + 0.001 * ((index * 31 + run * 17) % 13) as f64).collect(),
        };
        let cells = (0..10_000).map(|index| cell(&index.to_string(), &times(index), None)).collect();
        let evidence = Evidence { name: "many".to_owned(), metric, cells, rate: None, of_other_studies: 0 };
        let answer = answer(&evidence, &[], usize::MAX);
        assert_eq!(answer.rows.iter().filter(|row| row.estimate.is_none()).count(), 10);
        assert_eq!(answer.may_be_best.len(), 10_000 - 10 - 1);
        assert_eq!(answer.not_compared, 0);
    }

    #[test]
    fn the_best_of_many_rows_is_no_reason_to_call_the_few_compared_ones_worse() {
        let metric = Metric { name: "time".to_owned(), unit: Unit::Seconds, better: Some(Direction::Lower) };
        let mut worse = 0;
        for table in 0..40 {
            let mut random = assay_random::Random::item(table, "equal", 0);
            let mut times = || (0..6).map(|_| (0.05 * random.normal()).exp()).collect::<Vec<f64>>();
            let cells = (0..400).map(|index| cell(&index.to_string(), &times(), None)).collect();
            let evidence = Evidence {
                name: "equal".to_owned(),
                metric: metric.clone(),
                cells,
                rate: None,
                of_other_studies: 0,
            };
            let answer = answer(&evidence, &[], 20);
            assert_eq!(answer.not_compared, if answer.best.unwrap() < 20 { 380 } else { 379 });
            worse += usize::from(answer.may_be_best.len() < 400);
        }
        assert!(worse <= 5, "{worse} of 40 tables of equal cells name a loser");
    }

    #[test]
    fn a_cell_with_fewer_repeats_is_marked() {
        let metric = Metric { name: "time".to_owned(), unit: Unit::Seconds, better: Some(Direction::Lower) };
        let cells =
            vec![cell("large", &[9.0, 9.1], Some(2)), cell("small", &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5], None)];
        let answer = answer(
            &Evidence { name: "sizes".to_owned(), metric, cells, rate: None, of_other_studies: 0 },
            &[],
            10,
        );
        let codes =
            |row: &AnswerRow| row.caveats.iter().map(|caveat| caveat.code.clone()).collect::<Vec<_>>();
        let [large, small] = answer.rows.as_slice() else { panic!("{:?}", answer.rows) };
        assert_eq!(codes(large), ["few_runs", "fewer_repeats"]);
        assert!(large.caveats[1].text.contains("2 repeats, fewer than the rest"));
        assert!(codes(small).is_empty());
    }
}
