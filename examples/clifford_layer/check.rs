//! Compares results and gradients with their definitions in f64.

use crate::Direction;
use crate::layer::{Layer, Operands};
use tilewise::clifford::Multivectors;
use tilewise::clifford::layer::{GradeNorm, ProductKind};
use tilewise::reference::{BoundedValues, LayerProductReference, compare};
use tilewise::{DType, Precision, Real, Result, Tensor};

/// Approximate number of multiply-adds in f64 that a check may take.
const WORK: usize = 1 << 28;

/// Unit roundoff of f16 over that of f32, for products whose operands are rounded to f16.
const F16_OVER_F32: f64 = (1 << 13) as f64;

/// Result of the comparison with the definitions.
pub(crate) struct Check {
    /// Rows that were checked.
    pub(crate) rows: usize,
    /// The largest error over the tolerance, of all tensors.
    pub(crate) bound_ratio: f64,
}

pub(crate) fn check<T: Real>(layer: Layer, operands: &Operands<T>, direction: Direction) -> Result<Check> {
    let &[blades, all, features] = operands.x.tensor().shape() else { return Ok(NOTHING) };
    let of_row = match layer.kind {
        ProductKind::Steerable => blades * blades * features * 4,
        ProductKind::Connected => blades * blades * features * features * 3,
    };
    let rows = (WORK / of_row).clamp(1, all);
    let few = operands.last(rows)?;
    let values = |x: &Multivectors<T>| read(x.tensor());
    let [x, y, g] = [values(&few.x)?, values(&few.y)?, values(&few.g)?];
    let weight = read(&few.weight)?;
    let reference = LayerProductReference::new(layer.product, operands.x.blades(), rows);
    let is_fast = operands.x.tensor().gpu().precision() == Precision::Fast;
    let tolerance = match (layer.kind, T::DTYPE) {
        (ProductKind::Steerable, DType::F32) => 2e-6,
        (ProductKind::Connected, DType::F32) if !is_fast => 5e-6,
        (ProductKind::Steerable, _) => 1e-3,
        (ProductKind::Connected, _) => 2e-3,
    };
    // The last of the computed rows.
    let last =
        |x: &Multivectors<T>| -> Result<Vec<f64>> { read(&x.tensor().slice(1, all - rows..)?.contiguous()?) };
    let out = match layer.kind {
        ProductKind::Steerable => reference.steerable(&x, &y, &weight),
        ProductKind::Connected => reference.connected(&x, &y, &weight),
    };
    // With few features to average, a norm may divide by a small value where terms cancelled. The bound of each value
    // accounts for that.
    let is_few = features <= 3 && layer.product.norm != GradeNorm::None;
    let units = if layer.kind == ProductKind::Connected && (is_fast || T::DTYPE != DType::F32) {
        F16_OVER_F32
    } else {
        1.0
    };
    let ratio = |found: &[f64], want: &[f64], bound: &dyn Fn() -> BoundedValues| {
        let off = if is_few { bound().bounds } else { vec![0.0; want.len()] };
        ratio(found, want, tolerance, |i| units * off[i])
    };
    let [of_x, of_y, of_g] = [&x, &y, &g].map(|values| BoundedValues::exact(values));
    let bound = || reference.bounded(layer.kind, &of_x, &of_y, &weight);
    let mut worst = ratio(&last(&layer.forward(operands)?)?, &out, &bound);
    if direction == Direction::Backward {
        let want = match layer.kind {
            ProductKind::Steerable => reference.steerable_backward(&x, &y, &weight, &g),
            ProductKind::Connected => reference.connected_backward(&x, &y, &weight, &g),
        };
        let found = layer.backward(operands)?;
        let of_weight = layer.backward(&few)?.weight;
        let bounds = || reference.bounded_backward(layer.kind, [&of_x, &of_y], &weight, &of_g);
        worst = worst
            .max(ratio(&last(&found.x)?, &want.x, &|| bounds().x))
            .max(ratio(&last(&found.y)?, &want.y, &|| bounds().y))
            .max(ratio(&read(&of_weight)?, &want.weight, &|| bounds().weight));
    }
    Ok(Check { rows, bound_ratio: worst })
}

const NOTHING: Check = Check { rows: 0, bound_ratio: f64::INFINITY };

fn read<T: Real>(x: &Tensor<T>) -> Result<Vec<f64>> {
    Ok(x.to_vec()?.into_iter().map(|x| x.to_f64()).collect())
}

/// The largest error over its bound: the tolerance times the largest expected value, plus `more`.
fn ratio(found: &[f64], want: &[f64], tolerance: f64, more: impl Fn(usize) -> f64) -> f64 {
    let largest = want.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let triples = found.iter().zip(want).enumerate();
    compare(triples.map(|(i, (&found, &want))| (found, want, tolerance * largest + more(i)))).bound_ratio
}
