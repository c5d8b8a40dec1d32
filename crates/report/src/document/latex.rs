//! A document as LaTeX with booktabs. LaTeX reads no SVG, so figures stand beside it and are included once they were
//! converted to PDF; without that the document compiles all the same.

use std::fmt::Write;

use super::{DocumentPart, Rendered, Report};
use crate::table::{Align, Column, Table, superscript};
use crate::words::{clean, code_pieces};

const PREAMBLE: &str = r"\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[a4paper,margin=2.2cm]{geometry}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{graphicx}
% A table that is wider than the page is made smaller.
\newcommand{\fitted}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}\par}
\setlength{\parindent}{0pt}
\emergencystretch=3em
\setlength{\parskip}{0.6em}
\begin{document}
";

/// Runs in an appendix on paper; all are in the record.
const MOST_ROWS: usize = 200;
/// Longer tables are broken over pages. LaTeX has to run twice for those.
const MOST_ON_A_PAGE: usize = 36;
/// Letters of a text that are not broken in a table over several pages.
const WIDEST_LINE: usize = 40;

/// The document. `name` is what the names of its figures begin with.
pub fn latex(report: &Report, name: &str) -> Rendered {
    let mut rendered = Rendered { text: PREAMBLE.to_owned(), files: Vec::new() };
    // Writing to a String cannot fail.
    let _ = writeln!(rendered.text, "\\section*{{{}}}", escape(&report.title));
    if let Some(question) = report.question.as_ref().filter(|question| !question.is_empty()) {
        let _ = writeln!(rendered.text, "\\emph{{{}}}\n", escape(question));
    }
    for sentence in &report.summary {
        let _ = writeln!(rendered.text, "{}\n", prose(sentence));
    }
    if !report.caveats.is_empty() {
        rendered.text.push_str("\\paragraph{Caveats}\n\\begin{itemize}\n");
        for caveat in &report.caveats {
            let _ = writeln!(
                rendered.text,
                "\\item {} \\emph{{Hint: {}}}",
                prose(&caveat.text),
                prose(&caveat.hint)
            );
        }
        rendered.text.push_str("\\end{itemize}\n");
    }
    for section in &report.sections {
        let _ = writeln!(rendered.text, "\\subsection*{{{}}}", escape(&section.title));
        for part in &section.parts {
            push_part(&mut rendered, part, name);
        }
    }
    rendered.text.push_str("\\end{document}\n");
    rendered
}

fn push_part(rendered: &mut Rendered, part: &DocumentPart, name: &str) {
    let out = &mut rendered.text;
    match part {
        DocumentPart::Heading(text) => {
            let _ = writeln!(out, "\\subsubsection*{{{}}}", escape(text));
        }
        DocumentPart::Text(text) => {
            let _ = writeln!(out, "{}\n", prose(text));
        }
        DocumentPart::Table(data) => push_table(out, &data.table),
        DocumentPart::Figure(figure) => {
            let number = rendered.files.len() + 1;
            let ending = format!("-figure-{number}.svg");
            let stem = format!("{name}-figure-{number}");
            // Those that stand side by side on a page are half as wide here, so that letters are of one size.
            let width = if figure.drawing.is_small() { "0.62" } else { "" };
            let _ = writeln!(
                out,
                "\\IfFileExists{{{stem}.pdf}}{{\\includegraphics[width={width}\\linewidth]{{{stem}.pdf}}\\par}}{{}}\n\
                 \\textbf{{Figure {number}.}} {}\n% rsvg-convert -f pdf -o {stem}.pdf {stem}.svg\n",
                escape(&figure.caption)
            );
            rendered.files.push((ending, figure.drawing.svg_file()));
        }
        DocumentPart::Listing { title, text } => {
            if !title.is_empty() {
                let _ = writeln!(out, "\\paragraph{{{}}}\\leavevmode\\\\", escape(title));
            }
            out.push_str("{\\footnotesize\\ttfamily\\raggedright\n");
            for line in text.lines() {
                let indent = line.len() - line.trim_start().len();
                let _ = writeln!(
                    out,
                    "{}{}\\\\",
                    "~".repeat(indent),
                    hidden(&breakable(&escape(line.trim_start())))
                );
            }
            out.push_str("\\par}\n\n");
        }
        DocumentPart::Facts(facts) => {
            out.push_str("\\begin{tabular}{@{}lp{0.7\\linewidth}@{}}\n");
            for (name, value) in facts {
                let _ = writeln!(out, "{} & {} \\\\", escape(name), escape(value));
            }
            out.push_str("\\end{tabular}\n\n");
        }
        DocumentPart::Finding { text, advice, .. } => {
            let _ = writeln!(out, "\\smallskip\\textbf{{{}}} \\emph{{{}}}\n", prose(text), prose(advice));
        }
        DocumentPart::Folded { title, parts } => {
            let _ = writeln!(out, "\\paragraph{{{}}}", escape(title));
            parts.iter().for_each(|part| push_part(rendered, part, name));
        }
    }
}

/// An empty line of a listing is not an empty line of the document: that would end the paragraph.
fn hidden(line: &str) -> String {
    if line.is_empty() { "~".to_owned() } else { line.to_owned() }
}

fn push_table(out: &mut String, table: &Table) {
    for line in &table.heading {
        let _ = writeln!(out, "{}\n", prose(line));
    }
    if !table.columns.is_empty() {
        let is_long = table.rows.len() > MOST_ON_A_PAGE;
        let shape = shape(table, is_long);
        let names: Vec<String> = (0..table.columns.len()).map(|index| column_name(table, index)).collect();
        let head = format!("\\toprule\n{}{} \\\\\n\\midrule\n", groups(table), names.join(" & "));
        let rows: String = table
            .rows
            .iter()
            .take(MOST_ROWS)
            .map(|row| {
                let cells: Vec<String> = row.iter().map(|cell| escape(&cell.text)).collect();
                format!("{} \\\\\n", cells.join(" & "))
            })
            .collect();
        let _ = if !is_long {
            writeln!(
                out,
                "{{\\small\\fitted{{%\n\\begin{{tabular}}{{@{{}}{shape}@{{}}}}\n{head}{rows}\\bottomrule\n\\end{{tabular}}}}}}"
            )
        } else {
            writeln!(
                out,
                "{{\\scriptsize\n\\begin{{longtable}}{{@{{}}{shape}@{{}}}}\n{head}\\endhead\n{rows}\\bottomrule\n\\end{{longtable}}}}"
            )
        };
        if table.rows.len() > MOST_ROWS {
            let _ = writeln!(out, "\\dots{{}} and {} more rows\n", table.rows.len() - MOST_ROWS);
        }
    }
    for note in &table.notes {
        let _ = writeln!(out, "{{\\footnotesize {}\\par}}", prose(note));
    }
    for (index, note) in table.footnotes.iter().enumerate() {
        let mark = escape(&note.lead(index));
        let _ = writeln!(
            out,
            "{{\\footnotesize {mark}{} \\emph{{Hint: {}}}\\par}}",
            prose(&note.text),
            prose(&note.hint)
        );
    }
    out.push('\n');
}

/// The alignment of columns. A table over several pages cannot be made smaller: texts that would leave the page are broken.
fn shape(table: &Table, is_long: bool) -> String {
    let widest = |index: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(index));
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
    };
    let is_broken =
        |index: usize, column: &Column| is_long && column.align == Align::Left && widest(index) > WIDEST_LINE;
    let columns = || table.columns.iter().enumerate();
    let broken = columns().filter(|(index, column)| is_broken(*index, column)).count();
    columns()
        .map(|(index, column)| match column.align {
            _ if is_broken(index, column) => format!("p{{{:.2}\\linewidth}}", 0.45 / broken as f64),
            Align::Right => "r".to_owned(),
            Align::Left => "l".to_owned(),
        })
        .collect()
}

/// The line with headings over several columns.
fn groups(table: &Table) -> String {
    let (mut cells, mut rules) = (Vec::new(), String::new());
    let mut from = 1;
    for (heading, count) in table.groups() {
        let heading = heading.map(escape).unwrap_or_default();
        cells.push(format!("\\multicolumn{{{count}}}{{c}}{{{heading}}}"));
        if !heading.is_empty() {
            let _ = write!(rules, "\\cmidrule(lr){{{from}-{}}}", from + count - 1);
        }
        from += count;
    }
    if cells.is_empty() { String::new() } else { format!("{} \\\\\n{rules}\n", cells.join(" & ")) }
}

/// The name of a column over several lines, where it is wider than what stands below it.
fn column_name(table: &Table, index: usize) -> String {
    let Some(column) = table.columns.get(index) else { return String::new() };
    let cells = table.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.chars().count());
    let width = cells.max().unwrap_or(0).max(9);
    let mut lines: Vec<String> = Vec::new();
    let group = column.group.as_ref().filter(|_| !table.groups().is_empty());
    let name = group.map_or(&column.name, |(_, name)| name);
    for piece in name.split_inclusive(['.', '_', ' ']) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + piece.trim_end().chars().count() <= width => {
                line.push_str(piece)
            }
            _ => lines.push(piece.to_owned()),
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| escape(line.trim_end())).collect();
    match lines.as_slice() {
        [] | [_] => lines.concat(),
        _ => format!(
            "\\shortstack[{}]{{{}}}",
            if column.align == Align::Right { 'r' } else { 'l' },
            lines.join("\\\\{}")
        ),
    }
}

/// A sentence in which backticks mark what is to be typed.
fn prose(text: &str) -> String {
    code_pieces(text)
        .into_iter()
        .map(|(is_code, piece)| {
            let text = breakable(&escape(piece));
            if is_code { format!("\\texttt{{{text}}}") } else { text }
        })
        .collect()
}

/// Settings and paths may be broken behind their separators; as single words they would leave the page.
fn breakable(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len());
    let mut letters = escaped.chars().peekable();
    while let Some(letter) = letters.next() {
        out.push(letter);
        if matches!(letter, ',' | '/' | '=' | ';') && letters.peek().is_some_and(|next| *next != ' ') {
            out.push_str("\\allowbreak{}");
        }
    }
    out
}

/// Text without any meaning to LaTeX. Letters beyond those that every installation has become a question mark in a box,
/// because an unknown one would end the compilation.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in clean(text).chars() {
        match letter {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => out.extend(['\\', letter]),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            '\'' => out.push_str("\\textquotesingle{}"),
            '`' => out.push_str("\\textasciigrave{}"),
            // A pair of hyphens would become a dash.
            '-' => out.push_str("-{}"),
            '[' | ']' => out.extend(['{', letter, '}']),
            '–' => out.push_str("--"),
            '—' => out.push_str("---"),
            '…' => out.push_str("\\dots{}"),
            '×' => out.push_str("$\\times$"),
            '±' => out.push_str("$\\pm$"),
            'µ' | 'μ' => out.push_str("$\\mu$"),
            '·' => out.push_str("$\\cdot$"),
            '−' => out.push_str("$-$"),
            '≈' => out.push_str("$\\approx$"),
            '≠' => out.push_str("$\\ne$"),
            '∞' => out.push_str("$\\infty$"),
            '₀' => out.push_str("$_0$"),
            '≤' => out.push_str("$\\le$"),
            '≥' => out.push_str("$\\ge$"),
            '→' => out.push_str("$\\to$"),
            '†' => out.push_str("$\\dagger$"),
            '✓' => out.push_str("$\\surd$"),
            '✗' => out.push_str("$\\times$"),
            '\u{a0}' => out.push('~'),
            'σ' => out.push_str("$\\sigma$"),
            'κ' => out.push_str("$\\kappa$"),
            'λ' => out.push_str("$\\lambda$"),
            '½' => out.push_str("$\\frac12$"),
            letter if superscript_digit(letter).is_some() => {
                let _ = write!(out, "\\textsuperscript{{{}}}", superscript_digit(letter).unwrap_or(0));
            }
            letter if letter.is_ascii() || ('\u{c0}'..='\u{ff}').contains(&letter) => out.push(letter),
            _ => out.push_str("\\fbox{?}"),
        }
    }
    out
}

fn superscript_digit(letter: char) -> Option<u32> {
    (0..10).find(|digit| superscript(*digit as usize).starts_with(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_command() {
        assert_eq!(escape(r"\input{/etc/passwd}"), r"\textbackslash{}input\{/etc/passwd\}");
        assert_eq!(
            escape("100 % & #1 $x_y^2~`"),
            r"100 \% \& \#1 \$x\_y\textasciicircum{}2\textasciitilde{}\textasciigrave{}"
        );
        assert_eq!(escape("a\u{202e}b 日"), "a b \\fbox{?}");
        assert_eq!(escape("--fresh¹²"), "-{}-{}fresh\\textsuperscript{1}\\textsuperscript{2}");
    }
}
