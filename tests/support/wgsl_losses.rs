//! Kernels of losses.

use super::laid::flat;
use tilewise::ops::Reduction;
use tilewise::planning::ops::{CrossEntropyProblem, IgnoredClass, LossFunction, LossProblem, TargetKind};
use tilewise::planning::{Plan, Problem};
use tilewise::{Caps, DType, Layout, Result};

/// Plans of losses on a device: every function and type, with and without gradients and weights, with rows that begin at
/// even indices, rows that do not, and rows that begin at whole vectors.
pub fn loss_plans(caps: &Caps) -> Vec<Plan> {
    let plans = [DType::F32, DType::F16, DType::Bf16].map(|dtype| plans_of(dtype, caps).expect("they fit"));
    plans.into_iter().flatten().collect()
}

fn plans_of(dtype: DType, caps: &Caps) -> Result<Vec<Plan>> {
    let view = |shape: [usize; 2], row: usize| Layout::new("test", &shape, &[row, 1], 0, 1 << 20);
    let mut plans = Vec::new();
    for view in [view([3, 5], 6)?, view([3, 4], 5)?, view([3, 8], 8)?] {
        let [rows, classes] = [0, 1].map(|axis| view.shape()[axis]);
        let (targets, weights) =
            (Layout::contiguous("test", &[rows])?, Layout::contiguous("test", &[classes])?);
        for (kind, target) in [(TargetKind::Classes, &targets), (TargetKind::Probabilities, &view)] {
            let problem = CrossEntropyProblem::new(&view, (kind, target), Some(&weights), dtype)?;
            plans.push(problem.plan(caps)?);
            plans.push(problem.with_gradient(None).plan(caps)?);
            plans.push(problem.with_gradient(None).plan(&with_few_bindings(caps))?);
        }
        let ignoring = CrossEntropyProblem::new(&view, (TargetKind::Classes, &targets), None, dtype)?;
        plans.push(ignoring.ignoring(IgnoredClass::OfCall).plan(caps)?);
        for function in LossFunction::ALL {
            let problem = LossProblem::new(function, [&view, &view], Some(&weights), dtype)?;
            plans.push(problem.plan(caps)?);
            plans.push(problem.reduced(Reduction::None).with_gradient(None).plan(caps)?);
            plans.push(LossProblem::new(function, [&view, &view], None, dtype)?.plan(caps)?);
        }
    }
    Ok(plans)
}

/// Cross-entropies with all that takes bindings, and with the least.
pub fn cross_entropies() -> Vec<CrossEntropyProblem> {
    let of = |shape: &[usize]| flat(shape);
    let (logits, rows, classes) = (of(&[70, 9]), of(&[70]), of(&[9]));
    let new = |kind, targets, weights| {
        CrossEntropyProblem::new(&logits, (kind, targets), weights, DType::F16).expect("they fit")
    };
    let all = new(TargetKind::Classes, &rows, Some(&classes)).reduced(Reduction::None);
    let probabilities = new(TargetKind::Probabilities, &logits, Some(&classes));
    let mean = new(TargetKind::Classes, &rows, None).ignoring(IgnoredClass::OfCall);
    vec![
        new(TargetKind::Classes, &rows, None),
        mean.with_gradient(None),
        all.with_gradient(Some(&rows)),
        probabilities.with_gradient(None),
    ]
}

/// The same device with the storage bindings that Vulkan guarantees.
pub fn with_few_bindings(caps: &Caps) -> Caps {
    let mut caps = caps.clone();
    caps.limits.storage_bindings = 4;
    caps
}
