//! What a compression tells: while it runs, and at its end.

use crate::layout::DType;
use crate::sketch::advise::Choice;
use crate::sketch::budget::{Budget, percent};
use std::fmt;

/// How far a compression is: for each layer that can save, one `Factoring` and `Factored`, or one `Reused`; and for
/// each that is sketched in the end one `Stored`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The weight's name.
    pub layer: &'a str,
    /// Which of the selected layers it is, from 1.
    pub number: usize,
    /// How many are selected.
    pub layers: usize,
    /// What is done with it.
    pub step: Step,
}

/// What is done with a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// It is about to be factored, which takes long.
    Factoring,
    /// It was factored, and its factors are on the disk: a run that ends now need not do it again.
    Factored,
    /// Its factors are those of an earlier run.
    Reused,
    /// Its parameters are ready, and measured.
    Stored,
}

/// What became of a file, from [`Compress::run`](super::Compress::run).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compressed {
    /// What was asked for.
    pub budget: Budget,
    /// The layers that were selected, in the order of their names.
    pub layers: Vec<CompressedLayer>,
    /// Parameters of all of them, without biases.
    pub params: usize,
    /// Parameters that they had.
    pub dense_params: usize,
    /// Bytes of the file that was written.
    pub bytes: u64,
    /// Bytes of the file that was read.
    pub dense_bytes: u64,
    /// Layers whose factors were those of an earlier run.
    pub reused: usize,
}

/// What became of a layer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompressedLayer {
    /// The weight's name.
    pub name: String,
    /// Rows and columns of the weight: (out, in).
    pub shape: [usize; 2],
    /// The type of its elements, before and after.
    pub dtype: DType,
    /// A sketched layer, or the dense one, and why.
    pub choice: Choice,
    /// Terms: 1, or 0 of a dense layer.
    pub terms: usize,
    /// The rank of the term; 0 of a dense layer.
    pub rank: usize,
    /// Parameters, without the bias.
    pub params: usize,
    /// Parameters that there were.
    pub dense_params: usize,
    /// $\|W - W'\|_F / \|W\|_F$, measured on the parameters as they are stored; 0 of a dense layer.
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
        writeln!(f, "params     {}", of(self.params as u64, self.dense_params as u64))?;
        if self.reused > 0 {
            writeln!(f, "reused     {} layers of an earlier run", self.reused)?;
        }
        write!(f, "bytes      {}", of(self.bytes, self.dense_bytes))
    }
}
