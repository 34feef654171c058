//! Random reductions and softmax.

use crate::limits::Planned;
use crate::plans::{of_views, shape};
use crate::views::{real, view};
use arbitrary::{Error, Result, Unstructured};
use tilewise::planning::ops::{ReduceFunction, ReduceProblem, SoftmaxFunction, SoftmaxProblem};
use tilewise::{Caps, DType};

/// A reduction along an axis, several or all; or a softmax.
pub(crate) fn along(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let (dtype, shape) = (real(u)?, shape(u)?);
    let (a, axis) = (view(u, &shape)?, u.int_in_range(0..=shape.len() - 1)?);
    if u.ratio(1, 4)? {
        let function = *u.choose(&SoftmaxFunction::ALL)?;
        let m = if function.is_backward() || u.arbitrary()? { Some(view(u, &shape)?) } else { None };
        let problem = SoftmaxProblem::new(function, &a, m.as_ref(), axis, dtype);
        let problem = problem.map_err(|_| Error::IncorrectFormat)?;
        let mut views = vec![(0, &a, dtype)];
        views.extend(m.as_ref().map(|m| (2, m, dtype)));
        return Ok(of_views(Planned::of("rows", &problem, caps), &views));
    }
    let function = *u.choose(&ReduceFunction::ALL)?;
    let dtype = if function.takes(DType::I8) && u.ratio(1, 3)? { DType::I8 } else { dtype };
    let is_one = matches!(function, ReduceFunction::ArgMax | ReduceFunction::ArgMin) || u.arbitrary()?;
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    if is_one {
        axes = vec![axis];
    } else if u.arbitrary()? {
        axes.swap_remove(axis);
    }
    let problem = ReduceProblem::new(function, &a, &axes, dtype).map_err(|_| Error::IncorrectFormat)?;
    Ok(of_views(Planned::of("rows", &problem, caps), &[(0, &a, dtype)]))
}
