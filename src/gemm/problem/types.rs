//! Element types of a product, its name, and those of its operands.

use crate::layout::DType;

/// The name of matrix products in errors and plans.
pub(in crate::gemm) const OP: &str = "matmul";

/// Products that are summed in f16, with that accumulator.
pub(in crate::gemm) const MAX_F16_PRODUCTS: u32 = 16;

/// The type in which a product of f16 operands may be accumulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// All sums are in f32.
    #[default]
    F32,
    /// Sums of at most [`MAX_F16_PRODUCTS`](crate::reference::MAX_F16_PRODUCTS) products may be in f16, if the operands are
    /// f16 and the kernel supports it. These sums are added in f32. This is much less precise, and faster on some GPUs.
    ///
    /// [`reference::gamma_f16`](crate::reference::gamma_f16) bounds the error as long as no product and no f16 sum exceeds
    /// 65,504, the largest f16. Beyond that the result is undefined.
    F16,
}

impl Accumulator {
    pub(in crate::gemm) fn bytes(self) -> u32 {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }
}

/// The element types of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmTypes {
    /// Type of A and B.
    pub ab: DType,
    /// Type of C.
    pub c: DType,
    /// Type of the sums.
    pub accumulator: Accumulator,
}

impl GemmTypes {
    /// Operands and result of these types, accumulated in f32.
    #[must_use]
    pub const fn new(ab: DType, c: DType) -> Self {
        Self { ab, c, accumulator: Accumulator::F32 }
    }

    /// The types of A, B and C.
    #[must_use]
    pub fn of_operands(&self) -> [DType; 3] {
        [self.ab, self.ab, self.c]
    }
}

/// One of the two operands of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The left operand, A (.., m, k). Its outer axis is m.
    A,
    /// The right operand, B (.., k, n). Its outer axis is n.
    B,
}
