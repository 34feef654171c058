//! Sets of axes.

use crate::layout::{Layout, MAX_RANK};
use crate::{Error, Result};
use std::ops::RangeFull;

/// The axes that a reduction removes: one axis, several in any order, or `..` for all.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::sum;
///
/// let x = gpu.tensor(&[1.0f32; 24], [2, 3, 4])?;
/// assert_eq!(sum(&x, 1)?.shape(), [2, 4]);
/// assert_eq!(sum(&x, [0, 2])?.shape(), [3]);
/// assert_eq!(sum(&x, ..)?.to_vec()?, [24.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes(Option<Vec<usize>>);

impl From<usize> for Axes {
    fn from(axis: usize) -> Self {
        Self(Some(vec![axis]))
    }
}

impl<const N: usize> From<[usize; N]> for Axes {
    fn from(axes: [usize; N]) -> Self {
        Self(Some(axes.to_vec()))
    }
}

impl From<&[usize]> for Axes {
    fn from(axes: &[usize]) -> Self {
        Self(Some(axes.to_vec()))
    }
}

impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Self {
        Self(None)
    }
}

/// Which axes of a layout are reduced.
pub(super) type Reduced = [bool; MAX_RANK];

impl Axes {
    /// The axes of `a` that these names select.
    pub(in crate::ops) fn of(&self, op: &'static str, a: &Layout) -> Result<Reduced> {
        match &self.0 {
            Some(axes) => reduced(op, a, axes),
            None => Ok([true; MAX_RANK]),
        }
    }
}

/// Which axes of `a` are in the list.
///
/// # Errors
/// [`Error::Shape`] if `a` lacks one, or one is there twice.
pub(super) fn reduced(op: &'static str, a: &Layout, axes: &[usize]) -> Result<Reduced> {
    let mut reduced = [false; MAX_RANK];
    for &axis in axes {
        if axis >= a.rank() {
            let rule = "every axis must be less than the number of axes";
            return Err(Error::shapes(op, rule, a.shape(), axes));
        }
        if std::mem::replace(&mut reduced[axis], true) {
            return Err(Error::shapes(op, "no axis may be given twice", a.shape(), axes));
        }
    }
    Ok(reduced)
}

/// The extents of the axes that are kept, and the number of elements that are reduced to one.
pub(in crate::ops) fn split(a: &Layout, reduced: &Reduced) -> (Vec<usize>, usize) {
    let of =
        |which: bool| a.shape().iter().zip(reduced).filter(move |&(_, &is)| is == which).map(|(&n, _)| n);
    (of(false).collect(), of(true).product())
}
