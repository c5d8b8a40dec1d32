//! Studies to a document: the section of a paper or homework that they deserve.

use std::collections::BTreeMap;

use assay_judge::{AnswerRow, CellEvidence, Comparison};
use assay_model::{Caveat, Source};

use super::figures::{comparison as comparison_figure, figures};
use super::sentences::{label, more_findings, sentences, shown};
use super::{DataTable, DocumentPart, Report, Section};
use crate::number::{counted, fact};
use crate::study::{Judged, RunNumber, Studies, Study};
use crate::table::{Cell, Column, Footnote, Table, Tone, add_note};

/// Runs listed one by one in the appendix; all are in the record.
const MOST_RUNS: usize = 2000;
/// The files of a run that have its output.
const OUTPUT: [&str; 2] = ["stdout.log", "stderr.log"];
/// Figures of one record of several that are not folded.
const MOST_FIGURES: usize = 8;
/// Values listed beside a number.
const MOST_VALUES: usize = 12;

/// The document of some records.
pub fn write_up(studies: &Studies) -> Report {
    let one = match studies.studies.as_slice() {
        [one] => Some(one),
        _ => None,
    };
    let names = studies.names();
    let mut report = Report {
        title: names.join(", "),
        question: one.and_then(|study| study.question.clone()),
        summary: Vec::new(),
        ..Report::default()
    };
    for (study, name) in studies.studies.iter().zip(&names) {
        let said = study.answers.first().map(sentences).unwrap_or_default();
        match one {
            Some(_) => report.summary.extend(said),
            None => report.summary.push(format!("{name}: {}", said.join(" "))),
        }
        for judged in study.answers.iter().take(1) {
            for caveat in caveats(judged) {
                add_note(&mut report.caveats, &caveat.text, &caveat.hint);
            }
        }
    }
    for comparison in &studies.comparisons {
        report.sections.push(comparison_section(comparison));
    }
    for reason in &studies.not_compared {
        let hint = "choose a metric that both have, by `--metric`";
        report.caveats.push(Footnote::about_all(reason, hint));
    }
    for (study, name) in studies.studies.iter().zip(&names) {
        match one {
            Some(_) => report.sections.extend(record_sections(study)),
            None => report.sections.push(chapter(study, name)),
        }
    }
    report
}

/// Doubts about an answer and about its rows.
fn caveats(judged: &Judged) -> impl Iterator<Item = &Caveat> {
    let of_rows = judged.answer.rows.iter().flat_map(|row| &row.caveats);
    judged.answer.caveats.iter().chain(of_rows)
}

/// What two records say, side by side.
pub fn comparison_section(comparison: &Comparison) -> Section {
    let mut table = crate::comparison::table(comparison);
    table.heading.clear();
    let said = assay_judge::findings::of_comparison(comparison).text;
    let mut parts = vec![DocumentPart::Text(said), DocumentPart::Table(table.into())];
    parts.extend(comparison_figure(comparison).map(DocumentPart::Figure));
    Section {
        id: format!("compare-{}", crate::words::identifier(&comparison.other)),
        title: format!("{} against {}", comparison.other, comparison.base),
        parts,
    }
}

/// One record as one section of a longer document; what only some readers want is folded.
fn chapter(study: &Study, name: &str) -> Section {
    let mut parts: Vec<DocumentPart> =
        study.question.iter().map(|question| DocumentPart::Text(question.clone())).collect();
    for mut section in record_sections(study) {
        match section.id.as_str() {
            "results" => parts.extend(section.parts),
            "figures" => {
                let more = section.parts.split_off(section.parts.len().min(MOST_FIGURES));
                parts.extend(section.parts);
                if !more.is_empty() {
                    parts.push(DocumentPart::Folded { title: "More figures".to_owned(), parts: more });
                }
            }
            _ => parts.push(DocumentPart::Folded { title: section.title, parts: section.parts }),
        }
    }
    Section { id: crate::words::identifier(&study.path), title: name.to_owned(), parts }
}

/// The sections of one record: results, figures, how it was made, evidence.
pub fn record_sections(study: &Study) -> Vec<Section> {
    let mut sections = vec![results(study)];
    let drawn: Vec<DocumentPart> = figures(study).into_iter().map(DocumentPart::Figure).collect();
    if !drawn.is_empty() {
        sections.push(Section { id: "figures".to_owned(), title: "Figures".to_owned(), parts: drawn });
    }
    sections.push(how(study));
    sections.push(evidence(study));
    sections
}

fn results(study: &Study) -> Section {
    let mut parts = Vec::new();
    for failed in &study.failures {
        parts.push(DocumentPart::Finding {
            tone: Tone::Bad,
            text: format!(
                "{} {}, for example {}",
                counted(failed.runs, "run"),
                failed.reason,
                failed.example
            ),
            advice: failed.hints.join("; "),
        });
    }
    if let Some(pivot) = &study.pivot {
        let mut table = crate::pivot::table(pivot, None);
        table.heading.drain(..1.min(table.heading.len()));
        parts.push(DocumentPart::Table(table.into()));
    }
    if let Some(scaling) = &study.scaling {
        parts.push(DocumentPart::Table(crate::scaling::table(scaling).into()));
    }
    if study.answers.len() > 1 {
        parts.push(DocumentPart::Table(columns_table(study)));
    }
    for (index, judged) in study.answers.iter().enumerate() {
        let part = DocumentPart::Table(answer_table(study, judged, index == 0));
        match index {
            0 => parts.push(part),
            _ => parts
                .push(DocumentPart::Folded { title: judged.answer.metric.name.clone(), parts: vec![part] }),
        }
    }
    for text in more_findings(study) {
        parts.push(DocumentPart::Finding { tone: Tone::Plain, text, advice: String::new() });
    }
    if !study.gates.is_empty() {
        parts.push(DocumentPart::Table(crate::gates::table(&study.gates).into()));
    }
    Section { id: "results".to_owned(), title: "Results".to_owned(), parts }
}

/// All metrics side by side: settings down, metrics across.
fn columns_table(study: &Study) -> DataTable {
    let answers: Vec<_> = study.answers.iter().map(|judged| judged.answer.clone()).collect();
    let published = if study.pivot.is_some() { &[] } else { study.published.as_slice() };
    let mut table = crate::columns::table(&answers, None, published);
    table.heading.drain(..1.min(table.heading.len()));
    let rows = study.answers.first().map_or(&[] as &[AnswerRow], |judged| &judged.answer.rows);
    let by_cell = |judged| -> (&Judged, BTreeMap<_, _>) {
        let judged: &Judged = judged;
        (judged, judged.answer.rows.iter().map(|row| (&row.cell, row)).collect())
    };
    let answers: Vec<_> = study.answers.iter().map(by_cell).collect();
    let about = |row: &AnswerRow| {
        let of = |(judged, rows): &(&Judged, BTreeMap<_, &AnswerRow>)| {
            let same = rows.get(&row.cell)?;
            Some(format!("{}: {}", judged.answer.metric.name, shown(&judged.answer, same)))
        };
        let mut lines = vec![label(row)];
        lines.extend(answers.iter().filter_map(of));
        lines.extend(study.numbers.get(&row.cell).and_then(|numbers| redo(study, numbers)));
        lines
    };
    let abouts = if table.rows.len() == rows.len() { rows.iter().map(about).collect() } else { Vec::new() };
    // Behind the settings, and the platform where that distinguishes rows.
    let first = study.answers.first().map(|judged| &judged.answer);
    let main = first.map_or(0, |answer| {
        answer.varied.len() + usize::from(answer.several_platforms || answer.varied.is_empty())
    });
    DataTable { table, abouts, main }
}

fn answer_table(study: &Study, judged: &Judged, is_headline: bool) -> DataTable {
    let mut table = crate::answer::table(&judged.answer, None, usize::MAX);
    table.heading.drain(..1.min(table.heading.len()));
    let numbers = |row: &AnswerRow| -> &[RunNumber] {
        if is_headline { study.numbers.get(&row.cell).map_or(&[], Vec::as_slice) } else { &[] }
    };
    let cells: BTreeMap<_, _> = judged.evidence.cells.iter().map(|cell| (&cell.cell, cell)).collect();
    let about = |row| about(study, judged, row, cells.get(&row.cell).copied(), numbers(row));
    let abouts = judged.answer.rows.iter().map(about).collect();
    let main = table.columns.iter().position(|column| column.name.starts_with("median")).unwrap_or(0);
    DataTable { table, abouts, main }
}

/// What a row rests on.
fn about(
    study: &Study,
    judged: &Judged,
    row: &AnswerRow,
    cell: Option<&CellEvidence>,
    numbers: &[RunNumber],
) -> Vec<String> {
    let mut lines =
        vec![format!("{}: {} is {}", label(row), judged.answer.metric.name, shown(&judged.answer, row))];
    if let Some(estimate) = row.estimate.as_ref().filter(|estimate| estimate.samples > 1) {
        lines.push(format!(
            "the interval covers the true median with {:.0} % confidence",
            (estimate.confidence * 100.0).floor()
        ));
    }
    if let Some(cell) = cell.filter(|cell| !cell.values.is_empty()) {
        let unit = &judged.answer.metric.unit;
        let shown: Vec<String> =
            cell.values.iter().take(MOST_VALUES).map(|value| fact(unit, *value)).collect();
        let more = cell.values.len().saturating_sub(MOST_VALUES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("runs: {}{more}", shown.join(", ")));
    }
    if let Some(first) = numbers.first() {
        lines.extend(redo(study, numbers));
        lines.push(match &first.source {
            Some(source) if is_elsewhere(study, source) => format!("source: {source}"),
            Some(source) => format!("source: {}/{}/{source}", study.path, first.directory),
            None => "source: measured by assay".to_owned(),
        });
    }
    lines.extend(row.caveats.iter().map(|caveat| format!("caveat: {}", caveat.text)));
    lines
}

/// The command that repeats the first run of a cell; none where its script is not here, as of runs that were read from logs.
fn redo(study: &Study, numbers: &[RunNumber]) -> Option<String> {
    let script = numbers.first()?.script.as_deref()?;
    Some(format!("redo: sh {}", crate::words::quoted(&format!("{}/{script}", study.path))))
}

fn how(study: &Study) -> Section {
    let origin = &study.origin;
    let mut facts: Vec<(String, String)> = vec![("record".to_owned(), study.path.clone())];
    let mut fact =
        |name: &str, value: Option<String>| facts.extend(value.map(|value| (name.to_owned(), value)));
    fact("made", origin.created.clone());
    fact("program", origin.program.as_ref().map(|program| format!("assay {program}")));
    if let Some(machine) = &origin.machine {
        fact("host", Some(machine.host.clone()));
        fact("CPU", machine.cpu.clone());
        fact("CPUs usable", machine.cpus_usable.map(|cpus| cpus.to_string()));
        fact(
            "memory",
            machine.memory_bytes.map(|bytes| crate::number::fact(&assay_model::Unit::Bytes, bytes as f64)),
        );
        fact("system", machine.system.clone());
        fact("kernel", machine.kernel.clone());
        fact("governor", machine.governor.clone());
        fact("virtualization", machine.virtualization.clone());
        fact("accelerators", (!machine.accelerators.is_empty()).then(|| machine.accelerators.join("; ")));
    }
    fact("seed of the order", origin.seed.map(|seed| seed.to_string()));
    fact("journal", origin.damage.clone());
    let mut parts = vec![DocumentPart::Facts(facts)];
    let path = crate::words::quoted(&study.path);
    parts.push(DocumentPart::Listing {
        title: "Commands".to_owned(),
        text: format!(
            "assay show {path}\nassay show {path} --runs          # every run with its directory; run.sh in it redoes the run\nassay query runs {path} -o runs.csv\n"
        ),
    });
    if let Some(campaign) = &origin.campaign {
        let listing = DocumentPart::Listing { title: "The campaign file".to_owned(), text: campaign.clone() };
        parts.push(DocumentPart::Folded { title: "Campaign".to_owned(), parts: vec![listing] });
    }
    Section { id: "how".to_owned(), title: "How it was made".to_owned(), parts }
}

/// Whether a number is stated in a file that was read, not in the output of a run of this record.
fn is_elsewhere(study: &Study, source: &Source) -> bool {
    study.origin.campaign.is_none() && !OUTPUT.contains(&source.file.as_str())
}

fn evidence(study: &Study) -> Section {
    let headline = study.answers.first().map(|judged| &judged.answer.metric);
    let name = headline.map_or("value", |metric| metric.name.as_str());
    let mut table = Table {
        columns: vec![
            Column::left("run"),
            Column::left("status"),
            Column::right(name),
            Column::left("source"),
        ],
        ..Table::default()
    };
    let all = study.numbers.values().map(Vec::len).sum::<usize>();
    for number in study.numbers.values().flatten().take(MOST_RUNS) {
        let value = number.value.zip(headline).map(|(value, metric)| fact(&metric.unit, value));
        let source = match &number.source {
            Some(source) if is_elsewhere(study, source) => source.to_string(),
            Some(source) => format!("{}/{source}", number.directory),
            None if number.value.is_some() => format!("{} (measured)", number.directory),
            None => number.directory.clone(),
        };
        let is_good = matches!(number.status.as_str(), "succeeded" | "unknown");
        let tone = if is_good { Tone::Plain } else { Tone::Bad };
        table.rows.push(vec![
            Cell::new(number.run.clone()),
            Cell::toned(number.status.clone(), tone),
            Cell::new(value.unwrap_or_default()),
            Cell::toned(source, Tone::Faint),
        ]);
    }
    if all > MOST_RUNS {
        table
            .notes
            .push(format!("the first {MOST_RUNS} of {all} runs; `assay query runs -o runs.csv` writes all"));
    }
    let folded = DocumentPart::Folded {
        title: counted(all as u64, "run"),
        parts: vec![DocumentPart::Table(table.into())],
    };
    let text = match study.origin.campaign {
        Some(_) => "Each number above comes from these runs; paths are relative to the record.",
        None => "Each number above comes from these runs, which were read from files.",
    };
    let text = text.to_owned();
    Section {
        id: "evidence".to_owned(),
        title: "Evidence".to_owned(),
        parts: vec![DocumentPart::Text(text), folded],
    }
}
