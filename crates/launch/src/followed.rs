//! One file that a run writes its log to: followed, and copied into the run directory.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use assay_store::RecordPermissions;

use crate::follow::Follower;

/// A file that is followed.
pub struct Followed {
    path: PathBuf,
    /// The number under which the reading of the run knows it.
    number: usize,
    follower: Follower,
    /// The copy in the run directory, made when there is something to put into it.
    copy: PathBuf,
    permissions: RecordPermissions,
    kept: Option<File>,
}

impl Followed {
    /// Follows a file that the reading of a run knows by a number.
    pub fn new(
        path: &Path,
        number: usize,
        follower: Follower,
        copy: PathBuf,
        permissions: RecordPermissions,
    ) -> Followed {
        Followed { path: path.to_owned(), number, follower, copy, permissions, kept: None }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps what was added to the file, and hands it on with the file's number. Gives whether there may be more already.
    pub fn look(&mut self, take: &mut dyn FnMut(usize, &[u8])) -> io::Result<bool> {
        let Followed { number, follower, copy, permissions, kept, .. } = self;
        follower.look(&mut |bytes| {
            let file = match kept {
                Some(file) => file,
                None => kept.insert(permissions.create_file(copy)?),
            };
            file.write_all(bytes)?;
            take(*number, bytes);
            Ok(())
        })
    }

    /// Ends the following and syncs the copy, if asked.
    pub fn finish(self, sync: bool) -> io::Result<()> {
        match self.kept {
            Some(file) if sync => file.sync_data(),
            _ => Ok(()),
        }
    }
}
