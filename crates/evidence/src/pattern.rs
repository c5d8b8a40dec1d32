//! The user's own patterns: a regular expression with one group for the value, a metric name and a unit.

use assay_model::{Keep, Stream, Unit};
use regex::Regex;

use crate::collector::Value;
use crate::dialects::{DialectReader, Taken};
use crate::facts::Facts;
use crate::line::Line;
use crate::text::number;

/// One pattern, ready to use.
#[derive(Debug, Clone)]
pub struct Pattern {
    metric: String,
    regex: Regex,
    group: usize,
    unit: Unit,
    factor: f64,
    keep: Keep,
    stream: Option<Stream>,
}

/// A pattern that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// It is not a regular expression.
    #[error("not a regular expression: {0}")]
    Syntax(Box<regex::Error>),
    /// It does not say where the value is.
    #[error(
        "the pattern needs exactly one group in round brackets, or one group named `value`, around the number"
    )]
    Group,
}

impl Pattern {
    /// Makes a pattern. `factor` leads from the number as written to the base unit; `stream` limits the pattern to
    /// one stream.
    pub fn new(
        metric: &str,
        regex: &str,
        unit: Unit,
        factor: f64,
        keep: Keep,
        stream: Option<Stream>,
    ) -> Result<Pattern, PatternError> {
        let regex = Regex::new(regex).map_err(|error| PatternError::Syntax(Box::new(error)))?;
        let named = regex.capture_names().position(|name| name == Some("value"));
        let group = match (named, regex.captures_len()) {
            (Some(group), _) => group,
            (None, 2) => 1,
            _ => return Err(PatternError::Group),
        };
        Ok(Pattern { metric: metric.to_owned(), regex, group, unit, factor, keep, stream })
    }

    /// A reader for one run.
    pub(crate) fn reader(&self) -> Box<dyn DialectReader> {
        Box::new(PatternReader { pattern: self.clone() })
    }
}

struct PatternReader {
    pattern: Pattern,
}

impl DialectReader for PatternReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let pattern = &self.pattern;
        if pattern.stream.is_some_and(|only| facts.stream() != only) {
            return Taken::Nothing;
        }
        let mut taken = Taken::Nothing;
        for captures in pattern.regex.captures_iter(line.text) {
            let written = captures.get(pattern.group).map(|group| group.as_str());
            if let Some((value, _)) = written.and_then(|text| number(text.trim())) {
                facts.value(Value {
                    unit: Some(&pattern.unit),
                    keep: pattern.keep,
                    ..Value::reported(&pattern.metric, value * pattern.factor)
                });
                taken = Taken::Part;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Findings;
    use crate::{Readers, Reading};
    use assay_model::Source;

    fn plain(regex: &str, keep: Keep, stream: Option<Stream>) -> Result<Pattern, PatternError> {
        Pattern::new("n", regex, Unit::One, 1.0, keep, stream)
    }

    fn read(pattern: &Pattern, text: &str) -> Findings {
        let mut reading =
            Reading::new(&Readers::new("cerebras", std::slice::from_ref(pattern), &[]).unwrap());
        reading.feed(Stream::Stderr, text.as_bytes());
        reading.finish()
    }

    #[test]
    fn a_pattern_reads_its_group_in_its_unit() {
        let pattern =
            Pattern::new("rate", r"rate: ([0-9.,]+)", Unit::PerSecond("B".into()), 1e6, Keep::Last, None)
                .unwrap();
        let findings = read(&pattern, "rate: 1.5\nrate: 2,000.5 rate: 3\n");
        let observation = &findings.observations[0];
        assert_eq!(observation.value, 3e6);
        assert_eq!(observation.unit.to_string(), "B/s");
        assert_eq!(observation.source.as_ref().unwrap(), &Source::new("stderr.log", 2));
        assert_eq!(findings.series[0].values, [1.5e6, 2000.5e6, 3e6]);
    }

    #[test]
    fn keep_chooses_among_the_values() {
        for (keep, expected) in
            [(Keep::First, Some(1.0)), (Keep::Last, Some(4.0)), (Keep::Sum, Some(7.0)), (Keep::Series, None)]
        {
            let pattern = plain(r"n=(\d+)", keep, None).unwrap();
            let findings = read(&pattern, "n=1\nn=2\nn=4\n");
            assert_eq!(findings.observations.first().map(|o| o.value), expected);
            assert_eq!(findings.series[0].values.len(), 3);
        }
    }

    #[test]
    fn a_stream_can_be_left_out() {
        let pattern = plain(r"n=(\d+)", Keep::Last, Some(Stream::Stdout)).unwrap();
        assert!(read(&pattern, "n=1\n").observations.is_empty());
    }

    #[test]
    fn a_pattern_must_say_where_the_value_is() {
        assert!(matches!(plain(r"n=\d", Keep::Last, None), Err(PatternError::Group)));
        assert!(matches!(plain(r"(a)(b)", Keep::Last, None), Err(PatternError::Group)));
        assert!(matches!(plain(r"(", Keep::Last, None), Err(PatternError::Syntax(_))));
        assert!(plain(r"(a|b)=(?<value>\d)", Keep::Last, None).is_ok());
    }
}
