//! What an audit says is wrong.

use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::place::Place;

/// A contradicted or doubtful finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarm {
    pub level: String,
    pub summary: String,
    /// The line that was printed.
    pub printed: String,
    /// The lines of its sources, the most important first.
    pub lines: Vec<u64>,
}

impl Alarm {
    /// Whether it names a line or one beside it.
    pub fn is_near(&self, line: u64) -> bool {
        self.lines.iter().any(|own| own.abs_diff(line) <= 1)
    }
}

/// Audits a file or a folder.
pub fn alarms(place: &Place, path: &Path) -> anyhow::Result<Vec<Alarm>> {
    let directory = path.parent().unwrap_or(path);
    let name = path.file_name().context("a document without a name")?;
    let output = place.assay(directory).args(["audit", "--json"]).arg(name).output()?;
    let stated = String::from_utf8_lossy(&output.stderr);
    ensure!(
        matches!(output.status.code(), Some(0 | 4)),
        "the audit of {} ended with {}: {}",
        path.display(),
        output.status,
        stated.lines().next().unwrap_or_default()
    );
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    printed.lines().filter_map(|line| alarm(line).transpose()).collect()
}

fn alarm(line: &str) -> anyhow::Result<Option<Alarm>> {
    let value: Value = serde_json::from_str(line).context("a line of the audit is not JSON")?;
    let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let level = word("level");
    let sources = value.get("sources").and_then(Value::as_array);
    let lines = sources.into_iter().flatten().filter_map(|source| source.get("line")?.as_u64());
    let is_alarm = matches!(level.as_str(), "contradicted" | "doubtful");
    Ok(is_alarm.then(|| Alarm {
        level,
        summary: word("summary"),
        printed: line.to_owned(),
        lines: lines.collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_alarms_are_kept() {
        let line = r#"{"level":"doubtful","summary":"x","sources":[{"file":"a","line":7}]}"#;
        let alarm = alarm(line).unwrap().unwrap();
        assert!(alarm.is_near(8) && alarm.is_near(6) && !alarm.is_near(9));
        assert_eq!(super::alarm(r#"{"level":"supported","summary":"x"}"#).unwrap(), None);
        assert!(super::alarm("nothing").is_err());
    }
}
