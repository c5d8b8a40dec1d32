//! Which finding is about which number of a document.
//!
//! A finding names lines and writes its numbers out. The number that it is about is looked for on its first line: the
//! first one that its summary quotes, then the one before "but", then its operands. Operands of a finding that
//! holds count as checked too; those of one that does not are linked to it and keep their own level.

use std::collections::{BTreeMap, BTreeSet};

use assay_audit::{Audit, Class, Finding, Level, Passage, Prose, number_places};
use assay_model::Document;

/// What is known about one number, or about a line as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// The worst that a finding says about it; none where it is evidence only.
    pub level: Option<Level>,
    /// The findings that it belongs to, by their place in the audit: those about it first.
    pub findings: Vec<usize>,
}

/// A document with its passages, and what the audit says about its numbers and lines.
#[derive(Debug, Default)]
pub struct MarkedDocument {
    pub passages: Vec<Passage>,
    numbers: BTreeMap<(u64, u64), Mark>,
    /// Findings about a line none of whose numbers they name.
    lines: BTreeMap<u64, Vec<usize>>,
    touched: BTreeSet<u64>,
    /// The lines that passages hold.
    present: BTreeSet<u64>,
}

impl MarkedDocument {
    /// The mark of a number.
    pub fn number(&self, line: u64, written: f64) -> Option<&Mark> {
        self.numbers.get(&(line, written.to_bits()))
    }

    /// The findings about a line as a whole.
    pub fn line(&self, line: u64) -> &[usize] {
        self.lines.get(&line).map_or(&[], Vec::as_slice)
    }

    /// Whether a finding names this line.
    pub fn is_touched(&self, line: u64) -> bool {
        self.touched.contains(&line)
    }

    /// Whether the line is part of what is shown.
    pub fn has_line(&self, line: u64) -> bool {
        self.present.contains(&line)
    }
}

/// The documents of an audit, each with its marks.
pub fn marked(audit: &Audit, documents: &[Document]) -> Vec<MarkedDocument> {
    let mut marked: Vec<MarkedDocument> = documents
        .iter()
        .map(|document| MarkedDocument {
            passages: assay_audit::passages(document),
            ..MarkedDocument::default()
        })
        .collect();
    let numbers: Vec<Numbers> = marked.iter().map(|document| Numbers::of(&document.passages)).collect();
    for document in &mut marked {
        document.present = lines_of(&document.passages);
    }
    for (index, finding) in audit.findings.iter().enumerate() {
        let Some(first) = finding.sources.first() else { continue };
        let own = documents.iter().position(|document| document.file == first.file);
        for source in &finding.sources {
            let at = documents.iter().position(|document| document.file == source.file);
            if let Some(document) = at.and_then(|at| marked.get_mut(at)) {
                document.touched.insert(source.line);
            }
        }
        if let Some(own) = own {
            mark_claim(index, finding, &mut marked[own], &numbers[own]);
        }
        mark_evidence(index, finding, own, &mut marked, &numbers);
    }
    marked
}

/// Marks the number that a finding is about, or its line.
fn mark_claim(index: usize, finding: &Finding, document: &mut MarkedDocument, numbers: &Numbers) {
    let line = finding.sources[0].line;
    let stands = |written: &f64| numbers.places.contains(&(line, written.to_bits()));
    // Numbers in words, such as `half`, are known by their text alone.
    let quoted = finding.summary.split('`').skip(1).step_by(2);
    let quoted = quoted.filter_map(|text| numbers.texts.get(&(line, text.to_owned())));
    let quoted = quoted.map(|written| vec![f64::from_bits(*written)]).next();
    let group = quoted.or_else(|| claimed(finding).into_iter().find(|group| group.iter().any(&stands)));
    match group {
        Some(group) => {
            for written in group.iter().filter(|written| stands(written)) {
                let mark = document.numbers.entry((line, written.to_bits())).or_default();
                mark.level = Some(mark.level.map_or(finding.level, |level| worse(level, finding.level)));
                mark.findings.insert(0, index);
                mark.findings.sort_by_key(|one| (*one != index, *one));
                mark.findings.dedup();
            }
        }
        // A finding about many rows names them all; others are about their first line.
        None => {
            let is_about_all = finding.operands.is_empty() && finding.class == Class::TableLaw;
            let most = if is_about_all { usize::MAX } else { 1 };
            for source in finding.sources.iter().take(most).filter(|one| one.file == finding.sources[0].file)
            {
                document.lines.entry(source.line).or_default().push(index);
            }
        }
    }
}

/// Marks the operands of a finding where they stand: in its own document, or else in another one.
fn mark_evidence(
    index: usize,
    finding: &Finding,
    own: Option<usize>,
    marked: &mut [MarkedDocument],
    numbers: &[Numbers],
) {
    for operand in &finding.operands {
        let Some(place) = number_places(&operand.text).last().copied() else { continue };
        let key = (operand.line, place.written.to_bits());
        let stands = |at: &usize| numbers.get(*at).is_some_and(|numbers| numbers.places.contains(&key));
        let Some(at) = own.into_iter().chain(0..marked.len()).find(stands) else { continue };
        let document = &mut marked[at];
        document.touched.insert(operand.line);
        let mark = document.numbers.entry(key).or_default();
        if finding.level == Level::Supported && mark.level.is_none_or(|level| level == Level::NotChecked) {
            mark.level = Some(Level::Supported);
        }
        if !mark.findings.contains(&index) {
            mark.findings.push(index);
        }
    }
}

/// Numbers that a finding may be about, the likeliest group first.
fn claimed(finding: &Finding) -> Vec<Vec<f64>> {
    let written =
        |text: &str| number_places(text).into_iter().map(|place| place.written).collect::<Vec<f64>>();
    let summary = finding.summary.as_str();
    let mut groups: Vec<Vec<f64>> = summary.split('`').skip(1).step_by(2).map(written).collect();
    if let Some((before, _)) = summary.split_once(", but ") {
        groups.push(written(before).last().copied().into_iter().collect());
    }
    let relates_numbers = !matches!(
        finding.class,
        Class::UnequalComparison | Class::TestSetChoice | Class::Repeats | Class::Gate | Class::Profiler
    );
    if relates_numbers {
        let line = finding.sources.first().map_or(0, |source| source.line);
        let beside = finding.operands.iter().filter(|operand| operand.line == line);
        groups.extend(beside.filter_map(|operand| Some(vec![*written(&operand.text).last()?])));
    }
    groups
}

/// The level that matters more to a reader. What is supported was checked, which says more than "not checked".
fn worse(one: Level, other: Level) -> Level {
    let rank = |level: Level| match level {
        Level::Contradicted => 0,
        Level::Doubtful => 1,
        Level::Supported => 2,
        Level::NotChecked => 3,
    };
    if rank(one) <= rank(other) { one } else { other }
}

/// The numbers of a document: the line and the bits of each, and the bits by line and text.
struct Numbers {
    places: BTreeSet<(u64, u64)>,
    texts: BTreeMap<(u64, String), u64>,
}

impl Numbers {
    fn of(passages: &[Passage]) -> Numbers {
        let mut numbers = Numbers { places: BTreeSet::new(), texts: BTreeMap::new() };
        for prose in texts(passages) {
            for place in &prose.numbers {
                let line = prose.line_at(place.start);
                let text = prose.text.get(place.start..place.end).unwrap_or_default();
                numbers.places.insert((line, place.written.to_bits()));
                numbers.texts.insert((line, text.to_owned()), place.written.to_bits());
            }
        }
        numbers
    }
}

fn lines_of(passages: &[Passage]) -> BTreeSet<u64> {
    texts(passages).flat_map(|prose| prose.lines.iter().map(|(_, line)| *line)).collect()
}

/// All texts of some passages, in order.
fn texts(passages: &[Passage]) -> impl Iterator<Item = &Prose> {
    passages.iter().flat_map(|passage| -> Vec<&Prose> {
        match passage {
            Passage::Heading(text) | Passage::Paragraph(text) => vec![text],
            Passage::Listing(lines) => lines.iter().collect(),
            Passage::Table { header, rows } => header.iter().chain(rows.iter().flatten()).collect(),
        }
    })
}
