//! One run of a compression: from the weights to the output file.

use super::allocate;
use super::cache::{FactorCache, fingerprint};
use super::order::WeightOrder;
use super::parameters::LayerParameters;
use super::report::{Compressed, CompressedLayer};
use super::selection::{Selected, SelectedLayer};
use crate::error::Named;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Element;
use crate::progress::Steps;
use crate::sketch::rank::budget::Budget;
use crate::sketch::rank::recommend::{Choice, out_of_reach, too_small};
use crate::sketch::rank::sizes::Sizes;
use crate::sketch::rank::spectrum::{Spectrum, decompose};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The name of the function in errors.
pub(super) const OP: &str = "Compress::run";

/// The metadata key that lists the compressed layers of a file.
pub(super) const KEY: &str = "tilewise.compressed";

pub(super) struct Run<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) input: &'a Path,
    pub(super) file: &'a Safetensors,
    pub(super) cache: &'a FactorCache,
    pub(super) budget: Budget,
    /// Two for each layer, and one for the file.
    pub(super) steps: Steps,
}

/// A layer and its spectrum.
struct FactoredLayer<'a> {
    layer: &'a SelectedLayer,
    fingerprint: u64,
    /// The spectrum, or the reason why the layer stays dense.
    spectrum: Result<Spectrum, String>,
}

impl Run<'_> {
    pub(super) fn compress(self, selected: &Selected, output: &Path) -> Result<Compressed> {
        let layers = &selected.layers;
        self.affordable(layers).named(OP)?;
        let (factored, reused) = self.factored(layers)?;
        let ranks = self.ranks(&factored).named(OP)?;
        let mut writer = SafetensorsWriter::new();
        let mut reports = Vec::new();
        for (factored, rank) in factored.iter().zip(&ranks) {
            let report = match (&factored.spectrum, rank) {
                (Ok(spectrum), Ok(rank)) => {
                    let (report, parameters) = self.sketch(factored, spectrum, *rank)?;
                    if let Some(parameters) = parameters {
                        writer = parameters.write(writer).named(OP)?;
                        let done = layers.len() + reports.len() + 1;
                        self.steps.at(done, format_args!("stored {}", factored.layer.name))?;
                    }
                    report
                }
                (Err(why), _) | (_, Err(why)) => dense(factored.layer, why.clone()),
            };
            reports.push(report);
        }
        let writer = self.copy_rest(&reports, writer)?;
        self.steps.at(2 * layers.len(), "writing the file")?;
        writer.write_draft_in(output, Some(self.cache.path()), || self.steps.end())?;
        let bytes = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        Ok(Compressed {
            budget: self.budget,
            params: reports.iter().map(|layer| layer.params).sum(),
            dense_params: reports.iter().map(|layer| layer.dense_params).sum(),
            layers: reports,
            embeddings: selected.embeddings.clone(),
            bytes: bytes(output),
            dense_bytes: bytes(self.input),
            reused,
        })
    }

    /// Checks that the budget allows rank 1 for all layers before the first decomposition, which takes long.
    fn affordable(&self, layers: &[SelectedLayer]) -> Result<()> {
        let (Budget::Params(share) | Budget::Flops(share)) = self.budget else { return Ok(()) };
        let (able, other): (Vec<Sizes>, Vec<Sizes>) =
            layers.iter().map(|layer| layer.sizes).partition(|sizes| sizes.max_rank() > 0);
        allocate::room(&able, share, other.into_iter().map(Sizes::dense).sum()).map(drop)
    }

    /// Decomposes all layers that can save parameters. Also returns how many decompositions came from the cache.
    fn factored<'l>(&self, layers: &'l [SelectedLayer]) -> Result<(Vec<FactoredLayer<'l>>, usize)> {
        let (mut all, mut reused) = (Vec::new(), 0);
        for (at, layer) in layers.iter().enumerate() {
            let fingerprint = fingerprint(self.file, layer)?;
            if layer.sizes.max_rank() == 0 {
                all.push(FactoredLayer { layer, fingerprint, spectrum: Err(too_small(layer.sizes)) });
                continue;
            }
            let factors = match self.cache.load(layer, fingerprint)? {
                Some(factors) => {
                    reused += 1;
                    self.steps.at(at + 1, format_args!("reused {}", layer.name))?;
                    factors
                }
                None => {
                    self.steps.at(at, format_args!("factoring {}", layer.name))?;
                    let svd = decompose(&self.weight(layer)?, 2 * layer.sizes.max_rank()).named(OP)?;
                    let factors = self.cache.store(layer, fingerprint, &svd)?;
                    self.steps.at(at + 1, format_args!("factored {}", layer.name))?;
                    factors
                }
            };
            let overflow = || format!("its factors overflow {}", layer.dtype);
            let spectrum =
                if factors.are_finite_in(layer.dtype) { Ok(factors.spectrum()) } else { Err(overflow()) };
            all.push(FactoredLayer { layer, fingerprint, spectrum });
        }
        Ok((all, reused))
    }

    /// The rank of each layer within the budget, or the reason why it stays dense.
    fn ranks(&self, layers: &[FactoredLayer]) -> Result<Vec<Result<usize, String>>> {
        match self.budget {
            Budget::Params(share) | Budget::Flops(share) => shared(layers, share),
            Budget::Error(error) => {
                let rank = |factored: &FactoredLayer| {
                    let (sizes, spectrum) =
                        (factored.layer.sizes, factored.spectrum.as_ref().map_err(String::clone)?);
                    let least = sizes.min_rank_reaching(error, |rank| spectrum.error(rank));
                    let why = || out_of_reach(sizes, error, spectrum.error(sizes.max_rank()));
                    least.map(|least| sizes.rounded(least)).ok_or_else(why)
                };
                Ok(layers.iter().map(rank).collect())
            }
        }
    }

    /// Computes the parameters of a layer and its report. If no rank meets the budget after rounding, the layer stays
    /// dense and there are no parameters.
    fn sketch<'l>(
        &self,
        factored: &FactoredLayer<'l>,
        spectrum: &Spectrum,
        mut rank: usize,
    ) -> Result<(CompressedLayer, Option<LayerParameters<'l>>)> {
        let layer = factored.layer;
        let factors = self.cache.load(layer, factored.fingerprint)?.ok_or_else(|| {
            Error::input(
                self.cache.path().display().to_string(),
                "was changed by another process during the run",
            )
        })?;
        let weight = self.weight(layer)?;
        loop {
            let parameters = LayerParameters::new(layer, &factors, rank);
            let rel_error = parameters.error(&weight).named(OP)?;
            let allowed = if let Budget::Error(error) = self.budget { error } else { f64::INFINITY };
            if rel_error <= allowed {
                let (choice, params) = (Choice::Sketched, rank * layer.sizes.per_rank());
                let report = dense(layer, String::new());
                return Ok((
                    CompressedLayer { choice, terms: 1, rank, params, rel_error, ..report },
                    Some(parameters),
                ));
            }
            // Rounding adds about the same error at the next ranks.
            let added = rel_error.powi(2) - spectrum.squared_error(rank);
            let enough = |rank: &usize| spectrum.squared_error(*rank) + added <= allowed.powi(2);
            let Some(next) = (rank + 1..=layer.sizes.max_rank()).find(enough) else {
                let why = format!(
                    "its factors are rounded to {}, which leaves an error of {rel_error:.3} at rank {rank}",
                    layer.dtype
                );
                return Ok((dense(layer, why), None));
            };
            rank = next;
        }
    }

    /// Adds the other tensors and the metadata.
    fn copy_rest(
        &self,
        reports: &[CompressedLayer],
        mut writer: SafetensorsWriter,
    ) -> Result<SafetensorsWriter> {
        let replaced: BTreeSet<&str> =
            reports.iter().filter(|layer| layer.rank > 0).map(|layer| layer.name.as_str()).collect();
        for name in self.file.names().iter().filter(|name| !replaced.contains(name.as_str())) {
            writer = writer.copied(self.file, name).named(OP)?;
        }
        for key in self.file.metadata_keys() {
            writer = writer.metadata(key, self.file.metadata(key).unwrap_or_default());
        }
        // The file may have been compressed before, with other layers.
        let before =
            self.file.metadata(KEY).and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        let mut layers = before.unwrap_or_default();
        for CompressedLayer { name, shape, order, terms, rank, rel_error, .. } in
            reports.iter().filter(|layer| layer.rank > 0)
        {
            layers.insert(
                name.clone(),
                json!({"terms": terms, "rank": rank, "rel_error": rel_error, "shape": shape, "order": order.word()}),
            );
        }
        Ok(writer.metadata(KEY, Value::Object(layers).to_string()))
    }

    /// A weight (out, in) in f32, exactly.
    fn weight(&self, layer: &SelectedLayer) -> Result<Tensor<f32>> {
        let values: Vec<f32> = self.file.values(&layer.name)?.into_iter().map(Element::from_f64).collect();
        let stored = self.gpu.tensor(&values, layer.stored()).named(OP)?;
        match layer.order {
            WeightOrder::OutIn => Ok(stored),
            WeightOrder::InOut => stored.t().contiguous().named(OP),
        }
    }
}

/// The report of a layer that stays dense.
fn dense(layer: &SelectedLayer, why: String) -> CompressedLayer {
    let params = layer.sizes.dense();
    CompressedLayer {
        name: layer.name.clone(),
        shape: [layer.sizes.rows, layer.sizes.cols],
        order: layer.order,
        dtype: layer.dtype,
        choice: Choice::Dense { why },
        terms: 0,
        rank: 0,
        params,
        dense_params: params,
        rel_error: 0.0,
    }
}

/// The ranks with the least errors within this share of all parameters.
fn shared(layers: &[FactoredLayer], share: f64) -> Result<Vec<Result<usize, String>>> {
    let dense = layers.iter().filter(|one| one.spectrum.is_err());
    let dense = dense.map(|one| one.layer.sizes.dense()).sum();
    let sketched: Vec<(Sizes, &Spectrum)> =
        layers.iter().filter_map(|one| Some((one.layer.sizes, one.spectrum.as_ref().ok()?))).collect();
    let mut ranks = allocate::ranks(&sketched, share, dense)?.into_iter();
    let rank =
        |one: &FactoredLayer| one.spectrum.as_ref().map(|_| ranks.next().unwrap_or(0)).map_err(String::clone);
    Ok(layers.iter().map(rank).collect())
}
