//! How large the problems of families are, and what several of them share.

use super::super::wgsl::plain;
use super::F32;
use crate::heads::heads;
use tilewise::attention::AttentionKernel;
use tilewise::clifford::layer::{FeatureFunction, LayerProduct};
use tilewise::clifford::{BladeAxis, Product, Signature};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::planning::attention::{
    AttentionBackward, AttentionGradientsOf, AttentionLayouts, AttentionProblem, AttentionRange,
    AttentionStatistics,
};
use tilewise::planning::clifford::{CliffordProblem, Function, MvLayout};
use tilewise::planning::clifford_layer::{
    ConnectedForward, ConnectedProblem, FeaturesProblem, OperandRounding, RowFunction, RowOperandLayouts,
    RowProblem,
};
use tilewise::planning::gemm::{BiasAxis, GemmProblem, GemmTypes, Pin, SeedSource};
use tilewise::planning::ops::{
    ChannelPass, ChannelProblem, CopyProblem, NormKind, NormLayouts, NormPass, NormProblem, ReduceFunction,
    ReduceProblem,
};
use tilewise::planning::sketch::{DenseProblem, HadamardProblem, SparseProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Activation, Caps, DType, Layout, Result};

/// What a problem is planned for: a device, and how large its operands are and how they lie.
pub struct Of<'a> {
    pub caps: &'a Caps,
    /// The element type of families that take several.
    pub dtype: DType,
    /// The elements of the largest operand. None if it is as small as the family says.
    elements: Option<usize>,
    gap: usize,
}

impl<'a> Of<'a> {
    /// Small operands without gaps.
    pub fn small(caps: &'a Caps) -> Self {
        Self { caps, dtype: DType::F32, elements: None, gap: 0 }
    }

    /// Operands whose largest has about so many elements.
    pub fn large(elements: usize, caps: &'a Caps) -> Self {
        Self { elements: Some(elements), ..Self::small(caps) }
    }

    /// With gaps between the rows, from an odd element on.
    pub fn with_gaps(self) -> Self {
        Self { gap: 3, ..self }
    }

    /// Of this element type.
    pub fn of_type(self, dtype: DType) -> Self {
        Self { dtype, ..self }
    }

    /// The extent of an axis that grows with the operands; the others have so many elements.
    pub fn many(&self, small: usize, others: usize) -> usize {
        self.elements.map_or(small, |elements| (elements / others).max(1))
    }

    /// An operand.
    pub fn view(&self, shape: &[usize]) -> Result<Layout> {
        let (mut strides, mut next) = (vec![0; shape.len()], 1);
        for (stride, extent) in strides.iter_mut().zip(shape).rev() {
            *stride = next;
            next = next * extent + self.gap;
        }
        Layout::new("test", shape, &strides, if self.gap > 0 { 13 } else { 0 }, usize::MAX)
    }

    /// An operand whose first axis grows.
    pub fn rows(&self, small: usize, row: &[usize]) -> Result<Layout> {
        self.view(&[&[self.many(small, row.iter().product())], row].concat())
    }

    pub fn copy(&self, [rows, row]: [usize; 2], dtype: DType) -> Result<Plan> {
        CopyProblem::new(&self.rows(rows, &[row])?, &self.rows(rows, &[row])?, dtype)?.plan(self.caps)
    }
}

pub(super) fn flat(shape: &[usize]) -> Result<Layout> {
    Layout::contiguous("test", shape)
}

/// A product with a bias and an activation, in the kernel's smallest tile.
pub(super) fn layer(kernel: GemmKernel, types: GemmTypes) -> Result<GemmProblem> {
    let tile = kernel.tiles()[kernel.tiles().len() - 1];
    let product = plain([100, 132, 70], types).pinned(Pin::Tile(tile)).split_k(SplitK::Splits(1));
    Ok(product.bias(BiasAxis::Columns, &flat(&[132])?, types.c)?.activation(Activation::Silu))
}

/// A product without split-k. It pins a tile of the tiled kernel, because the free choice depends on how long tiles take to
/// compile.
pub(super) fn pinned(kernel: GemmKernel, shape: [usize; 3], types: GemmTypes) -> GemmProblem {
    let pin = match kernel {
        GemmKernel::Tiled => Pin::Tile(kernel.tiles()[4]),
        _ => Pin::Kernel(kernel),
    };
    plain(shape, types).pinned(pin).split_k(SplitK::Splits(1))
}

pub(super) fn naive(shape: [usize; 3]) -> GemmProblem {
    pinned(GemmKernel::Naive, shape, F32)
}

/// Attention of [batch, heads, queries, keys, dim].
pub(super) fn attended(
    [batch, heads, queries, keys, dim]: [usize; 5],
    statistics: AttentionStatistics,
    of: &Of<'_>,
) -> Result<Plan> {
    let batch = of.many(batch, heads * queries.max(keys) * dim);
    let (q, k) = (of.view(&[batch, heads, queries, dim])?, of.view(&[batch, heads, keys, dim])?);
    attention([&q, &k, &k], None, statistics)?.plan(of.caps)
}

/// The backward pass of attention of (2, 4, 100, 16) and 120 keys.
pub(super) fn attended_backward(gradients: AttentionGradientsOf, of: &Of<'_>) -> Result<Plan> {
    let bias = match gradients {
        AttentionGradientsOf::Bias(bias) => Some(bias),
        _ => None,
    };
    let batch = bias.map_or_else(|| of.many(2, 7680), |bias| bias.shape()[0]);
    let [q, k] = [of.view(&[batch, 4, 100, 16])?, of.view(&[batch, 4, 120, 16])?];
    let forward = attention([&q, &k, &k], bias.as_ref(), AttentionStatistics::None)?;
    AttentionBackward::new(forward, [&q, &flat(&[batch, 4, 100, 2])?, &q], gradients)?.plan(of.caps)
}

/// The gradient of a bias of this shape that heads share, or its parts.
pub(super) fn bias_backward(bias: &[usize], is_in_parts: bool, of: &Of<'_>) -> Result<Plan> {
    let (batch, bias) = (of.many(5, 7 * 33 * 40), flat(bias)?);
    let [q, k] = [of.view(&[batch, 7, 33, 40])?, of.view(&[batch, 7, 31, 40])?];
    let forward = attention([&q, &k, &k], Some(&bias), AttentionStatistics::None)?;
    let parts = flat(&[batch, 7, 33, 31])?;
    let gradients =
        if is_in_parts { AttentionGradientsOf::PartOfBias(parts) } else { AttentionGradientsOf::Bias(bias) };
    AttentionBackward::new(forward, [&q, &flat(&[batch, 7, 33, 2])?, &q], gradients)?.plan(of.caps)
}

/// Attention of f16 of (2, 4, 100, 16) and as many keys.
pub(super) fn on_matrices() -> Result<AttentionProblem> {
    let x = flat(&[2, 4, 100, 16])?;
    let layouts = heads([&x, &x, &x]);
    let (range, statistics) = (AttentionRange::default(), AttentionStatistics::None);
    Ok(AttentionProblem::new(layouts, range, statistics, DType::F16)?.pinned(Some(AttentionKernel::Coop)))
}

fn attention(
    [q, k, v]: [&Layout; 3],
    bias: Option<&Layout>,
    statistics: AttentionStatistics,
) -> Result<AttentionProblem> {
    let layouts = AttentionLayouts { bias, ..heads([q, k, v]) };
    AttentionProblem::new(layouts, AttentionRange::default(), statistics, DType::F32)
}

pub(super) fn reduced(function: ReduceFunction, axes: &[usize], of: &Of<'_>) -> Result<Plan> {
    ReduceProblem::new(function, &of.rows(9, &[61, 101])?, axes, DType::F16)?.plan(of.caps)
}

/// A norm with gamma, and beta if it is a layer norm.
pub(super) fn normed(kind: NormKind, pass: NormPass, [rows, row]: [usize; 2], of: &Of<'_>) -> Result<Plan> {
    let (a, weights) = (of.rows(rows, &[row])?, flat(&[row])?);
    let beta = (kind == NormKind::Layer).then_some(&weights);
    let is_forward = matches!(pass, NormPass::Forward | NormPass::ForwardWithStatistics);
    let layouts = NormLayouts { a: &a, b: (!is_forward).then_some(&a), gamma: Some(&weights), beta };
    NormProblem::new(kind, pass, layouts, DType::F32)?.plan(of.caps)
}

/// A norm of channels with gamma, and beta forwards: of one index, the rows grow.
pub(super) fn channels(pass: ChannelPass, shape: [usize; 3], groups: usize, of: &Of<'_>) -> Result<Plan> {
    let [outer, inner, row] = shape;
    let a =
        if outer == 1 { of.view(&[1, of.many(inner, row), row])? } else { of.rows(outer, &[inner, row])? };
    let weights = flat(&[row])?;
    let layouts = NormLayouts { a: &a, b: Some(&a), gamma: Some(&weights), beta: Some(&weights) };
    ChannelProblem::new("norm of channels", pass, layouts, groups, DType::F32)?.plan(of.caps)
}

/// A sparse operator (600, 2000), whose longer side grows, on 64 columns.
pub(super) fn sketched(
    kind: SketchKind,
    direction: Direction,
    seed: SeedSource,
    of: &Of<'_>,
) -> Result<Plan> {
    let long = of.many(2000, 64);
    let sketch = Sketch::new(kind, [600, long], 1)?;
    let rows = if direction == Direction::Forward { long } else { 600 };
    SparseProblem::new(&sketch, direction, &of.view(&[rows, 64])?, 0, DType::F32)?.seeded(seed).plan(of.caps)
}

/// A Hadamard operator (64, 4096), which grows, on 16 columns.
pub(super) fn hadamard(direction: Direction, of: &Of<'_>) -> Result<HadamardProblem> {
    let long = of.many(4096, 16).min(1 << 24);
    let sketch = Sketch::new(SketchKind::Hadamard, [long / 64, long], 1)?;
    let x = of.view(&[if direction == Direction::Forward { long } else { long / 64 }, of.many(16, long)])?;
    HadamardProblem::new(&sketch, direction, &x, 0, DType::F32)
}

/// Eight rows of an operator along an axis of (9, 61, 101), of which another one grows.
pub(super) fn operator(kind: SketchKind, direction: Direction, axis: usize, of: &Of<'_>) -> Result<Plan> {
    let mut shape = [9, 61, 101];
    let other = if axis == 0 { 1 } else { 0 };
    shape[other] = of.many(shape[other], 9 * 61 * 101 / shape[other]);
    let sketch = Sketch::new(kind, [8, shape[axis]], 1)?;
    if direction == Direction::Adjoint {
        shape[axis] = 8;
    }
    let x = of.view(&shape)?;
    match kind {
        SketchKind::Hadamard => HadamardProblem::new(&sketch, direction, &x, axis, DType::F32)?.plan(of.caps),
        SketchKind::CountSketch => {
            SparseProblem::new(&sketch, direction, &x, axis, DType::F32)?.plan(of.caps)
        }
        _ => DenseProblem::new(&sketch, direction, &x, axis, DType::F32)?.plan(of.caps),
    }
}

pub(super) fn multivectors(signature: Signature, positions: usize, of: &Of<'_>) -> Result<Plan> {
    let blades = signature.blades();
    let x = flat(&[blades.len(), of.many(positions, blades.len())])?;
    let placed = MvLayout { layout: &x, blades: &blades };
    let function = Function::Product(Product::Geometric);
    CliffordProblem::new(function, &[placed, placed], placed, BladeAxis::First, DType::F32)?.plan(of.caps)
}

pub(super) fn of_rows(function: RowFunction, of: &Of<'_>) -> Result<Plan> {
    let product = LayerProduct::new(Signature::CL3);
    let (blades, features) = (product.blades(), 16);
    let x = of.view(&[8, of.many(300, 8 * features), features])?;
    let w = flat(&[features, Signature::CL3.paths().len()])?;
    let layouts = RowOperandLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
    RowProblem::new(function, product, &blades, layouts, DType::F32)?.plan(of.caps)
}

pub(super) fn features(function: FeatureFunction, is_backward: bool, of: &Of<'_>) -> Result<Plan> {
    let (blades, features) = (Signature::CL3.blades(), 32);
    let x = of.view(&[8, of.many(100, 8 * features), features])?;
    let parameter = flat(&[features, function.parts(&blades)])?;
    let parameters = vec![&parameter; function.parameters()];
    let g = is_backward.then_some(&x);
    FeaturesProblem::new(function, &blades, &x, g, &parameters, DType::F32)?.plan(of.caps)
}

pub(super) fn connected(of: &Of<'_>) -> Result<ConnectedForward> {
    connected_by(DType::F32, 64, of, Pin::Free)
}

pub(super) fn connected_by(dtype: DType, features: usize, of: &Of<'_>, pin: Pin) -> Result<ConnectedForward> {
    let product = LayerProduct::new(Signature::CL2);
    let blades = product.blades();
    let x = of.view(&[blades.len(), of.many(96, 4 * features), features])?;
    let weight = flat(&[Signature::CL2.paths().len(), features, features])?;
    let product = ConnectedProblem::new(product, &blades, [&x, &x], &weight, dtype)?;
    ConnectedForward::new(product, OperandRounding::None, pin)
}
