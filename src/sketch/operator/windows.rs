//! Windows of an operator along an axis of a tensor: along the other axes.

use super::axis::{AxisLayout, MAX_OTHER_AXES, WRONG_AXES};
use super::sketch::OP;
use crate::gemm::SeedSource;
use crate::layout::{DType, Layout};
use crate::plan::{CutAxes, CutOperand, Form};
use crate::{Error, Result};

/// The axes by which an operator along `axis` of `x` may be cut: all others. The result has the extent `extent` along `axis`.
/// The operands are x, the result and, if a tensor holds it, the seed.
pub(in crate::sketch) fn axes_but(
    x: &Layout,
    dtype: DType,
    [axis, extent]: [usize; 2],
    seed: SeedSource,
) -> Result<CutAxes> {
    let others: Vec<usize> = (0..x.rank()).filter(|&other| other != axis).collect();
    let own: Vec<Option<usize>> = others.iter().copied().map(Some).collect();
    let mut shape = x.shape().to_vec();
    shape[axis] = extent;
    let y = Layout::contiguous(OP, &shape)?;
    // Axes of a window without gaps merge like those of the whole tensor.
    let form = if others.len() <= MAX_OTHER_AXES { Form::View } else { Form::Dense };
    let mut operands =
        vec![CutOperand::new(form, *x, dtype, own.clone()), CutOperand::new(Form::Dense, y, DType::F32, own)];
    operands.extend(seed.layout()?.map(|layout| CutOperand::whole(layout, DType::I32, others.len())));
    let extents = others.iter().map(|&other| x.shape()[other]).collect();
    Ok(CutAxes { extents, joined: 0, operands, whole: Some(axis) })
}

/// The axes of a window of x. Kernels take at most [`MAX_OTHER_AXES`] besides the operator's.
pub(in crate::sketch) fn axes_of(x: &Layout, [axis, extent]: [usize; 2]) -> Result<AxisLayout> {
    let layout = AxisLayout::new(x, axis, extent)?;
    if layout.others.len() > MAX_OTHER_AXES {
        return Err(Error::shapes(OP, WRONG_AXES, x.shape(), &[axis]));
    }
    Ok(layout)
}
