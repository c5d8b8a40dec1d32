//! The user's own patterns: a regular expression with one group for the value, a metric name and a unit.

use assay_model::{Source, Unit};
use regex::bytes::Regex;

use crate::findings::{Collector, Findings};
use crate::reading::{LineReader, Stream};

/// Which of several values of a metric is the observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first one seen.
    First,
    /// The last one seen.
    Last,
    /// Their sum.
    Sum,
    /// None: the values are kept as a series only.
    Series,
}

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
    pub fn reader(&self) -> Box<dyn LineReader> {
        let collector = Collector::new(&self.metric, self.unit.clone());
        Box::new(PatternReader { pattern: self.clone(), collector })
    }
}

struct PatternReader {
    pattern: Pattern,
    collector: Collector,
}

impl LineReader for PatternReader {
    fn line(&mut self, stream: Stream, number: u64, line: &[u8]) {
        if self.pattern.stream.is_some_and(|only| only != stream) {
            return;
        }
        for captures in self.pattern.regex.captures_iter(line) {
            let written = captures.get(self.pattern.group).map(|group| group.as_bytes());
            if let Some(value) = written.and_then(written_number) {
                let source = Source { file: stream.file().to_owned(), line: number };
                self.collector.take(value * self.pattern.factor, source);
            }
        }
    }

    fn report(&self, findings: &mut Findings) {
        self.collector.report(self.pattern.keep, findings);
    }

    fn latest(&self) -> Option<(&str, f64)> {
        Some((self.collector.metric(), self.collector.latest()?))
    }
}

/// Reads a number as people write it: thousands commas are allowed.
fn written_number(written: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(written).ok()?.trim();
    text.parse().ok().or_else(|| thousands(text))
}

fn thousands(text: &str) -> Option<f64> {
    let whole = text.split('.').next()?;
    let mut groups = whole.trim_start_matches(['+', '-']).split(',');
    let first = groups.next()?;
    let well_formed = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    if well_formed { text.replace(',', "").parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reading;

    fn plain(regex: &str, keep: Keep, stream: Option<Stream>) -> Result<Pattern, PatternError> {
        Pattern::new("n", regex, Unit::One, 1.0, keep, stream)
    }

    fn read(pattern: &Pattern, text: &str) -> Findings {
        let mut reading = Reading::new(vec![pattern.reader()]);
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
        assert_eq!(observation.source.as_ref().unwrap(), &Source { file: "stderr.log".into(), line: 2 });
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
