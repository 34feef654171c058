//! Operators whose entries are all drawn: products with an operand that is made in the kernel.

use super::along::Along;
use super::apply::Way;
use super::normal;
use super::operator::{Sketch, SketchKind};
use super::philox::halves;
use crate::Result;
use crate::gemm::{Entries, Generated, Outer, Side, generated_product};
use crate::tensor::{Real, Tensor};

pub(super) fn apply<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, along: &Along) -> Result<Tensor<f32>> {
    let gpu = x.gpu();
    let entries = match sketch.kind() {
        SketchKind::Sign => Entries::Sign,
        SketchKind::Uniform => Entries::Uniform,
        _ => Entries::Normal,
    };
    let y = gpu.empty::<f32>(&along.shape)?;
    let (side, matrices, products) = along.as_product(x, &y)?;
    let outer = if way == Way::Forward { Outer::Rows } else { Outer::Columns };
    let generated = Generated { side, entries, outer, tag: sketch.tag() };
    let [from, to] = along.extents;
    let shape = if side == Side::A { [to, from] } else { [from, to] };
    let table = if entries == Entries::Normal { normal::table() } else { &[0] };
    let table = gpu.tensor::<i32>(bytemuck::cast_slice(table), [table.len()])?;
    #[expect(clippy::cast_possible_truncation, reason = "it is rounded once")]
    let scale = sketch.scale() as f32;
    let made = (generated, halves(sketch.seed()), shape);
    generated_product(gpu, made, &table, matrices.as_view(), scale, products.as_view())?;
    Ok(y)
}
