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
