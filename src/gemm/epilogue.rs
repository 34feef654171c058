//! What becomes of sums as they are stored: the same for every kernel.

use super::generated::Made;
use super::memory::Store;
use super::problem::{GemmProblem, OP, batch_strides, stride};
use crate::caps::Caps;
use crate::kernel::{Access, Kernel, Memory, Width};
use crate::layout::{DType, Layout, dim};
use crate::ops::Activation;
use crate::plan::{Scalar, ScalarParameter};
use crate::{Error, Result};

pub(super) const ALPHA: ScalarParameter = ScalarParameter::f32("alpha");
pub(super) const BETA: ScalarParameter = ScalarParameter::f32("beta");
pub(super) const SEED_LOW: ScalarParameter = ScalarParameter::u32("seed_low");
pub(super) const SEED_HIGH: ScalarParameter = ScalarParameter::u32("seed_high");

/// What becomes of sums: activation($\alpha AB + \beta C$ + bias) + residual. The numbers and strides are in the dims; this
/// is what changes the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Epilogue {
    /// How sums are scaled.
    pub scale: Scale,
    /// Whether C held something that is added.
    pub previous: Previous,
    /// The type of the bias, if there is one.
    pub bias: Option<DType>,
    /// The type of the residual, if there is one.
    pub residual: Option<DType>,
    /// What is applied to the sum of these, except the residual.
    pub activation: Activation,
}

/// How sums are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scale {
    /// Not at all.
    #[default]
    One,
    /// By alpha.
    Alpha,
    /// Back from what the operands were scaled by ([`Precision::Fast`](crate::layout::Precision::Fast)), and by alpha.
    Back,
    /// As [`Back`](Self::Back), after the sums of the cross terms are added
    /// ([`Precision::Split`](crate::layout::Precision::Split)).
    BackWithCross,
}

/// What becomes of what C held before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Previous {
    /// It is overwritten, and never read: NaN does not spread.
    #[default]
    Overwritten,
    /// It is added, times beta.
    Added,
}

/// The axis of C along which a bias has its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BiasAxis {
    /// One element for each row.
    Rows,
    /// One element for each column.
    Columns,
}

impl Epilogue {
    /// Whether sums are stored as they are.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether what C held is read.
    pub(super) fn adds_previous(&self) -> bool {
        self.previous == Previous::Added
    }
}

impl GemmProblem {
    /// The same product, sums scaled by `alpha`. Only whether it is 1 is part of the problem; the number is a scalar.
    #[must_use]
    pub fn alpha(mut self, alpha: f32) -> Self {
        self.epilogue.scale = if alpha == 1.0 { Scale::One } else { Scale::Alpha };
        self
    }

    /// The same product, added to `beta` times what C holds; of 0, C is not read. The number is a scalar.
    #[must_use]
    pub fn beta(mut self, beta: f32) -> Self {
        self.epilogue.previous = if beta == 0.0 { Previous::Overwritten } else { Previous::Added };
        self
    }

    /// The same product with an activation.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self {
        self.epilogue.activation = activation;
        self
    }

    /// The same product with a bias of one element for each row or column, which is another operand.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is no vector of that length; [`Error::Limit`] for a stride of $2^{31}$ or more.
    pub fn bias(mut self, axis: BiasAxis, bias: &Layout, dtype: DType) -> Result<Self> {
        let (extent, rule) = match axis {
            BiasAxis::Rows => (self.dims.m, "the row bias must be a vector with an element for each row"),
            BiasAxis::Columns => (self.dims.n, "the bias must be a vector with an element for each column"),
        };
        if bias.rank() != 1 || dim(OP, bias.shape()[0])? != extent {
            return Err(Error::shapes(OP, rule, bias.shape(), &[extent as usize]));
        }
        let step = dim(OP, stride(bias, 1))?;
        [self.dims.bias_row, self.dims.bias_col] = match axis {
            BiasAxis::Rows => [step, 0],
            BiasAxis::Columns => [0, step],
        };
        self.dims.bias_offset = bias.offset_in_window(dtype);
        self.epilogue.bias = Some(dtype);
        Ok(self)
    }

    /// The same product with a residual of the shape of C, `c`, which is another operand.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another shape; [`Error::Limit`] for a stride of $2^{31}$ or more.
    pub fn residual(mut self, residual: &Layout, c: &Layout, dtype: DType) -> Result<Self> {
        if residual.shape() != c.shape() {
            let rule = "the residual must have the shape of the product";
            return Err(Error::shapes(OP, rule, residual.shape(), c.shape()));
        }
        let d = &mut self.dims;
        d.residual_row = dim(OP, stride(residual, 2))?;
        d.residual_col = dim(OP, stride(residual, 1))?;
        d.residual_offset = residual.offset_in_window(dtype);
        [d.residual_batch0, d.residual_batch1] = batch_strides(residual)?;
        self.epilogue.residual = Some(dtype);
        Ok(self)
    }

    /// The same product of operands whose rows are of this length and scaled, scaled back by their exponents, which are two more
    /// operands. `cross`: another one has cross terms, which are added first.
    ///
    /// # Errors
    /// [`Error::Limit`] for rows of $2^{31}$ elements.
    pub fn scaled_back(mut self, row: usize, cross: bool) -> Result<Self> {
        self.dims.scaled_row = dim(OP, row.max(1))?;
        self.epilogue.scale = if cross { Scale::BackWithCross } else { Scale::Back };
        Ok(self)
    }

    /// The numbers that a call passes: alpha and beta where the problem says that they are other than 1 and 0, and the seed of
    /// a generated operand.
    pub(super) fn scalars(&self) -> Vec<ScalarParameter> {
        let alpha = (self.epilogue.scale == Scale::Alpha).then_some(ALPHA);
        let beta = self.epilogue.adds_previous().then_some(BETA);
        let is_seeded = matches!(self.made, Some(Made::Whole(_) | Made::Half(_)));
        let seed = if is_seeded { [Some(SEED_LOW), Some(SEED_HIGH)] } else { [None; 2] };
        [alpha, beta].into_iter().chain(seed).flatten().collect()
    }

    /// These numbers as a call passes them.
    pub(crate) fn numbers(&self, [alpha, beta]: [f32; 2], [low, high]: [u32; 2]) -> Vec<Scalar> {
        let number = |scalar: ScalarParameter| match scalar {
            ALPHA => alpha.into(),
            BETA => beta.into(),
            SEED_LOW => low.into(),
            _ => high.into(),
        };
        self.scalars().into_iter().map(number).collect()
    }

    /// Binds the epilogue, whose operands' bindings begin at `first`, in a kernel that stores in this way.
    pub(super) fn bind_epilogue(&self, kernel: Kernel, store: Store, first: u32, caps: &Caps) -> Kernel {
        let Epilogue { scale, previous, bias, residual, activation } = self.epilogue;
        if self.epilogue.is_plain() {
            return kernel;
        }
        let mut kernel = kernel.slot("epilogue", "forms");
        if previous == Previous::Added {
            // What C held is read as it is stored.
            kernel = match store {
                Store::Elements => kernel.slot("addend_c", "held"),
                Store::Vectors => kernel.slot("addend_c", "held_vector"),
            };
        }
        let mut binding = first;
        kernel = match bias {
            None => kernel,
            Some(dtype) => {
                let kernel =
                    kernel.slot("addend_bias_vector", "tensor").param("BIAS_VECTOR_BINDING", binding);
                binding += 1;
                kernel.operand("bias_vector", Access::read(Memory::of(dtype, caps), Width::One))
            }
        };
        kernel = match residual {
            None => kernel,
            Some(dtype) => {
                let kernel =
                    kernel.slot("addend_residual_matrix", "tensor").param("RESIDUAL_MATRIX_BINDING", binding);
                binding += 1;
                kernel.operand("residual_matrix", Access::read(Memory::of(dtype, caps), Width::One))
            }
        };
        // A multiplication by an alpha of 1 costs nothing beside a store.
        kernel = match scale {
            Scale::One | Scale::Alpha => kernel,
            Scale::Back => kernel.slot("scaled", "back").param("EXPONENTS_BINDING", binding),
            Scale::BackWithCross => {
                kernel.slot("scaled", "back").slot("cross_terms", "added").param("EXPONENTS_BINDING", binding)
            }
        };
        kernel.slot("activation", activation.variant())
    }
}
