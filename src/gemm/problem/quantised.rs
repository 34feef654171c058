//! Products of types of 8 bits: sums are scaled, and those of i8, which are exact, are stored as real numbers or requantised to i8.

use super::epilogue::{BiasAxis, LineScale};
use super::gemm::GemmProblem;
use super::layouts::LINE_SCALES;
use crate::layout::{DType, Layout};
use crate::{Error, Result};

impl GemmProblem {
    /// Scales the sums of products of 8 bits with an element of f32 for each row or column. It is one more operand.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is not a vector of that length; [`Error::Limit`] for a stride of $2^{31}$ or more.
    pub fn line_scale(mut self, axis: BiasAxis, scale: &Layout) -> Result<Self> {
        let (at, rule) = match axis {
            BiasAxis::Rows => (0, "the row scale must be a vector with an element for each row"),
            BiasAxis::Columns => (1, "the column scale must be a vector with an element for each column"),
        };
        let scale = self.vector(axis, scale, DType::F32, rule)?;
        self.layouts.extras[LINE_SCALES + at] = Some(scale);
        self.epilogue.line_scale = self.epilogue.line_scale.and(axis);
        Ok(self)
    }

    /// Adds an element of f32 for each column after the sum of the product and the bias was scaled. It is one more operand, in the
    /// place of the scales of rows. Only products of windows have it.
    ///
    /// # Errors
    /// As [`line_scale`](Self::line_scale).
    pub(crate) fn shift(mut self, shift: &Layout) -> Result<Self> {
        let rule = "the shift must be a vector with an element for each column";
        self.layouts.extras[LINE_SCALES] = Some(self.vector(BiasAxis::Columns, shift, DType::F32, rule)?);
        self.epilogue.line_scale = LineScale::ColumnsAndShift;
        Ok(self)
    }

    /// Whether the launch that applies the epilogue has [`QuantisedDims`].
    pub(in crate::gemm) fn has_quantised_dims(&self) -> bool {
        self.epilogue.line_scale != LineScale::None || self.is_requantised()
    }

    /// Whether results are divided by a scale, rounded and stored as i8.
    pub(in crate::gemm) fn is_requantised(&self) -> bool {
        self.types.c == DType::I8
    }

    /// Whether sums go through the epilogue: it does something, or exact sums become real numbers.
    pub(in crate::gemm) fn has_epilogue(&self) -> bool {
        !self.epilogue.is_plain() || self.type_of_epilogue() != self.type_of_sums()
    }

    /// The type of sums: f32, or i32 for operands of i8.
    pub(in crate::gemm) fn type_of_sums(&self) -> DType {
        if self.types.ab.is_float() { DType::F32 } else { DType::I32 }
    }

    /// The type that sums have after the epilogue, before they are stored.
    pub(in crate::gemm) fn type_of_epilogue(&self) -> DType {
        if self.types.c == DType::I32 { self.type_of_sums() } else { DType::F32 }
    }

    /// Checks that the types go with the epilogue.
    ///
    /// # Errors
    /// [`Error::Input`] if exact sums have an epilogue but keep their type, or if the result of operands with a fraction is an
    /// integer.
    pub(in crate::gemm) fn check_types(&self) -> Result<()> {
        let plain_sums = "the result is i32, the exact sums, which are not scaled, shifted or activated: name a type with \
                          `out`: f32, f16, bf16 or i8";
        match (self.types.ab.is_float(), self.types.c) {
            (false, DType::I32) if !self.epilogue.is_plain() => {
                Err(Error::input("matmul: the result", plain_sums))
            }
            (false, DType::I8) if self.epilogue.adds_previous() => {
                Err(Error::input("matmul: beta", "a result of i8 is not added to"))
            }
            (true, c @ (DType::I8 | DType::I32)) => {
                let why = format!(
                    "only products of i8 have results of {c}; those of {} are f32, f16 or bf16",
                    self.types.ab
                );
                Err(Error::input("matmul: the result", why))
            }
            _ => Ok(()),
        }
    }
}
