//! One compression, from the weights to the file.

use super::kept::{Folder, fingerprint};
use super::report::{Compressed, CompressedLayer, Progress, Step};
use super::select::Layer;
use super::share;
use super::stored::Stored;
use crate::error::Named;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Element;
use crate::sketch::advise::{Choice, out_of_reach, too_small};
use crate::sketch::budget::{Budget, Sizes};
use crate::sketch::spectrum::{Spectrum, decomposed};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What errors name that are about no file.
pub(super) const OP: &str = "Compress::run";

/// Where a file says what became of its layers.
const KEY: &str = "tilewise.compressed";

pub(super) struct Run<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) input: &'a Path,
    pub(super) file: &'a Safetensors,
    pub(super) folder: &'a Folder,
    pub(super) budget: Budget,
    pub(super) progress: Box<dyn FnMut(Progress<'_>) -> Result<()> + 'a>,
}

/// What is known of a layer once it is factored.
struct Known<'a> {
    layer: &'a Layer,
    fingerprint: u64,
    /// Or why it stays dense.
    spectrum: Result<Spectrum, String>,
}

impl Run<'_> {
    pub(super) fn compress(mut self, layers: &[Layer], output: &Path) -> Result<Compressed> {
        self.affordable(layers).named(OP)?;
        let (known, reused) = self.factored(layers)?;
        let ranks = self.ranks(&known).named(OP)?;
        let mut writer = SafetensorsWriter::new();
        let mut done = Vec::new();
        for (known, rank) in known.iter().zip(&ranks) {
            let told = match (&known.spectrum, rank) {
                (Ok(spectrum), Ok(rank)) => {
                    let (told, stored) = self.stored(known, spectrum, *rank)?;
                    if let Some(stored) = stored {
                        writer = stored.write(writer).named(OP)?;
                        self.tell(layers, done.len(), Step::Stored)?;
                    }
                    told
                }
                (Err(why), _) | (_, Err(why)) => dense(known.layer, why.clone()),
            };
            done.push(told);
        }
        self.copied(&done, writer)?.write_with(output, Some(self.folder.path()))?;
        let bytes = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        Ok(Compressed {
            budget: self.budget,
            params: done.iter().map(|layer| layer.params).sum(),
            dense_params: done.iter().map(|layer| layer.dense_params).sum(),
            layers: done,
            bytes: bytes(output),
            dense_bytes: bytes(self.input),
            reused,
        })
    }

    /// Checks that there is room for all layers, before any is factored, which takes long.
    fn affordable(&self, layers: &[Layer]) -> Result<()> {
        let (Budget::Params(share) | Budget::Flops(share)) = self.budget else { return Ok(()) };
        let (able, other): (Vec<Sizes>, Vec<Sizes>) =
            layers.iter().map(|layer| layer.sizes).partition(|sizes| sizes.most() > 0);
        share::room(&able, share, other.into_iter().map(Sizes::dense).sum()).map(drop)
    }

    fn tell(&mut self, layers: &[Layer], at: usize, step: Step) -> Result<()> {
        (self.progress)(Progress { layer: &layers[at].name, number: at + 1, layers: layers.len(), step })
    }

    /// The spectra of all layers that can save, and how many were known before.
    fn factored<'l>(&mut self, layers: &'l [Layer]) -> Result<(Vec<Known<'l>>, usize)> {
        let (mut known, mut reused) = (Vec::new(), 0);
        for (at, layer) in layers.iter().enumerate() {
            let fingerprint = fingerprint(self.file, layer)?;
            if layer.sizes.most() == 0 {
                known.push(Known { layer, fingerprint, spectrum: Err(too_small(layer.sizes)) });
                continue;
            }
            let factors = match self.folder.open(layer, fingerprint) {
                Some(factors) => {
                    reused += 1;
                    self.tell(layers, at, Step::Reused)?;
                    factors
                }
                None => {
                    self.tell(layers, at, Step::Factoring)?;
                    let svd = decomposed(&self.weight(layer)?, 2 * layer.sizes.most()).named(OP)?;
                    let factors = self.folder.keep(layer, fingerprint, &svd)?;
                    self.tell(layers, at, Step::Factored)?;
                    factors
                }
            };
            let beyond = || format!("its factors are beyond {}", layer.dtype);
            let spectrum = if factors.fit(layer.dtype) { Ok(factors.spectrum()) } else { Err(beyond()) };
            known.push(Known { layer, fingerprint, spectrum });
        }
        Ok((known, reused))
    }

    /// The ranks within the budget, or why a layer stays dense.
    fn ranks(&self, known: &[Known]) -> Result<Vec<Result<usize, String>>> {
        match self.budget {
            Budget::Params(share) | Budget::Flops(share) => shared(known, share),
            Budget::Error(error) => {
                let rank = |known: &Known| {
                    let (sizes, spectrum) =
                        (known.layer.sizes, known.spectrum.as_ref().map_err(String::clone)?);
                    let least = sizes.reaching(error, |rank| spectrum.error(rank));
                    let why = || out_of_reach(sizes, error, spectrum.error(sizes.most()));
                    least.map(|least| sizes.rounded(least)).ok_or_else(why)
                };
                Ok(known.iter().map(rank).collect())
            }
        }
    }

    /// The parameters of a layer, if it is sketched, and what there is to tell of it.
    fn stored<'l>(
        &self,
        known: &Known<'l>,
        spectrum: &Spectrum,
        mut rank: usize,
    ) -> Result<(CompressedLayer, Option<Stored<'l>>)> {
        let layer = known.layer;
        let factors = self.folder.open(layer, known.fingerprint).ok_or_else(|| {
            Error::input(
                self.folder.path().display().to_string(),
                "was changed by another while it was in use",
            )
        })?;
        let weight = self.weight(layer)?;
        loop {
            let stored = Stored::new(layer, &factors, rank);
            let rel_error = stored.error(&weight).named(OP)?;
            let allowed = if let Budget::Error(error) = self.budget { error } else { f64::INFINITY };
            if rel_error <= allowed {
                let (choice, params) = (Choice::Sketched, rank * layer.sizes.per_rank());
                let told = dense(layer, String::new());
                return Ok((
                    CompressedLayer { choice, terms: 1, rank, params, rel_error, ..told },
                    Some(stored),
                ));
            }
            // What rounding adds is about the same at the next ranks.
            let added = rel_error.powi(2) - spectrum.squared_error(rank);
            let enough = |rank: &usize| spectrum.squared_error(*rank) + added <= allowed.powi(2);
            let Some(next) = (rank + 1..=layer.sizes.most()).find(enough) else {
                let why = format!(
                    "its factors are rounded to {}, and of rank {rank} they leave {rel_error:.3}",
                    layer.dtype
                );
                return Ok((dense(layer, why), None));
            };
            rank = next;
        }
    }

    /// The other tensors, and all that the file says of itself.
    fn copied(&self, done: &[CompressedLayer], mut writer: SafetensorsWriter) -> Result<SafetensorsWriter> {
        let gone: BTreeSet<&str> =
            done.iter().filter(|layer| layer.rank > 0).map(|layer| layer.name.as_str()).collect();
        for name in self.file.names().iter().filter(|name| !gone.contains(name.as_str())) {
            writer = writer.copied(self.file, name).named(OP)?;
        }
        for key in self.file.metadata_keys() {
            writer = writer.metadata(key, self.file.metadata(key).unwrap_or_default());
        }
        // A file may be compressed again, with other layers.
        let before =
            self.file.metadata(KEY).and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        let mut layers = before.unwrap_or_default();
        for CompressedLayer { name, shape, terms, rank, rel_error, .. } in
            done.iter().filter(|layer| layer.rank > 0)
        {
            layers.insert(
                name.clone(),
                json!({"terms": terms, "rank": rank, "rel_error": rel_error, "shape": shape}),
            );
        }
        Ok(writer.metadata(KEY, Value::Object(layers).to_string()))
    }

    /// A weight in f32, exactly.
    fn weight(&self, layer: &Layer) -> Result<Tensor<f32>> {
        let values: Vec<f32> = self.file.values(&layer.name)?.into_iter().map(Element::from_f64).collect();
        self.gpu.tensor(&values, [layer.sizes.rows, layer.sizes.cols]).named(OP)
    }
}

/// What there is to tell of a layer that stays as it is.
fn dense(layer: &Layer, why: String) -> CompressedLayer {
    let params = layer.sizes.dense();
    CompressedLayer {
        name: layer.name.clone(),
        shape: [layer.sizes.rows, layer.sizes.cols],
        dtype: layer.dtype,
        choice: Choice::Dense { why },
        terms: 0,
        rank: 0,
        params,
        dense_params: params,
        rel_error: 0.0,
    }
}

/// The ranks with the least errors that have this share of all parameters at most.
fn shared(known: &[Known], share: f64) -> Result<Vec<Result<usize, String>>> {
    let dense = known.iter().filter(|known| known.spectrum.is_err());
    let kept = dense.map(|known| known.layer.sizes.dense()).sum();
    let sketched: Vec<(Sizes, &Spectrum)> =
        known.iter().filter_map(|known| Some((known.layer.sizes, known.spectrum.as_ref().ok()?))).collect();
    let mut ranks = share::ranks(&sketched, share, kept)?.into_iter();
    let rank =
        |known: &Known| known.spectrum.as_ref().map(|_| ranks.next().unwrap_or(0)).map_err(String::clone);
    Ok(known.iter().map(rank).collect())
}
