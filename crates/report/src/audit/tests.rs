//! What people see of an audit.

use assay_audit::{Class, RepeatGroup};
use assay_model::{Source, Unit};
use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::block::{self, LayoutOptions, WIDTH};
use crate::markup::check::well_formed;
use crate::reading;
use crate::sample::{audit, document, edited_run, phase, queued_run};
use crate::text::plain;

fn terminal(audit: &Audit, documents: &[Document]) -> String {
    block::text(&text(audit, documents, &LayoutOptions::default()), WIDTH, &plain)
}

#[test]
fn text_and_markdown_show_all_sections() {
    let documents = [document()];
    assert_snapshot!("text", terminal(&audit(), &documents));
    assert_snapshot!("markdown", markdown(&audit(), &documents));
}

#[test]
fn several_documents_are_listed() {
    let other = Document { file: "other.log".into(), lines: 3, ..Document::default() };
    assert_snapshot!("several", terminal(&audit(), &[document(), other]));
}

#[test]
fn a_sound_document_is_short_and_said_to_be_sound() {
    let mut sound = audit();
    sound.findings.retain(|finding| finding.level == Level::Supported);
    sound.groups.clear();
    let text = terminal(&sound, &[document()]);
    assert!(text.contains("Sound: every claim was checked"), "{text}");
    assert!(text.lines().count() < 10, "{text}");
    let nothing = Document { file: "x".into(), ..Document::default() };
    assert!(terminal(&Audit::default(), &[nothing]).contains("Nothing to check"));
}

#[test]
fn the_page_is_one_well_formed_file_with_everything_in_it() {
    let documents = [document()];
    let page = html(&audit(), &documents);
    well_formed(&page).unwrap();
    assert_eq!(page, html(&audit(), &documents));
    for outside in ["http", "url(", "@import", "<script", "<link", "<img"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for finding in &audit().findings {
        assert!(page.contains(&finding.summary), "{}", finding.summary);
    }
    for part in [
        "notes/batch-study.md:154",
        "60000 / (50 × 150) = 8",
        "queue ×2: 3633.3 s, 86 %",
        "sd 0.64",
        "loss.train",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// Writes pages to look at into the directory that `ASSAY_PAGES` names; without it, into one that is removed again.
#[test]
fn pages_of_all_sizes_can_be_written() {
    let kept = std::env::var_os("ASSAY_PAGES").map(std::path::PathBuf::from);
    let temporary = tempfile::tempdir().unwrap();
    let directory = kept.as_deref().unwrap_or(temporary.path());
    let long = "a-name-that-never-ends-".repeat(12);
    let mut strange = document();
    strange.file = format!("{long}/{long}.log");
    for run in &mut strange.runs {
        run.title = Some(long.clone());
        run.platform = Some(long.clone());
        run.settings.clear();
        run.phases.push(phase("compile", 100.0, 0.0, 4));
        run.phases.push(phase(&long, 2000.0, 900.0, 4));
        run.phases.push(assay_model::Phase { seconds: None, end_s: None, ..phase("eval", 4000.0, 0.0, 5) });
    }
    let many: Vec<_> = (1..=12).map(|index| queued_run(256 * index, 10 + 60 * index as u64)).collect();
    let pages = [
        ("one", audit(), Document { runs: vec![queued_run(512, 8)], ..document() }),
        ("five", audit(), document()),
        ("twelve", audit(), Document { runs: many, ..document() }),
        ("empty", Audit::default(), Document { file: "empty.log".into(), ..Document::default() }),
        ("strange", audit(), strange),
    ];
    for (name, audit, document) in pages {
        let page = html(&audit, &[document]);
        well_formed(&page).unwrap();
        std::fs::write(directory.join(format!("{name}.html")), page).unwrap();
    }
}

#[test]
fn an_empty_audit_is_a_page_too() {
    let page = html(&Audit::default(), &[]);
    well_formed(&page).unwrap();
    assert!(page.contains("Nothing to check"));
}

#[test]
fn hostile_text_stays_text() {
    let nasty = "</style><script>alert('x')</script>&\"|`\u{1b}[31m";
    let mut audit = audit();
    let mut document = document();
    document.file = nasty.into();
    audit.groups[0].label = nasty.into();
    audit.groups[0].unit = Unit::Other(nasty.into());
    for finding in &mut audit.findings {
        finding.summary = nasty.into();
        finding.advice = nasty.into();
        finding.arithmetic = vec![nasty.into(), "```".into()];
        finding.sources = vec![Source::new(nasty, 1)];
    }
    for run in &mut document.runs {
        run.title = Some(nasty.into());
        run.platform = Some(nasty.into());
        run.phases.push(phase(nasty, 1.0, 2.0, 3));
        run.series.iter_mut().for_each(|series| series.metric = nasty.into());
    }
    let page = html(&audit, std::slice::from_ref(&document));
    well_formed(&page).unwrap();
    assert!(!page.contains("<script") && !page.contains('\u{1b}'));
    let text = terminal(&audit, std::slice::from_ref(&document));
    assert!(!text.contains('\u{1b}'));
    let markdown = markdown(&audit, &[document]);
    assert!(!markdown.contains('\u{1b}'));
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z<>&\"' ]{0,12}", ".{0,20}", Just("train".to_owned()), Just("loss.train".to_owned())]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), -1e4..1e4, Just(0.0)]
}

prop_compose! {
    fn any_run()(
        title in prop::option::of(word()),
        names in prop::collection::vec(word(), 1..4),
        phases in prop::collection::vec((word(), prop::option::of(number()), prop::option::of(number())), 0..6),
        values in prop::collection::vec(number(), 0..12),
        first in any::<u64>(),
    ) -> assay_model::ReadRun {
        let mut run = if values.len() % 2 == 0 { queued_run(512, 8) } else { edited_run(50, 0.9, 20) };
        run.title = title;
        run.span.first = first;
        run.dialects = names.clone();
        run.phases = phases
            .into_iter()
            .map(|(name, start_s, seconds)| assay_model::Phase { name, start_s, seconds, end_s: seconds, ..phase("", 0.0, 0.0, first) })
            .collect();
        for (series, name) in run.series.iter_mut().zip(&names) {
            series.metric.clone_from(name);
            series.unit = Unit::Other(name.clone());
            series.values.clone_from(&values);
            series.at_s.clone_from(&values);
        }
        for (observation, value) in run.observations.iter_mut().zip(&values) {
            observation.value = *value;
            observation.count = Some(*value);
            observation.seconds = Some(*value);
        }
        run
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn no_document_breaks_any_shape(
        runs in prop::collection::vec(any_run(), 0..4),
        texts in prop::collection::vec(word(), 4),
        values in prop::collection::vec(number(), 0..6),
    ) {
        let document = Document { file: texts[0].clone(), runs, ..document() };
        let source = Source::new(texts[0].clone(), 7);
        let audit = Audit {
            findings: vec![Finding {
                class: Class::Outlier,
                operands: Vec::new(),
                level: Level::Doubtful,
                summary: texts[1].clone(),
                arithmetic: vec![texts[2].clone()],
                sources: vec![source.clone()],
                advice: texts[3].clone(),
            }],
            groups: vec![RepeatGroup {
                label: texts[1].clone(),
                metric: texts[2].clone(),
                unit: Unit::Other(texts[3].clone()),
                values: values.iter().map(|value| (*value, source.clone())).collect(),
            }],
        };
        let documents = [document];
        let page = html(&audit, &documents);
        prop_assert_eq!(well_formed(&page), Ok(()));
        // A number that is none would make a figure that no browser draws.
        prop_assert!(!page.contains("\"NaN") && !page.contains("\"inf") && !page.contains(",NaN"), "{}", page);
        markdown(&audit, &documents);
        terminal(&audit, &documents);
        for full in [false, true] {
            let options = LayoutOptions { full, ..LayoutOptions::default() };
            block::text(&reading::summary(&documents, &options), WIDTH, &plain);
        }
    }
}
