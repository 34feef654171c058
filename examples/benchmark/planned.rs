//! The plan of a case, from its sizes alone: what no kernel can compute is refused before anything is allocated.

use crate::case::{Case, HEADS, Op, TAPS};
use crate::fits::Patience;
use tilewise::conv::{ConvOptions, Padding};
use tilewise::planning::Problem;
use tilewise::planning::attention::{
    AttentionLayouts, AttentionProblem, AttentionRange, AttentionStatistics,
};
use tilewise::planning::conv::{ConvLayouts, ConvProblem};
use tilewise::planning::gemm::{GemmProblem, GemmTypes, Pin};
use tilewise::{Activation, Caps, DType, Error, Layout, Plan, Result};

/// Refuses a product, an attention or a convolution that the device cannot compute, or that takes too long.
pub(crate) fn check(case: &Case, caps: &Caps, patience: Patience) -> Result<()> {
    let ([m, n, k], dtype) = (case.shape, case.dtype);
    let of = |shape: &[usize]| Layout::contiguous("benchmark", shape);
    let plan = match case.op {
        Op::Gemm | Op::Gemv => {
            let types = GemmTypes::new(dtype, if dtype == DType::I8 { DType::I32 } else { DType::F32 });
            let problem = GemmProblem::new(&of(&[m, k])?, &of(&[k, n])?, &of(&[m, n])?, types)?;
            let problem = problem.precision(case.precision.unwrap_or_default());
            problem.pinned(case.pin.map_or(Pin::Free, Pin::Kernel)).plan(caps)?
        }
        Op::Attention => {
            let (q, k) = (of(&[1, HEADS, m, k])?, of(&[1, HEADS, n, k])?);
            attention([&q, &k, &k], dtype)?.plan(caps)?
        }
        Op::Conv => {
            let (x, weight) = (of(&[1, m, m, n])?, of(&[k, TAPS, TAPS, n])?);
            let layouts =
                ConvLayouts { x: &x, weight: &weight, bias: None, scale_shift: None, residual: None };
            ConvProblem::new(layouts, &conv_options(), Activation::None, dtype)?.plan(caps)?
        }
        Op::Sketch | Op::Clifford => return Ok(()),
    };
    check_time(&plan, patience)
}

/// Refuses a plan that takes too long to be repeated.
pub(crate) fn check_time(plan: &Plan, patience: Patience) -> Result<()> {
    patience.check(plan.seconds()).map_err(|why| Error::Input { what: plan.op().into(), why })
}

/// A result of the size of the image.
pub(crate) fn conv_options() -> ConvOptions {
    ConvOptions::new().padding(Padding::Explicit([[TAPS / 2; 2]; 2]))
}

/// Attention without masks, of queries, keys and values.
pub(crate) fn attention([q, k, v]: [&Layout; 3], dtype: DType) -> Result<AttentionProblem> {
    let layouts = AttentionLayouts { q, k, v, bias: None, lengths: None, keep: None, slopes: None };
    AttentionProblem::new(layouts, AttentionRange::default(), AttentionStatistics::None, dtype)
}
