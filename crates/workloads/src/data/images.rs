//! Images with labels, from the files of a folder.

use std::path::Path;

use assay_model::identity::hash_bytes;

use super::{files, idx};
use crate::WorkloadError;

/// The names of the files to train on: images, labels.
pub const TRAIN: [&str; 2] = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"];
/// The names of the files to test with.
pub const TEST: [&str; 2] = ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"];

/// Images of 28 by 28 pixels with a label each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Images {
    /// The pixels, image after image.
    pub pixels: Vec<u8>,
    /// The labels, all from 0 to 9.
    pub labels: Vec<u8>,
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub train: Images,
    pub test: Images,
    /// The SHA-256 of the content of all four files, in the order of [`TRAIN`] and [`TEST`].
    pub digests: Vec<String>,
}

impl Images {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Keeps the first `count` of them.
    pub fn truncate(&mut self, count: usize) {
        self.labels.truncate(count);
        self.pixels.truncate(count.saturating_mul(idx::PIXELS));
    }

    fn read(folder: &Path, names: [&str; 2], digests: &mut Vec<String>) -> Result<Images, WorkloadError> {
        let (images_path, images) = files::read(folder, names[0])?;
        let (labels_path, labels) = files::read(folder, names[1])?;
        digests.extend([hash_bytes(&images), hash_bytes(&labels)]);
        let wrong = |path: &Path, reason: String| WorkloadError::file("use", path, reason).or_hint(HINT);
        let pixels = idx::images(&images).map_err(|reason| wrong(&images_path, reason))?.to_vec();
        let labels = idx::labels(&labels).map_err(|reason| wrong(&labels_path, reason))?.to_vec();
        let count = pixels.len() / idx::PIXELS;
        if count != labels.len() {
            let reason = format!("it has {} labels for {count} images", labels.len());
            return Err(wrong(&labels_path, reason));
        }
        Ok(Images { pixels, labels })
    }
}

const HINT: &str = "`assay doctor data` lists data sets and how to download them";

/// Reads and checks all files of a folder.
pub fn load(folder: &Path) -> Result<Loaded, WorkloadError> {
    let mut digests = Vec::new();
    let train = Images::read(folder, TRAIN, &mut digests).map_err(|error| error.or_hint(HINT))?;
    let test = Images::read(folder, TEST, &mut digests).map_err(|error| error.or_hint(HINT))?;
    Ok(Loaded { train, test, digests })
}

/// The digests of all files of a folder, which are checked on the way.
pub(super) fn digests(folder: &Path) -> Result<Vec<String>, WorkloadError> {
    load(folder).map(|loaded| loaded.digests)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Files of a few images.
    pub(crate) fn small_files() -> [(&'static str, Vec<u8>); 4] {
        let images = |count: u8| {
            let header = [0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28];
            [&header[..], &vec![9; usize::from(count) * idx::PIXELS]].concat()
        };
        let labels = |count: u8| [&[0, 0, 8, 1, 0, 0, 0, count], &vec![1; usize::from(count)][..]].concat();
        [(TRAIN[0], images(5)), (TRAIN[1], labels(5)), (TEST[0], images(2)), (TEST[1], labels(2))]
    }

    #[test]
    fn images_and_labels_must_agree_in_number() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = small_files();
        let write = |files: &[(&str, Vec<u8>)]| {
            for (name, bytes) in files {
                std::fs::write(folder.path().join(name), bytes).unwrap();
            }
        };
        write(&files);
        let mut loaded = load(folder.path()).unwrap();
        assert_eq!((loaded.train.len(), loaded.test.len()), (5, 2));
        assert_eq!(loaded.digests.len(), 4);
        loaded.train.truncate(2);
        assert_eq!((loaded.train.pixels.len(), loaded.train.len()), (2 * idx::PIXELS, 2));
        files.swap(1, 3);
        files[1].0 = TRAIN[1];
        files[3].0 = TEST[1];
        write(&files);
        let error = load(folder.path()).unwrap_err();
        assert!(error.to_string().contains("2 labels for 5 images"), "{error}");
        assert!(error.hint().unwrap().contains("assay doctor data"));
    }
}
