//! Lines that hold nothing but `name=value` pairs: what a program prints that wants to be read.

use assay_model::Unit;

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::Facts;
use crate::line::Line;
use crate::text::number;
use crate::writeup::units::unit_of;
use crate::writeup::vocabulary::setting_name;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "metrics",
    title: "name=value lines",
    summary: "lines of name=value pairs, with a unit after the value",
    needles: &["="],
    shapes: &[
        Shape { text: "throughput=812.5MB/s", reads: "throughput" },
        Shape { text: "step=100 loss=2.31 rate=2924.5 samples/s", reads: "step, loss, rate" },
        Shape { text: "accuracy=98.4%", reads: "accuracy" },
    ],
    derived: &[],
    notes: &[
        "The whole line must have this shape, so that prose such as `we set epochs = 14` is not read as a measurement.",
        "A unit follows its number, with or without a space.",
        "Of a metric printed several times, the last value is the observation and all of them are a series.",
    ],
    reader: || Box::<MetricsReader>::default(),
};

#[derive(Default)]
struct MetricsReader;

impl DialectReader for MetricsReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let Some(pairs) = pairs(line.text) else { return Taken::Nothing };
        // `Rounds=3, Concurrency=5`: a line of settings measures nothing.
        if pairs.len() > 1 && pairs.iter().all(|(name, ..)| is_setting(name)) {
            return Taken::Nothing;
        }
        for (name, value, unit) in &pairs {
            let (unit, factor) = Unit::parse(unit);
            facts.value(Value { unit: Some(&unit), ..Value::reported(name, value * factor) });
        }
        if pairs.is_empty() { Taken::Nothing } else { Taken::Part }
    }
}

/// The pairs of a line, if the line holds nothing else.
fn pairs(line: &str) -> Option<Vec<(&str, f64, &str)>> {
    let mut found: Vec<(&str, f64, &str)> = Vec::new();
    let mut doubtful = false;
    for word in line.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty()) {
        match word.split_once('=') {
            Some((name, written)) if is_name(name) => {
                let (value, unit) = number_and_unit(written)?;
                found.push((name, value, unit));
            }
            Some(_) => return None,
            // A word of its own can only be the unit of the value before it.
            None => match found.last_mut() {
                Some((_, _, unit)) if unit.is_empty() && is_unit(word) => {
                    *unit = word;
                    // `errors=0 round wall=17s`: an unknown word before a name may belong to that name.
                    doubtful = unit_of(word).is_none() && !word.contains('/');
                    continue;
                }
                _ => return None,
            },
        }
        if doubtful {
            return None;
        }
    }
    Some(found)
}

fn is_setting(name: &str) -> bool {
    setting_name(&name.replace(['_', '/', '-'], " ")).is_some() || name.eq_ignore_ascii_case("rounds")
}

fn is_name(name: &str) -> bool {
    // Capitals and underscores are how environment variables are written.
    let variable = name.contains('_') && !name.contains(|letter: char| letter.is_ascii_lowercase());
    !variable
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 80
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.-/".contains(letter))
}

fn is_unit(word: &str) -> bool {
    word.len() <= 20 && word.starts_with(|first: char| first.is_alphabetic() || first == '%' || first == '°')
}

/// Splits `12.5MB/s` into its number and its unit.
fn number_and_unit(written: &str) -> Option<(f64, &str)> {
    let (value, rest) = number(written)?;
    // A whole number may end with its point: `5.`
    let unit = if rest == "." { "" } else { rest };
    (unit.is_empty() || is_unit(unit)).then_some((value, unit))
}

#[cfg(test)]
mod tests {
    use crate::Stream;
    use crate::reading::Findings;
    use crate::{Readers, Reading};
    use proptest::prelude::*;

    fn read(text: &str) -> Findings {
        let mut reading = Reading::new(&Readers::new("metrics", &[], &[]).unwrap());
        reading.feed(Stream::Stdout, text.as_bytes());
        reading.finish()
    }

    fn found(text: &str) -> Vec<(String, f64, String)> {
        let observations = read(text).observations;
        observations.into_iter().map(|o| (o.metric, o.value, o.unit.to_string())).collect()
    }

    #[test]
    fn pairs_with_units_are_read_in_base_units() {
        assert_eq!(found("metric=1.0\n"), [("metric".into(), 1.0, String::new())]);
        assert_eq!(found("time=250ms\n"), [("time".into(), 0.25, "s".into())]);
        assert_eq!(found("accuracy=98.5%"), [("accuracy".into(), 0.985, "fraction".into())]);
        assert_eq!(
            found("loss=2.5e-3, rate=10 samples/s"),
            [("loss".into(), 2.5e-3, String::new()), ("rate".into(), 10.0, "samples/s".into())]
        );
    }

    #[test]
    fn numbers_may_end_with_their_point_or_have_an_exponent() {
        assert_eq!(found("a=5."), [("a".into(), 5.0, String::new())]);
        assert_eq!(
            found("a=-1e-3s b=+.5"),
            [("a".into(), -1e-3, "s".into()), ("b".into(), 0.5, String::new())]
        );
    }

    #[test]
    fn the_last_value_is_the_observation_and_all_are_the_series() {
        let findings = read("loss=3\nloss=2\nloss=1\n");
        assert_eq!(findings.observations[0].value, 1.0);
        assert_eq!(findings.observations[0].source.as_ref().unwrap().line, 3);
        assert_eq!(findings.series[0].values, [3.0, 2.0, 1.0]);
    }

    #[test]
    fn prose_and_commands_are_not_measurements() {
        for line in
            ["we set epochs = 14", "export A=1 make", "x == 3", "a=b", "rate=", "=5", "loss=nan", "v=1.2.3"]
        {
            assert_eq!(found(line), [], "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut reading = Reading::new(&Readers::new("metrics", &[], &[]).unwrap());
            reading.feed(Stream::Stdout, &bytes);
            for observation in reading.finish().observations {
                prop_assert!(observation.value.is_finite());
            }
        }

        #[test]
        fn a_printed_number_is_read_back(value in -1e12f64..1e12) {
            prop_assert_eq!(found(&format!("x={value:?}\n")), [("x".to_owned(), value, String::new())]);
        }
    }
}
