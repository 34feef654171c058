//! Attention whose plans need every specialised shader of its own.

use super::laid::flat;
use super::wgsl::kernels_of_all;
use std::collections::HashSet;
use tilewise::attention::AttentionKernel;
use tilewise::gpu::{DeviceType, MatrixOrder};
use tilewise::planning::attention::{
    AttentionBackward, AttentionCorner, AttentionGradientsOf, AttentionLayouts, AttentionProblem,
    AttentionRange, AttentionStatistics,
};
use tilewise::planning::kernel::Kernel;
use tilewise::planning::{Plan, Problem};
use tilewise::{Caps, DType, Layout};

/// Every kernel that attention may take on a device: of every type, by elements and by vectors, with rows of one invocation and of
/// several, with parts of the keys, with and without each optional operand.
pub fn attention_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels = HashSet::new();
    // Invocations share rows where a GPU has few registers.
    let devices = [caps.clone(), caps.clone().planned_for(DeviceType::Discrete)];
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        for (at, [queries, keys, dim, dim_v]) in
            [[3, 5, 5, 3], [100, 64, 8, 8], [100, 64, 64, 64], [1, 4096, 64, 64], [1, 4096, 256, 256]]
                .into_iter()
                .enumerate()
        {
            let [q, k, v] =
                [[2, 4, queries, dim], [2, 2, keys, dim], [2, 2, keys, dim_v]].map(|shape| flat(&shape));
            let [bias, lengths, keep, slopes] =
                [flat(&[4, 1, keys]), flat(&[2]), flat(&[2, keys]), flat(&[4])];
            for extra in 0..5 {
                let layouts = AttentionLayouts {
                    q: &q,
                    k: &k,
                    v: &v,
                    bias: (extra == 1).then_some(&bias),
                    lengths: matches!(extra, 1 | 4).then_some(&lengths),
                    keep: (extra == 2).then_some(&keep),
                    slopes: matches!(extra, 2 | 4).then_some(&slopes),
                };
                let statistics = match (at + extra) % 2 {
                    0 => AttentionStatistics::None,
                    _ => AttentionStatistics::LogSums,
                };
                let problem = AttentionProblem::new(layouts, range(extra == 4), statistics, dtype);
                // Not every device has as many bindings.
                let problem = problem.expect("operands that fit");
                let plans = devices.iter().filter_map(|caps| problem.plan(caps).ok());
                kernels.extend(kernels_of_all(plans));
                let y = flat(&[2, 4, queries, dim_v]);
                let rows = [&y, &flat(&[2, 4, queries, 2]), &y];
                let of = match (extra, at) {
                    (0 | 2, _) => AttentionGradientsOf::Operands,
                    (1, 0) => AttentionGradientsOf::PartOfBias(bias),
                    (1, _) => AttentionGradientsOf::Bias(bias),
                    _ => continue,
                };
                let backward = AttentionBackward::new(problem, rows, of).expect("operands that fit");
                let plans = devices.iter().filter_map(|caps| backward.plan(caps).ok());
                kernels.extend(kernels_of_all(plans));
            }
        }
    }
    let on_matrices = [coop_plans(caps), coop_gradient_plans(caps)].concat();
    kernels.extend(kernels_of_all(on_matrices));
    kernels.into_iter().collect()
}

/// All keys, or those of a cache up to its lengths.
fn range(is_cached: bool) -> AttentionRange {
    let corner = if is_cached { AttentionCorner::Lengths } else { AttentionCorner::Keys };
    AttentionRange { corner, ..AttentionRange::default() }
}

/// Plans of every kernel on cooperative matrices: of both sizes, in both orders, by elements and by vectors, with and without each optional
/// operand. None if the device cannot run them.
pub fn coop_plans(caps: &Caps) -> Vec<Plan> {
    let problems = coop_problems(caps, range);
    problems.into_iter().filter_map(|(caps, problem)| problem.plan(&caps).ok()).collect()
}

/// The same of gradients, which have three steps.
pub fn coop_gradient_plans(caps: &Caps) -> Vec<Plan> {
    let problems = coop_problems(caps, |_| range(false));
    let plan = |(caps, problem): (Caps, AttentionProblem)| {
        let d = problem.dims();
        let shape = [2, 4, d.queries as usize, d.dim_v as usize];
        let y = flat(&shape);
        let lse = flat(&[shape[0], shape[1], shape[2], 2]);
        let of = AttentionGradientsOf::Operands;
        AttentionBackward::new(problem, [&y, &lse, &y], of).expect("operands that fit").plan(&caps).ok()
    };
    problems.into_iter().filter_map(plan).collect()
}

/// Problems that pin kernels on cooperative matrices, each with a device.
fn coop_problems(caps: &Caps, range: impl Fn(bool) -> AttentionRange) -> Vec<(Caps, AttentionProblem)> {
    let gaps = |[a, b, c, d]: [usize; 4]| {
        Layout::new("test", &[a, b, c, d], &[b * c * d * 3, c * d * 3, d * 3, 3], 1, usize::MAX)
    };
    let mut problems = Vec::new();
    for (at, size, order) in [
        (0, 8, MatrixOrder::Any),
        (1, 16, MatrixOrder::Any),
        (2, 8, MatrixOrder::AlongK),
        (3, 16, MatrixOrder::AlongK),
    ] {
        let mut caps = caps.clone();
        caps.rows.retain(|row| row.m == size);
        caps.machine.matrix_order = order;
        for (extra, [queries, keys, dim, dim_v]) in
            [[100, 64, 16, 16], [7, 5, 64, 80], [100, 64, 32, 16], [100, 64, 16, 48]].into_iter().enumerate()
        {
            let shapes = [[2, 4, queries, dim], [2, 2, keys, dim], [2, 2, keys, dim_v]];
            let [q, k, v] = shapes.map(|shape| match (at + extra) % 3 {
                0 => gaps(shape).expect("within the buffer"),
                _ => flat(&shape),
            });
            let [bias, lengths, keep, slopes] =
                [flat(&[4, 1, keys]), flat(&[2]), flat(&[2, keys]), flat(&[4])];
            let layouts = AttentionLayouts {
                q: &q,
                k: &k,
                v: &v,
                bias: (extra == 1).then_some(&bias),
                lengths: (extra == 1).then_some(&lengths),
                keep: (extra == 2).then_some(&keep),
                slopes: (extra == 2).then_some(&slopes),
            };
            let statistics =
                if extra == 3 { AttentionStatistics::None } else { AttentionStatistics::LogSums };
            let problem = AttentionProblem::new(layouts, range(extra == 1), statistics, DType::F16);
            let problem = problem.expect("operands that fit").pinned(Some(AttentionKernel::Coop));
            problems.push((caps.clone(), problem));
        }
    }
    problems
}
