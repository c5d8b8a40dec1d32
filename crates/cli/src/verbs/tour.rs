//! `tour`: one story in under two minutes, made of small real campaigns that need nothing but this program. It ends with one
//! HTML report.

use std::path::{Path, PathBuf};

use assay_audit::{Audit, Level};
use assay_launch::Ending;
use assay_report::document::{self, DocumentPart, Report, Section};
use assay_report::study::Studies;
use assay_report::{Cell, TerminalBlock, Tone};
use assay_store::Record;

use crate::execute::{assemble, execute, exit, failed_runs};
use crate::exit::Exit;
use crate::options::{RunFlags, Tour};
use crate::screen::Screen;
use crate::{output, records, sources, write_up};

/// The campaigns: what each adds to a record's name, what is said before it, and its file as it stands in `campaigns/`.
const CAMPAIGNS: [(&str, &str, &str); 3] = [
    (
        "train",
        "training an image classifier at three batch sizes, six times each",
        include_str!("../../../../campaigns/tour-train.toml"),
    ),
    (
        "serve",
        "loading two calibration endpoints whose true answer is known",
        include_str!("../../../../campaigns/tour-serve.toml"),
    ),
    (
        "log",
        "reading generated logs of an accelerator that is not here",
        include_str!("../../../../campaigns/tour-log.toml"),
    ),
];

/// What their records are called in the report.
const TITLES: [&str; 3] = ["Training a classifier", "Loading two endpoints", "An accelerator's log"];

/// A write-up with three errors in it.
const WRITE_UP: &str = include_str!("../../../../campaigns/tour-write-up.md");

/// Runs the tour; records, write-up and report go to `records/` in the current directory.
pub fn tour(options: &Tour, screen: &mut Screen) -> anyhow::Result<Exit> {
    let how = RunFlags {
        jobs: 1,
        fresh: options.fresh,
        view: options.view,
        quiet: options.quiet,
        ..RunFlags::default()
    };
    let base = options.record.clone().unwrap_or_else(|| PathBuf::from(records::RECORDS).join("tour"));
    let steps = CAMPAIGNS.len() + 1;
    let mut made: Vec<Record> = Vec::new();
    let mut failed = false;
    for (index, (part, what, text)) in CAMPAIGNS.into_iter().enumerate() {
        screen.say(&format!("[{}/{steps}] {what}", index + 1));
        let file = PathBuf::from(format!("tour-{part}.toml"));
        let campaign = records::parse(&file, text)?;
        let assembled = assemble(&campaign, named(&base, part))?;
        let (record, outcome) = execute(&assembled, &how, screen)?;
        let found = exit(&outcome, failed_runs(&record.index()?)?, &[]);
        if outcome.ending == Ending::Interrupted {
            screen.say("the tour stopped here; the same command resumes it");
            return Ok(found);
        }
        // On a busy machine a run may be refused; the answer rests on the others, and the report says so.
        failed |= found == Exit::RunsFailed;
        say_answer(&campaign.question, &record, screen)?;
        made.push(record);
    }
    screen.say(&format!("[{steps}/{steps}] auditing a write-up that contains three errors"));
    let file = named(&base, "write-up.md");
    output::put(&file, WRITE_UP)?;
    let audited = sources::audited(std::slice::from_ref(&file), &mut Screen::silent())?;
    let section = document::audit_section(&audited.audit, &audited.documents);
    screen.blocks(|_| findings(&audited.audit))?;
    let report = report(&made, section, &audited.audit, &file)?;
    let page = named(&base, "report.html");
    output::put(&page, &document::html(&report))?;
    screen.data(&format!("report: {}\n", records::shown(&page)))?;
    screen.hint(
        "open it in a browser; `assay page` serves all records, `assay init` writes a campaign of your own",
    );
    Ok(if failed { Exit::RunsFailed } else { Exit::Fine })
}

/// Prints the question and the answer in sentences.
fn say_answer(question: &str, record: &Record, screen: &mut Screen) -> anyhow::Result<()> {
    let gathered = write_up::gather(std::slice::from_ref(record), &[])?;
    let answers = gathered.studies.iter().filter_map(|study| study.answers.first());
    let mut blocks = vec![TerminalBlock::toned(2, question, Tone::Strong)];
    for judged in answers {
        blocks.extend(document::sentences(judged).iter().map(|sentence| TerminalBlock::plain(2, sentence)));
    }
    blocks.push(TerminalBlock::Gap);
    Ok(screen.blocks(|_| blocks)?)
}

/// What is wrong or open, each with its line.
fn findings(audit: &Audit) -> Vec<TerminalBlock> {
    let mut blocks = Vec::new();
    for finding in audit.findings.iter().filter(|finding| finding.level < Level::NotChecked) {
        let tone = if finding.level == Level::Contradicted { Tone::Bad } else { Tone::Doubt };
        let line =
            finding.sources.first().map_or_else(String::new, |source| format!("line {}:", source.line));
        blocks.push(TerminalBlock::labelled(2, Cell::toned(line, tone), vec![Cell::new(&finding.summary)]));
    }
    blocks.push(TerminalBlock::Gap);
    blocks
}

/// One document over all parts.
fn report(made: &[Record], section: Section, audit: &Audit, file: &Path) -> anyhow::Result<Report> {
    let mut studies = write_up::gather(made, &[])?.studies;
    for (study, title) in studies.iter_mut().zip(TITLES) {
        study.name = title.to_owned();
    }
    let mut report = document::write_up(&Studies { studies, ..Studies::default() });
    report.title = "A tour of assay".to_owned();
    report.question = Some(
        "Training, serving, an accelerator's log and a write-up: what do the numbers support?".to_owned(),
    );
    let written = records::shown(file);
    report.summary.extend(document::claims(audit).map(|claims| format!("{written}: {claims}")));
    let mut section =
        Section { title: "A write-up: does it follow from its own numbers?".to_owned(), ..section };
    let text = format!(
        "The write-up {written} has three errors on purpose. Nobody said where: the audit holds every claim against the numbers beside it."
    );
    section.parts.insert(0, DocumentPart::Text(text));
    section.parts.push(DocumentPart::Folded {
        title: "The write-up".to_owned(),
        parts: vec![DocumentPart::Listing { title: written, text: WRITE_UP.to_owned() }],
    });
    report.sections.push(section);
    Ok(report)
}

/// A path with an addition to its name.
fn named(base: &Path, part: &str) -> PathBuf {
    let name = base.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    base.with_file_name(format!("{name}-{part}"))
}
