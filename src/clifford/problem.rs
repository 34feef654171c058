//! A function of multivectors at every position of a batch, checked: what to compute, as plain data.

use super::algebra::blades::Blades;
use super::algebra::function::Function;
use super::algebra::terms::Terms;
use crate::layout::{DType, Layout, dim};
use crate::{Error, Result};

/// Axes beside the blades'.
pub const AXES_AT_MOST: usize = 5;

/// The uniform of `shaders/clifford/product.wgsl` and `shaders/clifford/table.wgsl`, in elements. Axes, blades and offsets have C, X and Y in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct CliffordDims {
    pub axes: [[u32; 4]; AXES_AT_MOST],
    pub blades: [u32; 4],
    pub offsets: [u32; 4],
    pub units: u32,
    pub rank: u32,
    pub out: u32,
    pub reserved0: u32,
}

/// The axis of a tensor that its blades lie along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BladeAxis {
    /// (blade, batch, feature): each blade is a tensor of its own. What kernels are fastest with.
    First,
    /// (batch, feature, blade): each multivector is together.
    Last,
}

impl BladeAxis {
    /// The axis' number in a tensor of this rank.
    #[must_use]
    pub fn of(self, rank: usize) -> usize {
        match self {
            Self::First => 0,
            Self::Last => rank.saturating_sub(1),
        }
    }
}

/// Multivectors in a tensor: where their elements lie, and which blades they are of.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Where elements lie.
    pub layout: &'a Layout,
    /// The blades along the axis of blades.
    pub blades: &'a Blades,
}

/// What of an operand lies side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Positions along the innermost axis.
    Positions,
    /// The blades of a multivector.
    Blades,
}

/// A function of multivectors, checked: blades and extents agree, and every size is below $2^{31}$.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CliffordProblem {
    /// What is computed.
    pub(crate) function: Function,
    /// Blades of the first operand.
    pub(crate) x: Blades,
    /// Blades of the second operand, of functions that have one.
    pub(crate) y: Option<Blades>,
    /// Blades of the result.
    pub(crate) out: Blades,
    /// The sizes, as the shader has them, but for the units, which the plan decides.
    pub(crate) dims: CliffordDims,
    /// The type of all elements.
    pub(crate) dtype: DType,
    /// The axis of all tensors that blades lie along.
    pub(crate) axis: BladeAxis,
}

impl CliffordProblem {
    /// What is computed.
    #[must_use]
    pub fn function(&self) -> Function {
        self.function
    }

    /// `function` of `operands` in `c`, whose positions they are repeated to; C must not be empty, its elements must not
    /// overlap.
    ///
    /// # Errors
    /// [`Error::Shape`] if an operand has not as many blades as it says, or cannot be repeated to C's shape;
    /// [`Error::Input`] of different algebras; [`Error::Limit`] if a size is $2^{31}$ or more.
    ///
    /// # Panics
    /// If there are not as many operands as the function has.
    pub fn new(
        function: Function,
        operands: &[Placed<'_>],
        c: Placed<'_>,
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
        let strides = [c, x, y].map(|operand| repeated(op, operand.layout, c.layout, axis));
        let [strides_c, strides_x, strides_y] = strides;
        let merged = merged(c.layout, axis, [strides_c?, strides_x?, strides_y?]);
        let (rank, out) = (dim(op, merged.len())?, dim(op, c.blades.len())?);
        let mut dims = CliffordDims { rank, out, ..CliffordDims::default() };
        for (to, from) in dims.axes.iter_mut().zip(&merged) {
            for (to, &size) in to.iter_mut().zip(from) {
                *to = dim(op, size)?;
            }
        }
        dim(op, c.layout.len())?;
        for (i, operand) in [c, x, y].into_iter().enumerate() {
            let blade = axis.of(operand.layout.rank());
            dims.blades[i] = dim(op, operand.layout.strides()[blade])?;
            dims.offsets[i] = operand.layout.offset_in_window(dtype);
        }
        let y = second.map(|y| y.blades.clone());
        Ok(Self { function, x: x.blades.clone(), y, out: c.blades.clone(), dims, dtype, axis })
    }

    /// How many operands the function has.
    pub(super) fn operands(&self) -> usize {
        self.function.operands()
    }

    /// The axes that there are: extent, and the strides of C, X and Y.
    pub(super) fn axes(&self) -> &[[u32; 4]] {
        &self.dims.axes[..self.dims.rank as usize]
    }

    /// Whether X (1) or Y (2) is repeated along the innermost axis.
    pub(super) fn is_repeated(&self, operand: usize) -> bool {
        self.axes()[0][operand + 1] == 0
    }

    /// Positions of the batch.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.axes().iter().map(|axis| u64::from(axis[0])).product()
    }

    /// The terms of a function that is a product, and nothing of others.
    ///
    /// # Errors
    /// [`Error::Input`] if the operands are of different algebras.
    pub(super) fn terms(&self) -> Result<Option<Terms>> {
        let (x, y, out) = (&self.x, self.blades_of(2), &self.out);
        Ok(Some(match self.function {
            Function::Product(product) => product.terms_onto(x, y, out)?,
            // The operand in place of the gradient has the blades of the product's result.
            Function::BackwardX(product) => product.terms_onto(out, y, x)?.backward_x(out),
            Function::BackwardY(product) => product.terms_onto(x, out, y)?.backward_y(out),
            _ => return Ok(None),
        }))
    }

    /// Blades of C (0), X (1) or Y (2).
    pub(super) fn blades_of(&self, operand: usize) -> &Blades {
        match (operand, &self.y) {
            (0, _) => &self.out,
            (2, Some(y)) => y,
            _ => &self.x,
        }
    }

    /// Whether elements of C (0), X (1) or Y (2) that are side by side, positions along the innermost axis or blades, begin
    /// at multiples of `of` wherever a kernel goes from there.
    pub(super) fn begin_at_multiples(&self, operand: usize, beside: Beside, of: u32) -> bool {
        let [inner, blade] = [self.axes()[0][operand + 1], self.dims.blades[operand]];
        let (unit, other) = match beside {
            Beside::Positions if self.blades_of(operand).len() == 1 => (inner, 0),
            Beside::Positions => (inner, blade),
            Beside::Blades => (blade, inner),
        };
        let outer = self.axes()[1..].iter().map(|axis| axis[operand + 1]);
        let mut sizes = outer.chain([self.dims.offsets[operand], other]);
        unit == 1 && sizes.all(|size| size.is_multiple_of(of))
    }

    /// Where the elements of C (0), X (1) or Y (2) lie.
    pub(super) fn layout(&self, operand: usize) -> Result<Layout> {
        let beside = self.axes().iter().rev().map(|axis| [axis[0] as usize, axis[operand + 1] as usize]);
        let mut axes: Vec<[usize; 2]> = beside.collect();
        let blades = [self.blades_of(operand).len(), self.dims.blades[operand] as usize];
        axes.insert(if self.axis == BladeAxis::First { 0 } else { axes.len() }, blades);
        let [shape, strides]: [Vec<usize>; 2] = [0, 1].map(|i| axes.iter().map(|axis| axis[i]).collect());
        let offset = self.dims.offsets[operand] as usize;
        Layout::new(self.function.name(), &shape, &strides, offset, usize::MAX)
    }
}

/// Checks that a tensor has as many blades as it says, and of the same algebra as the result.
pub(super) fn check_blades(op: &'static str, x: Placed<'_>, c: &Blades, axis: BladeAxis) -> Result<()> {
    let (ours, theirs) = (x.blades.signature(), c.signature());
    if ours != theirs {
        return Err(Error::input(op, format!("the operands are of {ours} and {theirs}")));
    }
    let shape = x.layout.shape();
    if shape.get(axis.of(shape.len())) == Some(&x.blades.len()) {
        return Ok(());
    }
    let rule = match axis {
        BladeAxis::First => "the first axis must be as long as there are blades",
        BladeAxis::Last => "the last axis must be as long as there are blades",
    };
    Err(Error::shapes(op, rule, shape, &[x.blades.len()]))
}

/// The strides of an operand along the axes of `c` that are not of blades, 0 where it is repeated.
fn repeated(op: &'static str, x: &Layout, c: &Layout, axis: BladeAxis) -> Result<Vec<usize>> {
    let beside = |layout: &Layout| -> Vec<[usize; 2]> {
        let blade = axis.of(layout.rank());
        let axes = layout.shape().iter().zip(layout.strides()).map(|(&n, &stride)| [n, stride]);
        axes.enumerate().filter(|(i, _)| *i != blade).map(|(_, axis)| axis).collect()
    };
    let rule = "the operands must have the result's shape beside the blades, or extents of 1";
    let wrong = || Error::shapes(op, rule, x.shape(), c.shape());
    let (x, c) = (beside(x), beside(c));
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

/// Extents and the strides of C, X and Y, innermost first; axes along which all step on are one.
fn merged(c: &Layout, axis: BladeAxis, strides: [Vec<usize>; 3]) -> Vec<[usize; 4]> {
    let blade = axis.of(c.rank());
    let extents: Vec<usize> =
        c.shape().iter().enumerate().filter(|(i, _)| *i != blade).map(|(_, &n)| n).collect();
    let mut axes: Vec<[usize; 4]> = Vec::with_capacity(AXES_AT_MOST);
    for at in (0..extents.len()).rev().filter(|&at| extents[at] > 1) {
        let [sc, sx, sy] = strides.each_ref().map(|strides| strides[at]);
        match axes.last_mut() {
            // Both are one where every operand steps from the end of the inner to the next of the outer.
            Some(inner) if [sc, sx, sy] == [1, 2, 3].map(|i| inner[0] * inner[i]) => inner[0] *= extents[at],
            _ => axes.push([extents[at], sc, sx, sy]),
        }
    }
    if axes.is_empty() {
        axes.push([1, 0, 0, 0]);
    }
    axes
}
