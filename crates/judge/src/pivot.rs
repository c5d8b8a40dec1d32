//! One record laid out as its campaign asks: the values of some settings side by side as columns, compared within
//! each row, with what others published beside them.

use std::collections::BTreeMap;

use assay_model::{Against, Caveat, Estimate, Layout, Metric, Settings};
use serde::Serialize;

use crate::answer::not_compared;
use crate::comparison::not_comparable;
use crate::gather::{CellEvidence, Counts, Evidence, split_settings};
use crate::verdict::{CellSample, Effect, correct, effect};

/// A record with some settings as columns.
#[derive(Debug, Clone, Serialize)]
pub struct Pivot {
    /// The record's name.
    pub name: String,
    /// The metric.
    pub metric: Metric,
    /// The settings that distinguish rows, in display order.
    pub down: Vec<String>,
    /// The columns: what they have of the settings that go across.
    pub columns: Vec<Settings>,
    /// The value that others are compared with, and the setting it belongs to.
    pub against: Option<Against>,
    /// What others published: label and what the column has of the settings that go across.
    pub published: Vec<(String, Settings)>,
    /// The settings that all cells share.
    pub common: Settings,
    /// The rows.
    pub rows: Vec<PivotRow>,
}

/// One row.
#[derive(Debug, Clone, Serialize)]
pub struct PivotRow {
    /// The settings that distinguish it from other rows.
    pub settings: Settings,
    /// One for each column; none where there is no such cell.
    pub cells: Vec<Option<PivotCell>>,
    /// One for each published column; none where nothing was published.
    pub published: Vec<Option<f64>>,
}

/// One cell.
#[derive(Debug, Clone, Serialize)]
pub struct PivotCell {
    /// The estimate; none without a value.
    pub estimate: Option<Estimate>,
    /// How its runs ended.
    pub counts: Counts,
    /// How it compares with the cell it is held against.
    pub against: Option<Effect>,
    /// Doubts about the cell and its comparison.
    pub caveats: Vec<Caveat>,
}

/// Lays a record out; none if its campaign asks for no columns or the record has none of the settings.
pub fn pivot(evidence: &Evidence, layout: &Layout, order: &[String]) -> Option<Pivot> {
    let cells: Vec<&CellEvidence> = evidence.cells.iter().filter(|cell| cell.planned).collect();
    let (mut varied, common) = split_settings(cells.iter().map(|cell| &cell.settings));
    varied.sort_by_key(|name| order.iter().position(|known| known == name).unwrap_or(usize::MAX));
    let across: Vec<String> = layout.across.iter().filter(|name| varied.contains(name)).cloned().collect();
    if across.is_empty() {
        return None;
    }
    let down: Vec<String> = varied.into_iter().filter(|name| !across.contains(name)).collect();
    let columns: Vec<Settings> = grouped(&cells, &across).into_iter().map(|(column, _)| column).collect();
    let ours = |published: &&assay_model::Published| published.metric == evidence.metric.name;
    let mut published: Vec<(String, Settings)> = Vec::new();
    for number in layout.published.iter().filter(ours) {
        let column = (number.label.clone(), part(&number.settings, &across));
        if !published.contains(&column) {
            published.push(column);
        }
    }
    let against = layout.against.clone().filter(|against| across.contains(&against.setting));
    let mut rows: Vec<PivotRow> = grouped(&cells, &down)
        .into_iter()
        .map(|(settings, of_row)| {
            let find =
                |column: &Settings| of_row.iter().position(|cell| part(&cell.settings, &across) == *column);
            let judged = |column: &Settings| {
                let index = find(column)?;
                let base =
                    against.as_ref().and_then(|against| base(column, against)).and_then(|base| find(&base));
                Some(judged(evidence, &of_row, index, base))
            };
            let beside = |(label, column): &(String, Settings)| {
                let same = |number: &&assay_model::Published| {
                    number.label == *label
                        && part(&number.settings, &across) == *column
                        && number.belongs_to(&settings, &common)
                };
                layout.published.iter().filter(ours).find(same).map(|number| number.value)
            };
            PivotRow {
                cells: columns.iter().map(judged).collect(),
                published: published.iter().map(beside).collect(),
                settings,
            }
        })
        .collect();
    let all = rows.iter_mut().flat_map(|row| row.cells.iter_mut().flatten());
    let mut effects: Vec<&mut Effect> = all.filter_map(|cell| cell.against.as_mut()).collect();
    correct(&mut effects);
    let (name, metric) = (evidence.name.clone(), evidence.metric.clone());
    Some(Pivot { name, metric, down, columns, against, published, common, rows })
}

fn judged(evidence: &Evidence, of_row: &[&CellEvidence], index: usize, base: Option<usize>) -> PivotCell {
    let mut judged =
        PivotCell { estimate: None, counts: Counts::default(), against: None, caveats: Vec::new() };
    let Some(cell) = of_row.get(index) else { return judged };
    (judged.estimate, judged.counts) = (cell.estimate(), cell.counts);
    judged.caveats = cell.caveats();
    if let Some(held) = base.and_then(|base| of_row.get(base)) {
        match not_comparable(held, cell, &evidence.metric) {
            Some(why) => judged.caveats.push(not_compared(&why)),
            None => {
                let (old, new) = (CellSample::new(&held.values), CellSample::new(&cell.values));
                judged.against = effect(&old, &new, &evidence.metric);
            }
        }
    }
    judged
}

/// The column that another one is held against; none for that column itself.
fn base(column: &Settings, against: &Against) -> Option<Settings> {
    let mut base = column.clone();
    let old = base.insert(against.setting.clone(), against.value.clone());
    (old.as_ref() != Some(&against.value)).then_some(base)
}

/// What settings have of some names.
fn part(settings: &Settings, names: &[String]) -> Settings {
    names.iter().filter_map(|name| Some((name.clone(), settings.get(name)?.clone()))).collect()
}

/// The combinations of some settings with their cells, in the order of the cells.
fn grouped<'a>(cells: &[&'a CellEvidence], names: &[String]) -> Vec<(Settings, Vec<&'a CellEvidence>)> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<(Settings, Vec<&CellEvidence>)> = Vec::new();
    for cell in cells {
        let settings = part(&cell.settings, names);
        let place = *places.entry(format!("{settings:?}")).or_insert_with(|| {
            groups.push((settings, Vec::new()));
            groups.len() - 1
        });
        if let Some((_, group)) = groups.get_mut(place) {
            group.push(cell);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{CellId, Direction, PointId, Published, Unit, Value};

    fn cell(size: &str, engine: &str, values: &[f64], loss: f64) -> CellEvidence {
        let settings = Settings::from([
            ("size".to_owned(), Value::from(size)),
            ("engine".to_owned(), Value::from(engine)),
        ]);
        let id = CellId { point: PointId(format!("{size}-{engine}")), platform: "local".into() };
        let parity = BTreeMap::from([(assay_model::names::PARITY_LOSS.to_owned(), loss)]);
        CellEvidence { parity, ..CellEvidence::new(id, "lm", settings, values.to_vec()) }
    }

    fn layout() -> Layout {
        Layout {
            across: vec!["engine".to_owned()],
            against: Some(Against { setting: "engine".to_owned(), value: "torch".into() }),
            published: vec![Published {
                label: "write-up".to_owned(),
                metric: "time.iteration".to_owned(),
                settings: Settings::from([("size".to_owned(), Value::from("small"))]),
                value: 0.25,
            }],
            ..Layout::default()
        }
    }

    fn evidence(cells: Vec<CellEvidence>) -> Evidence {
        let better = Some(Direction::Lower);
        let metric = Metric { name: "time.iteration".to_owned(), unit: Unit::Seconds, better };
        Evidence { name: "table".to_owned(), metric, cells, rate: None, of_other_studies: 0 }
    }

    #[test]
    fn engines_stand_side_by_side_and_are_compared_within_a_row() {
        let slow = [2.0, 2.1, 2.05, 2.02, 2.04, 2.03];
        let fast = [1.0, 1.1, 1.05, 1.02, 1.04, 1.03];
        let cells = vec![
            cell("small", "native", &fast, 9.2),
            cell("small", "torch", &slow, 9.2),
            cell("medium", "native", &fast, 9.3),
            cell("medium", "torch", &slow, 9.4),
        ];
        let pivot = pivot(&evidence(cells), &layout(), &[]).unwrap();
        assert_eq!(pivot.down, ["size"]);
        assert_eq!(pivot.columns.len(), 2);
        let [small, medium] = pivot.rows.as_slice() else { panic!("{:?}", pivot.rows) };
        let native = small.cells[0].as_ref().unwrap();
        assert!((native.against.as_ref().unwrap().ratio - 0.5).abs() < 0.05);
        assert!(small.cells[1].as_ref().unwrap().against.is_none());
        assert_eq!((small.published[0], medium.published[0]), (Some(0.25), None));
        // The engines do not give the same loss: their speeds are not compared.
        let refused = medium.cells[0].as_ref().unwrap();
        assert!(refused.against.is_none() && refused.caveats[0].text.contains("compute different results"));
    }

    #[test]
    fn ten_thousand_cells_are_laid_out() {
        let times = [1.0, 1.1, 1.05, 1.02, 1.04, 1.03];
        let cells = (0..10_000).map(|place| {
            let engine = if place % 2 == 0 { "native" } else { "torch" };
            cell(&format!("size {}", place / 2), engine, &times, 9.2)
        });
        let pivot = pivot(&evidence(cells.collect()), &layout(), &[]).unwrap();
        assert_eq!((pivot.rows.len(), pivot.columns.len()), (5_000, 2));
        assert!(pivot.rows.iter().all(|row| row.cells.iter().all(Option::is_some)));
    }

    #[test]
    fn a_cell_with_fewer_repeats_is_marked_and_still_compared() {
        let mut few = cell("small", "native", &[1.0, 1.1], 9.2);
        few.fewer = Some(2);
        let cells = vec![few, cell("small", "torch", &[2.0, 2.1, 2.05, 2.02, 2.04, 2.03], 9.2)];
        let pivot = pivot(&evidence(cells), &layout(), &[]).unwrap();
        let [native, torch] = pivot.rows[0].cells.as_slice() else { panic!("{:?}", pivot.rows) };
        let native = native.as_ref().unwrap();
        let codes: Vec<&str> = native.caveats.iter().map(|caveat| caveat.code.as_str()).collect();
        assert_eq!(codes, ["few_runs", "fewer_repeats"]);
        assert!(native.against.is_some());
        assert!(torch.as_ref().unwrap().caveats.is_empty());
    }
}
