//! Random copies of views, and of slices at a position that is in a tensor.

use crate::limits::Planned;
use crate::plans::of_views;
use crate::views::{extent, view};
use arbitrary::{Error, Result, Unstructured};
use tilewise::planning::ops::{CopyProblem, Longer};
use tilewise::{Caps, DType};

/// A copy between views of this shape, or between one and a slice of a longer one.
pub(crate) fn copy(u: &mut Unstructured<'_>, shape: &[usize], dtype: DType, caps: &Caps) -> Result<Planned> {
    let short = view(u, shape)?;
    if u.arbitrary()? {
        let c = view(u, shape)?;
        let problem = CopyProblem::new(&short, &c, dtype).map_err(|_| Error::IncorrectFormat)?;
        return Ok(of_views(Planned::of("copy", &problem, caps), &[(0, &c, dtype), (1, &short, dtype)]));
    }
    let axis = u.int_in_range(0..=shape.len() - 1)?;
    let mut shape = shape.to_vec();
    shape[axis] = shape[axis].saturating_add(extent(u)?);
    let (long, at) = (view(u, &shape)?, view(u, &[1])?);
    let (longer, [a, c]) =
        if u.arbitrary()? { (Longer::C, [&short, &long]) } else { (Longer::A, [&long, &short]) };
    let problem = CopyProblem::at_position(longer, [a, c], axis, &at, dtype);
    let problem = problem.map_err(|_| Error::IncorrectFormat)?;
    let planned = Planned::of("copy at a position", &problem, caps);
    Ok(of_views(planned, &[(0, c, dtype), (1, a, dtype), (2, &at, DType::I32)]))
}
