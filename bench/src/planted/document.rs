//! Documents: a few sections each, sound or with one or two errors planted.

use super::fault::Fault;
use super::measured::Measured;
use super::page::{Block, Markup, render, with_commas};
use super::section::{SectionData, SectionKind};
use crate::random::Random;

/// One document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The name of its file.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What is planted in it, and in which kind of section; empty for a sound one.
    pub planted: Vec<(Fault, SectionKind)>,
}

/// How many documents to write.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// With one error, for each class.
    pub singles: usize,
    /// With two errors, in all.
    pub pairs: usize,
    /// Without errors, in all.
    pub sound: usize,
}

/// All documents of a bench.
pub fn documents(measured: &Measured, size: Size, seed: u64) -> anyhow::Result<Vec<Document>> {
    let mut random = Random::new(seed);
    let mut documents = Vec::new();
    for fault in Fault::ALL {
        for index in 0..size.singles {
            let chosen = [Part { fault, kind: bearer(fault, index), planted: true }];
            let name = format!("{}-{index:03}", fault.name());
            documents.push(document(measured, &name, &chosen, index, &mut random)?);
        }
    }
    for index in 0..size.pairs {
        let (one, other) = pair(&mut random);
        let name = format!("pair-{index:03}-{}-{}", one.fault.name(), other.fault.name());
        documents.push(document(measured, &name, &[one, other], index, &mut random)?);
    }
    let layouts: Vec<(SectionKind, Fault)> = SectionKind::ALL
        .iter()
        .flat_map(|&kind| kind.faults().iter().map(move |&fault| (kind, fault)))
        .collect();
    for (index, &(kind, fault)) in layouts.iter().cycle().take(size.sound).enumerate() {
        let chosen = [Part { fault, kind, planted: false }];
        documents.push(document(
            measured,
            &format!("sound-{index:03}"),
            &chosen,
            index / layouts.len() + index,
            &mut random,
        )?);
    }
    Ok(documents)
}

/// A section to be written.
#[derive(Debug, Clone, Copy)]
struct Part {
    fault: Fault,
    kind: SectionKind,
    planted: bool,
}

/// The kinds of sections that can bear an error take turns.
fn bearer(fault: Fault, index: usize) -> SectionKind {
    let able: Vec<SectionKind> =
        SectionKind::ALL.into_iter().filter(|kind| kind.faults().contains(&fault)).collect();
    able.get(index % able.len().max(1)).copied().unwrap_or(SectionKind::Rates)
}

/// Two errors of two classes in two kinds of sections.
fn pair(random: &mut Random) -> (Part, Part) {
    loop {
        let part = |random: &mut Random| {
            let fault = random.pick(Fault::ALL);
            Part { fault, kind: bearer(fault, random.below(64)), planted: true }
        };
        let (one, other) = (part(random), part(random));
        if one.fault != other.fault && one.kind != other.kind {
            return (one, other);
        }
    }
}

fn document(
    measured: &Measured,
    name: &str,
    chosen: &[Part],
    index: usize,
    random: &mut Random,
) -> anyhow::Result<Document> {
    let alone = tabular(chosen) && index % 5 == 4;
    let mut parts = chosen.to_vec();
    for _ in 0..if alone { 0 } else { random.below(3) } {
        let kind = random.pick(SectionKind::ALL);
        let fault = kind.faults().get(random.below(kind.faults().len()));
        if let Some(&fault) = fault
            && parts.iter().all(|part| part.kind != kind)
        {
            parts.push(Part { fault, kind, planted: false });
        }
    }
    random.shuffle(&mut parts);
    let mut blocks = vec![Block::Text(random.pick(INTRODUCTIONS).to_owned())];
    for part in &parts {
        let mut scene = SectionData {
            measured,
            random: Random::new(random.next_number()),
            focus: part.fault,
            planted: part.planted,
        };
        blocks.extend(part.kind.write(&mut scene)?);
    }
    let markup = markup(alone, &blocks, random);
    // A list of numbers is separated by commas already, and more of them would make it hard to read for anybody.
    if random.below(4) == 0 && !parts.iter().any(|part| part.kind == SectionKind::Rates) {
        with_commas(&mut blocks);
    }
    let text = render(random.pick(TITLES), &blocks, markup);
    let planted = parts.iter().filter(|part| part.planted).map(|part| (part.fault, part.kind)).collect();
    Ok(Document { name: format!("{name}.{}", markup.extension()), text, planted })
}

/// Whether the one section is all in its first table, so that a file of separated values can hold it.
fn tabular(chosen: &[Part]) -> bool {
    let [part] = chosen else { return false };
    match part.fault {
        Fault::Identity => part.kind != SectionKind::Endpoints,
        Fault::DerivedColumn => matches!(part.kind, SectionKind::Cerebras),
        Fault::BadCell => part.kind != SectionKind::Endpoints,
        Fault::ParameterCount => true,
        _ => false,
    }
}

/// Logs stand in Markdown, where people put them; pages of HTML hold the rest.
fn markup(alone: bool, blocks: &[Block], random: &mut Random) -> Markup {
    let any = random.pick([Markup::Pipe, Markup::Aligned, Markup::HtmlTables, Markup::Html]);
    let has_output = blocks.iter().any(|block| matches!(block, Block::Output(_)));
    match any {
        _ if alone => Markup::Separated,
        Markup::Html if has_output => Markup::HtmlTables,
        other => other,
    }
}

const TITLES: [&str; 4] = ["Report", "Notes on my benchmarks", "What I measured", "Accelerators compared"];

const INTRODUCTIONS: [&str; 4] = [
    "These are my notes, with the output as it came.",
    "This page collects what was run and what came out of it.",
    "What follows was measured over several days; everything needed to check it is shown.",
    "A short write-up of the exercises.",
];

#[cfg(test)]
mod tests {
    use super::super::measured::sample;
    use super::*;

    const SMALL: Size = Size { singles: 2, pairs: 6, sound: 12 };

    #[test]
    fn documents_are_the_same_from_the_same_seed() {
        let measured = sample();
        let first = documents(&measured, SMALL, 11).unwrap();
        assert_eq!(first, documents(&measured, SMALL, 11).unwrap());
        assert_ne!(first, documents(&measured, SMALL, 12).unwrap());
        assert_eq!(first.len(), Fault::ALL.len() * 2 + 6 + 12);
    }

    #[test]
    fn names_are_unique_and_plants_are_as_many_as_they_should_be() {
        let all = documents(&sample(), SMALL, 1).unwrap();
        let mut names: Vec<&str> = all.iter().map(|document| document.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        for document in &all {
            let expected = match document.name.split('-').next() {
                Some("sound") => 0,
                Some("pair") => 2,
                _ => 1,
            };
            assert_eq!(document.planted.len(), expected, "{}", document.name);
        }
    }

    #[test]
    fn no_document_is_empty() {
        for document in documents(&sample(), SMALL, 3).unwrap() {
            assert!(document.text.lines().count() > 4, "{}", document.name);
        }
    }
}
