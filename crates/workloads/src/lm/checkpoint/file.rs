//! The bytes of a checkpoint: numbers in and out of files, and a file that is either whole or not there.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::{About, ENTRY, MOMENTS};
use crate::WorkloadError;
use crate::lm::model::CheckpointState;
use crate::lm::parameters::Parameters;
use crate::lm::shape::LmShape;

/// Numbers that are converted at once.
const PIECE: usize = 1 << 16;

fn write_numbers(file: &mut impl Write, values: &[f32]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(4 * PIECE.min(values.len()));
    for piece in values.chunks(PIECE) {
        bytes.clear();
        bytes.extend(piece.iter().flat_map(|value| value.to_le_bytes()));
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// Writes a checkpoint under a temporary name beside `path`, makes sure that it is on disk, and only then gives it its
/// name: whatever happens, the name stands for a whole checkpoint.
pub fn save(
    path: &Path,
    shape: &LmShape,
    state: &CheckpointState<'_>,
    about: &About,
) -> Result<(), WorkloadError> {
    let wrong = |error: io::Error| WorkloadError::file("write", path, error);
    let temporary = temporary_name(path);
    let parts: Vec<(&str, &Parameters)> = std::iter::once(("", &*state.weights))
        .chain(state.moments.iter().flat_map(|moments| MOMENTS.into_iter().zip(moments.iter())))
        .collect();
    let result = write(&temporary, shape, &parts, about).and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = result {
        // The error that matters is the first one; a file that cannot be removed either is left.
        let _ = std::fs::remove_file(&temporary);
        return Err(wrong(error));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent).and_then(|directory| directory.sync_all()).map_err(wrong)
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn write(path: &Path, shape: &LmShape, parts: &[(&str, &Parameters)], about: &About) -> io::Result<()> {
    let file = File::create(path)?;
    let mut writer = BufWriter::new(&file);
    let mut header = header(shape, parts, about)?;
    // Readers that map the file want the data at a multiple of eight.
    header.resize(header.len().next_multiple_of(8), b' ');
    writer.write_all(&(header.len() as u64).to_le_bytes())?;
    writer.write_all(&header)?;
    for (_, parameters) in parts {
        for tensor in parameters.tensors() {
            write_numbers(&mut writer, tensor)?;
        }
    }
    writer.flush()?;
    drop(writer);
    file.sync_all()
}

fn header(shape: &LmShape, parts: &[(&str, &Parameters)], about: &About) -> io::Result<Vec<u8>> {
    let mut begin = 0;
    let mut tensors = Vec::new();
    for (prefix, _) in parts {
        for tensor in shape.tensors() {
            let end = begin + 4 * tensor.len();
            let name = format!("{prefix}{}", tensor.name);
            let info = TensorInfo { dtype: Dtype::F32, shape: tensor.dimensions, data_offsets: (begin, end) };
            tensors.push((name, info));
            begin = end;
        }
    }
    let entries = [(ENTRY.to_owned(), serde_json::to_string(about)?)].into_iter().collect();
    let metadata = Metadata::new(Some(entries), tensors).map_err(io::Error::other)?;
    Ok(serde_json::to_vec(&metadata)?)
}
