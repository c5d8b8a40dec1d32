//! Sentences to classify or embed: one from the settings, those of a file, or synthetic ones; and batches of them.
//!
//! *Made-up sentences* have `context` tokens each: the beginning, ordinary tokens, the end. Their kind in the rule of
//! [`crate::initial`] is `sentences`; the token `t` of sentence `b` is `first + (draw >> 32) mod (vocabulary - first)`
//! of the draw `b * context + t` at step 0.

use std::path::Path;

use super::options::{BertOptions, Task};
use super::tokens::{Special, Tokens};
use crate::WorkloadError;
use crate::initial::DrawKey;

/// Sentences that are made up where there are none.
pub const MADE_UP: usize = 100;

/// One sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its tokens, with those of beginning and end.
    pub ids: Vec<u32>,
    /// The class that it belongs to.
    pub label: Option<usize>,
}

/// All sentences of a run, and what was noticed when they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentences {
    /// The sentences, in their order.
    pub list: Vec<Sentence>,
    /// How many were left out because they are empty.
    pub empty: usize,
    /// How many were cut because they are too long.
    pub cut: usize,
}

/// A sentence as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabeledSentence {
    /// The line it begins on.
    pub line: u64,
    /// The sentence.
    pub text: String,
    /// The label beside it.
    pub label: Option<String>,
}

impl Sentences {
    /// The sentences that the options ask for. `labels` are the names of the classes, where they have any.
    pub fn open(
        options: &BertOptions,
        tokens: &Tokens,
        labels: &[String],
    ) -> Result<Sentences, WorkloadError> {
        let most = options.length.unwrap_or(options.shape.positions);
        let rows = match (&options.text, &options.data) {
            (Some(text), _) => vec![LabeledSentence { line: 1, text: text.clone(), label: None }],
            (None, Some(path)) => read(path)?,
            (None, None) => {
                let count = options.sentences.unwrap_or(MADE_UP);
                let list =
                    made_up(count, options.context, options.shape.vocabulary, tokens.special(), options.seed);
                return Ok(Sentences { list, ..Sentences::default() });
            }
        };
        let mut sentences = Sentences::default();
        let from = options.data.as_deref().unwrap_or(Path::new("text"));
        for row in rows {
            if row.text.trim().is_empty() {
                sentences.empty += 1;
                continue;
            }
            let wrong =
                |reason: String| WorkloadError::file("use", from, format!("line {}: {reason}", row.line));
            let encoded = tokens.encode(&row.text, most).map_err(wrong)?;
            let label = row.label.as_deref().filter(|_| options.task == Task::Classify);
            let label = label.map(|label| class(label, labels, options.shape.classes));
            let label = label.transpose().map_err(|reason| {
                wrong(reason).or_hint("labels are numbers from 0, or names that the model or the head knows")
            })?;
            sentences.cut += usize::from(encoded.cut > 0);
            sentences.list.push(Sentence { ids: encoded.ids, label });
        }
        if sentences.list.is_empty() {
            let error = WorkloadError::file("use", from, "it contains no sentence");
            return Err(error.or_hint("give a CSV file with a column `text`, or one sentence a line"));
        }
        Ok(sentences)
    }

    /// The lengths of all sentences in tokens, the shortest first.
    pub fn lengths(&self) -> Vec<usize> {
        let mut lengths: Vec<usize> = self.list.iter().map(|sentence| sentence.ids.len()).collect();
        lengths.sort_unstable();
        lengths
    }
}

/// The number of the class that a label names.
fn class(label: &str, labels: &[String], classes: usize) -> Result<usize, String> {
    let label = label.trim();
    if let Some(number) = labels.iter().position(|known| known.eq_ignore_ascii_case(label)) {
        return Ok(number);
    }
    match label.parse::<usize>() {
        Ok(number) if number < classes => Ok(number),
        Ok(number) => Err(format!("the label {number} is out of range: there are {classes} classes")),
        Err(_) if labels.is_empty() => Err(format!("the label `{label}` is not a number")),
        Err(_) => Err(format!("the label `{label}` is none of {}", labels.join(", "))),
    }
}

/// Reads the rows of a file: CSV where its name ends so, else one sentence a line.
pub fn read(path: &Path) -> Result<Vec<LabeledSentence>, WorkloadError> {
    let bytes = std::fs::read(path).map_err(|error| WorkloadError::file("read", path, error))?;
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let rows = if is_csv { csv_rows(&bytes) } else { lines(&bytes) };
    rows.map_err(|reason| WorkloadError::file("read", path, reason))
}

fn lines(bytes: &[u8]) -> Result<Vec<LabeledSentence>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    let row = |(line, text): (u64, &str)| LabeledSentence { line, text: text.to_owned(), label: None };
    Ok((1..).zip(text.lines()).map(row).collect())
}

/// The rows of a CSV file. Where its first row names a column `text`, columns are found by their names; else the first
/// column is the text and the second, if there is one, the label. Takes any bytes.
pub fn csv_rows(bytes: &[u8]) -> Result<Vec<LabeledSentence>, String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let (mut columns, mut rows) = (None, Vec::new());
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let named = |name: &str| record.iter().position(|field| field.trim().eq_ignore_ascii_case(name));
        let (text, label) = match columns {
            Some(columns) => columns,
            None => {
                let found = named("text").map(|text| (text, named("label")));
                columns = Some(found.unwrap_or((0, Some(1))));
                match found {
                    Some(_) => continue,
                    None => (0, Some(1)),
                }
            }
        };
        let Some(text) = record.get(text) else {
            return Err(format!("line {line} has no column for the text"));
        };
        let label = label.and_then(|label| record.get(label)).filter(|label| !label.trim().is_empty());
        rows.push(LabeledSentence { line, text: text.to_owned(), label: label.map(str::to_owned) });
    }
    Ok(rows)
}

fn made_up(count: usize, context: usize, vocabulary: usize, special: Special, seed: u64) -> Vec<Sentence> {
    let key = DrawKey::new("sentences", seed).at(0);
    (0..count)
        .map(|number| {
            let token = |t| ordinary(key, number as u64 * context as u64 + t, vocabulary, special);
            let mut ids: Vec<u32> = (0..context as u64).map(token).collect();
            if let [begin, .., end] = ids.as_mut_slice() {
                (*begin, *end) = (special.begin, special.end);
            }
            Sentence { ids, label: None }
        })
        .collect()
}

/// An ordinary token by the draw with the number `i`.
pub(super) fn ordinary(key: DrawKey, i: u64, vocabulary: usize, special: Special) -> u32 {
    let span = u32::try_from(vocabulary).unwrap_or(u32::MAX).saturating_sub(special.first).max(1);
    special.first + (key.draw(i) >> 32) as u32 % span
}

/// Sentences one behind the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// The tokens of all sentences.
    pub ids: Vec<u32>,
    /// Where each sentence begins, and where the last one ends.
    pub starts: Vec<usize>,
    /// How many tokens of each sentence are real; the rest is padding.
    pub real: Vec<usize>,
}

impl Batch {
    /// Takes other sentences, each at its own length or padded to `length`.
    pub fn fill<'a>(
        &mut self,
        sentences: impl Iterator<Item = &'a Sentence>,
        length: Option<usize>,
        pad: u32,
    ) {
        self.ids.clear();
        self.starts.clear();
        self.real.clear();
        self.starts.push(0);
        for sentence in sentences {
            let begin = self.ids.len();
            self.ids.extend_from_slice(&sentence.ids);
            self.ids.resize(self.ids.len().max(begin + length.unwrap_or(0)), pad);
            self.starts.push(self.ids.len());
            self.real.push(sentence.ids.len());
        }
    }

    /// Tokens of all sentences, padding included.
    pub fn rows(&self) -> usize {
        self.ids.len()
    }

    /// How many sentences there are.
    pub fn count(&self) -> usize {
        self.real.len()
    }

    /// The sentence that a row belongs to.
    pub fn sentence_of(&self, row: usize) -> usize {
        self.starts.partition_point(|start| *start <= row).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn csv_is_read_by_names_or_by_place() {
        let row = |line, text: &str, label: Option<&str>| LabeledSentence {
            line,
            text: text.to_owned(),
            label: label.map(str::to_owned),
        };
        let named = csv_rows(b"source,Label,TEXT\nx,1,\"good, \"\"really\"\"\ngood\"\ny,,bad\n").unwrap();
        assert_eq!(named, [row(2, "good, \"really\"\ngood", Some("1")), row(4, "bad", None)]);
        let plain = csv_rows(b"fine,0\nalone\n").unwrap();
        assert_eq!(plain, [row(1, "fine", Some("0")), row(2, "alone", None)]);
        assert!(csv_rows(b"label,text\n1\n").unwrap_err().contains("line 2"));
        assert!(csv_rows(b"text\n\xff\xfe\n").is_err());
    }

    #[test]
    fn labels_are_numbers_in_range_or_known_names() {
        let names = ["neg".to_owned(), "pos".to_owned()];
        assert_eq!(class(" POS ", &names, 2), Ok(1));
        assert_eq!(class("0", &names, 2), Ok(0));
        assert!(class("2", &names, 2).unwrap_err().contains("out of range"));
        assert!(class("odd", &names, 2).unwrap_err().contains("neg, pos"));
        assert!(class("-1", &[], 2).unwrap_err().contains("not a number"));
    }

    #[test]
    fn a_batch_knows_its_rows_and_pads_only_when_asked() {
        let sentence = |length| Sentence { ids: vec![7; length], label: None };
        let list = [sentence(3), sentence(2), sentence(5)];
        let mut batch = Batch::default();
        batch.fill(list.iter(), None, 0);
        assert_eq!((batch.rows(), &batch.starts[..], batch.count()), (10, &[0, 3, 5, 10][..], 3));
        assert_eq!([0, 2, 3, 4, 5, 9].map(|row| batch.sentence_of(row)), [0, 0, 1, 1, 2, 2]);
        batch.fill(list.iter().take(2), Some(4), 0);
        assert_eq!(batch.ids, [7, 7, 7, 0, 7, 7, 0, 0]);
        assert_eq!((&batch.starts[..], &batch.real[..]), (&[0, 4, 8][..], &[3, 2][..]));
    }

    #[test]
    fn made_up_sentences_have_their_ends_and_depend_on_the_seed() {
        let special = Special::of_size(30_522);
        let list = made_up(3, 9, 30_522, special, 1);
        assert!(list.iter().all(|sentence| sentence.ids[0] == 101 && sentence.ids[8] == 102));
        assert!(list.iter().all(|sentence| sentence.ids[1..8].iter().all(|id| (999..30_522).contains(id))));
        assert_ne!(list, made_up(3, 9, 30_522, special, 2));
        assert_eq!(list[..2], made_up(2, 9, 30_522, special, 1));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = csv_rows(&bytes);
            let _ = lines(&bytes);
        }
    }
}
