//! Goals, and whether they hold.

use std::fmt;
use std::process::ExitCode;

use crate::figures::number;

/// What is asked of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GoalBound {
    /// No more than this.
    AtMost(f64),
    /// Less than this.
    Below(f64),
    /// No less than this.
    AtLeast(f64),
}

/// One goal with the value that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// What was measured.
    pub name: String,
    /// The value; none where it could not be measured, and then the goal does not hold.
    pub value: Option<f64>,
    /// The unit; empty for a bare number.
    pub unit: &'static str,
    /// What is asked of it.
    pub bound: GoalBound,
}

impl Goal {
    /// Whether the goal holds.
    pub fn holds(&self) -> bool {
        self.value.is_some_and(|value| match self.bound {
            GoalBound::AtMost(most) => value <= most,
            GoalBound::Below(most) => value < most,
            GoalBound::AtLeast(least) => value >= least,
        })
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = match self.bound {
            GoalBound::AtMost(most) => format!("at most {}", plain(most)),
            GoalBound::Below(most) => format!("below {}", plain(most)),
            GoalBound::AtLeast(least) => format!("at least {}", plain(least)),
        };
        let space = if self.unit.is_empty() { "" } else { " " };
        let value = self.value.map_or_else(
            || "not measured".to_owned(),
            |value| format!("{}{space}{}", short(value), self.unit),
        );
        let holds = if self.holds() { "holds" } else { "falls short" };
        write!(f, "{} {value}, goal {bound}{space}{}: {holds}", self.name, self.unit)
    }
}

fn plain(value: f64) -> String {
    format!("{value}")
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 { plain(value) } else { number(value) }
}

/// All goals of a bench.
#[derive(Debug, Default)]
pub struct Goals(Vec<Goal>);

impl Goals {
    /// Adds a goal that was measured.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        value: impl Into<Option<f64>>,
        unit: &'static str,
        bound: GoalBound,
    ) {
        self.0.push(Goal { name: name.into(), value: value.into(), unit, bound });
    }

    /// Whether all of them hold.
    pub fn hold(&self) -> bool {
        self.0.iter().all(Goal::holds)
    }

    /// 0 if all hold, 1 otherwise.
    pub fn exit(&self) -> ExitCode {
        if self.hold() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// One line a goal, and the overall line last.
impl fmt::Display for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for goal in &self.0 {
            writeln!(f, "{goal}")?;
        }
        write!(f, "overall: {}", if self.hold() { "holds" } else { "falls short" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_say_whether_they_hold() {
        let mut goals = Goals::default();
        goals.add("cost of a run", 1.504, "CPU ms", GoalBound::AtMost(2.0));
        goals.add("kills", 200.0, "", GoalBound::AtLeast(200.0));
        assert!(goals.hold());
        goals.add("start-up", 10.0, "ms", GoalBound::Below(10.0));
        goals.add("lost runs", None, "", GoalBound::AtMost(0.0));
        assert_eq!(
            goals.to_string(),
            "cost of a run 1.50 CPU ms, goal at most 2 CPU ms: holds\n\
             kills 200, goal at least 200: holds\n\
             start-up 10 ms, goal below 10 ms: falls short\n\
             lost runs not measured, goal at most 0: falls short\n\
             overall: falls short"
        );
    }
}
