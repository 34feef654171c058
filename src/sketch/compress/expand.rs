//! Multiplies the layers of compressed files out again.

use super::order::WeightOrder;
use super::run::KEY;
use super::selection::prefix_of;
use crate::error::Named;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::{DType, Real};
use crate::ops::Activation;
use crate::progress::Steps;
use crate::sketch::layer::SkLinear;
use crate::{Error, Gpu, Result};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The names of a sketched layer's factors.
const FACTORS: [&str; 4] = ["S1s", "U1s", "S2s", "U2s"];

/// Multiplies out the sketched layers of a file that [`Compress`](super::Compress) wrote. The output has the tensors of
/// the file that was compressed, with its names, shapes, types and order of axes: its weights are the approximations.
/// So programs that load the original also load the output, for example [`TransformerBlock`](crate::attention::TransformerBlock).
/// A model can be evaluated with its compressed weights before it is built from sketched layers
/// ([`SkLinear::load`](crate::sketch::SkLinear::load)).
///
/// Returns the names of the weights, in order.
/// # Errors
/// [`Error::Input`] if the input cannot be read, is no complete `.safetensors` file, or was not written by `Compress`; if a
/// factor is missing or has another type; if the output is the input or cannot be written. [`Error::Shape`] if the shapes of
/// factors do not match. [`Error::Cancelled`] in [`with_progress`](crate::with_progress); an existing output is unchanged.
/// [`Error::OutOfMemory`] or [`Error::Limit`] if a layer does not fit on the device.
/// # Precision
/// Products sum in f32 and are rounded to the type of the factors.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::io::{Safetensors, SafetensorsWriter};
/// use tilewise::sketch::{Compress, expand};
///
/// # let file = |name: &str| std::env::temp_dir().join(format!("tilewise-expand-{name}-{}.safetensors", std::process::id()));
/// # let (model, smaller, again) = (file("model"), file("smaller"), file("again"));
/// let weight = gpu.random::<f32>([96, 64], Fill::Uniform, 1)?;
/// SafetensorsWriter::new().tensor("up.weight", &weight)?.write(&model)?;
/// Compress::new(&model).run(&gpu, &smaller)?;
/// assert_eq!(expand(&gpu, &smaller, &again)?, ["up.weight"]);
/// assert_eq!(Safetensors::read(&again)?.shape("up.weight")?, [96, 64]);
/// # [model, smaller, again].map(|path| std::fs::remove_file(path).unwrap());
/// # Ok(())
/// # }
/// ```
pub fn expand(gpu: &Gpu, input: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<Vec<String>> {
    multiplied_out(gpu, input.as_ref(), output.as_ref()).named_except_files("expand")
}

fn multiplied_out(gpu: &Gpu, input: &Path, output: &Path) -> Result<Vec<String>> {
    let file = Safetensors::read(input)?; // reports for itself
    let layers = file.metadata(KEY).and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
    let Some(layers) = layers else {
        let why = format!("was not written by `Compress`: it has no list of layers in the metadata `{KEY}`");
        return Err(Error::input(input.display().to_string(), why));
    };
    if fs::canonicalize(output).is_ok_and(|output| fs::canonicalize(input).is_ok_and(|input| input == output))
    {
        let why = "is the input file, which is not overwritten: choose another output";
        return Err(Error::input(output.display().to_string(), why));
    }
    let steps = Steps::of("expand", layers.len() + 1);
    let mut writer = SafetensorsWriter::new();
    let mut factors = BTreeSet::new();
    for (at, (name, told)) in layers.iter().enumerate() {
        steps.at(at, format_args!("multiplying out {name}"))?;
        let prefix = prefix_of(name);
        let in_out = told["order"].as_str() == Some(WeightOrder::InOut.word());
        let order = if in_out { WeightOrder::InOut } else { WeightOrder::OutIn };
        writer = match file.dtype(&format!("{prefix}S1s"))? {
            Some(DType::F16) => expanded::<half::f16>(gpu, &file, &prefix, name, order, writer)?,
            Some(DType::Bf16) => expanded::<half::bf16>(gpu, &file, &prefix, name, order, writer)?,
            _ => expanded::<f32>(gpu, &file, &prefix, name, order, writer)?,
        };
        factors.extend(FACTORS.map(|factor| format!("{prefix}{factor}")));
    }
    for name in file.names().iter().filter(|name| !factors.contains(*name)) {
        writer = writer.copied(&file, name)?;
    }
    for key in file.metadata_keys().into_iter().filter(|key| *key != KEY) {
        writer = writer.metadata(key, file.metadata(key).unwrap_or_default());
    }
    steps.at(layers.len(), "writing the file")?;
    writer.write_draft_in(output, None, || steps.end())?;
    Ok(layers.keys().cloned().collect())
}

/// Adds the weight of one layer.
fn expanded<T: Real>(
    gpu: &Gpu,
    file: &Safetensors,
    prefix: &str,
    name: &str,
    order: WeightOrder,
    writer: SafetensorsWriter,
) -> Result<SafetensorsWriter> {
    let [s1, u1, s2, u2] = FACTORS.map(|factor| file.tensor::<T>(gpu, &format!("{prefix}{factor}")));
    let layer = SkLinear::from_factors([&s1?, &u1?, &s2?, &u2?], None, Activation::None)?;
    let weight = layer.to_weight()?.cast::<T>()?;
    let weight = match order {
        WeightOrder::OutIn => weight,
        WeightOrder::InOut => weight.t().contiguous()?,
    };
    writer.tensor(name, &weight)
}
