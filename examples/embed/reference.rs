//! The stored sentences and their embeddings in f64.

use crate::wordpiece::Wordpieces;
use serde_json::Value;
use std::path::Path;
use tilewise::io::Safetensors;
use tilewise::{Error, Result};

/// A stored sentence.
pub(crate) struct Sentence {
    pub(crate) text: String,
    ids: Vec<i32>,
    /// The most similar other sentence, and its cosine less that of the second.
    pub(crate) nearest: usize,
    pub(crate) margin: f64,
}

/// The stored sentences.
pub(crate) struct Stored {
    pub(crate) sentences: Vec<Sentence>,
    /// Paraphrases, each the other's nearest.
    pub(crate) pairs: Vec<[usize; 2]>,
    /// Texts that only test the tokens, and their ids.
    cases: Vec<(String, Vec<i32>)>,
}

/// The results in f64.
pub(crate) struct Expected {
    file: Safetensors,
    pub(crate) embeddings: Vec<Vec<f64>>,
}

impl Stored {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let refuse = |why: String| Error::Input { what: path.display().to_string(), why };
        let text =
            std::fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let json: Value =
            serde_json::from_str(&text).map_err(|error| refuse(format!("is not JSON: {error}")))?;
        let stored = Self::parse(&json).ok_or_else(|| refuse("does not hold sentences and pairs".into()))?;
        let count = stored.sentences.len();
        let nearest = stored.sentences.iter().map(|sentence| sentence.nearest);
        if nearest.chain(stored.pairs.iter().flatten().copied()).all(|index| index < count) {
            return Ok(stored);
        }
        Err(refuse(format!("names a sentence other than the {count} that it holds")))
    }

    fn parse(json: &Value) -> Option<Self> {
        let index = |value: &Value| usize::try_from(value.as_u64()?).ok();
        let ids = |value: &Value| -> Option<Vec<i32>> {
            value.as_array()?.iter().map(|id| i32::try_from(id.as_i64()?).ok()).collect()
        };
        let text = |value: &Value| Some(value["text"].as_str()?.to_owned());
        let sentence = |value: &Value| {
            Some(Sentence {
                text: text(value)?,
                ids: ids(&value["ids"])?,
                nearest: index(&value["nearest"])?,
                margin: value["margin"].as_f64()?,
            })
        };
        let pair = |value: &Value| Some([index(&value["a"])?, index(&value["b"])?]);
        let case = |value: &Value| Some((text(value)?, ids(&value["ids"])?));
        Some(Self {
            sentences: json["sentences"].as_array()?.iter().map(sentence).collect::<Option<_>>()?,
            pairs: json["pairs"].as_array()?.iter().map(pair).collect::<Option<_>>()?,
            cases: json["tokenizer_cases"].as_array()?.iter().map(case).collect::<Option<_>>()?,
        })
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.sentences.iter().map(|sentence| sentence.text.clone()).collect()
    }

    /// The texts whose tokens are not those that are stored, and the number of all.
    pub(crate) fn other_tokens(&self, pieces: &Wordpieces, limit: usize) -> (Vec<&str>, usize) {
        let sentences = self.sentences.iter().map(|sentence| (&sentence.text, &sentence.ids));
        let all: Vec<_> = sentences.chain(self.cases.iter().map(|(text, ids)| (text, ids))).collect();
        let others = all.iter().filter(|(text, ids)| pieces.tokens(text, limit).ids != **ids);
        (others.map(|(text, _)| text.as_str()).collect(), all.len())
    }
}

impl Expected {
    pub(crate) fn read(path: &Path, stored: &Stored) -> Result<Self> {
        let file = Safetensors::read(path)?;
        let &[rows, hidden] = file.shape("embeddings")? else {
            return Err(wrong(path, "its embeddings must be a matrix"));
        };
        if rows != stored.sentences.len() || hidden == 0 {
            return Err(wrong(path, "its embeddings must have a row for each of the stored sentences"));
        }
        let embeddings = file.values("embeddings")?.chunks(hidden).map(<[f64]>::to_vec).collect();
        Ok(Self { file, embeddings })
    }

    /// The names of the stored intermediate results of a sentence, and the width and the elements of each.
    pub(crate) fn intermediates(&self, sentence: usize) -> Result<Vec<(String, usize, Vec<f64>)>> {
        let start = format!("s{sentence}.");
        let names = self.file.names().into_iter().filter(|name| name.starts_with(&start));
        let mut all = Vec::new();
        for name in names {
            // The probabilities of attention have three axes. The encoder keeps nothing that they could be compared with.
            if let &[_, width] = self.file.shape(&name)? {
                all.push((name.clone(), width, self.file.values(&name)?));
            }
        }
        Ok(all)
    }
}

fn wrong(path: &Path, why: &str) -> Error {
    Error::Input { what: path.display().to_string(), why: why.into() }
}
