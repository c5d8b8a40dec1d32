//! The statistics that summarize several values, as write-ups name them.

/// A statistic that summarizes several values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Mean,
    Median,
    Minimum,
    Maximum,
    /// A percentile, for example 99.
    Percentile(f64),
    /// The standard deviation.
    Deviation,
}

impl Statistic {
    /// The statistic that a word in lower case names.
    pub fn named(word: &str) -> Option<Statistic> {
        Some(match word {
            "mean" | "average" | "averaged" | "avg" => Statistic::Mean,
            "median" | "p50" => Statistic::Median,
            "min" | "minimum" => Statistic::Minimum,
            "max" | "maximum" => Statistic::Maximum,
            "std" | "stdev" | "stddev" | "sd" => Statistic::Deviation,
            _ => return None,
        })
    }

    /// What is added to the name of a metric; nothing for a mean.
    pub fn suffix(self) -> Option<String> {
        match self {
            Statistic::Mean => None,
            Statistic::Median => Some("median".to_owned()),
            Statistic::Minimum => Some("min".to_owned()),
            Statistic::Maximum => Some("max".to_owned()),
            Statistic::Percentile(percent) => Some(format!("p{percent}")),
            Statistic::Deviation => Some("std".to_owned()),
        }
    }
}

impl std::fmt::Display for Statistic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Statistic::Mean => f.write_str("mean"),
            Statistic::Median => f.write_str("median"),
            Statistic::Minimum => f.write_str("minimum"),
            Statistic::Maximum => f.write_str("maximum"),
            Statistic::Percentile(percent) => write!(f, "p{percent}"),
            Statistic::Deviation => f.write_str("standard deviation"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_suffixes_fit_each_other() {
        for word in ["median", "min", "max", "std"] {
            assert_eq!(Statistic::named(word).unwrap().suffix().unwrap(), word);
        }
        assert_eq!(Statistic::named("avg").unwrap().suffix(), None);
        assert_eq!(Statistic::Percentile(99.0).suffix().unwrap(), "p99");
        assert_eq!(Statistic::Percentile(99.9).to_string(), "p99.9");
        assert_eq!(Statistic::named("best"), None);
    }
}
