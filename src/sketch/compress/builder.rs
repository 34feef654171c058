//! The options of a compression.

use super::cache::FactorCache;
use super::report::Compressed;
use super::run::{OP, Run};
use super::selection::{Selection, selected_layers};
use crate::error::Named;
use crate::io::Safetensors;
use crate::progress::Steps;
use crate::sketch::rank::Budget;
use crate::{Error, Gpu, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Compresses a `.safetensors` file: weights of linear layers become sketched layers with one term.
///
/// Embeddings are not compressed unless [`Selection::Name`] selects them, because a model looks up their rows. A matrix
/// counts as an embedding if its module, the part of the name before `.weight`, contains `embed`, ends in `_emb`, or is
/// `emb`, `wte`, `wpe` or `shared`. [`Compressed::embeddings`] lists the embeddings that were left out.
///
/// Weights are (out, in), as in PyTorch, or (in, out) if [`in_out`](Self::in_out) says so. If a weight is not square
/// and its bias has one element for each column, it is recognised as (in, out).
///
/// In the output, `X.weight` is replaced by `X.S1s` (1, in, R), `X.U1s` (1, R, out), `X.S2s` (1, R, out) and `X.U2s`
/// (1, in, R), with the type of the weight, such that $x W^T \approx \frac{1}{2} (x S_{1} U_{1} + x U_{2} S_{2})$. If a
/// name does not end in `weight`, the whole name is the prefix: `proj` becomes `proj.S1s` and so on. All other tensors,
/// including biases, and all metadata are copied. The metadata entry `tilewise.compressed` lists the compressed layers
/// as JSON, with the shape (out, in) and the order that the weight had.
///
/// [`SkLinear::load`](crate::sketch::SkLinear::load) loads each layer of the output, with its bias.
/// [`expand`](super::expand) multiplies the layers out, for programs that load the original file.
///
/// # Budget
/// A budget of parameters or flops is shared by all selected layers. The ranks are those with the least sum of squared
/// relative errors. They are found greedily: the next rank goes to the layer with the largest gain per parameter. This
/// is optimal up to the last rank that does not fit, because the singular values of a layer decrease, and with them the
/// gain of each further rank. Layers that stay dense count with all their parameters. Under a budget of errors, each
/// layer either meets the error or stays dense.
///
/// # Interruptions
/// The decomposition of the weights takes most of the time. Decompositions are cached in the folder `OUTPUT.partial`
/// next to the output, which grows as large as the weights in f32. They serve any budget. If a run is stopped in any
/// way, the next run uses all complete decompositions of the same weights. At the end the output file appears as a
/// whole, and the folder is removed. The same file, device and budget give the same bytes, however often the run was
/// interrupted.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::io::{Safetensors, SafetensorsWriter};
/// use tilewise::sketch::{Budget, Compress, Selection};
///
/// # let file = |name: &str| std::env::temp_dir().join(format!("tilewise-{name}-{}.safetensors", std::process::id()));
/// # let (model, smaller) = (file("model"), file("smaller"));
/// let weight = gpu.random::<f32>([96, 64], Fill::Uniform, 1)?;
/// let bias = gpu.random::<f32>([96], Fill::Uniform, 2)?;
/// SafetensorsWriter::new().tensor("up.weight", &weight)?.tensor("up.bias", &bias)?.write(&model)?;
///
/// let report = Compress::new(&model)
///     .select(Selection::pattern("up.*"))
///     .budget(Budget::Params(0.5))
///     .run(&gpu, &smaller)?;
/// println!("{report}");
/// assert_eq!((report.layers[0].rank, report.params), (9, 2_880));
/// assert_eq!(Safetensors::read(&smaller)?.names(), ["up.S1s", "up.S2s", "up.U1s", "up.U2s", "up.bias"]);
/// # [model, smaller].map(|path| std::fs::remove_file(path).unwrap());
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is compressed before `run`"]
#[derive(Clone, Debug)]
pub struct Compress {
    input: PathBuf,
    selections: Vec<Selection>,
    in_out: Vec<String>,
    budget: Budget,
}

impl Compress {
    /// A compression of this file. By default it compresses all weights but embeddings to half of their parameters.
    pub fn new(input: impl Into<PathBuf>) -> Self {
        Self { input: input.into(), selections: Vec::new(), in_out: Vec::new(), budget: Budget::Params(0.5) }
    }

    /// Selects tensors, in addition to those of earlier calls. Without a call, all matrices of f32, f16 or bf16 are
    /// selected whose names end in `weight` and that can save parameters. Embeddings are selected by name alone.
    pub fn select(mut self, selection: Selection) -> Self {
        self.selections.push(selection);
        self
    }

    /// Weights whose names match the pattern (as that of [`Selection::Pattern`]) are stored (in, out), as `Conv1D` of
    /// GPT-2 in transformers stores them. It selects nothing, and adds to the patterns of earlier calls.
    pub fn in_out(mut self, pattern: impl Into<String>) -> Self {
        self.in_out.push(pattern.into());
        self
    }

    /// The budget: the cost of all selected layers together, or the largest error of each.
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Compresses the file. Input and output are held in memory.
    ///
    /// A callback of [`with_progress`](crate::with_progress) first gets the progress of [`Safetensors::read`], then two parts
    /// for each selected layer, because all layers are factored before the first one is stored, and one for the output file.
    /// The parts are named `factoring NAME`, `factored NAME` (a later run will not repeat it), `reused NAME`, `stored NAME`.
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be read or is not a complete `.safetensors` file; if a selected name does
    /// not exist, or is not a matrix of f32, f16 or bf16; if a selection or a pattern of [`in_out`](Self::in_out)
    /// matches nothing, or a selection nothing but embeddings; if a selected weight has a NaN or infinite entry, with
    /// its index; if a parameter of a layer has the name of another tensor; if the budget is out of range or too small
    /// for rank 1; if the output is the input or cannot be written. [`Error::Limit`] or [`Error::OutOfMemory`] if a
    /// buffer does not fit on the device. [`Error::Cancelled`] in [`with_progress`](crate::with_progress); cached
    /// decompositions remain. In all cases an existing output file is unchanged.
    /// # Precision
    /// Errors in the report are measured on the stored parameters, rounded to their type. In tests on trained weights
    /// they are within half a per cent of the least error of any layer of the rank, plus the error of rounding.
    pub fn run(self, gpu: &Gpu, output: impl AsRef<Path>) -> Result<Compressed> {
        let output = output.as_ref();
        let wrong = |why: &str| Error::input(output.display().to_string(), why);
        let budget = self.budget.checked().named(OP)?;
        let file = Safetensors::read(&self.input).named_except_files(OP)?;
        if fs::canonicalize(output)
            .is_ok_and(|output| fs::canonicalize(&self.input).is_ok_and(|input| input == output))
        {
            return Err(wrong("is the input file, which is not overwritten: choose another output"));
        }
        if output.is_dir() || output.file_name().is_none() {
            return Err(wrong("cannot be written: it is a folder"));
        }
        let layers = selected_layers(&file, &self.input, &self.selections, &self.in_out)?;
        let cache = FactorCache::open(output)?;
        let steps = Steps::of(OP, 2 * layers.layers.len() + 1);
        let run = Run { gpu, input: &self.input, file: &file, cache: &cache, budget, steps };
        let compressed = run.compress(&layers, output).named_except_files(OP);
        match compressed {
            Ok(_) => cache.clear(),
            Err(_) => cache.remove_if_empty(),
        }
        compressed
    }
}
