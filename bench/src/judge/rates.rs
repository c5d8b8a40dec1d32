//! Error rates of tables. Equal cells must rarely be ranked, and different ones must be found about as often as a test
//! of the two alone would find them.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use assay_judge::{answer, compare};
use assay_model::Verdict;
use assay_random::Random;
use assay_stats::welch::welch;

use super::{record, times};
use crate::figures::table;
use crate::goal::{GoalBound, Goals};

const CELLS: [usize; 4] = [2, 5, 20, 100];

/// Measures both rates for tables of 2, 5, 20 and 100 cells.
pub fn measure(tables: usize, goals: &mut Goals) {
    println!("Tables of cells with 5 % log-normal noise, {tables} simulated tables each; shares in %");
    let mut rows = Vec::new();
    for cells in CELLS {
        let mut random = Random::stream(cells as u64, "judge rates");
        // Large tables take long to simulate; their rates need no more digits.
        let tables = if cells > 20 { tables / 3 } else { tables };
        let named = |repeats: usize, random: &mut Random| {
            100.0 * share(tables, || names_a_loser(random, cells, repeats))
        };
        let (few, many) = (named(6, &mut random), named(12, &mut random));
        let found = |difference: f64, repeats: usize, random: &mut Random| {
            100.0 * share(tables, || finds_the_slow(random, cells, repeats, difference))
        };
        let (tenth, twentieth) = (found(0.10, 6, &mut random), found(0.05, 12, &mut random));
        let twice = found(1.0, 6, &mut random);
        rows.push(
            [cells as f64, few, many, tenth, twentieth, twice].map(|value| format!("{value:.1}")).to_vec(),
        );
        for (repeats, value) in [(6, few), (12, many)] {
            let name = format!("{cells} equal cells, {repeats} repeats: tables that name a loser");
            goals.add(name, value, "%", GoalBound::AtMost(6.0));
        }
        if cells == 2 {
            goals.add("two cells, 10 % apart, 6 repeats: found", tenth, "%", GoalBound::AtLeast(72.0));
        }
        goals.add(
            format!("{cells} cells, one twice as slow, 6 repeats: found"),
            twice,
            "%",
            GoalBound::AtLeast(99.0),
        );
    }
    println!(
        "{}",
        table(
            &["cells", "A/A, 6 repeats", "A/A, 12", "10 % slower, 6", "5 % slower, 12", "2× slower, 6"],
            &rows
        )
    );
    compared(tables, goals);
}

/// Pairs of records for the share of a t-test's power: it is a ratio of two shares, which needs more of them than a share.
const PAIRS: usize = 10_000;

/// A/B of two records, beside a t-test of the same numbers.
fn compared(tables: usize, goals: &mut Goals) {
    let mut random = Random::stream(7, "judge compare");
    let (mut ours, mut students) = (0, 0);
    for _ in 0..PAIRS {
        let (base, other) = (times(&mut random, 1.0, 12), times(&mut random, 1.05, 12));
        students += u32::from(welch(&base, &other).is_some_and(|test| test.p < 0.05));
        ours += u32::from(verdicts(vec![base], vec![other]).contains(&Verdict::Worse));
    }
    let percent = |count: u32| 100.0 * f64::from(count) / PAIRS as f64;
    println!(
        "A/B, 5 % apart, 12 repeats, {PAIRS} pairs: found {:.1} %, by a t-test {:.1} %",
        percent(ours),
        percent(students)
    );
    goals.add(
        "A/B, 5 % apart, 12 repeats: found, as a share of what a t-test finds",
        percent(ours) / percent(students),
        "",
        GoalBound::AtLeast(0.93),
    );
    for rows in [1, 20] {
        let named = share(tables, || {
            let mut side = || (0..rows).map(|_| times(&mut random, 1.0, 6)).collect::<Vec<_>>();
            let found = verdicts(side(), side());
            found.iter().any(|verdict| matches!(verdict, Verdict::Better | Verdict::Worse))
        });
        let name = format!("compare, {rows} equal rows, 6 repeats: comparisons that name a change");
        goals.add(name, 100.0 * named, "%", GoalBound::AtMost(6.0));
    }
    println!();
}

fn verdicts(base: Vec<Vec<f64>>, other: Vec<Vec<f64>>) -> Vec<Verdict> {
    let comparison = compare(&record("base", base), &record("other", other), &[]);
    let rows = comparison.map(|comparison| comparison.rows).unwrap_or_default();
    rows.iter().filter_map(|row| Some(row.effect.as_ref()?.verdict)).collect()
}

fn share(trials: usize, mut trial: impl FnMut() -> bool) -> f64 {
    (0..trials).filter(|_| trial()).count() as f64 / trials as f64
}

fn names_a_loser(random: &mut Random, cells: usize, repeats: usize) -> bool {
    let values = (0..cells).map(|_| times(random, 1.0, repeats)).collect();
    let judged = answer(&record("equal", values), &[], usize::MAX);
    judged.may_be_best.len() < cells
}

/// Whether the one cell that is slower than all others is named.
fn finds_the_slow(random: &mut Random, cells: usize, repeats: usize, difference: f64) -> bool {
    let level = |cell: usize| if cell == 0 { 1.0 + difference } else { 1.0 };
    let values = (0..cells).map(|cell| times(random, level(cell), repeats)).collect();
    let judged = answer(&record("different", values), &[], usize::MAX);
    !judged.may_be_best.contains(&0)
}
