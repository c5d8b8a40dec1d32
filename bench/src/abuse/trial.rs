//! What was tried and what failed.

use std::fmt;

use crate::figures::table;
use crate::goal::{GoalBound, Goals};

/// Failures that are listed one by one in each group.
const MOST_LISTED: usize = 12;

/// One kind of abuse, with what came of it.
#[derive(Debug, Clone, Default)]
pub struct AbuseGroup {
    pub name: &'static str,
    pub tried: usize,
    pub failures: Vec<String>,
    /// What could not be tried, and why.
    pub skipped: Vec<String>,
}

impl AbuseGroup {
    pub fn new(name: &'static str) -> AbuseGroup {
        AbuseGroup { name, ..AbuseGroup::default() }
    }

    /// Counts one attempt; an error says what went wrong.
    pub fn attempt(&mut self, what: &str, outcome: anyhow::Result<()>) {
        self.tried += 1;
        if let Err(error) = outcome {
            self.failures.push(format!("{what}: {error:#}"));
        }
    }
}

/// All groups.
#[derive(Debug, Default)]
pub struct Trials(Vec<AbuseGroup>);

impl Trials {
    pub fn add(&mut self, group: AbuseGroup) {
        self.0.push(group);
    }

    /// A goal for each group: no failure, and nothing that could not be tried.
    pub fn judge(&self, goals: &mut Goals) {
        for group in &self.0 {
            let failures = (group.failures.len() + group.skipped.len()) as f64;
            goals.add(format!("failures of {}", group.name), failures, "", GoalBound::AtMost(0.0));
        }
    }
}

impl fmt::Display for Trials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |group: &AbuseGroup| {
            vec![group.name.to_owned(), group.tried.to_string(), group.failures.len().to_string()]
        };
        let rows: Vec<Vec<String>> = self.0.iter().map(row).collect();
        writeln!(f, "{}", table(&["abuse", "tried", "failed"], &rows))?;
        for group in &self.0 {
            for failure in group.failures.iter().take(MOST_LISTED) {
                writeln!(f, "failed: {}: {failure}", group.name)?;
            }
            if group.failures.len() > MOST_LISTED {
                writeln!(f, "failed: {}: … and {} more", group.name, group.failures.len() - MOST_LISTED)?;
            }
            for skipped in &group.skipped {
                writeln!(f, "not tried: {}: {skipped}", group.name)?;
            }
        }
        Ok(())
    }
}
