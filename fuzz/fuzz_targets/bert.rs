//! Any bytes as the files of a BERT model: configuration, vocabulary, tokenizer, and a table of sentences.

#![no_main]

use assay_workloads::bert::config;
use assay_workloads::bert::sentences::csv_rows;
use assay_workloads::bert::tokens::{from_json, from_vocabulary};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
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
});
