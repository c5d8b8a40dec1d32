//! Reading the files of a data set, plain or compressed.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::WorkloadError;
use crate::memory::bytes_in_words;

/// The most that a file may hold, so that a small compressed file cannot fill the memory.
const MOST_BYTES: u64 = 1 << 30;

/// The file of a name in a folder: plain or compressed, with a dash or, as some packages have it, a dot before the format.
pub(super) fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let dotted = name.replace("-idx", ".idx");
    let names = [name.to_owned(), format!("{name}.gz"), dotted.clone(), format!("{dotted}.gz")];
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// The content of a file of a data set.
pub(super) fn read(folder: &Path, name: &str) -> Result<(PathBuf, Vec<u8>), WorkloadError> {
    let path = find(folder, name).ok_or_else(|| {
        let path = folder.join(name);
        WorkloadError::file("read", &path, "no such file, neither plain nor with the extension .gz")
    })?;
    let failed = |error: std::io::Error| WorkloadError::file("read", &path, error);
    let file = File::open(&path).map_err(failed)?;
    let compressed = path.extension().is_some_and(|ending| ending == "gz");
    let mut bytes = Vec::new();
    let read = if compressed {
        MultiGzDecoder::new(BufReader::new(file)).take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else {
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)
    };
    if read.map_err(failed)? as u64 > MOST_BYTES {
        let most = bytes_in_words(u128::from(MOST_BYTES));
        return Err(WorkloadError::file("read", &path, format!("it holds more than {most}")));
    }
    Ok((path, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn plain_and_compressed_files_read_alike_and_broken_ones_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let name = "train-labels-idx1-ubyte";
        let error = read(folder.path(), name).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("no such file"), "{error}");

        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&[7; 5000]).unwrap();
        let packed = encoder.finish().unwrap();
        let path = folder.path().join("train-labels.idx1-ubyte.gz");
        std::fs::write(&path, &packed).unwrap();
        assert_eq!(read(folder.path(), name).unwrap(), (path.clone(), vec![7; 5000]));
        for broken in [&packed[..packed.len() / 2], &packed[..packed.len() - 4], b"no gzip at all", &[]] {
            std::fs::write(&path, broken).unwrap();
            let error = read(folder.path(), name);
            // An empty file has no compressed stream in it, and so no content.
            assert!(broken.is_empty() || error.unwrap_err().to_string().contains("idx1-ubyte.gz"));
        }
        std::fs::write(folder.path().join(name), [1, 2]).unwrap();
        assert_eq!(read(folder.path(), name).unwrap().1, [1, 2]);
    }
}
