//! The reductions, and how their kernels read and combine elements.

use crate::layout::DType;

/// A function that reduces elements to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReduceFunction {
    /// The sum. Of integers it wraps.
    Sum,
    /// The sum, divided by the number of elements.
    Mean,
    /// The product.
    Product,
    /// The sum of squares.
    SumSquares,
    /// The root of the sum of squares.
    Norm,
    /// The largest element.
    Max,
    /// The smallest element.
    Min,
    /// The largest absolute value.
    MaxAbs,
    /// The index of the largest element.
    ArgMax,
    /// The index of the smallest element.
    ArgMin,
    /// The variance.
    Variance {
        /// The correction, which is subtracted from the number of elements before the division.
        correction: usize,
    },
}

/// How a kernel reads the elements of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Widened to f32.
    Reals,
    /// Widened to i32.
    Integers,
    /// As bits.
    Bits,
}

/// How a kernel combines elements: a variant of `shaders/ops/reduction.wgsl`, and the WGSL type of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Combination {
    pub(super) variant: &'static str,
    pub(super) held: &'static str,
    /// Words of this type in memory.
    pub(super) words: u32,
    pub(super) reading: Reading,
}

impl ReduceFunction {
    /// Every function.
    pub const ALL: [Self; 11] = [
        Self::Sum,
        Self::Mean,
        Self::Product,
        Self::SumSquares,
        Self::Norm,
        Self::Max,
        Self::Min,
        Self::MaxAbs,
        Self::ArgMax,
        Self::ArgMin,
        Self::Variance { correction: 1 },
    ];

    /// The name in errors and plans.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Product => "prod",
            Self::SumSquares => "sum_squares",
            Self::Norm => "norm",
            Self::Max => "max",
            Self::Min => "min",
            Self::MaxAbs => "max_abs",
            Self::ArgMax => "argmax",
            Self::ArgMin => "argmin",
            Self::Variance { .. } => "var",
        }
    }

    /// Whether there is such a function of elements of this type.
    #[must_use]
    pub fn takes(self, dtype: DType) -> bool {
        let of_integers = matches!(self, Self::Sum | Self::Max | Self::Min | Self::ArgMax | Self::ArgMin);
        dtype.is_real() || (of_integers && !dtype.is_fp8())
    }

    /// The type of the result.
    #[must_use]
    pub fn result_type(self, dtype: DType) -> DType {
        match self {
            Self::ArgMax | Self::ArgMin => DType::I32,
            Self::Sum if !dtype.is_real() => DType::I32,
            _ => dtype,
        }
    }

    /// Whether the result is an index along the axis.
    pub(super) fn is_place(self) -> bool {
        matches!(self, Self::ArgMax | Self::ArgMin)
    }

    /// The result for no elements, if it is a number.
    pub(super) fn of_nothing(self) -> Option<f64> {
        match self {
            Self::Sum | Self::SumSquares | Self::Norm | Self::MaxAbs => Some(0.0),
            Self::Product => Some(1.0),
            Self::Mean | Self::Variance { .. } => Some(f64::NAN),
            Self::Max | Self::Min | Self::ArgMax | Self::ArgMin => None,
        }
    }

    pub(super) fn combination(self, dtype: DType) -> Combination {
        // In memory, a vector of three words takes four.
        let (variant, held, words, reading) = match self {
            Self::Sum | Self::Mean if dtype.is_real() => ("sum", "f32", 1, Reading::Reals),
            Self::Sum | Self::Mean => ("integers", "i32", 1, Reading::Integers),
            Self::Product => ("product", "f32", 1, Reading::Reals),
            Self::SumSquares | Self::Norm => ("squares", "f32", 1, Reading::Reals),
            Self::Max | Self::Min | Self::MaxAbs => ("extreme", "vec3<u32>", 4, Reading::Bits),
            Self::ArgMax | Self::ArgMin => ("place", "vec2<u32>", 2, Reading::Bits),
            Self::Variance { .. } => ("moments", "vec3<f32>", 4, Reading::Reals),
        };
        Combination { variant, held, words, reading }
    }

    /// How the result is computed from the kernel's final state: a constant of `reduce_dims.wgsl`.
    pub(super) fn finish(self) -> u32 {
        match self {
            Self::Mean => 1,
            Self::Norm => 2,
            Self::Min => 3,
            Self::MaxAbs => 4,
            _ => 0,
        }
    }

    /// The number in the shader's uniform, for this many elements of a type: the bits of the divisor, or the mask that reverses
    /// the order.
    pub(super) fn number(self, count: usize, dtype: DType) -> u32 {
        match self {
            Self::Mean => (count as f32).to_bits(),
            Self::Variance { correction } => (count.saturating_sub(correction) as f32).to_bits(),
            Self::ArgMin if dtype.is_real() => 0x8000_0000, // another sign
            Self::ArgMin => u32::MAX,
            _ => 0,
        }
    }

    /// The approximate number of operations per element.
    pub(super) fn flops(self) -> f64 {
        match self {
            Self::SumSquares | Self::Norm => 2.0,
            Self::Variance { .. } => 8.0,
            _ => 1.0,
        }
    }
}
