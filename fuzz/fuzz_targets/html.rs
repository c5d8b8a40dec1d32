//! The target `html` of `crates/fuzzing`.

#![no_main]

use assay_fuzzing::target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(target) = target("html") {
        (target.run)(bytes);
    }
});
