//! A model's folder as the `transformers` library writes it: `config.json`, `model.safetensors`, and `vocab.txt` or
//! `tokenizer.json`.

use std::path::{Path, PathBuf};

use assay_kernels::Threads;
use safetensors::tensor::Dtype;
use serde::Deserialize;

use super::config::{self, Config};
use super::options::Task;
use super::parameters::{Affine, Parameters};
use super::shape::BertShape;
use super::tokens::Tokens;
use crate::WorkloadError;
use crate::weights::Weights;

const HINT: &str =
    "give a folder with config.json, model.safetensors and vocab.txt or tokenizer.json of a BERT model";

/// A folder whose configuration was read and whose weights were opened.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// What it says of its model.
    pub config: Config,
    weights: Weights,
    /// What the names of the encoder's tensors begin with.
    prefix: &'static str,
}

/// What `tokenizer_config.json` says that matters.
#[derive(Debug, Deserialize)]
struct TokenizerConfig {
    do_lower_case: Option<bool>,
}

impl Folder {
    pub fn open(path: &Path) -> Result<Folder, WorkloadError> {
        let file = path.join("config.json");
        let bytes =
            std::fs::read(&file).map_err(|error| WorkloadError::file("read", &file, error).or_hint(HINT))?;
        let mut config = config::parse(&bytes)
            .map_err(|reason| WorkloadError::file("use", &file, reason).or_hint(HINT))?;
        let weights =
            Weights::open(&path.join("model.safetensors"), "use").map_err(|error| error.or_hint(HINT))?;
        let prefix = ["", "bert."].into_iter().find(|prefix| {
            weights.header().info(&format!("{prefix}embeddings.word_embeddings.weight")).is_some()
        });
        let Some(prefix) = prefix else {
            let reason = "it has no tensor `embeddings.word_embeddings.weight`";
            return Err(WorkloadError::file("use", weights.path(), reason).or_hint(HINT));
        };
        // The classifier itself knows best how many classes it has.
        if let Some(info) = weights.header().info("classifier.bias") {
            config.shape.classes = info.shape.iter().product::<usize>().max(1);
        }
        Ok(Folder { path: path.to_owned(), config, weights, prefix })
    }

    /// Its tokenizer.
    pub fn tokens(&self) -> Result<Tokens, WorkloadError> {
        let json = self.path.join("tokenizer.json");
        let file = if json.exists() { json } else { self.path.join("vocab.txt") };
        Tokens::open(&file, self.lower_case()).map_err(|error| error.or_hint(HINT))
    }

    /// Whether a vocabulary is one of lower-case words, which it is unless the folder says otherwise.
    fn lower_case(&self) -> bool {
        let text = std::fs::read(self.path.join("tokenizer_config.json")).unwrap_or_default();
        let config: Option<TokenizerConfig> = serde_json::from_slice(&text).ok();
        config.and_then(|config| config.do_lower_case).unwrap_or(true)
    }

    /// Whether its words are 32-bit floats, as those of a file all are or are not.
    pub fn is_single(&self) -> bool {
        let name = format!("{}embeddings.word_embeddings.weight", self.prefix);
        self.weights.header().info(&name).is_some_and(|info| info.dtype == Dtype::F32)
    }

    /// Whether it has the head that a task needs.
    pub fn has_head(&self, task: Task) -> bool {
        let there = |name: &str| self.weights.header().info(name).is_some();
        match task {
            Task::Embed => true,
            Task::Classify => {
                there("classifier.weight") && there(&format!("{}pooler.dense.weight", self.prefix))
            }
            Task::Pretrain => there("cls.predictions.transform.dense.weight"),
        }
    }

    /// The weights for a task; those of a head that the folder does not have begin as the seed says.
    pub fn load(&mut self, threads: &Threads, task: Task, seed: u64) -> Result<Parameters, WorkloadError> {
        let shape = self.config.shape;
        let mut parameters = Parameters::initial(threads, &shape, task, seed)?;
        for place in places(&shape, &mut parameters) {
            self.read_stacked(place)?;
        }
        match task {
            Task::Classify if self.has_head(task) => {
                let pooler = format!("{}pooler.dense", self.prefix);
                self.read_affine(&pooler, &mut parameters.pooler, &[shape.width, shape.width])?;
                self.read_affine("classifier", &mut parameters.classifier, &[shape.classes, shape.width])?;
            }
            Task::Pretrain if self.has_head(task) => {
                let transform = "cls.predictions.transform.dense";
                self.read_affine(transform, &mut parameters.transform, &[shape.width, shape.width])?;
                let norm = "cls.predictions.transform.LayerNorm";
                self.read_affine(norm, &mut parameters.transform_norm, &[shape.width])?;
                self.read("cls.predictions.bias", &mut parameters.decoder_bias, &[shape.vocabulary])?;
            }
            _ => {}
        }
        Ok(parameters)
    }

    fn read_affine(
        &mut self,
        name: &str,
        affine: &mut Affine,
        dimensions: &[usize],
    ) -> Result<(), WorkloadError> {
        self.read(&format!("{name}.weight"), &mut affine.weight, dimensions)?;
        self.read(&format!("{name}.bias"), &mut affine.bias, &dimensions[..1])
    }

    /// Reads tensors of the encoder one behind the other into one place.
    fn read_stacked(&mut self, place: StackedTensors<'_>) -> Result<(), WorkloadError> {
        let each = place.values.len() / place.names.len().max(1);
        for (name, values) in place.names.iter().zip(place.values.chunks_mut(each.max(1))) {
            self.read(&format!("{}{name}", self.prefix), values, &place.dimensions)?;
        }
        Ok(())
    }

    fn read(&mut self, name: &str, values: &mut [f32], dimensions: &[usize]) -> Result<(), WorkloadError> {
        // Older files have other names for the numbers of a norm.
        let older =
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
        let name = if self.weights.header().info(name).is_some() { name } else { &older };
        match self.weights.header().info(name) {
            Some(info) if info.shape != dimensions => {
                let reason = format!("tensor `{name}` has the shape {:?}, not {dimensions:?}", info.shape);
                let error = WorkloadError::file("use", self.weights.path(), reason);
                Err(error.or_hint("do config.json and model.safetensors belong together?"))
            }
            _ => self.weights.read(name, values).map_err(|error| error.or_hint(HINT)),
        }
    }
}

/// Where tensors of the encoder go that stand one above the other.
struct StackedTensors<'a> {
    /// Their names without the prefix.
    names: Vec<String>,
    /// The place for all of them.
    values: &'a mut [f32],
    dimensions: Vec<usize>,
}

/// The places of all tensors of the encoder.
fn places<'a>(shape: &BertShape, parameters: &'a mut Parameters) -> Vec<StackedTensors<'a>> {
    let BertShape { width, hidden, vocabulary, positions, kinds, .. } = *shape;
    let Parameters { word, position, kind, norm, layers, .. } = parameters;
    let mut places: Vec<StackedTensors<'a>> = Vec::new();
    let mut one = |name: &str, values: &'a mut [f32], dimensions: &[usize]| {
        let names = vec![format!("embeddings.{name}")];
        places.push(StackedTensors { names, values, dimensions: dimensions.to_vec() });
    };
    one("word_embeddings.weight", word, &[vocabulary, width]);
    one("position_embeddings.weight", position, &[positions, width]);
    one("token_type_embeddings.weight", kind, &[kinds, width]);
    one("LayerNorm.weight", &mut norm.weight, &[width]);
    one("LayerNorm.bias", &mut norm.bias, &[width]);
    for (number, layer) in layers.iter_mut().enumerate() {
        let mut affine = |stacked: &[&str], affine: &'a mut Affine, dimensions: &[usize]| {
            let named = |end: &str| {
                stacked.iter().map(|name| format!("encoder.layer.{number}.{name}.{end}")).collect()
            };
            let Affine { weight, bias } = affine;
            places.push(StackedTensors {
                names: named("weight"),
                values: weight,
                dimensions: dimensions.to_vec(),
            });
            places.push(StackedTensors {
                names: named("bias"),
                values: bias,
                dimensions: dimensions[..1].to_vec(),
            });
        };
        let projections = ["attention.self.query", "attention.self.key", "attention.self.value"];
        affine(&projections, &mut layer.qkv, &[width, width]);
        affine(&["attention.output.dense"], &mut layer.out, &[width, width]);
        affine(&["attention.output.LayerNorm"], &mut layer.attention_norm, &[width]);
        affine(&["intermediate.dense"], &mut layer.up, &[hidden, width]);
        affine(&["output.dense"], &mut layer.down, &[width, hidden]);
        affine(&["output.LayerNorm"], &mut layer.output_norm, &[width]);
    }
    places
}
