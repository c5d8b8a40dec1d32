//! `config.json` of a model's folder, as the `transformers` library writes it.

use std::collections::BTreeMap;

use assay_kernels::gelu;
use serde::Deserialize;

use super::shape::BertShape;
use crate::describe::MOST;

/// What a folder says of its model.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Its shape; without labels it has two classes.
    pub shape: BertShape,
    /// The names of the classes, in their order; empty where there are none.
    pub labels: Vec<String>,
}

/// The keys that matter; those that are missing have the values that the library has.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Keys {
    model_type: String,
    hidden_size: u64,
    intermediate_size: u64,
    num_hidden_layers: u64,
    num_attention_heads: u64,
    vocab_size: u64,
    max_position_embeddings: u64,
    type_vocab_size: u64,
    layer_norm_eps: f64,
    hidden_act: String,
    position_embedding_type: Option<String>,
    is_decoder: bool,
    id2label: BTreeMap<String, String>,
}

impl Default for Keys {
    fn default() -> Keys {
        Keys {
            model_type: "bert".to_owned(),
            hidden_size: 768,
            intermediate_size: 3072,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            vocab_size: 30_522,
            max_position_embeddings: 512,
            type_vocab_size: 2,
            layer_norm_eps: 1e-12,
            hidden_act: "gelu".to_owned(),
            position_embedding_type: None,
            is_decoder: false,
            id2label: BTreeMap::new(),
        }
    }
}

/// Reads the bytes of a `config.json`. Takes any bytes.
pub fn parse(bytes: &[u8]) -> Result<Config, String> {
    let keys: Keys = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is not the configuration of a model: {error}"))?;
    if keys.model_type != "bert" {
        return Err(format!("it is a model of the type `{}`, not `bert`", keys.model_type));
    }
    if keys.is_decoder {
        return Err("it is a decoder, and this reads only encoders".to_owned());
    }
    if let Some(kind) = keys.position_embedding_type.as_deref().filter(|kind| *kind != "absolute") {
        return Err(format!("its positions are `{kind}`, and only `absolute` ones are known"));
    }
    let size = |name: &str, number: u64| match usize::try_from(number) {
        Ok(size) if (1..=MOST as usize).contains(&size) => Ok(size),
        _ => Err(format!("`{name}` is {number}, which must be from 1 to {MOST}")),
    };
    let labels = labels(&keys.id2label)?;
    let shape = BertShape {
        width: size("hidden_size", keys.hidden_size)?,
        hidden: size("intermediate_size", keys.intermediate_size)?,
        layers: size("num_hidden_layers", keys.num_hidden_layers)?,
        heads: size("num_attention_heads", keys.num_attention_heads)?,
        vocabulary: size("vocab_size", keys.vocab_size)?,
        positions: size("max_position_embeddings", keys.max_position_embeddings)?,
        kinds: size("type_vocab_size", keys.type_vocab_size)?,
        classes: labels.len().max(2),
        epsilon: epsilon(keys.layer_norm_eps)?,
        activation: activation(&keys.hidden_act)?,
    };
    if !shape.width.is_multiple_of(shape.heads) {
        return Err(format!("a width of {} cannot be divided into {} heads", shape.width, shape.heads));
    }
    Ok(Config { shape, labels })
}

fn epsilon(number: f64) -> Result<f32, String> {
    if (0.0..=1.0).contains(&number) {
        Ok(number as f32)
    } else {
        Err(format!("`layer_norm_eps` is {number}, which must be from 0 to 1"))
    }
}

fn activation(name: &str) -> Result<gelu::GeluFormula, String> {
    match name {
        "gelu" | "gelu_python" => Ok(gelu::GeluFormula::Exact),
        "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" | "gelu_accurate" => Ok(gelu::GeluFormula::Tanh),
        other => Err(format!("its activation is `{other}`, and only `gelu` and its approximation are known")),
    }
}

/// The names of the classes in the order of their numbers.
fn labels(named: &BTreeMap<String, String>) -> Result<Vec<String>, String> {
    (0..named.len())
        .map(|number| {
            let name = named.get(&number.to_string()).cloned();
            name.ok_or_else(|| {
                format!("`id2label` has {} classes and none with the number {number}", named.len())
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = r#"{"model_type": "bert", "hidden_size": 384, "num_attention_heads": 12, "intermediate_size": 1536,
        "num_hidden_layers": 6, "hidden_act": "gelu_new", "layer_norm_eps": 1e-07, "other": [1],
        "id2label": {"0": "NEG", "1": "POS", "2": "NEITHER"}}"#;

    #[test]
    fn keys_give_shape_and_labels_and_missing_ones_are_those_of_base() {
        let config = parse(TEXT.as_bytes()).unwrap();
        let BertShape { width, hidden, layers, heads, vocabulary, classes, epsilon, activation, .. } =
            config.shape;
        assert_eq!([width, hidden, layers, heads, vocabulary, classes], [384, 1536, 6, 12, 30_522, 3]);
        assert_eq!((epsilon, activation), (1e-7, gelu::GeluFormula::Tanh));
        assert_eq!(config.labels, ["NEG", "POS", "NEITHER"]);
        assert_eq!(parse(b"{}").unwrap().shape.width, 768);
    }

    #[test]
    fn what_is_no_such_model_is_refused() {
        let refused = |text: &str| parse(text.as_bytes()).unwrap_err();
        assert!(refused("{").contains("configuration"));
        assert!(refused(r#"{"model_type": "gpt2"}"#).contains("`gpt2`"));
        assert!(refused(r#"{"is_decoder": true}"#).contains("decoder"));
        assert!(refused(r#"{"position_embedding_type": "relative_key"}"#).contains("relative_key"));
        assert!(refused(r#"{"hidden_act": "relu"}"#).contains("relu"));
        assert!(refused(r#"{"hidden_size": 0}"#).contains("`hidden_size` is 0"));
        assert!(refused(r#"{"hidden_size": 99999999999}"#).contains("must be from 1"));
        assert!(refused(r#"{"hidden_size": -1}"#).contains("configuration"));
        assert!(refused(r#"{"num_attention_heads": 5}"#).contains("5 heads"));
        assert!(refused(r#"{"layer_norm_eps": -1}"#).contains("layer_norm_eps"));
        assert!(refused(r#"{"id2label": {"0": "a", "7": "b"}}"#).contains("number 1"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn a_config_with_a_wrong_byte_is_read_without_harm(place in 0..TEXT.len(), byte in any::<u8>()) {
            let mut bytes = TEXT.as_bytes().to_vec();
            bytes[place] = byte;
            let _ = parse(&bytes);
        }
    }
}
