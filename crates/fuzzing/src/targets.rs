//! The targets. Each states in its documentation what must never happen.

use std::path::Path;
use std::sync::LazyLock;

use assay_campaign::{Campaign, Catalog, Registry};
use assay_evidence::{DocumentReader, Readers, Reading, Stream};
use assay_load::metrics::Counters;
use assay_store::journal::JournalReader;
use assay_workloads::bert::config;
use assay_workloads::bert::sentences::csv_rows;
use assay_workloads::bert::tokens::{from_json, from_vocabulary};
use assay_workloads::data::idx;
use assay_workloads::lm::checkpoint::read_header;

use crate::{recovery, seeds};

/// One way into the program for a stranger's bytes.
pub struct Target {
    pub name: &'static str,
    /// Panics if the bytes make the program do something it must never do.
    pub run: fn(&[u8]),
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Longer inputs find little more and take longer.
    pub most_bytes: usize,
}

pub const TARGETS: &[Target] = &[
    Target { name: "read", run: read, seeds: seeds::logs, most_bytes: 400 },
    Target { name: "document", run: document, seeds: seeds::documents, most_bytes: 600 },
    Target { name: "html", run: html, seeds: seeds::html, most_bytes: 600 },
    Target { name: "latex", run: latex, seeds: seeds::latex, most_bytes: 600 },
    Target { name: "notebook", run: notebook, seeds: seeds::notebooks, most_bytes: 800 },
    Target { name: "campaign", run: campaign, seeds: seeds::campaigns, most_bytes: 2000 },
    Target { name: "platform", run: platform, seeds: seeds::platforms, most_bytes: 600 },
    Target { name: "journal", run: journal, seeds: seeds::journals, most_bytes: 600 },
    Target { name: "recovery", run: recovery::damage, seeds: recovery::seeds, most_bytes: 64 },
    Target { name: "stream", run: stream, seeds: seeds::streams, most_bytes: 600 },
    Target { name: "http", run: http, seeds: seeds::http, most_bytes: 600 },
    Target { name: "counters", run: counters, seeds: seeds::counters, most_bytes: 600 },
    Target { name: "checkpoint", run: checkpoint, seeds: seeds::checkpoints, most_bytes: 400 },
    Target { name: "bert", run: bert, seeds: seeds::bert_files, most_bytes: 400 },
    Target { name: "idx", run: images, seeds: seeds::images, most_bytes: 900 },
];

static READERS: LazyLock<Readers> = LazyLock::new(|| Readers::all(&[]));

/// Any bytes, in any pieces, through every dialect: as a file and as the two streams of a run. No number may be anything
/// but finite, and how the bytes are cut may not change what is read.
fn read(bytes: &[u8]) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let cut = usize::from(*first) * rest.len() / 256;
    document_as("fuzz.log", rest, cut);
    let mut reading = Reading::new(&READERS);
    reading.feed(Stream::Stdout, &rest[..cut]);
    let _ = reading.progress();
    reading.feed(Stream::Stderr, &rest[cut..]);
    for observation in reading.finish().observations {
        assert!(observation.value.is_finite());
    }
}

/// The same as a write-up or result file of every format.
fn document(bytes: &[u8]) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let cut = usize::from(*first) * rest.len() / 256;
    for name in
        ["a.md", "a.html", "a.tex", "a.ipynb", "a.csv", "a.tsv", "a.json", "a.jsonl", "a.rst", "a.txt"]
    {
        document_as(name, rest, cut);
    }
}

fn document_as(name: &str, bytes: &[u8], cut: usize) {
    let mut whole = DocumentReader::new(&READERS, name);
    whole.feed(bytes);
    let whole = whole.finish();
    let mut pieces = DocumentReader::new(&READERS, name);
    pieces.feed(&bytes[..cut]);
    pieces.feed(&bytes[cut..]);
    assert_eq!(whole, pieces.finish(), "{name} cut at {cut}");
    for run in &whole.runs {
        assert!(run.observations.iter().all(|observation| observation.value.is_finite()), "{name}");
        assert!(
            run.series.iter().all(|series| series.values.iter().all(|value| value.is_finite())),
            "{name}"
        );
        assert!(run.span.first <= run.span.last, "{name}");
    }
}

/// A page, however broken, is read the same in any pieces.
fn html(bytes: &[u8]) {
    in_pieces("a.html", bytes);
}

fn latex(bytes: &[u8]) {
    in_pieces("a.tex", bytes);
}

fn notebook(bytes: &[u8]) {
    in_pieces("a.ipynb", bytes);
}

fn in_pieces(name: &str, bytes: &[u8]) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    document_as(name, rest, usize::from(*first) * rest.len() / 256);
}

/// A stream of events and the chunks of its body.
fn stream(bytes: &[u8]) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let cut = usize::from(*first) * rest.len() / 256;
    assay_load::hostile::stream(rest, cut);
    assay_load::hostile::chunks(rest, cut);
}

/// Whole answers of a server, and requests of a client.
fn http(bytes: &[u8]) {
    assay_load::hostile::answer(bytes);
    assay_load::hostile::request(bytes);
}

/// A campaign file is understood, or every problem has a text.
fn campaign(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(problems) = Campaign::parse("fuzz.toml", &text, Path::new("/nowhere"), &Registry::default()) {
        assert!(!problems.to_string().is_empty());
    }
}

/// A platform file is understood, or every problem has a text.
fn platform(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(problems) = Catalog::parse("p.toml", &text) {
        assert!(!problems.to_string().is_empty());
    }
}

/// A journal is read to its end, and bytes that hold no entry are counted, never dropped in silence.
fn journal(bytes: &[u8]) {
    read_journal(bytes);
    // Random bytes never have a right checksum; with one, what is behind it is read too.
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| {
        let json = line.get(9..).unwrap_or_default();
        [format!("{:08x} ", recovery::checksum(json)).as_bytes(), json].concat()
    });
    read_journal(&lines.collect::<Vec<_>>().join(&b'\n'));
}

fn read_journal(bytes: &[u8]) {
    let mut reader = JournalReader::new(bytes, Path::new("journal.jsonl"));
    let mut entries = 0;
    let is_refused = loop {
        match reader.next_entry() {
            Ok(Some(_)) => entries += 1,
            Ok(None) => break false,
            Err(_) => break true,
        }
        assert!(entries <= bytes.len());
    };
    let counted = {
        let troubles = reader.troubles();
        is_refused
            || !troubles.damage.is_empty()
            || !troubles.interrupted.is_empty()
            || troubles.torn_tail.is_some()
    };
    assert!(entries > 0 || counted || bytes.is_empty(), "bytes were dropped without a word");
}

/// A server's page of counters: no number may be anything but finite, and none may go backwards within one page.
fn counters(bytes: &[u8]) {
    let counters = Counters::read(&String::from_utf8_lossy(bytes));
    assert!(counters.since(&counters).values().all(|value| *value == 0.0));
}

/// The header of a checkpoint. The first 8 bytes of such a file are a length that random bytes never get right, so it is
/// put before the input.
fn checkpoint(bytes: &[u8]) {
    let _ = read_header(bytes);
    let mut whole = (bytes.len() as u64).to_le_bytes().to_vec();
    whole.extend_from_slice(bytes);
    let _ = read_header(&whole);
}

/// The files of a BERT model: configuration, vocabulary, tokenizer, and a table of sentences. Every token has a number
/// that is in the vocabulary.
fn bert(bytes: &[u8]) {
    let _ = config::parse(bytes);
    let _ = csv_rows(bytes);
    let _ = from_json(bytes);
    if let Ok(tokens) = from_vocabulary(bytes, true)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        let encoded = tokens.encode(text, 16);
        assert!(
            encoded.is_ok_and(|encoded| encoded.ids.iter().all(|id| (*id as usize) < tokens.vocabulary()))
        );
    }
}

/// A file of images or labels. Its first 4 bytes are a number that random bytes seldom get right, so both are also put
/// before the input.
fn images(bytes: &[u8]) {
    let _ = (idx::images(bytes), idx::labels(bytes));
    for magic in [0x0803_u32, 0x0801] {
        let whole = [&magic.to_be_bytes()[..], bytes].concat();
        let _ = (idx::images(&whole), idx::labels(&whole));
    }
}
