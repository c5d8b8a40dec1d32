//! Any bytes, in any pieces, through every dialect: as a file and as the two streams of a run. Nothing may panic, no
//! number may be anything but finite, and how the bytes are cut may not change what is read.

#![no_main]

use std::sync::LazyLock;

use assay_evidence::{DocumentReader, Readers, Reading, Stream};
use libfuzzer_sys::fuzz_target;

static READERS: LazyLock<Readers> = LazyLock::new(|| Readers::all(&[]));

fuzz_target!(|bytes: &[u8]| {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let cut = usize::from(*first) * rest.len() / 256;

    let mut whole = DocumentReader::new(&READERS, "fuzz.log");
    whole.feed(rest);
    let whole = whole.finish();
    let mut pieces = DocumentReader::new(&READERS, "fuzz.log");
    pieces.feed(&rest[..cut]);
    pieces.feed(&rest[cut..]);
    assert_eq!(whole, pieces.finish());
    for run in &whole.runs {
        assert!(run.observations.iter().all(|observation| observation.value.is_finite()));
        assert!(run.series.iter().all(|series| series.values.iter().all(|value| value.is_finite())));
        assert!(run.span.first <= run.span.last);
    }

    let mut reading = Reading::new(&READERS);
    reading.feed(Stream::Stdout, &rest[..cut]);
    let _ = reading.progress();
    reading.feed(Stream::Stderr, &rest[cut..]);
    for observation in reading.finish().observations {
        assert!(observation.value.is_finite());
    }
});
