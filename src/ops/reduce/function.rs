//! The reductions, and how their kernels read and combine elements.

use crate::layout::DType;
use crate::ops::table::reduction_rows;
use Reading::{Bits, Integers, Reals};

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

/// The state of elements, and how a kernel combines it: a variant of `shaders/ops/reduction.wgsl`, and the WGSL type of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Combination {
    pub(super) variant: &'static str,
    pub(super) held: &'static str,
    /// Words of this type in memory.
    pub(super) words: u32,
    pub(super) reading: Reading,
}

struct ReductionRow {
    name: &'static str,
    takes: &'static str,
    nothing: Option<f64>,
    flops: f64,
    /// Of reals, and of integers if it is another one.
    states: &'static [(&'static str, &'static str, u32, Reading)],
    finish: u32,
}

/// Generates the enum from the rows, and what kernels know of each function.
macro_rules! define {
    ($row:ident $n:ident $dtype:ident: $(
        #[$doc:meta] $(#[$more:meta])*
        $variant:ident $({ $option:ident: $given:literal })?: $name:ident takes $takes:ident,
        nothing [$nothing:expr] flops [$flops:expr] states [$($state:expr),+] finish [$finish:expr] number [$number:expr],
        $(#[$of:meta])+ value $value:tt;
    )*) => {
        /// A function that reduces elements to one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ReduceFunction {
            $(#[$doc] $variant $({
                /// The number of the call.
                $option: usize,
            })?,)*
        }

        impl ReduceFunction {
            /// Every function.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$variant $({ $option: $given })?),*];

            fn row(self) -> &'static ReductionRow {
                match self {
                    $(Self::$variant { .. } => &ReductionRow {
                        name: stringify!($name),
                        takes: stringify!($takes),
                        nothing: $nothing,
                        flops: $flops,
                        states: &[$($state),+],
                        finish: $finish,
                    },)*
                }
            }

            /// The number in the shader's uniform, for this many elements of a type.
            pub(super) fn number(self, $n: usize, $dtype: DType) -> u32 {
                match self {
                    $(Self::$variant $({ $option })? => $number,)*
                }
            }
        }
    };
}

reduction_rows!(define);

impl ReduceFunction {
    /// The name in [`ops`](crate::ops), errors and plans.
    #[must_use]
    pub fn op(self) -> &'static str {
        self.row().name
    }

    /// Whether there is such a function of elements of this type.
    #[must_use]
    pub fn takes(self, dtype: DType) -> bool {
        dtype.is_real() || (self.row().takes != "reals" && !dtype.is_fp8())
    }

    /// The type of the result.
    #[must_use]
    pub fn result_type(self, dtype: DType) -> DType {
        match self.row().takes {
            "places" => DType::I32,
            "sums" if !dtype.is_real() => DType::I32,
            _ => dtype,
        }
    }

    /// Whether the result is an index along the axis.
    pub(super) fn is_place(self) -> bool {
        self.row().takes == "places"
    }

    /// The result for no elements, if it is a number.
    pub(in crate::ops) fn of_nothing(self) -> Option<f64> {
        self.row().nothing
    }

    pub(super) fn combination(self, dtype: DType) -> Combination {
        let states = self.row().states;
        let (variant, held, words, reading) = states[usize::from(!dtype.is_real()).min(states.len() - 1)];
        Combination { variant, held, words, reading }
    }

    /// How the result is computed from the kernel's final state: a constant of `reduce_dims.wgsl`.
    pub(super) fn finish(self) -> u32 {
        self.row().finish
    }

    /// The approximate number of operations per element.
    pub(super) fn flops(self) -> f64 {
        self.row().flops
    }
}
