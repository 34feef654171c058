//! Every tile of every kernel that could compute a product, with its predicted time.

use serde_json::{Value, json};
use tilewise::Caps;
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::planning::gemm::{GemmDims, GemmProblem, InnerLoop, Pin};
use tilewise::planning::{Plan, Problem};

/// A tile that can compute the product.
pub(crate) struct Candidate {
    pub(crate) tile: &'static Tile,
    /// The number of splits of k that is predicted to be the fastest.
    pub(crate) splits: u32,
    /// Predicted seconds of the whole plan with this tile.
    pub(crate) seconds: f64,
    /// The share of its unit's peak that the inner loop can reach.
    pub(crate) share: f64,
    /// The inner loop as compiled, if a table has it.
    pub(crate) inner_loop: Option<InnerLoop>,
}

/// The tiles that can compute the product, from the fastest to the slowest.
///
/// `rounded` is the product of operands of f16, which kernels multiply if operands of f32 are rounded first.
pub(crate) fn candidates(problem: &GemmProblem, rounded: &GemmProblem, caps: &Caps) -> Vec<Candidate> {
    let tiles = GemmKernel::ALL.into_iter().flat_map(GemmKernel::tiles);
    let found = tiles.filter_map(|tile| {
        let plan = problem.pinned(Pin::Tile(*tile)).plan(caps).ok()?;
        let is_rounded = plan.steps().iter().any(|step| step.kernel.shader() == "gemm/f16_split");
        let multiplied = if is_rounded { rounded } else { problem };
        // What is computed only if it is pinned is no candidate.
        tile.fits(multiplied, caps).ok()?;
        Some(Candidate {
            tile,
            splits: splits(&plan),
            seconds: plan.seconds(),
            share: tile.share_of_peak(multiplied, caps),
            inner_loop: tile.inner_loop(multiplied, caps),
        })
    });
    let mut found: Vec<Candidate> = found.collect();
    found.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    found
}

/// The number of splits of k of a plan.
fn splits(plan: &Plan) -> u32 {
    let reduced = plan.steps().iter().find(|step| step.kernel.shader() == "gemm/reduce_splits");
    let dims = reduced.and_then(|step| step.dims.get(..size_of::<GemmDims>()));
    dims.map_or(1, |dims| bytemuck::pod_read_unaligned::<GemmDims>(dims).splits)
}

impl Candidate {
    pub(crate) fn json(&self) -> Value {
        let Self { tile, splits, seconds, share, inner_loop } = self;
        json!({
            "kernel": tile.kernel.to_string(),
            "tile": tile.to_string(),
            "splits": splits,
            "seconds": seconds,
            "inner_loop_share": share,
            "inner_loop": inner_loop.map(|inner| json!({
                "target": inner.target,
                "mesa": inner.mesa,
                "subgroup": inner.subgroup,
                "registers": inner.registers,
                "shared_bytes": inner.shared_bytes,
                "workgroups": inner.workgroups,
                "instructions": inner.instructions,
                "multiply_adds": inner.multiply_adds,
                "waits": inner.waits,
            })),
        })
    }
}
