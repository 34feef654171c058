//! What networks do besides their products: convolutions, expressions, norms, losses, rotary embeddings, cumulative sums.

#[path = "convolutions.rs"] // as `networks` itself
mod convolutions;

use super::{FITS, List, flat};
use support::heads::heads;
use tilewise::DType::{self, F16, F32};
use tilewise::attention::{AttentionKernel, CausalFrom};
use tilewise::ops::RotaryPairs;
use tilewise::planning::attention::{
    AttentionBackward, AttentionGradientsOf, AttentionLayouts, AttentionProblem, AttentionRange,
    AttentionStatistics,
};
use tilewise::planning::ops::{
    ChannelPass, ChannelProblem, CrossEntropyProblem, CumsumProblem, ElementwiseProblem, LossFunction,
    LossProblem, NormKind, NormLayouts, NormPass, NormProblem, OneHotProblem, RotaryPass, RotaryProblem,
    RotaryTable, TargetKind, mapped,
};

/// Adds the plans.
pub(super) fn add(plans: &mut List<'_>) {
    attention(plans);
    convolutions::add(plans);
    for dtype in [F32, F16] {
        gradients_of_attention(plans, dtype);
        expressions(plans, dtype);
        norms(plans, dtype);
        losses(plans, dtype);
        rotations(plans, dtype);
        for (along, axis) in [("rows", 1), ("columns", 0)] {
            let problem = CumsumProblem::new(&flat(&[4096, 4096]), axis, dtype).expect(FITS);
            plans.add("rows", &format!("cumsum {dtype}, along {along}"), &problem);
        }
        plans.add(
            "one_hot",
            &format!("one-hot {dtype}"),
            &OneHotProblem::new(&flat(&[4096]), 1024, dtype).expect(FITS),
        );
    }
}

/// An expression of five operations, and the gate of a feed-forward block.
fn expressions(plans: &mut List<'_>, dtype: DType) {
    let plane = flat(&[4096, 4096]);
    let both = [(&plane, dtype); 2];
    let mut add = |name: &str, (function, _): (_, Vec<_>)| {
        let problem = ElementwiseProblem::new(function, &both, (&plane, dtype)).expect(FITS);
        plans.add("elementwise", &format!("{name} {dtype}"), &problem);
    };
    add("map of five", mapped([dtype; 2], dtype, |[x, y]| ((x - 0.5) * &y + 1.0).abs().sqrt()).expect(FITS));
    add("map of a gate", mapped([dtype; 2], dtype, |[a, b]| &a * a.sigmoid() * b).expect(FITS));
}

fn norms(plans: &mut List<'_>, dtype: DType) {
    let (plane, weights) = (flat(&[4096, 4096]), flat(&[4096]));
    for (name, kind, pass) in [
        ("layer norm", NormKind::Layer, NormPass::ForwardWithStatistics),
        ("layer norm, backward", NormKind::Layer, NormPass::BackwardWithBoth),
        ("RMS norm", NormKind::Rms, NormPass::ForwardWithStatistics),
        ("RMS norm, backward", NormKind::Rms, NormPass::BackwardWithGamma),
    ] {
        let b = matches!(pass, NormPass::BackwardWithBoth | NormPass::BackwardWithGamma).then_some(&plane);
        let beta = (kind == NormKind::Layer).then_some(&weights);
        let layouts = NormLayouts { a: &plane, b, gamma: Some(&weights), beta };
        let problem = NormProblem::new(kind, pass, layouts, dtype).expect(FITS);
        plans.add("norm", &format!("{name} {dtype}"), &problem);
    }
    // A sum is rounded as it is stored before it is normalised.
    let layouts = NormLayouts { a: &plane, b: Some(&plane), gamma: None, beta: None };
    let problem = NormProblem::new(NormKind::Layer, NormPass::ForwardWithStatistics, layouts, dtype);
    plans.add("norm", &format!("layer norm of a sum {dtype}"), &problem.expect(FITS));
    let (x, weights) = (flat(&[32, 1024, 256]), flat(&[256]));
    let one = flat(&[1, 32 * 1024, 256]);
    for (name, x, pass, groups) in [
        ("group norm", &x, ChannelPass::Group, 32),
        ("group norm, backward", &x, ChannelPass::BackwardWithGradients, 32),
        ("batch norm in training", &one, ChannelPass::TrainingWithRunning, 256),
    ] {
        let is_backward = pass == ChannelPass::BackwardWithGradients;
        let b = is_backward.then_some(x);
        let beta = (!is_backward).then_some(&weights);
        let layouts = NormLayouts { a: x, b, gamma: Some(&weights), beta };
        let problem = ChannelProblem::new("isa", pass, layouts, groups, dtype).expect(FITS);
        plans.add("norm", &format!("{name} {dtype}"), &problem);
    }
}

/// Queries of 32 heads, in memory as a projection stores them.
fn rotations(plans: &mut List<'_>, dtype: DType) {
    let queries = flat(&[1, 1024, 32, 128]).permute(&[0, 2, 1, 3]).expect(FITS);
    for pairs in RotaryPairs::ALL {
        let of = RotaryTable { pairs, rotary_dims: 128, positions: 4096 };
        let problem = RotaryProblem::new(RotaryPass::Forward, of, &queries, dtype).expect(FITS);
        plans.add("rotary", &format!("rotary {dtype}, {pairs:?}").to_lowercase(), &problem);
    }
}

fn losses(plans: &mut List<'_>, dtype: DType) {
    let (plane, targets) = (flat(&[4096, 4096]), flat(&[4096]));
    for function in LossFunction::ALL {
        let problem = LossProblem::new(function, [&plane, &plane], None, dtype).expect(FITS);
        let name = format!("{function:?} {dtype}, with gradient").to_lowercase();
        plans.add("loss", &name, &problem.with_gradient(None));
    }
    let problem = CrossEntropyProblem::new(&plane, (TargetKind::Classes, &targets), None, dtype).expect(FITS);
    plans.add("loss", &format!("cross-entropy {dtype}, with gradient"), &problem.with_gradient(None));
}

/// Attention of 16 heads, with both kernels, and with everything that may be added to scores. Devices without matrices skip the plans that
/// pin them.
fn attention(plans: &mut List<'_>) {
    for dim in [64, 128, 256] {
        let (x, bias) = (flat(&[1, 16, 4096, dim]), flat(&[1, 16, 4096, 4096]));
        let (lengths, keep) = (flat(&[1]), flat(&[1, 4096]));
        let plain = heads([&x, &x, &x]);
        let masked =
            AttentionLayouts { bias: Some(&bias), lengths: Some(&lengths), keep: Some(&keep), ..plain };
        let causal = AttentionRange { causal: Some(CausalFrom::BottomRight), ..AttentionRange::default() };
        for kernel in AttentionKernel::ALL {
            let mut add = |name: &str, layouts, range| {
                let problem = AttentionProblem::new(layouts, range, AttentionStatistics::LogSums, F16);
                let problem = problem.expect(FITS).pinned(Some(kernel));
                let name = format!("attention f16, dim {dim}, {kernel:?}{name}").to_lowercase();
                plans.add("attention", &name, &problem);
            };
            add("", plain, AttentionRange::default());
            if dim == 64 {
                add(", masked", masked, causal);
            }
        }
    }
}

/// The gradients of attention of 16 heads, with both kernels where the type has both, and of a bias for all batches.
fn gradients_of_attention(plans: &mut List<'_>, dtype: DType) {
    for dim in [64, 128] {
        let (x, lse, bias) = (flat(&[1, 16, 4096, dim]), flat(&[1, 16, 4096, 2]), flat(&[16, 4096, 4096]));
        let keep = flat(&[1, 4096]);
        let mut add = |name: &str, layouts: AttentionLayouts<'_>, kernel, of| {
            let none = AttentionStatistics::None;
            let forward = AttentionProblem::new(layouts, AttentionRange::default(), none, dtype).expect(FITS);
            let problem = AttentionBackward::new(forward.pinned(kernel), [&x, &lse, &x], of).expect(FITS);
            plans.add("attention", &format!("attention {dtype}, dim {dim}, {name}"), &problem);
        };
        let plain = heads([&x, &x, &x]);
        add("backward", plain, Some(AttentionKernel::Plain), AttentionGradientsOf::Operands);
        if dtype == F16 {
            for (name, kernel) in [("coop", AttentionKernel::Coop), ("coopnv2", AttentionKernel::CoopNv2)] {
                let kernel = Some(kernel);
                add(&format!("backward, {name}"), plain, kernel, AttentionGradientsOf::Operands);
                if dim == 64 {
                    let masked = AttentionLayouts { bias: Some(&bias), keep: Some(&keep), ..plain };
                    let name = format!("backward, {name}, masked");
                    add(&name, masked, kernel, AttentionGradientsOf::Operands);
                }
            }
        }
        if dim == 64 {
            let biased = AttentionLayouts { bias: Some(&bias), ..plain };
            add("gradient of a bias", biased, None, AttentionGradientsOf::Bias(bias));
        }
    }
}
