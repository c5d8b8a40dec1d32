//! Writes the seeds of a fuzz target to a directory, a file each: `seeds TARGET DIRECTORY`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, directory] = arguments.as_slice() else { return ExitCode::from(2) };
    let Some(target) = assay_fuzzing::target(name) else { return ExitCode::from(2) };
    for (number, seed) in (target.seeds)().iter().enumerate() {
        if std::fs::write(Path::new(directory).join(format!("{number}")), seed).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
