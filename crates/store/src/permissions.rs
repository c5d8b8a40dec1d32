//! Who may read a record. A new record is for its owner alone; the group may read it if its directory says so, and
//! nobody else ever may.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::regular;

/// What the group may do, by the permissions of the record's directory.
const GROUP_READ: u32 = 0o040;

/// The modes of directories and files in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordPermissions {
    directory: u32,
    file: u32,
}

impl RecordPermissions {
    /// Only the owner.
    pub const PRIVATE: RecordPermissions = RecordPermissions { directory: 0o700, file: 0o600 };
    /// The group may read.
    pub const GROUP_READABLE: RecordPermissions = RecordPermissions { directory: 0o750, file: 0o640 };

    /// Those that the directory of a record asks for.
    pub fn of(record: &Path) -> RecordPermissions {
        match fs::metadata(record) {
            Ok(found) if found.mode() & GROUP_READ != 0 => RecordPermissions::GROUP_READABLE,
            _ => RecordPermissions::PRIVATE,
        }
    }

    /// Makes a directory, and those above it that are missing.
    pub fn create_directory(self, path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(self.directory).create(path)
    }

    /// Makes a directory that must not exist yet, and those above it that are missing.
    pub fn create_new_directory(self, path: &Path) -> io::Result<()> {
        if let Some(parent) = path.parent() {
            self.create_directory(parent)?;
        }
        fs::DirBuilder::new().mode(self.directory).create(path)
    }

    /// Makes sure that a file holds these bytes, and that its directory exists. Whoever reads it meanwhile finds the old
    /// content or the new.
    pub fn ensure_file(self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if regular::read(path, bytes.len() as u64).is_ok_and(|found| found == bytes) {
            return Ok(());
        }
        let directory = path.parent().unwrap_or(Path::new("."));
        self.create_directory(directory)?;
        let mut made = tempfile::Builder::new();
        let mut made = made.permissions(fs::Permissions::from_mode(self.file)).tempfile_in(directory)?;
        made.write_all(bytes)?;
        made.persist(path).map_err(|error| error.error).map(drop)
    }

    /// Makes or empties a file for writing.
    pub fn create_file(self, path: &Path) -> io::Result<File> {
        create(self.options().write(true), path)
    }

    /// Makes or empties a file for writing and reading back.
    pub fn create_readable_file(self, path: &Path) -> io::Result<File> {
        create(self.options().read(true).write(true), path)
    }

    /// Options that give a file that is made these permissions.
    pub(crate) fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.mode(self.file);
        options
    }

    /// Gives a record, with everything in it, these permissions. Links are left alone.
    pub fn apply(self, path: &Path) -> io::Result<()> {
        let found = fs::symlink_metadata(path)?;
        if found.is_dir() {
            fs::set_permissions(path, fs::Permissions::from_mode(self.directory))?;
            for entry in fs::read_dir(path)? {
                self.apply(&entry?.path())?;
            }
        } else if found.is_file() {
            // Scripts of runs stay executable for whoever may read them.
            let executable = found.mode() & 0o100;
            let mode = self.file | executable | (executable >> 3 & (self.file >> 2));
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }
}

/// Makes or empties a file. A link or a pipe in its place, which a run may have put there, is replaced: writing through
/// it would change a file somewhere else or never end.
fn create(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Nearly all files are new.
    match options.create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    options.create_new(false);
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => fs::remove_file(path)?,
        _ => {}
    }
    options.create(true).truncate(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)
}
