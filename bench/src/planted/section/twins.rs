//! Tests of all sections: twins differ in what the error changes and in nothing else, and sound ones add up.

use super::super::measured::{Measured, sample};
use super::super::page::WriteUpTable;
use super::*;

const SEEDS: u64 = 12;

fn written(measured: &Measured, kind: SectionKind, seed: u64, focus: Fault, planted: bool) -> Vec<Block> {
    kind.write(&mut SectionData { measured, random: Random::new(seed), focus, planted }).unwrap()
}

fn everywhere(mut test: impl FnMut(&Measured, SectionKind, Fault, u64)) {
    let measured = sample();
    for kind in SectionKind::ALL {
        for &fault in kind.faults() {
            for seed in 0..SEEDS {
                test(&measured, kind, fault, seed);
            }
        }
    }
}

#[test]
fn twins_differ_and_have_the_same_shape() {
    everywhere(|measured, kind, fault, seed| {
        let sound = written(measured, kind, seed, fault, false);
        let planted = written(measured, kind, seed, fault, true);
        assert_ne!(sound, planted, "{kind:?} {fault:?} {seed}");
        assert_eq!(sound.len(), planted.len(), "{kind:?} {fault:?} {seed}");
        assert_eq!(sound.first(), planted.first(), "{kind:?} {fault:?} {seed}");
    });
}

#[test]
fn the_same_seed_gives_the_same_section_and_another_seed_another() {
    everywhere(|measured, kind, fault, seed| {
        let again = written(measured, kind, seed, fault, true);
        assert_eq!(written(measured, kind, seed, fault, true), again, "{kind:?} {fault:?}");
        assert_ne!(written(measured, kind, seed + SEEDS, fault, true), again, "{kind:?} {fault:?}");
    });
}

#[test]
fn every_error_can_be_planted_somewhere() {
    for fault in Fault::ALL {
        assert!(SectionKind::ALL.iter().any(|kind| kind.faults().contains(&fault)), "{fault:?}");
    }
}

#[test]
fn rows_are_as_long_as_their_header() {
    everywhere(|measured, kind, fault, seed| {
        for block in written(measured, kind, seed, fault, seed % 2 == 0) {
            if let Block::WriteUpTable(table) = block {
                assert!(table.rows.iter().all(|row| row.len() == table.header.len()), "{kind:?} {fault:?}");
            }
        }
    });
}

/// An error of what is said leaves the evidence as it was: only the last words differ.
#[test]
fn wrong_conclusions_change_only_the_conclusion() {
    let claims = [
        (SectionKind::Rates, Fault::NoiseAsEffect),
        (SectionKind::Cerebras, Fault::UnequalWork),
        (SectionKind::Cerebras, Fault::Resolution),
        (SectionKind::Cerebras, Fault::RateAgainstLearning),
        (SectionKind::Cerebras, Fault::WaitingInside),
        (SectionKind::Poptorch, Fault::NoiseAsEffect),
        (SectionKind::Sambanova, Fault::UnequalWork),
        (SectionKind::Accuracy, Fault::NoiseAsEffect),
        (SectionKind::Accuracy, Fault::Resolution),
    ];
    let measured = sample();
    for (kind, fault) in claims {
        for seed in 0..SEEDS {
            let sound = written(&measured, kind, seed, fault, false);
            let planted = written(&measured, kind, seed, fault, true);
            let last = sound.len() - 1;
            assert_eq!(sound[..last], planted[..last], "{kind:?} {fault:?} {seed}");
        }
    }
}

fn tables(blocks: &[Block]) -> Vec<&WriteUpTable> {
    blocks
        .iter()
        .filter_map(|block| if let Block::WriteUpTable(table) = block { Some(table) } else { None })
        .collect()
}

/// An error in one cell changes that cell alone.
#[test]
fn wrong_cells_are_single() {
    let cells = [
        (SectionKind::Rates, Fault::Identity),
        (SectionKind::Rates, Fault::BadCell),
        (SectionKind::Rates, Fault::DerivedColumn),
        (SectionKind::Cerebras, Fault::DerivedColumn),
        (SectionKind::Sambanova, Fault::DerivedColumn),
        (SectionKind::Sambanova, Fault::Identity),
        (SectionKind::Endpoints, Fault::DerivedColumn),
        (SectionKind::Endpoints, Fault::BadCell),
        (SectionKind::Parameters, Fault::ParameterCount),
        (SectionKind::Parameters, Fault::BadCell),
        (SectionKind::Inference, Fault::BadCell),
        (SectionKind::Timings, Fault::SummaryOutside),
        (SectionKind::Accuracy, Fault::SummaryOutside),
    ];
    let measured = sample();
    for (kind, fault) in cells {
        for seed in 0..SEEDS {
            let sound = written(&measured, kind, seed, fault, false);
            let planted = written(&measured, kind, seed, fault, true);
            let (one, other) = (tables(&sound), tables(&planted));
            let differing = one.iter().zip(&other).flat_map(|(one, other)| {
                let (one, other) = (one.rows.iter().flatten(), other.rows.iter().flatten());
                one.zip(other).filter(|(one, other)| one != other)
            });
            assert_eq!(differing.count(), 1, "{kind:?} {fault:?} {seed}");
        }
    }
}

fn number(cell: &str) -> f64 {
    let end = cell.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(cell.len());
    cell[..end].parse().unwrap()
}

/// What follows from other columns, with all numbers as they are written: how far off it is, in relative terms.
fn off(
    kind: SectionKind,
    fault: Fault,
    seed: u64,
    planted: bool,
    of: fn(&[String], &[Vec<String>]) -> f64,
) -> f64 {
    let measured = sample();
    let blocks = written(&measured, kind, seed, fault, planted);
    let tables = tables(&blocks);
    let rows = &tables.last().unwrap().rows;
    rows.iter().map(|row| of(row, rows)).fold(0.0, f64::max)
}

fn relative(stated: f64, computed: f64) -> f64 {
    (stated / computed - 1.0).abs()
}

#[test]
fn sound_tables_add_up_as_written_and_planted_ones_do_not() {
    type Rule = fn(&[String], &[Vec<String>]) -> f64;
    let rate: Rule = |row, _| relative(number(&row[3]), number(&row[1]) / number(&row[2]));
    let long: Rule = |row, _| relative(number(&row[4]), number(&row[2]) / number(&row[3]));
    let speed_up: Rule = |row, rows| relative(number(&row[4]), number(&row[2]) / number(&rows[0][2]));
    let batch: Rule = |row, _| relative(number(&row[4]), number(&row[0]) * number(&row[2]) / number(&row[3]));
    let efficiency: Rule = |row, rows| {
        let each = |row: &[String]| number(&row[2]) / number(&row[0]);
        relative(number(&row[3]) / 100.0, each(row) / each(&rows[0]))
    };
    let ratio: Rule = |row, _| {
        if row[3] == "equal" {
            return 0.0;
        }
        let (one, other) = (number(&row[1]), number(&row[2]));
        relative(number(&row[3]), if row[1].contains("/sec") { other / one } else { one / other })
    };
    let rules: [(SectionKind, Fault, Rule); 7] = [
        (SectionKind::Cerebras, Fault::DerivedColumn, rate),
        (SectionKind::Rates, Fault::Identity, long),
        (SectionKind::Rates, Fault::DerivedColumn, speed_up),
        (SectionKind::Sambanova, Fault::Identity, long),
        (SectionKind::Sambanova, Fault::DerivedColumn, efficiency),
        (SectionKind::Inference, Fault::Identity, batch),
        (SectionKind::Endpoints, Fault::DerivedColumn, ratio),
    ];
    for (kind, fault, rule) in rules {
        for seed in 0..SEEDS {
            let sound = off(kind, fault, seed, false, rule);
            assert!(sound < 0.006, "{kind:?} {fault:?} {seed}: {sound}");
            let planted = off(kind, fault, seed, true, rule);
            assert!(planted > 0.02, "{kind:?} {fault:?} {seed}: {planted}");
        }
    }
}

#[test]
fn a_corrupted_cell_is_not_a_number() {
    for seed in 0..200 {
        let cell = corrupted(&mut Random::new(seed), "1069.6 ms");
        let plain: Vec<&str> = cell.split(' ').collect();
        let number = plain.first().and_then(|word| word.parse::<f64>().ok());
        let unit = plain.get(1).is_none_or(|unit| *unit == "ms");
        assert!(number.is_none() || !unit, "{cell}");
    }
}
