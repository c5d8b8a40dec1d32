//! Whatever a stranger wrote stays text, in every format.

use super::*;
use crate::figure::{Bar, BarGroup, CellRow, Point, PointLine, Ratio, RooflinePoint};
use crate::markup::check::well_formed;
use crate::table::{Cell, Column};
use assay_model::{Unit, Verdict};

const NASTY: &str = "</style><script>alert(1)</script> \u{1b}[31m \u{202e}gpj.exe\u{202c} \"a' onload='x \\input{x} $\\alpha$ `code` | =cmd()";

fn nasty() -> Report {
    let cells = CellDots {
        title: NASTY.into(),
        unit: Unit::Other(NASTY.into()),
        rows: vec![CellRow { label: NASTY.into(), values: vec![1.0, 2.0, f64::NAN], estimate: None }],
    };
    let forest = Forest {
        title: NASTY.into(),
        base: NASTY.into(),
        margin: 0.01,
        rows: vec![Ratio {
            label: NASTY.into(),
            ratio: 2.0,
            ends: Some((1.5, 2.5)),
            verdict: Verdict::Worse,
            samples: 3,
        }],
    };
    let point = Point { x: 1.0, center: 2.0, ends: None, samples: 1, note: NASTY.into() };
    let points = Points {
        title: NASTY.into(),
        up: (NASTY.into(), Unit::One),
        across: (NASTY.into(), Unit::One),
        doubling: true,
        lines: vec![PointLine { label: NASTY.into(), points: vec![point] }],
        curves: vec![figure::ComputedCurve {
            label: NASTY.into(),
            points: vec![(1.0, 2.0)],
            ..Default::default()
        }],
        marks: vec![(1.0, NASTY.into())],
    };
    let trace = Trace {
        title: NASTY.into(),
        across: NASTY.into(),
        points: vec![(0.0, 1.0), (1.0, f64::INFINITY), (2.0, 3.0)],
        bands: vec![(NASTY.into(), 0.0, 1.0)],
        ..Trace::default()
    };
    let heat = Heat {
        title: NASTY.into(),
        unit: Unit::One,
        names: (NASTY.into(), NASTY.into()),
        down: vec![NASTY.into()],
        across: vec![NASTY.into(), "b".into()],
        cells: vec![Some((1.0, 3)), None],
    };
    let bar = |name: &str| Bar { name: name.into(), value: 2.0, ends: Some((1.5, 2.5)), samples: 3 };
    let bars = Bars {
        title: NASTY.into(),
        unit: Unit::Seconds,
        groups: vec![BarGroup { label: NASTY.into(), bars: vec![bar(NASTY), bar("b")] }],
    };
    let position =
        RooflinePoint { label: NASTY.into(), intensity: 3.0, rate: 1e9, ends: Some((9e8, 2e9)), samples: 3 };
    let roofline = Roofline { title: NASTY.into(), peak: 1e10, bandwidth: Some(1e9), points: vec![position] };
    let mut table = Table {
        heading: vec![NASTY.into()],
        columns: vec![Column::left(NASTY), Column::right(format!("median {NASTY}"))],
        rows: vec![vec![Cell::new(NASTY), Cell::new(NASTY)]],
        notes: vec![NASTY.into()],
        ..Table::default()
    };
    table.footnote(NASTY, NASTY);
    let drawings = [
        Drawing::Cells(cells),
        Drawing::Forest(forest),
        Drawing::Points(points),
        Drawing::Trace(trace),
        Drawing::Heat(heat),
        Drawing::Bars(bars),
        Drawing::Roofline(roofline),
    ];
    let mut parts: Vec<DocumentPart> = drawings
        .into_iter()
        .map(|drawing| DocumentPart::Figure(Figure { caption: NASTY.into(), drawing }))
        .collect();
    parts.extend([
        DocumentPart::Heading(NASTY.into()),
        DocumentPart::Text(NASTY.into()),
        DocumentPart::Table(DataTable { table, abouts: vec![vec![NASTY.into()]], main: 1 }),
        DocumentPart::Listing { title: NASTY.into(), text: format!("{NASTY}\n```\n{NASTY}") },
        DocumentPart::Facts(vec![(NASTY.into(), NASTY.into())]),
        DocumentPart::Finding { tone: Tone::Bad, text: NASTY.into(), advice: NASTY.into() },
        DocumentPart::Folded { title: NASTY.into(), parts: vec![DocumentPart::Text(NASTY.into())] },
    ]);
    Report {
        title: NASTY.into(),
        question: Some(NASTY.into()),
        summary: vec![NASTY.into()],
        caveats: vec![Footnote::about_all(NASTY, NASTY)],
        sections: vec![Section { id: "one".into(), title: NASTY.into(), parts }],
    }
}

fn assert_harmless(text: &str) {
    assert!(!text.to_lowercase().contains("<script"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{202c}']), "a character that steers is left");
}

#[test]
fn html_keeps_strangers_text_as_text() {
    let page = html(&nasty());
    assert_harmless(&page);
    // The one style sheet is the page's own, and closes where the page closes it.
    assert_eq!((page.matches("<style").count(), page.matches("</style").count()), (1, 1));
    let body = page.split_once("<body>").unwrap().1.rsplit_once("</body>").unwrap().0;
    well_formed(body).unwrap();
    for external in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(external), "a page without a network has no {external}");
    }
}

#[test]
fn figures_of_their_own_are_well_formed() {
    for (name, svg) in markdown(&nasty(), "report").files {
        assert_harmless(&svg);
        assert!(svg.starts_with("<svg xmlns="), "{name}");
        let without_style = svg.split_once("</style>").unwrap();
        assert_eq!(svg.matches("</style>").count(), 1);
        well_formed(&format!("<svg>{}", without_style.1.trim_end())).unwrap();
    }
}

#[test]
fn markdown_and_latex_keep_strangers_text_as_text() {
    let text = markdown(&nasty(), "report").text;
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
    let own = ["<details>", "</details>", "<summary>", "</summary>"];
    let options = pulldown_cmark::Options::ENABLE_TABLES;
    for event in pulldown_cmark::Parser::new_ext(&text, options) {
        if let pulldown_cmark::Event::Html(piece) | pulldown_cmark::Event::InlineHtml(piece) = event {
            let rest = own.iter().fold(piece.to_string(), |rest, tag| rest.replace(tag, ""));
            assert!(!rest.contains('<'), "{piece}");
        }
    }
    let text = latex(&nasty(), "report").text;
    assert!(!text.contains("\\input{x}") && !text.contains("$\\alpha$"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
    assert_eq!(text.matches("\\begin{").count(), text.matches("\\end{").count());
}

/// Stands in for a compiler where none is installed: environments are closed in their order, braces balance, and every row
/// has as many cells as its table has columns.
#[test]
fn latex_is_well_formed() {
    let text = latex(&nasty(), "report").text;
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut depth = 0i64;
    for line in text.lines().filter(|line| !line.starts_with('%')) {
        let bare = line.replace("\\\\", "").replace("\\{", "").replace("\\}", "").replace("\\&", "");
        depth += bare.matches('{').count() as i64 - bare.matches('}').count() as i64;
        assert!(depth >= 0, "{line}");
        if let Some(rest) = line.strip_prefix("\\begin{") {
            let (name, shape) = rest.split_once('}').unwrap();
            let columns =
                shape.replace("@{}", "").replace("{0.7\\linewidth}", "").matches(['l', 'r', 'p']).count();
            open.push((name, columns));
        } else if let Some(rest) = line.trim_end_matches('}').strip_prefix("\\end{") {
            assert_eq!(open.pop().map(|(name, _)| name), Some(rest), "{text}");
        } else if let Some((name, columns)) = open.last().filter(|_| line.ends_with("\\\\"))
            && matches!(*name, "tabular" | "longtable")
        {
            assert_eq!(bare.matches('&').count() + 1, *columns, "{line}");
        }
    }
    assert!(open.is_empty() && depth == 0, "{open:?} {depth}");
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(html(&nasty()), html(&nasty()));
    assert_eq!(markdown(&nasty(), "a"), markdown(&nasty(), "a"));
}

/// Compiles where a TeX is installed; says so where none is.
#[test]
fn latex_compiles() {
    let Some(program) = ["tectonic", "pdflatex", "xelatex"].into_iter().find(|name| {
        std::process::Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success())
    }) else {
        eprintln!("skipped: no TeX is installed, so the LaTeX document was not compiled");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("report.tex"), latex(&nasty(), "report").text).unwrap();
    let mut command = std::process::Command::new(program);
    if program != "tectonic" {
        command.args(["-interaction=nonstopmode", "-halt-on-error"]);
    }
    let out = command.arg("report.tex").current_dir(directory.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
}
