//! Tensors in files of the safetensors format, read without trust: the length of the header in 8 bytes, the header as
//! JSON with type, shape and place of each tensor, the data.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use crate::WorkloadError;

/// The largest header that is read; the format itself allows as much.
const MOST_HEADER: u64 = 100_000_000;
/// Numbers that are converted at once.
const PIECE: usize = 1 << 16;

/// The header of a file.
#[derive(Debug)]
pub struct Header {
    metadata: Metadata,
    /// Where the data begin in the file.
    data_start: u64,
}

/// Reads the header of a file. `bytes` begins as the file does and may hold more than the header. Takes any bytes.
pub fn read_header(bytes: &[u8]) -> Result<Header, String> {
    let length = header_length(bytes)?;
    let text = usize::try_from(length).ok().and_then(|length| bytes.get(8..)?.get(..length));
    let text = text.ok_or_else(|| format!("it ends within its header, which should have {length} bytes"))?;
    let metadata: Metadata = serde_json::from_slice(text)
        .map_err(|error| format!("its header is not that of a safetensors file: {error}"))?;
    Ok(Header { metadata, data_start: 8 + length })
}

/// The length of the header, from the first eight bytes.
fn header_length(bytes: &[u8]) -> Result<u64, String> {
    let first = bytes.first_chunk::<8>().ok_or("it is shorter than the shortest safetensors file")?;
    let length = u64::from_le_bytes(*first);
    if length > MOST_HEADER {
        return Err(
            "its first eight bytes are not the length of a header, so this is not a safetensors file"
                .to_owned(),
        );
    }
    Ok(length)
}

impl Header {
    /// An entry of the file's own metadata.
    pub fn entry(&self, name: &str) -> Option<&str> {
        self.metadata.metadata().as_ref()?.get(name).map(String::as_str)
    }

    /// What the header says of a tensor.
    pub fn info(&self, name: &str) -> Option<&TensorInfo> {
        self.metadata.info(name)
    }

    /// The length that the file must have.
    pub fn file_length(&self) -> u64 {
        self.data_start.saturating_add(self.metadata.data_len() as u64)
    }
}

/// A file that was opened and whose header agrees with its length.
#[derive(Debug)]
pub struct Weights {
    file: File,
    path: PathBuf,
    header: Header,
}

impl Weights {
    /// Opens a file; `action` says in errors what it was opened for.
    pub fn open(path: &Path, action: &'static str) -> Result<Weights, WorkloadError> {
        let wrong = |reason: String| WorkloadError::file(action, path, reason);
        let system = |error: io::Error| WorkloadError::file("read", path, error);
        let mut file = File::open(path).map_err(system)?;
        let mut bytes = Vec::new();
        (&mut file).take(8).read_to_end(&mut bytes).map_err(system)?;
        let length = header_length(&bytes).map_err(wrong)?;
        (&mut file).take(length).read_to_end(&mut bytes).map_err(system)?;
        let header = read_header(&bytes).map_err(wrong)?;
        let (there, expected) = (file.metadata().map_err(system)?.len(), header.file_length());
        if there != expected {
            return Err(wrong(format!("it has {there} bytes, and its header speaks of {expected}")));
        }
        Ok(Weights { file, path: path.to_owned(), header })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a tensor of 32-bit or 16-bit floats of either kind until `values` is full, which must have its length.
    pub fn read(&mut self, name: &str, values: &mut [f32]) -> Result<(), WorkloadError> {
        let wrong = |path: &Path, reason: String| {
            WorkloadError::file("read", path, format!("tensor `{name}`: {reason}"))
        };
        let Some(info) = self.header.info(name) else {
            return Err(wrong(&self.path, "it is missing".to_owned()));
        };
        let (kind, start) = (info.dtype, self.header.data_start + info.data_offsets.0 as u64);
        if info.shape.iter().product::<usize>() != values.len() {
            let reason = format!("it has the shape {:?}, not {} numbers", info.shape, values.len());
            return Err(wrong(&self.path, reason));
        }
        let file = &mut self.file;
        let result = file.seek(SeekFrom::Start(start)).and_then(|_| match kind {
            Dtype::F32 => read_numbers(file, values, f32::from_le_bytes),
            Dtype::BF16 => read_numbers(file, values, brain_float),
            Dtype::F16 => read_numbers(file, values, half_float),
            other => Err(io::Error::other(format!("it has the type {other}, not one of floating point"))),
        });
        result.map_err(|error| wrong(&self.path, error.to_string()))
    }
}

/// Reads numbers of `SIZE` bytes until `values` is full.
fn read_numbers<const SIZE: usize>(
    file: &mut File,
    values: &mut [f32],
    convert: impl Fn([u8; SIZE]) -> f32,
) -> io::Result<()> {
    let mut bytes = vec![0u8; SIZE * PIECE.min(values.len())];
    for piece in values.chunks_mut(PIECE) {
        let bytes = &mut bytes[..SIZE * piece.len()];
        file.read_exact(bytes)?;
        let (numbers, _) = bytes.as_chunks::<SIZE>();
        for (value, number) in piece.iter_mut().zip(numbers) {
            *value = convert(*number);
        }
    }
    Ok(())
}

/// The upper half of a 32-bit float.
fn brain_float(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// A 16-bit float of IEEE 754.
fn half_float(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let (sign, exponent, fraction) = ((bits >> 15) << 31, (bits >> 10) & 0x1f, bits & 0x3ff);
    match exponent {
        // Subnormal numbers are multiples of 2⁻²⁴.
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        0x1f => f32::from_bits(sign | 0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(sign | ((exponent + 112) << 23) | (fraction << 13)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of one tensor.
    fn file(kind: &str, data: &[u8], count: usize) -> tempfile::NamedTempFile {
        let header =
            format!(r#"{{"a":{{"dtype":"{kind}","shape":[{count}],"data_offsets":[0,{}]}}}}"#, data.len());
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    fn read(kind: &str, data: &[u8], count: usize) -> Result<Vec<f32>, WorkloadError> {
        let file = file(kind, data, count);
        let mut values = vec![0.0; count];
        Weights::open(file.path(), "read")?.read("a", &mut values)?;
        Ok(values)
    }

    #[test]
    fn floats_of_either_size_are_read() {
        assert_eq!(read("F32", &[0, 0, 128, 63, 0, 0, 0, 192], 2).unwrap(), [1.0, -2.0]);
        assert_eq!(read("BF16", &[0x80, 0x3f, 0x00, 0xc0], 2).unwrap(), [1.0, -2.0]);
        // One, minus two, the smallest number, infinity, 65504.
        let halves = [0x3c00u16, 0xc000, 0x0001, 0x7c00, 0x7bff];
        let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
        assert_eq!(read("F16", &bytes, 5).unwrap(), [1.0, -2.0, 5.960_464_5e-8, f32::INFINITY, 65_504.0]);
    }

    #[test]
    fn what_is_no_whole_file_of_floats_is_refused() {
        assert!(read("I64", &[0; 8], 1).unwrap_err().to_string().contains("type I64"));
        let whole = file("F32", &[0; 8], 2);
        let bytes = std::fs::read(whole.path()).unwrap();
        for length in [0, 7, 20, bytes.len() - 1] {
            std::fs::write(whole.path(), &bytes[..length]).unwrap();
            assert!(Weights::open(whole.path(), "read").is_err(), "{length}");
        }
        std::fs::write(whole.path(), &bytes).unwrap();
        let mut weights = Weights::open(whole.path(), "read").unwrap();
        assert!(weights.read("b", &mut [0.0]).unwrap_err().to_string().contains("missing"));
        assert!(weights.read("a", &mut [0.0]).unwrap_err().to_string().contains("[2]"));
    }
}
