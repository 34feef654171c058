//! A checked function of batches of multivectors, as plain data.

use super::algebra::blades::Blades;
use super::algebra::function::Function;
use super::algebra::terms::Terms;
use crate::kernel::shader_dims;
use crate::layout::{Axes, DType, Layout, dim};
use crate::{Error, Result};

/// The maximum number of axes in addition to the blade axis.
pub const MAX_AXES: usize = 5;

shader_dims! {
    /// The uniform of `shaders/clifford/product.wgsl` and `shaders/clifford/table.wgsl`, in elements. Axes, blades and
    /// offsets list C, X and Y in this order.
    pub struct CliffordDims {
        /// extent, then the strides of C, X and Y, in elements; innermost first
        axes: [[u32; 4]; MAX_AXES],
        /// strides of C, X and Y from blade to blade
        blades: [u32; 4],
        /// first elements of C, X and Y in their bindings, and the number of units of all rows
        offsets: [u32; 4],
        /// of a row: groups of WIDTH positions
        units: u32,
        /// number of axes, at least 1
        rank: u32,
        /// number of blades of C
        out: u32,
        reserved0: u32,
    }
}

/// The position of the blade axis in a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BladeAxis {
    /// (blade, batch, feature): the coefficients of one blade are contiguous. Kernels are fastest with this layout.
    First,
    /// (batch, feature, blade): the coefficients of one multivector are contiguous.
    Last,
}

impl BladeAxis {
    /// The index of the axis in a tensor of this rank.
    #[must_use]
    pub fn of(self, rank: usize) -> usize {
        match self {
            Self::First => 0,
            Self::Last => rank.saturating_sub(1),
        }
    }
}

/// The layout of multivectors in a tensor: strides and blades.
#[derive(Clone, Copy, Debug)]
pub struct MvLayout<'a> {
    /// Layout of the tensor.
    pub layout: &'a Layout,
    /// Blades along the blade axis.
    pub blades: &'a Blades,
}

/// The direction in which consecutive elements of an operand are read or stored together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitStride {
    /// The positions along the innermost axis.
    Positions,
    /// The blades of a multivector.
    Blades,
}

/// A checked function of batches of multivectors: blades and extents agree, and every size is below $2^{31}$.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CliffordProblem {
    /// The function.
    pub(crate) function: Function,
    /// Blades of the first operand.
    pub(crate) x: Blades,
    /// Blades of the second operand, if the function has one.
    pub(crate) y: Option<Blades>,
    /// Blades of the result.
    pub(crate) out: Blades,
    /// The shader's uniform, except for `units`, which the plan sets.
    pub(crate) dims: CliffordDims,
    /// Type of all elements.
    pub(crate) dtype: DType,
    /// Blade axis of all tensors.
    pub(crate) axis: BladeAxis,
}

impl CliffordProblem {
    /// The function.
    #[must_use]
    pub fn function(&self) -> Function {
        self.function
    }

    /// `function` of `operands`, broadcast to the positions of `c`. C must not be empty, and its elements must not
    /// overlap.
    ///
    /// # Errors
    /// [`Error::Shape`] if a blade axis does not match its blades, or an operand cannot be broadcast to the shape of C;
    /// [`Error::Input`] for different algebras; [`Error::Limit`] if a size is $2^{31}$ or more.
    ///
    /// # Panics
    /// If the number of operands is not that of the function.
    pub fn new(
        function: Function,
        operands: &[MvLayout<'_>],
        c: MvLayout<'_>,
        axis: BladeAxis,
        dtype: DType,
    ) -> Result<Self> {
        assert_eq!(operands.len(), function.operands(), "{function:?}");
        let op = function.name();
        let second = operands.get(1).copied();
        let [x, y] = [operands[0], second.unwrap_or(operands[0])];
        for operand in [c, x, y] {
            check_blades(op, operand, c.blades, axis)?;
        }
        let strides = [c, x, y].map(|operand| broadcast_strides(op, operand.layout, c.layout, axis));
        let [strides_c, strides_x, strides_y] = strides;
        let [strides_c, strides_x, strides_y] = [strides_c?, strides_x?, strides_y?];
        let positions = positions(c.layout, axis);
        let of = |at: usize| [strides_c[at], strides_x[at], strides_y[at]];
        let mut dims = CliffordDims { out: dim(op, c.blades.len())?, ..CliffordDims::default() };
        let extents: Vec<usize> = positions.iter().map(|axis| axis[0]).collect();
        dims.rank = Axes::of(&extents, of).at_least_one().put(op, &mut dims.axes)?;
        dim(op, c.layout.len())?;
        for (i, operand) in [c, x, y].into_iter().enumerate() {
            let blade = axis.of(operand.layout.rank());
            dims.blades[i] = dim(op, operand.layout.strides()[blade])?;
            dims.offsets[i] = operand.layout.offset_in_window(dtype);
        }
        let y = second.map(|y| y.blades.clone());
        Ok(Self { function, x: x.blades.clone(), y, out: c.blades.clone(), dims, dtype, axis })
    }

    /// The number of operands of the function.
    pub(super) fn operands(&self) -> usize {
        self.function.operands()
    }

    /// The used axes: extent, and the strides of C, X and Y.
    pub(super) fn axes(&self) -> &[[u32; 4]] {
        &self.dims.axes[..self.dims.rank as usize]
    }

    /// Whether X (1) or Y (2) is broadcast along the innermost axis.
    pub(super) fn is_repeated(&self, operand: usize) -> bool {
        self.axes()[0][operand + 1] == 0
    }

    /// The number of positions in the batch.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.axes().iter().map(|axis| u64::from(axis[0])).product()
    }

    /// The terms of a product or of its gradient; `None` for other functions.
    ///
    /// # Errors
    /// [`Error::Input`] if the operands belong to different algebras.
    pub(super) fn terms(&self) -> Result<Option<Terms>> {
        let (x, y, out) = (&self.x, self.blades_of(2), &self.out);
        Ok(Some(match self.function {
            Function::Product(product) => product.terms(x, y)?.select(out)?,
            // One operand is the gradient; it has the blades of the product's result.
            Function::BackwardX(product) => product.terms(out, y)?.select(x)?.backward_x(out),
            Function::BackwardY(product) => product.terms(x, out)?.select(y)?.backward_y(out),
            _ => return Ok(None),
        }))
    }

    /// The blades of C (0), X (1) or Y (2).
    pub(super) fn blades_of(&self, operand: usize) -> &Blades {
        match (operand, &self.y) {
            (0, _) => &self.out,
            (2, Some(y)) => y,
            _ => &self.x,
        }
    }

    /// Whether vectors of `of` elements of C (0), X (1) or Y (2), in this direction, are contiguous and always begin at
    /// multiples of `of`.
    pub(super) fn is_aligned(&self, operand: usize, direction: UnitStride, of: u32) -> bool {
        let [inner, blade] = [self.axes()[0][operand + 1], self.dims.blades[operand]];
        let (unit, other) = match direction {
            UnitStride::Positions if self.blades_of(operand).len() == 1 => (inner, 0),
            UnitStride::Positions => (inner, blade),
            UnitStride::Blades => (blade, inner),
        };
        let outer = self.axes()[1..].iter().map(|axis| axis[operand + 1]);
        let mut sizes = outer.chain([self.dims.offsets[operand], other]);
        unit == 1 && sizes.all(|size| size.is_multiple_of(of))
    }

    /// The layout of C (0), X (1) or Y (2).
    pub(super) fn layout(&self, operand: usize) -> Result<Layout> {
        let positions = self.axes().iter().rev().map(|axis| [axis[0] as usize, axis[operand + 1] as usize]);
        let mut axes: Vec<[usize; 2]> = positions.collect();
        let blades = [self.blades_of(operand).len(), self.dims.blades[operand] as usize];
        axes.insert(if self.axis == BladeAxis::First { 0 } else { axes.len() }, blades);
        let [shape, strides]: [Vec<usize>; 2] = [0, 1].map(|i| axes.iter().map(|axis| axis[i]).collect());
        let offset = self.dims.offsets[operand] as usize;
        Layout::new(self.function.name(), &shape, &strides, offset, usize::MAX)
    }
}

/// Checks that a tensor's blade axis has the extent of its blades, and that these belong to the algebra of the result.
pub(super) fn check_blades(op: &'static str, x: MvLayout<'_>, c: &Blades, axis: BladeAxis) -> Result<()> {
    let (ours, theirs) = (x.blades.signature(), c.signature());
    if ours != theirs {
        return Err(Error::input(op, format!("the operands are of {ours} and {theirs}")));
    }
    let shape = x.layout.shape();
    if shape.get(axis.of(shape.len())) == Some(&x.blades.len()) {
        return Ok(());
    }
    let rule = match axis {
        BladeAxis::First => "the first axis must have one element per blade",
        BladeAxis::Last => "the last axis must have one element per blade",
    };
    Err(Error::shapes(op, rule, shape, &[x.blades.len()]))
}

/// Extents and strides of the axes other than the blade axis.
fn positions(layout: &Layout, axis: BladeAxis) -> Vec<[usize; 2]> {
    let blade = axis.of(layout.rank());
    let axes = layout.shape().iter().zip(layout.strides()).map(|(&n, &stride)| [n, stride]);
    axes.enumerate().filter(|(i, _)| *i != blade).map(|(_, axis)| axis).collect()
}

/// The strides of an operand along the position axes of `c`, 0 where it is broadcast.
fn broadcast_strides(op: &'static str, x: &Layout, c: &Layout, axis: BladeAxis) -> Result<Vec<usize>> {
    let rule = "apart from the blade axis, the extents of the operands must be those of the result, or 1";
    let wrong = || Error::shapes(op, rule, x.shape(), c.shape());
    let (x, c) = (positions(x, axis), positions(c, axis));
    let missing = c.len().checked_sub(x.len()).ok_or_else(wrong)?;
    let mut strides = vec![0; c.len()];
    for (i, &[extent, stride]) in x.iter().enumerate() {
        match (extent, c[missing + i][0]) {
            (1, _) => {}
            (m, n) if m == n => strides[missing + i] = stride,
            _ => return Err(wrong()),
        }
    }
    Ok(strides)
}
