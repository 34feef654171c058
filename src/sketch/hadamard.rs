//! Hadamard operators: $H_{N} D$ of every line, some of whose rows are kept; what to compute, as plain data.

use super::along::{Along, Beside};
use super::apply::Way;
use super::hadamard_pass::{HadamardDims, HadamardPass, HadamardSource, HadamardTarget, plan_hadamard};
use super::hadamard_rows::RowOrder;
use super::hadamard_split::{lacking, split};
use super::operator::{OP, Sketch};
use super::philox::halves;
use crate::gpu::Caps;
use crate::kernel::{Plan, check_binding, check_scratch, own_bytes};
use crate::tensor::{DType, Layout, Real, Tensor, dim};
use crate::{Error, Result};

/// A Hadamard operator or its transpose along an axis, checked: the axis is as long as what the operator is applied to,
/// and every size is below $2^{31}$. The result is row-major without gaps, in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HadamardProblem {
    /// The sizes, as a pass has them that does it all.
    pub dims: HadamardDims,
    /// The type of the operand's elements.
    pub dtype: DType,
    /// Which way the operator is applied.
    pub way: Way,
}

impl HadamardProblem {
    /// `sketch`, which is a Hadamard operator, along an axis of `x`, a view of `dtype` elements.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no such axis, it is not as long as it must be, or the other axes are more than
    /// three that do not step as one; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(sketch: &Sketch, way: Way, x: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let [d, n] = sketch.shape();
        let [from, to] = if way == Way::Forward { [n, d] } else { [d, n] };
        let along = Along::of(x, axis, to)?;
        if along.extents[0] != from || along.beside.len() > 3 {
            let rule = "the axis must be as long as what the operator is applied to";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        Self::of(sketch, way, &along, x, dtype)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the scale is rounded once")]
    fn of(sketch: &Sketch, way: Way, along: &Along, x: &Layout, dtype: DType) -> Result<Self> {
        let order = RowOrder::new(sketch);
        let [a, b, c, d] = order.inverse();
        let undo = [[a[0], a[1], b[0], b[1]], [c[0], c[1], d[0], d[1]]];
        let once = Beside { extent: 1, x: 0, y: 0 };
        let beside = |axis: usize| along.beside.get(axis).copied().unwrap_or(once);
        let size = |size: usize| dim(OP, size);
        let [columns, inner, outer] = [beside(0), beside(1), beside(2)];
        let [seed_low, seed_high] = halves(sketch.seed());
        size(along.shape.iter().product())?;
        let dims = HadamardDims {
            undo,
            rows_in: size(along.extents[0])?,
            rows_out: size(along.extents[1])?,
            x_offset: x.offset_in_window(dtype),
            x_row: size(along.strides[0])?,
            x_column: size(columns.x)?,
            x_batch0: size(inner.x)?,
            x_batch1: size(outer.x)?,
            y_offset: 0,
            y_row: size(along.strides[1])?,
            y_column: size(columns.y)?,
            y_batch0: size(inner.y)?,
            y_batch1: size(outer.y)?,
            columns: size(columns.extent)?,
            batch0: size(inner.extent)?,
            batches: size(inner.extent * outer.extent)?,
            low_bits: 0,
            bits: sketch.padded().trailing_zeros(),
            shift: order.shift(),
            scale: (sketch.scale() as f32).to_bits(),
            seed_low,
            seed_high,
            tag: sketch.tag(),
            column_lanes: 1,
            folded_bits: 0,
        };
        Ok(Self { dims, dtype, way })
    }

    /// Elements of the bindings of operand and result, to behind the last that is used.
    #[must_use]
    pub fn binding_elements(&self) -> [u64; 2] {
        let d = &self.dims;
        let last = |steps: [(u32, u32); 4]| {
            let steps =
                steps.iter().map(|&(extent, stride)| u64::from(extent.saturating_sub(1)) * u64::from(stride));
            steps.sum::<u64>() + 1
        };
        let outer = d.batches.checked_div(d.batch0).unwrap_or(0);
        let x = [(d.rows_in, d.x_row), (d.columns, d.x_column), (d.batch0, d.x_batch0), (outer, d.x_batch1)];
        let y = [(d.rows_out, d.y_row), (d.columns, d.y_column), (d.batch0, d.y_batch0), (outer, d.y_batch1)];
        [u64::from(d.x_offset) + last(x), u64::from(d.y_offset) + last(y)]
    }

    /// From one row to the next of what passes leave each other. NOTE: of many columns an odd number of cache lines, so
    /// that rows a power of two apart do not meet in one set of a cache.
    pub(super) fn pitch(&self) -> u32 {
        match self.dims.columns {
            few @ ..64 => few,
            columns => (columns.div_ceil(16) | 1) * 16,
        }
    }

    /// Elements that passes leave each other: of every column as many as the transform is long.
    #[must_use]
    pub fn scratch_elements(&self) -> u64 {
        (u64::from(self.pitch()) * u64::from(self.dims.batches)) << self.dims.bits
    }

    /// The problem, in halves of its longest axis where what its passes leave each other would be more than a device
    /// can bind.
    ///
    /// # Errors
    /// [`Error::Limit`] if operand or result is larger than this device can bind.
    pub fn pieces(&self, caps: &Caps) -> Result<Vec<Self>> {
        for (elements, dtype) in self.binding_elements().into_iter().zip([self.dtype, DType::F32]) {
            check_binding(OP, caps, elements, dtype)?;
        }
        let mut pieces = Vec::new();
        self.halve_until(own_bytes(caps) / 4, &mut pieces);
        Ok(pieces)
    }

    fn halve_until(&self, elements: u64, pieces: &mut Vec<Self>) {
        let d = self.dims;
        let outer = d.batches / d.batch0;
        let longest = d.columns.max(d.batch0).max(outer);
        if self.scratch_elements() <= elements || longest == 1 {
            return pieces.push(*self);
        }
        let (half, rest) = (longest / 2, longest - longest / 2);
        let [mut near, mut far] = [d; 2];
        let [x, y] = if longest == d.columns {
            (near.columns, far.columns) = (half, rest);
            [d.x_column, d.y_column]
        } else if longest == d.batch0 {
            (near.batch0, far.batch0) = (half, rest);
            (near.batches, far.batches) = (half * outer, rest * outer);
            [d.x_batch0, d.y_batch0]
        } else {
            (near.batches, far.batches) = (half * d.batch0, rest * d.batch0);
            [d.x_batch1, d.y_batch1]
        };
        // What is bound is below 2^31, so these are.
        far.x_offset += half * x;
        far.y_offset += half * y;
        for dims in [near, far] {
            Self { dims, ..*self }.halve_until(elements, pieces);
        }
    }

    /// The pieces with their launches, checked against the device's limits.
    ///
    /// # Errors
    /// As [`pieces`](Self::pieces); also [`Error::Limit`] if the device cannot bind the buffer between passes even for a single
    /// line, and [`Error::Unsupported`] if its workgroups are too small for any pass.
    fn in_passes(&self, caps: &Caps) -> Result<Vec<(Self, Vec<HadamardPass>)>> {
        let with_passes = |piece: Self| {
            let passes = piece.passes(caps);
            if passes.is_empty() {
                let needs = lacking(&piece, caps);
                return Err(Error::Unsupported { op: OP, needs, device: caps.adapter.clone() });
            }
            if passes.len() > 1 {
                check_scratch(OP, caps, 4 * piece.scratch_elements())?;
            }
            Ok((piece, passes))
        };
        self.pieces(caps)?.into_iter().map(with_passes).collect()
    }

    /// The launches, one behind another: which levels each computes is chosen by the bytes that all move.
    #[must_use]
    pub fn passes(&self, caps: &Caps) -> Vec<HadamardPass> {
        split(self, caps)
    }
}

/// The passes of the first piece, one behind another.
pub(super) fn plan<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, along: &Along) -> Result<Plan> {
    let caps = x.gpu().caps();
    let pieces = HadamardProblem::of(sketch, way, along, x.layout(), T::DTYPE)?.in_passes(caps)?;
    let (piece, passes) = &pieces[0];
    let plans = passes.iter().map(|pass| plan_hadamard(pass, caps)).collect::<Result<Vec<_>>>()?;
    let scratch = if passes.len() > 1 { 4 * piece.scratch_elements() } else { 0 };
    let chained = plans.into_iter().rev().reduce(|then, plan| Plan { then: Some(Box::new(then)), ..plan });
    let plan = chained.ok_or_else(|| Error::input(OP, "there is no way to launch it on this device"))?;
    Ok(Plan { scratch, ..plan })
}

pub(super) fn apply<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, along: &Along) -> Result<Tensor<f32>> {
    let problem = HadamardProblem::of(sketch, way, along, x.layout(), T::DTYPE)?;
    apply_as(&problem, x, along, x.gpu().caps())
}

/// Applies a Hadamard operator in the passes that a device like `caps` would choose: for this crate's own tests.
#[doc(hidden)]
pub fn hadamard_as<T: Real>(
    sketch: &Sketch,
    way: Way,
    x: &Tensor<T>,
    axis: usize,
    caps: &Caps,
) -> Result<Tensor<f32>> {
    let problem = HadamardProblem::new(sketch, way, x.layout(), axis, T::DTYPE)?;
    let to = usize::try_from(problem.dims.rows_out).map_err(Error::device)?;
    apply_as(&problem, x, &Along::of(x.layout(), axis, to)?, caps)
}

fn apply_as<T: Real>(
    problem: &HadamardProblem,
    x: &Tensor<T>,
    along: &Along,
    caps: &Caps,
) -> Result<Tensor<f32>> {
    let gpu = x.gpu();
    let pieces = problem.in_passes(caps)?;
    // Plans all launches before it records the first.
    let passes = pieces.iter().flat_map(|(_, passes)| passes);
    let planned = passes.map(|pass| Ok((pass, gpu.planned(pass)?))).collect::<Result<Vec<_>>>()?;
    let y = gpu.empty::<f32>(&along.shape)?;
    // Pieces follow one another, so that one scratch serves all.
    let several = pieces.iter().filter(|(_, passes)| passes.len() > 1);
    let elements = several.map(|(piece, _)| piece.scratch_elements()).max();
    let elements = elements.map(usize::try_from).transpose().map_err(Error::device)?;
    let scratch = elements.map(|elements| gpu.empty::<f32>([elements])).transpose()?;
    let between = scratch.as_ref().unwrap_or(&y);
    for (pass, prepared) in planned {
        let from = if pass.source == HadamardSource::Pass { between.bind() } else { x.bind() };
        let to = if pass.target == HadamardTarget::Pass { between.bind() } else { y.bind() };
        let both = [from, to];
        let bindings = if pass.is_in_place() { &both[1..] } else { &both[..] };
        gpu.launch(&prepared, bytemuck::bytes_of(&pass.dims), bindings)?;
    }
    Ok(y)
}
