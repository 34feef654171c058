//! The report of a compression.

use super::order::WeightOrder;
use crate::layout::DType;
use crate::sketch::rank::budget::{Budget, percent};
use crate::sketch::rank::recommend::Choice;
use std::fmt;

/// The report of a compression, from [`Compress::run`](super::Compress::run).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compressed {
    /// The budget.
    pub budget: Budget,
    /// The selected layers, ordered by name.
    pub layers: Vec<CompressedLayer>,
    /// Embeddings that were not compressed: they were selected, but not by name.
    pub embeddings: Vec<String>,
    /// Parameters of all selected layers after compression, without biases.
    pub params: usize,
    /// Parameters of all selected layers before compression, without biases.
    pub dense_params: usize,
    /// Size of the output file in bytes.
    pub bytes: u64,
    /// Size of the input file in bytes.
    pub dense_bytes: u64,
    /// Number of layers whose decomposition came from an earlier run.
    pub reused: usize,
}

/// The report of one layer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompressedLayer {
    /// The weight's name.
    pub name: String,
    /// Shape of the weight: (out, in), independent of the order in the file.
    pub shape: [usize; 2],
    /// The order in the file that was compressed.
    pub order: WeightOrder,
    /// Element type, before and after.
    pub dtype: DType,
    /// Whether the layer was sketched, or the reason why it was not.
    pub choice: Choice,
    /// Number of terms: 1, or 0 for a dense layer.
    pub terms: usize,
    /// Rank of the term; 0 for a dense layer.
    pub rank: usize,
    /// Parameters after compression, without the bias.
    pub params: usize,
    /// Parameters before compression, without the bias.
    pub dense_params: usize,
    /// $\\|W - W'\\|\_F / \\|W\\|\_F$, measured on the stored parameters; 0 for a dense layer.
    pub rel_error: f64,
}

impl fmt::Display for Compressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of =
            |part: u64, all: u64| format!("{part} of {all}, {}", percent(part as f64 / all.max(1) as f64));
        let width = self.layers.iter().map(|layer| layer.name.chars().count()).max().unwrap_or(0).max(5);
        writeln!(f, "budget     {}", self.budget)?;
        writeln!(f, "{:<width$} {:>13} {:>5} {:>7} {:>7}", "layer", "shape", "rank", "params", "error")?;
        for layer in &self.layers {
            let shape = format!("{} x {}", layer.shape[0], layer.shape[1]);
            write!(f, "{:<width$} {shape:>13} ", layer.name)?;
            match &layer.choice {
                Choice::Sketched => {
                    let share = percent(layer.params as f64 / layer.dense_params as f64);
                    writeln!(f, "{:>5} {share:>7} {:>7.4}", layer.rank, layer.rel_error)?;
                }
                Choice::Dense { why } => writeln!(f, "dense: {why}")?,
            }
        }
        for name in &self.embeddings {
            writeln!(f, "left       {name}: an embedding, whose rows are looked up")?;
        }
        writeln!(f, "params     {}", of(self.params as u64, self.dense_params as u64))?;
        if self.reused > 0 {
            writeln!(f, "reused     {} layers of an earlier run", self.reused)?;
        }
        write!(f, "bytes      {}", of(self.bytes, self.dense_bytes))
    }
}
