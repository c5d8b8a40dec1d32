//! A directory of our own for what the adapter writes out, removed at the end.

use std::fs::DirBuilder;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::WorkloadError;

/// A private directory, removed with all it holds when dropped.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Makes a new directory that only this user can open, in the place for temporary files.
    pub(super) fn new() -> Result<Directory, WorkloadError> {
        let base = std::env::temp_dir();
        for number in 0..10_000 {
            let path = base.join(format!("assay-torch-{}-{number}", std::process::id()));
            match private(&path) {
                Ok(()) => return Ok(Directory(path)),
                // Another run of this process, or the rest of an older process with the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(WorkloadError::file("make", &path, error)),
            }
        }
        Err(WorkloadError::file("make a directory in", &base, "all names are taken"))
    }

    /// Writes a file into it, in pieces, and gives its path.
    pub(super) fn write(
        &self,
        name: &str,
        pieces: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<PathBuf, WorkloadError> {
        let path = self.0.join(name);
        let written = || -> Result<(), Error> {
            let mut file = std::io::BufWriter::new(std::fs::File::create_new(&path)?);
            pieces.into_iter().try_for_each(|piece| file.write_all(piece.as_ref()))?;
            file.flush()
        };
        written().map_err(|error| WorkloadError::file("write", &path, error))?;
        Ok(path)
    }

    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed lies in the place for temporary files, which the system clears.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn private(path: &Path) -> Result<(), Error> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_directories_differ_are_private_and_vanish() {
        let (first, second) = (Directory::new().unwrap(), Directory::new().unwrap());
        assert_ne!(first.path(), second.path());
        let file = first.write("a", ["1", "2"]).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"12");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(first.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        assert!(first.write("a", ["3"]).is_err(), "a file that is there already is not written over");
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
    }
}
