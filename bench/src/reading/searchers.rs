//! The reader and its rivals: programs that search the same file for the same things.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::Place;

/// One program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searcher {
    /// The program that is measured.
    Assay,
    /// GNU grep, counting lines with one of the keys.
    Grep,
    /// ripgrep, likewise, with the file mapped into memory.
    RipgrepMapped,
    /// ripgrep, likewise, with the file read piece by piece.
    RipgrepRead,
    /// A script with regular expressions that collects the same values.
    Python,
}

/// All of them, in the order of the table.
pub const ALL: [Searcher; 5] =
    [Searcher::Assay, Searcher::Grep, Searcher::RipgrepMapped, Searcher::RipgrepRead, Searcher::Python];

/// Texts by which a reader finds values, over the kinds of logs that are read here.
const KEYS: [&str; 8] = [
    "| Train Device=",
    "sample(s) in ",
    "Effective batch size is",
    "current job status: ",
    "Compile was successful",
    "it/s",
    "s/it",
    "Accuracy on test set: ",
];

impl Searcher {
    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Searcher::Assay => "assay read",
            Searcher::Grep => "grep -c",
            Searcher::RipgrepMapped => "rg -c --mmap",
            Searcher::RipgrepRead => "rg -c --no-mmap",
            Searcher::Python => "Python script",
        }
    }

    /// Where the program is; none if it is missing.
    pub fn program(self, place: &Place) -> Option<PathBuf> {
        match self {
            Searcher::Assay => Some(place.assay.clone()),
            Searcher::Grep => find("grep"),
            Searcher::RipgrepMapped | Searcher::RipgrepRead => find("rg"),
            Searcher::Python => script().and(find("python3")),
        }
    }

    /// How to get the program.
    pub fn installation(self) -> &'static str {
        match self {
            Searcher::Assay => "cargo build --release -p assay",
            Searcher::Grep => "apt-get install grep",
            Searcher::RipgrepMapped | Searcher::RipgrepRead => "apt-get install ripgrep",
            Searcher::Python => "apt-get install python3, and run the bench from a checkout",
        }
    }

    /// How many of these rounds to measure: the script takes its time.
    pub fn rounds(self, rounds: usize) -> usize {
        if self == Searcher::Python { rounds.div_ceil(3) } else { rounds }
    }

    /// The command that goes over a file. Rivals get the settings that make them fastest: bytes instead of
    /// characters, fixed texts instead of patterns.
    pub fn command(self, program: &Path, file: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("LC_ALL", "C");
        match self {
            Searcher::Assay => {
                command.args(["read", "--json"]);
            }
            Searcher::Grep => {
                command.args(["-c", "-F", "--text"]).args(keys());
            }
            Searcher::RipgrepMapped => {
                command.args(["-c", "-F", "--text", "--no-config", "--mmap"]).args(keys());
            }
            Searcher::RipgrepRead => {
                command.args(["-c", "-F", "--text", "--no-config", "--no-mmap"]).args(keys());
            }
            Searcher::Python => {
                command.args(script());
            }
        }
        command.arg(file);
        command
    }

    /// Whether an exit code of 1 means that nothing was found, which is not a failure.
    pub fn may_find_nothing(self) -> bool {
        matches!(self, Searcher::Grep | Searcher::RipgrepMapped | Searcher::RipgrepRead)
    }
}

fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.into_iter().flat_map(|key| ["-e", key])
}

/// The script, in the checkout that this bench was built from.
fn script() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/read_log.py");
    path.is_file().then_some(path)
}

fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}
