//! The operands of a problem, and those that its plan takes.

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

/// The windows of an operand that the kernels accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Any view.
    View,
    /// A window without gaps, from the start of its binding. Other windows are copied.
    Dense,
    /// A result. Each part has its own array, and [`InWindows::put`](super::in_windows::InWindows::put) copies it to the result.
    Own,
    /// A result without gaps. Each part has its own sum, and the result is the total.
    Sum,
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
    pub(crate) form: Form,
    /// For each axis along which the operation is cut, the axis of the layout. None, or nothing, if every part takes the whole.
    pub(super) axes: Vec<Option<usize>>,
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

    /// The same, of an operation that is cut along these of its axes only.
    pub(crate) fn along_these(self, axes: &[usize]) -> Self {
        let own: Vec<Option<usize>> = axes.iter().map(|&axis| self.axis(axis)).collect();
        self.along(own)
    }

    /// Its own axis along an axis of the operation.
    pub(super) fn axis(&self, axis: usize) -> Option<usize> {
        self.axes.get(axis).copied().flatten()
    }

    /// The layout that a plan declares: results without gaps have one axis.
    pub(crate) fn declared(&self) -> Layout {
        if self.form == Form::View { self.layout } else { self.layout.flattened() }
    }
}
