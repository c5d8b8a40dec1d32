//! Texts that nobody writes are audited in time that grows with their length: with its square, each of these would take
//! minutes. Brackets in brackets end no program.

use assay_audit::audit;
use assay_model::Document;

fn read(file: &str, text: String) -> usize {
    audit(&[Document { file: file.to_owned(), text, ..Document::default() }]).findings.len()
}

fn rows(count: usize, row: impl Fn(usize) -> String) -> String {
    (0..count).map(row).collect()
}

#[test]
fn brackets_in_brackets_are_no_equation() {
    let deep = "(".repeat(200_000);
    assert_eq!(read("a.md", format!("x = {deep}\n\nIt is {deep}\n")), 0);
}

#[test]
fn a_unit_divided_again_and_again_is_a_unit() {
    assert_eq!(read("a.md", format!("It takes 5 s{} each.\n", "/s".repeat(1000))), 0);
}

#[test]
fn directives_in_directives_are_read_to_a_depth() {
    assert_eq!(read("a.rst", rows(1500, |depth| format!("{}.. note::\n", " ".repeat(depth)))), 0);
}

#[test]
fn long_texts_of_one_pattern_are_read_once() {
    let texts = [
        ("stars.md", "* ".repeat(200_000)),
        ("dots.md", "a.".repeat(200_000)),
        ("commas.md", "1,".repeat(200_000)),
        ("hyphens.md", "1-".repeat(200_000)),
        ("durations.md", "1 h 1 min ".repeat(20_000)),
        ("scripts.html", "<script></script>x ".repeat(20_000)),
        ("cell.html", format!("<table><tr><td>{}", "a<h1>".repeat(100_000))),
        ("labels.tex", "\\label{".repeat(100_000)),
        ("rows.tex", format!("\\begin{{tabular}}{{l}}\n{}", "\\\\[".repeat(100_000))),
    ];
    for (file, text) in texts {
        read(file, text);
    }
}

#[test]
fn many_lines_that_may_begin_a_table_are_read_once() {
    let texts = [
        ("fields.md", format!("```\n{}```\n", rows(40_000, |row| format!("name{row}: {row}.5 s\n")))),
        ("words.md", format!("```\n{}```\n", rows(40_000, |row| format!("foo{row}  bar\n")))),
        ("widths.txt", "name  ms\na  1\nb  2\nx y z\n".repeat(10_000)),
        ("notes.rst", rows(20_000, |row| format!(".. note::\n\n   x takes {row} ms\n\n"))),
        (
            "items.rst",
            format!(".. list-table:: t\n\n   * - a\n     - b\n{}", "       more\n".repeat(100_000)),
        ),
    ];
    for (file, text) in texts {
        read(file, text);
    }
}

#[test]
fn a_notebook_with_other_escapes_is_searched_for_its_lines_to_a_limit() {
    let cell = |row| format!("{{\"cell_type\":\"markdown\",\"source\":[\"caf\\u00e9 takes {row} ms\\n\"]}},");
    read("a.ipynb", format!("{{\"cells\":[{}{{}}]}}", rows(40_000, cell)));
}
