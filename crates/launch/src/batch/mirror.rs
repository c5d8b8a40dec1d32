//! Copies of the files of runs on another host: what they have written since the last look, all of them in one command.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use assay_campaign::shell::quoted;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::BatchLauncher;
use super::host::shell;

/// What is brought over of a file at once.
const PIECE: u64 = 4 << 20;

/// Sends what is new in each file: a line with directory, file and number of bytes, then the bytes. The file that says
/// that a run has ended comes last, so that the others are complete when it is there.
const SEND: &str = r#"while read -r directory name from; do
    file="$root/$directory/$name"
    [ -e "$file" ] || continue
    size=$(($(wc -c <"$file")))
    if [ "$size" -lt "$from" ]; then echo "$directory $name restart"; continue; fi
    count=$((size - from))
    [ "$count" -gt "$most" ] && count=$most
    [ "$count" -gt 0 ] || continue
    echo "$directory $name $count"
    tail -c "+$((from + 1))" "$file" | head -c "$count"
done
"#;

/// The files that are followed.
const FILES: [&str; 5] = ["stdout.log", "stderr.log", "trace", "times", "end"];

impl BatchLauncher {
    /// Brings the files of running runs up to date, where they are on another host.
    pub(super) fn mirror(&self, just_polled: bool) -> Result<(), String> {
        let Some(root) = self.root.as_ref().filter(|_| just_polled) else { return Ok(()) };
        let mut wanted = String::new();
        let mut directories = BTreeSet::new();
        for run in self.tasks.values().flat_map(|task| task.runs.front()) {
            let Some(directory) = self.relative(&run.job.directory) else { continue };
            for name in FILES {
                let size = run.job.directory.join(name).metadata().map_or(0, |file| file.len());
                wanted.push_str(&format!("{directory} {name} {size}\n"));
            }
            directories.insert(directory);
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let text = format!("root={}\nmost={PIECE}\n{SEND}", quoted(&root.display().to_string()));
        // Each piece comes with a line before it.
        let most = (directories.len() * FILES.len()) as u64 * (PIECE + 4096);
        let answer = self.host.run_up_to(most, &shell(&text), wanted.as_bytes())?;
        if !answer.is_success {
            return Err(format!("cannot follow runs {}: {}", self.host.place(), answer.reason()));
        }
        unpack(&self.record, &directories, &answer.stdout)
    }
}

/// Adds pieces to files of the runs in these directories, and to nothing else, whatever the other host sends.
fn unpack(record: &Path, directories: &BTreeSet<String>, mut bytes: &[u8]) -> Result<(), String> {
    let odd = || "the other host sent something unexpected".to_owned();
    while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
        let (line, rest) = bytes.split_at(end);
        bytes = rest.get(1..).unwrap_or_default();
        let line = std::str::from_utf8(line).map_err(|_| odd())?;
        let words: Vec<&str> = line.split(' ').collect();
        let [directory, name, count] = words.as_slice() else { return Err(odd()) };
        if !FILES.contains(name) || !directories.contains(*directory) {
            return Err(odd());
        }
        let failed = |error: io::Error| format!("cannot write {directory}/{name}: {error}");
        let open = open_directory(record, directory).map_err(failed)?;
        if *count == "restart" {
            let _ = unlinkat(&open, *name, AtFlags::empty());
            continue;
        }
        let count: usize = count.parse().map_err(|_| odd())?;
        let piece = bytes.get(..count).ok_or_else(odd)?;
        bytes = bytes.get(count..).unwrap_or_default();
        append(&open, name, piece).map_err(failed)?;
    }
    Ok(())
}

/// Opens a directory of the record. A link in its place, or on the way to it, is not followed.
fn open_directory(record: &Path, directory: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut open = openat(CWD, record, flags, Mode::empty())?;
    for name in directory.split('/') {
        open = openat(&open, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(open)
}

/// Adds to a regular file. A link or a pipe in its place is replaced.
fn append(directory: &OwnedFd, name: &str, piece: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let open = || openat(directory, name, flags, mode).map(File::from);
    let mut file = match open() {
        Err(Errno::LOOP | Errno::NXIO) => {
            unlinkat(directory, name, AtFlags::empty())?;
            open()?
        }
        other => other?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    file.write_all(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_added_to_their_files_and_to_no_others() {
        let record = tempfile::tempdir().unwrap();
        let run = record.path().join("runs/a/1");
        std::fs::create_dir_all(&run).unwrap();
        let runs = BTreeSet::from(["runs/a/1".to_owned()]);
        unpack(record.path(), &runs, b"runs/a/1 stdout.log 6\none\ntwruns/a/1 end 4\n0 1\n").unwrap();
        unpack(record.path(), &runs, b"runs/a/1 stdout.log 2\no\n").unwrap();
        assert_eq!(std::fs::read_to_string(run.join("stdout.log")).unwrap(), "one\ntwo\n");
        assert_eq!(std::fs::read_to_string(run.join("end")).unwrap(), "0 1\n");
        unpack(record.path(), &runs, b"runs/a/1 stdout.log restart\n").unwrap();
        assert!(!run.join("stdout.log").exists());
        for wrong in [
            "runs/../x stdout.log 1\nx",
            "runs/a/1 run.sh 1\nx",
            "/etc stdout.log 1\nx",
            "runs/a/1 end 9\nx",
            "runs/a/2 end 1\nx",
        ] {
            assert!(unpack(record.path(), &runs, wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
    #[test]
    fn links_are_not_followed() {
        let record = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let run = record.path().join("runs/a/1");
        std::fs::create_dir_all(&run).unwrap();
        let runs = BTreeSet::from(["runs/a/1".to_owned(), "runs/b/1".to_owned()]);
        let kept = outside.path().join("kept");
        std::fs::write(&kept, "kept").unwrap();
        std::os::unix::fs::symlink(&kept, run.join("stdout.log")).unwrap();
        unpack(record.path(), &runs, b"runs/a/1 stdout.log 1\nx").unwrap();
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "kept");
        assert_eq!(std::fs::read_to_string(run.join("stdout.log")).unwrap(), "x");
        std::fs::create_dir(outside.path().join("1")).unwrap();
        std::os::unix::fs::symlink(outside.path(), record.path().join("runs/b")).unwrap();
        assert!(unpack(record.path(), &runs, b"runs/b/1 stdout.log 1\nx").is_err());
        assert!(!outside.path().join("1/stdout.log").exists());
    }
}
