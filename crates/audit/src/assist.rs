//! Claims that a language model proposes. The model says which numbers a sentence relates; the arithmetic decides.
//!
//! A proposal has a quote, the quantity that is stated in it, and the quantities that it follows from, by their names.
//! What is not in the document is rejected. A proposal that holds is supported, one that does not is doubtful at most:
//! the model may have misread the sentence.
//!
//! | file | holds |
//! |---|---|
//! | `listed.rs` | the quantities of documents, each with a name |
//! | `proposal.rs` | what a model answered |
//! | `question.rs` | what a model is asked |

mod listed;
mod proposal;
mod question;

use assay_model::{Document, Source};

use crate::interval::Interval;
use crate::number::shown;
use crate::{Audit, Class, Finding, Level, Operand};

pub use listed::{ListedQuantity, quantities};
pub use proposal::{ProposalError, Proposals, Relation, proposals};
pub use question::{Question, question};

use proposal::Proposal;

/// Between agreement and disagreement the verdict stays open: this share of the value on both sides.
const GREY: f64 = 0.01;

/// What became of the proposals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assisted {
    /// Proposals that were checked and said something new.
    pub checked: usize,
    /// Proposals about numbers that the audit had checked itself.
    pub known: usize,
    /// Proposals that were rejected, each with the reason.
    pub rejected: Vec<String>,
}

/// Checks proposals and adds what they give to an audit.
pub fn dispose(
    audit: &mut Audit,
    documents: &[Document],
    listed: &[ListedQuantity],
    answer: &Proposals,
) -> Assisted {
    let mut assisted = Assisted { rejected: answer.malformed.clone(), ..Assisted::default() };
    let texts: Vec<(String, String)> =
        documents.iter().map(|document| (document.file.clone(), searchable(document))).collect();
    for proposal in &answer.claims {
        match finding(proposal, listed, &texts) {
            Err(reason) => assisted.rejected.push(reason),
            Ok(finding) if is_known(audit, &finding) => assisted.known += 1,
            Ok(finding) => {
                assisted.checked += 1;
                audit.findings.retain(|own| !is_open_about(own, &finding));
                audit.findings.push(finding);
            }
        }
    }
    audit.findings.sort_by(|one, other| crate::order(one).cmp(&crate::order(other)));
    assisted
}

/// The texts of a document in which a quote may stand: the source, and what a reader sees of it.
fn searchable(document: &Document) -> String {
    let mut text = squeezed(&document.text);
    for passage in crate::passages(document) {
        let pieces: Vec<String> = match passage {
            crate::Passage::Heading(prose) | crate::Passage::Paragraph(prose) => vec![prose.text],
            crate::Passage::Listing(lines) => lines.into_iter().map(|line| line.text).collect(),
            crate::Passage::Table { header, rows } => std::iter::once(&header)
                .chain(&rows)
                .map(|row| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(" | "))
                .collect(),
        };
        for piece in pieces {
            text.push('\n');
            text.push_str(&squeezed(&piece));
        }
    }
    text
}

/// A text with single spaces: a model may break lines elsewhere.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// The finding of a proposal, or why it is rejected.
fn finding(
    proposal: &Proposal,
    listed: &[ListedQuantity],
    texts: &[(String, String)],
) -> Result<Finding, String> {
    let quote = squeezed(&proposal.quote);
    let find = |id: &String| {
        let found = listed.iter().find(|quantity| quantity.id == *id);
        found.ok_or_else(|| format!("no quantity has the id `{}`", short(id)))
    };
    let stated = find(&proposal.stated)?;
    let operands = proposal.operands.iter().map(find).collect::<Result<Vec<&ListedQuantity>, String>>()?;
    let stands = texts.iter().any(|(file, text)| *file == stated.file && text.contains(&quote));
    if quote.is_empty() || !stands {
        return Err(format!("the quote `{}` is not in the document", short(&quote)));
    }
    if !quote.contains(&squeezed(&stated.text)) {
        return Err(format!("the quote `{}` does not hold `{}`", short(&quote), stated.text));
    }
    if operands.iter().any(|operand| operand.id == stated.id) {
        return Err(format!("`{}` is said to follow from itself", stated.text));
    }
    let intervals: Vec<Interval> = operands.iter().map(|operand| operand.interval).collect();
    let points: Vec<Interval> = intervals.iter().map(|one| Interval::exact(one.middle())).collect();
    let value = computed(proposal.relation, stated, &operands, &intervals)?;
    let point = computed(proposal.relation, stated, &operands, &points)?.middle();
    Ok(judged(proposal.relation, stated, &operands, value, point))
}

/// The value that a relation gives, in base units.
fn computed(
    relation: Relation,
    stated: &ListedQuantity,
    operands: &[&ListedQuantity],
    values: &[Interval],
) -> Result<Interval, String> {
    let wrong_count = || Err(format!("`{}` takes another number of operands", relation.word()));
    let alike = operands.iter().all(|operand| operand.fits(operands[0]));
    let no_value = || format!("`{}` of `{}` has no value", relation.word(), stated.text);
    let value = match (relation, values) {
        (Relation::Equal, [one]) => *one,
        (Relation::Ratio, [one, other]) => one.over(*other).ok_or_else(no_value)?,
        (Relation::Increase, [one, other]) => {
            one.over(*other).ok_or_else(no_value)?.minus(Interval::exact(1.0))
        }
        (Relation::Decrease, [one, other]) => {
            Interval::exact(1.0).minus(one.over(*other).ok_or_else(no_value)?)
        }
        (Relation::Difference, [one, other]) => one.minus(*other),
        (Relation::Product, [_, _, ..]) => {
            values.iter().fold(Interval::exact(1.0), |product, one| product.times(*one))
        }
        (Relation::Sum, [_, _, ..]) => values.iter().fold(Interval::exact(0.0), |sum, one| sum.plus(*one)),
        (Relation::Mean, [_, _, ..]) => values
            .iter()
            .fold(Interval::exact(0.0), |sum, one| sum.plus(*one))
            .times(Interval::exact(1.0 / values.len() as f64)),
        (Relation::Maximum | Relation::Minimum, [first, _, ..]) => {
            let better = |one: Interval, other: Interval| {
                let is_more = other.middle() > one.middle();
                if is_more == (relation == Relation::Maximum) { other } else { one }
            };
            values.iter().fold(*first, |best, one| better(best, *one))
        }
        _ => return wrong_count(),
    };
    let compares = !matches!(relation, Relation::Ratio | Relation::Product);
    if compares && !alike {
        return Err(format!(
            "the operands of `{}` for `{}` have different units",
            relation.word(),
            stated.text
        ));
    }
    let keeps_unit = compares && !matches!(relation, Relation::Increase | Relation::Decrease);
    if keeps_unit && !stated.fits(operands[0]) {
        return Err(format!("`{}` and `{}` have different units", stated.text, operands[0].text));
    }
    if !compares && !stated.fits_product(operands, relation == Relation::Ratio) {
        return Err(format!("`{}` of its operands has another unit than `{}`", relation.word(), stated.text));
    }
    value.middle().is_finite().then_some(value).ok_or_else(no_value)
}

fn judged(
    relation: Relation,
    stated: &ListedQuantity,
    operands: &[&ListedQuantity],
    value: Interval,
    point: f64,
) -> Finding {
    let names: Vec<String> = operands.iter().map(|operand| operand.described()).collect();
    let formula = relation.formula(&names);
    let percent = stated.is_percent();
    let shown_value =
        if percent { format!("{} %", shown(point * 100.0)) } else { shown(point / stated.scale()) };
    let level = if value.meets(stated.interval) {
        Level::Supported
    } else if value.widened(GREY).meets(stated.interval.widened(GREY)) {
        Level::NotChecked
    } else {
        Level::Doubtful
    };
    let says = match level {
        Level::Supported => "agrees with",
        Level::NotChecked => "is near",
        _ => "does not follow from",
    };
    let mut sources = vec![Source::new(stated.file.clone(), stated.line)];
    for operand in operands {
        let source = Source::new(operand.file.clone(), operand.line);
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let operand = |one: &ListedQuantity| Operand {
        text: one.described(),
        value: one.interval.middle(),
        line: one.line,
    };
    Finding {
        class: Class::Assisted,
        level,
        summary: format!("assisted: `{}` {says} {formula} = {shown_value}", stated.text),
        arithmetic: vec![format!("{formula} = {shown_value}")],
        sources,
        operands: operands.iter().map(|one| operand(one)).collect(),
        advice: if level == Level::Doubtful {
            "a model chose these numbers: check that the sentence means them".to_owned()
        } else {
            String::new()
        },
    }
}

/// Whether the audit decided about the same number itself.
fn is_known(audit: &Audit, finding: &Finding) -> bool {
    audit.findings.iter().any(|own| own.level != Level::NotChecked && is_about_same(own, finding))
}

/// Whether the audit left the same number open.
fn is_open_about(own: &Finding, finding: &Finding) -> bool {
    own.level == Level::NotChecked && finding.level != Level::NotChecked && is_about_same(own, finding)
}

/// Whether two findings quote the same number at the same line.
fn is_about_same(own: &Finding, finding: &Finding) -> bool {
    let quoted = |finding: &Finding| finding.summary.split('`').nth(1).map(str::to_owned);
    own.sources.first().map(|source| (&source.file, source.line))
        == finding.sources.first().map(|source| (&source.file, source.line))
        && quoted(own).is_some()
        && quoted(own) == quoted(finding)
}

/// A stranger's text in a message.
fn short(text: &str) -> String {
    let cut: String = text.chars().filter(|letter| !letter.is_control()).take(80).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests;
