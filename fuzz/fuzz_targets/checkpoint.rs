//! Any bytes as a checkpoint's header. The first 8 bytes of such a file are a length that random bytes never get right,
//! so it is put before the input.

#![no_main]

use assay_workloads::lm::checkpoint::read_header;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_header(bytes);
    let mut whole = (bytes.len() as u64).to_le_bytes().to_vec();
    whole.extend_from_slice(bytes);
    let _ = read_header(&whole);
});
