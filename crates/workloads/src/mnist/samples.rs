//! The data that the settings ask for.

use std::path::{Path, PathBuf};

use assay_kernels::Threads;

use super::options::{DataSetChoice, MnistOptions};
use crate::WorkloadError;
use crate::data::{DataSet, Images, digits, images};
use crate::settings::wrong;

/// What to train on and what to test with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Samples {
    /// The name of the data set; `files` where it is none that is known.
    pub name: &'static str,
    /// What the reader of the numbers should know about it.
    pub note: Option<String>,
    pub train: Images,
    pub test: Images,
}

const SYNTHETIC: &str = "synthetic";

impl Samples {
    /// Reads or draws them.
    pub fn open(threads: &Threads, options: &MnistOptions) -> Result<Samples, WorkloadError> {
        match folder(options)? {
            Some(folder) => Samples::read(&folder, options),
            None => Samples::draw(threads, options),
        }
    }

    fn read(folder: &Path, options: &MnistOptions) -> Result<Samples, WorkloadError> {
        let loaded = images::load(folder)?;
        let genuine = crate::data::DATA_SETS.iter().find(|set| set.is_genuine(&loaded.digests));
        let (name, words) = match (genuine, options.data_set) {
            (Some(set), DataSetChoice::Named(data_set)) if set.name != data_set => {
                let reason = format!("the files in {} are those of {}", folder.display(), set.name);
                return Err(wrong("data_set", &format!("`{data_set}`"), reason)
                    .or_hint(&format!("use data_set = {}, or another folder", set.name)));
            }
            (Some(set), _) => (set.name, "complete and genuine by their SHA-256"),
            (None, DataSetChoice::Named(data_set)) => (data_set, "complete, but not the published files"),
            (None, _) => ("files", "complete, of no data set that is known"),
        };
        let note = format!("data: {name}, the files in {} are {words}", folder.display());
        let mut samples = Samples { name, note: Some(note), train: loaded.train, test: loaded.test };
        cut(&mut samples.train, "train_samples", options.train_samples)?;
        cut(&mut samples.test, "test_samples", options.test_samples)?;
        Ok(samples)
    }

    fn draw(threads: &Threads, options: &MnistOptions) -> Result<Samples, WorkloadError> {
        let part = |name, count| digits::draw(threads, name, options.seed, count);
        let why = match options.data_set {
            DataSetChoice::Auto => {
                ", because MNIST is not there; `assay doctor data` shows how to download it"
            }
            _ => "",
        };
        Ok(Samples {
            name: SYNTHETIC,
            note: Some(format!("data: synthetic digits drawn from the seed, not MNIST{why}")),
            train: part("train", options.train_samples.unwrap_or(digits::TRAIN_COUNT))?,
            test: part("test", options.test_samples.unwrap_or(digits::TEST_COUNT))?,
        })
    }
}

/// Keeps the first of some images, which must be as many.
fn cut(images: &mut Images, name: &str, count: Option<usize>) -> Result<(), WorkloadError> {
    let Some(count) = count else { return Ok(()) };
    if count > images.len() {
        let error = wrong(name, &count, format!("there are only {}", images.len()));
        return Err(error.or_hint("0 takes all"));
    }
    images.truncate(count);
    Ok(())
}

/// The folder of the files; none for synthetic digits.
fn folder(options: &MnistOptions) -> Result<Option<PathBuf>, WorkloadError> {
    if let Some(folder) = &options.data {
        return Ok(Some(folder.clone()));
    }
    let known = |name: &str| DataSet::named(name).and_then(DataSet::folder);
    match options.data_set {
        DataSetChoice::Synthetic => Ok(None),
        DataSetChoice::Auto => Ok(known("mnist")),
        DataSetChoice::Named(name) => known(name).map(Some).ok_or_else(|| {
            let folders = DataSet::named(name).map(DataSet::folders).unwrap_or_default();
            let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            let error =
                wrong("data_set", &format!("`{name}`"), format!("it is not in {}", places.join(" or ")));
            error.or_hint("`assay doctor data` shows how to download it; data_set = synthetic needs no files")
        }),
    }
}
