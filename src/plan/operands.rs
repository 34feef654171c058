//! The operands of a problem, and those that its plan takes.

use super::windows::{CutAxes, CutOperand, Form};
use crate::layout::{DType, Layout};

/// The use of a buffer by an operation or a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes every element, and reads no element that it has not written.
    Write,
    /// It reads and writes elements, or writes only some of them.
    Update,
}

/// An operand that a plan takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name that errors use.
    pub name: &'static str,
    /// The element type.
    pub dtype: DType,
    /// The layout, with its offset counted from the start of the operand's aligned window. Axes may have been merged.
    pub layout: Layout,
    /// How the operation uses the operand.
    pub access: Access,
}

impl Parameter {
    /// Size in bytes of a new buffer for this operand.
    pub(crate) fn new_bytes(&self) -> u64 {
        self.layout.bytes(self.dtype).end
    }
}

/// An operand of a problem. Plans derive from it what they declare, bind and cut.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    /// The name that errors use.
    pub(crate) name: &'static str,
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
    pub(crate) access: Access,
    /// The windows of it that the kernels accept.
    form: Form,
    /// For each axis along which the operation is cut, the axis of the layout. None, or nothing, if every part takes the whole.
    axes: Vec<Option<usize>>,
}

impl Operand {
    /// Any view, read. Its axes are those of the operation.
    pub(crate) fn read(name: &'static str, dtype: DType, layout: Layout) -> Self {
        let axes = (0..layout.rank()).map(Some).collect();
        Self { name, dtype, layout, access: Access::Read, form: Form::View, axes }
    }

    /// A result without gaps. Its axes are those of the operation.
    pub(crate) fn written(name: &'static str, dtype: DType, layout: Layout) -> Self {
        Self { access: Access::Write, form: Form::Dense, ..Self::read(name, dtype, layout) }
    }

    /// The same, used in this way.
    pub(crate) fn accessed(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// The same, whose windows must have this form.
    pub(crate) fn in_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// The same, which every part takes as a whole.
    pub(crate) fn whole(self) -> Self {
        Self { axes: Vec::new(), ..self }
    }

    /// The same, with these axes of its own along the axes of the operation.
    pub(crate) fn along(self, axes: impl IntoIterator<Item = Option<usize>>) -> Self {
        Self { axes: axes.into_iter().collect(), ..self }
    }

    /// The layout that a plan declares: results without gaps have one axis.
    pub(crate) fn declared(&self) -> Layout {
        if self.form == Form::View { self.layout } else { self.layout.flattened() }
    }
}

impl CutAxes {
    /// Axes of these extents, along all of which these operands can be cut.
    pub(crate) fn of(extents: &[usize], operands: Vec<Operand>) -> Self {
        let cut = |operand: Operand| {
            let own = |axis: usize| operand.axes.get(axis).copied().flatten();
            let axes = (0..extents.len()).map(own).collect();
            CutOperand::new(operand.form, operand.layout, operand.dtype, axes)
        };
        let operands = operands.into_iter().map(cut).collect();
        Self { extents: extents.to_vec(), joined: 0, operands, whole: None }
    }

    /// All axes of a shape except one, along which the operation is computed as a whole. The axes of the operands are those of
    /// the shape.
    pub(crate) fn except(axis: usize, shape: &[usize], operands: Vec<Operand>) -> Self {
        let others: Vec<usize> = (0..shape.len()).filter(|&other| other != axis).collect();
        let without = |operand: Operand| {
            let own = |&other: &usize| operand.axes.get(other).copied().flatten();
            let axes: Vec<Option<usize>> = others.iter().map(own).collect();
            operand.along(axes)
        };
        let extents: Vec<usize> = others.iter().map(|&other| shape[other]).collect();
        let operands = operands.into_iter().map(without).collect();
        Self { whole: Some(axis), ..Self::of(&extents, operands) }
    }
}
