use assay_model::Document;
use proptest::prelude::*;

use crate::document::read_document;

fn read(text: &str) -> Document {
    read_document("paper.tex", text.as_bytes())
}

fn texts(document: &Document, table: usize) -> Vec<Vec<&str>> {
    let rows = document.tables[table].rows.iter();
    rows.map(|row| row.cells.iter().map(|cell| cell.text.as_str()).collect()).collect()
}

#[test]
fn a_paper_gives_sections_tables_and_sentences_with_their_lines() {
    let document = read(
        r"\documentclass{article}
\newcommand{\speed}{3.2}
\begin{document}
\section{Results} % not shown
% The whole line is a comment.
Our kernel is \speed{} times faster
than the baseline.

\begin{table}
\begin{tabular}{l S[table-format=3.1] r}
\toprule
Model & {Latency (ms)} & Accuracy \\
\midrule
\multirow{2}{*}{small} & \num{12.5} & 91.5\,\% \\
 & 13.5 & \textbf{92.5\,\%} \\
large & 1{,}024.0 & $93.5 \pm 0.2$\,\% \\
\bottomrule
\end{tabular}
\caption{Latency on one GPU.}
\end{table}
\end{document}
",
    );
    let [statement] = document.statements.as_slice() else { panic!("{:?}", document.statements) };
    assert_eq!(statement.text, "Our kernel is 3.2 times faster than the baseline.");
    assert_eq!((statement.span.first, statement.headings.as_slice()), (6, ["Results".to_owned()].as_slice()));
    let table = &document.tables[0];
    let header: Vec<&str> = table.columns.iter().map(|column| column.header.as_str()).collect();
    assert_eq!(header, ["Model", "Latency (ms)", "Accuracy"]);
    assert_eq!(
        texts(&document, 0),
        [["small", "12.5", "91.5 %"], ["small", "13.5", "92.5 %"], ["large", "1,024.0", "93.5 ± 0.2 %"]]
    );
    assert_eq!(table.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [14, 15, 16]);
    assert_eq!(table.rows[2].cells[1].value, Some(1.024));
}

#[test]
fn grouped_headers_and_long_tables() {
    let document = read(
        r"\begin{longtable}{lrr}
\hline
 & \multicolumn{2}{c}{Time (s)} \\ \cmidrule(lr){2-3}
GPUs & train & eval \\ \hline
\endfirsthead
GPUs & train & eval \\ \hline
\endhead
1 & 10.0 & 2.0 \\
2 & 5.5 & 1.5 \\ \hline
\end{longtable}
",
    );
    let table = &document.tables[0];
    let header: Vec<&str> = table.columns.iter().map(|column| column.header.as_str()).collect();
    assert_eq!(header, ["GPUs", "Time (s) / train", "Time (s) / eval"]);
    assert_eq!(texts(&document, 0), [["1", "10.0", "2.0"], ["2", "5.5", "1.5"]]);
}

#[test]
fn logs_in_verbatim_are_runs() {
    let document = read("\\begin{verbatim}\nAccuracy on test set: 97.13%\n\\end{verbatim}\n");
    assert_eq!(document.runs[0].observations[0].source.as_ref().unwrap().line, 2);
}

proptest! {
    #[test]
    fn any_text_is_read(
        pieces in proptest::collection::vec(
            r"\\begin\{tabular\}\{ll\}|\\end\{tabular\}|\\multirow\{2\}\{\*\}\{|\\multicolumn|\\\\|&|\\hline|\\section\{|\}|\{|%|\n|\\newcommand\{\\a\}\{\\a\}|\\a|\\endhead|.{0,5}", 0..40),
    ) {
        let _ = read(&pieces.concat());
    }
}
