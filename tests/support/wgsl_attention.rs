//! Attention whose plans need every specialised shader of its own.

use super::wgsl::kernels_of;
use std::collections::HashSet;
use tilewise::gpu::DeviceType;
use tilewise::planning::Problem;
use tilewise::planning::attention::{
    AttentionBackward, AttentionGradientsOf, AttentionLayouts, AttentionProblem, AttentionRange,
    AttentionStatistics,
};
use tilewise::planning::kernel::Kernel;
use tilewise::{Caps, DType, Layout};

/// Every kernel that attention may take on a device: of every type, by elements and by vectors, with rows of one invocation and of
/// several, with parts of the keys, with and without each optional operand.
pub fn attention_kernels(caps: &Caps) -> Vec<Kernel> {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).expect("a small shape");
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
                [[2, 4, queries, dim], [2, 2, keys, dim], [2, 2, keys, dim_v]].map(|shape| layout(&shape));
            let [bias, lengths, keep, slopes] =
                [layout(&[4, 1, keys]), layout(&[2]), layout(&[2, keys]), layout(&[4])];
            for extra in 0..4 {
                let layouts = AttentionLayouts {
                    q: &q,
                    k: &k,
                    v: &v,
                    bias: (extra == 1).then_some(&bias),
                    lengths: (extra == 1).then_some(&lengths),
                    keep: (extra == 2).then_some(&keep),
                    slopes: (extra == 2).then_some(&slopes),
                };
                let statistics = match (at + extra) % 2 {
                    0 => AttentionStatistics::None,
                    _ => AttentionStatistics::LogSums,
                };
                let problem = AttentionProblem::new(layouts, AttentionRange::default(), statistics, dtype);
                // Not every device has as many bindings.
                let problem = problem.expect("operands that fit");
                let plans = devices.iter().filter_map(|caps| problem.plan(caps).ok());
                kernels.extend(plans.flat_map(|plan| kernels_of(&plan).collect::<Vec<_>>()));
                let y = layout(&[2, 4, queries, dim_v]);
                let rows = [&y, &layout(&[2, 4, queries]), &y];
                let of = match extra {
                    0 | 2 => AttentionGradientsOf::Operands,
                    1 => AttentionGradientsOf::Bias(bias),
                    _ => continue,
                };
                let backward = AttentionBackward::new(problem, rows, of).expect("operands that fit");
                let plans = devices.iter().filter_map(|caps| backward.plan(caps).ok());
                kernels.extend(plans.flat_map(|plan| kernels_of(&plan).collect::<Vec<_>>()));
            }
        }
    }
    kernels.into_iter().collect()
}
