//! Operators whose entries are all drawn: products with an operand that is made in the kernel.

use super::along::Along;
use super::apply::Way;
use super::normal;
use super::operator::{Sketch, SketchKind};
use super::philox::halves;
use crate::gemm::{self, Entries, Gemm, Generated, GeneratedProduct, HalfSigns, Outer, Pin, Precision, Side};
use crate::tensor::{Real, Tensor};
use crate::{Plan, Result};

pub(super) fn apply<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, along: &Along) -> Result<Tensor<f32>> {
    apply_as(sketch, way, x, along, Pin::Free)
}

/// Applies a dense operator by the kernels that are pinned: for this crate's own tests.
#[doc(hidden)]
pub fn dense_as<T: Real>(
    sketch: &Sketch,
    way: Way,
    x: &Tensor<T>,
    axis: usize,
    pin: Pin,
) -> Result<Tensor<f32>> {
    let (along, x) = sketch.checked(way, x, axis)?;
    apply_as(sketch, way, &x, &along, pin)
}

fn apply_as<T: Real>(
    sketch: &Sketch,
    way: Way,
    x: &Tensor<T>,
    along: &Along,
    pin: Pin,
) -> Result<Tensor<f32>> {
    let gpu = x.gpu();
    let y = gpu.empty::<f32>(&along.shape)?;
    let normal = sketch.kind() == SketchKind::Gaussian;
    let table = if normal { normal::table() } else { &[0] };
    debug_assert!(normal::table().len() as u64 == Entries::Normal.table_words());
    let table = gpu.tensor::<i32>(bytemuck::cast_slice(table), [table.len()])?;
    product(sketch, way, x, along, &y, |product| GeneratedProduct { pin, ..product }.launch(gpu, &table))?;
    Ok(y)
}

/// The product of `a` and `b` by the kernels that stage their operands, or of `b` beside signs where those are given:
/// both have the same bits. For this crate's own tests.
#[doc(hidden)]
pub fn staged_as<'a, T: Real>(
    a: &'a Tensor<T>,
    b: &'a Tensor<T>,
    signs: Option<(&Sketch, HalfSigns)>,
) -> Gemm<'a, T> {
    let product = Gemm::new(a, b).precision(Precision::Strict).pinned(Pin::Staged);
    match signs {
        None => product,
        Some((sketch, signs)) => {
            product.half_signs(HalfSigns { tag: sketch.tag(), ..signs }, halves(sketch.seed()))
        }
    }
}

pub(super) fn plan<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, along: &Along) -> Result<Plan> {
    let y = x.gpu().empty::<f32>(&along.shape)?;
    product(sketch, way, x, along, &y, |product| gemm::plan(&product.problem()?, x.gpu().caps()))
}

/// The operator as an operand of the product that makes `y`, and what is done with that.
fn product<T: Real, R>(
    sketch: &Sketch,
    way: Way,
    x: &Tensor<T>,
    along: &Along,
    y: &Tensor<f32>,
    with: impl FnOnce(GeneratedProduct<'_>) -> Result<R>,
) -> Result<R> {
    let (side, matrices, products) = along.as_product(x, y)?;
    let entries = match sketch.kind() {
        SketchKind::Sign => Entries::Sign,
        SketchKind::Uniform => Entries::Uniform,
        _ => Entries::Normal,
    };
    let outer = if way == Way::Forward { Outer::Rows } else { Outer::Columns };
    let [from, to] = along.extents;
    #[expect(clippy::cast_possible_truncation, reason = "it is rounded once")]
    with(GeneratedProduct {
        generated: Generated { side, entries, outer, tag: sketch.tag() },
        seed: halves(sketch.seed()),
        shape: if side == Side::A { [to, from] } else { [from, to] },
        x: matrices.as_view(),
        alpha: sketch.scale() as f32,
        c: products.as_view(),
        pin: Pin::Free,
    })
}
