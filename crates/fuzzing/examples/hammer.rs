//! Random inputs through fuzz targets on stable Rust: `hammer INPUTS SEED [TARGET…]`, all targets unless some are named.
#![expect(clippy::print_stdout, reason = "an example prints what it did")]

use std::process::ExitCode;
use std::time::Instant;

use assay_fuzzing::{TARGETS, hammer};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
    let (Some(inputs), Some(seed)) = (number(), number()) else { return ExitCode::from(2) };
    let named: Vec<String> = arguments.collect();
    for target in
        TARGETS.iter().filter(|target| named.is_empty() || named.iter().any(|name| name == target.name))
    {
        let began = Instant::now();
        hammer(target, inputs as usize, seed);
        println!("{}: {inputs} inputs in {:.0} s", target.name, began.elapsed().as_secs_f64());
    }
    ExitCode::SUCCESS
}
