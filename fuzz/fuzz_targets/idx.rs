//! Any bytes as a file of images or labels. The first 4 bytes of such a file are a number that random bytes seldom get
//! right, so both are also put before the input.

#![no_main]

use assay_workloads::data::idx;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = (idx::images(bytes), idx::labels(bytes));
    for magic in [0x0803_u32, 0x0801] {
        let whole = [&magic.to_be_bytes()[..], bytes].concat();
        let _ = (idx::images(&whole), idx::labels(&whole));
    }
});
