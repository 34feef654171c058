//! Operations along axes: reductions, cumulative sums, softmax, rotations, norms and losses.

use super::{On, REALS, Row, ahead, flat, no_form};
use tilewise::ops::{Reduction, RotaryPairs};
use tilewise::planning::Plan;
use tilewise::planning::ops::{
    ChannelPass, ChannelProblem, CrossEntropyProblem, CumsumProblem, IgnoredClass, LossFunction, LossProblem,
    NormKind, NormLayouts, NormPass, NormProblem, ReduceFunction, ReduceProblem, RotaryPass, RotaryProblem,
    RotaryTable, SoftmaxFunction, SoftmaxProblem, TargetKind,
};
use tilewise::{DType, Layout, Result};

pub(super) const ROWS: [Row; 8] = [
    ("cumsum", REALS, |on| {
        let axis = on.axis();
        on.plan(CumsumProblem::new(&on.x, axis, on.dtype))
    }),
    ("softmax", REALS, |on| {
        let (function, axis) = (on.choose(&SoftmaxFunction::ALL), on.axis());
        let second = if function.is_backward() { Some(on.x) } else { on.choose(&[None, Some(on.x)]) };
        on.plan(SoftmaxProblem::new(function, &on.x, second.as_ref(), axis, on.dtype))
    }),
    ("reduction", &DType::ALL, |on| {
        let all: Vec<usize> = (0..on.x.rank()).collect();
        let several = [all.clone(), all[..all.len() - 1].to_vec()];
        let axes: Vec<_> = all.iter().map(|&axis| vec![axis]).chain(several).collect();
        let (function, axes) = (on.choose(&ReduceFunction::ALL), on.choose(&axes));
        on.plan(ReduceProblem::new(function, &on.x, &axes, on.dtype))
    }),
    ("rotation", REALS, |on| {
        let &[.., length, width] = on.x.shape() else { return Err(no_form()) };
        let (pairs, pass) = (on.choose(&RotaryPairs::ALL), on.choose(&RotaryPass::ALL));
        let rotary_dims = on.choose(&[width / 2 * 2, width / 32 * 16]);
        // The longest table, too.
        let positions =
            on.choose(&[length, (on.most * on.dtype.size() / 4 / rotary_dims.max(1)).max(length)]);
        let table = RotaryTable { pairs, rotary_dims, positions };
        let problem = RotaryProblem::new(pass, table, &on.x, on.dtype)?;
        // The start is a number, or a tensor has it.
        let problem = if on.choose(&[false, true]) { problem.at_position(&ahead(&[1])?)? } else { problem };
        on.plan(Ok(problem))
    }),
    ("norm", REALS, |on| {
        let (kind, pass, has_b) = on.choose(&[
            (NormKind::Layer, NormPass::ForwardWithStatistics, true),
            (NormKind::Layer, NormPass::Forward, false),
            (NormKind::Layer, NormPass::BackwardWithBoth, true),
            (NormKind::Rms, NormPass::ForwardWithStatistics, false),
            (NormKind::Rms, NormPass::Forward, true),
            (NormKind::Rms, NormPass::BackwardWithGamma, true),
            (NormKind::Rms, NormPass::Backward, true),
        ]);
        let (b, weights) = (on.either(), weights(on));
        let beta = (kind == NormKind::Layer).then_some(&weights);
        let layouts = NormLayouts { a: &on.x, b: has_b.then_some(&b), gamma: Some(&weights), beta };
        on.plan(NormProblem::new(kind, pass, layouts, on.dtype))
    }),
    ("norm of channels", REALS, |on| {
        let x = if on.x.rank() == 2 { on.x.unsqueeze(0)? } else { on.x };
        let channels = x.shape()[x.rank() - 1];
        let (pass, groups) = on.choose(&[
            (ChannelPass::Group, 1),
            (ChannelPass::Group, channels.div_ceil(8)),
            (ChannelPass::TrainingWithRunning, channels),
            (ChannelPass::Evaluation, channels),
            (ChannelPass::BackwardWithGradients, channels.div_ceil(8)),
            (ChannelPass::BackwardWithGradients, channels),
            (ChannelPass::EvaluationBackwardWithGradients, channels),
        ]);
        let weights = weights(on);
        let weights = on.choose(&[Some(&weights), None]);
        let layouts = NormLayouts { a: &x, b: Some(&x), gamma: weights, beta: weights };
        on.plan(ChannelProblem::new("test", pass, layouts, groups, on.dtype))
    }),
    ("cross-entropy", REALS, |on| {
        let rows = flat(&on.x.shape()[..on.x.rank() - 1])?;
        let (kind, target, ignored) = on.choose(&[
            (TargetKind::Classes, rows, IgnoredClass::OfCall),
            (TargetKind::Classes, rows, IgnoredClass::Never),
            (TargetKind::Probabilities, on.y, IgnoredClass::Never),
        ]);
        let (a, weights) = (on.either(), apart(on));
        let problem = CrossEntropyProblem::new(&a, (kind, &target), weights.as_ref(), on.dtype)?;
        let reduction = reduction(on);
        let problem = problem.reduced(reduction).ignoring(ignored);
        with_gradient(on, problem, reduction, rows, CrossEntropyProblem::with_gradient)
    }),
    ("loss", REALS, |on| {
        let (function, y, weights) = (on.choose(&LossFunction::ALL), on.either(), apart(on));
        let (x, weights) =
            if weights.is_some() { (on.y, on.choose(&[weights, Some(on.y)])) } else { (on.x, None) };
        let problem = LossProblem::new(function, [&x, &y], weights.as_ref(), on.dtype)?;
        let reduction = reduction(on);
        let all = flat(on.x.shape())?;
        with_gradient(on, problem.reduced(reduction), reduction, all, LossProblem::with_gradient)
    }),
];

/// Contiguous weights of the last axis, from the first element of a window on or from the last before the next.
fn weights(on: &mut On<'_>) -> Layout {
    let offset = on.choose(&[0, 256 / on.dtype.size() - 1]);
    super::view(&on.x.shape()[on.x.rank() - 1..], &[1], offset)
}

/// No weights, or weights of the last axis that are apart.
fn apart(on: &mut On<'_>) -> Option<Layout> {
    on.choose(&[None, Some(super::view(&on.x.shape()[on.x.rank() - 1..], &[2], 63))])
}

fn reduction(on: &mut On<'_>) -> Reduction {
    on.choose(&[Reduction::Mean, Reduction::Sum, Reduction::None])
}

/// Without a gradient, or with one, whose factor is a number or in a tensor.
fn with_gradient<P: tilewise::planning::Problem>(
    on: &mut On<'_>,
    problem: P,
    reduction: Reduction,
    all: Layout,
    with: fn(P, Option<&Layout>) -> P,
) -> Result<Plan> {
    let upstream = if reduction == Reduction::None { all } else { ahead(&[1])? };
    let gradient = on.choose(&[None, Some(None), Some(Some(upstream))]);
    on.plan(Ok(match gradient {
        None => problem,
        Some(upstream) => with(problem, upstream.as_ref()),
    }))
}
