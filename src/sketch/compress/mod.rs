//! Model files whose large layers become sketched ones, within one budget.

mod kept;
mod report;
mod run;
mod select;
mod share;
mod stored;

use super::budget::Budget;
use crate::error::Named;
use crate::io::Safetensors;
use crate::{Error, Gpu, Result};
use kept::Folder;
use std::fs;
use std::path::{Path, PathBuf};

pub use report::{Compressed, CompressedLayer, Progress, Step};
pub use select::Select;

/// The compression of a `.safetensors` file: weights (out, in) of linear layers become sketched layers of one term.
///
/// Of `X.weight` the output has `X.S1s` (1, in, R), `X.U1s` (1, R, out), `X.S2s` (1, R, out) and `X.U2s` (1, in, R) in
/// the type that the weight had, so that $x W^T \approx \frac{1}{2} (x S_{1} U_{1} + x U_{2} S_{2})$. All other
/// tensors, biases among them, and all metadata are what they were; `tilewise.compressed` says as JSON what became of
/// the layers.
/// (A name that does not end in `weight` is all of the prefix: `proj` becomes `proj.S1s` and so on.)
///
/// # The budget
/// One of parameters or flops is for all selected layers together, and the ranks are those with the least sum of
/// squared relative errors: singular values of a layer fall, so what a layer gains by a further rank, for each
/// parameter of it, falls too, and taking the largest gain there is until the budget is used up is the best that can be
/// done (but for a last step that does not fit). Layers that stay dense count in full. A budget of errors is met by
/// every layer, or the layer stays dense.
///
/// # Interruptions
/// What takes long is the decomposition of each weight. They are kept in a folder beside the output,
/// `OUTPUT.partial`, as large as the weights in f32, and serve any budget: a run that is stopped in whatever way is
/// taken up by the next, which takes those that are whole and of the same weights. The output appears whole at the end,
/// and the folder goes. From the same file, device and budget it is the same bytes, however often it was interrupted.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::io::{Safetensors, SafetensorsWriter};
/// use tilewise::sketch::{Budget, Compress, Select};
///
/// # let file = |name: &str| std::env::temp_dir().join(format!("tilewise-{name}-{}.safetensors", std::process::id()));
/// # let (model, smaller) = (file("model"), file("smaller"));
/// let weight = gpu.random::<f32>([96, 64], Fill::Uniform, 1)?;
/// let bias = gpu.random::<f32>([96], Fill::Uniform, 2)?;
/// SafetensorsWriter::new().tensor("up.weight", &weight)?.tensor("up.bias", &bias)?.write(&model)?;
///
/// let report = Compress::new(&model)
///     .select(Select::pattern("up.*"))
///     .budget(Budget::Params(0.5))
///     .progress(|progress| Ok(println!("{} of {}: {:?}", progress.number, progress.layers, progress.step)))
///     .run(&gpu, &smaller)?;
/// println!("{report}");
/// assert_eq!((report.layers[0].rank, report.params), (9, 2_880));
/// assert_eq!(Safetensors::read(&smaller)?.names(), ["up.S1s", "up.S2s", "up.U1s", "up.U2s", "up.bias"]);
/// # [model, smaller].map(|path| std::fs::remove_file(path).unwrap());
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is compressed before `run`"]
pub struct Compress<'a> {
    input: PathBuf,
    selections: Vec<Select>,
    budget: Budget,
    progress: Box<dyn FnMut(Progress<'_>) -> Result<()> + 'a>,
}

impl<'a> Compress<'a> {
    /// The compression of this file, of all its weights, to half of their parameters unless a budget says otherwise.
    pub fn new(input: impl Into<PathBuf>) -> Self {
        Self {
            input: input.into(),
            selections: Vec::new(),
            budget: Budget::Params(0.5),
            progress: Box::new(|_| Ok(())),
        }
    }

    /// Selects tensors, beside those that other calls select. Without a call these are the matrices of f32, f16 or bf16
    /// whose names end in `weight`, as far as they can save.
    ///
    /// NOTE: tables of embeddings are such matrices too, and a model looks rows of them up: select the layers by
    /// pattern where there are any.
    pub fn select(mut self, selection: Select) -> Self {
        self.selections.push(selection);
        self
    }

    /// What the selected layers may cost together, or how far each may be from what it was.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Tells of every step. An error of it ends the run, and is its error; what was done is kept.
    pub fn progress(mut self, progress: impl FnMut(Progress<'_>) -> Result<()> + 'a) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// Compresses the file. It is held in memory, and what is written too.
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be read or is no `.safetensors` file, whole; if a name that was selected is
    /// not there, or is no matrix of f32, f16 or bf16; if a selection selects nothing; if a selected weight has an entry
    /// that is NaN or infinite, with its place; if a parameter of a layer has the name of another tensor; if the budget
    /// makes no sense or has no room for a rank of 1; if the output is the input or cannot be written. [`Error::Limit`],
    /// [`Error::OutOfMemory`] without room on the device. That of [`progress`](Self::progress). There is no output then,
    /// or the one that there was before.
    /// # Precision
    /// Errors in the report are measured on what is stored, rounded to its type. They are within half a per cent of the
    /// least that any layer of that rank leaves, in the tests on trained weights, and what rounding adds.
    pub fn run(self, gpu: &Gpu, output: impl AsRef<Path>) -> Result<Compressed> {
        let output = output.as_ref();
        let wrong = |why: &str| Error::input(output.display().to_string(), why);
        let budget = self.budget.checked().named(run::OP)?;
        let file = Safetensors::read(&self.input)?;
        if fs::canonicalize(output)
            .is_ok_and(|output| fs::canonicalize(&self.input).is_ok_and(|input| input == output))
        {
            return Err(wrong("is the input, which is kept: name another output"));
        }
        if output.is_dir() || output.file_name().is_none() {
            return Err(wrong("cannot be written: it is a folder"));
        }
        let layers = select::layers(&file, &self.input, &self.selections)?;
        let folder = Folder::beside(output)?;
        let run = run::Run {
            gpu,
            input: &self.input,
            file: &file,
            folder: &folder,
            budget,
            progress: self.progress,
        };
        let compressed = run.compress(&layers, output);
        match compressed {
            Ok(_) => folder.clear(),
            Err(_) => folder.remove_if_empty(),
        }
        compressed
    }
}
