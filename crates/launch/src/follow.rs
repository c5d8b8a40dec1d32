//! Files that a run writes its log to instead of to its output: named by the campaign, or by the output itself. They
//! are read as they grow; they may come late, be cut short or be replaced while the run goes on.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Reads one growing file.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    open: Option<OpenFile>,
    /// What stood in the file before the run began, which is none of this run's.
    before: Option<(Identity, u64)>,
    /// Whether the last byte read ended a line.
    at_line_start: bool,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    identity: Identity,
    offset: u64,
}

/// Device and number of a file: a file of the same name that was made again has another.
type Identity = (u64, u64);

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;
/// Bytes that are read in one look, so that a fast writer cannot keep the reader from anything else.
const LOOK: u64 = 16 * 1024 * 1024;

impl Follower {
    /// Follows a file that a campaign names, from what is added to it from now on.
    pub fn from_now(path: &Path) -> Follower {
        let before = regular(path).map(|found| (identity(&found), found.len()));
        Follower { path: path.to_owned(), open: None, before, at_line_start: true }
    }

    /// Follows a file that the output of a run names. The run made it, unless it is older than the run: then what stands
    /// in it already may be of another run.
    pub fn since(path: &Path, began: SystemTime) -> Follower {
        let old = |found: &Metadata| found.created().is_ok_and(|created| created < began);
        let before = regular(path).filter(old).map(|found| (identity(&found), found.len()));
        Follower { path: path.to_owned(), open: None, before, at_line_start: true }
    }

    /// Hands on what was added since the last look. Gives whether there may be more already.
    pub fn look(&mut self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<bool> {
        let mut read = 0;
        loop {
            if self.open.is_none() {
                self.open = self.open_file();
            }
            read += self.read(take, LOOK.saturating_sub(read))?;
            if read >= LOOK {
                return Ok(true);
            }
            if !self.begin_again() {
                return Ok(false);
            }
            if !self.at_line_start {
                // The end of the old file and the start of the new one are not one line.
                take(b"\n")?;
                self.at_line_start = true;
            }
        }
    }

    fn open_file(&mut self) -> Option<OpenFile> {
        // Only regular files: opening a pipe would wait, and a device has no end.
        regular(&self.path)?;
        let file = File::open(&self.path).ok()?;
        let identity = identity(&file.metadata().ok()?);
        let before = self.before.take().filter(|(known, _)| *known == identity);
        Some(OpenFile { file, identity, offset: before.map_or(0, |(_, length)| length) })
    }

    fn read(&mut self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>, most: u64) -> io::Result<u64> {
        let Some(open) = &mut self.open else { return Ok(0) };
        let mut buffer = vec![0; CHUNK];
        let mut read = 0;
        while read < most {
            let count = match open.file.read_at(&mut buffer, open.offset) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // A file that cannot be read now may be readable at the next look.
                Err(_) => break,
            };
            let bytes = buffer.get(..count).unwrap_or_default();
            self.at_line_start = bytes.last() == Some(&b'\n');
            open.offset += count as u64;
            read += count as u64;
            take(bytes)?;
        }
        Ok(read)
    }

    /// After all was read: whether the file was cut short or replaced, so that it begins again.
    fn begin_again(&mut self) -> bool {
        let Some(open) = &mut self.open else { return false };
        let Some(found) = regular(&self.path) else { return false };
        if identity(&found) != open.identity {
            self.open = None;
            return true;
        }
        if found.len() < open.offset {
            open.offset = 0;
            return true;
        }
        false
    }
}

fn regular(path: &Path) -> Option<Metadata> {
    std::fs::metadata(path).ok().filter(Metadata::is_file)
}

fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn look(follower: &mut Follower) -> String {
        let mut bytes = Vec::new();
        let more = follower.look(&mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        assert!(!more.unwrap());
        String::from_utf8(bytes).unwrap()
    }

    fn append(path: &Path, text: &str) {
        let mut file = File::options().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_late_file_is_read_as_it_grows() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.log");
        let mut follower = Follower::from_now(&path);
        assert_eq!(look(&mut follower), "");
        append(&path, "one\ntw");
        assert_eq!(look(&mut follower), "one\ntw");
        assert_eq!(look(&mut follower), "");
        append(&path, "o\n");
        assert_eq!(look(&mut follower), "o\n");
    }

    #[test]
    fn what_stood_there_before_is_not_of_this_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.log");
        append(&path, "old\n");
        let mut follower = Follower::from_now(&path);
        append(&path, "new\n");
        assert_eq!(look(&mut follower), "new\n");
        let before = SystemTime::now() - std::time::Duration::from_secs(60);
        assert_eq!(look(&mut Follower::since(&path, before)), "old\nnew\n");
        // Named by the output of a run that began after the file was made, where the system knows when that was.
        if std::fs::metadata(&path).unwrap().created().is_ok() {
            let mut follower = Follower::since(&path, SystemTime::now());
            append(&path, "newer\n");
            assert_eq!(look(&mut follower), "newer\n");
        }
    }

    #[test]
    fn a_file_that_is_cut_short_begins_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.log");
        append(&path, "a long first part");
        let mut follower = Follower::since(&path, SystemTime::UNIX_EPOCH);
        assert_eq!(look(&mut follower), "a long first part");
        std::fs::write(&path, "short\n").unwrap();
        assert_eq!(look(&mut follower), "\nshort\n");
        append(&path, "cut");
        assert_eq!(look(&mut follower), "cut");
        std::fs::write(&path, "").unwrap();
        assert_eq!(look(&mut follower), "\n");
        append(&path, "more\n");
        assert_eq!(look(&mut follower), "more\n");
    }

    #[test]
    fn a_file_that_is_replaced_is_read_to_its_end_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.log");
        append(&path, "one\n");
        let mut follower = Follower::since(&path, SystemTime::UNIX_EPOCH);
        assert_eq!(look(&mut follower), "one\n");
        append(&path, "two\n");
        std::fs::rename(&path, directory.path().join("job.log.1")).unwrap();
        append(&path, "three\n");
        assert_eq!(look(&mut follower), "two\nthree\n");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(look(&mut follower), "");
        append(&path, "four\n");
        assert_eq!(look(&mut follower), "four\n");
    }

    #[test]
    fn pipes_and_directories_are_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(look(&mut Follower::from_now(directory.path())), "");
        assert_eq!(look(&mut Follower::from_now(Path::new("/dev/zero"))), "");
    }
}
