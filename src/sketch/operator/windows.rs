//! Windows of an operator along an axis of a tensor: along the other axes.

use super::axis::{AxisLayout, MAX_OTHER_AXES, WRONG_AXES};
use super::sketch::OP;
use crate::gemm::SeedSource;
use crate::layout::{DType, Layout};
use crate::plan::{Form, Operand};
use crate::{Error, Result};

/// The operands of an operator: x, the result of this shape, and the seed if a tensor holds it.
pub(in crate::sketch) fn operands(
    x: &Layout,
    dtype: DType,
    shape: &[usize],
    seed: SeedSource,
) -> Result<([Operand; 2], Option<Operand>)> {
    let y = Layout::contiguous(OP, shape)?;
    // Axes of a window without gaps merge like those of the whole tensor.
    let form = if x.rank() <= MAX_OTHER_AXES + 1 { Form::View } else { Form::Dense };
    let x = Operand::read("x", dtype, *x).in_form(form);
    Ok(([x, Operand::written("the result", DType::F32, y)], seed.operand()?))
}

/// The axes of a window of x. Kernels take at most [`MAX_OTHER_AXES`] besides the operator's.
pub(in crate::sketch) fn axes_of(x: &Layout, [axis, extent]: [usize; 2]) -> Result<AxisLayout> {
    let layout = AxisLayout::new(x, axis, extent)?;
    if layout.others.len() > MAX_OTHER_AXES {
        return Err(Error::shapes(OP, WRONG_AXES, x.shape(), &[axis]));
    }
    Ok(layout)
}
