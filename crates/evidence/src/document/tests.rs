use super::*;

/// More prose than is searched for statements, with a heading and a log behind it.
fn long() -> String {
    let mut text = String::new();
    for number in 0..6000 {
        text.push_str(&format!(
            "Word {number} is faster than the word before it.\nQuiet rivers run deep.\n\n"
        ));
    }
    text.push_str("# A heading\n\nbatch size of 512:\n\n```\nAccuracy on test set: 97.13%\n```\n");
    text
}

fn read(pieces: &[&[u8]]) -> Document {
    let mut reader = DocumentReader::new(&Readers::all(&[]), "long.md");
    pieces.iter().for_each(|piece| reader.feed(piece));
    reader.finish()
}

#[test]
fn a_heading_without_a_blank_line_takes_nothing_of_what_stands_before_it() {
    let text = "<h2>First</h2>\n<p>\nBlock 16 is the slowest.\n</p>\n<h2>Second</h2>\n<p>\nBlock 64 is the fastest.\n</p>\n";
    let document = read(&[text.as_bytes()]);
    let headings: Vec<&str> =
        document.statements.iter().flat_map(|one| one.headings.iter().map(String::as_str)).collect();
    assert_eq!(headings, ["First", "Second"]);
}

#[test]
fn a_markdown_file_of_drawn_boxes_is_a_log() {
    let rule = "-".repeat(28);
    let row = |reward: f64, steps: u32| {
        format!(
            "{rule}\n| rollout/       |         |\n|    ep_rew_mean | {reward:<7} |\n| time/          |         |\n|    total_steps | {steps:<7} |\n{rule}\n"
        )
    };
    let text = row(1.5, 100) + &row(2.5, 200);
    let document = read(&[text.as_bytes()]);
    let run =
        document.runs.first().map(|run| run.series.iter().map(|series| series.metric.as_str()).collect());
    assert_eq!(run, Some(vec!["reward"]));
    // A table of Markdown stays one.
    let table = "| batch | loss |\n|---|---|\n| 1 | 0.5 |\n| 2 | 0.25 |\n";
    assert_eq!(read(&[table.as_bytes()]).tables.len(), 1);
}

#[test]
fn a_table_parts_two_paragraphs() {
    let table = "<table>\n<tr><th>Block</th><th>Seconds</th></tr>\n<tr><td>16</td><td>2</td></tr>\n</table>";
    let text = format!("<p>\nI ran it once\n</p>\n{table}\n<p>\nBlock 16 is the slowest.\n</p>\n");
    let document = read(&[text.as_bytes()]);
    let found: Vec<(u64, &str)> =
        document.statements.iter().map(|one| (one.span.first, one.text.as_str())).collect();
    assert_eq!(found, [(9, "Block 16 is the slowest.")]);
}

#[test]
fn arrays_keep_the_settings_of_their_labels() {
    let text =
        "All runs in MB/s:\n\n```\nblock 16 rate [10.5 11.5 12.5]\nblock 64 rate [20.5 21.5 22.5]\n```\n";
    let document = read(&[text.as_bytes()]);
    let blocks: Vec<String> = document
        .runs
        .iter()
        .flat_map(|run| &run.settings)
        .filter(|fact| fact.name == "block")
        .map(|fact| fact.value.to_string())
        .collect();
    assert_eq!(blocks, ["16", "64"]);
    assert!(document.runs[0].title.as_deref().is_some_and(|title| title.contains("All runs")));
}

#[test]
fn what_stands_behind_long_prose_is_read_however_it_is_cut() {
    let text = long();
    let whole = read(&[text.as_bytes()]);
    let [run] = whole.runs.as_slice() else { panic!("{:?}", whole.runs) };
    assert_eq!(run.title.as_deref(), Some("A heading"));
    assert_eq!((run.span.first, whole.lines), (18_006, 18_007));
    for size in [7, 1000, 4099] {
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        assert_eq!(read(&pieces), whole, "pieces of {size}");
    }
}

/// Pieces that make up documents of all formats.
const PIECES: [&str; 40] = [
    "# Title\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```\n",
    "loss 0.5\n",
    "\n",
    "<table>",
    "<tr><td>1",
    "</table>",
    "<h2>x</h2>",
    "<pre>",
    "<!--",
    "\\begin{tabular}{ll}\n",
    "\\end{tabular}\n",
    "a & b \\\\\n",
    "\\multirow{2}{*}{x}",
    "\\section{y}\n",
    "%",
    "{",
    "}",
    "\"",
    ",",
    ";",
    "1.5",
    "{\"cells\": [",
    "{\"cell_type\": \"code\", \"source\": [\"lr = 1\\n\"]}",
    "]}",
    "NaN",
    "====  ===\n",
    ".. list-table::\n   * - a\n",
    "::\n\n  x\n",
    "* Heading\n",
    "#+begin_src\n",
    "+---+---+\n",
    "a  b  c\n",
    "1  2  3\n",
    "\t",
    "\r",
    "é",
    "step,loss\n",
    "It is 2.5x faster than before.\n",
];

#[test]
fn ten_thousand_random_documents_are_read_in_every_format() {
    let names = ["a.md", "a.html", "a.tex", "a.rst", "a.org", "a.csv", "a.ipynb", "a.json", "a.txt", "a"];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for index in 0..10_000 {
        let length = next(24);
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..length {
            bytes.extend_from_slice(PIECES[next(PIECES.len())].as_bytes());
        }
        if !bytes.is_empty() && index % 3 == 0 {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        let document = read_document(names[index % names.len()], &bytes);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        assert!(document.tables.iter().all(|table| table.span.last <= lines), "{document:?}");
        assert!(document.statements.iter().all(|one| one.span.first <= lines), "{document:?}");
    }
}

#[test]
fn a_table_of_ten_thousand_rows_on_one_line_is_read_whole() {
    let mut text = "<html><table><tr><th>GPUs</th><th>Time (s)</th></tr>".to_owned();
    for row in 0..10_000 {
        text.push_str(&format!("<tr><td>{row}</td><td>1.5</td></tr>"));
    }
    text.push_str("</table></html>");
    for name in ["a.html", "a.md", "a"] {
        assert_eq!(read_document(name, text.as_bytes()).tables[0].rows.len(), 10_000, "{name}");
    }
}

#[test]
fn json_with_nan_keeps_its_numbers_and_says_what_is_missing() {
    let document = read_document("r.json", b"{\"accuracy\": 0.5, \"eval_loss\": NaN}");
    let [run] = document.runs.as_slice() else { panic!("{:?}", document.runs) };
    assert_eq!(run.observations[0].value, 0.5);
    assert!(run.hints.iter().any(|hint| hint.seen.contains("loss")), "{:?}", run.hints);
}

#[test]
fn items_of_lists_are_results_where_nothing_else_holds_any() {
    let text = "# Notes\n\n- Final test accuracy: 91.5%\n- Training took 3.5 h on one GPU.\n- peak memory: 17.5 GB\n";
    let found = read(&[text.as_bytes()]);
    let value = |name: &str| {
        found
            .runs
            .iter()
            .flat_map(|run| &run.observations)
            .find(|one| one.metric == name)
            .map(|one| one.value)
    };
    assert_eq!(value("accuracy.test.final"), Some(0.915));
    assert_eq!(value("memory.peak"), Some(17.5e9));
    // Beside a table they speak of its numbers.
    let text = format!("{text}\n| model | accuracy |\n|---|---|\n| a | 0.5 |\n");
    assert_eq!(read(&[text.as_bytes()]).runs.len(), 1);
}

#[test]
fn a_table_that_names_its_metrics_in_a_column() {
    let text = "|Tasks|n-shot|Metric|   |Value |   |Stderr|\n|-----|-----:|------|---|-----:|---|-----:|\n|quiz |     0|acc   |↑  |0.525|±  |0.015|\n|maze |     0|f1    |↑  |0.335|±  |0.025|\n";
    let runs = read(&[text.as_bytes()]).runs;
    let metrics: Vec<&str> =
        runs.iter().flat_map(|run| &run.observations).map(|one| one.metric.as_str()).collect();
    assert_eq!(metrics, ["accuracy", "accuracy.std", "f1", "f1.std"]);
}

/// Rows of such a table that are short, and columns without a known name, are not looked at again for each cell.
#[test]
fn wide_and_long_tables_are_read_in_step_with_their_size() {
    let wide = format!("|{}\n|{}\n{}", "a|".repeat(20_000), "-|".repeat(20_000), "|1|\n".repeat(2000));
    let document = read_document("a.md", wide.as_bytes());
    assert_eq!(document.tables[0].columns.len(), 500);
    assert!(document.omissions.iter().any(|omission| omission.what.contains("column 500")));
    read_document("a.md", "1,".repeat(100_000).as_bytes());
    let rows: String = (0..20_000).map(|row| format!("m{row},{row}.5,{row}.25\n")).collect();
    let document = read_document("a.csv", format!("model,latency ms,foo bar\n{rows}").as_bytes());
    assert_eq!(document.runs.len(), 20_000);
}

#[test]
fn columns_and_keys_of_moments_are_no_durations() {
    let names = |path: &str, text: &str| -> Vec<String> {
        let runs = read_document(path, text.as_bytes()).runs;
        let once = runs.iter().flat_map(|run| &run.observations).map(|one| one.metric.clone());
        once.chain(runs.iter().flat_map(|run| &run.series).map(|one| one.metric.clone())).collect()
    };
    for key in ["time", "ts", "Wall time"] {
        let table = format!("{key},epoch,loss\n1700000000.5,1,0.5\n1700000100.5,2,0.4\n");
        assert!(names("a.csv", &table).iter().all(|name| name.contains("loss")), "{key}");
        let lines = format!("{{\"{key}\": 1700000000.5, \"step\": 1, \"loss\": 0.5}}\n");
        let lines = lines.clone() + &lines.replace("\"step\": 1", "\"step\": 2");
        assert!(names("a.jsonl", &lines).iter().all(|name| name.contains("loss")), "{key}");
    }
    assert!(names("a.csv", "model,time (s)\na,12.5\nb,14.5\n").contains(&"duration.reported".to_owned()));
}
