//! A tensor as lines along one axis, and the strides of its other axes.

use super::direction::Direction;
use super::sketch::{OP, Sketch};
use crate::gemm::{SeedSource, Side};
use crate::layout::{Axes, Axis, DType, Layout, Real};
use crate::plan::{CutAxes, Form, Operand};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The layouts of an operand and a result whose shapes differ in one axis only. The result is contiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sketch) struct AxisLayout {
    /// Extents of the axis in operand and result.
    pub(in crate::sketch) extents: [usize; 2],
    /// Strides of the axis in operand and result.
    pub(in crate::sketch) strides: [usize; 2],
    /// The other axes, at least one, merged, with their strides in operand and result. Kernels take at most
    /// [`MAX_OTHER_AXES`].
    pub(in crate::sketch) others: Axes<2>,
    /// The shape of the result.
    pub(in crate::sketch) shape: Vec<usize>,
}

/// Largest number of other axes that the kernels take: columns and the two axes of a batch.
pub(in crate::sketch) const MAX_OTHER_AXES: usize = 3;

impl AxisLayout {
    /// The layout of `x` along `axis`, whose extent in the result is `extent`. Also returns `x`, or a contiguous copy
    /// if its strides leave too many axes unmerged.
    pub(in crate::sketch) fn of_tensor<T: Real>(
        x: &Tensor<T>,
        axis: usize,
        extent: usize,
    ) -> Result<(Self, Tensor<T>)> {
        let layout = Self::new(x.layout(), axis, extent)?;
        if layout.others.len() <= MAX_OTHER_AXES {
            return Ok((layout, x.clone()));
        }
        let copy = x.contiguous()?;
        Ok((Self::new(copy.layout(), axis, extent)?, copy))
    }

    /// The layout of `x` along `axis`, whose extent in the result is `extent`. It may have more than
    /// [`MAX_OTHER_AXES`].
    pub(in crate::sketch) fn new(x: &Layout, axis: usize, extent: usize) -> Result<Self> {
        if axis >= x.rank() {
            return Err(Error::shapes(OP, "the axis must be one of the shape", x.shape(), &[axis]));
        }
        let mut shape = x.shape().to_vec();
        shape[axis] = extent;
        let y = Layout::contiguous(OP, &shape)?;
        let of = |other: usize| Axis {
            extent: x.shape()[other],
            strides: [x.strides()[other], y.strides()[other]],
        };
        let others = Axes::merged((0..x.rank()).rev().filter(|&other| other != axis).map(of)).at_least_one();
        let (extents, strides) = ([x.shape()[axis], extent], [x.step(axis), y.step(axis)]);
        Ok(Self { extents, strides, others, shape })
    }

    /// Checks that the axis of `x` has the extent `length` to which an operator of the shape `operator` is applied.
    pub(in crate::sketch) fn check(&self, length: usize, x: &Layout, operator: [usize; 2]) -> Result<()> {
        if self.extents[0] == length {
            return Ok(());
        }
        Err(Error::shapes(OP, WRONG_LENGTH, x.shape(), &operator))
    }

    /// Whether the result has no elements.
    pub(in crate::sketch) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Operand and result as batches of matrices, and the operator's side in the product: the left if the lines of the
    /// result are columns, the right (transposed) if they are rows.
    pub(in crate::sketch) fn as_product(&self, x: &Layout, y: &Layout) -> Result<(Side, Layout, Layout)> {
        let columns = self.others.get(0);
        let side = if columns.strides[1] == 1 || self.extents[1] == 1 { Side::A } else { Side::B };
        let with = |batch: Vec<usize>, line: usize, other: usize| {
            let matrix = if side == Side::A { [line, other] } else { [other, line] };
            batch.into_iter().rev().chain(matrix).collect::<Vec<_>>()
        };
        let of = |f: fn(&Axis<2>) -> usize| self.others.iter().skip(1).map(f).collect::<Vec<_>>();
        let extents = self.extents.map(|line| with(of(|b| b.extent), line, columns.extent));
        let x_strides = with(of(|b| b.strides[0]), self.strides[0], columns.strides[0]);
        let y_strides = with(of(|b| b.strides[1]), self.strides[1], columns.strides[1]);
        let seen = |layout: &Layout, shape: &[usize], strides: &[usize]| {
            Layout::new(OP, shape, strides, layout.offset(), layout.span().end)
        };
        let matrices = seen(x, &extents[0], &x_strides)?;
        let products = seen(y, &extents[1], &y_strides)?;
        Ok((side, matrices, products))
    }
}

/// The rule in the error for an operand with axes that kernels cannot step along.
const WRONG_AXES: &str = "the axes other than the operator's must merge into at most three";

/// The rule in the error for an operand with an axis of another extent than the operator's lines.
const WRONG_LENGTH: &str =
    "the axis must have the extent that the operator is applied to: n of a (d, n) operator, d of its adjoint";

/// The axis counted from the end of a matrix or a batch of matrices: 1 is the last.
pub(in crate::sketch) fn matrix_axis<T: Real>(x: &Tensor<T>, from_end: usize) -> Result<usize> {
    match x.shape().len().checked_sub(from_end) {
        Some(axis) if x.shape().len() >= 2 => Ok(axis),
        _ => Err(Error::shape(OP, "the operand must be a matrix or a batch of matrices", x.shape())),
    }
}

/// The operand of an operator: a view, the axis along which the operator is applied, and the source of the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::sketch) struct SketchOperand {
    /// Layout of the operand from the start of its aligned window.
    pub(in crate::sketch) x: Layout,
    pub(in crate::sketch) axis: usize,
    /// Extent of the axis in the result.
    pub(in crate::sketch) extent: usize,
    /// Element type of the operand.
    pub(in crate::sketch) dtype: DType,
    pub(in crate::sketch) seed: SeedSource,
}

impl SketchOperand {
    /// The operand of `sketch` or its transpose, with the seed in scalars. Checks that the axis has the extent of the operator's
    /// lines.
    pub(in crate::sketch) fn new(
        sketch: &Sketch,
        direction: Direction,
        x: &Layout,
        axis: usize,
        dtype: DType,
    ) -> Result<Self> {
        let [from, extent] = direction.lengths(sketch.shape());
        let operand = Self { x: x.in_window(dtype), axis, extent, dtype, seed: SeedSource::Scalars };
        operand.layout()?.check(from, x, sketch.shape())?;
        Ok(operand)
    }

    /// Checks that the operand and the result have elements.
    pub(in crate::sketch) fn check_elements(&self, operator: [usize; 2]) -> Result<()> {
        if self.x.is_empty() || self.extent == 0 {
            return Err(Error::shapes(OP, "the operand must have elements", self.x.shape(), &operator));
        }
        Ok(())
    }

    /// The axes of operand and result.
    pub(in crate::sketch) fn layout(&self) -> Result<AxisLayout> {
        AxisLayout::new(&self.x, self.axis, self.extent)
    }

    /// The same. Checks that kernels can step along the other axes: at most [`MAX_OTHER_AXES`].
    pub(in crate::sketch) fn steps(&self) -> Result<AxisLayout> {
        let layout = self.layout()?;
        if layout.others.len() > MAX_OTHER_AXES {
            return Err(Error::shapes(OP, WRONG_AXES, self.x.shape(), &[self.axis]));
        }
        Ok(layout)
    }

    /// The same along a window of x.
    pub(in crate::sketch) fn window(&self, x: &Layout) -> Self {
        Self { x: x.in_window(self.dtype), ..*self }
    }

    /// The shape of the result.
    pub(in crate::sketch) fn shape(&self) -> Vec<usize> {
        let mut shape = self.x.shape().to_vec();
        shape[self.axis] = self.extent;
        shape
    }

    /// Number of elements of the result.
    pub(in crate::sketch) fn elements(&self) -> u64 {
        self.shape().iter().map(|&extent| extent as u64).product()
    }

    /// x, the result, and the seed if a tensor holds it.
    pub(in crate::sketch) fn operands(&self) -> Result<([Operand; 2], Option<Operand>)> {
        let y = Layout::contiguous(OP, &self.shape())?;
        // Axes of a window without gaps merge like those of the whole tensor.
        let form = if self.x.rank() <= MAX_OTHER_AXES + 1 { Form::View } else { Form::Dense };
        let x = Operand::read("x", self.dtype, self.x).in_form(form);
        Ok(([x, Operand::written("the result", DType::F32, y)], self.seed.operand()?))
    }

    /// All axes but that of the operator.
    pub(in crate::sketch) fn cut_axes(&self) -> Result<CutAxes> {
        let (operands, seed) = self.operands()?;
        Ok(CutAxes::except(self.axis, self.x.shape(), operands.into_iter().chain(seed)))
    }
}
