//! The program that a run starts and the files its command names, identified by their content: runs of a changed program
//! are not repeats of those before.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use assay_campaign::{Invocation, Shell};
use assay_model::UsedFile;
use assay_model::identity::hash_reader;
use assay_store::secrets::Secrets;

use crate::tools;

/// Larger files are known by their size and time of change: reading them before a run would warm or empty the page cache.
const LARGEST_READ: u64 = 32 << 20;
/// The most files of one command that are looked at.
const MOST_FILES: usize = 16;

/// What says that a file is still the same without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed_s: i64,
    changed_ns: i64,
}

impl Stamp {
    /// The stamp of a regular file; none for anything else.
    fn of(path: &Path) -> Option<Stamp> {
        let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Stamp {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            changed_s: data.mtime(),
            changed_ns: data.mtime_nsec(),
        })
    }
}

/// Contents that were read before: a program of a thousand runs is read once.
static KNOWN: LazyLock<Mutex<BTreeMap<Stamp, String>>> = LazyLock::new(Mutex::default);

/// The files of one run as they were before it began.
#[derive(Debug, Default)]
pub(crate) struct Files {
    found: Vec<(PathBuf, Stamp, UsedFile)>,
}

impl Files {
    /// Looks at the files that a command names. Files below `without`, the run directory, are made for the run.
    pub(crate) fn before(invocation: &Invocation, without: &Path) -> Files {
        let mut found: Vec<(PathBuf, Stamp, UsedFile)> = Vec::new();
        for (name, path) in named(invocation) {
            let is_known = found.iter().any(|(known, ..)| *known == path);
            if is_known || path.starts_with(without) || found.len() == MOST_FILES {
                continue;
            }
            if let Some(stamp) = Stamp::of(&path)
                && let Some(content) = content(&path, stamp)
            {
                found.push((path, stamp, UsedFile { name, content }));
            }
        }
        Files { found }
    }

    /// Those that the run did not change itself: what it writes is not input.
    pub(crate) fn after(self, secrets: &Secrets) -> Vec<UsedFile> {
        let unchanged = |(path, stamp, _): &(PathBuf, Stamp, UsedFile)| Stamp::of(path) == Some(*stamp);
        let masked =
            |(.., file): (PathBuf, Stamp, UsedFile)| UsedFile { name: secrets.mask(&file.name), ..file };
        self.found.into_iter().filter(unchanged).map(masked).collect()
    }
}

/// What identifies the content of a file; none if it cannot be read.
fn content(path: &Path, stamp: Stamp) -> Option<String> {
    if stamp.size > LARGEST_READ {
        return Some(format!("{} bytes of {}.{:09}", stamp.size, stamp.changed_s, stamp.changed_ns));
    }
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&stamp).cloned();
    if known.is_some() {
        return known;
    }
    let mut hash = hash_reader(File::open(path).ok()?).ok()?;
    hash.truncate(16);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(stamp, hash.clone());
    Some(hash)
}

/// The words of a command that may name files, with the paths they would have. Programs are looked for on the search path.
fn named(invocation: &Invocation) -> Vec<(String, PathBuf)> {
    let mut all = Vec::new();
    let mut add = |word: &str, is_program: bool| {
        // `--data=FILE` and `DATA=FILE` name a file, too.
        let word = word.rsplit_once('=').map_or(word, |(_, value)| value);
        if word.is_empty() {
            return;
        }
        if is_program && !word.contains('/') {
            let path = program(word);
            all.extend(path.map(|path| (path.display().to_string(), path)));
        } else {
            all.push((word.to_owned(), invocation.directory.join(word)));
        }
    };
    match invocation.shell {
        Shell::None => {
            for (place, word) in invocation.arguments.iter().enumerate() {
                add(word, place == 0);
            }
        }
        Shell::Sh | Shell::Bash => {
            for (word, is_program) in shell_words(&invocation.command) {
                add(&word, is_program);
            }
        }
    }
    all
}

/// The file of a program on the search path. It is looked for again only when it is gone: looking through all
/// directories before every run would cost a short one more than the rest of this file.
fn program(name: &str) -> Option<PathBuf> {
    static FOUND: LazyLock<Mutex<BTreeMap<String, PathBuf>>> = LazyLock::new(Mutex::default);
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = found.get(name).filter(|path| path.is_file()) {
        return Some(path.clone());
    }
    let path = tools::program(name)?;
    found.insert(name.to_owned(), path.clone());
    Some(path)
}

/// The plain words of a shell command, and whether each stands where a program does. It need not be exact: words that
/// name no file are dropped, and what a shell computes is not known before it runs.
fn shell_words(command: &str) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    let mut starts_command = true;
    for part in command.split_inclusive([';', '|', '&', '\n', '(', ')']) {
        let text = part.trim_end_matches([';', '|', '&', '\n', '(', ')']);
        for word in text.split_whitespace() {
            let word = word.trim_matches(['"', '\'', '<']);
            // `NAME=value program`: an assignment leaves the place of the program to the next word.
            let is_assignment = starts_command && word.contains('=') && !word.starts_with('-');
            words.push((word.to_owned(), starts_command && !is_assignment));
            starts_command &= is_assignment;
        }
        starts_command |= part.len() > text.len();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<(String, bool)> {
        shell_words(command).into_iter().filter(|(word, _)| !word.is_empty()).collect()
    }

    #[test]
    fn programs_stand_first_and_behind_separators() {
        let of = |command: &str| -> Vec<String> {
            words(command).into_iter().filter(|(_, is_program)| *is_program).map(|(word, _)| word).collect()
        };
        assert_eq!(of("./solve --input 'data.bin'"), ["./solve"]);
        assert_eq!(of("OMP_NUM_THREADS=2 ./solve | tee log"), ["./solve", "tee"]);
        assert_eq!(of("cd x && python3 train.py"), ["cd", "python3"]);
    }

    fn invocation(directory: &Path, command: &str) -> Invocation {
        Invocation {
            command: command.to_owned(),
            shell: Shell::Sh,
            arguments: Vec::new(),
            directory: directory.to_owned(),
            environment: BTreeMap::new(),
            files: Vec::new(),
            timeout: None,
            grace: std::time::Duration::ZERO,
            pin: Vec::new(),
            group_memory: false,
            compact: false,
            follow: Vec::new(),
            recording: None,
            prepare: None,
            cleanup: None,
        }
    }

    #[test]
    fn inputs_are_known_by_content_and_outputs_are_left_out() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
        write("train.py", "one");
        write("data.bin", "two");
        write("out.json", "old");
        let invocation =
            invocation(place.path(), "sh train.py --data=data.bin --steps 3 -o out.json missing.txt");
        let elsewhere = place.path().join("runs");
        let files = Files::before(&invocation, &elsewhere);
        write("out.json", "new and longer");
        let first = files.after(&Secrets::default());
        let names: Vec<&str> = first.iter().map(|file| file.name.as_str()).collect();
        assert!(names[0].ends_with("/sh"), "{names:?}");
        assert_eq!(names[1..], ["train.py", "data.bin"]);
        assert_eq!(first[1].content.len(), 16);
        write("train.py", "another text");
        let second = Files::before(&invocation, &elsewhere).after(&Secrets::default());
        assert_eq!(first[2], second[2]);
        assert_ne!(first[1].content, second[1].content);
    }
}
