//! The epilogue of a product: the operations between a sum and its store, the same for every kernel.

use crate::layout::DType;
use crate::ops::Activation;

/// The epilogue activation($\alpha r_{i} c_{j} (AB)\_{ij} + \beta C$ + bias) + residual. Numbers and strides are in the dims;
/// these fields change the code of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Epilogue {
    /// Scale of the sums.
    pub scale: Scale,
    /// Scales of rows and columns of the sums, which only products of i8 have.
    pub line_scale: LineScale,
    /// Whether the previous contents of C are added.
    pub previous: Previous,
    /// Type of the bias, if there is one.
    pub bias: Option<DType>,
    /// Type of the residual, if there is one.
    pub residual: Option<DType>,
    /// Activation, which is applied before the residual is added.
    pub activation: Activation,
}

/// The scale of the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scale {
    /// None.
    #[default]
    One,
    /// Times alpha.
    Alpha,
    /// Divided by the powers of two that scaled the operands ([`Precision::Fast`](crate::layout::Precision::Fast)), then times
    /// alpha.
    Back,
    /// As [`Back`](Self::Back), after the sums of the cross terms are added
    /// ([`Precision::Split`](crate::layout::Precision::Split)).
    BackWithCross,
}

impl Scale {
    /// The scale by this number.
    pub(in crate::gemm) fn of(alpha: f32) -> Self {
        if alpha == 1.0 { Self::One } else { Self::Alpha }
    }
}

/// Tensors of f32 that scale the sums: $r$ with an element for each row, $c$ with an element for each column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineScale {
    /// None.
    #[default]
    None,
    /// $r$.
    Rows,
    /// $c$.
    Columns,
    /// $r$ and $c$.
    RowsAndColumns,
    /// $c$, which multiplies the sum of the product and the bias. An element for each column, in the place of $r$, is added after that.
    ColumnsAndShift,
}

impl LineScale {
    /// Every combination of scales.
    pub const ALL: [Self; 4] = [Self::None, Self::Rows, Self::Columns, Self::RowsAndColumns];

    /// The axes with a scale, in the order of operands.
    pub(in crate::gemm) fn axes(self) -> &'static [BiasAxis] {
        match self {
            Self::None => &[],
            Self::Rows => &[BiasAxis::Rows],
            Self::Columns => &[BiasAxis::Columns],
            Self::RowsAndColumns | Self::ColumnsAndShift => &[BiasAxis::Rows, BiasAxis::Columns],
        }
    }

    /// The same, with a scale along this axis too.
    pub(in crate::gemm) fn and(self, axis: BiasAxis) -> Self {
        match (self, axis) {
            (Self::None | Self::Rows, BiasAxis::Rows) => Self::Rows,
            (Self::None | Self::Columns, BiasAxis::Columns) => Self::Columns,
            _ => Self::RowsAndColumns,
        }
    }
}

/// The use of the previous contents of C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Previous {
    /// They are overwritten and never read, so a NaN in them has no effect.
    #[default]
    Overwritten,
    /// They are added, times beta.
    Added,
}

impl Previous {
    /// The use if they are multiplied by this number.
    pub(in crate::gemm) fn of(beta: f32) -> Self {
        if beta == 0.0 { Self::Overwritten } else { Self::Added }
    }
}

/// The axis of C along which a bias or a scale runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BiasAxis {
    /// One element for each row.
    Rows,
    /// One element for each column.
    Columns,
}

impl Epilogue {
    /// Whether the epilogue does nothing.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the previous contents of C are read.
    pub(in crate::gemm) fn adds_previous(&self) -> bool {
        self.previous == Previous::Added
    }
}
