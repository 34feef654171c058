//! The reductions of tensors.

use super::compute::reduce;
use crate::Result;
use crate::layout::{Element, Real, Summand};
use crate::ops::reduce::{Axes, ReduceFunction};
use crate::ops::table::reduction_rows;
use crate::tensor::Tensor;

/// The function of tensors of a row.
macro_rules! of_tensors {
    (reals $($rest:tt)*) => {
        of_tensors! { @along [Real] [T] $($rest)* }
    };
    (all $($rest:tt)*) => {
        of_tensors! { @along [Element] [T] $($rest)* }
    };
    (sums $($rest:tt)*) => {
        of_tensors! { @along [Summand] [T::Total] $($rest)* }
    };
    (places $name:ident $variant:ident [] $(#[$doc:meta])+) => {
        $(#[$doc])+
        pub fn $name<T: Element>(a: &Tensor<T>, axis: usize) -> Result<Tensor<i32>> {
            reduce(ReduceFunction::$variant, a, &axis.into())
        }
    };
    (@along [$elements:ident] [$result:ty] $name:ident $variant:ident [$($option:ident)?] $(#[$doc:meta])+) => {
        $(#[$doc])+
        pub fn $name<T: $elements>(
            a: &Tensor<T>,
            axes: impl Into<Axes>,
            $($option: usize,)?
        ) -> Result<Tensor<$result>> {
            reduce(ReduceFunction::$variant $({ $option })?, a, &axes.into())
        }
    };
}

/// Generates the functions of tensors from the rows.
macro_rules! functions {
    ($row:ident $n:ident $dtype:ident: $(
        $(#[$doc:meta])+
        $variant:ident $({ $option:ident: $given:literal })?: $name:ident takes $takes:ident,
        nothing $nothing:tt flops $flops:tt states $states:tt finish $finish:tt number $number:tt,
        $(#[$of:meta])+ value $value:tt;
    )*) => {
        $(of_tensors! { $takes $name $variant [$($option)?] $(#[$doc])+ })*
    };
}

reduction_rows!(functions);
