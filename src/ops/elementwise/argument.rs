//! Arguments of elementwise functions: tensors and numbers.

use super::kind::Kind;
use crate::layout::Element;
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// An argument of an elementwise function: a tensor, or a number that is combined with every element.
///
/// Numbers are f32 or i32. Among reals, an i32 is converted if f32 represents it exactly. Another number needs no new
/// kernel, because the launch passes it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Argument<'a, T: Element> {
    /// A tensor.
    Tensor(&'a Tensor<T>),
    /// A real.
    Real(f32),
    /// An integer.
    Integer(i32),
}

impl<'a, T: Element> From<&'a Tensor<T>> for Argument<'a, T> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        Self::Tensor(tensor)
    }
}

impl<T: Element> From<f32> for Argument<'_, T> {
    fn from(number: f32) -> Self {
        Self::Real(number)
    }
}

impl<T: Element> From<i32> for Argument<'_, T> {
    fn from(number: i32) -> Self {
        Self::Integer(number)
    }
}

impl<'a, T: Element> Argument<'a, T> {
    /// The tensor, if it is one.
    pub(super) fn tensor(self) -> Option<&'a Tensor<T>> {
        if let Self::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    /// The number in the kind of the tensors' elements; None if this is a tensor.
    ///
    /// # Errors
    /// [`Error::Input`] if the number is not of the elements' kind.
    pub(super) fn number(self, op: &'static str) -> Result<Option<Scalar>> {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "compared afterwards"
        )]
        match (self, Kind::of(T::DTYPE)) {
            (Self::Tensor(_), _) => Ok(None),
            (Self::Real(number), Kind::Real) => Ok(Some(Scalar::F32(number))),
            (Self::Integer(number), Kind::Real) if (number as f32) as i64 == i64::from(number) => {
                Ok(Some(Scalar::F32(number as f32)))
            }
            (Self::Integer(number), Kind::Real) => {
                let why = format!("f32 does not hold {number} exactly: write the real that you mean");
                Err(Error::input(format!("{op}: the number"), why))
            }
            (Self::Integer(number), _) => Ok(Some(Scalar::U32(number.cast_unsigned()))),
            (Self::Real(number), _) => {
                let why =
                    format!("the elements are integers, and {number:?} is a real: write an integer, or cast");
                Err(Error::input(format!("{op}: the number"), why))
            }
        }
    }
}
