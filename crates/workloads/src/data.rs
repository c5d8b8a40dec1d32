//! Data sets by name: what they consist of, where they are looked for, whether they are whole, and how to get them.
//!
//! Nothing is downloaded here. A data set lies in a folder of its name below one of the data directories: `$ASSAY_DATA`,
//! `assay/data` in the user's directory for data, and where packages of the system put data sets.
//!
//! | file | holds |
//! |---|---|
//! | `known.rs` | the table of data sets |
//! | `files.rs` | reading files, plain or compressed |
//! | `idx.rs` | the format of MNIST and its kin |
//! | `images.rs` | images with labels |
//! | `digits.rs` | digits drawn from a seed, for machines that have no data |

pub mod digits;
mod files;
pub mod idx;
pub mod images;
pub mod known;

use std::path::{Path, PathBuf};

pub use images::{Images, Loaded};
pub use known::{DATA_SETS, DataSet, KnownFile};

/// The environment variable that names the data directory.
pub const VARIABLE: &str = "ASSAY_DATA";

/// Where packages of the system put data sets.
const SYSTEM: &str = "/usr/share/datasets";

/// How whole a data set is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataState {
    /// Every file is there and is the published one.
    Genuine,
    /// Every file is there and can be used, but some are not the published ones.
    Other,
    /// Something is missing or broken: what, and where.
    Incomplete(String),
    /// There is no file of it in any of the places.
    Absent,
}

impl DataState {
    /// The state in words.
    pub fn words(&self) -> &'static str {
        match self {
            DataState::Genuine => "complete and genuine",
            DataState::Other => "complete, not the published files",
            DataState::Incomplete(_) => "incomplete",
            DataState::Absent => "not there",
        }
    }
}

/// Where a data set lies, and how whole it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSetFiles {
    /// The folder, where there is one.
    pub folder: Option<PathBuf>,
    /// How whole it is there.
    pub state: DataState,
}

/// The data directories, in the order in which they are looked at.
pub fn directories() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || Some(variable("HOME")?.join(".local/share"));
    let user = variable("XDG_DATA_HOME").or_else(home).map(|directory| directory.join("assay/data"));
    variable(VARIABLE).into_iter().chain(user).chain([PathBuf::from(SYSTEM)]).collect()
}

impl DataSet {
    pub fn named(name: &str) -> Option<&'static DataSet> {
        DATA_SETS.iter().find(|set| set.name == name)
    }

    /// The folders in which it is looked for, in this order.
    pub fn folders(&self) -> Vec<PathBuf> {
        directories().into_iter().map(|directory| directory.join(self.name)).collect()
    }

    /// The first of its folders that has any of its files.
    pub fn folder(&self) -> Option<PathBuf> {
        let has_any =
            |folder: &PathBuf| self.files.iter().any(|file| files::find(folder, file.name).is_some());
        self.folders().into_iter().find(has_any)
    }

    /// Looks where it lies, and reads all of it to find out how whole it is.
    pub fn look(&self) -> DataSetFiles {
        match self.folder() {
            Some(folder) => DataSetFiles { state: self.state(&folder), folder: Some(folder) },
            None => DataSetFiles { folder: None, state: DataState::Absent },
        }
    }

    /// How whole the files in a folder are.
    pub fn state(&self, folder: &Path) -> DataState {
        match (self.read)(folder) {
            Ok(digests) if self.is_genuine(&digests) => DataState::Genuine,
            Ok(_) => DataState::Other,
            Err(error) => DataState::Incomplete(error.to_string()),
        }
    }

    /// Whether the digests of its files are the published ones.
    pub fn is_genuine(&self, digests: &[String]) -> bool {
        self.files.len() == digests.len()
            && self.files.iter().zip(digests).all(|(file, digest)| file.sha256 == digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_data_sets_is_sound() {
        for set in DATA_SETS {
            assert_eq!(DataSet::named(set.name).map(|found| found.name), Some(set.name));
            assert!(!set.get.is_empty() && !set.files.is_empty(), "{}", set.name);
            for file in set.files {
                let hexadecimal = file.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
                assert!(file.sha256.len() == 64 && hexadecimal && file.bytes > 0, "{}", file.name);
            }
        }
        assert!(DataSet::named("imagenet").is_none());
    }

    #[test]
    fn a_folder_is_recognized_from_one_that_lacks_something() {
        let mnist = DataSet::named("mnist").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let DataState::Incomplete(reason) = mnist.state(folder.path()) else { panic!("it is empty") };
        assert!(reason.contains("train-images-idx3-ubyte"), "{reason}");
        for (name, bytes) in images::tests::small_files() {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        assert_eq!(mnist.state(folder.path()), DataState::Other);
        std::fs::write(folder.path().join("t10k-labels-idx1-ubyte"), [0, 0, 8]).unwrap();
        assert!(matches!(mnist.state(folder.path()), DataState::Incomplete(_)));
    }
}
