//! The reductions of the rows as values: tests go through all of them.

use super::functions::*;
use crate::Result;
use crate::layout::{Element, Real};
use crate::ops::reduce::{Axes, ReduceFunction};
use crate::ops::table::reduction_rows;
use crate::tensor::Tensor;

/// A reduction of reals, as a value.
#[derive(Clone, Copy, Debug)]
pub enum ReductionCall<T: Element> {
    /// Along any axes.
    Along(fn(&Tensor<T>, Axes) -> Result<Tensor<T>>),
    /// Indices along one axis.
    Place(fn(&Tensor<T>, usize) -> Result<Tensor<i32>>),
}

/// The function of a row, as a value.
macro_rules! as_value {
    (places $name:ident []) => {
        ReductionCall::Place($name)
    };
    ($takes:ident $name:ident [$($given:literal)?]) => {
        ReductionCall::Along(|a, axes| $name(a, axes $(, $given)?))
    };
}

/// Generates the calls from the rows.
macro_rules! calls {
    ($row:ident $n:ident $dtype:ident: $(
        $(#[$doc:meta])+
        $variant:ident $({ $option:ident: $given:literal })?: $name:ident takes $takes:ident,
        nothing $nothing:tt flops $flops:tt states $states:tt finish $finish:tt number $number:tt,
        $(#[$of:meta])+ value $value:tt;
    )*) => {
        /// Each reduction of reals. A number of the call has the value of its row.
        #[must_use]
        pub fn reduction_calls<T: Real>() -> Vec<(ReduceFunction, ReductionCall<T>)> {
            let calls = [$(as_value!($takes $name [$($given)?])),*];
            ReduceFunction::ALL.into_iter().zip(calls).collect()
        }
    };
}

reduction_rows!(calls);
