//! A higher rate that takes longer to the same loss.

use assay_model::{Document, Series, names};

use super::claims::{self, Tone};
use super::facts::{Facts, Run};
use super::wording::{plain, rough};
use super::{Class, Finding, Level};

/// Longer by less than this is no reason to speak.
const SLOWER: f64 = 1.1;

/// Compares the loss curves of each document's logs, one finding for a platform.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    facts.documents.iter().flat_map(|document| findings(facts, document)).collect()
}

/// A run with its loss against the seconds since training began.
struct Curve<'a> {
    run: &'a Run<'a>,
    rate: f64,
    /// Seconds and the lowest loss so far.
    points: Vec<(f64, f64)>,
}

fn findings(facts: &Facts<'_>, document: &Document) -> Vec<Finding> {
    let curves: Vec<Curve<'_>> = facts.logs_of(document).filter_map(curve).collect();
    let mut worst: Vec<(&str, f64, Finding)> = Vec::new();
    for slow in &curves {
        for fast in &curves {
            let platform = slow.run.platform().unwrap_or("");
            if fast.rate <= 1.05 * slow.rate
                || fast.run.platform() != slow.run.platform()
                || !is_same_model(slow, fast)
            {
                continue;
            }
            let Some((ratio, finding)) = compare(document, slow, fast) else { continue };
            match worst.iter_mut().find(|(known, ..)| *known == platform) {
                Some(entry) if entry.1 < ratio => *entry = (platform, ratio, finding),
                Some(_) => {}
                None => worst.push((platform, ratio, finding)),
            }
        }
    }
    worst.into_iter().map(|(_, _, finding)| finding).collect()
}

/// Losses compare only within one model and data set.
fn is_same_model(one: &Curve<'_>, other: &Curve<'_>) -> bool {
    let model = |curve: &Curve<'_>| curve.run.setting(names::setting::MODEL).map(ToString::to_string);
    let alike = match (model(one), model(other)) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(&b),
        _ => true,
    };
    let first = |curve: &Curve<'_>| curve.points.first().map(|point| point.1);
    let near = first(one).zip(first(other)).is_some_and(|(a, b)| (a / b - 1.0).abs() < 0.3);
    alike && near
}

fn curve<'a>(run: &'a Run<'a>) -> Option<Curve<'a>> {
    let series = run.series(names::LOSS_TRAIN)?;
    let rate = run
        .value(names::SAMPLES_PER_S_LOOP)
        .or_else(|| run.value(names::SAMPLES_PER_S))
        .or_else(|| Some(run.work()? / run.value(names::DURATION_LOOP)?))?;
    let points = points(run, series)?;
    (rate > 0.0 && points.len() >= 4).then_some(Curve { run, rate, points })
}

/// The lowest loss so far against the seconds since training began.
fn points(run: &Run<'_>, series: &Series) -> Option<Vec<(f64, f64)>> {
    if series.at_s.len() != series.values.len() {
        return None;
    }
    let began = run.read.phases.iter().find(|phase| phase.name == "train").and_then(|phase| phase.start_s);
    let (first, second) = (series.at_s.first()?, series.at_s.get(1)?);
    // Without a phase the first report stands one interval behind the start.
    let origin = began.filter(|began| began <= first).unwrap_or(first - (second - first));
    let mut lowest = f64::INFINITY;
    let mut points = Vec::new();
    for (at, loss) in series.at_s.iter().zip(&series.values) {
        if loss.is_finite() && *loss < lowest {
            lowest = *loss;
            points.push((at - origin, *loss));
        }
    }
    Some(points)
}

/// One loss that both reach: the slower run's loss and time, and the faster one's.
struct Reached {
    loss: (f64, f64),
    seconds: (f64, f64),
}

impl Reached {
    fn ratio(&self) -> f64 {
        self.seconds.1 / self.seconds.0
    }
}

fn compare(document: &Document, slow: &Curve<'_>, fast: &Curve<'_>) -> Option<(f64, Finding)> {
    let reached: Vec<Reached> = slow
        .points
        .iter()
        .skip(1)
        .filter_map(|(at, loss)| {
            let (other_at, other_loss) = fast.points.iter().find(|(_, other)| other <= loss)?;
            (*at > 0.0 && *other_at > 0.0)
                .then_some(Reached { loss: (*loss, *other_loss), seconds: (*at, *other_at) })
        })
        .collect();
    let ratios: Vec<f64> = reached.iter().map(Reached::ratio).collect();
    let middle = assay_stats::median(&ratios)?;
    if middle < SLOWER || reached.len() < 2 {
        return None;
    }
    let most = reached.iter().max_by(|a, b| a.ratio().total_cmp(&b.ratio()))?;
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let source = |curve: &Curve<'_>| {
        let series = curve.run.series(names::LOSS_TRAIN).and_then(|series| series.source.clone());
        series.unwrap_or_else(|| curve.run.source())
    };
    let finding = Finding {
        class: Class::RateAgainstLearning,
        operands: Vec::new(),
        level: if is_ranked(document, fast.run) { Level::Doubtful } else { Level::NotChecked },
        summary: format!(
            "{} has {:.2} times the rate of {}, but takes {least:.1} to {:.1} times as long to the same loss ({} after {:.1} s against {} after {:.1} s); one noisy curve of each.",
            fast.run.label_against(slow.run),
            fast.rate / slow.rate,
            slow.run.label_against(fast.run),
            most.ratio(),
            plain(most.loss.0),
            most.seconds.0,
            plain(most.loss.1),
            most.seconds.1,
        ),
        arithmetic: arithmetic(slow, fast, &reached),
        sources: vec![source(slow), source(fast)],
        advice: "Compare the time to a given loss, with several runs of each, rather than samples a second."
            .to_owned(),
    };
    Some((middle, finding))
}

/// Whether a sentence ranks such runs by speed alone. What is said of another machine is no claim about these.
fn is_ranked(document: &Document, run: &Run<'_>) -> bool {
    document.statements.iter().any(|statement| {
        claims::tone(&statement.text) == Some(Tone::Ranking)
            && claims::concerns(document, statement, run.platform())
            && claims::may_be_about(&statement.text, names::SAMPLES_PER_S_LOOP)
            && !statement.text.to_lowercase().contains("loss")
    })
}

fn arithmetic(slow: &Curve<'_>, fast: &Curve<'_>, reached: &[Reached]) -> Vec<String> {
    let rates =
        format!("rate {} / {} = {}", plain(fast.rate), plain(slow.rate), rough(fast.rate / slow.rate));
    let lines = reached.iter().rev().take(6).rev().map(|one| {
        format!(
            "loss {} after {:.1} s against {} after {:.1} s: {} times",
            plain(one.loss.0),
            one.seconds.0,
            plain(one.loss.1),
            one.seconds.1,
            rough(one.ratio())
        )
    });
    std::iter::once(rates).chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use assay_model::ReadRun;

    use super::super::sample::{Build, document, found};
    use super::*;

    fn pair(fast: &[f64], says: &str) -> Document {
        let slow = [9.39062, 8.70312, 7.79688, 7.39062, 7.80469, 7.53125, 7.35156, 7.27344, 7.35938, 7.125];
        document("notes.md", |build: &mut Build| {
            for (batch, rate, interval, losses) in
                [(512, 2924.54, 17.5, slow.as_slice()), (2048, 6727.92, 30.44, fast)]
            {
                let points: Vec<(f64, f64, f64)> = losses
                    .iter()
                    .enumerate()
                    .map(|(index, loss)| (100.0 * (index + 1) as f64, interval * (index + 1) as f64, *loss))
                    .collect();
                build
                    .log("cerebras", "cerebras")
                    .observed("batch_size", batch)
                    .metric(names::SAMPLES_PER_S_LOOP, rate)
                    .series(names::LOSS_TRAIN, &points);
            }
            build.says(says, &[]);
        })
    }

    #[test]
    fn more_samples_a_second_may_learn_more_slowly() {
        let fast = [9.48438, 8.48438, 7.77344, 7.64062, 7.375, 7.42188, 7.25, 7.125, 7.25, 7.14844];
        let findings = found(check, &[pair(&fast, "A note.")]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].level, Level::NotChecked);
        assert!(findings[0].summary.contains("2.30 times the rate"), "{}", findings[0].summary);
        assert!(findings[0].summary.contains("2.2 times as long"), "{}", findings[0].summary);
        assert!(
            findings[0].summary.contains("7.39062 after 70.0 s against 7.375 after 152.2 s"),
            "{}",
            findings[0].summary
        );
        let claimed = found(check, &[pair(&fast, "The larger batch is faster.")]);
        assert_eq!(claimed[0].level, Level::Doubtful);
    }

    #[test]
    fn what_is_said_of_other_runs_is_no_claim_about_these() {
        let fast = [9.48438, 8.48438, 7.77344, 7.64062, 7.375, 7.42188, 7.25, 7.125, 7.25, 7.14844];
        let mut document = pair(&fast, "A note.");
        document.runs.push(ReadRun { platform: Some("groq".to_owned()), ..document.runs[0].clone() });
        let mut speak = |heading: &str, text: &str| {
            document.statements[0].headings = vec![heading.to_owned()];
            document.statements[0].text = text.to_owned();
            found(check, &[document.clone()])[0].level
        };
        assert_eq!(speak("Groq", "Four chips are faster than one."), Level::NotChecked);
        assert_eq!(speak("Cerebras", "Speed-up is the rate over that of the first row."), Level::NotChecked);
        assert_eq!(speak("Cerebras", "The larger batch is faster."), Level::Doubtful);
    }

    #[test]
    fn a_rate_that_also_learns_faster_is_sound() {
        let fast = [7.9, 7.1, 6.6, 6.2, 6.0, 5.9, 5.8, 5.7, 5.6, 5.5];
        assert!(found(check, &[pair(&fast, "The larger batch is faster.")]).is_empty());
    }
}
