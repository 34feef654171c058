//! The files of a model: its vocabulary and its tensors, all checked before any is loaded.

use crate::config::{Config, POSITIONS, TOKEN_TYPES, WORDS, Weights};
use crate::wordpiece::Wordpieces;
use std::collections::BTreeMap;
use std::path::Path;
use tilewise::{Error, Gpu, Real, Result, Tensor};

/// The files that may hold the tensors, the first that exists.
const FILES: [&str; 2] = ["encoder.safetensors", "model.safetensors"];
/// Tensors of published models that an encoder of sentences does not use.
const UNUSED: [&str; 3] = ["embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"];
/// A text is cut to this number of tokens, as the model's authors do, if the table of positions does not end earlier.
const MAX_TOKENS: usize = 256;

/// A model: what its files say, before anything is on a device.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) config: Config,
    pub(crate) pieces: Wordpieces,
    weights: Weights,
}

impl Model {
    /// Opens the model in this folder.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let Some(path) = FILES.iter().map(|file| folder.join(file)).find(|path| path.exists()) else {
            let why = format!("has neither {} nor {}", FILES[0], FILES[1]);
            return Err(Error::Input { what: folder.display().to_string(), why });
        };
        let weights = Weights::read(&path)?;
        let config = Config::read(&folder.join("config.json"), &weights)?;
        check_tensors(&weights, &config)?;
        let vocabulary = folder.join("vocab.txt");
        let pieces = Wordpieces::read(&vocabulary)?;
        if pieces.len() != config.vocabulary {
            let why = format!(
                "has {} pieces, but {WORDS} of {} has {} rows",
                pieces.len(),
                weights.path,
                config.vocabulary
            );
            return Err(Error::Input { what: vocabulary.display().to_string(), why });
        }
        Ok(Self { config, pieces, weights })
    }

    /// The most tokens of a text.
    pub(crate) fn max_tokens(&self) -> usize {
        self.config.positions.min(MAX_TOKENS)
    }

    /// Loads tensors one below the other, converted to the type `T`.
    pub(crate) fn stacked<T: Real>(&self, gpu: &Gpu, names: &[String]) -> Result<Tensor<T>> {
        let (mut elements, mut shape) = (Vec::<T>::new(), Vec::new());
        for name in names {
            elements.extend(self.weights.values(name)?.into_iter().map(T::from_f64));
            shape = self.weights.shape(name).unwrap_or_default().to_vec();
        }
        if let Some(rows) = shape.first_mut() {
            *rows *= names.len();
        }
        gpu.tensor(&elements, shape)
    }

    /// Loads a tensor, converted to the type `T`.
    pub(crate) fn tensor<T: Real>(&self, gpu: &Gpu, name: &str) -> Result<Tensor<T>> {
        self.stacked(gpu, &[name.into()])
    }

    /// Whether the other model is this one, perhaps with rounded weights: its first layer norm has the same bits.
    pub(crate) fn is_one_with(&self, other: &Self) -> Result<bool> {
        let same = |name: &str| Ok(self.weights.values(name)? == other.weights.values(name)?);
        Ok(self.config.layers == other.config.layers
            && same("embeddings.LayerNorm.weight")?
            && same("embeddings.LayerNorm.bias")?)
    }
}

/// The tensors that an encoder of these sizes has, and their shapes.
fn expected(config: &Config) -> BTreeMap<String, Vec<usize>> {
    let Config { hidden, inner, layers, .. } = *config;
    let mut all = BTreeMap::new();
    // Any number of rows will do, but the shortest text has two tokens.
    let tables = [
        (WORDS, config.vocabulary, 1),
        (POSITIONS, config.positions, 2),
        (TOKEN_TYPES, config.token_types, 1),
    ];
    for (name, rows, least) in tables {
        all.insert(name.to_owned(), vec![rows.max(least), hidden]);
    }
    let mut add = |name: String, weight: Vec<usize>| {
        all.insert(format!("{name}.bias"), vec![weight[0]]);
        all.insert(format!("{name}.weight"), weight);
    };
    add("embeddings.LayerNorm".into(), vec![hidden]);
    for layer in 0..layers {
        let mut add =
            |name: &str, weight: &[usize]| add(format!("encoder.layer.{layer}.{name}"), weight.into());
        for projection in ["query", "key", "value"] {
            add(&format!("attention.self.{projection}"), &[hidden, hidden]);
        }
        add("attention.output.dense", &[hidden, hidden]);
        add("attention.output.LayerNorm", &[hidden]);
        add("intermediate.dense", &[inner, hidden]);
        add("output.dense", &[hidden, inner]);
        add("output.LayerNorm", &[hidden]);
    }
    all
}

/// Checks the names and shapes of all tensors, and reports every fault in one error.
fn check_tensors(weights: &Weights, config: &Config) -> Result<()> {
    let expected = expected(config);
    let (mut missing, mut misshapen) = (Vec::new(), Vec::new());
    for (name, shape) in &expected {
        match weights.shape(name) {
            None => missing.push(name.clone()),
            Some(found) if found != shape => {
                misshapen.push(format!("{name} {found:?}, which must be {shape:?}"));
            }
            Some(_) => {}
        }
    }
    let names = weights.file.names();
    let extra: Vec<String> = names
        .into_iter()
        .filter(|name| match name.strip_prefix(weights.prefix) {
            Some(name) => !expected.contains_key(name) && !UNUSED.contains(&name),
            None => true,
        })
        .collect();
    let faults: Vec<String> = [("missing", missing), ("misshapen", misshapen), ("unknown", extra)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(fault, names)| format!("{fault}: {}", names.join(", ")))
        .collect();
    if faults.is_empty() {
        return Ok(());
    }
    let why = format!("is not an encoder of {} layers; {}", config.layers, faults.join("; "));
    Err(Error::Input { what: weights.path.clone(), why })
}
