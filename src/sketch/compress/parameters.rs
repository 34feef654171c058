//! The parameters of a compressed layer, rounded to their type, and their error.

use super::cache::SingularFactors;
use super::selection::SelectedLayer;
use crate::io::SafetensorsWriter;
use crate::layout::{DType, Element};
use crate::sketch::factor::device::{norm, product};
use crate::sketch::factor::input::ScaledMatrix;
use crate::tensor::Tensor;
use crate::{Gpu, Result};
use half::{bf16, f16};

/// The parameters $S_{1}, U_{1}, S_{2}, U_{2}$ of a layer with one term, rounded to its type, in the order of
/// [`SelectedLayer::parts`].
pub(super) struct LayerParameters<'a> {
    layer: &'a SelectedLayer,
    rank: usize,
    parts: [Vec<f64>; 4],
}

impl<'a> LayerParameters<'a> {
    /// The layer $y = \frac{1}{2} (x S_{1} U_{1} + x U_{2} S_{2})$ of the first 2R singular pairs: the first R give
    /// $S_{1} U_{1}$, the others $U_{2} S_{2}$. $S_{1}$ and $S_{2}$ hold the singular values and the factor 2.
    pub(super) fn new(layer: &'a SelectedLayer, factors: &SingularFactors, rank: usize) -> Self {
        let pairs = factors.s.len();
        let first = |vectors: &[f64], from: usize, scaled: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let rows = vectors.chunks_exact(pairs);
            let part = rows.flat_map(|row| (from..from + rank).map(|i| row[i] * scaled(i)));
            part.map(|value| layer.dtype.nearest(value).1).collect()
        };
        let (twice, plain) = (|i: usize| 2.0 * factors.s[i], |_: usize| 1.0);
        let parts = [
            first(&factors.v, 0, &twice),
            transposed(&first(&factors.u, 0, &plain), rank),
            transposed(&first(&factors.u, rank, &twice), rank),
            first(&factors.v, rank, &plain),
        ];
        Self { layer, rank, parts }
    }

    /// $\\|W - W'\\|\_F / \\|W\\|\_F$ of the weight W and the product W' of the parameters; 0 for a weight of zeros.
    pub(super) fn error(&self, weight: &Tensor<f32>) -> Result<f64> {
        let input = ScaledMatrix::new("compress", weight)?;
        let total = input.norm()?;
        if total == 0.0 {
            return Ok(0.0);
        }
        let (gpu, mut rest) = (weight.gpu(), input.a);
        let (rows, cols, rank) = (self.layer.sizes.rows, self.layer.sizes.cols, self.rank);
        let half = 0.5 / input.scale;
        let [s1, u1, s2, u2] = &self.parts;
        let (s1, u1) = (upload(gpu, s1, [cols, rank], half)?, upload(gpu, u1, [rank, rows], 1.0)?);
        product(&u1.t(), &s1.t()).alpha(-1.0).beta(1.0).run_into(&mut rest)?;
        let (s2, u2) = (upload(gpu, s2, [rank, rows], half)?, upload(gpu, u2, [cols, rank], 1.0)?);
        product(&s2.t(), &u2.t()).alpha(-1.0).beta(1.0).run_into(&mut rest)?;
        Ok(norm(&rest)? / total)
    }

    pub(super) fn write(self, mut writer: SafetensorsWriter) -> Result<SafetensorsWriter> {
        for ((name, shape), values) in self.layer.parts(self.rank).into_iter().zip(&self.parts) {
            writer = match self.layer.dtype {
                DType::F16 => writer.values(name, &shape, &narrow::<f16>(values))?,
                DType::Bf16 => writer.values(name, &shape, &narrow::<bf16>(values))?,
                _ => writer.values(name, &shape, &narrow::<f32>(values))?,
            };
        }
        Ok(writer)
    }
}

fn narrow<T: Element>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::from_f64(value)).collect()
}

/// Transposes a matrix with this number of columns.
fn transposed(values: &[f64], cols: usize) -> Vec<f64> {
    (0..cols).flat_map(|col| values.iter().skip(col).step_by(cols).copied()).collect()
}

fn upload(gpu: &Gpu, values: &[f64], shape: [usize; 2], scale: f64) -> Result<Tensor<f32>> {
    let scaled: Vec<f32> = values.iter().map(|value| Element::from_f64(value * scale)).collect();
    gpu.tensor(&scaled, shape)
}
