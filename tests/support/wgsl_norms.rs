//! Problems whose plans need every kernel of norms.

use super::laid::{flat, view};
use std::collections::HashSet;
use tilewise::planning::Problem;
use tilewise::planning::kernel::Kernel;
use tilewise::planning::ops::{ChannelPass, ChannelProblem, NormKind, NormLayouts, NormPass, NormProblem};
use tilewise::{Caps, DType};

const REALS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

/// The kernels of norms on a device: all types and passes, with and without vectors, of short rows and of long ones.
pub fn norm_kernels(caps: &Caps) -> Vec<Kernel> {
    let passes = [
        (NormKind::Layer, NormPass::ForwardWithStatistics, true),
        (NormKind::Layer, NormPass::Forward, false),
        (NormKind::Rms, NormPass::ForwardWithStatistics, false),
        (NormKind::Layer, NormPass::BackwardWithBoth, true),
        (NormKind::Rms, NormPass::BackwardWithGamma, true),
        (NormKind::Rms, NormPass::Backward, true),
    ];
    let mut kernels = HashSet::new();
    for dtype in REALS {
        for length in [64, 65, 9000, 9001] {
            let a = flat(&[300, length]);
            let weights = flat(&[length]);
            for (kind, pass, has_b) in passes {
                let beta = (kind == NormKind::Layer).then_some(&weights);
                let layouts = NormLayouts { a: &a, b: has_b.then_some(&a), gamma: Some(&weights), beta };
                let problem = NormProblem::new(kind, pass, layouts, dtype).expect("a small shape");
                // A device with the fewest bindings cannot run all.
                let Ok(plan) = problem.plan(caps) else { continue };
                kernels.extend(plan.steps().iter().map(|step| step.kernel.clone()));
            }
        }
    }
    let passes = [
        (ChannelPass::Group, 8),
        (ChannelPass::TrainingWithRunning, 64),
        (ChannelPass::Evaluation, 64),
        (ChannelPass::BackwardWithGradients, 8),
        (ChannelPass::BackwardWithGradients, 64),
        (ChannelPass::EvaluationBackwardWithGradients, 64),
    ];
    // Many rows of few channels take three steps forward.
    for (dtype, row) in REALS.into_iter().flat_map(|dtype| [64, 65].map(|row| (dtype, row))) {
        for [rows, channels] in [[300, 64], [40_000, 8]] {
            let a = view(&[1, rows, channels], &[0, row, 1], 0);
            let weights = flat(&[channels]);
            for (pass, groups) in passes {
                let groups = groups.min(channels);
                let layouts = NormLayouts { a: &a, b: Some(&a), gamma: Some(&weights), beta: Some(&weights) };
                let problem =
                    ChannelProblem::new("test", pass, layouts, groups, dtype).expect("a small shape");
                let Ok(plan) = problem.plan(caps) else { continue };
                kernels.extend(plan.steps().iter().map(|step| step.kernel.clone()));
            }
        }
    }
    kernels.into_iter().collect()
}
