//! A document as Markdown. Figures stand beside it as SVG files.

use std::fmt::Write;

use super::{DocumentPart, Rendered, Report};
use crate::markdown::{code, code_block, escape, render};
use crate::table::Footnote;

/// The document. `name` is what the names of its figures begin with.
pub fn markdown(report: &Report, name: &str) -> Rendered {
    let mut rendered = Rendered::default();
    // Writing to a String cannot fail.
    let _ = writeln!(rendered.text, "# {}\n", escape(&report.title));
    if let Some(question) = report.question.as_ref().filter(|question| !question.is_empty()) {
        let _ = writeln!(rendered.text, "*{}*\n", escape(question));
    }
    for sentence in &report.summary {
        let _ = writeln!(rendered.text, "{}\n", escape(sentence));
    }
    if !report.caveats.is_empty() {
        rendered.text.push_str("Caveats:\n\n");
        report.caveats.iter().for_each(|caveat| push_caveat(&mut rendered.text, caveat));
        rendered.text.push('\n');
    }
    for section in &report.sections {
        let _ = writeln!(rendered.text, "## {}\n", escape(&section.title));
        for part in &section.parts {
            push_part(&mut rendered, part, name);
        }
    }
    rendered
}

fn push_caveat(out: &mut String, caveat: &Footnote) {
    let hint = match caveat.hint.is_empty() {
        true => String::new(),
        false => format!(" *Hint: {}*", escape(&caveat.hint)),
    };
    let _ = writeln!(out, "- {}{hint}", escape(&caveat.text));
}

fn push_part(rendered: &mut Rendered, part: &DocumentPart, name: &str) {
    let out = &mut rendered.text;
    match part {
        DocumentPart::Heading(text) => {
            let _ = writeln!(out, "### {}\n", escape(text));
        }
        DocumentPart::Text(text) => {
            let _ = writeln!(out, "{}\n", escape(text));
        }
        DocumentPart::Table(data) => {
            let mut table = data.table.clone();
            for line in std::mem::take(&mut table.heading) {
                let _ = writeln!(out, "{}\n", escape(&line));
            }
            let _ = writeln!(out, "{}", render(&table));
        }
        DocumentPart::Figure(figure) => {
            let ending = format!("-figure-{}.svg", rendered.files.len() + 1);
            let _ = writeln!(out, "![{}](<{name}{ending}>)\n", escape(&figure.caption));
            let _ = writeln!(out, "*{}*\n", escape(&figure.caption));
            rendered.files.push((ending, figure.drawing.svg_file()));
        }
        DocumentPart::Listing { title, text } => {
            if !title.is_empty() {
                let _ = writeln!(out, "**{}**\n", escape(title));
            }
            let _ = writeln!(out, "{}", code_block(text));
        }
        DocumentPart::Facts(facts) => {
            out.push_str("| | |\n| --- | --- |\n");
            for (name, value) in facts {
                let _ = writeln!(out, "| {} | {} |", escape(name), code(&value.replace('|', "\\|")));
            }
            out.push('\n');
        }
        DocumentPart::Finding { text, advice, .. } => {
            let advice =
                if advice.is_empty() { String::new() } else { format!(" *Hint: {}*", escape(advice)) };
            let _ = writeln!(out, "> {}{advice}\n", escape(text));
        }
        DocumentPart::Folded { title, parts } => {
            let _ = writeln!(out, "<details><summary>{}</summary>\n", crate::markup::escaped(title));
            parts.iter().for_each(|part| push_part(rendered, part, name));
            rendered.text.push_str("</details>\n\n");
        }
    }
}
