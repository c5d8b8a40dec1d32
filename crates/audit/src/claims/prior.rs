//! What the rest of a document says about a doubt.
//!
//! Prose repeats and compares the numbers of its tables, or it adds to them. Where nearly every other number that could
//! be checked agrees, one that does not is suspicious; where several do not, the author reports things that no table
//! has, and the words were linked to the wrong rows. (AggChecker, SIGMOD 2019, learns such a prior by iteration; counting
//! is enough here.)

use super::linking::Linked;
use crate::finding::Level;
use crate::{Class, Finding};

/// How surely the words of a sentence point at the numbers that a finding compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bearing {
    /// The numbers stand in the sentence itself.
    Firm,
    /// The sentence names both sides, or row and column.
    Named,
    /// The table beside it has only two rows to compare.
    Likely,
    /// The sentence names one side, or nothing.
    Loose,
    /// The words around the number point clearly at numbers that give another one.
    Pointed,
    /// What the words around the number point at gives another one.
    Linked,
    /// The sentence names both sides, but some pair elsewhere in the document agrees; or nothing gives a number that
    /// reads as computed.
    Guess,
}

/// A finding about a number of the prose.
#[derive(Debug, Clone)]
pub struct Judged {
    pub finding: Finding,
    pub bearing: Bearing,
    /// Whether what the words around the number point at gives it.
    pub agrees: bool,
}

impl Judged {
    pub fn new(finding: Finding, bearing: Bearing) -> Judged {
        Judged { finding, bearing, agrees: false }
    }
}

impl Judged {
    /// Notes whether what the words around the number point at gives it, which takes back a doubt.
    pub fn weighed(self, links: &Linked) -> Judged {
        let agrees = links.agrees();
        let doubt = self.finding.level == Level::Doubtful && self.bearing != Bearing::Firm;
        let taken_back = doubt && agrees && links.gap() <= 0.5;
        let finding = if taken_back { not_checked(self.finding) } else { self.finding };
        Judged { finding, agrees, ..self }
    }

    /// A doubt that the words around the number share.
    pub fn linked(self, links: &Linked) -> Judged {
        let bearing = match self.bearing {
            Bearing::Firm => Bearing::Firm,
            _ if links.is_clear() => Bearing::Pointed,
            _ => Bearing::Linked,
        };
        Judged { bearing, ..self }
    }
}

/// Keeps the doubts that the other claims make likely; what the others doubt was not checked. `repeated` more numbers repeat
/// what the words around them point at.
pub fn settle(judged: Vec<Judged>, repeated: usize) -> Vec<Finding> {
    let agreeing = judged.iter().filter(|one| one.finding.level == Level::Supported).count();
    let is_linked = |one: &&Judged| matches!(one.bearing, Bearing::Linked | Bearing::Pointed);
    let missed = judged.iter().filter(is_linked).count();
    let linked = repeated + judged.iter().filter(|one| one.agrees).count();
    let is_doubt = |one: &Judged| one.bearing != Bearing::Firm && one.finding.level <= Level::Doubtful;
    let counts = |one: &&Judged| is_doubt(one) && !is_linked(one);
    let doubts = judged.iter().filter(counts).count();
    let keeps = |one: &Judged| match one.bearing {
        Bearing::Firm => true,
        // An author whose numbers mostly are where the words point at errs now and then.
        Bearing::Pointed => linked + 1 >= missed,
        Bearing::Linked => linked >= 2 * missed,
        Bearing::Named | Bearing::Likely => agreeing >= doubts,
        Bearing::Loose => agreeing >= 5 * doubts,
        // Only the one number of a document that stands out.
        Bearing::Guess => doubts == 1,
    };
    let settled = judged
        .into_iter()
        .map(|one| if is_doubt(&one) && !keeps(&one) { not_checked(one.finding) } else { one.finding });
    settled.collect()
}

/// The claim of a finding as one that was not checked.
pub fn not_checked(finding: Finding) -> Finding {
    let text = finding.summary.split('`').nth(1).unwrap_or_default();
    let (summary, advice) = match finding.class {
        Class::Comparison => (
            format!("what `{text}` compares is not clear from the document"),
            "name the two numbers that are compared",
        ),
        _ => (format!("where `{text}` comes from is not clear from the document"), ""),
    };
    let sources = finding.sources.into_iter().take(1).collect();
    Finding {
        level: Level::NotChecked,
        summary,
        arithmetic: Vec::new(),
        sources,
        advice: advice.to_owned(),
        ..finding
    }
}
