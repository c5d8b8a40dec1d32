//! Files of a load, as private as the directory they are in: records are readable by their owner alone unless the owner
//! opens the directory to others.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Makes a file, or empties one that exists.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(mode_beside(path)).open(path)
}

/// Makes a file that does not exist yet.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode_beside(path)).open(path)
}

/// The mode of a file in this place; its owner's only where the directory cannot be asked.
fn mode_beside(path: &Path) -> u32 {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::metadata(parent).map_or(0o600, |directory| directory.permissions().mode() & 0o666)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_private_as_their_directory() {
        let place = tempfile::tempdir().unwrap();
        for (directory, file) in [(0o700, 0o600), (0o750, 0o640)] {
            fs::set_permissions(place.path(), fs::Permissions::from_mode(directory)).unwrap();
            for (name, make) in [("a", create as fn(&Path) -> io::Result<File>), ("b", create_new)] {
                let path = place.path().join(format!("{name}{directory:o}"));
                let made = make(&path).unwrap();
                assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, file, "{path:?}");
            }
        }
    }
}
