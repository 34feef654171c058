//! The options of a product: each returns the same problem with one thing changed.

use super::epilogue::{BiasAxis, Epilogue, Previous, Scale};
use super::gemm::GemmProblem;
use super::generated::{Generated, GeneratedOperand, SignHalf};
use super::layouts::{BIAS, MatrixLayout, RESIDUAL};
use super::tile::{Pin, SplitK};
use super::types::{Accumulator, GemmTypes, OP, Side};
use crate::layout::{DType, Layout, Precision, dim};
use crate::ops::Activation;
use crate::{Error, Result};

impl GemmProblem {
    /// Restricts the candidates of the plan.
    #[must_use]
    pub fn pinned(self, pin: Pin) -> Self {
        Self { pin, ..self }
    }

    /// Sets the number of splits of k.
    #[must_use]
    pub fn split_k(self, split: SplitK) -> Self {
        Self { split, ..self }
    }

    /// Sets the accumulator.
    #[must_use]
    pub(in crate::gemm) fn accumulated_in(self, accumulator: Accumulator) -> Self {
        Self { types: GemmTypes { accumulator, ..self.types }, ..self }
    }

    /// Sets the precision, which matters only for f32 operands.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Scales the sums by `alpha`. The problem only records whether it is 1; the number is a scalar of the call.
    #[must_use]
    pub fn alpha(self, alpha: f32) -> Self {
        Self { epilogue: Epilogue { scale: Scale::of(alpha), ..self.epilogue }, ..self }
    }

    /// Adds `beta` times the previous contents of C; with a beta of 0, C is not read. The number is a scalar of the call.
    #[must_use]
    pub fn beta(self, beta: f32) -> Self {
        Self { epilogue: Epilogue { previous: Previous::of(beta), ..self.epilogue }, ..self }
    }

    /// Applies an activation.
    #[must_use]
    pub fn activation(self, activation: Activation) -> Self {
        Self { epilogue: Epilogue { activation, ..self.epilogue }, ..self }
    }

    /// Adds a bias with one element for each row or column. It is one more operand.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is not a vector of that length; [`Error::Limit`] for a stride of $2^{31}$ or more.
    pub fn bias(mut self, axis: BiasAxis, bias: &Layout, dtype: DType) -> Result<Self> {
        let rule = match axis {
            BiasAxis::Rows => "the row bias must be a vector with an element for each row",
            BiasAxis::Columns => "the bias must be a vector with an element for each column",
        };
        self.layouts.extras[BIAS] = Some(self.vector(axis, bias, dtype, rule)?);
        self.epilogue.bias = Some(dtype);
        Ok(self)
    }

    /// The normal layout of a vector that must have an element for each row or column.
    pub(super) fn vector(
        &self,
        axis: BiasAxis,
        vector: &Layout,
        dtype: DType,
        rule: &'static str,
    ) -> Result<MatrixLayout> {
        let (extent, at) = match axis {
            BiasAxis::Rows => (self.m(), 1),
            BiasAxis::Columns => (self.columns(), 0),
        };
        if vector.rank() != 1 || dim(OP, vector.shape()[0])? != extent {
            return Err(Error::shapes(OP, rule, vector.shape(), &[extent as usize]));
        }
        MatrixLayout::of(&vector.unsqueeze(at)?, dtype, 4)
    }

    /// Adds a residual of the shape of `c` after the activation. It is one more operand.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another shape; [`Error::Limit`] for a stride of $2^{31}$ or more.
    pub fn residual(mut self, residual: &Layout, c: &Layout, dtype: DType) -> Result<Self> {
        let of_product = self.layouts.c.shape.map(|extent| extent as usize);
        let missing = of_product.len().saturating_sub(c.rank());
        let is_of_product =
            of_product[..missing].iter().all(|&extent| extent == 1) && of_product[missing..] == *c.shape();
        if residual.shape() != c.shape() || !is_of_product {
            let rule = "the residual must have the shape of the product";
            return Err(Error::shapes(OP, rule, residual.shape(), c.shape()));
        }
        self.layouts.extras[RESIDUAL] = Some(MatrixLayout::of(residual, dtype, 4)?);
        self.epilogue.residual = Some(dtype);
        Ok(self)
    }

    /// Undoes the scaling of operands whose rows have this length and were scaled by powers of two. The exponents of A and B
    /// are two more operands. `cross`: a third one holds the sums of the cross terms, which are added first.
    ///
    /// # Errors
    /// [`Error::Limit`] for rows of $2^{31}$ elements or more.
    pub fn scaled_back(mut self, row: usize, cross: bool) -> Result<Self> {
        self.scaled_row = dim(OP, row.max(1))?;
        self.epilogue.scale = if cross { Scale::BackWithCross } else { Scale::Back };
        Ok(self)
    }

    /// Generates one operand. The plan's operand in its place is the table that the entries are computed from.
    #[must_use]
    pub fn generated(mut self, generated: GeneratedOperand) -> Self {
        let of = |shape, strides| MatrixLayout { shape, strides, offset: 0 };
        match generated.side {
            Side::A => self.layouts.a = of([1, 1, self.m(), self.k()], [0, 0, 0, 1]),
            Side::B => self.layouts.b = of([1, 1, self.k(), self.n()], [0, 0, 1, 0]),
        }
        self.generated = Some(Generated::Operand(generated));
        self
    }

    /// Generates half of B, which has no batch. `stored` is the layout of the other half.
    ///
    /// # Errors
    /// [`Error::Shape`] if `stored` is not half of B; [`Error::Limit`] for strides of $2^{31}$ or more.
    pub fn sign_half(mut self, signs: SignHalf, stored: &Layout) -> Result<Self> {
        let whole = [self.k() as usize, self.n() as usize];
        if signs.shape(stored)? != whole {
            let rule = "the stored half of B must have half of its rows or columns";
            return Err(Error::shapes(OP, rule, stored.shape(), &whole));
        }
        let mut half = MatrixLayout::of(stored, self.types.ab, 0)?;
        // NOTE: axes of one element keep their strides too: these tell row-major from column-major, as in a whole operand.
        half.strides[2..].copy_from_slice(&[dim(OP, stored.strides()[0])?, dim(OP, stored.strides()[1])?]);
        self.layouts.b = half;
        self.generated = Some(Generated::SignHalf(signs));
        Ok(self)
    }

    /// Drops the epilogue and stores sums of this type.
    #[must_use]
    pub(in crate::gemm) fn without_epilogue(&self, c: DType) -> Self {
        let mut plain = Self { epilogue: Epilogue::default(), scaled_row: 0, ..*self };
        (plain.layouts.extras, plain.types.c) = ([None; 4], c);
        plain
    }
}
