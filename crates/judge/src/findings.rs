//! What a record supports, in sentences: each from a verdict, a law or a study of iterations, with its numbers and the
//! cells it rests on. No sentence says more than its interval does.
//!
//! | file | holds |
//! |---|---|
//! | `findings/repeats.rs` | how many repeats it would take |
//! | `findings/laws.rs` | laws over workers and batch sizes |
//! | `findings/size.rs` | arithmetic per second by the size of a model |
//! | `findings/knee.rs` | latency against load |
//! | `findings/requests.rs` | endpoints of which only a few numbers of their requests are known |
//! | `findings/loss.rs` | losses of unequal work |
//! | `findings/iterations.rs` | warm-up, steady state, where the variance lives |
//! | `findings/beside.rs` | all that a record says beside the ranking of its headline |
//! | `findings/words.rs` | numbers and settings as sentences have them |

mod beside;
mod iterations;
mod knee;
mod laws;
mod loss;
mod repeats;
mod requests;
mod size;
mod words;

use assay_model::{CellId, Direction, Verdict};
use serde::Serialize;

use crate::Effect;
use crate::answer::{Answer, AnswerRow, UNEQUAL_WORK};
use crate::gather::Evidence;
pub use beside::{beside, knees};
pub use iterations::of_iterations;
pub use knee::of_load;
pub use laws::{is_scaled_over, of_scaling};
pub use loss::of_loss;
use repeats::repeats_needed;
pub use requests::of_requests;
pub use size::of_size;
use words::{capitalized, counted, label, with_interval};

/// The most cells that a sentence names.
const MOST_NAMED: usize = 4;
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
    let compared: Vec<&AnswerRow> = answer.rows.iter().filter(|row| row.against_best.is_some()).collect();
    let has_interval =
        |row: &&&AnswerRow| row.against_best.as_ref().is_some_and(|effect| effect.interval.is_some());
    let metric = &answer.metric;
    let cells = |rows: &[&AnswerRow]| rows.iter().map(|row| row.cell.clone()).collect();
    let level = best.estimate.as_ref().map(|estimate| with_interval(estimate, metric)).unwrap_or_default();
    if compared.iter().filter(has_interval).count() == 0 {
        let runs = answer.rows.iter().filter_map(|row| row.estimate.as_ref()).map(|e| e.samples).max();
        let lack_runs = compared.iter().any(|row| row.against_best.as_ref().is_some_and(Effect::lacks_runs));
        let why = match lack_runs {
            true => format!(
                "{} per cell cannot separate a difference from noise; 4 or more are needed",
                counted(runs.unwrap_or(0), "run")
            ),
            false => "some values are not above zero, and have no ratio".to_owned(),
        };
        let text = format!("The cells are not ranked by {}: {why}", metric.name);
        found.push(finding("not_ranked", text, cells(&compared)));
        if lack_runs {
            found.extend(repeats_needed(answer, evidence));
        }
        return found;
    }
    let candidates: Vec<&AnswerRow> =
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
            let limit = match answer.not_compared {
                0 => String::new(),
                // Naming all of them open is right; that they were compared would not be.
                count => format!(" ({count} of them were not compared)"),
            };
            let text = format!(
                "{} of {} cells may have the best {}{limit}: {}{rest}; the runs do not separate them",
                several.len(),
                compared.len() + 1 + answer.not_compared,
                metric.name,
                names.join(", ")
            );
            found.push(finding("may_be_best", text, cells(several)));
            found.extend(repeats_needed(answer, evidence));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::CellEvidence;
    use assay_model::PointId;
    use assay_model::{Metric, Unit};

    fn cell(name: &str, setting: (&str, i64), values: &[f64]) -> CellEvidence {
        let id = CellId { point: PointId(name.to_owned()), platform: "local".to_owned() };
        let settings = [(setting.0.to_owned(), setting.1.into())].into();
        CellEvidence::new(id, "command", settings, values.to_vec())
    }

    fn record(name: &str, unit: &str, better: Direction, cells: Vec<CellEvidence>) -> Evidence {
        let metric = Metric { name: name.to_owned(), unit: Unit::parse(unit).0, better: Some(better) };
        Evidence { name: "r".to_owned(), metric, cells, rate: None, of_other_studies: 0 }
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
        assert!(found[1].text.contains("runs per cell"), "{}", found[1].text);
    }

    #[test]
    fn cells_that_are_worse_do_not_count_among_those_to_separate() {
        let a = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0];
        let (b, far) = (a.map(|value| 1.002 * value), a.map(|value| 9.0 * value));
        let cells = [("a", &a), ("b", &b), ("c", &far)];
        let cells =
            cells.into_iter().enumerate().map(|(at, (name, values))| cell(name, ("n", at as i64), values));
        let evidence = record("duration.wall", "s", Direction::Lower, cells.collect());
        let found = of_answer(&crate::answer(&evidence, &[], 10), &evidence);
        assert!(found[0].text.starts_with("2 of 3 cells may have the best"), "{}", found[0].text);
        assert!(found[1].text.contains("12 runs in 2 cells"), "{}", found[1].text);
        assert!(found[1].text.contains("a difference of 2.000 ms"), "{}", found[1].text);
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
        assert!(bad.contains("must not be used") && bad.contains("F(1, 6)"), "{bad}");
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
