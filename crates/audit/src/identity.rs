//! Numbers of one thing that cannot all be true: statistics out of order, shares beyond one, parts larger than the
//! whole.

use assay_model::{Document, Source, names};

use super::facts::Facts;
use super::grid;
use super::written::{self, Range};
use super::{Class, Finding, Standing, wording};

/// How far numbers of one thing may be apart.
const TOLERANCE: f64 = 0.01;
/// More than this of perfect scaling is too good to be taken without a reason.
const EFFICIENCY: f64 = 1.05;

/// One number of a thing.
struct Number {
    metric: String,
    range: Range,
    text: String,
    source: Source,
}

/// All numbers of one thing: a row, a column of a transposed table, or a log.
struct Thing {
    label: String,
    numbers: Vec<Number>,
}

/// Something that cannot be.
struct Fault {
    class: Class,
    standing: Standing,
    line: String,
    source: Source,
}

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        for table in &document.tables {
            let things = table_things(document, table);
            let mut faults: Vec<Fault> = things.iter().flat_map(faults).collect();
            faults.extend(things.iter().filter_map(sum_of_phases));
            faults.extend(counted_shares(document, table));
            findings.extend(both("the table", faults));
        }
        for run in facts.runs_of(document).filter(|run| run.is_log()) {
            let numbers = run.read.observations.iter().map(|observation| Number {
                metric: observation.metric.clone(),
                range: match &observation.written {
                    Some(text) => written::of_text(text, observation.value, false),
                    None => Range::exact(observation.value),
                },
                text: observation.written.clone().unwrap_or_else(|| wording::plain(observation.value)),
                source: observation.source.clone().unwrap_or_else(|| run.source()),
            });
            let thing = Thing { label: run.label(), numbers: numbers.collect() };
            let mut faults = faults(&thing);
            faults.extend(stated_rates(&thing));
            findings.extend(both("the log", faults));
        }
    }
    findings
}

/// One finding for means and medians beyond the smallest or largest value, and one for all the rest.
fn both(place: &str, faults: Vec<Fault>) -> Vec<Finding> {
    let (outside, rest): (Vec<Fault>, Vec<Fault>) =
        faults.into_iter().partition(|fault| fault.class == Class::SummaryOutside);
    finding(place, outside).into_iter().chain(finding(place, rest)).collect()
}

fn finding(place: &str, faults: Vec<Fault>) -> Option<Finding> {
    let class = faults.first()?.class;
    let standing = faults.iter().map(|fault| fault.standing).min()?;
    let first = faults.first().map(|fault| fault.line.clone())?;
    let summary = match faults.len() {
        1 => format!("Numbers of {place} cannot all be true: {first}."),
        count => format!("{count} statements of {place} cannot be true, for example {first}."),
    };
    Some(Finding {
        class,
        standing,
        summary,
        sources: faults.iter().map(|fault| fault.source.clone()).take(8).collect(),
        arithmetic: faults.into_iter().map(|fault| fault.line).take(8).collect(),
        advice: "Look these numbers up in the raw output; at least one of each pair is wrong or means something else."
            .to_owned(),
    })
}

/// The things of a table; each group of columns is one.
fn table_things(document: &Document, table: &assay_model::Table) -> Vec<Thing> {
    let mut things = Vec::new();
    for entry in grid::entries(table) {
        let mut groups: Vec<&str> = entry.fields.iter().map(|field| field.group).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in &groups {
            let mine = entry.fields.iter().filter(|field| field.group == *group || field.group.is_empty());
            let numbers = mine.filter_map(|field| {
                Some(Number {
                    metric: field.name()?.to_owned(),
                    range: field.range()?,
                    text: format!("{} {}", field.header.trim(), field.cell.text.trim()),
                    source: field.source(document),
                })
            });
            let label = [*group, entry.label.as_str()].join(" ").trim().to_owned();
            // Numbers that belong to no group are looked at once, with the first group.
            let alone = group.is_empty() && groups.len() > 1;
            if !alone {
                things.push(Thing { label, numbers: numbers.collect() });
            }
        }
    }
    things
}

fn faults(thing: &Thing) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(bounds(thing));
    faults.extend(orders(thing));
    faults.extend(parts(thing));
    faults.extend(in_flight(thing));
    faults
}

fn fault(thing: &Thing, standing: Standing, line: String, source: &Source) -> Fault {
    let label = if thing.label.is_empty() { String::new() } else { format!("{}: ", thing.label) };
    Fault { class: Class::Identity, standing, line: format!("{label}{line}"), source: source.clone() }
}

/// Shares lie between 0 and 1, times and rates are not negative.
fn bounds(thing: &Thing) -> Vec<Fault> {
    let mut faults = Vec::new();
    for number in &thing.numbers {
        let stem = split(&number.metric).0;
        let share = [names::MFU, names::ACCURACY, names::UTILIZATION, names::SUCCESS, names::CACHE_USE]
            .contains(&stem);
        let above = number.range.low > 1.0;
        if share && (above || number.range.high < 0.0) {
            let line = format!("{} is not a share between 0 and 100 %", number.text);
            faults.push(fault(thing, Standing::Contradicted, line, &number.source));
        }
        if stem == names::MFU && number.range.high <= 0.0 && number.range.low == number.range.high {
            let line = format!("{} says that nothing was computed", number.text);
            faults.push(fault(thing, Standing::Contradicted, line, &number.source));
        }
        if stem == names::EFFICIENCY && (number.range.low > EFFICIENCY || number.range.high <= 0.0) {
            let line = format!("{} is no share of perfect scaling", number.text);
            faults.push(fault(thing, Standing::Doubtful, line, &number.source));
        }
        let unit = names::unit(stem);
        let grows = matches!(unit, assay_model::Unit::Seconds | assay_model::Unit::PerSecond(_));
        if grows && number.range.high < 0.0 {
            let line = format!("{} is negative", number.text);
            faults.push(fault(thing, Standing::Contradicted, line, &number.source));
        }
    }
    faults
}

/// The statistic at the end of a metric's name.
#[derive(Clone, Copy, PartialEq)]
enum Statistic {
    Mean,
    /// A quantile, as a percentage: 0 is the smallest and 100 the largest.
    Quantile(f64),
    Deviation,
}

fn split(metric: &str) -> (&str, Statistic) {
    let Some((stem, last)) = metric.rsplit_once('.') else { return (metric, Statistic::Mean) };
    let quantile = match last {
        "min" => Some(0.0),
        "median" => Some(50.0),
        "max" => Some(100.0),
        "std" => return (stem, Statistic::Deviation),
        other => other.strip_prefix('p').and_then(|digits| {
            let number: f64 = digits.parse().ok()?;
            // p999 is the 99.9th percentile.
            Some(if number > 100.0 { number / 10f64.powi(digits.len() as i32 - 2) } else { number })
        }),
    };
    match quantile {
        Some(percent) => (stem, Statistic::Quantile(percent)),
        None => (metric, Statistic::Mean),
    }
}

/// Quantiles grow, the mean lies between the smallest and the largest, and so does the deviation's reach.
fn orders(thing: &Thing) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (place, one) in thing.numbers.iter().enumerate() {
        for other in thing.numbers.iter().skip(place + 1) {
            let ((stem, first), (other_stem, second)) = (split(&one.metric), split(&other.metric));
            if stem != other_stem {
                continue;
            }
            let (low, high) = match (first, second) {
                (Statistic::Quantile(a), Statistic::Quantile(b)) if a < b => (one, other),
                (Statistic::Quantile(a), Statistic::Quantile(b)) if a > b => (other, one),
                (Statistic::Mean, Statistic::Quantile(100.0))
                | (Statistic::Quantile(0.0), Statistic::Mean) => (one, other),
                (Statistic::Mean, Statistic::Quantile(0.0))
                | (Statistic::Quantile(100.0), Statistic::Mean) => (other, one),
                _ => continue,
            };
            if low.range.low > high.range.high {
                let line = format!("{} is above {}", low.text, high.text);
                let ends = |statistic| matches!(statistic, Statistic::Quantile(percent) if percent <= 0.0 || percent >= 100.0);
                let central = |statistic| matches!(statistic, Statistic::Mean | Statistic::Quantile(50.0));
                let mut found = fault(thing, Standing::Contradicted, line, &low.source);
                if ends(first) && central(second) || central(first) && ends(second) {
                    found.class = Class::SummaryOutside;
                }
                faults.push(found);
            }
        }
    }
    faults
}

fn find<'a>(thing: &'a Thing, metric: &str) -> Option<&'a Number> {
    thing.numbers.iter().find(|number| number.metric == metric)
}

/// The phases that a row states are not longer together than the job. Those of a log may overlap, as a compilation
/// does that is part of the first epoch.
fn sum_of_phases(thing: &Thing) -> Option<Fault> {
    let inner = [names::DURATION_QUEUE, names::DURATION_COMPILE, names::DURATION_LOOP];
    let parts: Vec<&Number> = inner.iter().filter_map(|name| find(thing, name)).collect();
    let (whole, first) = (find(thing, names::DURATION_JOB)?, parts.first()?);
    let sum = parts.iter().fold(0.0, |sum, part| sum + part.range.low);
    (sum > whole.range.high * (1.0 + TOLERANCE)).then(|| {
        let terms = parts.iter().map(|part| part.text.clone()).collect::<Vec<_>>().join(" + ");
        let line = format!("{terms} = {} is more than {}", wording::plain(sum), whole.text);
        fault(thing, Standing::Contradicted, line, &first.source)
    })
}

/// Parts are not larger than the whole, as the first token of a response.
fn parts(thing: &Thing) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (part, whole) in [
        (names::TTFT, names::E2E),
        (names::TPOT, names::E2E),
        (names::REQUESTS_FAILED, names::REQUESTS),
        (names::TOKENS_OUTPUT, names::TOKENS_TOTAL),
        (names::TOKENS_PROMPT, names::TOKENS_TOTAL),
        (names::OUTPUT_THROUGHPUT, names::TOTAL_TOKEN_THROUGHPUT),
    ] {
        if let (Some(part), Some(whole)) = (find(thing, part), find(thing, whole))
            && part.range.low > whole.range.high * (1.0 + TOLERANCE)
        {
            let line = format!("{} is more than {}", part.text, whole.text);
            faults.push(fault(thing, Standing::Contradicted, line, &part.source));
        }
    }
    faults
}

/// Requests per second times the mean latency is how many were in flight on average (Little's law), which cannot be
/// more than the streams there were.
fn in_flight(thing: &Thing) -> Option<Fault> {
    let rate = find(thing, names::REQUEST_THROUGHPUT)?;
    let latency = find(thing, names::E2E)?;
    let streams = find(thing, names::setting::CONCURRENCY)?;
    let flying = rate.range.times(latency.range)?;
    (flying.low > streams.range.high * (1.0 + TOLERANCE)).then(|| {
        let line = format!(
            "{} × {} = {} requests in flight, but there were {}",
            rate.text,
            latency.text,
            wording::rough(flying.value()),
            wording::plain(streams.range.value())
        );
        fault(thing, Standing::Contradicted, line, &rate.source)
    })
}

/// Rates of a log times its seconds give its counts, where all three have the same scope.
fn stated_rates(thing: &Thing) -> Vec<Fault> {
    let triples = [
        (names::REQUEST_THROUGHPUT, names::REQUESTS, names::DURATION_LOOP),
        (names::SAMPLES_PER_S_LOOP, names::SAMPLES, names::DURATION_LOOP),
        (names::SAMPLES_PER_S_FIT, names::SAMPLES, names::DURATION_FIT),
        (names::SAMPLES_PER_S_JOB, names::SAMPLES, names::DURATION_JOB),
        (names::STEPS_PER_S, names::STEPS, names::DURATION_LOOP),
    ];
    let mut faults = Vec::new();
    for (rate, count, seconds) in triples {
        let (Some(rate), Some(count), Some(seconds)) =
            (find(thing, rate), find(thing, count), find(thing, seconds))
        else {
            continue;
        };
        let Some(product) = rate.range.times(seconds.range) else { continue };
        let steps =
            find(thing, names::STEPS).is_some_and(|steps| product.widened(TOLERANCE).meets(steps.range));
        // A rate that counts steps has a finding of its own.
        if !steps && !product.widened(TOLERANCE).meets(count.range) {
            let line = format!(
                "{} × {} = {}, but {} were counted",
                rate.text,
                seconds.text,
                wording::plain(product.value()),
                count.text
            );
            faults.push(fault(thing, Standing::Contradicted, line, &rate.source));
        }
    }
    faults
}

/// Cells such as `9/10 (90%)`, whose share must be their quotient.
fn counted_shares(document: &Document, table: &assay_model::Table) -> Vec<Fault> {
    let mut faults = Vec::new();
    for cell in table.rows.iter().flat_map(|row| &row.cells) {
        if !(cell.text.contains('/') && cell.text.contains('%')) {
            continue;
        }
        let numbers = written::numbers(&cell.text);
        let [(part, _, true), (whole, _, true), (percent, digit, _)] = numbers.as_slice() else { continue };
        let share = 100.0 * part / whole;
        if *whole > 0.0 && !Range::around(*percent, digit / 2.0 * 1.001).meets(Range::exact(share)) {
            faults.push(Fault {
                class: Class::Identity,
                standing: Standing::Contradicted,
                line: format!(
                    "{} / {} = {}, stated {}",
                    wording::plain(*part),
                    wording::plain(*whole),
                    wording::percent(share / 100.0),
                    cell.text.trim()
                ),
                source: document.source(cell.line),
            });
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::sample::{document, found};
    use super::*;

    fn of_row(columns: &[&str], row: &[f64]) -> Vec<Finding> {
        found(
            check,
            &[document("a.md", |build| {
                build.table("nvidia", columns, &[row]);
            })],
        )
    }

    #[test]
    fn statistics_must_be_in_order() {
        let columns = ["e2e", "e2e.median", "e2e.min", "e2e.max"];
        assert!(of_row(&columns, &[4.987, 5.044, 4.465, 5.535]).is_empty());
        assert_eq!(of_row(&columns, &[5.987, 5.044, 4.465, 5.535])[0].standing, Standing::Contradicted);
        assert_eq!(of_row(&["ttft.p50", "ttft.p99"], &[0.9, 0.5]).len(), 1);
        assert!(of_row(&["ttft.p50", "ttft.p99"], &[0.5, 0.5]).is_empty());
    }

    #[test]
    fn shares_must_be_shares() {
        assert_eq!(of_row(&["mfu"], &[1.31]).len(), 1);
        assert!(of_row(&["mfu"], &[0.43]).is_empty());
        assert_eq!(of_row(&["accuracy"], &[98.05]).len(), 1);
        assert!(of_row(&["efficiency"], &[1.02]).is_empty());
        assert_eq!(of_row(&["efficiency"], &[1.3])[0].standing, Standing::Doubtful);
    }

    #[test]
    fn parts_must_be_smaller_than_the_whole() {
        let columns = ["duration.queue", "duration.compile", "duration.loop", "duration.job"];
        assert!(of_row(&columns, &[100.0, 50.0, 175.2, 330.0]).is_empty());
        assert_eq!(of_row(&columns, &[100.0, 150.0, 175.2, 330.0]).len(), 1);
    }

    #[test]
    fn requests_in_flight_must_be_fewer_than_streams() {
        let columns = ["concurrency", "request_throughput", "e2e"];
        assert!(of_row(&columns, &[8.0, 3.9, 2.05]).is_empty());
        assert_eq!(of_row(&columns, &[8.0, 7.8, 2.05]).len(), 1);
    }

    #[test]
    fn a_share_beside_its_counts_is_recomputed() {
        let with = |text: &str| {
            let mut document = document("a.md", |build| {
                build.table("nvidia", &["success"], &[&[1.0]]);
            });
            document.tables[0].rows[0].cells[0].text = text.to_owned();
            found(check, &[document])
        };
        assert!(with("10/10 (100%)").is_empty());
        assert!(with("2/3 (67%)").is_empty());
        assert_eq!(with("9/10 (100%)").len(), 1);
    }
}
