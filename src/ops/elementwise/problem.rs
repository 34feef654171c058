//! A checked elementwise function, as plain data.

use crate::layout::{DType, Layout, MAX_RANK, dim};
use crate::ops::activation::Activation;
use crate::ops::vectors::{Moves, per_vector};
use crate::{Error, Result};

/// The uniform of `shaders/ops/elementwise.wgsl` and `elementwise_vectors.wgsl` (`elementwise_dims.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct ElementwiseDims {
    pub axes: [[u32; 4]; MAX_RANK],
    pub offsets: [u32; 4],
    pub units: u32,
    pub rank: u32,
    pub reserved0: u32,
    pub reserved1: u32,
}

/// An elementwise function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Elementwise {
    /// $c = f(a)$.
    Activate(Activation),
    /// $c = f'(a)\,b$.
    ActivateBackward(Activation),
    /// $c = a + b$.
    Add,
    /// $c = a - b$.
    Sub,
    /// $c = ab$.
    Mul,
    /// $c = c + a$.
    AddAssign,
    /// $c = c - a$.
    SubAssign,
}

impl Elementwise {
    /// Every function.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let activations =
            Activation::ALL.into_iter().flat_map(|f| [Self::Activate(f), Self::ActivateBackward(f)]);
        activations.chain([Self::Add, Self::Sub, Self::Mul, Self::AddAssign, Self::SubAssign]).collect()
    }

    /// The name in errors and plans.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Activate(_) => "activate",
            Self::ActivateBackward(_) => "activate_backward",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::AddAssign => "add_assign",
            Self::SubAssign => "sub_assign",
        }
    }

    /// Whether C is an operand too.
    pub(super) fn is_update(self) -> bool {
        matches!(self, Self::AddAssign | Self::SubAssign)
    }

    /// The number of operands, without C.
    #[must_use]
    pub fn operands(self) -> usize {
        match self {
            Self::Activate(_) | Self::AddAssign | Self::SubAssign => 1,
            Self::ActivateBackward(_) | Self::Add | Self::Sub | Self::Mul => 2,
        }
    }
}

/// A checked elementwise function: the operands broadcast to the output's shape, and the output's elements do not
/// overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementwiseProblem {
    /// The shader's uniform.
    pub(crate) dims: ElementwiseDims,
    /// Type of all elements.
    pub(crate) dtype: DType,
    /// The function.
    pub(crate) function: Elementwise,
}

/// The broadcast shape of two layouts, as in `NumPy`.
///
/// # Errors
/// [`Error::Shape`] if two extents differ and neither is 1.
pub fn broadcast_shape(op: &'static str, a: &Layout, b: &Layout) -> Result<Vec<usize>> {
    let rank = a.rank().max(b.rank());
    let extent =
        |x: &Layout, axis: usize| (axis + x.rank()).checked_sub(rank).map_or(1, |axis| x.shape()[axis]);
    let together = |axis: usize| match (extent(a, axis), extent(b, axis)) {
        (1, n) | (n, 1) => Ok(n),
        (m, n) if m == n => Ok(n),
        _ => {
            let rule = "extents must be equal or 1, counted from the last axis";
            Err(Error::shapes(op, rule, a.shape(), b.shape()))
        }
    };
    (0..rank).map(together).collect()
}

impl ElementwiseProblem {
    /// The shader's uniform.
    #[must_use]
    pub fn dims(&self) -> &ElementwiseDims {
        &self.dims
    }

    /// `function` of `operands`, elements of type `dtype`, in `c`. C must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if an operand does not broadcast to the shape of C, or elements of C overlap; [`Error::Limit`]
    /// if a size is $2^{31}$ or more.
    ///
    /// # Panics
    /// If the number of operands is not that of the function.
    pub fn new(function: Elementwise, operands: &[&Layout], c: &Layout, dtype: DType) -> Result<Self> {
        assert_eq!(operands.len(), function.operands(), "{function:?}");
        let op = function.op();
        check_no_overlap(op, c)?;
        let [a, b] = [operands[0], operands.last().unwrap_or(&operands[0])];
        // Per axis, innermost first: extent and the strides of C, A and B.
        let mut axes: Vec<[usize; 4]> = Vec::with_capacity(MAX_RANK);
        let strides =
            [broadcast_strides(op, c, c)?, broadcast_strides(op, a, c)?, broadcast_strides(op, b, c)?];
        for axis in (0..c.rank()).rev().filter(|&axis| c.shape()[axis] > 1) {
            let [sc, sa, sb] = strides.each_ref().map(|strides| strides[axis]);
            let extent = c.shape()[axis];
            match axes.last_mut() {
                // Axes merge if, in every operand, the outer stride is the extent times the inner stride.
                Some(inner) if [sc, sa, sb] == [1, 2, 3].map(|x| inner[0].saturating_mul(inner[x])) => {
                    inner[0] *= extent
                }
                _ => axes.push([extent, sc, sa, sb]),
            }
        }
        if axes.is_empty() {
            axes.push([1, 0, 0, 0]);
        }
        let mut dims = ElementwiseDims { rank: dim(op, axes.len())?, ..ElementwiseDims::default() };
        for (to, axis) in dims.axes.iter_mut().zip(&axes) {
            for (to, &size) in to.iter_mut().zip(axis) {
                *to = dim(op, size)?;
            }
        }
        dim(op, c.len())?;
        let [c, a, b] = [c, a, b].map(|x| x.offset_in_window(dtype));
        dims.offsets = [c, a, b, 0];
        let problem = Self { dims, dtype, function };
        let rows: usize = axes[1..].iter().map(|axis| axis[0]).product();
        let units = axes[0][0].div_ceil(problem.per_unit());
        dims.offsets[3] = dim(op, units * rows)?;
        dims.units = dim(op, units)?;
        Ok(Self { dims, ..problem })
    }

    /// How the kernel moves elements.
    pub(super) fn moves(&self) -> Moves {
        let [inner, outer @ ..] = &self.dims.axes[..self.dims.rank as usize] else { return Moves::Elements };
        let [offsets @ .., _] = self.dims.offsets;
        let starts = outer.iter().flat_map(|[_, strides @ ..]| *strides).chain(offsets);
        Moves::of(self.dtype, inner[1..].iter().copied(), starts)
    }

    /// The number of elements of a row that are moved together.
    fn per_unit(&self) -> usize {
        match self.moves() {
            Moves::Elements => 4,
            Moves::Vectors => per_vector(self.dtype) as usize,
        }
    }

    /// The layouts of C, A and B.
    pub(super) fn layouts(&self) -> Result<[Layout; 3]> {
        let axes = self.dims.axes[..self.dims.rank as usize].iter().rev();
        let shape: Vec<usize> = axes.clone().map(|axis| axis[0] as usize).collect();
        let layout = |x: usize| {
            let strides: Vec<usize> = axes.clone().map(|axis| axis[x + 1] as usize).collect();
            Layout::new(self.function.op(), &shape, &strides, self.dims.offsets[x] as usize, usize::MAX)
        };
        Ok([layout(0)?, layout(1)?, layout(2)?])
    }
}

/// The strides of an operand along the axes of `c`, 0 where it is broadcast.
fn broadcast_strides(op: &'static str, x: &Layout, c: &Layout) -> Result<[usize; MAX_RANK]> {
    let mut strides = [0; MAX_RANK];
    let rule = "the operands must have the output's shape, or extents of 1";
    let wrong = || Error::shapes(op, rule, x.shape(), c.shape());
    let missing = c.rank().checked_sub(x.rank()).ok_or_else(wrong)?;
    for (axis, (&extent, &stride)) in x.shape().iter().zip(x.strides()).enumerate() {
        match (extent, c.shape()[missing + axis]) {
            (1, _) => {}
            (m, n) if m == n => strides[missing + axis] = stride,
            _ => return Err(wrong()),
        }
    }
    Ok(strides)
}

/// Checks that no two indices of a view refer to the same element. It suffices for views of tensors: sorted by stride,
/// each axis must step over the whole span of the smaller strides.
pub(in crate::ops) fn check_no_overlap(op: &'static str, c: &Layout) -> Result<()> {
    let mut axes: Vec<_> =
        c.strides().iter().zip(c.shape()).filter(|&(_, &n)| n > 1).map(|(&stride, &n)| (stride, n)).collect();
    axes.sort_unstable();
    let mut span = 0; // from the first element to the last, so far
    for (stride, extent) in axes {
        if stride <= span {
            let rule = "the output's elements must not overlap";
            return Err(Error::shapes(op, rule, c.shape(), c.strides()));
        }
        span += (extent - 1) * stride;
    }
    Ok(())
}
