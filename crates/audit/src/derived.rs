//! Columns and sentences that follow from other numbers, computed again.

mod column;
mod formula;
mod rate;
mod ratio;
mod sentence;

use super::Finding;
use super::facts::Facts;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in facts.documents {
        for table in &document.tables {
            findings.extend(rate::check(document, table));
            findings.extend(ratio::check(document, table));
        }
        findings.extend(sentence::check(document));
    }
    findings
}

#[cfg(test)]
mod tests;
