//! The epilogue of a product: the operations between a sum and its store, the same for every kernel.

use crate::layout::DType;
use crate::ops::Activation;

/// The epilogue activation($\alpha AB + \beta C$ + bias) + residual. Numbers and strides are in the dims; these fields change
/// the code of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Epilogue {
    /// Scale of the sums.
    pub scale: Scale,
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

/// The use of the previous contents of C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Previous {
    /// They are overwritten and never read, so a NaN in them has no effect.
    #[default]
    Overwritten,
    /// They are added, times beta.
    Added,
}

/// The axis of C that a bias runs along.
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
