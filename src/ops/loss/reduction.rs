//! How the losses of several elements or rows are combined.

/// The result of a loss function for several elements or rows. The default is the mean.
///
/// The gradient is that of this result: each loss has the factor 1/n in a mean of n, and 1 in a sum.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, Reduction};
///
/// let (x, target) = (gpu.tensor(&[3.0f32, 5.0], [2])?, gpu.zeros([2])?);
/// assert_eq!(ops::l1(&x, &target, Reduction::Mean)?.to_vec()?, [4.0]);
/// assert_eq!(ops::l1(&x, &target, Reduction::Sum)?.to_vec()?, [8.0]);
/// assert_eq!(ops::l1(&x, &target, Reduction::None)?.to_vec()?, [3.0, 5.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Their mean: a tensor of no axes.
    #[default]
    Mean,
    /// Their sum: a tensor of no axes.
    Sum,
    /// Each loss.
    None,
}

/// Whether a plan also computes the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LossGradient {
    /// The loss alone.
    Skipped,
    /// The loss and its gradient with respect to the first operand.
    Computed,
}
