//! A checked function of batches of multivectors, as plain data.

use super::algebra::blades::Blades;
use super::algebra::function::Function;
use super::algebra::terms::Terms;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim, known, merged_together};
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
    /// The layouts of C, X and Y, relative to their windows: the positions of C, merged, and the blades. If there is no Y, the
    /// last is that of X.
    pub(super) layouts: [Layout; 3],
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
        let [of_c, of_x, of_y] = [c, x, y].map(|operand| positions(op, operand.layout, c.layout, axis));
        let of = [of_c?, of_x?, of_y?];
        let mut of = merged_together(of, 0..of[0].rank());
        if of[0].rank() == 0 {
            of = of.map(|of| of.with_axis(0, 1, 0));
        }
        let layouts = std::array::from_fn(|i| {
            let (operand, of) = ([c, x, y][i], of[i]);
            let blade = axis.of(operand.layout.rank());
            let of = of.at(of.strides(), operand.layout.offset_in_window(dtype) as usize);
            of.with_axis(axis.of(of.rank() + 1), operand.blades.len(), operand.layout.strides()[blade])
        });
        dim(op, c.layout.len())?;
        for size in layouts.iter().flat_map(|of: &Layout| of.shape().iter().chain(of.strides())) {
            dim(op, *size)?;
        }
        let y = second.map(|y| y.blades.clone());
        Ok(Self { function, x: x.blades.clone(), y, out: c.blades.clone(), layouts, dtype, axis })
    }

    /// The number of operands of the function.
    pub(super) fn operands(&self) -> usize {
        self.function.operands()
    }

    /// The positions of C (0), X (1) or Y (2): the layout of one blade.
    pub(super) fn positions_of(&self, operand: usize) -> Layout {
        let of = &self.layouts[operand];
        of.without_axis(self.axis.of(of.rank()))
    }

    /// The stride of C (0), X (1) or Y (2) from blade to blade.
    pub(super) fn blade_stride(&self, operand: usize) -> usize {
        let of = &self.layouts[operand];
        of.strides()[self.axis.of(of.rank())]
    }

    /// Its stride along the innermost axis of the positions: 0 if it is broadcast.
    pub(super) fn inner_stride(&self, operand: usize) -> usize {
        self.positions_of(operand).strides().last().copied().unwrap_or(0)
    }

    /// The extent of this axis.
    pub(super) fn inner_extent(&self) -> usize {
        self.positions_of(0).shape().last().copied().unwrap_or(1)
    }

    /// The number of positions in the batch.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.positions_of(0).len() as u64
    }

    /// The shader's uniform for invocations of this number of positions.
    pub(super) fn dims(&self, width: u32) -> CliffordDims {
        let of = [0, 1, 2].map(|operand| self.positions_of(operand));
        let mut dims = CliffordDims { out: known(self.out.len()), ..CliffordDims::default() };
        for (axis, to) in dims.axes[..of[0].rank()].iter_mut().rev().enumerate() {
            let [c, x, y] = of.map(|of| known(of.strides()[axis]));
            *to = [known(of[0].shape()[axis]), c, x, y];
        }
        dims.rank = known(of[0].rank());
        dims.units = dims.axes[0][0].div_ceil(width);
        let rows: u32 = dims.axes[1..of[0].rank()].iter().map(|axis| axis[0]).product();
        for (operand, of) in of.iter().enumerate() {
            dims.offsets[operand] = known(of.offset());
            dims.blades[operand] = known(self.blade_stride(operand));
        }
        dims.offsets[3] = dims.units * rows;
        dims
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
        let positions = self.positions_of(operand);
        let (inner, blade) = (self.inner_stride(operand), self.blade_stride(operand));
        let (unit, other) = match direction {
            UnitStride::Positions if self.blades_of(operand).len() == 1 => (inner, 0),
            UnitStride::Positions => (inner, blade),
            UnitStride::Blades => (blade, inner),
        };
        let outer = positions.strides()[..positions.rank() - 1].iter().copied();
        let mut sizes = outer.chain([positions.offset(), other]);
        unit == 1 && sizes.all(|size| size.is_multiple_of(of as usize))
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

/// The positions of an operand, broadcast to those of `c`.
fn positions(op: &'static str, x: &Layout, c: &Layout, axis: BladeAxis) -> Result<Layout> {
    let rule = "apart from the blade axis, the extents of the operands must be those of the result, or 1";
    let [of_x, of_c] = [x, c].map(|of| of.without_axis(axis.of(of.rank())));
    of_x.broadcast_to(of_c.shape()).map_err(|_| Error::shapes(op, rule, x.shape(), c.shape()))
}
