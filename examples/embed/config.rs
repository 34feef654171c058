//! The sizes of an encoder, as its files give them.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use tilewise::io::Safetensors;
use tilewise::{Error, Result};

/// The tables, whose rows are added.
pub(crate) const WORDS: &str = "embeddings.word_embeddings.weight";
pub(crate) const POSITIONS: &str = "embeddings.position_embeddings.weight";
pub(crate) const TOKEN_TYPES: &str = "embeddings.token_type_embeddings.weight";
/// The epsilon of BERT's layer norms, if no file gives another.
const EPS: f64 = 1e-12;
/// The most layers that a file may have.
const MAX_LAYERS: usize = 1024;

/// The sizes of an encoder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
    /// Features between the two products of a feed-forward block.
    pub(crate) inner: usize,
    pub(crate) vocabulary: usize,
    pub(crate) positions: usize,
    pub(crate) token_types: usize,
    pub(crate) eps: f32,
}

/// The tensors of a file, whose names may have a prefix.
#[derive(Debug)]
pub(crate) struct Weights {
    pub(crate) file: Safetensors,
    pub(crate) path: String,
    pub(crate) prefix: &'static str,
}

impl Weights {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file = Safetensors::read(path)?;
        let prefix = if file.names().iter().any(|name| name.starts_with("bert.")) { "bert." } else { "" };
        Ok(Self { file, path: path.display().to_string(), prefix })
    }

    /// The shape of a tensor, if there is one of this name.
    pub(crate) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.file.shape(&format!("{}{name}", self.prefix)).ok()
    }

    /// The elements of a tensor.
    pub(crate) fn values(&self, name: &str) -> Result<Vec<f64>> {
        self.file.values(&format!("{}{name}", self.prefix))
    }

    /// The number of layers of which there is a tensor.
    fn layers(&self) -> usize {
        let start = format!("{}encoder.layer.", self.prefix);
        let names = self.file.names();
        let layers = names.iter().filter_map(|name| name.strip_prefix(&start)?.split('.').next());
        layers.collect::<BTreeSet<_>>().len()
    }
}

/// What a model says of itself: its `config.json`, if there is one, and the metadata of its tensors.
struct Description<'a> {
    path: String,
    json: Option<Value>,
    weights: &'a Weights,
}

impl<'a> Description<'a> {
    fn read(path: &Path, weights: &'a Weights) -> Result<Self> {
        let name = path.display().to_string();
        let refuse = |why: String| Error::Input { what: name.clone(), why };
        if !path.exists() {
            return Ok(Self { path: name, json: None, weights });
        }
        let text =
            std::fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let json = serde_json::from_str(&text).map_err(|error| refuse(format!("is not JSON: {error}")))?;
        Ok(Self { path: name, json: Some(json), weights })
    }

    /// A number: by its key in `config.json`, or by that in the metadata.
    fn number(&self, key: &str, metadata: &str) -> Result<Option<f64>> {
        if let Some(value) = self.json.as_ref().and_then(|json| json.get(key)) {
            let why = || format!("{key} must be a positive number; got {value}");
            let found = value.as_f64().filter(|&number| number.is_finite() && number > 0.0);
            return found.map(Some).ok_or_else(|| Error::Input { what: self.path.clone(), why: why() });
        }
        let Some(text) = self.weights.file.metadata(metadata) else { return Ok(None) };
        let why = || format!("its metadata {metadata} must be a positive number; got {text}");
        let found = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
        found.map(Some).ok_or_else(|| Error::Input { what: self.weights.path.clone(), why: why() })
    }

    /// A size.
    fn size(&self, key: &str, metadata: &str) -> Result<Option<usize>> {
        let Some(number) = self.number(key, metadata)? else { return Ok(None) };
        if number.fract() == 0.0 && number <= f64::from(u32::MAX) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number of 32 bits"
            )]
            return Ok(Some(number as usize));
        }
        let what = if self.json.is_some() { self.path.clone() } else { self.weights.path.clone() };
        Err(Error::Input { what, why: format!("{key} must be a whole number; got {number}") })
    }

    /// Only the exact GELU is implemented here.
    fn check_activation(&self) -> Result<()> {
        match self.json.as_ref().and_then(|json| json.get("hidden_act")) {
            None => Ok(()),
            Some(Value::String(name)) if name == "gelu" => Ok(()),
            Some(other) => {
                let why = format!("hidden_act must be \"gelu\", the exact one; got {other}");
                Err(Error::Input { what: self.path.clone(), why })
            }
        }
    }
}

impl Config {
    /// The sizes by `config.json`, else by the metadata, else by the shapes of the tensors. A size that nothing gives is 0.
    pub(crate) fn read(path: &Path, weights: &Weights) -> Result<Self> {
        let said = Description::read(path, weights)?;
        said.check_activation()?;
        let of = |name: &str, axis: usize| weights.shape(name).and_then(|shape| shape.get(axis)).copied();
        let hidden = said.size("hidden_size", "hidden")?;
        let hidden = hidden.or_else(|| of("embeddings.LayerNorm.weight", 0)).unwrap_or(0);
        let inner = said.size("intermediate_size", "intermediate")?;
        let inner = inner.or_else(|| of("encoder.layer.0.intermediate.dense.weight", 0)).unwrap_or(0);
        let layers = said.size("num_hidden_layers", "layers")?.unwrap_or_else(|| weights.layers());
        let heads = said.size("num_attention_heads", "heads")?;
        let eps = said.number("layer_norm_eps", "layer_norm_eps")?.unwrap_or(EPS);
        let refuse = |why: String| Err(Error::Input { what: weights.path.clone(), why });
        let Some(heads) = heads else {
            return refuse(
                "the number of heads is unknown: put the model's config.json into its folder".into(),
            );
        };
        if hidden % heads != 0 {
            return refuse(format!(
                "the hidden size must be a multiple of the heads; got {hidden} and {heads}"
            ));
        }
        if layers > MAX_LAYERS {
            return refuse(format!("there may be at most {MAX_LAYERS} layers; got {layers}"));
        }
        let rows = |name| of(name, 0).unwrap_or(0);
        let (vocabulary, positions, token_types) = (rows(WORDS), rows(POSITIONS), rows(TOKEN_TYPES));
        #[expect(clippy::cast_possible_truncation, reason = "layer norms take an epsilon of f32")]
        let eps = eps as f32;
        Ok(Self { hidden, heads, layers, inner, vocabulary, positions, token_types, eps })
    }
}
