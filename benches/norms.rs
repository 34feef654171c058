//! Norms, each timed in turn with a copy that moves as many bytes. One JSON object per line; the exit status says whether
//! everything ran. `m` and `n` are the extents of a matrix: of rows that are normalised, or of rows of channels. `k` is the
//! number of groups, and 1 of a norm of rows.
//!
//! - `TILEWISE_SIZES=22` sets the logarithm of the number of elements.
//! - `TILEWISE_ONLY=Layer,Group` selects norms by the beginnings of their names.

use bench::paired::{Paired, Side, TOGETHER};
use bench::turns::Turns;
use bench::{ByDevice, Session};
use std::process::ExitCode;
use tilewise::ops::{BatchNorm, GroupNorm, LayerNorm, RmsNorm};
use tilewise::planning::Problem;
use tilewise::planning::ops::{ChannelPass, ChannelProblem, NormKind, NormLayouts, NormPass, NormProblem};
use tilewise::{DType, Fill, Layout, Plan, Real, Result, Tensor, bf16, f16};

/// Logarithms of numbers of elements.
const SIZES: ByDevice<&[usize]> = ByDevice { software: &[22], gpu: &[26] };

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        for log in session.sizes(12, &SIZES)? {
            each::<f32>(&session, log)?;
            each::<f16>(&session, log)?;
            each::<bf16>(&session, log)?;
        }
        Ok(true)
    })
}

fn each<T: Real>(session: &Session, log: usize) -> Result<()> {
    for row in [6, 10, 12] {
        let shape = [1 << (log - row), 1 << row];
        for kind in [NormKind::Layer, NormKind::Rms] {
            for pass in [NormPass::Forward, NormPass::BackwardWithGamma] {
                of_rows::<T>(session, kind, pass, shape)?;
            }
            of_sums::<T>(session, kind, shape)?;
        }
    }
    for (channels, groups) in [(6, 32), (8, 8), (3, 1)] {
        of_channels::<T>(session, ChannelPass::Group, [1 << (log - channels), 1 << channels], groups)?;
    }
    for channels in [3, 6, 10] {
        let shape = [1 << (log - channels), 1 << channels];
        of_channels::<T>(session, ChannelPass::Training, shape, shape[1])?;
    }
    Ok(())
}

/// A layer norm or an RMS norm with gamma.
fn of_rows<T: Real>(session: &Session, kind: NormKind, pass: NormPass, shape: [usize; 2]) -> Result<()> {
    let name = format!("{kind:?} {pass:?}");
    if !bench::wants(&name) {
        return Ok(());
    }
    let gpu = &session.gpu;
    let is_forward = pass == NormPass::Forward;
    let moved = if is_forward { 2 } else { 3 } * shape[0] * shape[1] * size_of::<T>();
    let random = |seed| gpu.random::<T>(shape, Fill::Uniform, seed);
    let pairs = Turns::of(gpu, moved).sets(|| Ok((random(1)?, random(2)?)))?;
    let gamma = gpu.random::<T>([shape[1]], Fill::Uniform, 3)?;
    let layer = LayerNorm::new().gamma(&gamma);
    let rms = RmsNorm::new().gamma(&gamma);
    let (of_layer, of_rms) = (layer.with_statistics(&pairs[0].0)?, rms.with_statistics(&pairs[0].0)?);
    let a = pairs[0].0.layout();
    let layouts = NormLayouts { a, b: (!is_forward).then_some(a), gamma: Some(gamma.layout()), beta: None };
    let plan = NormProblem::new(kind, pass, layouts, T::DTYPE)?.plan(gpu.caps())?;
    let run = |(x, g): &(Tensor<T>, Tensor<T>)| match (kind, is_forward) {
        (NormKind::Layer, true) => layer.run(x).map(drop),
        (NormKind::Layer, false) => layer.backward(x, &of_layer, g).map(drop),
        (NormKind::Rms, true) => rms.run(x).map(drop),
        (NormKind::Rms, false) => rms.backward(x, &of_rms, g).map(drop),
    };
    let own = Side::launches(gpu, &plan, TOGETHER, |at| run(&pairs[at % pairs.len()]))?;
    timed::<T>(session, &name, [shape[0], shape[1], 1], moved, own)
}

/// A layer norm or an RMS norm of a sum, which is stored too.
fn of_sums<T: Real>(session: &Session, kind: NormKind, shape: [usize; 2]) -> Result<()> {
    let name = format!("{kind:?} Residual");
    if !bench::wants(&name) {
        return Ok(());
    }
    let gpu = &session.gpu;
    let moved = 4 * shape[0] * shape[1] * size_of::<T>();
    let random = |seed| gpu.random::<T>(shape, Fill::Uniform, seed);
    let pairs = Turns::of(gpu, moved).sets(|| Ok((random(1)?, random(2)?)))?;
    let a = pairs[0].0.layout();
    let layouts = NormLayouts { a, b: Some(a), gamma: None, beta: None };
    let plan =
        NormProblem::new(kind, NormPass::ForwardWithStatistics, layouts, T::DTYPE)?.plan(gpu.caps())?;
    let run = |(x, r): &(Tensor<T>, Tensor<T>)| match kind {
        NormKind::Layer => LayerNorm::new().residual(x, r).map(drop),
        NormKind::Rms => RmsNorm::new().residual(x, r).map(drop),
    };
    let own = Side::launches(gpu, &plan, TOGETHER, |at| run(&pairs[at % pairs.len()]))?;
    timed::<T>(session, &name, [shape[0], shape[1], 1], moved, own)
}

/// A group norm or a batch norm in training of 8 images, or of all rows.
fn of_channels<T: Real>(
    session: &Session,
    pass: ChannelPass,
    [rows, channels]: [usize; 2],
    groups: usize,
) -> Result<()> {
    let name = format!("{pass:?}");
    if !bench::wants(&name) {
        return Ok(());
    }
    let gpu = &session.gpu;
    let images = if pass == ChannelPass::Group { 8 } else { 1 };
    let shape = [images, rows / images, channels];
    let moved = 2 * rows * channels * size_of::<T>();
    let tensors = Turns::of(gpu, moved).sets(|| gpu.random::<T>(shape, Fill::Uniform, 1))?;
    let layout = Layout::contiguous("norms", &shape)?;
    let layouts = NormLayouts { a: &layout, b: None, gamma: None, beta: None };
    let plan: Plan = ChannelProblem::new("norms", pass, layouts, groups, T::DTYPE)?.plan(gpu.caps())?;
    let run = |x: &Tensor<T>| match pass {
        ChannelPass::Group => GroupNorm::new(groups).run(x).map(drop),
        _ => BatchNorm::new().training(x, None).map(drop),
    };
    let own = Side::launches(gpu, &plan, TOGETHER, |at| run(&tensors[at % tensors.len()]))?;
    timed::<T>(session, &name, [rows, channels, groups], moved, own)
}

fn timed<T: Real>(
    session: &Session,
    variant: &str,
    size: [usize; 3],
    moved: usize,
    own: Side<'_>,
) -> Result<()> {
    let copy = Side::lower_bound(&session.gpu, moved, 0.0);
    let (baseline, types) = ("a copy of as many bytes", [T::DTYPE, DType::F32]);
    Paired { case: "norms", variant, baseline, size, types }.run(session, own, copy)
}
