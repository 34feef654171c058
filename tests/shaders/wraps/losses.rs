//! Losses, as large as they may be.

use super::gemm::{WINDOW, bare, caps};
use super::launch::Launch;
use super::ops::views;
use support::laid::{self, flat};
use support::wgsl_losses::with_few_bindings;
use tilewise::gpu::DeviceType;
use tilewise::ops::Reduction;
use tilewise::planning::Problem;
use tilewise::planning::ops::{CrossEntropyProblem, IgnoredClass, LossFunction, LossProblem, TargetKind};
use tilewise::{DType, Layout};

const REDUCTIONS: [Reduction; 3] = [Reduction::Mean, Reduction::Sum, Reduction::None];

pub(crate) fn launches() -> Vec<Launch> {
    let devices = [caps().planned_for(DeviceType::Discrete), bare(), with_few_bindings(&bare())];
    let mut launches = Vec::new();
    for (at, dtype) in [DType::F32, DType::F16, DType::Bf16].into_iter().enumerate() {
        for (case, (shape, strides)) in views(WINDOW / dtype.size()).into_iter().enumerate() {
            let offset = [0, 63, 6][case % 3];
            let Ok(view) = Layout::new("test", &shape, &strides, offset, 1 << 40) else { continue };
            let dense = flat(&shape);
            let (classes, rows) = (&shape[shape.len() - 1..], &shape[..shape.len() - 1]);
            let reduction = REDUCTIONS[case % 3];
            let caps = &devices[(at + case) % 3];
            // Every second time there are weights, in odd places, and a tensor of gradients.
            let weights = laid::view(classes, &[2], 63);
            let of_rows = flat(rows);
            let upstream = if reduction == Reduction::None { of_rows } else { one() };
            let has_extras = case % 2 == 1;
            for (a, target, kind) in [
                (&view, &of_rows, TargetKind::Classes),
                (&dense, &of_rows, TargetKind::Classes),
                (&view, &dense, TargetKind::Probabilities),
            ] {
                let weights = has_extras.then_some(&weights);
                let Ok(problem) = CrossEntropyProblem::new(a, (kind, target), weights, dtype) else {
                    continue;
                };
                let ignored = match kind {
                    TargetKind::Classes => IgnoredClass::OfCall,
                    TargetKind::Probabilities => IgnoredClass::Never,
                };
                let problem = problem.reduced(reduction).ignoring(ignored);
                for problem in [problem, problem.with_gradient(has_extras.then_some(&upstream))] {
                    let plan = problem.plan(caps);
                    launches.extend(Launch::planned(&format!("{kind:?} of {dtype} {a:?}"), plan));
                }
            }
            let upstream = if reduction == Reduction::None { dense } else { one() };
            let function = LossFunction::ALL[(at + case) % 4];
            for (operands, weights) in [
                ([&view, &dense], None),
                ([&dense, &dense], Some(&dense)),
                ([&dense, &dense], Some(&weights)),
            ] {
                let Ok(problem) = LossProblem::new(function, operands, weights, dtype) else { continue };
                let problem = problem.reduced(reduction);
                for problem in [problem, problem.with_gradient(has_extras.then_some(&upstream))] {
                    let plan = problem.plan(caps);
                    launches.extend(Launch::planned(&format!("{function:?} of {dtype} {operands:?}"), plan));
                }
            }
        }
    }
    launches
}

/// A tensor of one element, the last of a window.
fn one() -> Layout {
    laid::view(&[1], &[1], 63)
}
