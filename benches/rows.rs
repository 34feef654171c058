//! Reductions and softmax, each timed in turn with a copy that moves as many bytes. One JSON object per line; the exit status says
//! whether everything ran. `m` and `n` are the extents of a matrix, and `k` is the axis.
//!
//! - `TILEWISE_SIZES=22` sets the logarithm of the number of elements.
//! - `TILEWISE_ONLY=Sum,Softmax` selects functions by the beginnings of their names.

use bench::paired::{Paired, Side, TOGETHER};
use bench::turns::Turns;
use bench::{ByDevice, Session};
use std::process::ExitCode;
use tilewise::planning::Problem;
use tilewise::planning::ops::{ReduceFunction, ReduceProblem, SoftmaxFunction, SoftmaxProblem};
use tilewise::{DType, Fill, Real, Result, Tensor, f16, ops};

/// Logarithms of numbers of elements.
const SIZES: ByDevice<&[usize]> = ByDevice { software: &[22], gpu: &[27] };

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        for log in session.sizes(12, &SIZES)? {
            let elements = 1 << log;
            for [m, n] in [
                [elements >> 10, 1 << 10],
                [elements >> 12, 1 << 12],
                [elements >> 6, 1 << 6],
                [16, elements >> 4],
            ] {
                for axis in [1, 0] {
                    each::<f32>(&session, [m, n], axis)?;
                }
            }
            for axis in [1, 0] {
                each::<f16>(&session, [elements >> 10, 1 << 10], axis)?;
            }
        }
        Ok(true)
    })
}

fn each<T: Real>(session: &Session, shape: [usize; 2], axis: usize) -> Result<()> {
    for function in [
        ReduceFunction::Sum,
        ReduceFunction::Max,
        ReduceFunction::ArgMax,
        ReduceFunction::Norm,
        ReduceFunction::Product,
        ReduceFunction::Variance { correction: 1 },
    ] {
        if bench::wants(&format!("{function:?}")) {
            reduction::<T>(session, function, shape, axis)?;
        }
    }
    for function in SoftmaxFunction::ALL {
        if bench::wants(&format!("{function:?}")) {
            softmax::<T>(session, function, shape, axis)?;
        }
    }
    Ok(())
}

fn reduction<T: Real>(
    session: &Session,
    function: ReduceFunction,
    shape: [usize; 2],
    axis: usize,
) -> Result<()> {
    let gpu = &session.gpu;
    let bytes = shape[0] * shape[1] * size_of::<T>();
    let tensors = Turns::of(gpu, bytes).sets(|| gpu.random::<T>(shape, Fill::Uniform, 1))?;
    let plan = ReduceProblem::new(function, tensors[0].layout(), &[axis], T::DTYPE)?.plan(gpu.caps())?;
    let run = |x: &Tensor<T>| match function {
        ReduceFunction::Max => ops::max(x, axis).map(drop),
        ReduceFunction::ArgMax => ops::argmax(x, axis).map(drop),
        ReduceFunction::Norm => ops::norm(x, axis).map(drop),
        ReduceFunction::Product => ops::prod(x, axis).map(drop),
        ReduceFunction::Variance { correction } => ops::var(x, axis, correction).map(drop),
        _ => ops::sum(x, axis).map(drop),
    };
    let own = Side::launches(gpu, &plan, TOGETHER, |at| run(&tensors[at % tensors.len()]))?;
    let variant = format!("{function:?}");
    paired::<T>(session, &variant, shape, axis, bytes, own)
}

fn softmax<T: Real>(
    session: &Session,
    function: SoftmaxFunction,
    shape: [usize; 2],
    axis: usize,
) -> Result<()> {
    let gpu = &session.gpu;
    let moved = if function.is_backward() { 3 } else { 2 } * shape[0] * shape[1] * size_of::<T>();
    let pair = || Ok((gpu.random::<T>(shape, Fill::Uniform, 1)?, gpu.random::<T>(shape, Fill::Uniform, 2)?));
    let pairs = Turns::of(gpu, moved).sets(pair)?;
    let layout = *pairs[0].0.layout();
    let second = function.is_backward().then_some(&layout);
    let plan = SoftmaxProblem::new(function, &layout, second, axis, T::DTYPE)?.plan(gpu.caps())?;
    let run = |(x, g): &(Tensor<T>, Tensor<T>)| match function {
        SoftmaxFunction::Softmax => ops::softmax(x, axis).map(drop),
        SoftmaxFunction::LogSoftmax => ops::log_softmax(x, axis).map(drop),
        SoftmaxFunction::SoftmaxBackward => ops::softmax_backward(x, g, axis).map(drop),
        SoftmaxFunction::LogSoftmaxBackward => ops::log_softmax_backward(x, g, axis).map(drop),
    };
    let own = Side::launches(gpu, &plan, TOGETHER, |at| run(&pairs[at % pairs.len()]))?;
    paired::<T>(session, &format!("{function:?}"), shape, axis, moved, own)
}

fn paired<T: Real>(
    session: &Session,
    variant: &str,
    [m, n]: [usize; 2],
    axis: usize,
    moved: usize,
    own: Side<'_>,
) -> Result<()> {
    let copy = Side::lower_bound(&session.gpu, moved, 0.0);
    let (size, types) = ([m, n, axis], [T::DTYPE, DType::F32]);
    let baseline = "a copy of as many bytes";
    Paired { case: "reductions", variant, baseline, size, types }.run(session, own, copy)
}
