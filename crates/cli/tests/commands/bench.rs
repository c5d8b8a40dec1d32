//! A directory of its own for each test, in which commands are run as a user would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program under test.
pub const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

/// A place to try commands in.
pub struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    /// An empty place.
    pub fn new() -> Bench {
        Bench { directory: tempfile::tempdir().unwrap() }
    }

    /// Puts a file there.
    pub fn file(self, name: &str, text: &str) -> Bench {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// A path there.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What a file there holds.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// A command, ready to start. It sees no settings of whoever runs the tests.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(ASSAY);
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory.path());
        command
    }

    /// Runs a command; gives its exit code and all it prints, with what changes from run to run filtered out.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        self.filtered(&output)
    }

    /// How many files of a name are below a directory.
    pub fn count(&self, below: &str, name: &str) -> usize {
        fn walk(directory: &Path, name: &str) -> usize {
            let entries = std::fs::read_dir(directory).unwrap().flatten();
            entries
                .map(|entry| match entry.path().is_dir() {
                    true => walk(&entry.path(), name),
                    false => usize::from(entry.file_name() == name),
                })
                .sum()
        }
        walk(&self.path(below), name)
    }

    /// All files below the directory of the test.
    pub fn all_files(&self) -> Vec<PathBuf> {
        fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { walk(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        walk(&self.path(""), &mut found);
        found
    }

    /// The files of this name below a directory of the test.
    pub fn files(&self, below: &str, name: &str) -> Vec<PathBuf> {
        let below = self.path(below);
        let is_meant =
            |path: &PathBuf| path.starts_with(&below) && path.file_name().is_some_and(|file| file == name);
        self.all_files().into_iter().filter(is_meant).collect()
    }

    fn filtered(&self, output: &Output) -> String {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut text = format!(
            "exit code {}\n--- stdout\n{}--- stderr\n{}",
            output.status.code().unwrap(),
            text(&output.stdout),
            text(&output.stderr)
        );
        let directory = self.directory.path().canonicalize().unwrap();
        for path in [directory.display().to_string(), self.directory.path().display().to_string()] {
            text = text.replace(&path, "DIRECTORY");
        }
        for (pattern, replacement) in FILTERS {
            text = regex::Regex::new(pattern).unwrap().replace_all(&text, *replacement).into_owned();
        }
        text
    }
}

/// What changes from run to run or from machine to machine, with the width of its column.
const FILTERS: &[(&str, &str)] = &[
    (r"  wall +", "  wall  "),
    (r"(r[0-9.]+  )[0-9.]+ (µs|ms|s)  ", "${1}TIME  "),
    (r"(succeeded +)[0-9.]+ (µs|ms|s) +", "${1}TIME  "),
    (r"(timed out after 0.3 s +)[0-9.]+ (µs|ms|s) +", "${1}TIME  "),
    (r"(exit code 3 +)[0-9.]+ (µs|ms|s) +", "${1}TIME  "),
    (r"about [0-9][0-9a-z. ]* one at a time", "about TIME one at a time"),
];
