//! The functions of tensors.
//!
//! A mask is a tensor of i8: 1 where a condition is true, 0 where it is false. Functions that take masks treat any other
//! number as 1.

use super::argument::Argument;
use super::compute::{apply, apply_to};
use super::function::Function;
use crate::Result;
use crate::error::call;
use crate::layout::{Element, Real};
use crate::ops::table::function_rows;
use crate::tensor::Tensor;

/// The section on precision, from the elements that a row takes and its bound.
macro_rules! precision {
    (reals [0]) => {
        "Exact, except that subnormal values may count as 0."
    };
    ($takes:ident [0]) => {
        "Exact, except that subnormal reals may count as 0."
    };
    ($takes:ident [$units:tt $(, $floor:expr)?]) => {
        concat!(
            "Reals are computed in f32, within $",
            stringify!($units),
            "u$ of the result with $u = 2^{-23}$, then stored: [`reference::apply`](crate::reference::apply)."
        )
    };
}

/// The function of tensors of a row: of one tensor, of several arguments, of comparisons and of masks.
macro_rules! of_tensors {
    (values $($rest:tt)*) => {};
    (reals $($rest:tt)*) => {
        of_tensors! { @numbers Real [Tensor<T>] reals $($rest)* }
    };
    (all $($rest:tt)*) => {
        of_tensors! { @numbers Element [Tensor<T>] all $($rest)* }
    };
    (compared $($rest:tt)*) => {
        of_tensors! { @numbers Element [Tensor<i8>] compared $($rest)* }
    };
    (@numbers $elements:ident [$($result:tt)+] $takes:ident $name:ident($a:ident) $variant:ident $within:tt $(#[$doc:meta])+) => {
        $(#[$doc])+
        ///
        /// # Shapes
        /// Any view of up to 6 axes, every element by itself. The result has the shape of the operand.
        /// # Errors
        /// [`Error::Limit`](crate::Error::Limit) if a tensor has $2^{31}$ elements or more;
        /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
        /// # Precision
        #[doc = precision!($takes $within)]
        pub fn $name<T: $elements>($a: &Tensor<T>) -> Result<$($result)+> {
            call(stringify!($name), || apply(Function::$variant, [Argument::Tensor($a)]))
        }
    };
    (@numbers $elements:ident [$($result:tt)+] $takes:ident $name:ident($($a:ident),+) $variant:ident $within:tt $(#[$doc:meta])+) => {
        $(#[$doc])+
        ///
        /// # Shapes
        /// The operands broadcast as in `NumPy`: counted from the last axis, extents are equal, or one of them is 1 or missing.
        /// (3, 1) and (4) -> (3, 4). Transposed, sliced and broadcast views are read in place.
        /// # Errors
        /// [`Error::Shape`](crate::Error::Shape) if extents differ and neither is 1; [`Error::Input`](crate::Error::Input) if all
        /// arguments are numbers, or a number is a real and the elements are integers; [`Error::Gpu`](crate::Error::Gpu) if the
        /// operands are on different devices; [`Error::Limit`](crate::Error::Limit) if a tensor has $2^{31}$ elements or more;
        /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
        /// # Precision
        #[doc = precision!($takes $within)]
        pub fn $name<'a, T: $elements>($($a: impl Into<Argument<'a, T>>),+) -> Result<$($result)+> {
            call(stringify!($name), || apply(Function::$variant, [$($a.into()),+]))
        }
    };
    (masks $name:ident($($a:ident),+) $variant:ident $within:tt $(#[$doc:meta])+) => {
        $(#[$doc])+
        ///
        /// # Shapes
        /// Masks broadcast as the operands of [`add`](crate::ops::add).
        /// # Errors
        /// As [`add`](crate::ops::add).
        /// # Precision
        /// Exact: 1 and 0.
        pub fn $name($($a: &Tensor<i8>),+) -> Result<Tensor<i8>> {
            call(stringify!($name), || apply(Function::$variant, [$(Argument::Tensor($a)),+]))
        }
    };
}

/// Generates the functions of tensors from the rows.
macro_rules! functions {
    ($y:ident $g:ident: $(
        $(#[$doc:meta])+
        $variant:ident: $name:ident $operands:tt takes $takes:ident, within $within:tt, wgsl $wgsl:tt,
        value $value:tt integers $integers:tt gradients $gradients:tt;
    )*) => {
        $(of_tensors! { $takes $name $operands $variant $within $(#[$doc])+ })*
    };
}

function_rows!(functions);

/// The elements of `then` where a mask is set, those of `otherwise` elsewhere. Both may be numbers. An element that is
/// not selected has no effect, even if it is NaN.
///
/// # Shapes
/// The mask and the arguments broadcast as in [`add`](crate::ops::add).
/// # Errors
/// As [`add`](crate::ops::add), except that `then` and `otherwise` may both be numbers.
/// # Precision
/// Every selected value keeps its value.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops;
///
/// let x = gpu.tensor(&[-1.0f32, 2.0, f32::NAN], [3])?;
/// let positive = ops::select(&ops::greater(&x, 0.0)?, &x, 0.0)?;
/// assert_eq!(positive.to_vec()?, [0.0, 2.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn select<'a, T: Element>(
    mask: &Tensor<i8>,
    then: impl Into<Argument<'a, T>>,
    otherwise: impl Into<Argument<'a, T>>,
) -> Result<Tensor<T>> {
    call("select", || apply_to(Function::Select, Some(mask), [then.into(), otherwise.into()]))
}
