//! Small files of a run directory or a record, which a run or a stranger may have replaced: only regular files up to a
//! size are read, so that a pipe is not waited for and a device does not fill the memory.

use std::io::{self, Read};
use std::path::Path;

/// Reads a whole file if it is a regular one of at most this many bytes, and no link.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = assay_store::open_unlinked(path)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {most} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_regular_files_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("file"), "12345").unwrap();
        assert_eq!(read(&path("file"), 5).unwrap(), b"12345");
        assert_eq!(read(&path("file"), 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        std::os::unix::fs::symlink("/dev/zero", path("link")).unwrap();
        std::os::unix::fs::symlink(path("file"), path("other")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RUSR).unwrap();
        std::fs::create_dir(path("directory")).unwrap();
        for name in ["link", "other", "pipe", "directory", "missing"] {
            assert!(read(&path(name), 5).is_err(), "{name}");
        }
    }
}
