//! Opening files of a record that a stranger may have made. A pipe in the place of a file would be waited for without
//! end, and a device may never end: only regular files are opened.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a file of a record for reading if it is a regular one, and no link to a file elsewhere.
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    let found = fs::symlink_metadata(path)?;
    if found.is_file() { open(path) } else { Err(not_regular()) }
}

/// Opens a file for reading if it is a regular one.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    Ok(open_with_size(OpenOptions::new().read(true), OFlags::empty(), path)?.0)
}

/// Opens a file for writing if it is a regular one. What is written through a link would change a file elsewhere.
pub(crate) fn open_to_write(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    Ok(open_with_size(options, OFlags::NOFOLLOW, path)?.0)
}

fn open_with_size(options: &mut OpenOptions, flags: OFlags, path: &Path) -> io::Result<(File, u64)> {
    // Opening a pipe waits for its other end unless this is set; regular files ignore it.
    let flags = OFlags::NONBLOCK | flags;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path).map_err(|error| {
        let found = Errno::from_io_error(&error);
        // A socket, a device without a driver, a pipe without a reader; a link where none may be.
        if matches!(found, Some(Errno::NXIO | Errno::LOOP)) { not_regular() } else { error }
    })?;
    let found = file.metadata()?;
    if found.is_file() { Ok((file, found.len())) } else { Err(not_regular()) }
}

/// Reads a whole file if it is a regular one of at most this many bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_with_size(OpenOptions::new().read(true), OFlags::empty(), path)?;
    if size > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than this program ever writes it"));
    }
    // With room for all of it, one call reads it: scripts are checked before every short run.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    io::Read::read_to_end(&mut io::Read::take(file, most), &mut bytes)?;
    Ok(bytes)
}

/// Whether something other than a regular file has this name, for libraries that open files by name and follow links.
pub(crate) fn is_other(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_file())
}

pub(crate) fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}
