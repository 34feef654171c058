//! Which tensors of a file are compressed.

use super::order::{WeightOrder, is_embedding, order_of};
use crate::io::Safetensors;
use crate::layout::{DType, Element};
use crate::sketch::rank::sizes::Sizes;
use crate::{Error, Result};
use half::{bf16, f16};
use std::collections::BTreeSet;
use std::path::Path;
use wildmatch::WildMatch;

/// Which tensors of a file are compressed. Several selections add up. Only a name selects an embedding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// The tensor of this name, which must be a matrix of f32, f16 or bf16.
    Name(String),
    /// Matrices of f32, f16 or bf16 whose names match the pattern: `*` stands for any characters including dots, `?`
    /// for one character.
    Pattern(String),
    /// Matrices of f32, f16 or bf16 whose names end in `weight`, with at least this number of rows and columns.
    Shape {
        /// Rows, the outputs of the layer.
        rows: usize,
        /// Columns, the inputs of the layer.
        cols: usize,
    },
}

impl Selection {
    /// The tensor of this name.
    pub fn name(name: impl Into<String>) -> Self {
        Self::Name(name.into())
    }

    /// Matrices whose names match the pattern.
    pub fn pattern(pattern: impl Into<String>) -> Self {
        Self::Pattern(pattern.into())
    }

    /// Weights with at least this number of rows and columns.
    #[must_use]
    pub fn shape(rows: usize, cols: usize) -> Self {
        Self::Shape { rows, cols }
    }
}

/// A selected weight.
#[derive(Clone, Debug)]
pub(super) struct SelectedLayer {
    pub(super) name: String,
    /// The prefix of the names of its parameters and its bias.
    pub(super) prefix: String,
    /// Rows are outputs, columns are inputs, independent of the order in the file.
    pub(super) sizes: Sizes,
    pub(super) order: WeightOrder,
    pub(super) dtype: DType,
}

/// The layers to compress, and the names of the embeddings that were left out.
pub(super) struct Selected {
    pub(super) layers: Vec<SelectedLayer>,
    pub(super) embeddings: Vec<String>,
}

impl SelectedLayer {
    /// The shape in the file.
    pub(super) fn stored(&self) -> [usize; 2] {
        match self.order {
            WeightOrder::OutIn => [self.sizes.rows, self.sizes.cols],
            WeightOrder::InOut => [self.sizes.cols, self.sizes.rows],
        }
    }

    /// The names and shapes of a sketched layer's parameters.
    pub(super) fn parts(&self, rank: usize) -> [(String, [usize; 3]); 4] {
        let Sizes { rows, cols } = self.sizes;
        let part = |name: &str, shape| (format!("{}{name}", self.prefix), shape);
        [
            part("S1s", [1, cols, rank]),
            part("U1s", [1, rank, rows]),
            part("S2s", [1, rank, rows]),
            part("U2s", [1, cols, rank]),
        ]
    }
}

/// The selected layers, ordered by name. Without selections, these are all weights that can save parameters, except
/// embeddings. Weights whose names match `in_out` are stored (in, out).
///
/// All weights are checked to be finite, and the names of their new parameters to be free.
pub(super) fn selected_layers(
    file: &Safetensors,
    path: &Path,
    selections: &[Selection],
    in_out: &[String],
) -> Result<Selected> {
    let wrong = |why: String| Err(Error::input(path.display().to_string(), why));
    let matrices = file.names().into_iter().filter_map(|name| matrix(file, name, in_out).transpose());
    let matrices = matrices.collect::<Result<Vec<_>>>()?;
    for pattern in in_out {
        if !matrices.iter().any(|layer| WildMatch::new(pattern).matches(&layer.name)) {
            return wrong(format!("`in_out` of `{pattern}` matches no matrix of f32, f16 or bf16"));
        }
    }
    let (mut selected, mut embeddings, mut named) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // Adds the matches, and returns whether any of them is not an embedding.
    let mut add = |matches: &dyn Fn(&SelectedLayer) -> bool| {
        let found = (0..matrices.len()).filter(|&at| matches(&matrices[at]));
        let (tables, layers): (Vec<usize>, Vec<usize>) =
            found.partition(|&at| is_embedding(&matrices[at].name));
        let told = match (layers.is_empty(), tables.first()) {
            (false, _) => Ok(()),
            (true, None) => Err(None),
            (true, Some(&table)) => Err(Some(matrices[table].name.clone())),
        };
        selected.extend(layers);
        embeddings.extend(tables);
        told
    };
    for select in selections {
        if let Selection::Name(name) = select {
            named.insert(position_of(file, path, &matrices, name)?);
            continue;
        }
        match add(&|layer| matches(select, layer)) {
            Ok(()) => {}
            Err(None) => return wrong(format!("{select:?} selects no matrix of f32, f16 or bf16")),
            Err(Some(table)) => {
                return wrong(format!(
                    "{select:?} selects embeddings only, such as `{table}`, whose rows a model looks up; \
                     `Selection::name` compresses one nonetheless"
                ));
            }
        }
    }
    if selections.is_empty() {
        let none = add(&|layer| layer.name.ends_with("weight") && layer.sizes.max_rank() > 0).is_err();
        if none {
            return wrong(
                "has no matrix of f32, f16 or bf16 whose name ends in `weight`, that can save params and that is no \
                 embedding"
                    .into(),
            );
        }
    }
    selected.extend(named);
    let embeddings = embeddings.difference(&selected).map(|&at| matrices[at].name.clone()).collect();
    let layers: Vec<SelectedLayer> = selected.into_iter().map(|at| matrices[at].clone()).collect();
    vacant(file, path, &layers)?;
    layers.iter().try_for_each(|layer| finite(file, path, layer))?;
    Ok(Selected { layers, embeddings })
}

/// The position of the matrix of this name.
fn position_of(file: &Safetensors, path: &Path, matrices: &[SelectedLayer], name: &str) -> Result<usize> {
    if let Some(at) = matrices.iter().position(|layer| layer.name == name) {
        return Ok(at);
    }
    let shape = file.shape(name)?; // an error if the name does not exist
    let dtype = file.dtype(name)?.map_or("another type".into(), |dtype| dtype.to_string());
    let why = format!(
        "`{name}` is {dtype} of shape {shape:?}; only a matrix of f32, f16 or bf16 can be compressed"
    );
    Err(Error::input(path.display().to_string(), why))
}

fn matches(select: &Selection, layer: &SelectedLayer) -> bool {
    match select {
        Selection::Name(name) => layer.name == *name,
        Selection::Pattern(pattern) => WildMatch::new(pattern).matches(&layer.name),
        Selection::Shape { rows, cols } => {
            layer.name.ends_with("weight") && layer.sizes.rows >= *rows && layer.sizes.cols >= *cols
        }
    }
}

/// The layer of a tensor, if it is a matrix of floating-point numbers.
fn matrix(file: &Safetensors, name: String, in_out: &[String]) -> Result<Option<SelectedLayer>> {
    let (&[rows, cols], Some(dtype)) = (file.shape(&name)?, file.dtype(&name)?) else { return Ok(None) };
    if !dtype.is_real() || rows == 0 || cols == 0 {
        return Ok(None);
    }
    let prefix = prefix_of(&name);
    let order = order_of(file, &name, &prefix, [rows, cols], in_out);
    let sizes = match order {
        WeightOrder::OutIn => Sizes { rows, cols },
        WeightOrder::InOut => Sizes { rows: cols, cols: rows },
    };
    Ok(Some(SelectedLayer { name, prefix, sizes, order, dtype }))
}

/// The prefix of the names of a weight's parameters and its bias.
pub(super) fn prefix_of(name: &str) -> String {
    match name.strip_suffix("weight") {
        Some(prefix) if prefix.is_empty() || prefix.ends_with('.') => prefix.to_owned(),
        _ => format!("{name}."),
    }
}

/// Checks that no parameter of a sketched layer has the name of another tensor.
fn vacant(file: &Safetensors, path: &Path, layers: &[SelectedLayer]) -> Result<()> {
    let mut taken: BTreeSet<String> = file.names().into_iter().collect();
    for (name, _) in layers.iter().flat_map(|layer| layer.parts(0)) {
        if !taken.insert(name.clone()) {
            let why = format!(
                "`{name}` would be a parameter of a sketched layer, but is the name of another tensor"
            );
            return Err(Error::input(path.display().to_string(), why));
        }
    }
    Ok(())
}

/// Checks that a weight is finite, before the first decomposition, which takes long.
fn finite(file: &Safetensors, path: &Path, layer: &SelectedLayer) -> Result<()> {
    fn first_non_finite<T: Element>(bytes: &[u8]) -> Option<(usize, f64)> {
        let elements = bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>);
        elements.map(Element::to_f64).enumerate().find(|(_, value)| !value.is_finite())
    }
    let bytes = file.bytes(&layer.name)?;
    let found = match layer.dtype {
        DType::F16 => first_non_finite::<f16>(bytes),
        DType::Bf16 => first_non_finite::<bf16>(bytes),
        _ => first_non_finite::<f32>(bytes),
    };
    let Some((at, value)) = found else { return Ok(()) };
    let [_, cols] = layer.stored();
    let [row, col] = [at / cols, at % cols];
    Err(Error::input(path.display().to_string(), format!("`{}` is {value} at [{row}, {col}]", layer.name)))
}
