//! Checkpoints: weights, moments of the optimizer and the number of updates in one safetensors file, from which a run
//! goes on exactly where it was.
//!
//! The moments of a tensor have its name with `adam.first.` or `adam.second.` before it. The entry `assay.lm` of the
//! file's metadata is JSON with the number of updates and the settings that the losses depend on. A file without that
//! entry holds weights alone.

mod file;

use std::path::Path;

use assay_model::{Settings, Value};
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};

use super::model::CheckpointState;
use super::options::LmOptions;
use super::parameters::Parameters;
use super::shape::LmShape;
use crate::WorkloadError;
use crate::tensors::Tensor;
use crate::weights::{self, Weights};

pub use file::save;

/// The entry of the metadata that is ours.
const ENTRY: &str = "assay.lm";
/// The names of the moments begin with these.
const MOMENTS: [&str; 2] = ["adam.first.", "adam.second."];
/// Settings that losses depend on besides the shape.
const SETTINGS: [&str; 9] = [
    "batch_size",
    "context",
    "seed",
    "learning_rate",
    "weight_decay",
    "clip",
    "text",
    "tokenizer",
    "threads",
];

/// What a checkpoint says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Updates so far.
    pub updates: u64,
    /// The settings that the losses depend on.
    pub settings: Settings,
}

impl About {
    pub(super) fn new(options: &LmOptions, updates: u64) -> About {
        let all = options.in_effect();
        let settings = SETTINGS.iter().filter_map(|name| Some(((*name).to_owned(), all.get(*name)?.clone())));
        About { updates, settings: settings.collect() }
    }

    /// The settings that differ, in words; none if all agree.
    pub(super) fn differences(&self, other: &About) -> Option<String> {
        let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        let differing = SETTINGS.iter().filter_map(|name| {
            let (mine, theirs) = (self.settings.get(*name), other.settings.get(*name));
            (mine != theirs).then(|| format!("{name} {} instead of {}", shown(theirs), shown(mine)))
        });
        Some(differing.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty())
    }
}

/// What a checkpoint says of itself, from its header; none for a file of weights alone. `bytes` begins as the file does
/// and may hold more than the header. Takes any bytes.
pub fn read_header(bytes: &[u8]) -> Result<Option<About>, String> {
    about(&weights::read_header(bytes)?)
}

/// What a checkpoint says of itself.
fn about(header: &weights::Header) -> Result<Option<About>, String> {
    let text = header.entry(ENTRY);
    text.map(|text| {
        serde_json::from_str(text).map_err(|error| format!("its entry `{ENTRY}` is wrong: {error}"))
    })
    .transpose()
}

/// A checkpoint that was opened and whose header agrees with the length of the file.
pub struct Checkpoint {
    weights: Weights,
    about: Option<About>,
}

impl Checkpoint {
    pub fn open(path: &Path) -> Result<Checkpoint, WorkloadError> {
        const HINT: &str = "give a checkpoint that `save` wrote, or a safetensors file with the same tensors";
        let weights = Weights::open(path, "resume from").map_err(|error| match error {
            WorkloadError::File { action: "resume from", .. } => error.or_hint(HINT),
            other => other,
        })?;
        let about = about(weights.header())
            .map_err(|reason| WorkloadError::file("resume from", path, reason).or_hint(HINT))?;
        Ok(Checkpoint { weights, about })
    }

    /// What the checkpoint says of itself; none for a file of weights alone.
    pub fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// Checks that every tensor that the model needs is there, with its shape and kind, before anything is read.
    pub fn check(&self, path: &Path, shape: &LmShape, with_moments: bool) -> Result<(), WorkloadError> {
        let with_moments = with_moments && self.about().is_some();
        let prefixes = [""].into_iter().chain(MOMENTS.into_iter().filter(|_| with_moments));
        for prefix in prefixes {
            for tensor in shape.tensors() {
                self.check_tensor(prefix, &tensor).map_err(|(reason, hint)| {
                    WorkloadError::file("resume from", path, reason).or_hint(hint)
                })?;
            }
        }
        Ok(())
    }

    fn check_tensor(&self, prefix: &str, tensor: &Tensor) -> Result<(), (String, &'static str)> {
        let name = format!("{prefix}{}", tensor.name);
        let Some(info) = self.weights.header().info(&name) else {
            return Err((format!("tensor `{name}` is missing"), "was it saved from another size?"));
        };
        if info.dtype != Dtype::F32 {
            let reason = format!("tensor `{name}` has the type {}, not F32", info.dtype);
            return Err((reason, "convert the file to 32-bit floats"));
        }
        if info.shape != tensor.dimensions {
            let reason =
                format!("tensor `{name}` has the shape {:?}, not {:?}", info.shape, tensor.dimensions);
            return Err((reason, "use the size, vocabulary and so on that it was saved with"));
        }
        Ok(())
    }

    /// Reads the state of a model, each tensor straight into its place. Call [`Checkpoint::check`] before.
    pub fn load(&mut self, shape: &LmShape, state: CheckpointState<'_>) -> Result<(), WorkloadError> {
        self.load_tensors("", shape, state.weights)?;
        if let (Some(about), Some(moments)) = (self.about.clone(), state.moments) {
            for (prefix, parameters) in MOMENTS.into_iter().zip(moments) {
                self.load_tensors(prefix, shape, parameters)?;
            }
            *state.updates = about.updates;
        }
        Ok(())
    }

    fn load_tensors(
        &mut self,
        prefix: &str,
        shape: &LmShape,
        parameters: &mut Parameters,
    ) -> Result<(), WorkloadError> {
        for (tensor, values) in shape.tensors().iter().zip(parameters.tensors_mut()) {
            self.weights.read(&format!("{prefix}{}", tensor.name), values)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(header: &str) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
    }

    const HEADER: &str = r#"{"__metadata__":{"assay.lm":"{\"updates\":7,\"settings\":{\"seed\":1}}"},
        "norm":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;

    #[test]
    fn a_header_says_what_the_checkpoint_is() {
        assert_eq!(read_header(&file(HEADER)).unwrap().unwrap().updates, 7);
        let weights = file(r#"{"norm":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#);
        assert_eq!(read_header(&weights).unwrap(), None);
        let odd = file(r#"{"__metadata__":{"assay.lm":"{}"}}"#);
        assert!(read_header(&odd).unwrap_err().contains("`assay.lm` is wrong"));
    }

    #[test]
    fn headers_that_contradict_themselves_are_refused() {
        for (shape, offsets) in [
            ("[3]", "[0,8]"),
            ("[2]", "[4,12]"),
            ("[2]", "[8,0]"),
            ("[9999999999,9999999999,9999999999]", "[0,8]"),
        ] {
            let text = format!(r#"{{"norm":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#);
            assert!(read_header(&file(&text)).unwrap_err().contains("header"), "{text}");
        }
        assert!(read_header(&u64::MAX.to_le_bytes()).unwrap_err().contains("not a safetensors file"));
    }

    #[test]
    fn differing_settings_are_named() {
        let about = |seed: i64| About { updates: 1, settings: [("seed".to_owned(), seed.into())].into() };
        assert_eq!(about(1).differences(&about(1)), None);
        assert_eq!(about(1).differences(&about(2)).unwrap(), "seed 2 instead of 1");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_header(&bytes);
        }

        #[test]
        fn a_header_with_a_wrong_byte_is_read_without_harm(place in 0..HEADER.len(), byte in any::<u8>()) {
            let mut bytes = file(HEADER);
            bytes[8 + place] = byte;
            let _ = read_header(&bytes);
        }
    }
}
