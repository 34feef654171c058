//! Attention, as large as it may be.

use super::gemm::{WINDOW, along_k, bare, caps};
use super::launch::Launch;
use support::laid::view;
use tilewise::attention::{AttentionKernel, CausalFrom};
use tilewise::gpu::DeviceType;
use tilewise::planning::Problem;
use tilewise::planning::attention::{
    AttentionBackward, AttentionCorner, AttentionGradientsOf, AttentionLayouts, AttentionProblem,
    AttentionRange, AttentionStatistics,
};
use tilewise::{DType, Layout};

/// Batch, heads, key heads, queries, keys, the head dims.
fn shapes(elements: usize) -> [[usize; 7]; 11] {
    let most = elements / 8;
    [
        [1, 1, 1, most, most, 8, 8],
        [1, 1, 1, 1, most, 8, 8],
        [1, most, 1, 1, 64, 8, 8],
        [most / 5, 1, 1, 5, 5, 8, 8],
        [3, 6, 2, most / 18, most / 6, 8, 8],
        [1, 1, 1, elements / 256, elements / 256, 256, 250],
        [1, 1, 1, elements / 5 / 7, elements / 5, 5, 3],
        [1, 1, 1, elements / 72, elements / 72, 72, 40], // invocations that share a row have no whole number of groups
        // On matrices, too.
        [1, 1, 1, most / 2, most / 2, 16, 16],
        [3, 6, 2, most / 36, most / 12, 16, 16],
        [1, 64, 1, 1, elements / 64, 64, 48],
    ]
}

pub(crate) fn launches() -> Vec<Launch> {
    let mut no_subgroups = caps().planned_for(DeviceType::Discrete);
    no_subgroups.subgroups = None;
    let devices = [caps().planned_for(DeviceType::Discrete), no_subgroups, caps(), bare()];
    let mut launches = Vec::new();
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        for (case, [batch, heads, kv_heads, queries, keys, dim, dim_v]) in
            shapes(WINDOW / dtype.size()).into_iter().enumerate()
        {
            let of = |shape: &[usize]| Layout::contiguous("test", shape).ok();
            let (Some(q), Some(k), Some(v)) = (
                of(&[batch, heads, queries, dim]),
                of(&[batch, kv_heads, keys, dim]),
                of(&[batch, kv_heads, keys, dim_v]),
            ) else {
                continue;
            };
            let bias = view(&[keys], &[1], 63);
            let lengths = view(&[batch], &[1], 63);
            let keep = view(&[batch, keys], &[0, 1], 63);
            let slopes = view(&[heads], &[1], 63);
            for extra in 0..4 {
                let layouts = AttentionLayouts {
                    q: &q,
                    k: &k,
                    v: &v,
                    bias: (extra == 1).then_some(&bias),
                    lengths: (extra % 2 == 1).then_some(&lengths),
                    keep: (extra == 2).then_some(&keep),
                    slopes: (extra >= 2).then_some(&slopes),
                };
                let range = match extra {
                    0 => AttentionRange::default(),
                    1 => {
                        AttentionRange { causal: Some(CausalFrom::BottomRight), ..AttentionRange::default() }
                    }
                    2 => AttentionRange { left: Some(1 << 29), right: Some(7), ..AttentionRange::default() },
                    _ => AttentionRange {
                        causal: Some(CausalFrom::BottomRight),
                        left: Some(1 << 29),
                        corner: AttentionCorner::Lengths,
                        ..AttentionRange::default()
                    },
                };
                let problem = AttentionProblem::new(layouts, range, AttentionStatistics::LogSums, dtype);
                let Ok(problem) = problem else { continue };
                let caps = &devices[(case + extra) % 4];
                let what = format!("attention of {dtype} {q:?} {k:?} {extra}");
                let coop = problem.pinned(Some(AttentionKernel::Coop));
                let on_matrices = if extra == 1 { along_k() } else { self::caps() };
                for plan in problem.plan(caps).into_iter().chain(coop.plan(&on_matrices)) {
                    launches.extend(Launch::steps(&what, &plan));
                }
                let (Some(y), Some(lse)) =
                    (of(&[batch, heads, queries, dim_v]), of(&[batch, heads, queries, 2]))
                else {
                    continue;
                };
                let db = AttentionGradientsOf::Bias(of(&[keys]).expect("a vector"));
                for wanted in (extra == 1).then_some(db).into_iter().chain([AttentionGradientsOf::Operands]) {
                    let backward = AttentionBackward::new(problem, [&y, &lse, &y], wanted);
                    launches.extend(Launch::planned(
                        &format!("gradients of {what}"),
                        backward.and_then(|backward| backward.plan(caps)),
                    ));
                    let coop = AttentionBackward::new(coop, [&y, &lse, &y], wanted);
                    launches.extend(Launch::planned(
                        &format!("gradients on matrices of {what}"),
                        coop.and_then(|coop| coop.plan(&on_matrices)),
                    ));
                }
            }
        }
    }
    launches
}
